//! Playwright's ARIA snapshot, read into a tree and the compact list that people and agents read.
//! Pure.
//!
//! The text form is that of `ariaSnapshot`: one `- role "name" [attribute]: text` a line, children
//! indented by two.

use std::collections::HashMap;

use packtrain_drivers::selector::{is_role, quoted_label};
use packtrain_drivers::tree::WebNode;
use packtrain_drivers::{NodeDetail, NodeId, Rect, SnapshotRef, TextMatch, Tree, TreeBuilder};

use crate::locate::{self, Candidate};

/// Always listed.
const INTERACTIVE: [&str; 13] = [
    "button",
    "link",
    "textbox",
    "combobox",
    "searchbox",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "menuitem",
    "option",
    "slider",
    "spinbutton",
];
/// Printed without a number, above what they hold.
const LANDMARKS: [&str; 10] = [
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
];
/// Never listed, whatever their name.
const STRUCTURAL: [&str; 3] = ["generic", "none", "presentation"];

/// Lines read at most; a page with more is cut, and the list says so.
const LINES: usize = 20_000;

/// A snapshot, read.
#[derive(Debug, Default)]
pub(crate) struct Aria {
    pub(crate) tree: Tree,
    /// One element a line: `[e1] button "Save"`.
    pub(crate) list: String,
    pub(crate) refs: Vec<ListedElement>,
    /// One for each node of the tree.
    places: Vec<Occurrence>,
}

/// Where an element stands among those like it, from 0.
#[derive(Debug, Clone, Copy)]
enum Occurrence {
    /// Among those of the same role and name.
    Named(u32),
    /// Among all of its role. What it is called is its text, and roles are not found by text.
    OfRole(u32),
}

impl Aria {
    /// That element and no other, as long as the page stays as it was read.
    pub(crate) fn candidate(&self, node: NodeId) -> Option<Candidate> {
        let NodeDetail::Web(web) = &self.tree.get(node)?.detail else {
            return None;
        };
        let role = web.role.as_deref()?;
        let (all, nth) = match *self.places.get(node.0 as usize)? {
            Occurrence::Named(nth) if role == "text" => {
                let text = web.name.as_deref()?;
                (locate::by_text(text, TextMatch::Exact), nth)
            }
            Occurrence::Named(nth) => (locate::by_role(role, web.name.as_deref()?), nth),
            Occurrence::OfRole(nth) => (locate::of_role(role), nth),
        };
        Some(locate::nth_of(all, nth))
    }
}

/// An element of the compact list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListedElement {
    pub(crate) shown: SnapshotRef,
    /// Role and name as the list prints them.
    pub(crate) descriptor: String,
    pub(crate) node: NodeId,
}

/// One line of the snapshot.
#[derive(Debug, Default, PartialEq)]
struct Line {
    indent: usize,
    role: String,
    name: Option<String>,
    /// Text behind the colon.
    text: Option<String>,
    attributes: Vec<(String, Option<String>)>,
}

/// Reads a snapshot.
pub(crate) fn read(yaml: &str) -> Aria {
    let mut builder = TreeBuilder::new();
    builder.open(
        None,
        NodeDetail::Web(Box::new(WebNode {
            role: Some("document".into()),
            ..WebNode::default()
        })),
    );
    let mut open: Vec<usize> = Vec::new();
    let mut landmarks: Vec<(usize, String, bool)> = Vec::new();
    let mut places = vec![Occurrence::OfRole(0)];
    let mut seen = HashMap::<String, u32>::new();
    let mut refs: Vec<ListedElement> = Vec::new();
    let mut list: Vec<String> = Vec::new();
    for (number, text) in yaml.lines().enumerate() {
        if number == LINES {
            list.push("(more, cut)".to_owned());
            break;
        }
        let Some(line) = parse(text) else { continue };
        while open.last().is_some_and(|&indent| indent >= line.indent) {
            open.pop();
            builder.close();
        }
        landmarks.retain(|&(indent, ..)| indent < line.indent);
        let descriptor = line.descriptor();
        let bounds = line.bounds();
        let listed = line.is_listed();
        if line.role == "text" {
            list.push(format!("{:indent$}{descriptor}", "", indent = line.indent));
        }
        let reference = listed.then(|| format!("e{}", refs.len() + 1));
        let node = builder.open(
            bounds,
            NodeDetail::Web(Box::new(line.node(reference.clone()))),
        );
        open.push(line.indent);
        places.push(line.place(&mut seen));
        if LANDMARKS.contains(&line.role.as_str()) {
            landmarks.push((line.indent, descriptor.clone(), false));
        }
        if let Some(name) = reference {
            for (indent, label, printed) in &mut landmarks {
                if !std::mem::replace(printed, true) {
                    list.push(format!("{:indent$}{label}:", "", indent = *indent));
                }
            }
            let states = line.states();
            list.push(format!(
                "{:indent$}[{name}] {descriptor}{states}",
                "",
                indent = line.indent
            ));
            refs.push(ListedElement {
                shown: SnapshotRef {
                    name,
                    node: Some(node),
                    role: line.role.clone(),
                    label: line.label().unwrap_or_default().to_owned(),
                    bounds,
                },
                descriptor,
                node,
            });
        }
    }
    let list = if list.is_empty() {
        "(nothing to interact with or to read)".to_owned()
    } else {
        list.join("\n")
    };
    Aria {
        tree: builder.finish(),
        list,
        refs,
        places,
    }
}

