//! What can be wrong with a device before anybody speaks to it.

/// Why there is no connector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WdaError {
    /// The address of a WebDriverAgent cannot be one.
    #[error("ios/{name}: `{url}` is not the address of a WebDriverAgent: {why}")]
    Address {
        /// The device's name.
        name: String,
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// An app can be launched on a simulator only.
    #[error(
        "ios/{name}: WebDriverAgent is started by its bundle id on simulators only; give a command"
    )]
    RunnerNeedsSimulator {
        /// The device's name.
        name: String,
    },
    /// There is no `xcrun`.
    #[error("ios/{name}: a simulator needs Xcode's `xcrun`, which was not found")]
    NoXcrun {
        /// The device's name.
        name: String,
    },
}
