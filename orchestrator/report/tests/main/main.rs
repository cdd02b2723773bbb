//! What the reports promise, told with made-up runs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cells;
mod console;
mod golden;
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

use packtrain_report::RunView;
use run::{Sample, Shape};

/// Six devices on which everything occurs that reports tell apart, without pictures.
fn small() -> Sample {
    run::sample(Shape {
        devices: 6,
        trails: 4,
        screenshots: false,
    })
}

fn view(sample: &Sample) -> RunView {
    RunView::from_events(sample.entries.clone())
}
