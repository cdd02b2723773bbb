//! The fast lane for Chromium: no wait between question and answer. One script in Playwright's own world
//! of the document (`page/lane.js`) finds, checks and waits by Playwright's own functions, and the events
//! follow at once; a look is the page's rest and its reading in one answer, and its picture after that.
//!
//! What that script does not answer with "ready", Playwright's own way does from the start: the lane is
//! never the reason why something fails. Wire: `Runtime.evaluate`, `Runtime.executionContextCreated`,
//! `Input.dispatchMouseEvent`, `Page.windowOpen` and `Page.captureScreenshot` of the Chrome DevTools Protocol,
//! in a session that Playwright opens.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use packtrain_drivers::{CommandContext, Screenshot, Size};
use playwright_rs::Error;
use playwright_rs::protocol::{CDPSession, Page};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::observe::{Rest, Waiting};
use crate::reading::{self, Document, Wanted};
use crate::session::{Session, Tabs};

/// How long an element may take to be ready; Playwright waits for what takes longer.
const READY_TIMEOUT: Duration = Duration::from_millis(400);
/// The script answers within its own limit, or the page hangs.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a page may take over what is filled in or chosen.
const DONE_TIMEOUT: Duration = Duration::from_secs(30);
/// And a look within its own, beside this.
const LOOK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a document that was just opened may take to be told of.
const WORLD_TIMEOUT: Duration = Duration::from_millis(300);
/// How long a navigation that an action began may take to show its document.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(30);
/// What begins to navigate asks for its document within this.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a tab that an action opened may take to be the current one.
const TAB_TIMEOUT: Duration = Duration::from_secs(2);
/// Playwright's worlds are called so, and then by their page.
const WORLD: &str = "__playwright_utility_world_";
/// Where the script answers, in that world alone.
const SCRIPT: &str = "globalThis[Symbol.for('packtrain')]";

/// What is done with an element.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ElementAction<'a> {
    Click,
    Hover,
    /// Replaces what a field holds.
    Fill(&'a str),
    /// Chooses options, each by its value or label.
    Select(&'a [String]),
}

impl ElementAction<'_> {
    /// Playwright's own action, a method of its protocol's `Frame`.
    pub(crate) const fn method(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::Hover => "hover",
            Self::Fill(_) => "fill",
            Self::Select(_) => "selectOption",
        }
    }

    /// What that takes beside an element.
    pub(crate) fn params(self) -> Value {
        match self {
            Self::Click | Self::Hover => json!({}),
            Self::Fill(text) => json!({ "value": text }),
            Self::Select(options) => json!({ "options": by_value_or_label(options) }),
        }
    }
}

/// What is asked of a page that hangs may be heard long after nobody waits for it.
fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
}

fn by_value_or_label(options: &[String]) -> Value {
    let by = |option: &String| json!({ "valueOrLabel": option });
    options.iter().map(by).collect()
}

/// A tab's own session with Chromium.
pub(crate) struct Lane {
    cdp: CDPSession,
    /// The unique id of Playwright's world in the page's own document.
    world: Arc<watch::Sender<Option<String>>>,
    /// Where the mouse has gone without Playwright.
    pointed: Mutex<Option<Point>>,
    /// Counts the tabs that the page has begun to open.
    opened: Arc<watch::Sender<u64>>,
}

/// An answer of the script to an action.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ready {
    at: Option<Point>,
    /// It has the focus and takes text.
    types: bool,
    done: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Point {
    x: f64,
    y: f64,
}

/// What came of the events.
#[derive(Debug, Deserialize)]
struct Released {
    /// They hit the element, and nothing else has seen them.
    hit: bool,
    /// The page goes to another document.
    leaves: bool,
}

impl Lane {
    /// A session of its own with a tab.
    pub(crate) async fn of(page: &Page) -> Option<Arc<Self>> {
        Self::open(page)
            .await
            .inspect_err(|error| tracing::debug!(%error, "no fast lane for a tab"))
            .ok()
            .map(Arc::new)
    }

