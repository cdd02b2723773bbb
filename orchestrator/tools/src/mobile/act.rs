//! What a finger does to a phone, from the point of view of a tool.

use std::time::Duration;

use packtrain_drivers::{
    Command, Direction, InputCommand, Key, Platform, Point, Size, SnapshotDetail,
};

use super::element_query::ElementQuery;
use super::find::find_still;
use super::gesture::{self, Stroke};
use super::watch::{Watch, look};
use crate::call::Call;
use crate::tool::{Answer, ToolError};

/// How long a finger is held down for a long press; phones want half a second.
const LONG_PRESS_TIME: Duration = Duration::from_secs(1);
/// How long a swipe takes; shorter ones fling lists past what is looked for.
pub(crate) const SWIPE_TIME: Duration = Duration::from_millis(400);

/// How something is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touch {
    /// A tap.
    Tap,
    /// A long press.
    Hold,
}

impl Touch {
    /// A long press, if so.
    pub(crate) const fn long(long: bool) -> Self {
        if long { Self::Hold } else { Self::Tap }
    }
}

/// Touches the screen at a point.
pub(crate) async fn touch(call: &Call<'_>, at: Point, how: Touch) -> Result<Answer, ToolError> {
    let command = match how {
        Touch::Tap => InputCommand::Tap { at },
        Touch::Hold => InputCommand::LongPress {
            at,
            hold: LONG_PRESS_TIME,
        },
    };
    call.act(Command::Input(command)).await
}

/// Touches an element, once it is there and stands still: in its middle, or at a place in it by
/// its shares of width and height.
pub(crate) async fn touch_element(
    mut watch: Watch<'_>,
    wanted: &ElementQuery,
    how: Touch,
    share: Option<(f64, f64)>,
) -> Result<Answer, ToolError> {
    let found = find_still(&mut watch, wanted).await?;
    let point = found.point(share)?;
    let done = touch(watch.call(), point, how).await?;
    Ok(found.into_answer(done))
}

/// Moves a finger.
pub(crate) async fn stroke(
    call: &Call<'_>,
    Stroke { from, to }: Stroke,
    duration: Duration,
) -> Result<Answer, ToolError> {
    let command = InputCommand::Swipe { from, to, duration };
    call.act(Command::Input(command)).await
}

/// Swipes in a direction, from an element when one is wanted.
pub(crate) async fn swipe(
    call: &Call<'_>,
    finger: Direction,
    on: Option<&ElementQuery>,
    duration: Duration,
) -> Result<Answer, ToolError> {
    let Some(wanted) = on else {
        let screen = screen_size(call).await?;
        return stroke(call, gesture::swipe(screen, finger, None), duration).await;
    };
    let found = find_still(&mut Watch::new(call, super::ELEMENT_TIMEOUT), wanted).await?;
    let start = found.point(None)?;
    let way = gesture::swipe(found.snapshot.screen, finger, Some(start));
    let done = stroke(call, way, duration).await?;
    Ok(found.into_answer(done))
}

/// Goes back: Android has a key for it, iOS a swipe from the left edge.
pub(crate) async fn back(call: &Call<'_>) -> Result<Answer, ToolError> {
    match call.session.platform() {
        Platform::Android => press(call, Key::Back).await,
        Platform::Ios => {
            let screen = screen_size(call).await?;
            stroke(call, gesture::back(screen), SWIPE_TIME).await
        }
        Platform::Web => Err(ToolError::failed("pages go back with `web_navigate`")),
    }
}

/// Presses a key.
pub(crate) async fn press(call: &Call<'_>, key: Key) -> Result<Answer, ToolError> {
    if key == Key::Back && call.session.platform() == Platform::Ios {
        return Err(ToolError::hinted(
            "iOS devices have no BACK key",
            "`pressBack` goes back on both platforms",
        ));
    }
    call.act(Command::Input(InputCommand::Key(key))).await
}

/// The screen's size, as last seen or seen now.
pub(crate) async fn screen_size(call: &Call<'_>) -> Result<Size, ToolError> {
    let known = call.session.screen().size();
    let size = match known {
        Some(size) => size,
        None => look(call, SnapshotDetail::default()).await?.screen,
    };
    if size.to_rect().is_empty() {
        Err(ToolError::failed(
            "the device does not report its screen size",
        ))
    } else {
        Ok(size)
    }
}

/// A given duration of a gesture, in milliseconds.
///
/// # Errors
/// A failure for none at all, and for one that outlasts the call.
pub(crate) fn gesture_time(call: &Call<'_>, name: &str, ms: u64) -> Result<Duration, ToolError> {
    let duration = Duration::from_millis(ms);
    if duration.is_zero() {
        return Err(ToolError::failed(format!("`{name}` must be more than 0")));
    }
    if duration > call.remaining() {
        return Err(ToolError::failed(format!(
            "a gesture of {:.1} s exceeds the {:.1} s left of the session",
            duration.as_secs_f64(),
            call.remaining().as_secs_f64()
        )));
    }
    Ok(duration)
}
