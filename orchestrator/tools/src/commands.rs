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

use std::time::Duration;

use packtrain_drivers::Platform;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use self::error::{Code, CommandError};
use self::message::IsMessage;
pub use self::message::{Field, Message, Shape, Words};
use self::messages::{
    ActionResult, AdbShellRequest, AssertVisibleRequest, CaptureScreenRequest, ClearAppDataRequest,
    ClickRequest, EvaluateJsRequest, EvaluateJsResponse, FillRequest, GetElementCountRequest,
    GetElementCountResponse, GetElementTextRequest, GetElementTextResponse, GrantPermissionRequest,
    HasTextRequest, HasTextResponse, InputTextRequest, IsVisibleRequest, IsVisibleResponse,
    LaunchAppRequest, NavigateRequest, PinchRequest, PressBackRequest, PressHomeRequest,
    ScreenState, ScrollRequest, ShellResult, SwipeRequest, TapRequest, WaitForSelectorRequest,
    WaitUntilVisibleRequest,
};
pub use self::openapi::openapi;
pub use self::proto::proto;
use self::reply::{Made, Response, response};
pub use self::screens::ScreenFile;
use crate::mobile::PHONES;
use crate::tool::Kind;

/// The service as it goes over the wire.
pub const SERVICE: &str = "packtrain.v1.Commands";

const EVERYWHERE: &[Platform] = &[Platform::Android, Platform::Ios, Platform::Web];
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

/// A request that is carried out by calls of tools.
trait Request: IsMessage + DeserializeOwned {
    fn calls(self, on: Platform) -> Planned;
}

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
    /// The field of the response that is all a caller wants; `None` for the whole, and the empty
    /// text for nothing at all.
    pub returns: Option<&'static str>,
    plan: fn(Value, Platform) -> Planned,
    respond: fn(Made<'_>) -> Option<Value>,
}

