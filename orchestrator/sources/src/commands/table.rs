//! The table of the typed commands: what each takes and answers, and the calls of tools that carry it
//! out, which are those a person would record.

use packtrain_drivers::Platform;
use packtrain_tools::Kind;
use serde_json::json;

use super::calls::{Element, FOCUSED, SCALES, WAIT_MS, by_css, given, not_blank, one, scroll, tap};
use super::message::{Direction, IsMessage as _, LaunchMode, message};
use super::reply::response;
use super::{
    ANDROID, Command, CommandError, EVERYWHERE, Group, PHONES, Planned, Returns, WEB, messages,
};

/// Defines the table: group and kind, platforms, name and request, response, what callers want of it, and
/// what is made of a request on a platform.
macro_rules! commands {
    ($(
        #[doc = $about:literal]
        $group:ident $kind:ident $platforms:ident $name:ident $request:tt -> $response:ident, $returns:expr, $plan:expr;
    )*) => {
        /// What the commands take.
        pub(super) mod requests {
            use super::{Direction, LaunchMode, message};

            $(message!(
                $name,
                concat!(stringify!($name), "Request"),
                concat!(" What `", stringify!($name), "` takes."),
                $request
            );)*
        }

        /// All of them, in the order of the documents.
        pub static COMMANDS: &[Command] = &[$(Command {
            name: stringify!($name),
            group: Group::$group,
            kind: Kind::$kind,
            platforms: $platforms,
            description: $about.trim_ascii_start(),
            request: requests::$name::MESSAGE,
            response: messages::$response::MESSAGE,
            returns: $returns,
            plan: |request, on| {
                let plan: fn(requests::$name, Platform) -> Planned = $plan;
                let request = serde_json::from_value(request);
                plan(request.map_err(|error| CommandError::invalid(error.to_string()))?, on)
            },
            respond: response::<messages::$response>,
        }),*];
    };
}

