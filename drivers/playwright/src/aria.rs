//! A page's tree, and the compact list that people and agents read. Pure.

use packtrain_drivers::selector::quoted_label;
use packtrain_drivers::tree::WebNode;
use packtrain_drivers::{NodeDetail, NodeId, Rect, SnapshotRef, Tree, TreeBuilder};

use crate::locate::Candidate;
use crate::reading::{self, Place, Row};

/// Printed without a number, above what they hold.
const LANDMARKS: [&str; 11] = [
    "navigation",
    "main",
    "banner",
    "contentinfo",
    "complementary",
    "form",
    "dialog",
    "region",
    "list",
    "table",
    "iframe",
];

/// A page's tree and its list.
#[derive(Debug, Default)]
pub(crate) struct Aria {
    pub(crate) tree: Tree,
    /// One element a line: `[e1] button "Save"`.
    pub(crate) list: String,
    pub(crate) refs: Vec<ListedElement>,
    /// Where each node of the tree was read: its document, and its line there.
    lines: Vec<Option<(usize, usize)>>,
    documents: Vec<(Place, u32)>,
}

/// An element of the compact list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedElement {
    pub(crate) shown: SnapshotRef,
    /// Role and name as the list prints them.
    pub(crate) descriptor: String,
    pub(crate) node: NodeId,
    /// Whether the page itself holds it, and not a frame.
    pub(crate) is_on_page: bool,
}

impl Aria {
    /// Lines of documents, each with its document and its line there, and where the documents are.
    pub(crate) fn of(rows: Vec<(Row, usize, usize)>, documents: Vec<(Place, u32)>) -> Self {
        let mut builder = TreeBuilder::new();
        let mut lines = Vec::with_capacity(rows.len());
        let mut open: Vec<usize> = Vec::new();
        let mut landmarks: Vec<(usize, String, bool)> = Vec::new();
        let mut refs: Vec<ListedElement> = Vec::new();
        let mut list: Vec<String> = Vec::new();
        let mut places = 0;
        if rows.first().is_none_or(|(row, ..)| row.role != "document") {
            builder.open(None, NodeDetail::Web(Box::default()));
        }
        for (row, document, line) in rows {
            while open.last().is_some_and(|&depth| depth >= row.depth) {
                open.pop();
                builder.close();
            }
            landmarks.retain(|&(depth, ..)| depth < row.depth);
            let bounds = row.bounds();
            let descriptor = row.descriptor();
            // Without a number of its own an element has its place, and in a frame none.
            places += u32::from(row.number.is_some() && document == 0);
            let name = match row.number {
                Some(0) => (document == 0).then(|| format!("e{places}")),
                number => number.map(|number| format!("e{number}")),
            };
            let node = builder.open(bounds, NodeDetail::Web(Box::new(row.node(name.clone()))));
            open.push(row.depth);
            lines.push(Some((document, line)));
            if LANDMARKS.contains(&row.role.as_str()) {
                landmarks.push((row.depth, descriptor.clone(), row.unread.is_some()));
            }
            let printed = match (&row.unread, row.number) {
                (Some(why), _) => Some(format!("{descriptor} (cannot be read: {why})")),
                (None, Some(_)) => {
                    let number = name.as_ref().map(|name| format!("[{name}] "));
                    let number = number.unwrap_or_default();
                    Some(format!("{number}{descriptor}{}", row.states()))
                }
                (None, None) => (row.role == "text").then(|| descriptor.clone()),
            };
            if let Some(printed) = printed {
                for (depth, label, is_printed) in &mut landmarks {
                    if !std::mem::replace(is_printed, true) {
                        list.push(format!("{:1$}{label}:", "", indent(*depth)));
                    }
                }
                list.push(format!("{:1$}{printed}", "", indent(row.depth)));
            }
            let Some(name) = name else { continue };
            refs.push(ListedElement {
                shown: SnapshotRef {
                    name,
                    node: Some(node),
                    role: row.role.clone(),
                    label: row.label().unwrap_or_default().to_owned(),
                    bounds,
                },
                descriptor,
                node,
                is_on_page: document == 0,
            });
        }
        let list = if list.is_empty() {
            "(nothing to interact with or to read)".to_owned()
        } else {
            list.join("\n")
        };
        Self {
            tree: builder.finish(),
            list,
            refs,
            lines,
            documents,
        }
    }

    /// That element and no other, until the page is read again.
    pub(crate) fn candidate(&self, node: NodeId) -> Option<Candidate> {
        let NodeDetail::Web(web) = &self.tree.get(node)?.detail else {
            return None;
        };
        let (document, line) = (*self.lines.get(node.0 as usize)?)?;
        let (place, serial) = self.documents.get(document)?;
        let role = web.role.as_deref().unwrap_or_default();
        Some(Candidate {
            selector: reading::line(place, *serial, line),
            by: match &web.name {
                Some(name) => format!("role {role} {name:?}"),
                None => format!("role {role}"),
            },
        })
    }
}

