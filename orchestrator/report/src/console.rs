//! What the terminal shows of a run, as text: a line for each event, the grid, the problems and
//! the summary at the end. Nothing here prints; colour is asked for and never carries meaning.

mod blocks;
mod closing;
mod grid;
mod lines;
mod paint;

pub use blocks::{ReportLink, summary};
pub use closing::MANY_TRAILS;
pub use grid::{MOST_DEVICES, grid};
pub use lines::{Detail, EventLines, Timestamps};

/// How text is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Whether to use ANSI colours.
    pub color: bool,
    /// How many columns there are.
    pub width: usize,
}

impl Default for Layout {
    /// Plain and 100 columns wide: for a file or a pipe.
    fn default() -> Self {
        Self {
            color: false,
            width: 100,
        }
    }
}
