//! A page once it is still: tree, picture, masks and layout defects, read at once.
//!
//! A page that is observed is watched from then on, so that one that rests already is not waited for.
//! Nothing is read before it rests, so that nothing is read twice, unless it moved while it was read and
//! its picture taken: then neither is reported at the other's moment.

use std::sync::atomic::Ordering;
use std::time::Duration;

use packtrain_drivers::{
    CommandContext, DriverError, Observation, ObserveOptions, Observed, Screenshot, Size,
};
use playwright_rs::Error;
use playwright_rs::protocol::Page;
use playwright_rs::server::channel_owner::ChannelOwner;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::find::is_navigating;
use crate::read::{self, Animations};
use crate::reading::{self, Frames, Place, ReadOptions, Reading};
use crate::session::Session;
use crate::wire;

/// Waits until a document is still.
const STILL: &str = include_str!("page/still.js");

/// How often the page has moved since it is watched; -1 where it is another document.
const MOVES: &str = "() => window[Symbol.for('packtrain.watch')]?.moves ?? -1";

/// How often, and how long, tree and picture are retaken while something moves.
const TAKES: usize = 3;
const RETAKE_TIMEOUT: Duration = Duration::from_millis(400);
/// Without a change for this long, a page is still: longer than three frames.
const QUIET_MS: f64 = 60.0;
/// A picture of a page at rest is there within this.
const PICTURE_TIMEOUT: Duration = Duration::from_millis(1500);
/// How long the frames of a page may take to be still, all at once.
const FRAMES_TIMEOUT: Duration = Duration::from_millis(200);
/// How long is waited for a document, when the page is between two.
const NAVIGATION_POLL: Duration = Duration::from_millis(20);

type Result<T> = std::result::Result<T, DriverError>;

/// How a page's rest is waited for: whether what can be foreseen is not waited for.
fn waiting(limit: Duration, foresees: bool) -> Value {
    json!({ "quiet": QUIET_MS, "limit": limit.as_secs_f64() * 1e3, "foresees": foresees })
}

/// What the page tells of its rest.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Rest {
    still: bool,
    /// It was not waited for, but foreseen.
    foreseen: bool,
    pub(crate) animated: bool,
    /// Milliseconds until nothing moved any more.
    settled: f64,
    pub(crate) moves: i64,
    /// The frames that rest, with how often they have moved.
    #[serde(skip)]
    frames: Vec<(Place, i64)>,
}

/// What was seen of a page.
struct Taken {
    reading: Reading,
    picture: Option<Screenshot>,
    rest: Rest,
    /// Nothing has moved since it rested.
    is_as_it_was: bool,
}

/// Why nothing was seen of it, and whether to look again: it may be between two documents.
type Missed = (DriverError, bool);

pub(crate) async fn observe(
    session: &Session,
    options: &ObserveOptions,
    ctx: &CommandContext,
) -> Result<Observation> {
    let begun = Instant::now();
    let end = begun + ctx.remaining_up_to(options.still_within);
    let mut takes = 0;
    loop {
        let page = session.page()?;
        let left = || end.saturating_duration_since(Instant::now());
        let is_last = left().is_zero();
        let watched_from = begun.elapsed();
        let taken = match at_once(session, &page, options, left(), ctx).await {
            Some(taken) => Ok(taken),
            None => one_by_one(session, &page, options, left(), ctx).await,
        };
        match taken {
            // Left meanwhile: the tree is of another document than the picture.
            Ok(taken) if !is_last && page.url() != taken.reading.location => {}
            Ok(mut taken) => {
                // What never rests is never at rest twice.
                if taken.rest.still && !taken.is_as_it_was {
                    takes += 1;
                    if !is_last && (takes < TAKES || begun.elapsed() < RETAKE_TIMEOUT) {
                        continue;
                    }
                    taken.rest.still = false;
                }
                if !taken.rest.still {
                    taken.rest.settled = (begun.elapsed() - watched_from).as_secs_f64() * 1e3;
                }
                session.surprised.store(false, Ordering::Relaxed);
                let foreseen = taken.rest.foreseen && taken.is_as_it_was;
                session.acted.store(!foreseen, Ordering::Relaxed);
                return Ok(answer(&page, taken, watched_from));
            }
            Err((error, is_final)) if is_last || is_final => return Err(error),
            Err(_) => {
                session.page()?;
                tokio::time::sleep(NAVIGATION_POLL).await;
            }
        }
    }
}

fn wanted(options: &ObserveOptions) -> ReadOptions<'_> {
    ReadOptions {
        boxes: true,
        masks: Some(&options.masks),
        ..ReadOptions::default()
    }
}

