//! Looking for elements without expecting any: how many a person sees, and what the first one says.

use std::time::Duration;

use packtrain_drivers::{DriverError, Observation, TextMatch, WebElement};
use serde_json::json;
use tokio::time::Instant;

use crate::find::is_navigating;
use crate::locate;
use crate::read;
use crate::reading::{self, Frames};
use crate::session::Session;
use crate::shown::{SHOWN_POLL, ShownText, Within};
use crate::wire;

/// Counts the elements that show a text, or all of them without one, and reads the first. Of a field,
/// its value is the text, and of a password nothing.
const READ: &str = "(elements, { text, whole, pattern }) => {
  const normal = text => text.replace(/[\\u200b\\u00ad]/g, '').trim().replace(/\\s+/g, ' ');
  const said = element => {
    if (element.localName === 'select') return [...element.selectedOptions].map(o => o.label).join(' ');
    if (element.localName === 'textarea') return element.value;
    if (element.localName === 'input') return element.type === 'password' ? '' : element.value;
    return element.innerText ?? element.textContent ?? '';
  };
  const shows = shown => text === null ? true
    : whole ? shown === normal(text) : pattern ? new RegExp(pattern, 'iu').test(shown) : shown.toLowerCase().includes(normal(text).toLowerCase());
  const shown = elements.map(element => normal(said(element))).filter(shows);
  return { count: shown.length, text: shown[0] || null };
}";

/// How many elements are visible, waiting for a first one.
pub(crate) async fn look(
    session: &Session,
    element: &WebElement,
    limit: Duration,
) -> Result<Observation, DriverError> {
    match (&element.id, &element.text) {
        (Some(id), _) => by_id(session, id, element, limit).await,
        (None, Some(text)) => {
            let visible = locate::by_visible_text(text, element.matching);
            let shown = ShownText {
                text,
                matching: element.matching,
                any_case: element.matching == TextMatch::Contains,
            };
            let count = shown
                .wait(session, &visible.selector, Within::Tab, limit)
                .await?;
            Ok(Observation::Json(json!({ "count": count, "text": null })))
        }
        (None, None) => Err(DriverError::Invalid(
            "missing `nodeSelector` or `ref`".to_owned(),
        )),
    }
}

async fn by_id(
    session: &Session,
    id: &str,
    element: &WebElement,
    limit: Duration,
) -> Result<Observation, DriverError> {
    let quoted = json!(id);
    let selector = format!("css=[id={quoted}], [data-testid={quoted}] >> visible=true");
    let arguments = json!({
        "text": element.text,
        "whole": element.matching == TextMatch::Exact,
        "pattern": element.text.as_deref().and_then(locate::containing),
    });
    let end = Instant::now() + limit;
    let mut has_lost_tab = false;
    let mut tabs = session.tabs.watch();
    'look: loop {
        tabs.mark_unchanged();
        let page = session.page()?;
        let mut seen = json!({ "count": 0, "text": null });
        for place in reading::places(&page, Frames::Shown).await {
            let elements = page.locator(place.selector(&selector));
            seen = match elements.evaluate_all(READ, Some(&arguments)).await {
                Ok(seen) => seen,
                // A page that is navigating shows nothing.
                Err(error) if is_navigating(&error) => continue,
                Err(_) if !place.is_page() => continue,
                // Another tab takes over, or none is left, which `page()` reports.
                Err(error) if wire::is_closed(&error) && !has_lost_tab => {
                    has_lost_tab = true;
                    let _ = tokio::time::timeout(SHOWN_POLL, tabs.changed()).await;
                    continue 'look;
                }
                Err(error) => return Err(wire::translate(&error, "read the page")),
            };
            if seen["count"] != 0 {
                break;
            }
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || seen["count"] != 0 {
            return Ok(Observation::Json(seen));
        }
        let poll = left.min(SHOWN_POLL);
        let _ = tokio::time::timeout(poll, read::await_mutation(&page, poll)).await;
    }
}