/// The snapshot of a body as it is within that of its document; `None` for one that is written into the
/// document's own line.
pub(crate) fn in_document(body: &str, root: Rect) -> Option<String> {
    let mut tops = body.lines().filter(|line| line.starts_with("- "));
    let first = tops.next();
    if tops.next().is_none() && first.is_none_or(|line| line.starts_with("- text")) {
        return None;
    }
    let (width, height) = (root.right - root.left, root.bottom - root.top);
    let mut whole = format!(
        "- document [box={},{},{width},{height}]:\n",
        root.left, root.top
    );
    for line in body.lines() {
        whole.push_str("  ");
        whole.push_str(line);
        whole.push('\n');
    }
    Some(whole)
}

impl Line {
    /// Name, or the text behind the colon.
    fn label(&self) -> Option<&str> {
        self.name.as_deref().or(self.text.as_deref())
    }

    /// Its place among those before it, which it joins.
    fn place(&self, seen: &mut HashMap<String, u32>) -> Occurrence {
        let mut next = |key: String| {
            let count = seen.entry(key).or_default();
            *count += 1;
            *count - 1
        };
        let of_role = next(self.role.clone());
        match self.label() {
            Some(label) if self.name.is_some() || self.role == "text" => {
                Occurrence::Named(next(format!("{} {label}", self.role)))
            }
            _ => Occurrence::OfRole(of_role),
        }
    }

    fn descriptor(&self) -> String {
        match self.label() {
            Some(label) if self.role == "text" => format!("text: {label}"),
            Some(label) => format!("{} {}", self.role, quoted_label(label)),
            None => self.role.clone(),
        }
    }

    /// The rule decides what `e4` means in files that were recorded with such numbers: everything
    /// interactive, and everything of a known role that has a name. Bare texts have no role.
    fn is_listed(&self) -> bool {
        let role = self.role.as_str();
        INTERACTIVE.contains(&role)
            || (self.label().is_some() && is_role(role) && !STRUCTURAL.contains(&role))
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(key, _)| key == name)
            .and_then(|(_, value)| value.as_deref())
    }

    fn states(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.attributes {
            match value {
                None => text.push_str(&format!(" [{key}]")),
                Some(value) if key != "level" && key != "box" && key != "ref" => {
                    text.push_str(&format!(" [{key}={value}]"));
                }
                Some(_) => {}
            }
        }
        if let (Some(_), Some(value)) = (&self.name, &self.text) {
            text.push_str(&format!(": {value}"));
        }
        text
    }

    /// `[box=x,y,width,height]`.
    fn bounds(&self) -> Option<Rect> {
        let mut parts = self.attribute("box")?.split(',').map(str::parse::<f64>);
        let (Ok(x), Ok(y), Ok(width), Ok(height)) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?)
        else {
            return None;
        };
        Some(Rect::new(x, y, x + width, y + height))
    }

    fn node(&self, reference: Option<String>) -> WebNode {
        WebNode {
            role: Some(self.role.clone()),
            name: self.label().map(str::to_owned),
            level: self.attribute("level").and_then(|level| level.parse().ok()),
            value: self.name.as_ref().and(self.text.clone()),
            reference,
            states: self
                .attributes
                .iter()
                .filter(|(key, _)| !["level", "box", "ref"].contains(&key.as_str()))
                .map(|(key, value)| match value {
                    Some(value) => format!("{key}={value}"),
                    None => key.clone(),
                })
                .collect(),
            ..WebNode::default()
        }
    }
}

/// One line; `None` when it holds no element (a property such as `/url: ...`).
fn parse(text: &str) -> Option<Line> {
    let content = text.trim_start_matches(' ');
    let indent = text.len() - content.len();
    let content = content.strip_prefix("- ")?;
    if content.starts_with('/') {
        return None;
    }
    // A key that holds special characters is quoted as a whole: `- 'button "a: b"':`.
    if let Some(rest) = content.strip_prefix('\'') {
        let (key, rest) = single_quoted(rest)?;
        return Some(head(&key, indent, rest.strip_prefix(':')));
    }
    let (key, rest) = split_key(content);
    Some(head(key, indent, rest))
}

