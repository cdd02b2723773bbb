//! Typed commands: what a tool of a source can have done on its device, with types. Each is a call of
//! tools of the registry, so that the journal, leases and recordings know only tools; this table is
//! where they, the wire and the clients' code come from.
//!
//! Wire: Connect's unary calls in JSON, `POST /packtrain.v1.Commands/Tap`. The documents that clients
//! are generated from, `sdks/commands.proto` and `sdks/openapi.json`, are made of this table.

mod calls;
mod error;
mod message;
mod messages;
mod openapi;
mod proto;
mod reply;
pub(crate) mod screens;
mod table;

use std::time::Duration;

use packtrain_drivers::Platform;
use packtrain_tools::Kind;
use serde_json::Value;

pub use self::error::{Code, CommandError};
pub use self::message::{Field, Message, Shape, Words};
pub use self::openapi::openapi;
pub use self::proto::proto;
use self::reply::Made;
pub use self::screens::ScreenFile;
pub use self::table::COMMANDS;

/// The service as it goes over the wire.
pub const SERVICE: &str = "packtrain.v1.Commands";
/// Where captured screens are fetched from.
pub const SCREENS: &str = "packtrain.v1.Screens";

const EVERYWHERE: &[Platform] = &[Platform::Android, Platform::Ios, Platform::Web];
const PHONES: &[Platform] = &[Platform::Android, Platform::Ios];
const ANDROID: &[Platform] = &[Platform::Android];
const WEB: &[Platform] = &[Platform::Web];

/// A call of a tool that is part of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedCall {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// What a command makes of a request on a platform.
type Planned = Result<Vec<PlannedCall>, CommandError>;

/// Where clients keep a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What every platform has in some form.
    Core,
    /// What phones have.
    Mobile,
    /// What pages have.
    Web,
}

impl Group {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Mobile => "mobile",
            Self::Web => "web",
        }
    }
}

/// What callers want of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    /// That there is one.
    Nothing,
    /// All of it.
    Message,
    /// This field.
    Field(&'static str),
}

/// A typed command.
#[derive(Debug)]
pub struct Command {
    /// `Tap`.
    pub name: &'static str,
    /// Where clients keep it.
    pub group: Group,
    /// An action, a query, which never fails because something is not there, or an assertion.
    pub kind: Kind,
    /// Where it works.
    pub platforms: &'static [Platform],
    /// One or two sentences.
    pub description: &'static str,
    /// What it takes.
    pub request: Message,
    /// What it answers.
    pub response: Message,
    /// What callers want of the response.
    pub returns: Returns,
    plan: fn(Value, Platform) -> Planned,
    respond: fn(Made<'_>) -> Option<Value>,
}

impl Command {
    /// The calls of tools that carry it out.
    ///
    /// # Errors
    /// [`Code::Unimplemented`] on another platform, [`Code::InvalidArgument`] for a request that is
    /// not what it takes; the message names the field.
    pub fn calls(&self, request: Value, on: Platform) -> Planned {
        if !self.platforms.contains(&on) {
            return Err(CommandError::wrong_platform(self.name, self.platforms, on));
        }
        (self.plan)(request, on).map_err(|error| CommandError {
            message: format!("{}: {}", self.name, error.message),
            ..error
        })
    }
}

/// The command of a name.
///
/// # Errors
/// [`Code::NotFound`], with the name that was probably meant.
pub fn find(name: &str) -> Result<&'static Command, CommandError> {
    COMMANDS
        .iter()
        .find(|command| command.name == name)
        .ok_or_else(|| {
            let names = COMMANDS.iter().map(|command| command.name);
            let meant = packtrain_model::suggest::did_you_mean(name, names);
            let meant = meant.unwrap_or_else(|| {
                "a newer client than this Packtrain? Every tool can be called by its name"
                    .to_owned()
            });
            CommandError::new(Code::NotFound, format!("unknown command `{name}`; {meant}"))
        })
}

/// What is called, by whom, and how long they wait.
#[derive(Debug, Clone, Copy)]
pub struct CommandCall<'a> {
    /// The command.
    pub name: &'a str,
    /// The credential and the way to the device.
    pub invocation: Option<&'a str>,
    /// How long the caller waits at most.
    pub timeout: Option<Duration>,
    /// The request in JSON.
    pub body: &'a [u8],
}
