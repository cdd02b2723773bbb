//! The command language: everything a device can be asked to do.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::axes::Axes;
use crate::geometry::{Point, Size};
use crate::mark::ScreenMark;
use crate::observed::ObserveOptions;
use crate::reach::Reach;
use crate::selector::NodeSelector;

/// One order to a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Starts a session: state left by the one before must not show. A web device opens a fresh
    /// browser context here; a phone goes to a known state.
    Begin(SessionOptions),
    /// Ends the session and lets go of what it held.
    End,
    /// Reads the screen as a tree.
    Snapshot(SnapshotDetail),
    /// Reads the screen as a picture.
    Screenshot,
    /// Waits until the screen is still and reads all that comparing it takes. Answers
    /// [`Observed`](crate::Observation::Observed).
    Observe(ObserveOptions),
    /// Waits until the screen shows something else than a snapshot of that mark did. Answers a
    /// [`Snapshot`](crate::Observation::Snapshot) of what it shows then, or
    /// [`Unchanged`](crate::Observation::Unchanged).
    AwaitChange {
        /// The mark of the snapshot to compare with.
        since: ScreenMark,
        /// When to give up waiting, which is not an error; the screen is looked at once at least.
        limit: Duration,
    },
    /// Touches, keys and text, by position and focus.
    Input(InputCommand),
    /// Apps on a phone.
    App(AppCommand),
    /// What only Android can do.
    Android(AndroidCommand),
    /// What only a page can do, by element.
    Web(WebCommand),
}

/// How a session starts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionOptions {
    /// Where relative addresses lead.
    pub base_url: Option<String>,
    /// Whether `base_url` counts before what is configured for the device.
    pub base_url_first: bool,
    /// Folders in which an address without scheme is looked for as a file, first match wins: the
    /// trail's folder, then the working directory.
    pub folders: Vec<std::path::PathBuf>,
    /// Folder for downloads; without one they are discarded.
    pub downloads: Option<std::path::PathBuf>,
    /// File for the device's own log of the session (logcat, syslog), when it has one.
    pub device_log: Option<std::path::PathBuf>,
    /// What a matrix varies of the device, for this session only. [`Command::Begin`] answers
    /// [`Begun`](crate::Observation::Begun) with each of them, as it was read back.
    pub axes: Axes,
    /// Headers sent with every request, on the web.
    pub headers: std::collections::BTreeMap<String, String>,
    /// Arguments for apps that are launched, on iPhones.
    pub launch_arguments: Vec<String>,
    /// The app under test on this platform, which per-app axes are applied to.
    pub app: Option<String>,
    /// Where the driver writes a trace of the whole session, when it can.
    pub trace: Option<std::path::PathBuf>,
    /// Which addresses it may open; any without one.
    pub reach: Option<Reach>,
}

/// How much a snapshot holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotDetail {
    /// Bounds of every element, where they cost extra.
    pub bounds: bool,
    /// CSS selectors, on the web.
    pub css_selectors: bool,
    /// Elements that are scrolled out of sight.
    pub offscreen: bool,
    /// References that stay with their elements, for callers that act by them. On a page, without it
    /// they are places in the list; on phones they always stay.
    pub lasting: bool,
}

/// Input by position and focus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum InputCommand {
    /// A touch at a point.
    Tap {
        /// Where.
        at: Point,
    },
    /// A touch that is held.
    LongPress {
        /// Where.
        at: Point,
        /// How long.
        hold: Duration,
    },
    /// A straight movement of one finger.
    Swipe {
        /// Where it starts.
        from: Point,
        /// Where it ends.
        to: Point,
        /// How long it takes.
        duration: Duration,
    },
    /// A press, a movement and a release, with the press held long enough to pick something up.
    Drag {
        /// Where it starts.
        from: Point,
        /// Where it ends.
        to: Point,
        /// How long the movement takes.
        duration: Duration,
    },
    /// Two fingers that move straight towards each other or apart, at the same time.
    Pinch {
        /// Where each starts.
        from: [Point; 2],
        /// Where each ends.
        to: [Point; 2],
        /// How long it takes.
        duration: Duration,
    },
    /// Text into whatever has the focus; any Unicode.
    Text(String),
    /// Removes characters before the cursor; `None` empties the field.
    Erase(Option<u32>),
    /// A key.
    Key(Key),
    /// Hides the on-screen keyboard; no error when there is none.
    HideKeyboard,
    /// Puts text on the clipboard.
    SetClipboard(String),
    /// Pastes the clipboard into whatever has the focus.
    Paste,
}

