//! How much a run says while it goes on, and what it leaves for the CI.

use std::path::PathBuf;

use clap::Args;
use packtrain_report::console::Detail;

use crate::reports::Copies;

/// What a run shows and leaves.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct Shown {
    /// Show only failures and the summary
    #[arg(short, long, conflicts_with = "lines")]
    pub(crate) quiet: bool,

    /// A line for each session, step or tool call [default without a terminal: steps]
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) lines: Option<LinesArg>,

    /// Write a summary in Markdown here
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: Option<PathBuf>,

    /// Embed every screenshot in the HTML report, regardless of size
    #[arg(long)]
    pub(crate) single_file: bool,

    /// Serve the report on this computer during the run
    #[arg(long)]
    pub(crate) live: bool,

    /// Open the report at the end, or with --live at the start
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum LinesArg {
    /// Sessions as they end.
    Sessions,
    /// Also steps.
    Steps,
    /// Also tool calls.
    Tools,
}

impl Shown {
    /// What lines there shall be; `None` when a terminal may be drawn on instead.
    pub(super) const fn detail(&self) -> Option<Detail> {
        match (self.quiet, self.lines) {
            (true, _) => Some(Detail::Failures),
            (false, Some(LinesArg::Sessions)) => Some(Detail::Ends),
            (false, Some(LinesArg::Steps)) => Some(Detail::Steps),
            (false, Some(LinesArg::Tools)) => Some(Detail::Tools),
            (false, None) => None,
        }
    }

    /// What is written for the CI too, beside what else was asked for.
    pub(crate) fn copies(&self, more: Copies) -> Copies {
        Copies {
            summary: self.summary.clone(),
            single_file: self.single_file,
            for_ci: true,
            ..more
        }
    }
}
