//! One element of a dump.

use packtrain_drivers::Rect;
use packtrain_drivers::tree::AndroidNode;
use quick_xml::escape::unescape;
use quick_xml::events::BytesStart;

/// The longest text of an element that is kept, in bytes: a reader sees 120 characters.
const MAX_TEXT: usize = 64 * 1024;

/// An element, its depth below its window, and where it is.
#[derive(Debug, Clone)]
pub(super) struct ParsedNode {
    pub(super) depth: usize,
    pub(super) bounds: Option<Rect>,
    pub(super) node: AndroidNode,
}

/// An element's attributes.
#[derive(Debug, Default)]
pub(super) struct Fields {
    node: AndroidNode,
    bounds: Option<Rect>,
    is_hidden: bool,
}

impl Fields {
    /// Reads the attributes; unknown ones are passed over.
    pub(super) fn of(tag: &BytesStart<'_>) -> Result<Self, String> {
        let mut fields = Self {
            node: AndroidNode {
                is_visible: true,
                ..AndroidNode::default()
            },
            ..Self::default()
        };
        // Names are not checked: a device may repeat one, the last one is used.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let raw = String::from_utf8_lossy(&attribute.value);
            fields.set(attribute.key.as_ref(), &raw);
        }
        fields.complete();
        Ok(fields)
    }

    fn set(&mut self, name: &[u8], raw: &str) {
        let node = &mut self.node;
        let is_true = raw == "true";
        match name {
            b"text" => node.text = text(raw),
            b"hint" => node.hint_text = text(raw),
            b"content-desc" => node.content_description = text(raw),
            b"resource-id" => node.resource_id = text(raw),
            b"class" => node.class_name = text(raw),
            b"package" => node.package = text(raw),
            b"checkable" => node.is_checkable = is_true,
            b"checked" => node.is_checked = is_true,
            b"clickable" => node.is_clickable = is_true,
            b"enabled" => node.is_enabled = is_true,
            b"focusable" => node.is_focusable = is_true,
            b"focused" => node.is_focused = is_true,
            b"scrollable" => node.is_scrollable = is_true,
            b"long-clickable" => node.is_long_clickable = is_true,
            b"password" => node.is_password = is_true,
            b"selected" => node.is_selected = is_true,
            b"editable" => node.is_editable = is_true,
            b"bounds" => self.bounds = bounds(raw),
            b"visible-to-user" => self.is_hidden |= raw == "false",
            // Another display is another screen.
            b"display-id" => self.is_hidden |= !matches!(raw, "0" | "-1" | ""),
            _ => {}
        }
    }

    /// Draws the conclusions a dump leaves to its reader.
    fn complete(&mut self) {
        let node = &mut self.node;
        let class = node.class_name.as_deref().unwrap_or("");
        // A dump does not say it; everything that takes text is one of these.
        node.is_editable |= class.ends_with("EditText")
            || class.ends_with("AutoCompleteTextView")
            || class.ends_with("SearchAutoComplete");
        // An empty field says its hint where its text would be.
        if node.is_editable && node.hint_text.is_some() && node.text == node.hint_text {
            node.text = None;
        }
        // What is scrolled out of sight has no area.
        node.is_visible = self.bounds.is_none_or(|bounds| !bounds.is_empty());
    }

    /// Whether the element and all below it are left out.
    pub(super) const fn is_hidden(&self) -> bool {
        self.is_hidden
    }

    pub(super) fn into_node(self, depth: usize) -> ParsedNode {
        ParsedNode {
            depth,
            bounds: self.bounds,
            node: self.node,
        }
    }
}

/// A value; `None` when it is empty. Entities that XML does not define stay as they are.
fn text(raw: &str) -> Option<String> {
    if raw.is_empty() {
        return None;
    }
    let cut = match raw.char_indices().find(|(at, _)| *at >= MAX_TEXT) {
        Some((at, _)) => &raw[..at],
        None => raw,
    };
    Some(unescape(cut).map_or_else(|_| cut.to_owned(), std::borrow::Cow::into_owned))
}

/// `[left,top][right,bottom]`
fn bounds(raw: &str) -> Option<Rect> {
    let mut numbers = raw
        .split(['[', ']', ','])
        .filter(|part| !part.is_empty())
        .map(str::parse::<i32>);
    let mut next = || numbers.next()?.ok().map(f64::from);
    let rect = Rect::new(next()?, next()?, next()?, next()?);
    Some(rect)
}