impl Command {
    const fn new<Q: Request, A: Response>(
        name: &'static str,
        (group, kind): (Group, Kind),
        platforms: &'static [Platform],
        returns: Option<&'static str>,
        description: &'static str,
    ) -> Self {
        Self {
            name,
            group,
            kind,
            platforms,
            description,
            request: Q::MESSAGE,
            response: A::MESSAGE,
            returns,
            plan: plan::<Q>,
            respond: response::<A>,
        }
    }

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

fn plan<Q: Request>(request: Value, on: Platform) -> Planned {
    let request: Q = serde_json::from_value(request)
        .map_err(|error| CommandError::invalid(error.to_string()))?;
    request.calls(on)
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

const ACTION: (Group, Kind) = (Group::Core, Kind::Action);
const QUERY: (Group, Kind) = (Group::Core, Kind::Query);
const ASSERTION: (Group, Kind) = (Group::Core, Kind::Assertion);
const MOBILE: (Group, Kind) = (Group::Mobile, Kind::Action);
const PAGE: (Group, Kind) = (Group::Web, Kind::Action);
/// An answer that callers want nothing of.
const NOTHING: Option<&str> = Some("");

/// All of them, in the order of the documents.
pub static COMMANDS: [Command; 23] = [
    Command::new::<TapRequest, ActionResult>(
        "Tap",
        ACTION,
        EVERYWHERE,
        NOTHING,
        "Taps an element once it is visible and still; on the web, clicks it.",
    ),
    Command::new::<InputTextRequest, ActionResult>(
        "InputText",
        ACTION,
        EVERYWHERE,
        NOTHING,
        "Types into whatever has the focus.",
    ),
    Command::new::<LaunchAppRequest, ActionResult>(
        "LaunchApp",
        ACTION,
        PHONES,
        NOTHING,
        "Starts an app.",
    ),
    Command::new::<ClearAppDataRequest, ActionResult>(
        "ClearAppData",
        ACTION,
        PHONES,
        NOTHING,
        "Deletes an app's data.",
    ),
    Command::new::<IsVisibleRequest, IsVisibleResponse>(
        "IsVisible",
        QUERY,
        EVERYWHERE,
        Some("visible"),
        "Whether an element is visible. Not being visible is no error.",
    ),
    Command::new::<HasTextRequest, HasTextResponse>(
        "HasText",
        QUERY,
        EVERYWHERE,
        Some("found"),
        "Whether the screen shows a text anywhere now, in any case.",
    ),
    Command::new::<GetElementTextRequest, GetElementTextResponse>(
        "GetElementText",
        QUERY,
        EVERYWHERE,
        Some("text"),
        "The text of the first visible element of an id, or nothing.",
    ),
    Command::new::<GetElementCountRequest, GetElementCountResponse>(
        "GetElementCount",
        QUERY,
        EVERYWHERE,
        Some("count"),
        "How many visible elements match.",
    ),
    Command::new::<CaptureScreenRequest, ScreenState>(
        "CaptureScreen",
        QUERY,
        EVERYWHERE,
        None,
        "Takes a picture and a reading of the screen.",
    ),
    Command::new::<AssertVisibleRequest, ActionResult>(
        "AssertVisible",
        ASSERTION,
        EVERYWHERE,
        NOTHING,
        "Expects an element to be visible in time.",
    ),
    Command::new::<WaitUntilVisibleRequest, ActionResult>(
        "WaitUntilVisible",
        ASSERTION,
        EVERYWHERE,
        NOTHING,
        "Expects an element to become visible in time.",
    ),
    Command::new::<AdbShellRequest, ShellResult>(
        "AdbShell",
        MOBILE,
        ANDROID,
        Some("output"),
        "Runs a command in the device's shell. One that ends with another exit code than 0 fails.",
    ),
    Command::new::<GrantPermissionRequest, ActionResult>(
        "GrantPermission",
        MOBILE,
        ANDROID,
        NOTHING,
        "Grants an app a runtime permission.",
    ),
    Command::new::<PressBackRequest, ActionResult>(
        "PressBack",
        MOBILE,
        PHONES,
        NOTHING,
        "Goes back.",
    ),
    Command::new::<PressHomeRequest, ActionResult>(
        "PressHome",
        MOBILE,
        PHONES,
        NOTHING,
        "Goes to the home screen.",
    ),
    Command::new::<SwipeRequest, ActionResult>(
        "Swipe",
        MOBILE,
        PHONES,
        NOTHING,
        "Moves a finger across the screen: up shows what lies below.",
    ),
    Command::new::<ScrollRequest, ActionResult>(
        "Scroll",
        MOBILE,
        PHONES,
        NOTHING,
        "Scrolls: down shows what lies below.",
    ),
    Command::new::<PinchRequest, ActionResult>(
        "Pinch",
        MOBILE,
        PHONES,
        NOTHING,
        "Moves two fingers apart or together in the middle of the screen.",
    ),
    Command::new::<NavigateRequest, ActionResult>(
        "Navigate",
        PAGE,
        WEB,
        NOTHING,
        "Opens an address.",
    ),
    Command::new::<ClickRequest, ActionResult>(
        "Click",
        PAGE,
        WEB,
        NOTHING,
        "Clicks an element once it is visible, still and not covered.",
    ),
    Command::new::<FillRequest, ActionResult>(
        "Fill",
        PAGE,
        WEB,
        NOTHING,
        "Replaces what a field holds.",
    ),
    Command::new::<WaitForSelectorRequest, ActionResult>(
        "WaitForSelector",
        (Group::Web, Kind::Assertion),
        WEB,
        NOTHING,
        "Expects an element to become visible in time.",
    ),
    Command::new::<EvaluateJsRequest, EvaluateJsResponse>(
        "EvaluateJs",
        PAGE,
        WEB,
        Some("result"),
        "Runs JavaScript in the page.",
    ),
];

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
