//! The fast lane for Chromium: no wait between question and answer. One script in Playwright's own world
//! of the document (`page/lane.js`) finds, checks and waits by Playwright's own functions, and the events
//! follow at once; a look is the page's rest and its reading in one answer, and its picture after that.
//!
//! What that script does not answer with "ready", Playwright's own way does from the start: the lane is
//! never the reason why something fails. Wire: `Runtime.evaluate`, `Runtime.executionContextCreated`,
//! `Page.windowOpen` and `Page.captureScreenshot` of the Chrome DevTools Protocol, in a session that
//! Playwright opens. Its mouse and its keyboard are Playwright's.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use packtrain_drivers::{CommandContext, Screenshot, Size};
use playwright_rs::Error;
use playwright_rs::protocol::{CDPSession, Page};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::observe::Rest;
use crate::reading::{self, Document, ReadOptions};
use crate::session::{Documents, Session, Tabs};

/// How long an element may take to be ready; Playwright waits for what takes longer.
const READY_TIMEOUT: Duration = Duration::from_millis(400);
/// The script answers within its own limit, or the page hangs.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a page may take over what is done to it, and over showing the document that this leads to.
const DONE_TIMEOUT: Duration = Duration::from_secs(30);
/// And a look within its own, beside this.
const LOOK_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a document that was just opened may take to be told of.
const WORLD_TIMEOUT: Duration = Duration::from_millis(300);
/// What begins to navigate asks for its document within this.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(500);
/// How long a tab that an action opened may take to be the current one.
const TAB_TIMEOUT: Duration = Duration::from_secs(2);
/// Playwright's worlds are called so, and then by their page.
const WORLD: &str = "__playwright_utility_world_";
const NOT_TAKEN: &str = "The page did not receive the events";
const NOT_ARRIVED: &str = "The page started to navigate and did not arrive";
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
            Self::Select(options) => {
                let by = |option: &String| json!({ "valueOrLabel": option });
                json!({ "options": options.iter().map(by).collect::<Value>() })
            }
        }
    }

    const fn points(self) -> bool {
        matches!(self, Self::Click | Self::Hover)
    }
}

/// What is asked of a page that hangs may be heard long after nobody waits for it.
fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
}

fn late(limit: Duration, what: &str) -> Error {
    Error::Timeout(format!("Timeout {}ms exceeded. {what}", limit.as_millis()))
}

/// What a page may take its time over; `what` is said of it when that is over.
async fn in_time<T>(
    ctx: &CommandContext,
    what: &str,
    doing: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let limit = ctx.remaining_up_to(DONE_TIMEOUT);
    let done = tokio::time::timeout(limit, doing).await;
    done.unwrap_or_else(|_| Err(late(limit, what)))
}