    async fn open(page: &Page) -> Result<Self, Error> {
        let cdp = page.context()?.new_cdp_session(page).await?;
        let tree = cdp.send("Page.getFrameTree", None).await?;
        let main = tree["result"]["frameTree"]["frame"]["id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let world = Arc::new(watch::Sender::new(None));
        let told = Arc::clone(&world);
        cdp.on("Runtime.executionContextCreated", move |event: Value| {
            let context = &event["context"];
            let name = context["name"].as_str().unwrap_or_default();
            if name.starts_with(WORLD) && context["auxData"]["frameId"] == main.as_str() {
                told.send_replace(context["uniqueId"].as_str().map(str::to_owned));
            }
            async { Ok(()) }
        });
        let opened = Arc::new(watch::Sender::new(0));
        let opens = Arc::clone(&opened);
        cdp.on("Page.windowOpen", move |_| {
            opens.send_modify(|count| *count += 1);
            async { Ok(()) }
        });
        cdp.send("Page.enable", None).await?;
        cdp.send("Runtime.enable", None).await?;
        Ok(Self {
            cdp,
            world,
            opened,
            pointed: Mutex::new(None),
        })
    }

    /// What a call of the script in the page's own document answers.
    async fn ask<T: DeserializeOwned>(
        &self,
        page: &Page,
        call: &str,
        limit: Duration,
    ) -> Option<T> {
        let asked = async {
            let mut has_opened = false;
            for _ in 0..3 {
                match self.evaluate(call, limit).await? {
                    Evaluated::Value(value) => return T::deserialize(value).ok(),
                    Evaluated::NoScript if has_opened => return None,
                    Evaluated::NoScript => has_opened = reading::open(page).await.ok()?,
                    Evaluated::NoDocument => {
                        self.cdp.send("Runtime.disable", None).await.ok()?;
                        self.cdp.send("Runtime.enable", None).await.ok()?;
                    }
                }
            }
            None
        };
        tokio::time::timeout(limit, asked).await.ok().flatten()
    }

    async fn evaluate(&self, call: &str, limit: Duration) -> Option<Evaluated> {
        let mut world = self.world.subscribe();
        let known = tokio::time::timeout(WORLD_TIMEOUT, world.wait_for(Option::is_some));
        let known = known.await.ok()?.ok()?.clone();
        let params = json!({
            "expression": format!("{SCRIPT}?.{call}"),
            "uniqueContextId": known,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": true,
        });
        let asked = self.cdp.send("Runtime.evaluate", Some(params));
        match tokio::time::timeout(limit, asked).await.ok()? {
            Ok(mut answer) => {
                let answer = answer["result"].take();
                if answer.get("exceptionDetails").is_some() {
                    return None;
                }
                let value = answer["result"].get("value").cloned();
                Some(value.map_or(Evaluated::NoScript, Evaluated::Value))
            }
            Err(error) if error.to_string().contains("uniqueContextId not found") => {
                self.world.send_if_modified(|world| {
                    let is_stale = *world == known;
                    world.take_if(|_| is_stale).is_some()
                });
                Some(Evaluated::NoDocument)
            }
            Err(_) => None,
        }
    }
}

/// How large the page is seen.
#[derive(Debug, Clone, Copy, Deserialize)]
struct View {
    /// Zoomed by a pinch.
    scale: f64,
    /// Pixels for a CSS pixel.
    ratio: f64,
}

/// A page that was looked at once it rested.
#[derive(Deserialize)]
pub(crate) struct Look {
    pub(crate) rest: Rest,
    pub(crate) page: Document,
    view: View,
}

impl Look {
    /// Whether a CSS pixel is a pixel. Other pages Playwright scales.
    pub(crate) fn is_unscaled(&self) -> bool {
        (self.view.scale, self.view.ratio) == (1.0, 1.0)
    }
}

impl Lane {
    /// The page at rest, with what was read in that moment; carets are hidden from then on where a picture
    /// follows. `None` when the script does not answer.
    pub(crate) async fn look(
        &self,
        page: &Page,
        wanted: Wanted<'_>,
        has_picture: bool,
        waiting: Waiting,
    ) -> Option<Look> {
        let mut asked = waiting.arguments();
        asked["picture"] = has_picture.into();
        asked["wanted"] = wanted.question();
        let call = format!("look({asked})");
        self.ask(page, &call, waiting.limit + LOOK_TIMEOUT).await
    }

    /// The picture of a look as PNG, a pixel for each CSS pixel, and how often the page has moved by then;
    /// `None` for the picture when the browser gives none.
    pub(crate) async fn picture(
        &self,
        screen: Size,
        limit: Duration,
    ) -> (Option<Screenshot>, Option<i64>) {
        let params = json!({ "format": "png", "optimizeForSpeed": true });
        let captured = self.cdp.send("Page.captureScreenshot", Some(params));
        let captured = tokio::time::timeout(limit, captured).await;
        let png = captured.ok().and_then(Result::ok).and_then(|answer| {
            let data = answer["result"]["data"].as_str()?;
            BASE64_STANDARD.decode(data).ok()
        });
        let picture = png.map(|png| Screenshot { png, screen });
        (picture, self.taken().await)
    }

