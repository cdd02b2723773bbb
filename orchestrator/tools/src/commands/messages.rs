//! The messages of the typed commands.

use super::message::{Direction, LaunchMode, messages};

messages! {
    /// What `Tap` takes.
    TapRequest {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id: Android's resource id, in full or behind the last slash; iOS's
        /// accessibility identifier; on the web its `id` or `data-testid`.
        id: Option<String>,
        /// Which of the matches, from 0.
        index: Option<u32>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
    }

    /// What `InputText` takes.
    InputTextRequest {
        /// The text; any Unicode.
        text: String,
    }

    /// What `LaunchApp` takes.
    LaunchAppRequest {
        /// Package name or bundle id.
        package_id: String,
        /// What becomes of the app's data and process; LAUNCH_MODE_REINSTALL when not given.
        mode: Option<LaunchMode>,
    }

    /// What `ClearAppData` takes.
    ClearAppDataRequest {
        /// Package name or bundle id.
        package_id: String,
    }

    /// What `IsVisible` takes.
    IsVisibleRequest {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
        /// How long to wait for it, in milliseconds; not at all when not given.
        timeout_ms: Option<u32>,
    }

    /// Whether an element is visible.
    IsVisibleResponse {
        /// Whether it is.
        visible: bool,
    }

    /// What `HasText` takes.
    HasTextRequest {
        /// The text.
        text: String,
    }

    /// Whether the screen shows a text.
    HasTextResponse {
        /// Whether it does.
        found: bool,
    }

    /// What `GetElementText` takes.
    GetElementTextRequest {
        /// The element's id, as for `Tap`.
        id: String,
    }

    /// The text of an element.
    GetElementTextResponse {
        /// What it says; left out when there is no such element, or it says nothing.
        text: Option<String>,
    }

    /// What `GetElementCount` takes.
    GetElementCountRequest {
        /// Part of what the elements say, in any case; no pattern.
        text: Option<String>,
        /// The elements' id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
    }

    /// How many elements are visible.
    GetElementCountResponse {
        /// How many.
        count: u32,
    }

    /// What `CaptureScreen` takes.
    CaptureScreenRequest {}

    /// What is on the screen. The picture and the tree are fetched from their addresses with the
    /// same credential. They are there until the tool call ends, or two more captures were made.
    ScreenState {
        /// Width in the units of bounds.
        width: f64,
        /// Height in the units of bounds.
        height: f64,
        /// The page's address, or the id of the app in front.
        location: Option<String>,
        /// The page's title.
        title: Option<String>,
        /// The elements as a compact list, a line each; at most 64 KiB.
        text: String,
        /// Whether `text` was cut.
        truncated: Option<bool>,
        /// Where the picture is: `image/png`.
        screenshot_url: String,
        /// Where the tree is: `application/json`.
        tree_url: String,
    }

    /// What `AssertVisible` takes.
    AssertVisibleRequest {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
        /// How long it may take, in milliseconds; 5000 when not given.
        timeout_ms: Option<u32>,
    }

    /// What `WaitUntilVisible` takes.
    WaitUntilVisibleRequest {
        /// Part of what the element says, in any case; no pattern.
        text: Option<String>,
        /// The element's id, as for `Tap`.
        id: Option<String>,
        /// Whether `text` is the whole text, in this case.
        exact: Option<bool>,
        /// How long it may take, in milliseconds; 10000 when not given.
        timeout_ms: Option<u32>,
    }

    /// An action was carried out, or an assertion holds.
    ActionResult {
        /// What is worth reading, if anything.
        message: Option<String>,
    }

    /// What `AdbShell` takes.
    AdbShellRequest {
        /// The command line, for the device's shell.
        command: String,
    }

    /// What a shell command printed.
    ShellResult {
        /// Standard output and standard error.
        output: String,
    }

    /// What `GrantPermission` takes.
    GrantPermissionRequest {
        /// Package name.
        package_id: String,
        /// `android.permission.CAMERA` ...
        permission: String,
    }

    /// What `PressBack` takes.
    PressBackRequest {}

    /// What `PressHome` takes.
    PressHomeRequest {}

    /// What `Swipe` takes.
    SwipeRequest {
        /// Where the finger goes.
        direction: Direction,
        /// How long it takes, in milliseconds; 400 when not given.
        duration_ms: Option<u32>,
    }

    /// What `Scroll` takes.
    ScrollRequest {
        /// What to show: down for what lies below.
        direction: Direction,
        /// How many swipes; 1 when not given, at most 20.
        amount: Option<u32>,
    }

    /// What `Pinch` takes.
    PinchRequest {
        /// Above 1 zooms in, below 1 zooms out: 2 moves the fingers to twice their distance.
        scale: f64,
    }

    /// What `Navigate` takes.
    NavigateRequest {
        /// The address; a relative one leads below the base URL.
        url: String,
    }

    /// What `Click` takes.
    ClickRequest {
        /// A CSS selector.
        selector: String,
    }

    /// What `Fill` takes.
    FillRequest {
        /// A CSS selector.
        selector: String,
        /// The text; nothing empties the field.
        value: String,
    }

    /// What `WaitForSelector` takes.
    WaitForSelectorRequest {
        /// A CSS selector.
        selector: String,
        /// How long it may take, in milliseconds; 10000 when not given.
        timeout_ms: Option<u32>,
    }

    /// What `EvaluateJs` takes.
    EvaluateJsRequest {
        /// An expression; `(() => { ... })()` for statements.
        script: String,
    }

    /// What a script resulted in.
    EvaluateJsResponse {
        /// The result as JSON.
        result: serde_json::Value,
    }
}
