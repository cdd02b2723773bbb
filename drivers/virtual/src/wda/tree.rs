//! What XCTest sees of an app at one moment: elements in document order, with the raw facts the
//! accessibility framework has. What WebDriverAgent makes of these facts is in
//! [`super::attribute`]. Knows nothing of where the facts come from.

use super::element_type::ElementType;
use crate::geometry::Rect;
use crate::world::NodeKey;

/// An element's identity: the same as long as its app runs and shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ElementKey(pub u64);

/// One word each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags are XCTest's own attributes"
)]
pub(crate) struct Flags {
    pub(crate) enabled: bool,
    pub(crate) selected: bool,
    pub(crate) visible: bool,
    /// Whether a screen reader stops at it.
    pub(crate) accessibility_element: bool,
    pub(crate) keyboard_focus: bool,
    /// Whether its middle can be touched.
    pub(crate) hittable: bool,
}

/// The value of an element before WebDriverAgent looks at it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum RawValue {
    #[default]
    None,
    Text(String),
    Flag(bool),
}

/// One element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Element {
    pub(crate) key: ElementKey,
    /// The node of the world it shows; elements that only hold others have none.
    pub(crate) node: Option<NodeKey>,
    /// The element it stands in; `None` for the application.
    pub(crate) parent: Option<usize>,
    /// One past its last descendant.
    pub(crate) end: usize,
    /// Its place among its siblings.
    pub(crate) index: usize,
    pub(crate) kind: ElementType,
    pub(crate) identifier: String,
    pub(crate) label: String,
    pub(crate) value: RawValue,
    pub(crate) placeholder: Option<String>,
    pub(crate) frame: Rect,
    pub(crate) flags: Flags,
    pub(crate) traits: Vec<&'static str>,
}

impl Element {
    /// An element that can be seen and used and says nothing.
    pub(crate) fn new(key: ElementKey, kind: ElementType, frame: Rect) -> Self {
        Self {
            key,
            node: None,
            parent: None,
            end: 0,
            index: 0,
            kind,
            identifier: String::new(),
            label: String::new(),
            value: RawValue::None,
            placeholder: None,
            frame,
            flags: Flags {
                enabled: true,
                visible: !frame.is_empty(),
                ..Flags::default()
            },
            traits: Vec::new(),
        }
    }
}

/// An app's elements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ElementTree {
    pub(crate) bundle_id: String,
    pub(crate) pid: u32,
    elements: Vec<Element>,
    /// The elements still open, for building.
    open: Vec<usize>,
}

impl ElementTree {
    /// A tree with nothing but the application.
    pub(crate) fn new(bundle_id: &str, pid: u32, application: Element) -> Self {
        let mut tree = Self {
            bundle_id: bundle_id.to_owned(),
            pid,
            elements: Vec::new(),
            open: Vec::new(),
        };
        tree.open(application);
        tree
    }

    /// Starts an element inside the one that is open.
    pub(crate) fn open(&mut self, mut element: Element) -> usize {
        let at = self.elements.len();
        element.parent = self.open.last().copied();
        element.index = element
            .parent
            .map_or(0, |parent| self.children(parent).count());
        element.end = at + 1;
        self.elements.push(element);
        for &above in &self.open {
            self.elements[above].end = at + 1;
        }
        self.open.push(at);
        at
    }

