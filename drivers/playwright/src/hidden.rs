//! Why an element that is in the document cannot be seen.

use serde_json::json;

use crate::session::Session;

/// The reason for the first of the elements that is not visible, in words that follow "but"; nothing
/// when one is visible after all.
const WHY: &str = "elements => {
  const parent = element => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null;
  const why = element => {
    if (element.localName === 'option' || element.localName === 'optgroup') return 'in a closed menu';
    for (let e = element; e; e = parent(e)) {
      const above = parent(e);
      if (above?.localName === 'details' && !above.open && e.localName !== 'summary') return 'in a closed menu';
      if (e.localName === 'dialog' && !e.open) return 'in a closed dialog';
      if (e.popover && !e.matches(':popover-open')) return 'in a closed menu';
      if (getComputedStyle(e).display === 'none' && /^(menu|listbox|tooltip)$/.test(e.getAttribute('role'))) return 'in a closed menu';
    }
    const style = getComputedStyle(element);
    if (!element.checkVisibility() || style.visibility !== 'visible') return 'hidden by CSS';
    const box = element.getBoundingClientRect();
    if (box.width === 0 || box.height === 0) return 'without any size';
    for (let e = element; e; e = parent(e)) if (e.getAttribute('aria-hidden') === 'true') return 'hidden from assistive technology by aria-hidden';
    for (let e = parent(element); e && e !== document.body; e = parent(e)) {
      const { overflowX, overflowY } = getComputedStyle(e);
      const outer = e.getBoundingClientRect();
      const beside = box.right <= outer.left || box.left >= outer.right;
      const above = box.bottom <= outer.top || box.top >= outer.bottom;
      if ((overflowX !== 'visible' && beside) || (overflowY !== 'visible' && above)) return 'scrolled out of sight';
    }
    return null;
  };
  return elements.length ? why(elements[0]) : null;
}";

/// Why what `selector` matches cannot be seen; `None` when it matches nothing, or what can be seen.
/// Roles are found whether assistive technology is told of them or not.
pub(crate) async fn why(session: &Session, selector: &str) -> Option<String> {
    let elements = session.page().ok()?.locator(with_hidden(selector));
    let why = elements.evaluate_all(WHY, Some(&json!(null))).await;
    why.ok().flatten()
}

fn with_hidden(selector: &str) -> String {
    const ROLE: &str = "internal:role=";
    let Some(role) = selector.strip_prefix(ROLE) else {
        return selector.to_owned();
    };
    let end = role
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(role.len());
    let (role, rest) = role.split_at(end);
    format!("{ROLE}{role}[include-hidden=true]{rest}")
}

#[cfg(test)]
mod tests {
    use super::with_hidden;

    #[test]
    fn only_roles_are_found_more_widely() {
        assert_eq!(
            with_hidden("internal:role=button[name=\"Buy\"s] >> nth=0"),
            "internal:role=button[include-hidden=true][name=\"Buy\"s] >> nth=0"
        );
        assert_eq!(with_hidden("css=#a"), "css=#a");
    }
}