/// Keys every phone has in some form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Key {
    Back,
    Enter,
    Home,
    Backspace,
    Tab,
    Escape,
    VolumeUp,
    VolumeDown,
    Lock,
}

/// What happens to an app's data and process when it is launched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LaunchMode {
    /// Data cleared, then started.
    #[default]
    Reinstall,
    /// Brought to the front as it is.
    Resume,
    /// Stopped, then started, data kept.
    ForceRestart,
}

/// Apps and settings of a phone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AppCommand {
    /// Starts an app.
    Launch {
        /// Package name or bundle id.
        id: String,
        /// What to do with its data and process.
        mode: LaunchMode,
    },
    /// Ends an app.
    Stop(String),
    /// Deletes an app's data.
    Clear(String),
    /// Installs an app from a file on this computer.
    Install(std::path::PathBuf),
    /// Removes an app.
    Uninstall(String),
    /// Lists installed apps: JSON array of `{id, name?, version?, system}`.
    List {
        /// Whether the system's own apps are listed too.
        system: bool,
    },
    /// The app in the foreground: JSON `{id, activity?}`.
    Foreground,
    /// Opens an address in whatever app claims it.
    OpenUrl(String),
    /// Grants permissions, by the platform's names.
    Grant {
        /// Package name or bundle id.
        id: String,
        /// `android.permission.CAMERA`, or `camera` on iOS.
        permissions: Vec<String>,
    },
    /// Connects or disconnects the network.
    Network {
        /// Whether there shall be one.
        connected: bool,
    },
    /// Turns the screen: `portrait` or `landscape`.
    Rotate {
        /// Whether wide is wanted.
        landscape: bool,
    },
    /// The alert on the screen: JSON `{text, buttons}` or `null`.
    Alert,
    /// Answers the alert on the screen.
    AnswerAlert {
        /// Accept or dismiss.
        accept: bool,
        /// A button by its label instead.
        button: Option<String>,
    },
}

/// What only Android can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AndroidCommand {
    /// A shell command; answers JSON `{stdout, stderr, exit}`.
    Shell {
        /// Program and arguments, each quoted before the device's shell sees it.
        argv: Vec<String>,
        /// Run as this app.
        run_as: Option<String>,
    },
    /// Sets an app operation to `allow`.
    AppOp {
        /// Package name.
        id: String,
        /// `SYSTEM_ALERT_WINDOW` ...
        operation: String,
    },
    /// Sends a broadcast.
    Broadcast {
        /// The intent's action.
        action: String,
        /// `package/class`.
        component: String,
        /// Name, `string|int|long|float|bool`, value.
        extras: Vec<(String, String, String)>,
    },
    /// Turns the status bar's demo mode on or off.
    DemoMode {
        /// Whether it shall be on.
        enable: bool,
    },
    /// Writes a file.
    WriteFile {
        /// Path on the device.
        path: String,
        /// Content.
        bytes: Vec<u8>,
    },
    /// Writes an image or other medium and makes the gallery see it.
    AddMedia {
        /// File name, without a folder.
        name: String,
        /// Content.
        bytes: Vec<u8>,
        /// `image/png` ...
        mime: String,
    },
}

/// Which element of a page is meant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WebTarget {
    /// The durable selector; tried first.
    pub selector: Option<NodeSelector>,
    /// A reference from a snapshot (`e4`), a `css=...` selector or an ARIA descriptor such as
    /// `button "Save"`; used when there is no selector, and by actions whose selector matches
    /// nothing.
    pub reference: Option<String>,
}

impl WebTarget {
    /// Whether nothing is named.
    pub const fn is_empty(&self) -> bool {
        self.selector.is_none() && self.reference.is_none()
    }
}