/// Where the key ends: at the first `:` outside quotes that ends the line or comes before a blank.
fn split_key(content: &str) -> (&str, Option<&str>) {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in content.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ':' if !quoted => {
                let rest = &content[at + 1..];
                if rest.is_empty() || rest.starts_with(' ') {
                    return (&content[..at], Some(rest));
                }
            }
            _ => {}
        }
    }
    (content, None)
}

fn head(key: &str, indent: usize, rest: Option<&str>) -> Line {
    let mut line = Line {
        indent,
        text: rest
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(scalar),
        ..Line::default()
    };
    let role_end = key.find(' ').unwrap_or(key.len());
    line.role = key[..role_end].to_owned();
    let mut rest = key[role_end..].trim_start();
    if let Some(quoted) = rest.strip_prefix('"') {
        let (name, behind) = double_quoted(quoted);
        line.name = Some(name);
        rest = behind.trim_start();
    } else if rest.starts_with('/') {
        // A name given as a pattern; snapshots of live pages do not have it.
        rest = "";
    }
    while let Some(attribute) = rest.strip_prefix('[') {
        let Some((inside, behind)) = attribute.split_once(']') else {
            break;
        };
        line.attributes.push(match inside.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (inside.to_owned(), None),
        });
        rest = behind.trim_start();
    }
    line
}

fn scalar(text: &str) -> String {
    match text.strip_prefix('"') {
        Some(quoted) => double_quoted(quoted).0,
        None => match text.strip_prefix('\'').and_then(single_quoted) {
            Some((inner, _)) => inner,
            None => text.to_owned(),
        },
    }
}

/// Reads up to the closing `"`; what is behind it comes back too.
fn double_quoted(text: &str) -> (String, &str) {
    let mut inner = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (inner, &text[at + 1..]),
            '\\' => match chars.next() {
                Some((_, 'n')) => inner.push('\n'),
                Some((_, 't')) => inner.push('\t'),
                Some((_, other)) => inner.push(other),
                None => break,
            },
            other => inner.push(other),
        }
    }
    (inner, "")
}

/// Reads up to the closing `'`, `''` being one quote.
fn single_quoted(text: &str) -> Option<(String, &str)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            inner.push(c);
        } else if chars.peek().is_some_and(|&(_, next)| next == '\'') {
            inner.push('\'');
            chars.next();
        } else {
            return Some((inner, &text[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"- banner:
  - link "Home":
    - /url: /
- main:
  - heading "Cart \"now\"" [level=1]
  - list:
    - listitem: Apple
    - listitem:
      - button "Add"
    - listitem:
      - button "Add" [disabled]
  - 'checkbox "a: b" [checked]'
  - textbox "Email" [box=10,20,100,30]: me@example.com
  - text: Total 5
"#;

    #[test]
    fn the_list_numbers_what_can_be_used_or_read() {
        let aria = read(PAGE);
        assert_eq!(
            aria.list,
            "banner:\n  [e1] link \"Home\"\nmain:\n  [e2] heading \"Cart \\\"now\\\"\"\n  list:\n    \
             [e3] listitem \"Apple\"\n      [e4] button \"Add\"\n      [e5] button \"Add\" [disabled]\n  \
             [e6] checkbox \"a: b\" [checked]\n  [e7] textbox \"Email\": me@example.com\n  \
             text: Total 5"
        );
    }

    #[test]
    fn elements_are_found_again_by_role_name_and_place() {
        let aria = read(PAGE);
        let selectors: Vec<_> = aria.refs[2..5]
            .iter()
            .map(|listed| aria.candidate(listed.node).unwrap().selector)
            .collect();
        assert_eq!(
            selectors,
            [
                "internal:role=listitem >> nth=0",
                "internal:role=button[name=\"Add\"s] >> nth=0",
                "internal:role=button[name=\"Add\"s] >> nth=1",
            ]
        );
    }

    #[test]
    fn boxes_become_bounds() {
        let aria = read(PAGE);
        assert_eq!(
            aria.refs[6].shown.bounds,
            Some(Rect::new(10.0, 20.0, 110.0, 50.0))
        );
    }

    #[test]
    fn no_text_makes_it_panic() {
        for text in [
            "- ",
            "- '",
            "- \"",
            "- button \"",
            "- a [",
            "-",
            "- :",
            "- 'x' y",
            "- é \"ü\\",
        ] {
            read(text);
        }
    }

    #[test]
    fn an_empty_page_is_said_to_be_empty() {
        assert!(read("").list.starts_with("(nothing"));
    }
}
