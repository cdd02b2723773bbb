//! Actions on a page: click, type, scroll and the like.

use std::pin::pin;
use std::time::Duration;

use packtrain_drivers::{
    ActionReport, CommandContext, Direction, DriverError, InputCommand, Key, Located, Observation,
    Size, WebTarget,
};
use playwright_rs::Error;
use playwright_rs::protocol::{Frame, Viewport};
use playwright_rs::server::channel_owner::ChannelOwner;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::calls::Call;
use crate::find::{self, APPEAR_TIMEOUT, FoundElement, Purpose};
use crate::focus;
use crate::lane::{self, ElementAction};
use crate::locate::Candidate;
use crate::navigate::{self, HistoryStep};
use crate::reading::{self, Frames};
use crate::session::Session;
use crate::wire;

/// How long an element that is there may take to become ready for an action.
const ACTIONABLE_TIMEOUT: Duration = Duration::from_secs(30);
/// An action that takes longer is looked after.
const DOUBT_TIMEOUT: Duration = Duration::from_millis(400);

type Result<T> = std::result::Result<T, DriverError>;

pub(crate) async fn click(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<Observation> {
    on_element(session, target, ctx, ElementAction::Click, "click").await
}

pub(crate) async fn hover(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<Observation> {
    on_element(session, target, ctx, ElementAction::Hover, "hover over").await
}

pub(crate) async fn select(
    session: &Session,
    target: &WebTarget,
    values: &[String],
    ctx: &CommandContext,
) -> Result<Observation> {
    let action = ElementAction::Select(values);
    on_element(session, target, ctx, action, "choose an option of").await
}

pub(crate) async fn type_text(
    session: &Session,
    target: &WebTarget,
    text: &str,
    clear_first: bool,
    ctx: &CommandContext,
) -> Result<Observation> {
    if clear_first && !target.is_empty() {
        return on_element(session, target, ctx, ElementAction::Fill(text), "type into").await;
    }
    let report = if target.is_empty() {
        focus::await_focus(session, ctx).await?;
        ActionReport::default()
    } else {
        focus::give_focus(session, target, ctx).await?.report()
    };
    let keyboard = session.page()?.keyboard();
    let typed = async {
        if clear_first {
            keyboard.press("ControlOrMeta+a", None).await?;
            if text.is_empty() {
                keyboard.press("Delete", None).await?;
            }
        }
        keyboard.type_text(text, None).await
    };
    let typed = typed.await;
    typed.map_err(|error| wire::translate(&error, "type"))?;
    Ok(Observation::Done(report))
}

pub(crate) async fn scroll(
    session: &Session,
    target: &WebTarget,
    direction: Direction,
    amount: u32,
    ctx: &CommandContext,
) -> Result<Observation> {
    let report = if target.is_empty() {
        ActionReport::default()
    } else {
        // The wheel turns where the mouse is, so that a container scrolls and not the page.
        match on_element(session, target, ctx, ElementAction::Hover, "scroll in").await? {
            Observation::Done(report) => report,
            _ => ActionReport::default(),
        }
    };
    let amount = f64::from(amount);
    let (x, y) = match direction {
        Direction::Down => (0.0, amount),
        Direction::Up => (0.0, -amount),
        Direction::Right => (amount, 0.0),
        Direction::Left => (-amount, 0.0),
    };
    let turned = session.page()?.mouse().wheel(x, y).await;
    turned.map_err(|error| wire::translate(&error, "scroll"))?;
    Ok(Observation::Done(report))
}

pub(crate) async fn press(session: &Session, key: &str) -> Result<Observation> {
    let pressed = session.page()?.keyboard().press(key, None).await;
    pressed.map_err(|error| wire::translate(&error, &format!("press {key}")))?;
    done()
}

/// Input by position and focus, for commands in terms of a screen.
pub(crate) async fn input(
    session: &Session,
    command: &InputCommand,
    ctx: &CommandContext,
) -> Result<Observation> {
    if matches!(command, InputCommand::Key(Key::Back)) {
        return navigate::step(session, HistoryStep::Back, ctx).await;
    }
    if matches!(command, InputCommand::Text(_)) {
        focus::await_focus(session, ctx).await?;
    }
    let page = session.page()?;
    let acted: std::result::Result<(), Error> = match command {
        InputCommand::Tap { at } => page.mouse().click(at.x, at.y, None).await,
        InputCommand::Text(text) => page.keyboard().insert_text(text).await,
        InputCommand::Key(key) => match key {
            Key::Enter => page.keyboard().press("Enter", None).await,
            Key::Backspace => page.keyboard().press("Backspace", None).await,
            Key::Tab => page.keyboard().press("Tab", None).await,
            Key::Escape => page.keyboard().press("Escape", None).await,
            Key::Back | Key::Home | Key::VolumeUp | Key::VolumeDown | Key::Lock => {
                return Err(unsupported(&format!("the key {key:?}")));
            }
        },
        InputCommand::HideKeyboard => Ok(()),
        InputCommand::LongPress { .. }
        | InputCommand::Swipe { .. }
        | InputCommand::Drag { .. }
        | InputCommand::Pinch { .. }
        | InputCommand::Erase(_)
        | InputCommand::SetClipboard(_)
        | InputCommand::Paste => return Err(unsupported(command.name())),
    };
    acted.map_err(|error| wire::translate(&error, command.name()))?;
    done()
}

pub(crate) async fn resize(session: &Session, size: Size) -> Result<Observation> {
    if !(1.0..=16_384.0).contains(&size.width) || !(1.0..=16_384.0).contains(&size.height) {
        return Err(DriverError::Invalid(format!(
            "a viewport of {} by {} is not possible: 1 to 16384 each",
            size.width, size.height
        )));
    }
    let viewport = Viewport {
        width: size.width as u32,
        height: size.height as u32,
    };
    let resized = session.page()?.set_viewport_size(viewport).await;
    resized.map_err(|error| wire::translate(&error, "resize"))?;
    done()
}

/// Adds cookies: a bare array, or the `cookies` of a whole storage state.
pub(crate) async fn add_cookies(session: &Session, text: &str) -> Result<Observation> {
    let invalid = |what: String| DriverError::Invalid(format!("cookies: {what}"));
    let parsed: Value = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
    let cookies = match parsed {
        Value::Array(cookies) => cookies,
        Value::Object(mut state) => match state.remove("cookies") {
            Some(Value::Array(cookies)) => cookies,
            _ => return Err(invalid("an object needs an array `cookies`".to_owned())),
        },
        _ => return Err(invalid("expected a JSON array".to_owned())),
    };
    if cookies.is_empty() {
        return done();
    }
    let count = cookies.len();
    let added = session
        .context
        .channel()
        .send_no_result("addCookies", json!({ "cookies": cookies }))
        .await;
    added.map_err(|error| wire::translate(&error, "add cookies"))?;
    Ok(Observation::Text(format!("added {count} cookies")))
}

pub(crate) fn done() -> Result<Observation> {
    Ok(Observation::Done(ActionReport::default()))
}

pub(crate) fn unsupported(command: &str) -> DriverError {
    DriverError::Unsupported {
        command: command.to_owned(),
        device: "a web device".to_owned(),
    }
}

pub(crate) async fn on_element(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
    action: ElementAction<'_>,
    verb: &str,
) -> Result<Observation> {
    let begun = Instant::now();
    if let Some(candidate) = find::plain(target)
        && let Some(done) = at_once(session, &candidate, ctx, action, verb).await?
    {
        return Ok(done);
    }
    let appears = APPEAR_TIMEOUT.saturating_sub(begun.elapsed());
    let limit = ctx.remaining_up_to(appears);
    let found: FoundElement = find::find(session, target, Purpose::Action, limit).await?;
    if found.is_on_page {
        let page = session.page()?;
        let acted = lane::act(session, &page, &found.selector, action, ctx).await;
        let doing = || format!("{verb} {}", found.by());
        if let Some(()) = acted.map_err(|error| wire::translate(&error, &doing()))? {
            return Ok(Observation::Done(found.report()));
        }
    }
    let mut params = action.params();
    params["selector"] = found.selector.as_str().into();
    let limit = ctx.remaining_up_to(ACTIONABLE_TIMEOUT);
    let acted = wire::call(&found.frame, action.method(), params, limit).await;
    if let Err(error) = acted {
        return Err(not_ready(session, &found.selector, &error, verb, found.by()).await);
    }
    Ok(Observation::Done(found.report()))
}

/// The usual case in one call: just one element matches. `None` when nothing has been done and a
/// closer look is needed: several match, or another tab took over.
async fn at_once(
    session: &Session,
    candidate: &Candidate,
    ctx: &CommandContext,
    action: ElementAction<'_>,
    verb: &str,
) -> Result<Option<Observation>> {
    let begun = Instant::now();
    let page = session.page()?;
    // What a frame may hold is looked for.
    if reading::has_frames(&page).await {
        return Ok(None);
    }
    let by = &candidate.by;
    let done = || {
        let located = Located {
            by: by.clone(),
            matched: 1,
        };
        Observation::Done(ActionReport {
            located: Some(located),
            notes: Vec::new(),
        })
    };
    let acted = lane::act(session, &page, &candidate.selector, action, ctx).await;
    if let Some(()) = acted.map_err(|error| wire::translate(&error, &format!("{verb} {by}")))? {
        return Ok(Some(done()));
    }
    let Ok(frame) = wire::frame_of(&page).await else {
        return Ok(None);
    };
    let mut params = action.params();
    params["selector"] = candidate.selector.as_str().into();
    params["strict"] = true.into();
    params["timeout"] = wire::millis(ctx.remaining_up_to(ACTIONABLE_TIMEOUT)).into();
    let call = Call::new(&frame);
    let mut acting = pin!(call.make(action.method(), params));
    let (acted, is_elsewhere) = tokio::select! {
        biased;
        acted = &mut acting => (acted, false),
        is_elsewhere = waits_in_vain(session, candidate, &frame, ctx) => {
            call.take_back();
            (acting.await, is_elsewhere)
        }
    };
    match acted {
        Ok(()) => Ok(Some(done())),
        Err(error) if wire::is_ambiguous(&error) => Ok(None),
        Err(error) if wire::touched(&error) || wire::is_crash(&error) => {
            Err(wire::translate(&error, &format!("{verb} {by}")))
        }
        Err(error) if is_elsewhere || wire::is_closed(&error) => Ok(None),
        Err(error) if !wire::was_found(&error) => {
            Err(find::absent(session, by, Some(&candidate.selector), begun.elapsed()).await)
        }
        Err(error) => Err(not_ready(session, &candidate.selector, &error, verb, by).await),
    }
}

/// Why an element that is there was not acted on: that it cannot be seen says more than how long
/// that was waited for.
async fn not_ready(
    session: &Session,
    selector: &str,
    error: &Error,
    verb: &str,
    by: &str,
) -> DriverError {
    let error = wire::translate(error, &format!("{verb} {by}"));
    match error {
        DriverError::Unmet { log, what } => match find::why_unseen(session, selector).await {
            Some(why) => DriverError::Unmet {
                what: format!("{verb} {by}: it is there, but {why}"),
                log,
            },
            None => DriverError::Unmet { what, log },
        },
        other => other,
    }
}

/// Resolves once it is clear that an action waits in vain; whether what it waits for is on another
/// tab, or nowhere.
async fn waits_in_vain(
    session: &Session,
    candidate: &Candidate,
    frame: &Frame,
    ctx: &CommandContext,
) -> bool {
    tokio::time::sleep(DOUBT_TIMEOUT).await;
    let limit = ctx.remaining_up_to(APPEAR_TIMEOUT);
    match find::await_match(session, candidate, Frames::Shown, limit).await {
        // The action waits for it to become ready.
        Ok(Some(found)) if found.place.is_page() && found.frame.guid() == frame.guid() => {
            std::future::pending().await
        }
        Ok(Some(_)) | Err(_) => true,
        Ok(None) => false,
    }
}
