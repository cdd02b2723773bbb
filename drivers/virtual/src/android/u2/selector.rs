//! uiautomator2's selectors: which views they mean.

use regex::Regex;
use serde_json::Value;

use crate::android::tree::{Tree, View};

/// The deepest chain of children and siblings.
const MAX_CHAIN: usize = 16;

/// What a view must be like. The fields are those of the client's `Selector`.
#[derive(Debug, Clone, Default)]
pub(super) struct Selector {
    tests: Vec<Test>,
    index: Option<usize>,
    instance: Option<usize>,
    /// An object that was handed out.
    name: Option<String>,
    chain: Vec<(Axis, Selector)>,
    /// For error texts, as `UiSelector` shows itself.
    shown: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Child,
    Sibling,
}

type TextOf = fn(&View) -> &str;

#[derive(Debug, Clone)]
enum Test {
    Text(TextOf, Regex),
    Flag(String, bool),
}

/// A view of one of several trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ViewIndex {
    pub tree: usize,
    pub view: usize,
}

impl ViewIndex {
    /// The view.
    pub fn of(self, trees: &[Tree]) -> &View {
        &trees[self.tree].0[self.view]
    }
}

const FLAGS: &str = "checkable checked clickable longClickable scrollable enabled focusable \
                     focused selected";

/// The bits of `mask` in the order of the client's fields.
const MASK: &str = "text textContains textMatches textStartsWith className classNameMatches \
                    description descriptionContains descriptionMatches descriptionStartsWith \
                    checkable checked clickable longClickable scrollable enabled focusable \
                    focused selected packageName packageNameMatches resourceId \
                    resourceIdMatches index instance";

impl Selector {
    /// Reads a selector; `None` when it is none.
    pub fn of(value: &Value) -> Option<Self> {
        Self::nested(value, 0)
    }

    /// The views it means, in order, of those that can be seen.
    pub fn find(&self, trees: &[Tree]) -> Vec<ViewIndex> {
        let all = trees.iter().enumerate().flat_map(|(tree, Tree(views))| {
            (0..views.len()).map(move |view| ViewIndex { tree, view })
        });
        self.among(trees, &all.collect::<Vec<_>>())
    }

    /// As `UiSelector` shows itself in errors.
    pub fn shown(&self) -> String {
        format!("UiSelector[{}]", self.shown.join(", "))
    }

    fn nested(value: &Value, depth: usize) -> Option<Self> {
        if let Some(name) = value.as_str() {
            return Some(Self {
                name: Some(name.to_owned()),
                ..Self::default()
            });
        }
        let fields = value.as_object()?;
        let mask = fields.get("mask").and_then(Value::as_u64);
        let mut matcher = Self::default();
        for (bit, name) in MASK.split(' ').enumerate() {
            // Without a mask, what is there counts.
            let wanted = mask.is_none_or(|mask| mask & (1 << bit) != 0);
            let Some(value) = fields.get(name).filter(|v| wanted && !v.is_null()) else {
                continue;
            };
            matcher
                .shown
                .push(format!("{}={}", name.to_uppercase(), bare(value)));
            matcher.field(name, value)?;
        }
        let list = |name: &str| value[name].as_array().into_iter().flatten();
        for (step, selector) in list("childOrSibling").zip(list("childOrSiblingSelector")) {
            if depth >= MAX_CHAIN || matcher.chain.len() >= MAX_CHAIN {
                return None;
            }
            let step = match step.as_str()? {
                "child" => Axis::Child,
                _ => Axis::Sibling,
            };
            let next = Self::nested(selector, depth + 1)?;
            matcher
                .shown
                .push(format!("{step:?}[{}]", next.shown.join(", ")));
            matcher.chain.push((step, next));
        }
        Some(matcher)
    }

    fn field(&mut self, name: &str, value: &Value) -> Option<()> {
        match name {
            _ if FLAGS.split(' ').any(|flag| flag == name) => {
                let wanted = value.as_bool()?;
                self.tests.push(Test::Flag(name.to_owned(), wanted));
            }
            "index" => self.index = Some(usize::try_from(value.as_u64()?).ok()?),
            "instance" => self.instance = Some(usize::try_from(value.as_u64()?).ok()?),
            _ => {
                let (text, (field, how)) = (value.as_str()?, split(name)?);
                let escaped = regex::escape(text);
                let pattern = match how {
                    "Contains" => escaped,
                    "StartsWith" => format!("^{escaped}"),
                    // Java matches the whole text, and `.` no line end.
                    "Matches" => format!("^(?:{text})$"),
                    _ => format!("^{escaped}$"),
                };
                let pattern = Regex::new(&pattern).ok()?;
                self.tests.push(Test::Text(field, pattern));
            }
        }
        Some(())
    }

    fn among(&self, trees: &[Tree], among: &[ViewIndex]) -> Vec<ViewIndex> {
        let fits = |index: &&ViewIndex| {
            let view = index.of(trees);
            let name = self.name.as_ref();
            name.is_none_or(|name| view.key.0.to_string() == *name)
                && self.index.is_none_or(|index| view.index == index)
                && self.tests.iter().all(|test| test.holds(view))
        };
        let mut found: Vec<ViewIndex> = among.iter().filter(fits).copied().collect();
        if let Some(instance) = self.instance {
            found = found.get(instance).copied().into_iter().collect();
        }
        for (step, next) in &self.chain {
            let mut among = Vec::new();
            for at in &found {
                let tree = &trees[at.tree];
                let root = match step {
                    Axis::Child => Some(at.view),
                    Axis::Sibling => tree.0[at.view].parent,
                };
                // Below it, without itself.
                among.extend(root.into_iter().flat_map(|root| {
                    let below = tree.below(root).into_iter();
                    let below = below.filter(move |view| *view != root);
                    below.map(|view| ViewIndex { view, ..*at })
                }));
            }
            let mut seen = std::collections::HashSet::new();
            among.retain(|index| seen.insert(*index));
            found = next.among(trees, &among);
        }
        found
    }
}

/// `textContains` is the field `text` and how it is compared.
fn split(name: &str) -> Option<(TextOf, &str)> {
    let fields: [(&str, TextOf); 5] = [
        ("className", |view| view.class),
        ("description", |view| &view.description),
        ("packageName", |view| &view.package),
        ("resourceId", |view| &view.resource),
        ("text", |view| &view.text),
    ];
    fields
        .into_iter()
        .find_map(|(prefix, field)| Some((field, name.strip_prefix(prefix)?)))
}

fn bare(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

impl Test {
    fn holds(&self, view: &View) -> bool {
        match self {
            Self::Text(text, pattern) => pattern.is_match(text(view)),
            Self::Flag(name, wanted) => {
                let flags = &view.flags;
                let is = match name.as_str() {
                    "checkable" => flags.checkable,
                    "checked" => flags.checked,
                    "clickable" => flags.clickable,
                    "longClickable" => flags.long_clickable,
                    "scrollable" => flags.scrollable,
                    "enabled" => flags.enabled,
                    "focusable" => flags.focusable,
                    "focused" => flags.focused,
                    _ => flags.selected,
                };
                is == *wanted
            }
        }
    }
}