/// A page without frames by its fast lane; `None` where it has none, or it does not answer.
async fn at_once(
    session: &Session,
    page: &Page,
    options: &ObserveOptions,
    limit: Duration,
    ctx: &CommandContext,
) -> Option<Taken> {
    if reading::has_frames(page).await {
        return None;
    }
    let end = Instant::now() + limit;
    let lane = session.tabs.lane(page).await?;
    let traffic = &session.browser.running.traffic;
    let mut foresees = traffic.is_quiet(page.guid()) && !session.surprised.load(Ordering::Relaxed);
    let look = loop {
        let limit = end.saturating_duration_since(Instant::now());
        let waiting = (waiting(limit, foresees), limit);
        let look = lane.look(page, wanted(options), options.picture, waiting);
        let look = look.await?;
        // What the page has asked for cannot be foreseen.
        if !foresees || traffic.is_quiet(page.guid()) {
            break look;
        }
        foresees = false;
    };
    let picture = match options.picture && !look.page.has_frames() {
        true if look.rest.animated || look.scaled => picture(session, &look.rest, ctx).await,
        true => {
            let limit = ctx.remaining_up_to(PICTURE_TIMEOUT);
            lane.picture(read::screen(page), limit).await
        }
        false => None,
    };
    let moves = lane.taken().await;
    if look.page.has_frames() || (options.picture && picture.is_none()) {
        return None;
    }
    Some(Taken {
        is_as_it_was: moves == Some(look.rest.moves),
        reading: reading::with_frames(page, wanted(options), look.page).await,
        picture,
        rest: look.rest,
    })
}

/// Rest, then tree and picture, each by a call of its own.
async fn one_by_one(
    session: &Session,
    page: &Page,
    options: &ObserveOptions,
    limit: Duration,
    ctx: &CommandContext,
) -> std::result::Result<Taken, Missed> {
    let rest = rest(page, limit).await.map_err(|error| {
        let is_final = !has_gone(session, &error);
        (wire::translate(&error, "look at the page"), is_final)
    })?;
    let picture = async {
        match options.picture {
            true => picture(session, &rest, ctx).await,
            false => None,
        }
    };
    let (reading, picture) = tokio::join!(reading::read(page, wanted(options)), picture);
    let reading = reading.map_err(|error| (error, false))?;
    Ok(Taken {
        is_as_it_was: rest.still && is_as_it_was(page, &rest).await,
        reading,
        picture,
        rest,
    })
}

/// By Playwright. A page that cannot be painted can still be read.
async fn picture(session: &Session, rest: &Rest, ctx: &CommandContext) -> Option<Screenshot> {
    // What is animated for ever is shown at its start, what still moves at its end.
    let animations = if rest.animated {
        Animations::Disabled
    } else {
        Animations::Running
    };
    match read::screenshot(session, animations, ctx).await {
        Ok(Observation::Screenshot(picture)) => Some(picture),
        _ => None,
    }
}

/// Whether nothing has moved since it rested.
async fn is_as_it_was(page: &Page, rest: &Rest) -> bool {
    let asked = page.evaluate::<(), i64>(MOVES, None).await;
    if asked.ok() != Some(rest.moves) {
        return false;
    }
    let frames = rest.frames.iter().map(|(place, moves)| async move {
        let root = page.locator(place.selector("css=:root"));
        let asked = root.evaluate::<i64, ()>(MOVES, None);
        let asked = tokio::time::timeout(FRAMES_TIMEOUT, asked).await;
        // What does not answer cannot be told to have moved.
        asked.is_err() || asked.is_ok_and(|now| now.is_ok_and(|now| now == *moves))
    });
    futures::future::join_all(frames)
        .await
        .into_iter()
        .all(|same| same)
}

fn answer(page: &Page, taken: Taken, watched_from: Duration) -> Observation {
    let Taken {
        reading,
        picture,
        rest,
        ..
    } = taken;
    let settled = Duration::try_from_secs_f64(rest.settled / 1e3).unwrap_or_default();
    let (width, height) = reading.screen;
    let screen = Size::new(width, height);
    Observation::Observed(Box::new(Observed {
        snapshot: read::shown(page, reading.aria, reading.title, screen),
        picture,
        masked: reading.masked,
        defects: reading.defects,
        hidden: reading.hidden,
        settled: watched_from + settled,
        is_still: rest.still,
    }))
}

/// Waits until the page is still, and a little for what is in its frames: advertisements never are.
async fn rest(page: &Page, limit: Duration) -> std::result::Result<Rest, Error> {
    let begun = Instant::now();
    let mut rest: Rest = page.evaluate(STILL, Some(&waiting(limit, false))).await?;
    let left = FRAMES_TIMEOUT.min(limit.saturating_sub(begun.elapsed()));
    let script = format!("(_, asked) => ({STILL})(asked)");
    let frames = reading::places(page, Frames::Shown).await;
    let frames = frames.into_iter().skip(1).map(|place| async {
        let root = page.locator(place.selector("css=:root"));
        let asked = root.evaluate::<Rest, _>(&script, Some(waiting(left, false)));
        let rest = tokio::time::timeout(left, asked).await.ok()?.ok()?;
        rest.still.then_some((place, rest.moves))
    });
    let frames = futures::future::join_all(frames).await;
    rest.frames = frames.into_iter().flatten().collect();
    Ok(rest)
}

/// Whether the document is gone, and another takes its place.
fn has_gone(session: &Session, error: &Error) -> bool {
    is_navigating(error) || (wire::is_closed(error) && session.page().is_ok())
}
