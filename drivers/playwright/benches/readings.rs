//! What is said of published pages: by Packtrain on Chromium and on Firefox, and by Playwright itself on
//! each. Prints every line that one has and another has not, and how often they agree.
//!
//! `cargo bench -p packtrain-driver-playwright --bench readings -- [PAGES] FOLDER...`
//!
//! Of each folder of HTML 8 pages or so many, from all over it, served on loopback.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program by hand"
)]

#[expect(dead_code, reason = "tests use more of it")]
#[path = "../tests/browser.rs"]
mod browser;
#[expect(dead_code, reason = "tests use more of it")]
#[path = "../tests/pages.rs"]
mod pages;
#[path = "../tests/readers.rs"]
mod readers;
#[expect(dead_code, reason = "tests use more of it")]
#[path = "../tests/site.rs"]
mod site;

use std::path::{Path, PathBuf};

use packtrain_driver_playwright::{Engine, WebPool};

use crate::browser::found;
use crate::pages::Pages;
use crate::readers::{AriaSnapshots, device, differences, read};

/// Lines of a difference that are printed of each side.
const MAX_LINES: usize = 6;

fn main() {
    // `cargo test` builds and starts benchmarks too; it passes no `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--bench") {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(compare(&arguments));
    }
}

async fn compare(arguments: &[String]) {
    let count = arguments.iter().find_map(|argument| argument.parse().ok());
    let folders = arguments.iter().map(PathBuf::from);
    let found = found();
    let pool = WebPool::new(&found);
    let mut playwright = AriaSnapshots::start(&found, Engine::Chromium);
    let mut playwright_on_firefox = AriaSnapshots::start(&found, Engine::Firefox);
    let mut chromium = device(&pool, Engine::Chromium).await;
    let mut firefox = device(&pool, Engine::Firefox).await;
    for folder in folders.filter(|folder| folder.is_dir()) {
        let site = Pages::serve(&folder).await;
        let pages = some_of(html(&folder), count.unwrap_or(8));
        let (mut lines, mut alike) = (0, [0; 3]);
        for page in &pages {
            let name = page.strip_prefix(&folder).unwrap().to_str().unwrap();
            let url = site.url(name);
            let (one, other, snapshot, snapshot_of_other) = tokio::join!(
                read(&mut chromium, &url),
                read(&mut firefox, &url),
                playwright.read(&url),
                playwright_on_firefox.read(&url)
            );
            lines += one.len();
            alike[0] += print(name, ("Chromium", &one), ("Firefox", &other));
            alike[1] += print(name, ("Chromium", &one), ("its ariaSnapshot", &snapshot));
            let snapshot = ("its ariaSnapshot", &*snapshot_of_other);
            alike[2] += print(name, ("Firefox", &other), snapshot);
        }
        println!(
            "{}: {} pages, {lines} lines; alike on both, as ariaSnapshot on Chromium, on Firefox: {alike:?}",
            folder.display(),
            pages.len()
        );
    }
    chromium.leave().await;
    firefox.close().await;
    playwright.close().await;
    playwright_on_firefox.close().await;
}

/// Prints what one side says and the other does not. 1 when that is nothing.
fn print(page: &str, one: (&str, &[String]), other: (&str, &[String])) -> usize {
    let (only_one, only_other) = differences(one.1, other.1);
    for (side, only) in [(one.0, only_one), (other.0, only_other)] {
        for line in only.iter().take(MAX_LINES) {
            let line: String = line.chars().take(150).collect();
            println!("  {page}: only {side} ({} such lines): {line}", only.len());
        }
    }
    usize::from(one.1 == other.1)
}

/// All pages of a folder, those nearer to its top first.
fn html(folder: &Path) -> Vec<PathBuf> {
    let (mut pages, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "html") {
                pages.push(path);
            }
        }
    }
    pages.sort_by_key(|page| (page.components().count(), page.clone()));
    pages
}

/// So many of them, from all over.
fn some_of(pages: Vec<PathBuf>, count: usize) -> Vec<PathBuf> {
    let step = pages.len().div_ceil(count).max(1);
    pages.into_iter().step_by(step).collect()
}
