//! From the XML of a window dump to a tree.
//!
//! Reads what `uiautomator dump` prints and what its relatives add: `hint`, `visible-to-user`,
//! `display-id`. The text comes from a device and is not trusted: sizes are bounded, nothing is
//! expanded, and other output is distinguished from a screen.

mod node;

use packtrain_drivers::{NodeDetail, Rect, Size, Tree, TreeBuilder};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use node::{Fields, ParsedNode};

/// The longest dump that is read. Heavy screens have 200 KB.
pub(crate) const MAX_DUMP: usize = 16 * 1024 * 1024;
/// The most elements.
const MAX_NODES: usize = 50_000;
/// The deepest nesting.
const MAX_DEPTH: usize = 500;
/// A window of the system's own interface that covers less than this part of the screen is a bar.
const BAR: f64 = 0.5;
/// The package of status bar, navigation bar and notification shade.
const SYSTEM_UI: &str = "com.android.systemui";

/// A screen as a dump tells it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dump {
    /// Windows side by side, the largest first.
    pub(crate) tree: Tree,
    /// Quarter turns from the device's natural position.
    pub(crate) rotation: u8,
}

/// Why a text is not a screen. All of them may pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DumpFault {
    /// The screen did not come to rest: `uiautomator` wants a second without events.
    #[error("the screen did not come to rest")]
    NotIdle,
    /// No window had the focus, as between two screens.
    #[error("no window was active")]
    NoRoot,
    /// Nothing in it.
    #[error("the dump was empty")]
    Empty,
    /// It breaks off or is not XML.
    #[error("the dump was cut short: {0}")]
    Broken(String),
    /// The tool was killed: another client uses the device's UI automation.
    #[error("`uiautomator` was killed")]
    Killed,
    /// Something else, in the device's words.
    #[error("the device said: {0}")]
    Said(String),
}

/// What is left out of a dump.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leave<'a> {
    /// The keyboard's package. Keys are pressed by name, and the plain dump has none of them.
    pub(crate) keyboard: Option<&'a str>,
    /// The screen in its natural position, in pixels.
    pub(crate) screen: Size,
}

/// Reads a dump.
///
/// # Errors
/// [`DumpFault`]; never panics, whatever the device sends.
pub(crate) fn parse(text: &str, leave: Leave<'_>) -> Result<Dump, DumpFault> {
    let Some(start) = text.find("<hierarchy") else {
        return Err(what_else(text));
    };
    let text = &text[start..];
    // The tool's own message follows on the same line.
    let end = match text.rfind("</hierarchy>") {
        Some(at) => at + "</hierarchy>".len(),
        // `<hierarchy rotation="0" />`: nothing in it.
        None if text.starts_with("<hierarchy") && is_closed_at_once(text) => {
            return Err(DumpFault::Empty);
        }
        None => return Err(DumpFault::Broken("it is cut short".to_owned())),
    };
    let mut windows = Windows::default();
    windows.read(&text[..end])?;
    windows.finish(leave)
}

fn is_closed_at_once(text: &str) -> bool {
    text.find('>')
        .is_some_and(|at| text[..at].trim_end().ends_with('/'))
}

/// What a text without a hierarchy says.
fn what_else(text: &str) -> DumpFault {
    let text = text.trim();
    if text.contains("could not get idle state") {
        DumpFault::NotIdle
    } else if text.contains("null root node") {
        DumpFault::NoRoot
    } else if text == "Killed" || text.ends_with("\nKilled") {
        DumpFault::Killed
    } else if text.is_empty() {
        DumpFault::Empty
    } else if text.starts_with("<?xml") {
        DumpFault::Broken("it has no hierarchy".to_owned())
    } else {
        DumpFault::Said(text.chars().take(200).collect())
    }
}

/// What has been read so far.
#[derive(Default)]
struct Windows {
    rotation: u8,
    windows: Vec<Vec<ParsedNode>>,
    count: usize,
    depth: usize,
    /// Elements at this depth and below are left out.
    hidden_below: Option<usize>,
}

