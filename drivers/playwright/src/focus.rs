//! Whether anything on a page takes text: the element that has the focus, however many frames deep.

use std::time::Duration;

use packtrain_drivers::{CommandContext, DriverError, WebTarget};
use playwright_rs::Error;
use playwright_rs::protocol::Page;
use serde_json::json;
use tokio::time::Instant;

use crate::find::{self, APPEAR_TIMEOUT, FoundElement, Purpose, is_navigating};
use crate::session::Session;
use crate::wire;

/// How long a field may take to get the focus that a click gave it.
const FOCUS_TIMEOUT: Duration = Duration::from_secs(2);
/// How often to look for it.
const FOCUS_POLL: Duration = Duration::from_millis(100);
/// The most frames within frames.
const MAX_DEPTH: usize = 32;

/// The element that has the focus in a document, in whichever open shadow tree.
const FOCUSED: &str = include_str!("page/focused.js");

/// Gives the focus to an element, its cursor behind what it holds; or tells what takes no text: nothing
/// where it does and its cursor can only be moved by keys.
const FOCUS: &str = "(named, focused) => {
  const before = focused().element;
  named.focus();
  const { element, kind } = focused();
  const isWithin = inner => inner && (inner === named || isWithin(inner.getRootNode().host));
  if (kind !== 'field' || !(isWithin(element) || element.contains(named))) return [named.localName, named.type, named.disabled && 'disabled'].filter(Boolean).join(' ');
  if (element.isContentEditable && element !== before) getSelection().selectAllChildren(element), getSelection().collapseToEnd();
  else if (element !== before) try { element.setSelectionRange(1e9, 1e9); } catch { return ''; }
  return null;
}";

/// Gives the focus to the field that is named. Playwright's own `type` types into whatever has it.
pub(crate) async fn give_focus(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<FoundElement, DriverError> {
    let limit = ctx.remaining_up_to(APPEAR_TIMEOUT);
    let found = find::find(session, target, Purpose::Action, limit).await?;
    let limit = ctx.remaining_up_to(FOCUS_TIMEOUT);
    let FoundElement {
        frame, selector, ..
    } = &found;
    let enabled = wire::expect(frame, selector, "to.be.enabled", json!({}), limit);
    let _ = enabled.await;
    let element = session.page()?.locator(selector.as_str());
    let focus = format!("element => ({FOCUS})(element, {FOCUSED})");
    let end = Instant::now() + limit;
    let is = loop {
        let is: Option<String> = match element.evaluate(&focus, Some(json!(null))).await {
            Err(error) if is_navigating(&error) || wire::is_missing(&error) => {
                Some("gone".to_owned())
            }
            is => is.map_err(|error| wire::translate(&error, "type"))?,
        };
        let may_come = is.as_ref().is_some_and(|is| !is.is_empty());
        if !may_come || Instant::now() >= end {
            break is;
        }
        tokio::time::sleep(FOCUS_POLL).await;
    };
    let Some(is) = is else { return Ok(found) };
    if is.is_empty() {
        let end = session.page()?.keyboard().press("End", None).await;
        end.map_err(|error| wire::translate(&error, "type"))?;
        return Ok(found);
    }
    let by = found.by();
    Err(DriverError::unmet(format!(
        "type: {by} is <{is}>, which takes no text; name a field, or press keys by `web_pressKey`"
    )))
}

/// Waits until something takes text.
///
/// # Errors
/// [`DriverError::Unmet`] when nothing does.
pub(crate) async fn await_focus(
    session: &Session,
    ctx: &CommandContext,
) -> Result<(), DriverError> {
    let end = Instant::now() + ctx.remaining_up_to(FOCUS_TIMEOUT);
    loop {
        match takes_text(&session.page()?).await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            // A page that is navigating takes nothing.
            Err(error) if is_navigating(&error) => {}
            Err(error) => return Err(wire::translate(&error, "type")),
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(DriverError::unmet(
                "type: no field has the focus; click one first, or name it by `nodeSelector` or `ref`",
            ));
        }
        tokio::time::sleep(left.min(FOCUS_POLL)).await;
    }
}

async fn takes_text(page: &Page) -> Result<bool, Error> {
    let mut frame = page.main_frame().await?;
    for _ in 0..MAX_DEPTH {
        let kind = frame
            .evaluate::<()>(&format!("({FOCUSED})().kind"), None)
            .await?;
        if kind != "frame" {
            return Ok(kind == "field");
        }
        let element = frame
            .evaluate_handle(&format!("({FOCUSED})().element"))
            .await?;
        let Some(inner) = element.content_frame().await? else {
            return Ok(false);
        };
        frame = inner;
    }
    Ok(false)
}
