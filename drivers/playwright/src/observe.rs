//! A page once it is still: tree, picture, masks and layout defects, read at once.
//!
//! A page that is observed is watched from then on, so that one that rests already is not waited for.
//! Nothing is read before it rests, so that nothing is read twice.

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

/// Waits until the page is still and reads its layout then: one call, because each costs.
const LOOK: &str = concat!(
    "({ masks, quiet, limit }) => (",
    include_str!("page/still.js"),
    ")({ quiet, limit }).then(rest => ({ rest, layout: (",
    include_str!("page/look.js"),
    ")(masks) }))"
);

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
    location: String,
    /// Where the root lies, when it is nothing but the box around the body.
    root: Option<Rect>,
    width: f64,
    height: f64,
    masked: Vec<Option<Vec<Rect>>>,
    defects: Vec<Defect>,
}

/// What the page tells once it is still, or has had its time.
#[derive(Debug, Deserialize)]
struct Look {
    rest: Rest,
    layout: Layout,
}

/// What Playwright reads of it.
struct Reading {
    aria: Aria,
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
        let look = match look(&page, options, left).await {
            Ok(look) => look,
            // Between two documents, or on a tab that another takes over from.
            Err(error) if !is_last && has_gone(session, &error) => {
                tokio::time::sleep(NAVIGATION_POLL).await;
                continue;
            }
            Err(error) => return Err(wire::translate(&error, "look at the page")),
        };
        // What is animated for ever is shown at its start, what still moves at its end.
        let animations = if look.rest.animated {
            Animations::Disabled
        } else {
            Animations::Running
        };
        let reading = read_page(
            session,
            &page,
            &look.layout,
            options.picture,
            animations,
            ctx,
        );
        match reading.await {
            // Left meanwhile: the tree is of another document than the layout.
            Ok(_) if !is_last && page.url() != look.layout.location => {}
            Ok(reading) => {
                let settled = settled(watched_from, &look.rest);
                return Ok(answer(&page, reading, look, settled));
            }
            Err(error) if is_last => return Err(error),
            Err(_) => {
                session.page()?;
                tokio::time::sleep(NAVIGATION_POLL).await;
            }
        }
    }
}

fn settled(watched_from: Duration, rest: &Rest) -> Duration {
    let moved_for = Duration::try_from_secs_f64(rest.settled / 1e3).unwrap_or_default();
    if rest.moved {
        watched_from + moved_for
    } else {
        watched_from
    }
}

fn answer(page: &Page, reading: Reading, look: Look, settled: Duration) -> Observation {
    let Reading { aria, picture } = reading;
    let Look { rest, layout } = look;
    let title = Some(layout.title).filter(|title| !title.is_empty());
    let screen = Size::new(layout.width, layout.height);
    Observation::Observed(Box::new(Observed {
        snapshot: read::shown(page, aria, title, screen),
        picture,
        masked: layout.masked,
        defects: layout.defects,
        settled,
        is_still: rest.still,
        hidden: Vec::new(),
    }))
}

async fn look(
    page: &Page,
    options: &ObserveOptions,
    limit: Duration,
) -> std::result::Result<Look, Error> {
    let arguments = json!({
        "masks": options.masks,
        "quiet": QUIET_MS,
        "limit": limit.as_secs_f64() * 1e3,
    });
    page.evaluate(LOOK, Some(&arguments)).await
}

async fn read_page(
    session: &Session,
    page: &Page,
    layout: &Layout,
    has_picture: bool,
    animations: Animations,
    ctx: &CommandContext,
) -> Result<Reading> {
    let picture = async {
        if !has_picture {
            return None;
        }
        // A page that cannot be painted can still be read.
        match read::screenshot(session, animations, ctx).await {
            Ok(Observation::Screenshot(picture)) => Some(picture),
            _ => None,
        }
    };
    let aria = async {
        match layout.root {
            Some(root) => find::read_plain_aria(page, root).await,
            None => find::read_aria(page, true).await,
        }
    };
    let (aria, picture) = tokio::join!(aria, picture);
    Ok(Reading {
        aria: aria?,
        picture,
    })
}

/// Whether the document is gone, and another takes its place.
fn has_gone(session: &Session, error: &Error) -> bool {
    is_navigating(error) || (wire::is_closed(error) && session.page().is_ok())
}