    /// Shows carets again; how often the page has moved by now.
    pub(crate) async fn taken(&self) -> Option<i64> {
        match self.evaluate("taken()", ANSWER_TIMEOUT).await {
            Some(Evaluated::Value(moves)) => moves.as_i64(),
            _ => None,
        }
    }

    /// Tells Playwright where the mouse is, for what it does there.
    pub(crate) async fn hand_over_mouse(&self, page: &Page) -> Result<(), Error> {
        let pointed = self.pointed().take();
        match pointed {
            Some(at) => page.mouse().move_to(at.x, at.y, None).await,
            None => Ok(()),
        }
    }

    /// Playwright moves the mouse itself.
    pub(crate) fn forget_mouse(&self) {
        self.pointed().take();
    }

    fn pointed(&self) -> MutexGuard<'_, Option<Point>> {
        self.pointed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mouse goes there, and presses where that is the action: all at once, in this order.
    async fn point(&self, at: Point, action: ElementAction<'_>) -> Result<(), Error> {
        let event = |kind: &str, button: &str, buttons: u32, force: f64| {
            json!({ "type": kind, "x": at.x, "y": at.y, "button": button, "buttons": buttons, "force": force,
                "clickCount": u32::from(button == "left") })
        };
        *self.pointed() = Some(at);
        let send = |event: Value| self.cdp.send("Input.dispatchMouseEvent", Some(event));
        let moved = send(event("mouseMoved", "none", 0, 0.0));
        if matches!(action, ElementAction::Hover) {
            return moved.await.map(drop);
        }
        let pressed = send(event("mousePressed", "left", 1, 0.5));
        let released = send(event("mouseReleased", "left", 0, 0.0));
        tokio::try_join!(biased; moved, pressed, released).map(drop)
    }
}

/// What came of an evaluation.
enum Evaluated {
    Value(Value),
    /// Nobody has asked this document anything yet.
    NoScript,
    /// The document that was known is gone, and nothing was evaluated.
    NoDocument,
}

/// Does it to the one element that `selector` matches in the page's own document. `None` when nothing has
/// been done: Playwright's own way is to be taken.
///
/// # Errors
/// When the events failed: they may have reached the page.
pub(crate) async fn act(
    session: &Session,
    page: &Page,
    selector: &str,
    action: ElementAction<'_>,
    ctx: &CommandContext,
) -> Result<Option<()>, Error> {
    let Some(lane) = session.tabs.lane(page).await else {
        return Ok(None);
    };
    let acted = lane.act(session, page, selector, action, ctx).await;
    if matches!(acted, Ok(None)) && matches!(action, ElementAction::Click | ElementAction::Hover) {
        lane.forget_mouse();
    }
    acted
}

impl Lane {
    async fn act(
        &self,
        session: &Session,
        page: &Page,
        selector: &str,
        action: ElementAction<'_>,
        ctx: &CommandContext,
    ) -> Result<Option<()>, Error> {
        let limit = ctx.remaining_up_to(READY_TIMEOUT);
        let mut asked = json!({
            "selector": selector,
            "limit": limit.as_millis() as u64,
            "rests": !session.acted.load(Ordering::Relaxed),
            "until": (since_epoch() + limit + ANSWER_TIMEOUT).as_millis() as u64,
        });
        match action {
            ElementAction::Click => {
                asked["needs"] = json!(["visible", "enabled"]);
                asked["touch"] = "mouse".into();
            }
            ElementAction::Hover => {
                asked["needs"] = json!(["visible"]);
                asked["touch"] = "hover".into();
            }
            ElementAction::Fill(text) => {
                asked["needs"] = json!(["visible", "enabled", "editable"]);
                asked["fill"] = text.into();
            }
            ElementAction::Select(options) => {
                asked["needs"] = json!(["visible", "enabled"]);
                asked["select"] = by_value_or_label(options);
            }
        }
        let call = format!("act({asked})");
        // Filling and choosing are done when it answers, however long the page takes over it.
        let answers = match action {
            ElementAction::Click | ElementAction::Hover => limit + ANSWER_TIMEOUT,
            ElementAction::Fill(_) | ElementAction::Select(_) => ctx.remaining_up_to(DONE_TIMEOUT),
        };
        let ready = self.ask::<Ready>(page, &call, answers);
        let Some(ready) = ready.await else {
            return Ok(None);
        };
        match (ready, action) {
            (Ready { done: true, .. }, _) => Ok(Some(())),
            (Ready { types: true, .. }, ElementAction::Fill("")) => {
                page.keyboard().press("Delete", None).await.map(Some)
            }
            (Ready { types: true, .. }, ElementAction::Fill(text)) => {
                page.keyboard().insert_text(text).await.map(Some)
            }
            (Ready { at: Some(at), .. }, _) => {
                let mut leaving = Leaving::watch(self, &session.tabs);
                let (mut tabs, opened) = (session.tabs.watch(), self.opened.subscribe());
                self.point(at, action).await?;
                // A page that left, or closed itself, has had its events.
                if let Some(released) = self.released(page, &mut leaving, ctx).await? {
                    if !released.hit {
                        return Ok(None);
                    }
                    if released.leaves {
                        leaving.arrived(ctx).await?;
                    }
                }
                // What follows is about the new tab.
                if opened.has_changed().unwrap_or_default() {
                    let _ = tokio::time::timeout(TAB_TIMEOUT, tabs.changed()).await;
                }
                Ok(Some(()))
            }
            _ => Ok(None),
        }
    }

