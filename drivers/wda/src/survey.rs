//! What simulators lack to be devices, and the command that mends it.

use crate::endpoint::WdaStart;
use crate::pool::WdaPool;
use crate::simctl::{Simctl, SimctlError, Simulator};

/// How to get what every simulator needs: the Command Line Tools do not have it.
const XCODE: &str = "install Xcode from the App Store, then `sudo xcode-select -s \
                     /Applications/Xcode.app` and `xcodebuild -runFirstLaunch`";
/// What mends a refusal of Apple's programs, by words in it.
const REFUSALS: [(&str, &str); 3] = [
    ("unable to find utility", XCODE),
    ("requires Xcode", XCODE),
    ("license agreements", "`sudo xcodebuild -license accept`"),
];
/// How to get a version of iOS, with which its simulators come.
const IOS: &str = "`xcodebuild -downloadPlatform iOS` installs it; then create a simulator in \
                   Xcode: Window, Devices and Simulators";

/// What simulators lack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {remedy}")]
pub struct SimulatorLack {
    /// What.
    pub what: String,
    /// What a person can do about it.
    pub remedy: String,
}

impl WdaPool {
    /// The simulators that are booted, each with WebDriverAgent on it, or what they lack; `None` where
    /// there is no `xcrun`.
    pub async fn survey(&self) -> Option<Result<String, SimulatorLack>> {
        let simctl = Simctl::new(self.options().xcrun.clone()?);
        Some(self.booted(&simctl).await)
    }

    async fn booted(&self, simctl: &Simctl) -> Result<String, SimulatorLack> {
        let lack = |what: String, remedy: String| SimulatorLack { what, remedy };
        let listed = simctl.list().await;
        let unknown = |error: SimctlError| {
            let remedy = REFUSALS
                .iter()
                .find(|(words, _)| error.message.contains(words));
            let remedy = remedy.map_or("run it by hand to see more", |(_, remedy)| remedy);
            lack(error.to_string(), remedy.to_owned())
        };
        let all = listed.map_err(unknown)?;
        // The newest version comes last.
        let newest = all.iter().rfind(|one| !one.tablet).or(all.last());
        let newest = newest.ok_or_else(|| {
            lack(
                "Xcode has no iOS runtime, or no iOS simulator".to_owned(),
                IOS.to_owned(),
            )
        })?;
        let booted: Vec<_> = all.iter().filter(|one| one.booted).collect();
        if booted.is_empty() {
            let boot = format!(
                "`xcrun simctl boot {}` boots {}",
                newest.udid,
                named(newest)
            );
            return Err(lack("no simulator is booted".to_owned(), boot));
        }
        for endpoint in self.all_endpoints(&all, &[]) {
            let is_it = |one: &&&Simulator| endpoint.is(&one.udid);
            let (Some(simulator), WdaStart::Never | WdaStart::Runner { .. }) =
                (booted.iter().find(is_it), &endpoint.start)
            else {
                continue;
            };
            let id = endpoint.runner();
            let Err(error) = simctl.container(&simulator.udid, id).await else {
                continue;
            };
            // Any other refusal does not say whether it is there.
            if !error.message.ends_with("No such file or directory") {
                return Err(unknown(error));
            }
            return Err(lack(
                format!("{id} is not installed on {}", named(simulator)),
                format!(
                    "`xcrun simctl install {} WebDriverAgentRunner-Runner.app` installs it; \
                     docs/devices.md says where to get it",
                    simulator.udid
                ),
            ));
        }
        Ok(booted.into_iter().map(named).collect::<Vec<_>>().join(", "))
    }
}

fn named(simulator: &Simulator) -> String {
    format!("{} (iOS {})", simulator.name, simulator.version)
}
