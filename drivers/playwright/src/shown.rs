//! Text as a reader of the page sees it: a text engine finds what is in the document, hidden or not.

use std::time::{Duration, Instant};

use packtrain_drivers::{DriverError, TextMatch};
use serde_json::json;

use crate::find::is_navigating;
use crate::locate;
use crate::read;
use crate::reading::{self, Frames};
use crate::session::Session;
use crate::wire;

/// How often it is looked again when nothing is seen to change: styles change unseen.
pub(crate) const SHOWN_POLL: Duration = Duration::from_millis(250);

/// Counts the elements that show a text. What is not rendered is left out, blocks are set apart, and
/// a text area's content is what it began with.
const COUNT: &str = "(elements, { text, whole, anyCase, pattern }) => {
  const normal = text => {
    text = text.replace(/[\\u200b\\u00ad]/g, '').trim().replace(pattern ? /[ \\t\\r\\n\\f]+/g : /\\s+/g, ' ');
    return anyCase ? text.toLowerCase() : text;
  };
  const parent = node => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
  const hidden = element => element && (getComputedStyle(element).display === 'none' || hidden(parent(element)));
  const shown = node => {
    if (node.nodeType === Node.TEXT_NODE)
      return getComputedStyle(parent(node)).visibility === 'visible' ? node.data : '';
    if (node.nodeType !== Node.ELEMENT_NODE || node.localName === 'textarea') return '';
    const display = getComputedStyle(node).display;
    if (display === 'none') return '';
    const slotted = node.localName === 'slot' ? node.assignedNodes() : [];
    const children = node.shadowRoot ? node.shadowRoot.childNodes : slotted.length ? slotted : node.childNodes;
    const inside = [...children].map(shown).join('');
    return /^(inline|contents|ruby)/.test(display) && node.localName !== 'br' ? inside : ` ${inside} `;
  };
  const wanted = normal(text);
  if (pattern) pattern = new RegExp(pattern, anyCase ? 'iu' : 'u');
  return elements.filter(element => {
    const found = hidden(element) ? '' : normal(shown(element));
    return whole ? found === wanted : pattern ? pattern.test(found) : found.includes(wanted);
  }).length;
}";

/// A text that is to be seen.
pub(crate) struct ShownText<'a> {
    pub(crate) text: &'a str,
    pub(crate) matching: TextMatch,
    pub(crate) any_case: bool,
}

impl ShownText<'_> {
    /// Waits until one of the elements that `selector` matches shows it; how many do.
    pub(crate) async fn wait(
        &self,
        session: &Session,
        selector: &str,
        limit: Duration,
    ) -> Result<u32, DriverError> {
        let arguments = json!({
            "text": self.text,
            "whole": self.matching == TextMatch::Exact,
            "anyCase": self.any_case,
            "pattern": locate::containing(self.text),
        });
        let end = Instant::now() + limit;
        loop {
            let page = session.page()?;
            for place in reading::places(&page, Frames::Shown).await {
                let elements = page.locator(place.selector(selector));
                match elements.evaluate_all(COUNT, Some(&arguments)).await {
                    Ok(0) => {}
                    Ok(count) => return Ok(count),
                    Err(error) if is_navigating(&error) || wire::is_closed(&error) => {}
                    Err(_) if !place.is_page() => {}
                    Err(error) => return Err(wire::translate(&error, "read the page")),
                }
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(0);
            }
            let poll = left.min(SHOWN_POLL);
            let _ = tokio::time::timeout(poll, read::await_mutation(&page, poll)).await;
        }
    }
}
