//! Flags of Trailblaze's own `run`, which are taken so that commands written for it work here as
//! they are.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error};

/// What Packtrain does anyway.
const KEPT: [&str; 6] = [
    "no-capture-ios-logs",
    "no-capture-video",
    "no-record",
    "no-save-recording",
    "no-self-heal",
    "use-recorded-steps",
];
/// What is not done here, or cannot be turned off.
const SWITCHES: [&str; 14] = [
    "capture-all",
    "capture-ios-logs",
    "capture-logcat",
    "capture-network",
    "capture-video",
    "markdown",
    "no-capture-logcat",
    "no-capture-network",
    "no-logging",
    "no-unified-recordings",
    "save-recording",
    "self-heal",
    "unified-recordings",
    "verbose",
];
/// The same with a value: there is no agent here, and no server.
const VALUED: [&str; 7] = [
    "agent",
    "compose-port",
    "llm",
    "llm-model",
    "llm-provider",
    "max-llm-calls",
    "test-name",
];

/// The flags that were given and have no effect.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrailblazeFlags(Vec<String>);

impl TrailblazeFlags {
    /// What to tell about them, once; `None` without any.
    pub(super) fn note(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| format!("note: no effect here: {}", self.0.join(", ")))
    }
}

impl clap::Args for TrailblazeFlags {
    fn augment_args(command: Command) -> Command {
        let switch = |name| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let valued = |name| Arg::new(name).long(name).value_name("VALUE");
        let flags = KEPT.into_iter().chain(SWITCHES).map(switch);
        let flags = flags.chain(VALUED.into_iter().map(valued));
        command.args(flags.map(|flag| match flag.get_id().as_str() {
            "agent" => flag.short('a').hide(true),
            "verbose" => flag.short('v').hide(true),
            _ => flag.hide(true),
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for TrailblazeFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given = |name: &&str| matches.value_source(name) == Some(ValueSource::CommandLine);
        let given = SWITCHES.into_iter().chain(VALUED).filter(is_given);
        let mut flags: Vec<_> = given.map(|name| format!("--{name}")).collect();
        flags.sort();
        Ok(Self(flags))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