    /// Ends the element opened last; the application stays open.
    pub(crate) fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
    }

    /// The element at a place, if there is one.
    pub(crate) fn get(&self, at: usize) -> Option<&Element> {
        self.elements.get(at)
    }

    /// Where an element is; nowhere when there is none.
    pub(crate) fn frame(&self, at: usize) -> Rect {
        self.get(at)
            .map(|element| element.frame)
            .unwrap_or_default()
    }

    /// Every element with its place, in document order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &Element)> {
        self.elements.iter().enumerate()
    }

    /// The places of `at` and everything in it, in document order.
    pub(crate) fn subtree(&self, at: usize) -> std::ops::Range<usize> {
        match self.get(at) {
            Some(element) => at..element.end,
            None => 0..0,
        }
    }

    /// The places of everything in `at`, without itself.
    pub(crate) fn descendants(&self, at: usize) -> std::ops::Range<usize> {
        let subtree = self.subtree(at);
        subtree.start.saturating_add(1).min(subtree.end)..subtree.end
    }

    /// The places of the children of `at`.
    pub(crate) fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let range = self.descendants(at);
        let mut next = range.start;
        std::iter::from_fn(move || {
            let child = (next < range.end).then_some(next)?;
            next = self.elements[child].end;
            Some(child)
        })
    }

    /// The places above `at`, nearest first.
    pub(crate) fn ancestors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.get(at).and_then(|element| element.parent), |&at| {
            self.get(at).and_then(|element| element.parent)
        })
    }

    /// Where the element with that key is now.
    pub(crate) fn find(&self, key: ElementKey) -> Option<usize> {
        self.elements.iter().position(|element| element.key == key)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A login form, a table of three rows and a bar: what the tests of the finders look at.
    pub(crate) fn form() -> ElementTree {
        let at = |y: f64, h: f64| Rect::new(24.0, y, 312.0, h);
        let mut key = 0;
        let mut make = |kind, id: &str, label: &str, frame| {
            key += 1;
            let mut element = Element::new(ElementKey(key), kind, frame);
            element.identifier = id.to_owned();
            element.label = label.to_owned();
            element.flags.accessibility_element = !label.is_empty() || kind.takes_text();
            element
        };
        let screen = Rect::new(0.0, 0.0, 390.0, 844.0);
        let app = make(ElementType::APPLICATION, "", "Shop", screen);
        let mut tree = ElementTree::new("com.example.shop", 4200, app);
        tree.root_mut().flags.accessibility_element = false;
        tree.open(make(ElementType::WINDOW, "", "", screen));
        tree.open(make(ElementType::OTHER, "", "", screen));
        let mut email = make(ElementType::TEXT_FIELD, "email", "", at(160.0, 48.0));
        email.placeholder = Some("Email".to_owned());
        tree.open(email);
        tree.close();
        let mut button = make(ElementType::BUTTON, "sign_in", "Sign in", at(300.5, 48.0));
        button.flags.selected = true;
        button.traits = vec!["Button", "Selected"];
        tree.open(button);
        tree.close();
        let mut switch = make(ElementType::SWITCH, "notify", "Notify", at(380.0, 31.0));
        switch.value = RawValue::Flag(true);
        tree.open(switch);
        tree.close();
        tree.open(make(ElementType::TABLE, "list", "", at(420.0, 300.0)));
        for (row, name) in ["One", "Two", "Three"].into_iter().enumerate() {
            let y = 420.0 + 72.0 * row as f64;
            tree.open(make(
                ElementType::CELL,
                &format!("c{}", row + 1),
                "",
                at(y, 72.0),
            ));
            tree.open(make(ElementType::STATIC_TEXT, "", name, at(y, 24.0)));
            tree.close();
            if name == "Two" {
                tree.open(make(
                    ElementType::BUTTON,
                    "buy",
                    "Buy 'now'",
                    at(y + 30.0, 40.0),
                ));
                tree.close();
            }
            tree.close();
        }
        tree
    }

    /// The rows of a table: what is looked for, an arrow, the names of what is found.
    pub(crate) fn rows(table: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
        table.trim().lines().map(|row| {
            let (query, names) = row.split_once(" ->").unwrap();
            let names = names.split(", ").map(str::trim);
            (query, names.filter(|name| !name.is_empty()).collect())
        })
    }

    impl ElementTree {
        fn root_mut(&mut self) -> &mut Element {
            &mut self.elements[0]
        }

        pub(crate) fn names(&self, places: &[usize]) -> Vec<String> {
            places
                .iter()
                .map(|&at| {
                    let element = &self.elements[at];
                    match (element.identifier.as_str(), element.label.as_str()) {
                        ("", "") => element.kind.short_name().to_owned(),
                        ("", label) => label.to_owned(),
                        (identifier, _) => identifier.to_owned(),
                    }
                })
                .collect()
        }
    }

    #[test]
    fn children_and_descendants_are_those_of_the_document() {
        let tree = form();
        let table = tree.find(ElementKey(7)).unwrap();
        assert_eq!(tree.names(&[table]), ["list"]);
        let children: Vec<_> = tree.children(table).collect();
        assert_eq!(tree.names(&children), ["c1", "c2", "c3"]);
        assert_eq!(tree.get(children[2]).unwrap().index, 2);
        let all: Vec<_> = tree.descendants(children[1]).collect();
        assert_eq!(tree.names(&all), ["Two", "buy"]);
        let above: Vec<_> = tree.ancestors(all[1]).collect();
        assert_eq!(
            tree.names(&above),
            ["c2", "list", "Other", "Window", "Shop"]
        );
        assert_eq!(tree.descendants(usize::MAX).count(), 0);
    }
}
