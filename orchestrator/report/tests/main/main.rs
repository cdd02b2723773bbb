//! What the reports promise, told with made-up runs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cells;
mod console;
mod golden;
mod headlines;
mod hostile;
mod html;
mod machine;

#[path = "../../examples/sample/matrix.rs"]
mod matrix;
#[path = "../../examples/sample/picture.rs"]
mod picture;
#[path = "../../examples/sample/run.rs"]
mod run;
#[path = "../../examples/sample/scenario.rs"]
mod scenario;
#[path = "../../examples/sample/six.rs"]
mod six;

use packtrain_compare::answer::Comparison;
use packtrain_report::console::{Layout, ReportLink};
use packtrain_report::{HtmlError, HtmlOptions, JunitOptions, RunView};
use run::{Sample, Shape};

/// Six devices on which everything occurs that reports tell apart, without pictures.
fn small() -> Sample {
    plain(6, 4)
}

/// A run of so many devices and trails, without pictures.
fn plain(devices: usize, trails: usize) -> Sample {
    run::sample(Shape {
        devices,
        trails,
        screenshots: false,
    })
}

fn view(sample: &Sample) -> RunView {
    RunView::from_events(sample.entries.clone())
}

/// What a run says of itself, without its files.
fn compared(view: &RunView) -> Comparison {
    packtrain_report::comparison::compare(view, &mut |_| None)
}

fn summary(view: &RunView, links: &[ReportLink], layout: Layout) -> String {
    packtrain_report::console::summary(view, &compared(view), links, layout)
}

fn junit(view: &RunView, options: &JunitOptions) -> String {
    packtrain_report::junit(view, &compared(view), options).unwrap()
}

fn json(view: &RunView) -> serde_json::Value {
    serde_json::from_str(&packtrain_report::json(view, &compared(view)).unwrap()).unwrap()
}

fn html(
    view: &RunView,
    comparison: Option<&Comparison>,
    options: &HtmlOptions,
    files: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Result<String, HtmlError> {
    match comparison {
        Some(comparison) => packtrain_report::html(view, comparison, options, files),
        None => packtrain_report::html(view, &compared(view), options, files),
    }
}