/// A tab's own session with Chromium.
pub(crate) struct Lane {
    cdp: CDPSession,
    /// The unique id of Playwright's world in the page's own document.
    world: Arc<watch::Sender<Option<String>>>,
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
    pub(crate) async fn open(page: &Page) -> Result<Self, Error> {
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
        Ok(Self { cdp, world, opened })
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
                    Evaluated::Threw => return None,
                    Evaluated::NoScript if has_opened => return None,
                    Evaluated::NoScript => has_opened = reading::open(page).await.ok()?,
                    // Both at once: a cancelled wait never leaves it disabled.
                    Evaluated::NoDocument => {
                        let disabled = self.cdp.send("Runtime.disable", None);
                        let enabled = self.cdp.send("Runtime.enable", None);
                        tokio::try_join!(biased; disabled, enabled).ok()?;
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
                    return Some(Evaluated::Threw);
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

/// A page that was looked at once it rested.
#[derive(Deserialize)]
pub(crate) struct Look {
    pub(crate) rest: Rest,
    pub(crate) page: Document,
    /// A CSS pixel is not a pixel. Playwright scales such pages.
    pub(crate) scaled: bool,
}

impl Lane {
    /// The page at rest, with what was read in that moment; carets are hidden from then on where a picture
    /// follows. `None` when the script does not answer.
    pub(crate) async fn look(
        &self,
        page: &Page,
        wanted: ReadOptions<'_>,
        has_picture: bool,
        (mut asked, limit): (Value, Duration),
    ) -> Option<Look> {
        asked["picture"] = has_picture.into();
        asked["wanted"] = wanted.question();
        let call = format!("look({asked})");
        self.ask(page, &call, limit + LOOK_TIMEOUT).await
    }

    /// The picture of a look as PNG, a pixel for each CSS pixel; `None` when the browser gives none.
    pub(crate) async fn picture(&self, screen: Size, limit: Duration) -> Option<Screenshot> {
        let params = json!({ "format": "png", "optimizeForSpeed": true });
        let captured = self.cdp.send("Page.captureScreenshot", Some(params));
        // What pages log would be kept for this session as long as the document is there.
        let logged = json!({ "objectGroup": "console" });
        let released = self.cdp.send("Runtime.releaseObjectGroup", Some(logged));
        let both = async { tokio::join!(captured, released).0 };
        let answer = tokio::time::timeout(limit, both).await.ok()?.ok()?;
        let png = BASE64_STANDARD.decode(answer["result"]["data"].as_str()?);
        png.ok().map(|png| Screenshot { png, screen })
    }

    /// Shows carets again; how often the page has moved by now.
    pub(crate) async fn taken(&self) -> Option<i64> {
        match self.evaluate("taken()", ANSWER_TIMEOUT).await {
            Some(Evaluated::Value(moves)) => moves.as_i64(),
            _ => None,
        }
    }
}

/// What came of an evaluation.
enum Evaluated {
    Value(Value),
    /// This document has not been asked anything yet.
    NoScript,
    /// The script did not get to its end.
    Threw,
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
    let limit = ctx.remaining_up_to(READY_TIMEOUT);
    let mut asked = action.params();
    asked["do"] = action.method().into();
    asked["selector"] = selector.into();
    asked["limit"] = (limit.as_millis() as u64).into();
    asked["rests"] = (!session.acted.load(Ordering::Relaxed)).into();
    asked["until"] = ((since_epoch() + limit + ANSWER_TIMEOUT).as_millis() as u64).into();
    let call = format!("act({asked})");
    // Filling and choosing are done when it answers, however long the page takes over it.
    let answers = match action.points() {
        true => limit + ANSWER_TIMEOUT,
        false => ctx.remaining_up_to(DONE_TIMEOUT),
    };
    let begun = Instant::now();
    let Some(ready) = lane.ask::<Ready>(page, &call, answers).await else {
        return match action.points() || begun.elapsed() < answers {
            true => Ok(None),
            false => Err(late(answers, "The page did not say whether it was done")),
        };
    };
    let typed = match (ready, action) {
        (Ready { done: true, .. }, _) => return Ok(Some(())),
        (Ready { types: true, .. }, ElementAction::Fill("")) => {
            in_time(ctx, NOT_TAKEN, page.keyboard().press("Delete", None)).await
        }
        (Ready { types: true, .. }, ElementAction::Fill(text)) => {
            in_time(ctx, NOT_TAKEN, page.keyboard().insert_text(text)).await
        }
        (Ready { at: Some(at), .. }, _) => return lane.point(session, page, at, action, ctx).await,
        _ => return Ok(None),
    };
    typed.map(Some)
}

impl Lane {
    /// The mouse goes there, and presses where that is the action.
    async fn point(
        &self,
        session: &Session,
        page: &Page,
        at: Point,
        action: ElementAction<'_>,
        ctx: &CommandContext,
    ) -> Result<Option<()>, Error> {
        let mut leaving = Leaving::watch(self, &session.tabs);
        let (mut tabs, opened) = (session.tabs.watch(), self.opened.subscribe());
        let mouse = page.mouse();
        match action {
            ElementAction::Hover => {
                in_time(ctx, NOT_TAKEN, mouse.move_to(at.x, at.y, None)).await?;
            }
            _ => in_time(ctx, NOT_TAKEN, mouse.click(at.x, at.y, None)).await?,
        }
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
        let silent = "The page did not say whether it was hit";
        match answer {
            Some(Evaluated::Value(value)) => return Ok(Some(Released::deserialize(value)?)),
            // The document is there, and what was to answer is not.
            Some(Evaluated::NoScript | Evaluated::Threw) if !leaving.is_elsewhere() => {
                return Err(Error::ProtocolError(silent.to_owned()));
            }
            _ => {}
        }
        if begun.elapsed() >= limit {
            let has_asked = leaving.documents.borrow().asked > leaving.before.asked;
            return Err(late(limit, if has_asked { NOT_ARRIVED } else { silent }));
        }
        if !page.is_closed() {
            leaving.is_told().await;
        }
        Ok(None)
    }
}

/// The way of a page to its next document.
struct Leaving {
    documents: watch::Receiver<Documents>,
    before: Documents,
    world: watch::Receiver<Option<String>>,
    /// The world of the document that is left.
    left: Option<String>,
}

impl Leaving {
    fn watch(lane: &Lane, tabs: &Tabs) -> Self {
        let (documents, world) = (tabs.documents.subscribe(), lane.world.subscribe());
        let before = *documents.borrow();
        let left = world.borrow().clone();
        Self {
            documents,
            before,
            world,
            left,
        }
    }

    /// Whether there is another document.
    fn is_elsewhere(&self) -> bool {
        let world = self.world.borrow();
        world.is_some() && *world != self.left
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
        let before = self.before;
        let is_told = |now: &Documents| now.arrived > before.arrived;
        let _ = tokio::time::timeout(REQUEST_TIMEOUT, self.documents.wait_for(is_told)).await;
    }

    /// Waits until the document is there, or is known not to come.
    async fn arrived(&mut self, ctx: &CommandContext) -> Result<(), Error> {
        let (mut documents, before) = (self.documents.clone(), self.before);
        // What no request follows leads to another program.
        let begins = tokio::time::timeout(REQUEST_TIMEOUT, async {
            tokio::select! {
                _ = documents.wait_for(|now| now.asked > before.asked) => {}
                () = self.has_left() => {}
            }
        });
        if begins.await.is_err() {
            return Ok(());
        }
        // Of two that were begun the first is refused, and the other one comes.
        let is_refused =
            |now: &Documents| now.refused > before.refused && now.of_tabs <= before.of_tabs;
        let ended = async {
            let has_left = tokio::select! {
                _ = async { documents.wait_for(is_refused).await.map(drop) } => false,
                () = self.has_left() => true,
            };
            if has_left {
                self.is_told().await;
            }
            Ok(())
        };
        in_time(ctx, NOT_ARRIVED, ended).await
    }
}
