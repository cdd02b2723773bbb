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
pub use self::openapi::openapi;
pub use self::proto::proto;
use self::reply::{Made, response};
pub use self::screens::ScreenFile;
use crate::mobile::PHONES;
use crate::tool::Kind;

/// The service as it goes over the wire.
pub const SERVICE: &str = "packtrain.v1.Commands";
/// Where captured screens are fetched from.
pub const SCREENS: &str = "packtrain.v1.Screens";

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

/// Defines the table: name, request, response, what callers want of it, group and kind, platforms.
macro_rules! commands {
    ($(#[doc = $about:literal] $name:ident($request:ident) -> $response:ident, $returns:expr,
       $group:ident $kind:ident, $platforms:ident;)*) => {
        /// All of them, in the order of the documents.
        pub static COMMANDS: &[Command] = &[$(Command {
            name: stringify!($name),
            group: Group::$group,
            kind: Kind::$kind,
            platforms: $platforms,
            description: $about.trim_ascii_start(),
            request: messages::$request::MESSAGE,
            response: messages::$response::MESSAGE,
            returns: $returns,
            plan: plan::<messages::$request>,
            respond: response::<messages::$response>,
        }),*];
    };
}

commands! {
    /// Taps an element once it is visible and still; on the web, clicks it.
    Tap(TapRequest) -> ActionResult, Returns::Nothing, Core Action, EVERYWHERE;
    /// Types into whatever has the focus.
    InputText(InputTextRequest) -> ActionResult, Returns::Nothing, Core Action, EVERYWHERE;
    /// Starts an app.
    LaunchApp(LaunchAppRequest) -> ActionResult, Returns::Nothing, Core Action, PHONES;
    /// Deletes an app's data.
    ClearAppData(ClearAppDataRequest) -> ActionResult, Returns::Nothing, Core Action, PHONES;
    /// Whether an element is visible. Not being visible is no error.
    IsVisible(IsVisibleRequest) -> IsVisibleResponse, Returns::Field("visible"), Core Query, EVERYWHERE;
    /// Whether the screen shows a text anywhere now, in any case.
    HasText(HasTextRequest) -> HasTextResponse, Returns::Field("found"), Core Query, EVERYWHERE;
    /// The text of the first visible element of an id, or nothing.
    GetElementText(GetElementTextRequest) -> GetElementTextResponse, Returns::Field("text"), Core Query, EVERYWHERE;
    /// How many visible elements match.
    GetElementCount(GetElementCountRequest) -> GetElementCountResponse, Returns::Field("count"), Core Query, EVERYWHERE;
    /// Takes a picture and a reading of the screen.
    CaptureScreen(CaptureScreenRequest) -> ScreenState, Returns::Message, Core Query, EVERYWHERE;
    /// Expects an element to be visible in time.
    AssertVisible(AssertVisibleRequest) -> ActionResult, Returns::Nothing, Core Assertion, EVERYWHERE;
    /// Expects an element to become visible in time.
    WaitUntilVisible(WaitUntilVisibleRequest) -> ActionResult, Returns::Nothing, Core Assertion, EVERYWHERE;
    /// Runs a command in the device's shell. One that ends with another exit code than 0 fails.
    AdbShell(AdbShellRequest) -> ShellResult, Returns::Field("output"), Mobile Action, ANDROID;
    /// Grants an app a runtime permission.
    GrantPermission(GrantPermissionRequest) -> ActionResult, Returns::Nothing, Mobile Action, ANDROID;
    /// Goes back.
    PressBack(PressBackRequest) -> ActionResult, Returns::Nothing, Mobile Action, PHONES;
    /// Goes to the home screen.
    PressHome(PressHomeRequest) -> ActionResult, Returns::Nothing, Mobile Action, PHONES;
    /// Moves a finger across the screen: up shows what lies below.
    Swipe(SwipeRequest) -> ActionResult, Returns::Nothing, Mobile Action, PHONES;
    /// Scrolls: down shows what lies below.
    Scroll(ScrollRequest) -> ActionResult, Returns::Nothing, Mobile Action, PHONES;
    /// Moves two fingers apart or together in the middle of the screen.
    Pinch(PinchRequest) -> ActionResult, Returns::Nothing, Mobile Action, PHONES;
    /// Opens an address.
    Navigate(NavigateRequest) -> ActionResult, Returns::Nothing, Web Action, WEB;
    /// Clicks an element once it is visible, still and not covered.
    Click(ClickRequest) -> ActionResult, Returns::Nothing, Web Action, WEB;
    /// Replaces what a field holds.
    Fill(FillRequest) -> ActionResult, Returns::Nothing, Web Action, WEB;
    /// Expects an element to become visible in time.
    WaitForSelector(WaitForSelectorRequest) -> ActionResult, Returns::Nothing, Web Assertion, WEB;
    /// Runs JavaScript in the page.
    EvaluateJs(EvaluateJsRequest) -> EvaluateJsResponse, Returns::Field("result"), Web Action, WEB;
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
