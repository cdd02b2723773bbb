//! Actions on a page: navigate, click, type, scroll and the like.

use std::pin::pin;
use std::time::{Duration, Instant};

use packtrain_drivers::{
    ActionReport, CommandContext, Direction, DriverError, InputCommand, Key, Located, NavigateTo,
    Observation, Size, WebTarget,
};
use playwright_rs::Error;
use playwright_rs::protocol::{Frame, GotoOptions, Viewport};
use playwright_rs::server::channel_owner::ChannelOwner;
use serde_json::{Value, json};

use crate::calls::Call;
use crate::find::{self, APPEARS, Found};
use crate::locate::Candidate;
use crate::session::Session;
use crate::wire;

/// How long an element that is there may take to become ready for an action.
const ACTS: Duration = Duration::from_secs(30);
/// An action that takes longer is looked after.
const DOUBT: Duration = Duration::from_millis(400);
/// How long a page may take to load.
const LOADS: Duration = Duration::from_secs(30);

type Result<T> = std::result::Result<T, DriverError>;

pub(crate) async fn navigate(
    session: &Session,
    to: &NavigateTo,
    ctx: &CommandContext,
) -> Result<Observation> {
    let page = session.page()?;
    let options = || GotoOptions::new().timeout(ctx.remaining_up_to(LOADS));
    let notes = match to {
        NavigateTo::Url(url) => {
            let address = address(session, url)?;
            let doing = format!("open {address}");
            let answer = page
                .goto(&address, options())
                .await
                .map_err(|error| wire::translate(&error, &doing))?;
            answer
                .filter(|answer| !answer.ok())
                .map(|answer| {
                    format!(
                        "{address} answered {} {}",
                        answer.status(),
                        answer.status_text()
                    )
                })
                .into_iter()
                .collect()
        }
        NavigateTo::Back | NavigateTo::Forward => {
            let (way, moved) = match to {
                NavigateTo::Back => ("back", page.go_back(options()).await),
                _ => ("forward", page.go_forward(options()).await),
            };
            let doing = format!("go {way}");
            let before = page.url();
            let moved = moved.map_err(|error| wire::translate(&error, &doing))?;
            if moved.is_none() && page.url() == before {
                return Err(DriverError::unmet(format!(
                    "there is no page to go {way} to; the page is {before}"
                )));
            }
            Vec::new()
        }
    };
    Ok(Observation::Done(ActionReport {
        located: None,
        notes,
    }))
}

