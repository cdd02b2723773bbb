//! Maestro's commands, carried out.

use std::time::Duration;

use packtrain_drivers::{AppCommand, Direction, InputCommand, LaunchMode, Point};

use super::command::{
    AirplaneMode, Launch, MaestroCommand, Named, Nothing, Orientation, Scroll, Swipe, Wait,
};
use super::element::Element;
use crate::builtin::mobile::app::{launch, open_url};
use crate::builtin::mobile::expect::{expect_gone, expect_visible};
use crate::builtin::mobile::gesture::on_screen;
use crate::builtin::mobile::typing::type_text;
use crate::builtin::mobile::{app, input, patience};
use crate::call::Call;
use crate::mobile::ELEMENT_TIMEOUT;
use crate::mobile::act::{
    self, SWIPE_TIME, Touch, back, gesture_time, press, screen_size, stroke, touch, touch_element,
};
use crate::mobile::find::find;
use crate::mobile::gesture::{ScrollStart, Stroke, at, shares};
use crate::mobile::scroll::{Scrolling, until_visible};
use crate::mobile::watch::{Rest, Watch};
use crate::mobile::words::{quoted, text_of};
use crate::tool::{Answer, ToolError};

/// How long an animation may take unless the command says otherwise.
const ANIMATION_TIMEOUT: Duration = Duration::from_secs(15);
/// How long nothing may change for an animation to have ended.
const ANIMATION_END_GRACE: Duration = Duration::from_millis(300);
/// How long is scrolled unless the command says otherwise.
const SCROLL_TIMEOUT: Duration = Duration::from_secs(20);

/// Carries out one command; errors say which it was.
pub(super) async fn run(
    place: usize,
    Named {
        name,
        command,
        is_optional,
    }: Named,
    call: &Call<'_>,
) -> Result<Answer, ToolError> {
    match Box::pin(carry_out(command, call)).await {
        Err(ToolError::Failed { message, .. }) if is_optional => {
            let mut answer = Answer::default();
            answer
                .report
                .notes
                .push(format!("{name} is optional and was skipped: {message}"));
            Ok(answer)
        }
        Err(ToolError::Failed { message, log, hint }) => Err(ToolError::Failed {
            message: format!("commands[{place}] {name}: {message}"),
            log,
            hint,
        }),
        other => other,
    }
}

async fn carry_out(command: MaestroCommand, call: &Call<'_>) -> Result<Answer, ToolError> {
    let platform = call.session.platform();
    match command {
        MaestroCommand::TapOn(element) => tap_on(&element.0, Touch::Tap, call).await,
        MaestroCommand::LongPressOn(element) => tap_on(&element.0, Touch::Hold, call).await,
        MaestroCommand::AssertVisible(element) => {
            let wanted = element.0.wanted(platform)?;
            expect_visible(Watch::new(call, ELEMENT_TIMEOUT), &wanted).await
        }
        MaestroCommand::AssertNotVisible(element) => {
            expect_gone(&element.0.wanted(platform)?, ELEMENT_TIMEOUT, call).await
        }
        MaestroCommand::ExtendedWaitUntil(wait) => wait_until(&wait, call).await,
        MaestroCommand::CopyTextFrom(element) => copy_text(&element.0, call).await,
        MaestroCommand::InputText(text) => type_text(call, text.0.text, false).await,
        MaestroCommand::EraseText(erase) => {
            let count = erase.and_then(|erase| erase.0.characters_to_erase);
            input(call, InputCommand::Erase(count)).await
        }
        MaestroCommand::PasteText(None | Some(Nothing {})) => {
            input(call, InputCommand::Paste).await
        }
        MaestroCommand::SetClipboard(text) => {
            input(call, InputCommand::SetClipboard(text.0.text)).await
        }
        MaestroCommand::PressKey(key) => press(call, key.0).await,
        MaestroCommand::Back(None | Some(Nothing {})) => back(call).await,
        MaestroCommand::HideKeyboard(None | Some(Nothing {})) => {
            input(call, InputCommand::HideKeyboard).await
        }
        MaestroCommand::LaunchApp(options) => launch_app(options.0, call).await,
        MaestroCommand::StopApp(stopped) => {
            app(call, AppCommand::Stop(app_id(stopped.0.app_id, call)?)).await
        }
        MaestroCommand::ClearState(cleared) => {
            app(call, AppCommand::Clear(app_id(cleared.0.app_id, call)?)).await
        }
        MaestroCommand::OpenLink(link) => open_url(call, &link.0.link).await,
        MaestroCommand::Scroll(None | Some(Nothing {})) => {
            act::swipe(call, Direction::Up, None, SWIPE_TIME).await
        }
        MaestroCommand::ScrollUntilVisible(scroll) => scroll_until(&scroll, call).await,
        MaestroCommand::Swipe(way) => swipe(*way, call).await,
        MaestroCommand::WaitForAnimationToEnd(wait) => {
            let timeout = wait.and_then(|wait| wait.timeout);
            let limit = timeout.map_or(ANIMATION_TIMEOUT, Duration::from_millis);
            let mut watch = Watch::new(call, limit);
            match watch.until_still(ANIMATION_END_GRACE).await? {
                Rest::Still(_) => Ok(Answer::default()),
                Rest::Moving(_) => Ok(watch.still_moving()),
            }
        }
        MaestroCommand::SetAirplaneMode(mode) => {
            let connected = matches!(mode.0, AirplaneMode::Disabled);
            app(call, AppCommand::Network { connected }).await
        }
        MaestroCommand::SetOrientation(orientation) => {
            let landscape = matches!(orientation.0, Orientation::LandscapeLeft);
            app(call, AppCommand::Rotate { landscape }).await
        }
    }
}