/// Elements of a page as a person names them; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebElement {
    /// Its `id`, or its `data-testid`.
    pub id: Option<String>,
    /// What it shows.
    pub text: Option<String>,
    /// How the text is compared.
    pub matching: TextMatch,
}

/// Where to navigate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NavigateTo {
    /// To an address; relative ones are resolved against the session's base.
    Url(String),
    /// One page back.
    Back,
    /// One page forward.
    Forward,
}

/// Up, down, left, right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Direction {
    Up,
    #[default]
    Down,
    Left,
    Right,
}

/// Which value of an element is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueKind {
    /// Its text contains the expected text or is it. Of a field, its value is the text; of a list,
    /// the chosen option or its value.
    Text,
    /// Its value equals the expected text.
    Value,
    /// Its attribute of this name equals the expected text.
    Attribute(String),
}

/// What a download is to be like; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedDownload {
    /// The whole name that the page suggested.
    pub name: Option<String>,
    /// A regular expression of the whole name.
    pub name_regex: Option<String>,
    /// A text in it.
    pub contains: Option<String>,
    /// How many bytes it has at least.
    pub min_bytes: Option<u64>,
}

/// How a text is compared with the one that is expected. White space counts as one blank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextMatch {
    /// It contains the expected text.
    #[default]
    Contains,
    /// It is the expected text as a whole, in this case.
    Exact,
}

/// What a page can do, by element. Each waits for its element until `wait` has passed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WebCommand {
    /// Goes to an address or through the history.
    Navigate(NavigateTo),
    /// Clicks an element.
    Click {
        /// Which.
        target: WebTarget,
    },
    /// Types into an element, or into the focus when no element is named.
    Type {
        /// Which.
        target: WebTarget,
        /// What.
        text: String,
        /// Replace what is there instead of typing behind it.
        clear_first: bool,
    },
    /// Moves the mouse over an element.
    Hover {
        /// Which.
        target: WebTarget,
    },
    /// Chooses options of a list by value or label.
    Select {
        /// Which.
        target: WebTarget,
        /// Values or labels.
        values: Vec<String>,
    },
    /// Presses a key or a chord, in Playwright's words: `Enter`, `Control+A`.
    PressKey(String),
    /// Scrolls the page, or an element.
    Scroll {
        /// Which element; the page without one.
        target: WebTarget,
        /// Which way.
        direction: Direction,
        /// How far, in CSS pixels.
        amount: u32,
    },
    /// Counts the visible elements of a kind, without expecting any: JSON `{count, text}`, `text` being
    /// what the first one shows, or `null`.
    Look {
        /// Which.
        element: WebElement,
        /// How long to wait for a first one.
        limit: Duration,
    },
    /// Expects a text to be visible, across nested elements.
    ExpectText {
        /// The text.
        text: String,
        /// A substring in any case, or the whole text of an element.
        matching: TextMatch,
        /// How long it may take; the usual time when `None`.
        limit: Option<Duration>,
    },
    /// Expects an element to be visible.
    ExpectVisible {
        /// Which.
        target: WebTarget,
        /// How long it may take; the usual time when `None`.
        limit: Option<Duration>,
    },
    /// Expects a value of an element.
    ExpectValue {
        /// Which.
        target: WebTarget,
        /// Which value.
        kind: ValueKind,
        /// What it should be.
        expected: String,
        /// How a text is compared; values and attributes are always compared as a whole.
        matching: TextMatch,
    },
    /// Expects every item's text to be visible inside an element, or on the page.
    ExpectList {
        /// Which.
        target: WebTarget,
        /// The texts.
        items: Vec<String>,
        /// A substring in any case, or the whole text of an element.
        matching: TextMatch,
    },
    /// Waits for the address to match a glob (`**/cart`) or a `/regex/`.
    AwaitUrl {
        /// The pattern.
        pattern: String,
        /// How long.
        limit: Duration,
    },
    /// Expects a request of this session, past or coming, whose address contains a text.
    ExpectRequest {
        /// The text.
        name: String,
        /// How long.
        limit: Duration,
    },
    /// Gives a page files of this computer: to a file input, or to whatever opens when an element is
    /// clicked.
    Upload {
        /// Which element.
        target: WebTarget,
        /// Below one of the session's folders, and relative to it.
        files: Vec<String>,
    },
    /// Expects a download of this session, past or coming, to be complete.
    ExpectDownload {
        /// What it is to be like.
        wanted: WantedDownload,
        /// How long.
        limit: Duration,
    },
    /// The current address.
    CurrentUrl,
    /// Runs JavaScript in the page and answers its result as JSON.
    Evaluate(String),
    /// Adds cookies, from a JSON array in Playwright's shape.
    AddCookies(String),
    /// Cookies and local storage as JSON, in Playwright's shape.
    StorageState,
    /// Changes the viewport.
    Resize(Size),
    /// Says how the dialogs that follow in this session are answered.
    AnswerDialogs {
        /// OK instead of Cancel.
        accept: bool,
        /// What to enter into prompts.
        text: Option<String>,
    },
}