pub(crate) async fn click(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<Observation> {
    on_element(session, target, ctx, "click", "click", json!({})).await
}

pub(crate) async fn hover(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<Observation> {
    on_element(session, target, ctx, "hover", "hover over", json!({})).await
}

pub(crate) async fn select(
    session: &Session,
    target: &WebTarget,
    values: &[String],
    ctx: &CommandContext,
) -> Result<Observation> {
    let options: Vec<_> = values
        .iter()
        .map(|value| json!({ "valueOrLabel": value }))
        .collect();
    let params = json!({ "options": options });
    on_element(
        session,
        target,
        ctx,
        "selectOption",
        "choose an option of",
        params,
    )
    .await
}

pub(crate) async fn type_text(
    session: &Session,
    target: &WebTarget,
    text: &str,
    clear_first: bool,
    ctx: &CommandContext,
) -> Result<Observation> {
    if target.is_empty() {
        let page = session.page()?;
        let typed = page.keyboard().type_text(text, None).await;
        typed.map_err(|error| wire::translate(&error, "type"))?;
        return done();
    }
    let (method, params) = match clear_first {
        true => ("fill", json!({ "value": text })),
        false => ("type", json!({ "text": text })),
    };
    on_element(session, target, ctx, method, "type into", params).await
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
        match on_element(session, target, ctx, "hover", "scroll in", json!({})).await? {
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
    let wheel = session.page()?.mouse().wheel(x, y).await;
    wheel.map_err(|error| wire::translate(&error, "scroll"))?;
    Ok(Observation::Done(report))
}

pub(crate) async fn press(session: &Session, key: &str) -> Result<Observation> {
    let pressed = session.page()?.keyboard().press(key, None).await;
    pressed.map_err(|error| wire::translate(&error, &format!("press {key}")))?;
    done()
}

/// Input by position and focus, for what is told in terms of a screen.
pub(crate) async fn input(session: &Session, command: &InputCommand) -> Result<Observation> {
    let page = session.page()?;
    let acted: std::result::Result<(), Error> = match command {
        InputCommand::Tap { at } => page.mouse().click(at.x, at.y, None).await,
        InputCommand::Text(text) => page.keyboard().insert_text(text).await,
        InputCommand::Key(key) => match key {
            Key::Enter => page.keyboard().press("Enter", None).await,
            Key::Backspace => page.keyboard().press("Backspace", None).await,
            Key::Tab => page.keyboard().press("Tab", None).await,
            Key::Escape => page.keyboard().press("Escape", None).await,
            Key::Back => page.go_back(None).await.map(|_| ()),
            Key::Home | Key::VolumeUp | Key::VolumeDown | Key::Lock => {
                return Err(unsupported(&format!("the key {key:?}")));
            }
        },
        InputCommand::HideKeyboard => Ok(()),
        InputCommand::LongPress { .. }
        | InputCommand::Swipe { .. }
        | InputCommand::Drag { .. }
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

async fn on_element(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
    method: &str,
    verb: &str,
    mut params: Value,
) -> Result<Observation> {
    let begun = Instant::now();
    if let Some(candidate) = find::plain(target)
        && let Some(done) = at_once(session, &candidate, ctx, method, verb, params.clone()).await?
    {
        return Ok(done);
    }
    let appears = APPEARS.saturating_sub(begun.elapsed());
    let found: Found = find::find(session, target, ctx.remaining_up_to(appears)).await?;
    params["selector"] = found.selector.as_str().into();
    let acted = wire::call(&found.frame, method, params, ctx.remaining_up_to(ACTS)).await;
    acted.map_err(|error| wire::translate(&error, &format!("{verb} {}", found.by())))?;
    Ok(Observation::Done(found.report()))
}

/// The usual case in one call: just one element matches. `None` when nothing has been done and a
/// closer look is needed: several match, or another tab took over.
async fn at_once(
    session: &Session,
    candidate: &Candidate,
    ctx: &CommandContext,
    method: &str,
    verb: &str,
    mut params: Value,
) -> Result<Option<Observation>> {
    let begun = Instant::now();
    let Ok(frame) = wire::frame_of(&session.page()?).await else {
        return Ok(None);
    };
    params["selector"] = candidate.selector.as_str().into();
    params["strict"] = true.into();
    params["timeout"] = wire::millis(ctx.remaining_up_to(ACTS)).into();
    let call = Call::new(&frame);
    let mut acting = pin!(call.make(method, params));
    let (acted, is_elsewhere) = tokio::select! {
        biased;
        acted = &mut acting => (acted, false),
        is_elsewhere = waits_in_vain(session, candidate, &frame, ctx) => {
            call.take_back();
            (acting.await, is_elsewhere)
        }
    };
    let by = &candidate.by;
    match acted {
        Ok(()) => Ok(Some(Observation::Done(ActionReport {
            located: Some(Located {
                by: by.clone(),
                matched: 1,
            }),
            notes: Vec::new(),
        }))),
        Err(error) if wire::is_ambiguous(&error) => Ok(None),
        Err(error) if wire::touched(&error) => {
            Err(wire::translate(&error, &format!("{verb} {by}")))
        }
        Err(error) if is_elsewhere || wire::is_closed(&error) => Ok(None),
        Err(error) if !wire::was_found(&error) => {
            Err(find::absent(session, by, begun.elapsed()).await)
        }
        Err(error) => Err(wire::translate(&error, &format!("{verb} {by}"))),
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
    tokio::time::sleep(DOUBT).await;
    match find::await_match(session, candidate, ctx.remaining_up_to(APPEARS)).await {
        // The action waits for it to become ready.
        Ok(Some((found, _))) if found.guid() == frame.guid() => std::future::pending().await,
        Ok(Some(_)) | Err(_) => true,
        Ok(None) => false,
    }
}

/// Where an address leads: as it is with a scheme, below the base address when there is one, else
/// a file in the trail's folder or the working directory.
fn address(session: &Session, url: &str) -> Result<String> {
    let url = url.trim();
    if url.is_empty() {
        return Err(DriverError::Invalid("the address is empty".to_owned()));
    }
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = url.contains("://")
        || scheme.is_some_and(|scheme| ["about", "data", "blob", "javascript"].contains(&scheme));
    if has_scheme {
        return Ok(url.to_owned());
    }
    if let Some(base) = &session.options.base_url {
        return join(base, url);
    }
    let (path, rest) = match url.find(['?', '#']) {
        Some(at) => url.split_at(at),
        None => (url, ""),
    };
    let file = session
        .options
        .folders
        .iter()
        .map(|folder| folder.join(path))
        .find(|file| file.exists())
        .ok_or_else(|| {
            let looked: Vec<_> = session
                .options
                .folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            DriverError::Invalid(format!(
                "`{url}` is no address with a scheme, there is no base URL, and no such file in {}",
                looked.join(" or ")
            ))
        })?;
    let file = std::fs::canonicalize(&file).unwrap_or(file);
    let mut encoded = String::from("file://");
    for byte in file.to_string_lossy().bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(encoded + rest)
}

/// Joins an address to its base as browsers do.
fn join(base: &str, url: &str) -> Result<String> {
    let invalid = || DriverError::Invalid(format!("`{url}` cannot be joined to `{base}`"));
    let start = base.find("://").ok_or_else(invalid)? + 3;
    let origin_end = base[start..].find('/').map_or(base.len(), |at| start + at);
    if url.starts_with("//") {
        return Ok(format!("{}{url}", &base[..start - 2]));
    }
    if url.starts_with('/') {
        return Ok(format!("{}{url}", &base[..origin_end]));
    }
    if url.starts_with(['?', '#']) {
        return Ok(format!("{base}{url}"));
    }
    let folder = match base[origin_end..].rfind('/') {
        Some(at) => &base[..=origin_end + at],
        None => return Ok(format!("{base}/{url}")),
    };
    Ok(format!("{folder}{url}"))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn addresses_join_as_in_a_browser() {
        for (base, url, whole) in [
            ("http://a.b:8", "cart", "http://a.b:8/cart"),
            ("http://a.b:8/", "cart", "http://a.b:8/cart"),
            ("http://a.b:8/x/y", "z", "http://a.b:8/x/z"),
            ("http://a.b:8/x/", "/z?q#h", "http://a.b:8/z?q#h"),
            ("http://a.b:8/x", "?q", "http://a.b:8/x?q"),
        ] {
            assert_eq!(join(base, url).unwrap(), whole);
        }
        assert!(join("nowhere", "x").is_err());
    }
}
