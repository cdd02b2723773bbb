//! What the page does in a browser: every view of it, by mouse and by keyboard, in light and dark,
//! on a screen and on a phone. The steps of each promise are in `page.mjs`.
//!
//! Needs Node and Chromium, and what `tests/sources` installs: `PACKTRAIN_TEST_SOURCES`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use packtrain_compare::answer::Comparison;
use packtrain_report::comparison::compare;
use packtrain_report::{HtmlOptions, RunView, html, html_data};
use serde_json::{Value, json};

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

use matrix::{Extent, Matrix};

/// 24 cells with what a comparison says of them.
fn cells() -> &'static Matrix {
    static CELLS: OnceLock<Matrix> = OnceLock::new();
    CELLS.get_or_init(|| matrix::matrix(Extent::Small))
}

fn installed() -> PathBuf {
    let folder = std::env::var_os("PACKTRAIN_TEST_SOURCES");
    PathBuf::from(folder.expect("PACKTRAIN_TEST_SOURCES is set by tests/run.sh"))
}

fn render(made: &Matrix, comparison: &Comparison, options: &HtmlOptions) -> String {
    let view = RunView::from_events(made.sample.entries.clone());
    html(&view, comparison, options, &mut |path| {
        made.sample.files.get(path).cloned()
    })
    .unwrap()
}

