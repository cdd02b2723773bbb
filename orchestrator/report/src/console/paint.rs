//! ANSI colours, where they are wanted.

use crate::console::Layout;
use crate::mark::Mark;

const RESET: &str = "\x1b[0m";

impl Layout {
    /// A text in the colour of a mark.
    pub(super) fn mark(self, mark: Mark, text: &str) -> String {
        self.paint(
            match mark {
                Mark::Failed => "\x1b[1;31m",
                Mark::Infrastructure => "\x1b[1;33m",
                Mark::NeedsAgent => "\x1b[1;35m",
                Mark::Flaky => "\x1b[33m",
                Mark::Passed => "\x1b[32m",
                Mark::Unfinished | Mark::Cancelled | Mark::NotRun | Mark::Skipped => "\x1b[2m",
            },
            text,
        )
    }

    /// A sign in its colour.
    pub(super) fn sign(self, mark: Mark) -> String {
        self.mark(mark, mark.sign())
    }

    pub(super) fn bold(self, text: &str) -> String {
        self.paint("\x1b[1m", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.paint("\x1b[2m", text)
    }

    fn paint(self, start: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("{start}{text}{RESET}")
        } else {
            text.to_owned()
        }
    }
}

/// A text filled up with spaces to a number of characters. Filling comes before painting: a
/// colour has a length and no width.
pub(super) fn pad(text: &str, width: usize) -> String {
    let fill = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(fill))
}
