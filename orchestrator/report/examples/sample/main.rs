//! Writes the reports of made-up runs, to look at: `cargo run --example sample -- <folder>`.

mod matrix;
mod picture;
mod run;
mod scenario;
mod six;

use std::path::{Path, PathBuf};

use matrix::Extent;
use packtrain_compare::answer::Comparison;
use packtrain_report::comparison::compare;
use packtrain_report::console::{Detail, EventLines, Layout, Timestamps, summary};
use packtrain_report::{HtmlOptions, JunitOptions, RunView, html, json, junit};
use run::{Sample, Shape, sample};

#[expect(clippy::print_stdout, reason = "the example's output")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args_os()
        .nth(1)
        .ok_or("usage: sample <folder>")?
        .into();
    let all = HtmlOptions::default();
    let none = HtmlOptions {
        inline_limit: 0,
        ..HtmlOptions::default()
    };
    let only = std::env::args().nth(2);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    for (name, shape, options) in [
        ("devices-2", shape(2, 1, true), &all),
        ("devices-2-linked", shape(2, 1, true), &none),
        ("cut-short", shape(5, 2, true), &all),
        ("devices-5", shape(5, 3, true), &all),
        ("devices-12", shape(12, 4, true), &all),
        ("devices-50", shape(50, 2, true), &all),
        ("devices-200", shape(200, 4, false), &all),
    ] {
        if wanted(name) {
            write(&folder.join(name), sample(shape), None, options)?;
        }
    }
    for (name, extent) in [("cells-24", Extent::Small), ("cells-60", Extent::Large)] {
        if !wanted(name) {
            continue;
        }
        let made = matrix::matrix(extent);
        write(
            &folder.join(name),
            made.sample,
            Some(&made.comparison),
            &all,
        )?;
    }
    for told in six::six() {
        if wanted(told.name) {
            println!("{} {:?}", told.headline, told.wanted);
            write(&folder.join(told.name), told.sample, None, &all)?;
        }
    }
    Ok(())
}

const fn shape(devices: usize, trails: usize, screenshots: bool) -> Shape {
    Shape {
        devices,
        trails,
        screenshots,
    }
}

#[expect(clippy::print_stdout, reason = "the example's output")]
fn write(
    folder: &Path,
    mut sample: Sample,
    comparison: Option<&Comparison>,
    options: &HtmlOptions,
) -> Result<(), Box<dyn std::error::Error>> {
    if folder.ends_with("cut-short") {
        sample.entries.truncate(sample.entries.len() / 3);
    }
    let mut lines = EventLines::new(Layout::default(), Detail::Steps, Timestamps::Elapsed);
    let log: Vec<String> = sample
        .entries
        .iter()
        .flat_map(|entry| lines.lines(entry))
        .collect();
    #[expect(clippy::disallowed_types, reason = "this crate has no tokio")]
    let begun = std::time::Instant::now();
    let view = RunView::from_events(sample.entries);
    let files = &mut |path: &str| sample.files.get(path).cloned();
    let comparison = match comparison {
        Some(made) => made,
        None => &compare(&view, files),
    };
    let page = html(&view, comparison, options, files)?;
    println!(
        "{}: {:?}, {} KB",
        folder.display(),
        begun.elapsed(),
        page.len() / 1000
    );
    std::fs::create_dir_all(folder)?;
    let kept = serde_json::to_string_pretty(comparison)?;
    std::fs::write(folder.join("comparison.json"), kept)?;
    std::fs::write(folder.join("report.html"), page)?;
    std::fs::write(
        folder.join("junit.xml"),
        junit(&view, comparison, &JunitOptions::default())?,
    )?;
    std::fs::write(folder.join("summary.json"), json(&view, comparison)?)?;
    std::fs::write(folder.join("lines.txt"), log.join("\n"))?;
    let layout = Layout {
        color: true,
        width: 120,
    };
    std::fs::write(
        folder.join("console.txt"),
        summary(&view, comparison, &[], layout),
    )?;
    for (path, bytes) in &sample.files {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, bytes)?;
    }
    Ok(())
}