async fn tap_on(element: &Element, how: Touch, call: &Call<'_>) -> Result<Answer, ToolError> {
    let point = element.point.as_deref();
    if let Some(point) = point.filter(|_| element.is_point()) {
        let point = screen_point(point, call).await?;
        return touch(call, point, how).await;
    }
    let share = point.map(shares).transpose()?;
    let wanted = element.wanted(call.session.platform())?;
    touch_element(Watch::new(call, ELEMENT_TIMEOUT), &wanted, how, share).await
}

/// `50%,20%` of the screen, or `100,200` on it.
async fn screen_point(text: &str, call: &Call<'_>) -> Result<Point, ToolError> {
    if text.contains('%') {
        let (x, y) = shares(text)?;
        return Ok(at(screen_size(call).await?, x, y));
    }
    let number = |text: &str| {
        let number: f64 = text.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some(number)
    };
    let (x, y) = text
        .split_once(',')
        .and_then(|(x, y)| Some((number(x)?, number(y)?)))
        .ok_or_else(|| {
            ToolError::failed(format!(
                "invalid point {}: expected one like \"50%,20%\" or \"100,200\"",
                quoted(text)
            ))
        })?;
    on_screen(call, x, y).await
}

async fn wait_until(wait: &Wait, call: &Call<'_>) -> Result<Answer, ToolError> {
    let platform = call.session.platform();
    let limit = patience(wait.timeout);
    match (&wait.visible, &wait.not_visible) {
        (Some(element), None) => {
            expect_visible(Watch::new(call, limit), &element.0.wanted(platform)?).await
        }
        (None, Some(element)) => expect_gone(&element.0.wanted(platform)?, limit, call).await,
        (Some(_), Some(_)) | (None, None) => Err(ToolError::failed(
            "expected either `visible` or `notVisible`",
        )),
    }
}

async fn copy_text(element: &Element, call: &Call<'_>) -> Result<Answer, ToolError> {
    let wanted = element.wanted(call.session.platform())?;
    let found = find(&mut Watch::new(call, ELEMENT_TIMEOUT), &wanted).await?;
    let node = found.snapshot.tree.get(found.visible_match.node);
    let Some(text) = node
        .and_then(|node| text_of(&node.detail))
        .map(str::to_owned)
    else {
        return Err(ToolError::failed(format!(
            "{} has no text",
            found.describe()
        )));
    };
    let done = input(call, InputCommand::SetClipboard(text)).await?;
    Ok(found.into_answer(done))
}

async fn launch_app(options: Launch, call: &Call<'_>) -> Result<Answer, ToolError> {
    // Maestro stops an app before it launches it unless told otherwise.
    let mode = match (options.clear_state, options.stop_app) {
        (Some(true), _) => LaunchMode::Reinstall,
        (_, Some(false)) => LaunchMode::Resume,
        (Some(false) | None, Some(true) | None) => LaunchMode::ForceRestart,
    };
    launch(call, app_id(options.app_id, call)?, mode).await
}

/// The app that is named, or else the one under test.
fn app_id(id: Option<String>, call: &Call<'_>) -> Result<String, ToolError> {
    id.filter(|id| !id.trim().is_empty())
        .or_else(|| call.session.app_ids().first().cloned())
        .ok_or_else(|| ToolError::failed("missing app: name one, or a target in the configuration"))
}

async fn scroll_until(scroll: &Scroll, call: &Call<'_>) -> Result<Answer, ToolError> {
    let wanted = scroll.element.0.wanted(call.session.platform())?;
    let scrolling = Scrolling {
        towards: scroll.direction.into(),
        start: ScrollStart::Center,
        share: f64::from(scroll.visibility_percentage.unwrap_or(100).min(100)) / 100.0,
        center: scroll.center_element,
        limit: scroll.timeout.map_or(SCROLL_TIMEOUT, Duration::from_millis),
    };
    until_visible(call, &wanted, scrolling).await
}

async fn swipe(way: Swipe, call: &Call<'_>) -> Result<Answer, ToolError> {
    let duration = match way.duration {
        Some(ms) => gesture_time(call, "duration", ms)?,
        None => SWIPE_TIME,
    };
    match (way.direction, way.start, way.end, way.from) {
        (Some(direction), None, None, from) => {
            let platform = call.session.platform();
            let from = from.map(|element| element.0.wanted(platform)).transpose()?;
            act::swipe(call, direction.into(), from.as_ref(), duration).await
        }
        (None, Some(start), Some(end), None) => {
            let from = screen_point(&start, call).await?;
            let to = screen_point(&end, call).await?;
            stroke(call, Stroke { from, to }, duration).await
        }
        _ => Err(ToolError::failed(
            "expected `direction` with an optional `from`, or `start` and `end`",
        )),
    }
}
