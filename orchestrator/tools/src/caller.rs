//! Who asks for a call, and so what it may do.

use std::sync::Arc;

use packtrain_drivers::Reach;

use crate::tool::{Access, ToolError, ToolSpec};

/// Who asks for a call, and so what it may do. What a session may do is bounded by the one it was
/// opened for besides, so that callers on their behalf may not do more. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The user who started the run on this computer: its trails, or `packtrain tool`.
    Person,
    /// The user who started the run on another computer of the farm: its trails.
    Farm {
        /// Whether the host lets them run commands of this computer.
        host_commands: bool,
    },
    /// A tool's callback.
    Remote {
        /// Whether the configuration lets it run commands of this computer.
        host_commands: bool,
    },
    /// An MCP client: by hand, and by the runs that it starts.
    Agent(Arc<AgentPermissions>),
}

/// What the configuration lets agents do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPermissions {
    /// Whether they may run commands of this computer.
    pub host_commands: bool,
    /// Whether they may run commands on devices.
    pub device_shell: bool,
    /// Which addresses and files they may open.
    pub reach: Reach,
}

impl Caller {
    /// Whether it may run commands of this computer.
    pub fn may_run_host_commands(&self) -> bool {
        match self {
            Self::Person => true,
            Self::Farm { host_commands } | Self::Remote { host_commands } => *host_commands,
            Self::Agent(confines) => confines.host_commands,
        }
    }

    /// Which addresses and files it may open; any without one.
    pub fn reach(&self) -> Option<&Reach> {
        match self {
            Self::Person | Self::Farm { .. } | Self::Remote { .. } => None,
            Self::Agent(confines) => Some(&confines.reach),
        }
    }

    /// Why it may not call a tool.
    pub fn refusal(&self, spec: &ToolSpec) -> Option<ToolError> {
        let (may_call, does, key) = match (spec.access, self) {
            (Access::Session, _) => return None,
            (Access::DeviceShell, Self::Agent(confines)) => {
                let may_call = confines.device_shell;
                (may_call, "runs commands on the device", "deviceShell")
            }
            (Access::DeviceShell, _) => return None,
            (Access::HostCommands, _) => {
                let may_call = self.may_run_host_commands();
                (may_call, "runs commands of this computer", "hostCommands")
            }
        };
        let refusal = |who| format!("`{}` {does}, which is not allowed for {who}", spec.name);
        (!may_call).then(|| match self {
            Self::Person | Self::Farm { .. } | Self::Remote { .. } => {
                ToolError::failed(refusal("remote callers"))
            }
            Self::Agent(_) => ToolError::hinted(
                refusal("agents"),
                format!("`agents.{key}: true` in the configuration allows it"),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    fn agent(host_commands: bool, device_shell: bool) -> Caller {
        Caller::Agent(Arc::new(AgentPermissions {
            host_commands,
            device_shell,
            reach: Reach::default(),
        }))
    }

    /// The built-in tools that a caller is refused, with the words.
    fn refused(caller: &Caller) -> Vec<(String, String, Option<String>)> {
        let registry = Registry::builtin();
        let refusals = registry.all().filter_map(|tool| {
            let refusal = caller.refusal(tool.spec());
            let ToolError::Failed { message, hint, .. } = refusal? else {
                panic!("it is no failure");
            };
            Some((tool.spec().name.clone(), message, hint))
        });
        refusals.collect()
    }

    fn names(caller: &Caller) -> Vec<String> {
        refused(caller).into_iter().map(|(name, ..)| name).collect()
    }

    #[test]
    fn who_calls_says_which_commands_may_be_run() {
        let (host, shell) = (["exec", "runCommand"], ["android_adbShell"]);
        let none: [&str; 0] = [];
        for host_commands in [false, true] {
            let refused = if host_commands { &none[..] } else { &host };
            assert_eq!(names(&Caller::Farm { host_commands }), refused);
            assert_eq!(names(&Caller::Remote { host_commands }), refused);
            assert_eq!(names(&agent(host_commands, true)), refused);
        }
        assert_eq!(names(&Caller::Person), none);
        assert_eq!(names(&agent(true, false)), shell);
        assert_eq!(names(&agent(false, false)), [&shell[..], &host].concat());
    }

    #[test]
    fn a_refusal_says_what_and_to_whom_and_what_allows_it() {
        let said = refused(&agent(false, false));
        let said = said
            .iter()
            .map(|(_, message, hint)| (&**message, hint.as_deref()));
        assert_eq!(
            said.collect::<Vec<_>>(),
            [
                (
                    "`android_adbShell` runs commands on the device, which is not allowed for agents",
                    Some("`agents.deviceShell: true` in the configuration allows it")
                ),
                (
                    "`exec` runs commands of this computer, which is not allowed for agents",
                    Some("`agents.hostCommands: true` in the configuration allows it")
                ),
                (
                    "`runCommand` runs commands of this computer, which is not allowed for agents",
                    Some("`agents.hostCommands: true` in the configuration allows it")
                ),
            ]
        );
        let said = refused(&Caller::Remote {
            host_commands: false,
        });
        let (_, message, hint) = &said[0];
        assert_eq!(
            message,
            "`exec` runs commands of this computer, which is not allowed for remote callers"
        );
        assert_eq!(hint, &None);
    }

    #[test]
    fn only_agents_have_a_reach() {
        assert_eq!(agent(true, true).reach(), Some(&Reach::default()));
        let host_commands = false;
        for caller in [
            Caller::Person,
            Caller::Farm { host_commands },
            Caller::Remote { host_commands },
        ] {
            assert_eq!(caller.reach(), None);
        }
    }
}