/// Runs the steps of a promise in a browser on a page, which lies in a folder with other files.
fn promise(name: &str, page: &str, others: &[(&str, String)]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.html"), page).unwrap();
    for (name, content) in others {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/page.mjs");
    let output = Command::new("node")
        .arg(script)
        .arg(name)
        .current_dir(folder.path())
        .env("PACKTRAIN_TEST_SOURCES", installed())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
}

/// A promise about the 24 cells.
fn of_cells(name: &str) {
    let page = render(cells(), &cells().comparison, &HtmlOptions::default());
    promise(name, &page, &[]);
}

#[test]
fn causes_are_told_with_pictures_and_the_command_that_runs_them_again() {
    of_cells("causes");
}

#[test]
fn a_failed_cell_opens_on_its_difference_and_back_closes_it() {
    of_cells("difference");
}

#[test]
fn the_pivot_begins_with_the_axes_that_explain_and_narrows_the_rest() {
    of_cells("pivot");
}

#[test]
fn cells_that_went_alike_are_one_column_until_somebody_asks() {
    of_cells("folding");
}

#[test]
fn the_query_finds_cells_steps_and_texts_of_screens() {
    of_cells("query");
}

#[test]
fn two_screens_lie_beside_and_over_each_other_above_their_trees() {
    of_cells("pair");
}

#[test]
fn everything_is_there_by_keyboard_alone() {
    of_cells("keyboard");
}

#[test]
fn an_address_leads_back_to_what_was_open() {
    of_cells("addresses");
}

#[test]
fn walls_grey_out_what_is_as_in_the_reference() {
    of_cells("walls");
}

#[test]
fn the_times_add_up() {
    of_cells("times");
}

#[test]
fn all_of_it_can_be_copied_as_markdown_and_printed() {
    of_cells("copying");
}

#[test]
fn nothing_keeps_anybody_out_in_light_in_dark_and_on_a_phone() {
    of_cells("access");
}

#[test]
fn a_run_without_a_matrix_has_its_details_filter_and_keys() {
    let sample = run::sample(run::Shape {
        devices: 12,
        trails: 4,
        screenshots: true,
    });
    let view = RunView::from_events(sample.entries.clone());
    let files = &mut |path: &str| sample.files.get(path).cloned();
    let compared = compare(&view, files);
    let page = html(&view, &compared, &HtmlOptions::default(), files).unwrap();
    promise("devices", &page, &[]);
}

/// Each of six runs: what its headline says, and what stands on the first screen.
#[test]
fn the_first_screen_says_where_and_why() {
    let mut pages = Vec::new();
    let mut wanted = Vec::new();
    for told in six::six() {
        let view = RunView::from_events(told.sample.entries.clone());
        let files = &mut |path: &str| told.sample.files.get(path).cloned();
        let compared = compare(&view, files);
        let page = html(&view, &compared, &HtmlOptions::default(), files).unwrap();
        pages.push((format!("{}.html", told.name), page));
        wanted
            .push(json!({"name": told.name, "headline": compared.sentence, "expected": told.headline, "wanted": told.wanted}));
    }
    pages.push(("wanted.json".to_owned(), Value::from(wanted).to_string()));
    let pages: Vec<(&str, String)> = pages
        .iter()
        .map(|(name, page)| (&**name, page.clone()))
        .collect();
    promise("first", "", &pages);
}

/// Forty devices in one trail, on a phone.
#[test]
fn forty_devices_do_not_scroll_a_phone_sideways() {
    let shape = run::Shape {
        devices: 40,
        trails: 2,
        screenshots: false,
    };
    let sample = run::sample(shape);
    let view = RunView::from_events(sample.entries);
    let compared = compare(&view, &mut |_| None);
    let page = html(&view, &compared, &HtmlOptions::default(), &mut |_| None).unwrap();
    promise("narrow", &page, &[]);
}

/// The page of a run that goes on: first as it was after two thirds, then as it ended.
#[test]
fn a_page_that_is_served_follows_the_run_and_keeps_what_is_open() {
    let made = cells();
    let mut early = made.comparison.clone();
    early.settled = 16;
    early.sentence = "So far, 16 of 24: 4 failed: de-DE at 390 wide.".to_owned();
    let options = HtmlOptions {
        live: true,
        ..HtmlOptions::default()
    };
    let page = render(made, &early, &options);
    let view = RunView::from_events(made.sample.entries.clone());
    let data = html_data(&view, &made.comparison, &options, &mut |path| {
        made.sample.files.get(path).cloned()
    })
    .unwrap();
    promise("live", &page, &[("data.json", data)]);
}

#[test]
fn foreign_texts_are_text_in_every_view() {
    const EVIL: &str = "</script><img src=x onerror=\"document.title='evil'\"><b id=evil>`**";
    let made = cells();
    let mut comparison = serde_json::to_value(&made.comparison).unwrap();
    spoil(&mut comparison, EVIL);
    let comparison = serde_json::from_value(comparison).unwrap();
    promise(
        "hostile",
        &render(made, &comparison, &HtmlOptions::default()),
        &[],
    );
}

/// Puts a text wherever the app's words stand.
fn spoil(value: &mut Value, evil: &str) {
    const OURS: [&str; 11] = [
        "kind", "letter", "session", "fact", "is", "digest", "verdict", "outcome", "axis", "run",
        "path",
    ];
    match value {
        Value::Object(map) => {
            for (_, value) in map
                .iter_mut()
                .filter(|(key, _)| !OURS.contains(&key.as_str()))
            {
                spoil(value, evil);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, evil)),
        Value::String(text) => *text = evil.to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn sixty_cells_of_29_steps_are_one_file_that_opens_at_once() {
    let made = matrix::matrix(Extent::Large);
    let page = render(&made, &made.comparison, &HtmlOptions::default());
    assert!(page.len() < 24 * 1024 * 1024, "{} bytes", page.len());
    promise("large", &page, &[]);
}

#[test]
fn the_script_is_what_its_sources_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("page");
    let copied = Command::new("cp")
        .arg("-R")
        .arg(root.join("page"))
        .arg(&copy)
        .status();
    assert!(copied.unwrap().success());
    std::fs::create_dir_all(folder.path().join("src/html")).unwrap();
    let modules = copy.join("node_modules");
    // A developer's own modules are not part of what is checked.
    let _ = std::fs::remove_file(&modules).or_else(|_| std::fs::remove_dir_all(&modules));
    std::os::unix::fs::symlink(installed().join("node_modules"), &modules).unwrap();
    let output = Command::new("npm")
        .args(["run", "--silent", "build"])
        .current_dir(&copy)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let made = std::fs::read_to_string(folder.path().join("src/html/script.js")).unwrap();
    let kept = std::fs::read_to_string(root.join("src/html/script.js")).unwrap();
    assert!(
        made == kept,
        "run `npm run build` in orchestrator/report/page"
    );
}
