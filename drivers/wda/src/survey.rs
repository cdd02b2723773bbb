//! What simulators lack to be devices, and the command that mends it.

use crate::endpoint::{WdaEndpoint, WdaStart, WdaTarget};
use crate::pool::WdaPool;
use crate::simctl::{Simctl, Simulator, Simulators};

/// How to get what every simulator needs: the Command Line Tools do not have it.
const XCODE: &str = "install Xcode from the App Store, then `sudo xcode-select -s \
                     /Applications/Xcode.app` and `xcodebuild -runFirstLaunch`";

/// How simulators are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SimulatorSurvey {
    /// Those that are booted, each with WebDriverAgent on it.
    Ready(String),
    /// Something is missing.
    Lacking {
        /// What.
        what: String,
        /// What a person can do about it.
        remedy: String,
    },
}

impl WdaPool {
    /// How simulators are; `None` where there is no `xcrun`.
    pub async fn survey(&self) -> Option<SimulatorSurvey> {
        let simctl = Simctl::new(self.options().xcrun.clone()?);
        let (what, remedy) = match simctl.list().await {
            Err(error) => (error.to_string(), XCODE.to_owned()),
            Ok(list) => match lacking(&list) {
                Some(lacking) => lacking,
                None => match self.without_runner(&simctl, &list.all).await {
                    Some(lacking) => lacking,
                    None => {
                        let booted = list.all.iter().filter(|simulator| simulator.booted);
                        let named: Vec<_> = booted.map(named).collect();
                        return Some(SimulatorSurvey::Ready(named.join(", ")));
                    }
                },
            },
        };
        Some(SimulatorSurvey::Lacking { what, remedy })
    }

    /// The first simulator that is booted and has nothing that could be started.
    async fn without_runner(
        &self,
        simctl: &Simctl,
        simulators: &[Simulator],
    ) -> Option<(String, String)> {
        for endpoint in self.all_endpoints(simulators, &[]) {
            let WdaEndpoint {
                target: WdaTarget::Simulator { udid },
                start: WdaStart::Never | WdaStart::Runner { .. },
                ..
            } = &endpoint
            else {
                continue;
            };
            let is_it = |simulator: &&Simulator| simulator.udid == *udid && simulator.booted;
            let Some(simulator) = simulators.iter().find(is_it) else {
                continue;
            };
            let id = endpoint.runner();
            if simctl.container(udid, id).await.is_err() {
                return Some((
                    format!("{id} is not installed on {}", named(simulator)),
                    format!(
                        "`xcrun simctl install {udid} WebDriverAgentRunner-Runner.app` installs it; \
                         docs/devices.md says where to get it"
                    ),
                ));
            }
        }
        None
    }
}

/// What no simulator can do without.
fn lacking(list: &Simulators) -> Option<(String, String)> {
    let none = |what: &str, remedy: String| Some((what.to_owned(), remedy));
    if list.runtimes == 0 {
        let remedy = "`xcodebuild -downloadPlatform iOS` gets it".to_owned();
        return none("Xcode has no iOS to simulate", remedy);
    }
    if list.all.iter().any(|simulator| simulator.booted) {
        return None;
    }
    let newest = list.all.last().map(|simulator| &simulator.version);
    let mut phones = list.all.iter().filter(|simulator| !simulator.tablet);
    let remedy = match phones.find(|simulator| Some(&simulator.version) == newest) {
        Some(phone) => format!("`xcrun simctl boot {}` boots {}", phone.udid, named(phone)),
        None => "Xcode makes some: Window, Devices and Simulators".to_owned(),
    };
    none("no simulator is booted", remedy)
}

fn named(simulator: &Simulator) -> String {
    format!("{} (iOS {})", simulator.name, simulator.version)
}
