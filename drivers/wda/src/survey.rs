//! What simulators lack to be devices, and the command that mends it.

use crate::endpoint::WdaStart;
use crate::pool::WdaPool;
use crate::simctl::{Simctl, Simulator};

/// How to get what every simulator needs: the Command Line Tools do not have it.
const XCODE: &str = "install Xcode from the App Store, then `sudo xcode-select -s \
                     /Applications/Xcode.app` and `xcodebuild -runFirstLaunch`";
/// How to get a version of iOS, with which its simulators come.
const IOS: &str = "`xcodebuild -downloadPlatform iOS` gets it; where it is, Xcode makes simulators: \
                   Window, Devices and Simulators";

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
        let all = listed.map_err(|error| lack(error.to_string(), XCODE.to_owned()))?;
        // The newest version comes last.
        let newest = all.iter().rfind(|one| !one.tablet).or(all.last());
        let newest = newest.ok_or_else(|| {
            lack(
                "Xcode has no iOS to simulate, or no simulator of it".to_owned(),
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
            let is_it = |one: &&&Simulator| endpoint.udid() == Some(&one.udid);
            let (Some(simulator), WdaStart::Never | WdaStart::Runner { .. }) =
                (booted.iter().find(is_it), &endpoint.start)
            else {
                continue;
            };
            let id = endpoint.runner();
            if simctl.container(&simulator.udid, id).await.is_err() {
                return Err(lack(
                    format!("{id} is not installed on {}", named(simulator)),
                    format!(
                        "`xcrun simctl install {} WebDriverAgentRunner-Runner.app` installs it; \
                         docs/devices.md says where to get it",
                        simulator.udid
                    ),
                ));
            }
        }
        Ok(booted.into_iter().map(named).collect::<Vec<_>>().join(", "))
    }
}

fn named(simulator: &Simulator) -> String {
    format!("{} (iOS {})", simulator.name, simulator.version)
}
