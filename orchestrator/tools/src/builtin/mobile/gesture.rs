//! Tools that move a finger, or two, by position.

use std::ops::RangeInclusive;
use std::time::Duration;

use packtrain_drivers::{InputCommand, Point};

use super::input;
use crate::builtin::{Way, caseless, number};
use crate::call::Call;
use crate::mobile::act::{self, SWIPE_TIME, Touch, gesture_time, screen_size, stroke};
use crate::mobile::element_query::{ElementQuery, Words};
use crate::mobile::find::find;
use crate::mobile::gesture::{self, Stroke, at, shares};
use crate::mobile::watch::Watch;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::{Answer, ToolError};

/// What one pinch can zoom by: beyond, the fingers would lie on each other.
const PINCH_SCALES: RangeInclusive<f64> = 0.1..=10.0;
/// Less than this moves no finger.
const MIN_ZOOM: f64 = 0.01;

tools! { PHONES;
    /// Taps the screen at a point, in the units of the snapshots.
    Action tapOnPoint TapOnPoint(reasoning) {
        /// Distance from the left edge.
        x: i32,
        /// Distance from the top edge.
        y: i32,
        /// Hold it instead.
        #[serde(default)]
        long_press: bool,
    }
    |arguments, call| {
        let point = on_screen(call, arguments.x.into(), arguments.y.into()).await?;
        act::touch(call, point, Touch::long(arguments.long_press)).await
    };

    /// Moves a finger in a direction: UP shows what lies below. Starts at an element when
    /// its text is given.
    Action swipe Swipe(reasoning) {
        /// Where the finger goes: UP, DOWN, LEFT or RIGHT.
        #[serde(default, deserialize_with = "caseless")]
        direction: Way,
        /// Text of the element it starts on; otherwise it starts in the middle or at an edge.
        swipe_on_element_text: Option<String>,
        /// How long it takes, in milliseconds; 400 when not given.
        duration_ms: Option<u64>,
    }
    |arguments, call| {
        let duration = swipe_time(call, arguments.duration_ms)?;
        let on = by_text(arguments.swipe_on_element_text, call)?;
        act::swipe(call, arguments.direction.into(), on.as_ref(), duration).await
    };

    /// Moves a finger between two places given by their shares of width and height.
    Action swipeWithRelativeCoordinates SwipeWithRelativeCoordinates {
        /// Where it starts: `50%,80%` of the screen.
        start_relative: String,
        /// Where it ends.
        end_relative: String,
        /// Text that must be visible first.
        swipe_on_element_text: Option<String>,
        /// How long it takes, in milliseconds; 400 when not given.
        duration_ms: Option<u64>,
    }
    .internal()
    |arguments, call| swipe_between(arguments, call).await;

    /// Zooms with two fingers in the middle of the screen: in when `scale` is above 1, out
    /// when it is below.
    Action pinch Pinch(reasoning) {
        /// How many times as far apart the fingers end as they start, from 0.1 to 10 and not 1: 2
        /// zooms in, 0.5 zooms out.
        #[schemars(example = 2)]
        scale: f64,
        /// How long it takes, in milliseconds; 400 when not given.
        duration_ms: Option<u64>,
    }
    |arguments, call| pinch(&arguments, call).await;

    /// Picks up what is at one point and drops it at another.
    Action dragByPoints DragByPoints {
        /// Where it is picked up, from the left edge.
        start_x: i32,
        /// Where it is picked up, from the top edge.
        start_y: i32,
        /// Where it is dropped, from the left edge.
        end_x: i32,
        /// Where it is dropped, from the top edge.
        end_y: i32,
        /// How long the movement takes, in milliseconds.
        #[serde(default = "number::<1_000, u64>")]
        duration_ms: u64,
    }
    .internal()
    |arguments, call| {
        let from = on_screen(call, arguments.start_x.into(), arguments.start_y.into()).await?;
        let to = on_screen(call, arguments.end_x.into(), arguments.end_y.into()).await?;
        let duration = gesture_time(call, "durationMs", arguments.duration_ms)?;
        input(call, InputCommand::Drag { from, to, duration }).await
    };
}

/// What `durationMs` says, or the usual time.
fn swipe_time(call: &Call<'_>, given: Option<u64>) -> Result<Duration, ToolError> {
    given.map_or(Ok(SWIPE_TIME), |ms| gesture_time(call, "durationMs", ms))
}

async fn pinch(arguments: &Pinch, call: &Call<'_>) -> Result<Answer, ToolError> {
    let scale = arguments.scale;
    let moves_fingers = (scale - 1.0).abs() >= MIN_ZOOM;
    if !moves_fingers || !PINCH_SCALES.contains(&scale) {
        let (least, most) = (PINCH_SCALES.start(), PINCH_SCALES.end());
        return Err(ToolError::hinted(
            format!("invalid `scale` {scale}: expected {least} to {most}, and not 1"),
            "2 zooms in, 0.5 zooms out; to zoom further, pinch again",
        ));
    }
    let duration = swipe_time(call, arguments.duration_ms)?;
    let (from, to) = gesture::pinch(screen_size(call).await?, scale);
    input(call, InputCommand::Pinch { from, to, duration }).await
}

async fn swipe_between(
    arguments: SwipeWithRelativeCoordinates,
    call: &Call<'_>,
) -> Result<Answer, ToolError> {
    let duration = swipe_time(call, arguments.duration_ms)?;
    let (from, to) = (
        shares(&arguments.start_relative)?,
        shares(&arguments.end_relative)?,
    );
    let found = match by_text(arguments.swipe_on_element_text, call)? {
        Some(wanted) => Some(find(&mut Watch::new(call, ELEMENT_TIMEOUT), &wanted).await?),
        None => None,
    };
    let screen = screen_size(call).await?;
    let way = Stroke {
        from: at(screen, from.0, from.1),
        to: at(screen, to.0, to.1),
    };
    let done = stroke(call, way, duration).await?;
    Ok(match found {
        Some(found) => found.into_answer(done),
        None => done,
    })
}

fn by_text(text: Option<String>, call: &Call<'_>) -> Result<Option<ElementQuery>, ToolError> {
    let text = text.filter(|text| !text.trim().is_empty());
    text.map(|text| ElementQuery::words(Words::matching(text), call.session.platform()))
        .transpose()
}

/// A point that lies on the screen.
///
/// # Errors
/// When it does not, or nobody knows: what is touched beside the screen would pass and do nothing.
pub(super) async fn on_screen(call: &Call<'_>, x: f64, y: f64) -> Result<Point, ToolError> {
    let (point, screen) = (Point::new(x, y), screen_size(call).await?);
    if screen.to_rect().contains(point) {
        return Ok(point);
    }
    Err(ToolError::failed(format!(
        "{x},{y} lies outside the screen, which is {:.0} by {:.0}",
        screen.width, screen.height
    )))
}