impl Command {
    /// A short name for logs and errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Begin(_) => "begin",
            Self::End => "end",
            Self::Snapshot(_) => "snapshot",
            Self::Screenshot => "screenshot",
            Self::Observe(_) => "observe",
            Self::AwaitChange { .. } => "await change",
            Self::Input(command) => command.name(),
            Self::App(command) => command.name(),
            Self::Android(command) => command.name(),
            Self::Web(command) => command.name(),
        }
    }
}

impl InputCommand {
    /// A short name for logs and errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tap { .. } => "tap",
            Self::LongPress { .. } => "long press",
            Self::Swipe { .. } => "swipe",
            Self::Drag { .. } => "drag",
            Self::Pinch { .. } => "pinch",
            Self::Text(_) => "input text",
            Self::Erase(_) => "erase text",
            Self::Key(_) => "press key",
            Self::HideKeyboard => "hide keyboard",
            Self::SetClipboard(_) => "set clipboard",
            Self::Paste => "paste",
        }
    }
}

impl AppCommand {
    /// A short name for logs and errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Launch { .. } => "launch app",
            Self::Stop(_) => "stop app",
            Self::Clear(_) => "clear app data",
            Self::Install(_) => "install app",
            Self::Uninstall(_) => "uninstall app",
            Self::List { .. } => "list apps",
            Self::Foreground => "foreground app",
            Self::OpenUrl(_) => "open url",
            Self::Grant { .. } => "grant permissions",
            Self::Network { .. } => "set network",
            Self::Rotate { .. } => "rotate",
            Self::Alert => "read alert",
            Self::AnswerAlert { .. } => "answer alert",
        }
    }
}

impl AndroidCommand {
    /// A short name for logs and errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Shell { .. } => "adb shell",
            Self::AppOp { .. } => "app operation",
            Self::Broadcast { .. } => "broadcast",
            Self::DemoMode { .. } => "demo mode",
            Self::WriteFile { .. } => "write file",
            Self::AddMedia { .. } => "add media",
        }
    }
}

impl WebCommand {
    /// A short name for logs and errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Navigate(_) => "navigate",
            Self::Click { .. } => "click",
            Self::Type { .. } => "type",
            Self::Hover { .. } => "hover",
            Self::Select { .. } => "select option",
            Self::PressKey(_) => "press key",
            Self::Scroll { .. } => "scroll",
            Self::Look { .. } => "look",
            Self::ExpectText { .. } => "expect text",
            Self::ExpectVisible { .. } => "expect visible",
            Self::ExpectValue { .. } => "expect value",
            Self::ExpectList { .. } => "expect list",
            Self::AwaitUrl { .. } => "await url",
            Self::ExpectRequest { .. } => "expect request",
            Self::Upload { .. } => "upload",
            Self::ExpectDownload { .. } => "expect download",
            Self::CurrentUrl => "current url",
            Self::Evaluate(_) => "evaluate",
            Self::AddCookies(_) => "add cookies",
            Self::StorageState => "storage state",
            Self::Resize(_) => "resize",
            Self::AnswerDialogs { .. } => "answer dialogs",
        }
    }
}
