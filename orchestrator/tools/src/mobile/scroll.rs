//! Scrolling until an element is in sight, or until nothing moves any more.

use std::time::Duration;

use packtrain_drivers::{Direction, Rect, Size, Snapshot};

use super::act::{SWIPE_TIME, stroke};
use super::element_query::{ElementQuery, VisibleMatch};
use super::gesture::{self, ScrollStart, Stroke};
use super::sight::{shows_more, visible_share};
use super::watch::{Rest, Unmet, Watch};
use crate::call::Call;
use crate::tool::{Answer, ToolError};

/// How long is scrolled at most; a list that has an end ends it much sooner.
pub(crate) const SCROLL_TIMEOUT: Duration = Duration::from_secs(60);
/// A list has come to rest when nothing has moved for so long.
const REST_GRACE: Duration = Duration::from_millis(100);
/// How long a list may take to come to rest.
const REST_TIMEOUT: Duration = Duration::from_secs(2);
/// How long the next part of a list may take to be loaded at its end.
const LOAD_TIMEOUT: Duration = Duration::from_secs(1);
/// Tries to bring an element to the middle; at the end of a list it cannot get there.
const CENTERING: u32 = 4;

/// How to scroll and when to be content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scrolling {
    /// Where what is looked for lies.
    pub(crate) towards: Direction,
    /// Which part of the screen is scrolled.
    pub(crate) start: ScrollStart,
    /// How much of the element must be in sight, from 0 to 1.
    pub(crate) share: f64,
    /// Whether it shall be brought near the middle.
    pub(crate) center: bool,
    /// How long is scrolled at most.
    pub(crate) limit: Duration,
}

/// What is to be done after a look.
enum Next {
    Content(VisibleMatch),
    Scroll(Stroke),
}

/// Scrolls until an element is in sight.
///
/// # Errors
/// A failure when nothing moves any more, or when it takes too long.
pub(crate) async fn until_visible(
    call: &Call<'_>,
    wanted: &ElementQuery,
    scrolling: Scrolling,
) -> Result<Answer, ToolError> {
    let mut watch = Watch::new(call, scrolling.limit);
    let (mut swipes, mut centered) = (0_u32, 0_u32);
    // What has not moved at all may not have been loaded at all.
    let mut loading = super::ELEMENT_TIMEOUT;
    let mut snapshot = watch.look().await?;
    loop {
        let way = match next(wanted, &scrolling, &snapshot, &mut centered) {
            Next::Content(visible_match) => return Ok(answer(wanted, &visible_match, swipes)),
            Next::Scroll(way) => way,
        };
        if watch.left().is_zero() {
            return Err(watch.unmet(missing(wanted, &scrolling, &snapshot, swipes)));
        }
        stroke(call, way, SWIPE_TIME).await?;
        swipes += 1;
        let mut after = watch.look().await?;
        // A list that still moves is as good to swipe as one at rest, as long as it brings
        // something new. How much is in sight, and whether this is the end, is seen at rest.
        if wanted.visible_match(&after).is_some() || !shows_more(&snapshot, &after) {
            let mut resting = Watch::new(call, REST_TIMEOUT).starting_from(after);
            let (Rest::Still(rested) | Rest::Moving(rested)) =
                resting.until_still(REST_GRACE).await?;
            watch = watch.starting_from(rested);
            after = watch.look().await?;
        }
        if snapshot.mark == after.mark {
            if !watch.changes_within(loading).await? {
                return stuck(wanted, &scrolling, &after, swipes);
            }
            after = watch.look().await?;
        } else {
            loading = LOAD_TIMEOUT;
        }
        snapshot = after;
    }
}

fn next(
    wanted: &ElementQuery,
    scrolling: &Scrolling,
    snapshot: &Snapshot,
    centered: &mut u32,
) -> Next {
    let screen = snapshot.screen;
    let ahead = || Next::Scroll(gesture::scroll(screen, scrolling.towards, scrolling.start));
    let Some(visible_match) = wanted.visible_match(snapshot) else {
        return ahead();
    };
    let Some(bounds) = visible_match.bounds else {
        return Next::Content(visible_match);
    };
    let middle = bounds.center();
    if scrolling.center
        && *centered < CENTERING
        && !gesture::is_near_center(screen, scrolling.towards, middle)
    {
        *centered += 1;
        return Next::Scroll(gesture::to_center(screen, scrolling.towards, middle));
    }
    if is_enough(bounds, screen, scrolling) {
        Next::Content(visible_match)
    } else {
        ahead()
    }
}

fn is_enough(bounds: Rect, screen: Size, scrolling: &Scrolling) -> bool {
    // Rounding must not cost another swipe.
    visible_share(bounds, screen) + 0.005 >= scrolling.share
}

/// Nothing moves any more: good enough for an element that only should have been nearer to the
/// middle, the end for any other.
fn stuck(
    wanted: &ElementQuery,
    scrolling: &Scrolling,
    snapshot: &Snapshot,
    swipes: u32,
) -> Result<Answer, ToolError> {
    let visible_match = wanted.visible_match(snapshot);
    let seen = visible_match.and_then(|visible_match| Some((visible_match, visible_match.bounds?)));
    if let Some((visible_match, bounds)) = seen
        && is_enough(bounds, snapshot.screen, scrolling)
    {
        let mut answer = answer(wanted, &visible_match, swipes);
        answer
            .report
            .notes
            .push("scrolling ended before it was in the middle".to_owned());
        return Ok(answer);
    }
    let Unmet { what, log } = missing(wanted, scrolling, snapshot, swipes);
    Err(ToolError::Failed {
        message: format!("{what}, and the screen does not scroll any further"),
        log,
        hint: Some(format!(
            "is there a list in the middle of the screen, and does it continue {}?",
            way(scrolling.towards)
        )),
    })
}

fn missing(
    wanted: &ElementQuery,
    scrolling: &Scrolling,
    snapshot: &Snapshot,
    swipes: u32,
) -> Unmet {
    let bounds = wanted
        .visible_match(snapshot)
        .and_then(|visible_match| visible_match.bounds);
    let what = match bounds {
        Some(bounds) => format!(
            "only {:.0} % of {} came into view, not {:.0} %",
            visible_share(bounds, snapshot.screen) * 100.0,
            wanted.description(),
            scrolling.share * 100.0
        ),
        None => format!("{} did not come into view", wanted.description()),
    };
    let mut log = wanted.explain(snapshot);
    let way = way(scrolling.towards);
    log.push(match swipes {
        1 => format!("scrolled {way} once"),
        _ => format!("scrolled {way} {swipes} times"),
    });
    Unmet { what, log }
}

const fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "up",
        Direction::Down => "down",
        Direction::Left => "left",
        Direction::Right => "right",
    }
}

fn answer(wanted: &ElementQuery, visible_match: &VisibleMatch, swipes: u32) -> Answer {
    let mut answer = Answer::default();
    answer.report.located = Some(wanted.located(visible_match));
    answer.report.notes = wanted.notes();
    if swipes > 0 {
        answer.text = Some(format!(
            "in sight after {swipes} {}",
            if swipes == 1 { "swipe" } else { "swipes" }
        ));
    }
    answer
}