impl Windows {
    fn read(&mut self, text: &str) -> Result<(), DumpFault> {
        let mut reader = Reader::from_str(text);
        loop {
            let event = reader.read_event().map_err(broken)?;
            match event {
                Event::Start(tag) if tag.name().as_ref() == b"hierarchy" => self.hierarchy(&tag),
                Event::Empty(tag) if tag.name().as_ref() == b"hierarchy" => self.hierarchy(&tag),
                Event::Start(tag) => {
                    self.open(&tag)?;
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        return Err(DumpFault::Broken("it is nested too deeply".to_owned()));
                    }
                }
                Event::Empty(tag) => {
                    self.open(&tag)?;
                    self.close();
                }
                Event::End(tag) if tag.name().as_ref() == b"hierarchy" => {}
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    self.close();
                }
                Event::Eof => return Ok(()),
                // Text between elements is indentation; declarations and comments say nothing.
                _ => {}
            }
        }
    }

    fn hierarchy(&mut self, tag: &BytesStart<'_>) {
        let rotation = tag.try_get_attribute("rotation").ok().flatten();
        let digit = rotation.and_then(|rotation| rotation.value.first().copied());
        self.rotation = digit.map_or(0, |digit| digit.wrapping_sub(b'0') % 4);
    }

    fn open(&mut self, tag: &BytesStart<'_>) -> Result<(), DumpFault> {
        if self.hidden_below.is_some() {
            return Ok(());
        }
        let fields = Fields::of(tag).map_err(DumpFault::Broken)?;
        if fields.is_hidden() {
            self.hidden_below = Some(self.depth);
            return Ok(());
        }
        self.count += 1;
        if self.count > MAX_NODES {
            return Err(DumpFault::Broken("it has too many elements".to_owned()));
        }
        let node = fields.into_node(self.depth);
        match self.windows.last_mut() {
            Some(window) if self.depth > 0 => window.push(node),
            _ => self.windows.push(vec![node]),
        }
        Ok(())
    }

    fn close(&mut self) {
        if self.hidden_below == Some(self.depth) {
            self.hidden_below = None;
        }
    }

    fn finish(self, leave: Leave<'_>) -> Result<Dump, DumpFault> {
        let rotation = self.rotation;
        let mut windows = self.windows;
        let screen = leave.screen.width * leave.screen.height;
        let shows_app = windows
            .iter()
            .filter_map(|window| window.first())
            .any(|root| !root.is_of(SYSTEM_UI));
        windows.retain(|window| {
            window.first().is_some_and(|root| {
                let is_keyboard = leave.keyboard.is_some_and(|package| root.is_of(package));
                let is_bar = shows_app && root.is_of(SYSTEM_UI) && root.area() < screen * BAR;
                !is_keyboard && !is_bar
            })
        });
        if windows.is_empty() {
            return Err(DumpFault::Empty);
        }
        // A dump of all windows has them in no order; the same screen must read the same.
        windows.sort_by(|a, b| match (a.first(), b.first()) {
            (Some(a), Some(b)) => b
                .area()
                .total_cmp(&a.area())
                .then_with(|| a.node.package.cmp(&b.node.package)),
            _ => std::cmp::Ordering::Equal,
        });
        let mut tree = TreeBuilder::new();
        for node in windows.into_iter().flatten() {
            while tree.depth() > node.depth {
                tree.close();
            }
            tree.open(node.bounds, NodeDetail::Android(Box::new(node.node)));
        }
        Ok(Dump {
            tree: tree.finish(),
            rotation,
        })
    }
}

impl ParsedNode {
    fn is_of(&self, package: &str) -> bool {
        self.node.package.as_deref() == Some(package)
    }

    fn area(&self) -> f64 {
        self.bounds
            .map_or(0.0, |bounds: Rect| bounds.width() * bounds.height())
    }
}

fn broken(error: impl std::fmt::Display) -> DumpFault {
    DumpFault::Broken(error.to_string())
}

#[cfg(test)]
mod tests;
