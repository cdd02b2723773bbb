//! Pages that trip readers up: what is said of them is the same on both engines, and what Playwright
//! says of them.
//!
//! Where the engines differ, it is listed here with the reason, and what is listed does differ.
//! `cargo bench -p packtrain-driver-playwright --bench readings` compares other pages.

use packtrain_driver_playwright::{Engine, WebPool};

use crate::browser::found;
use crate::pages::{Pages, folder};
use crate::readers::{AriaSnapshots, device, differences, read};

/// A page of which the engines say different things.
struct Difference {
    page: &'static str,
    /// Lines that only Chromium has.
    chromium: &'static [&'static str],
    /// Lines that only Firefox has.
    firefox: &'static [&'static str],
    /// Why that is right, or not ours to change.
    why: &'static str,
}

const DIFFERENCES: [Difference; 4] = [
    Difference {
        page: "listbox.html",
        chromium: &[],
        firefox: &["      text \"Hot\""],
        why: "Firefox writes the label of an option group before it by its own style sheet, where \
              Playwright looks for words; Chromium writes it where no script looks",
    },
    Difference {
        page: "mathml.html",
        chromium: &[
            "    math \"x squared\": \"x 2\"",
            "    math \"a b\"",
            "    math \"E = m c 2\"",
            "      math \"1 + 1\"",
        ],
        firefox: &[
            "    math \"x squared\": \"x2\"",
            "    math \"ab\"",
            "    math \"E=mc2\"",
            "      math \"1+1\"",
        ],
        why: "parts of a formula are displayed as `block math` by Chromium and as `inline` by Firefox, \
              and Playwright puts blanks around what is not inline",
    },
    Difference {
        page: "not-content.html",
        chromium: &[],
        firefox: &["    button \"In place of a canvas\""],
        why: "Firefox makes boxes for what stands in for a canvas, and says that it is visible",
    },
    Difference {
        page: "select.html",
        chromium: &["    option \"By text\" [selected]"],
        firefox: &["    option \"By labelBy text\" [selected]"],
        why: "Firefox writes the label of an option before its text, as that of a group, and hides the \
              text; Playwright reads both, and in Chromium the text alone",
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trap_pages_are_read_alike_on_both_engines_and_as_playwright_reads_them() {
    let (traps, found) = (Pages::serve("traps").await, found());
    let pool = WebPool::new(&found);
    let mut playwright = AriaSnapshots::start(&found, Engine::Chromium);
    let (mut chromium, mut firefox) = tokio::join!(
        device(&pool, Engine::Chromium),
        device(&pool, Engine::Firefox)
    );
    let pages = traps.names();
    assert!(pages.len() >= 60, "{}", pages.len());
    let (mut unlike_playwright, mut unlike_each_other) = (Vec::new(), Vec::new());
    for page in &pages {
        let url = traps.url(page);
        let (read, read_by_firefox, playwrights) = tokio::join!(
            read(&mut chromium, &url),
            read(&mut firefox, &url),
            playwright.read(&url)
        );
        if read != playwrights {
            unlike_playwright.push((page, differences(&read, &playwrights)));
        }
        let differ = differences(&read, &read_by_firefox);
        let listed = DIFFERENCES.iter().find(|listed| listed.page == page);
        let listed = listed.map(|listed| (listed.chromium, listed.firefox));
        let (chromium, firefox) = listed.unwrap_or_default();
        if differ.0 != chromium || differ.1 != firefox {
            unlike_each_other.push((page, differ));
        }
    }
    assert!(unlike_playwright.is_empty(), "{unlike_playwright:#?}");
    assert!(unlike_each_other.is_empty(), "{unlike_each_other:#?}");
    chromium.leave().await;
    firefox.close().await;
    playwright.close().await;
}

#[test]
fn every_difference_that_is_listed_is_one_of_a_page_that_is_there() {
    for listed in DIFFERENCES {
        let Difference { page, why, .. } = listed;
        assert!(
            folder("traps").join(page).is_file() && !why.is_empty(),
            "{page}"
        );
        assert!(listed.chromium != listed.firefox, "{page} is no difference");
    }
}