/// The document's own line is not printed.
const fn indent(depth: usize) -> usize {
    2 * depth.saturating_sub(1)
}

impl Row {
    /// Name, or text.
    fn label(&self) -> Option<&str> {
        self.name.as_deref().or(self.text.as_deref())
    }

    fn descriptor(&self) -> String {
        match self.label() {
            Some(label) if self.role == "text" => format!("text: {label}"),
            Some(label) => format!("{} {}", self.role, quoted_label(label)),
            None => self.role.clone(),
        }
    }

    fn states(&self) -> String {
        let mut text: String = self.states.iter().map(|is| format!(" [{is}]")).collect();
        if let (Some(_), Some(value)) = (&self.name, &self.text) {
            text.push_str(&format!(": {value}"));
        }
        if let Some(css) = &self.css {
            text.push_str(&format!("  css={css}"));
        }
        text
    }

    fn bounds(&self) -> Option<Rect> {
        let [left, top, width, height] = self.area?;
        Some(Rect::new(left, top, left + width, top + height))
    }

    fn node(&self, reference: Option<String>) -> WebNode {
        let unread = self.unread.as_ref().map(|_| "unread".to_owned());
        WebNode {
            role: Some(self.role.clone()),
            name: self.label().map(str::to_owned),
            level: self.level,
            value: self.name.as_ref().and(self.text.clone()),
            reference,
            states: self.states.iter().cloned().chain(unread).collect(),
            ..WebNode::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as `depth role "name" [state]: text`, the listed ones with their number in front.
    fn aria(rows: &[(usize, Option<u32>, &str, &str, &str)]) -> Aria {
        let rows = rows
            .iter()
            .enumerate()
            .map(|(line, &(depth, number, role, name, text))| {
                let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
                let row = Row {
                    depth,
                    number,
                    role: role.to_owned(),
                    name: some(name),
                    text: some(text),
                    ..Row::default()
                };
                (row, usize::from(depth > 8), line)
            });
        Aria::of(
            rows.collect(),
            vec![(Place::default(), 3), (Place::default(), 4)],
        )
    }

    #[test]
    fn the_list_numbers_what_can_be_used_or_read() {
        let aria = aria(&[
            (0, None, "document", "", ""),
            (1, None, "banner", "", ""),
            (2, Some(1), "link", "Home", ""),
            (1, None, "main", "", ""),
            (2, Some(2), "heading", "Cart \"now\"", ""),
            (2, None, "list", "", ""),
            (3, Some(9), "listitem", "", "Apple"),
            (2, Some(4), "textbox", "Email", "me@example.com"),
            (2, None, "text", "Total 5", ""),
            (1, None, "iframe", "", ""),
            (9, Some(12), "button", "Pay", ""),
        ]);
        assert_eq!(
            aria.list,
            "banner:\n  [e1] link \"Home\"\nmain:\n  [e2] heading \"Cart \\\"now\\\"\"\n  list:\n    \
             [e9] listitem \"Apple\"\n  [e4] textbox \"Email\": me@example.com\n  text: Total 5\n\
             iframe:\n                [e12] button \"Pay\""
        );
        let on_page: Vec<_> = aria.refs.iter().map(|entry| entry.is_on_page).collect();
        assert_eq!(on_page, [true, true, true, true, false]);
    }

    #[test]
    fn a_line_is_found_again_in_its_document_and_its_reading() {
        let aria = aria(&[
            (0, None, "document", "", ""),
            (1, Some(1), "button", "Add", ""),
            (9, Some(2), "button", "Add", ""),
        ]);
        let selectors: Vec<_> = aria
            .refs
            .iter()
            .map(|listed| aria.candidate(listed.node).unwrap().selector)
            .collect();
        assert_eq!(selectors, ["packtrain=#3.1", "packtrain=#4.2"]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let frame = Row {
            depth: 1,
            role: "iframe".to_owned(),
            unread: Some("it does not answer".to_owned()),
            ..Row::default()
        };
        let document = Row {
            role: "document".to_owned(),
            ..Row::default()
        };
        let aria = Aria::of(
            vec![(document, 0, 0), (frame, 0, 1)],
            vec![(Place::default(), 1)],
        );
        assert_eq!(aria.list, "iframe (cannot be read: it does not answer)");
    }

    #[test]
    fn an_empty_page_is_said_to_be_empty() {
        assert!(aria(&[]).list.starts_with("(nothing"));
    }
}