commands! {
    /// Taps an element once it is visible and still; on the web, clicks it.
    Core Action EVERYWHERE Tap {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id: Android's resource id, in full or behind the last slash; iOS's
        /// accessibility identifier; on the web its `id` or `data-testid`.
        id: Option<String>,
        /// Which of the matches, from 0.
        index: Option<u32>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
    } -> ActionResult, Returns::Nothing, tap;

    /// Types into whatever has the focus.
    Core Action EVERYWHERE InputText {
        /// The text; any Unicode.
        text: String,
    } -> ActionResult, Returns::Nothing, |request, on| match on {
        Platform::Web => one(
            "web_type",
            json!({ "ref": FOCUSED, "text": request.text, "clearFirst": false }),
        ),
        Platform::Android | Platform::Ios => one("inputText", json!({ "text": request.text })),
    };

    /// Starts an app.
    Core Action PHONES LaunchApp {
        /// Package name or bundle id.
        package_id: String,
        /// What becomes of the app's data and process; LAUNCH_MODE_REINSTALL when not given.
        mode: Option<LaunchMode>,
    } -> ActionResult, Returns::Nothing, |request, _| {
        not_blank("packageId", &request.package_id)?;
        let mode = request.mode.map(LaunchMode::word);
        one(
            "launchApp",
            given([("appId", json!(request.package_id)), ("launchMode", json!(mode))]),
        )
    };

    /// Deletes an app's data.
    Core Action PHONES ClearAppData {
        /// Package name or bundle id.
        package_id: String,
    } -> ActionResult, Returns::Nothing, |request, _| {
        not_blank("packageId", &request.package_id)?;
        one("mobile_clearAppData", json!({ "appId": request.package_id }))
    };

    /// Whether an element is visible. Not being visible is no error.
    Core Query EVERYWHERE IsVisible {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
        /// How long to wait for it, in milliseconds; not at all when not given.
        timeout_ms: Option<u32>,
    } -> IsVisibleResponse, Returns::Field("visible"), |request, _| {
        Element::new(request.text, request.id, request.exact)?.asked("isVisible", request.timeout_ms)
    };

    /// Whether the screen shows a text anywhere now, in any case.
    Core Query EVERYWHERE HasText {
        /// The text.
        text: String,
    } -> HasTextResponse, Returns::Field("found"), |request, _| {
        not_blank("text", &request.text)?;
        one("hasText", json!({ "text": request.text }))
    };

    /// The text of the first visible element of an id, or nothing.
    Core Query EVERYWHERE GetElementText {
        /// The element's id, as for `Tap`.
        id: String,
    } -> GetElementTextResponse, Returns::Field("text"), |request, _| {
        not_blank("id", &request.id)?;
        one("getElementText", json!({ "id": request.id }))
    };

    /// How many visible elements match.
    Core Query EVERYWHERE GetElementCount {
        /// Part of what the elements say, in any case; no pattern.
        text: Option<String>,
        /// The elements' id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
    } -> GetElementCountResponse, Returns::Field("count"), |request, _| {
        Element::new(request.text, request.id, request.exact)?.asked("getElementCount", None)
    };

    /// Takes a screenshot and a snapshot of the screen.
    Core Query EVERYWHERE CaptureScreen {} -> ScreenState, Returns::Message, |_, _| one("captureScreen", json!({}));

    /// Expects an element to be visible in time.
    Core Assertion EVERYWHERE AssertVisible {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
        /// How long it may take, in milliseconds; 5000 when not given.
        timeout_ms: Option<u32>,
    } -> ActionResult, Returns::Nothing, |request, on| {
        Element::new(request.text, request.id, request.exact)?.expected(request.timeout_ms, on)
    };

    /// Expects an element to become visible in time.
    Core Assertion EVERYWHERE WaitUntilVisible {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
        /// How long it may take, in milliseconds; 10000 when not given.
        timeout_ms: Option<u32>,
    } -> ActionResult, Returns::Nothing, |request, on| {
        let timeout = request.timeout_ms.unwrap_or(WAIT_MS);
        Element::new(request.text, request.id, request.exact)?.expected(Some(timeout), on)
    };

    /// Runs a command in the device's shell. One that ends with another exit code than 0 fails.
    Mobile Action ANDROID AdbShell {
        /// The command line, for the device's shell.
        command: String,
    } -> ShellResult, Returns::Field("output"), |request, _| {
        not_blank("command", &request.command)?;
        one("android_adbShell", json!({ "command": ["sh", "-c", request.command] }))
    };

    /// Grants an app a runtime permission.
    Mobile Action ANDROID GrantPermission {
        /// Package name.
        package_id: String,
        /// `android.permission.CAMERA` ...
        permission: String,
    } -> ActionResult, Returns::Nothing, |request, _| {
        not_blank("packageId", &request.package_id)?;
        not_blank("permission", &request.permission)?;
        one(
            "android_grantPermissions",
            json!({ "appId": request.package_id, "permissions": [request.permission] }),
        )
    };

    /// Goes back.
    Mobile Action PHONES PressBack {} -> ActionResult, Returns::Nothing, |_, _| one("pressBack", json!({}));

    /// Goes to the home screen.
    Mobile Action PHONES PressHome {} -> ActionResult, Returns::Nothing, |_, _| one("pressKey", json!({ "keyCode": "HOME" }));

    /// Moves a finger across the screen: up shows what lies below.
    Mobile Action PHONES Swipe {
        /// Where the finger goes.
        direction: Direction,
        /// How long it takes, in milliseconds; 400 when not given.
        duration_ms: Option<u32>,
    } -> ActionResult, Returns::Nothing, |request, _| one(
        "swipe",
        given([
            ("direction", json!(request.direction.word())),
            ("durationMs", json!(request.duration_ms)),
        ]),
    );

    /// Scrolls: down shows what lies below.
    Mobile Action PHONES Scroll {
        /// What to show: down for what lies below.
        direction: Direction,
        /// How many swipes; 1 when not given, at most 20.
        amount: Option<u32>,
    } -> ActionResult, Returns::Nothing, scroll;

    /// Moves two fingers apart or together in the middle of the screen.
    Mobile Action PHONES Pinch {
        /// Above 1 zooms in, below 1 zooms out: 2 moves the fingers to twice their distance.
        scale: f64,
    } -> ActionResult, Returns::Nothing, |request, _| {
        if !SCALES.contains(&request.scale) {
            let (least, most) = (SCALES.start(), SCALES.end());
            return Err(CommandError::invalid(format!("`scale` must be {least} to {most}")));
        }
        one("pinch", json!({ "scale": request.scale }))
    };

    /// Opens an address.
    Web Action WEB Navigate {
        /// The address; a relative one leads below the base URL.
        url: String,
    } -> ActionResult, Returns::Nothing, |request, _| {
        not_blank("url", &request.url)?;
        one("web_navigate", json!({ "url": request.url }))
    };

    /// Clicks an element once it is visible, still and not covered.
    Web Action WEB Click {
        /// A CSS selector.
        selector: String,
    } -> ActionResult, Returns::Nothing, |request, _| one("web_click", by_css(&request.selector)?);

    /// Replaces what a field holds.
    Web Action WEB Fill {
        /// A CSS selector.
        selector: String,
        /// The text; nothing empties the field.
        value: String,
    } -> ActionResult, Returns::Nothing, |request, _| {
        let mut arguments = by_css(&request.selector)?;
        arguments["text"] = json!(request.value);
        one("web_type", arguments)
    };

    /// Expects an element to become visible in time.
    Web Assertion WEB WaitForSelector {
        /// A CSS selector.
        selector: String,
        /// How long it may take, in milliseconds; 10000 when not given.
        timeout_ms: Option<u32>,
    } -> ActionResult, Returns::Nothing, |request, _| {
        let mut arguments = by_css(&request.selector)?;
        arguments["timeoutMs"] = json!(request.timeout_ms.unwrap_or(WAIT_MS));
        one("web_verifyElementVisible", arguments)
    };

    /// Runs JavaScript in the page.
    Web Action WEB EvaluateJs {
        /// An expression; `(() => { ... })()` for statements.
        script: String,
    } -> EvaluateJsResponse, Returns::Field("result"), |request, _| {
        not_blank("script", &request.script)?;
        one("web_evaluate", json!({ "script": request.script }))
    };
}