    /// What came of the events; `None` when the page they went to is gone. Chromium asks a page nothing
    /// while the next document is on its way.
    async fn released(
        &self,
        page: &Page,
        leaving: &mut Leaving,
        ctx: &CommandContext,
    ) -> Result<Option<Released>, Error> {
        let begun = Instant::now();
        let limit = ctx.remaining_up_to(DONE_TIMEOUT);
        let answer = tokio::select! {
            biased;
            answer = self.evaluate("release()", limit) => answer,
            () = leaving.has_left() => None,
        };
        if let Some(Evaluated::Value(value)) = answer {
            return Ok(Some(Released::deserialize(value)?));
        }
        if begun.elapsed() >= limit {
            return Err(Error::Timeout(format!(
                "Timeout {}ms exceeded. The page did not say whether it was hit",
                limit.as_millis()
            )));
        }
        if !page.is_closed() {
            leaving.is_told().await;
        }
        Ok(None)
    }
}

/// The way of a page to its next document.
struct Leaving {
    asked: watch::Receiver<isize>,
    refused: watch::Receiver<u64>,
    arrivals: watch::Receiver<u64>,
    world: watch::Receiver<Option<String>>,
    /// The world of the document that is left.
    left: Option<String>,
}

impl Leaving {
    fn watch(lane: &Lane, tabs: &Tabs) -> Self {
        let world = lane.world.subscribe();
        let left = world.borrow().clone();
        Self {
            asked: tabs.navigations.subscribe(),
            refused: tabs.refused.subscribe(),
            arrivals: tabs.arrivals.subscribe(),
            world,
            left,
        }
    }

    /// Ends when there is another document.
    async fn has_left(&mut self) {
        let Self { world, left, .. } = self;
        let _ = world
            .wait_for(|world| world.is_some() && world != left)
            .await;
    }

    /// Playwright tells of the next document a moment after it is there, and its address with it.
    async fn is_told(&mut self) {
        let _ = tokio::time::timeout(REQUEST_TIMEOUT, self.arrivals.changed()).await;
    }

    /// Waits until the document is there, or is known not to come.
    async fn arrived(&mut self, ctx: &CommandContext) -> Result<(), Error> {
        let mut asked = self.asked.clone();
        // What no request follows leads to another program.
        let begins = tokio::time::timeout(REQUEST_TIMEOUT, async {
            tokio::select! {
                _ = asked.changed() => {}
                () = self.has_left() => {}
            }
        });
        if begins.await.is_err() {
            return Ok(());
        }
        let limit = ctx.remaining_up_to(COMMIT_TIMEOUT);
        let mut refused = self.refused.clone();
        let ended = tokio::time::timeout(limit, async {
            tokio::select! {
                _ = refused.changed() => {}
                () = self.has_left() => self.is_told().await,
            }
        });
        ended.await.map_err(|_| {
            let millis = limit.as_millis();
            Error::Timeout(format!(
                "Timeout {millis}ms exceeded. The page began to go to another and did not arrive"
            ))
        })
    }
}
