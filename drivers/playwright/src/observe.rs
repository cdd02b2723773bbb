//! A page once it is still: tree, picture, masks and layout defects, read at once.
//!
//! Everything is read while it is watched whether anything moves. Mostly nothing does, and then
//! waiting has cost nothing; else it is read anew, with animations at their end.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    CommandContext, Defect, DriverError, Observation, ObserveOptions, Observed, Rect, Screenshot,
    Size,
};
use playwright_rs::Error;
use playwright_rs::protocol::Page;
use serde::Deserialize;
use serde_json::json;

use crate::aria::Aria;
use crate::find::{self, is_navigating};
use crate::read::{self, Animations};
use crate::session::Session;
use crate::wire;

const STILL: &str = include_str!("page/still.js");
const LOOK: &str = include_str!("page/look.js");

/// Without a change for this long, a page is still: longer than three frames.
const QUIET_MS: f64 = 60.0;
/// How long is waited for a document, when the page is between two.
const NAVIGATION_POLL: Duration = Duration::from_millis(20);

type Result<T> = std::result::Result<T, DriverError>;

/// What the page tells of its rest.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Rest {
    still: bool,
    moved: bool,
    animated: bool,
    /// Milliseconds.
    settled: f64,
}

/// What the page tells of its layout.
#[derive(Debug, Deserialize)]
struct Layout {
    title: String,
    width: f64,
    height: f64,
    masked: Vec<Option<Vec<Rect>>>,
    defects: Vec<Defect>,
}

/// All of it at one moment.
struct Reading {
    aria: Aria,
    layout: Layout,
    picture: Option<Screenshot>,
}

pub(crate) async fn observe(
    session: &Session,
    options: &ObserveOptions,
    ctx: &CommandContext,
) -> Result<Observation> {
    let begun = Instant::now();
    let end = begun + ctx.remaining_up_to(options.still_within);
    loop {
        let page = session.page()?;
        let left = end.saturating_duration_since(Instant::now());
        let is_last = left.is_zero();
        let watched_from = begun.elapsed();
        let (rest, reading) = tokio::join!(
            watch(&page, left),
            read_all(session, &page, options, Animations::Running, ctx)
        );
        let rest = match rest {
            Ok(rest) => rest,
            // The document went away: it has not come to rest.
            Err(error) if !is_last && is_between(session, &error) => {
                tokio::time::sleep(NAVIGATION_POLL).await;
                continue;
            }
            Err(_) => Rest {
                still: false,
                moved: false,
                animated: false,
                settled: 0.0,
            },
        };
        let settled = if rest.moved {
            watched_from + Duration::from_secs_f64(rest.settled.max(0.0) / 1e3)
        } else {
            watched_from
        };
        let reading = match reading {
            Ok(reading) if !rest.moved && !rest.animated => reading,
            Err(error) if is_last => return Err(error),
            // It moved, and rests now or will not.
            _ => match read_all(session, &page, options, Animations::Disabled, ctx).await {
                Ok(reading) => reading,
                Err(error) if end <= Instant::now() => return Err(error),
                Err(_) => {
                    session.page()?;
                    tokio::time::sleep(NAVIGATION_POLL).await;
                    continue;
                }
            },
        };
        return Ok(answer(&page, reading, settled, rest.still));
    }
}

fn answer(page: &Page, reading: Reading, settled: Duration, is_still: bool) -> Observation {
    let Reading {
        aria,
        layout,
        picture,
    } = reading;
    let title = Some(layout.title).filter(|title| !title.is_empty());
    let screen = Size::new(layout.width, layout.height);
    Observation::Observed(Box::new(Observed {
        snapshot: read::shown(page, aria, title, screen),
        picture,
        masked: layout.masked,
        defects: layout.defects,
        settled,
        is_still,
    }))
}

async fn watch(page: &Page, limit: Duration) -> std::result::Result<Rest, Error> {
    let arguments = json!({ "quiet": QUIET_MS, "limit": limit.as_secs_f64() * 1e3 });
    page.evaluate(STILL, Some(&arguments)).await
}

async fn read_all(
    session: &Session,
    page: &Page,
    options: &ObserveOptions,
    animations: Animations,
    ctx: &CommandContext,
) -> Result<Reading> {
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
    let layout = async {
        let read = page.evaluate::<_, Layout>(LOOK, Some(&options.masks)).await;
        read.map_err(|error| wire::translate(&error, "look at the page"))
    };
    let (aria, layout, picture) = tokio::join!(find::read_aria(page, true), layout, picture);
    Ok(Reading {
        aria: aria?,
        layout: layout?,
        picture,
    })
}

/// Whether the page is between two documents, or was closed and another takes over.
fn is_between(session: &Session, error: &Error) -> bool {
    is_navigating(error) || (wire::is_closed(error) && session.page().is_ok())
}
