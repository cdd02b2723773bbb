//! A page once it is still: tree, picture, masks and layout defects, read at once.
//!
//! A page that is observed is watched from then on, so that one that rests already is not waited for.
//! Nothing is read before it rests, so that nothing is read twice, unless it moved while it was read and
//! its picture taken: then neither is told of the other's moment.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    CommandContext, DriverError, Observation, ObserveOptions, Observed, Screenshot, Size,
};
use playwright_rs::Error;
use playwright_rs::protocol::Page;
use serde::Deserialize;
use serde_json::json;

use crate::find::is_navigating;
use crate::read::{self, Animations};
use crate::reading::{self, Frames, Place, Reading, Wanted};
use crate::session::Session;
use crate::wire;

/// Waits until a document is still.
const STILL: &str = include_str!("page/still.js");

/// How often the page has moved since it is watched; -1 where it is another document.
const MOVES: &str = "() => window[Symbol.for('packtrain.watch')]?.moves ?? -1";

/// Tree and picture are taken so often at most until nothing moves meanwhile.
const MOST_TAKES: u32 = 3;
/// Without a change for this long, a page is still: longer than three frames.
const QUIET_MS: f64 = 60.0;
/// How long the frames of a page may take to be still, all at once.
const FRAMES_TIMEOUT: Duration = Duration::from_millis(200);
/// How long is waited for a document, when the page is between two.
const NAVIGATION_POLL: Duration = Duration::from_millis(20);

type Result<T> = std::result::Result<T, DriverError>;

/// What the page tells of its rest.
#[derive(Debug, Clone, Deserialize)]
struct Rest {
    still: bool,
    moved: bool,
    animated: bool,
    /// Milliseconds.
    settled: f64,
    moves: i64,
    /// The frames that rest, with how often they have moved.
    #[serde(skip)]
    frames: Vec<(Place, i64)>,
}

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
        let left = end.saturating_duration_since(Instant::now());
        let is_last = left.is_zero();
        let watched_from = begun.elapsed();
        let mut rest = match rest(&page, left).await {
            Ok(rest) => rest,
            // Between two documents, or on a tab that another takes over from.
            Err(error) if !is_last && has_gone(session, &error) => {
                tokio::time::sleep(NAVIGATION_POLL).await;
                continue;
            }
            Err(error) => return Err(wire::translate(&error, "look at the page")),
        };
        // What is animated for ever is shown at its start, what still moves at its end.
        let animations = if rest.animated {
            Animations::Disabled
        } else {
            Animations::Running
        };
        let wanted = Wanted {
            boxes: true,
            masks: Some(&options.masks),
            ..Wanted::default()
        };
        let picture = async {
            if !options.picture {
                return None;
            }
            // A page that cannot be painted can still be read.
            match read::screenshot(session, animations, ctx).await {
                Ok(Observation::Screenshot(picture)) => Some(picture),
                _ => None,
            }
        };
        let (reading, picture) = tokio::join!(reading::read(&page, wanted), picture);
        match reading {
            // Left meanwhile: the tree is of another document than the picture.
            Ok(reading) if !is_last && page.url() != reading.location => {}
            Ok(reading) => {
                takes += 1;
                // What never rests is never at rest twice.
                if picture.is_some() && rest.still && !is_as_it_was(&page, &rest).await {
                    if !is_last && takes < MOST_TAKES {
                        continue;
                    }
                    rest.still = false;
                }
                let settled = settled(watched_from, &rest);
                return Ok(answer(&page, reading, picture, &rest, settled));
            }
            Err(error) if is_last => return Err(error),
            Err(_) => {
                session.page()?;
                tokio::time::sleep(NAVIGATION_POLL).await;
            }
        }
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

fn settled(watched_from: Duration, rest: &Rest) -> Duration {
    let moved_for = Duration::try_from_secs_f64(rest.settled / 1e3).unwrap_or_default();
    if rest.moved {
        watched_from + moved_for
    } else {
        watched_from
    }
}

fn answer(
    page: &Page,
    reading: Reading,
    picture: Option<Screenshot>,
    rest: &Rest,
    settled: Duration,
) -> Observation {
    let (width, height) = reading.screen;
    let screen = Size::new(width, height);
    Observation::Observed(Box::new(Observed {
        snapshot: read::shown(page, reading.aria, reading.title, screen),
        picture,
        masked: reading.masked,
        defects: reading.defects,
        hidden: reading.hidden,
        settled,
        is_still: rest.still,
    }))
}

/// Waits until the page is still, and a little for what is in its frames: advertisements never are.
async fn rest(page: &Page, limit: Duration) -> std::result::Result<Rest, Error> {
    let arguments =
        |limit: Duration| json!({ "quiet": QUIET_MS, "limit": limit.as_secs_f64() * 1e3 });
    let begun = Instant::now();
    let mut rest: Rest = page.evaluate(STILL, Some(&arguments(limit))).await?;
    let left = FRAMES_TIMEOUT.min(limit.saturating_sub(begun.elapsed()));
    let script = format!("(_, asked) => ({STILL})(asked)");
    let frames = reading::places(page, Frames::Shown).await;
    let frames = frames.into_iter().skip(1).map(|place| async {
        let root = page.locator(place.selector("css=:root"));
        let asked = root.evaluate::<Rest, _>(&script, Some(arguments(left)));
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
