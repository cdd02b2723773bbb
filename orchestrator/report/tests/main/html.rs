//! What the HTML report promises, checked on its text. How it looks and behaves is for a browser.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use packtrain_drivers::{Hidden, HiddenBecause};
use packtrain_model::RunEvent;
use packtrain_model::screen::{ObservedTree, ScreenTree};
use packtrain_report::{HtmlOptions, RunView, html_data};

use crate::matrix::{self, Extent};
use crate::run::{self, Sample, Shape};
use crate::{html, view};

/// Twelve devices on four trails with pictures; drawn once, because drawing takes longest.
static TWELVE: LazyLock<Sample> = LazyLock::new(|| drawn(12, 4));
/// Six devices on four trails with pictures.
static SIX: LazyLock<Sample> = LazyLock::new(|| drawn(6, 4));
/// Two devices on one trail with pictures.
static TWO: LazyLock<Sample> = LazyLock::new(|| drawn(2, 1));

fn drawn(devices: usize, trails: usize) -> Sample {
    run::sample(Shape {
        devices,
        trails,
        screenshots: true,
    })
}

fn render(sample: &Sample, options: &HtmlOptions) -> String {
    html(&view(sample), None, options, &mut |path| {
        sample.files.get(path).cloned()
    })
    .unwrap()
}

/// The values of an attribute, wherever it occurs.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    page.split(&start)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// The content of `<script ... id="...">`.
fn script<'a>(page: &'a str, id: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">"))?;
    rest.split_once("</script>").map(|(content, _)| content)
}

fn details(page: &str) -> serde_json::Value {
    serde_json::from_str(script(page, "data").unwrap()).unwrap()
}

fn pictures(page: &str) -> Vec<&str> {
    (0..)
        .map_while(|place| script(page, &format!("picture-{place}")))
        .collect()
}

#[test]
fn the_file_needs_no_other() {
    let page = render(&TWELVE, &HtmlOptions::default());
    for href in attributes(&page, "href") {
        assert!(href.starts_with('#'), "{href}");
    }
    assert!(attributes(&page, "src").is_empty());
    for loader in [
        "<link",
        "<iframe",
        "@import",
        "url(",
        "import(",
        "XMLHttpRequest",
        // What a served page may do, this one may not.
        "connect-src",
        "<meta name=\"packtrain-live\"",
    ] {
        assert!(!page.contains(loader), "{loader}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_step_of_every_session_is_in_the_grid_without_scripts() {
    let sample = &*TWELVE;
    let page = render(sample, &HtmlOptions::default());
    let links: HashSet<_> = attributes(&page, "href").into_iter().collect();
    let view = view(sample);
    let mut count = 0;
    for (_, session) in view.sessions() {
        assert!(links.contains(format!("#{}", session.id).as_str()));
        let attempt = session.last().unwrap();
        for step in &attempt.steps {
            let link = format!("#{}-{}", attempt.id, step.step.0);
            assert!(links.contains(link.as_str()), "{link}");
            count += 1;
        }
    }
    assert_eq!(count, 12 * (10 + 4 + 4 + 5));
}

#[test]
fn every_attempt_is_in_the_details() {
    let sample = &*SIX;
    let details = details(&render(sample, &HtmlOptions::default()));
    let attempts: Vec<&str> = details["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|session| session["attempts"].as_array().unwrap())
        .map(|attempt| attempt["id"].as_str().unwrap())
        .collect();
    let expected: usize = view(sample)
        .sessions()
        .map(|(_, session)| session.attempts.len())
        .sum();
    assert_eq!(attempts.len(), expected);
    assert!(attempts.contains(&"s10.2"));
}

#[test]
fn what_comes_first_is_what_failed() {
    let page = render(&SIX, &HtmlOptions::default());
    let place = |text: &str| page.find(text).unwrap();
    let section = |title: &str| place(&format!("</span> {title} <small>"));
    assert!(section("Buy two cups") < section("Dark mode stays on after a restart"));
    assert!(section("Dark mode stays on after a restart") < section("Search finds products"));
    assert!(section("Search finds products") < section("Log in and out"));
    // In the grid of the trail that failed, the first device is one on which it failed.
    let grid = &page[section("Buy two cups")..];
    let first = &grid[grid.find("<th class=\"dev").unwrap()..];
    assert!(first[..200].contains("m-failed"), "{}", &first[..200]);
}

#[test]
fn what_went_wrong_is_marked_once_for_each_device() {
    let page = render(&SIX, &HtmlOptions::default());
    // On two devices and on one; the legend has the first letter too.
    assert_eq!(page.matches("<b class=\"l\">A</b>").count(), 3);
    assert_eq!(page.matches("<b class=\"l\">B</b>").count(), 1);
}

#[test]
fn the_same_picture_is_kept_once() {
    let sample = &*TWELVE;
    let page = render(sample, &HtmlOptions::default());
    let pictures = pictures(&page);
    let shots = sample
        .files
        .iter()
        .filter(|(path, _)| path.ends_with(".png"));
    let distinct: HashSet<_> = shots.clone().map(|(_, bytes)| bytes).collect();
    assert_eq!(pictures.len(), distinct.len());
    assert!(pictures.len() < shots.count());
    assert!(
        pictures
            .iter()
            .all(|uri| uri.starts_with("data:image/png;") || uri.starts_with("data:image/webp;"))
    );
}

#[test]
fn beyond_the_limit_pictures_are_linked_and_failing_steps_come_first() {
    let sample = &*SIX;
    let failing = sample.files["artifacts/s2/06-end.png"].len() as u64;
    let options = HtmlOptions {
        inline_limit: failing,
        artifact_root: "../run/".to_owned(),
        ..HtmlOptions::default()
    };
    let page = render(sample, &options);
    assert_eq!(pictures(&page).len(), 1);
    let details = details(&page);
    assert_eq!(details["root"], "../run/");
    let shot = |session: usize, step: usize| {
        details["sessions"][session]["attempts"][0]["steps"][step]["shots"][0].clone()
    };
    assert_eq!(shot(1, 6), serde_json::json!({"p": 0}));
    assert_eq!(
        shot(0, 0),
        serde_json::json!({"h": "artifacts/s1/00-end.png"})
    );
}

#[test]
fn a_picture_that_is_gone_is_said_to_be() {
    let sample = &*TWO;
    let page = html(&view(sample), None, &HtmlOptions::default(), &mut |_| None).unwrap();
    assert!(pictures(&page).is_empty());
    let shots = &details(&page)["sessions"][0]["attempts"][0]["steps"][0]["shots"];
    assert_eq!(*shots, serde_json::json!([{}]));
}

#[test]
fn only_pictures_are_put_in_as_pictures() {
    let mut sample = drawn(2, 1);
    for (path, bytes) in &mut sample.files {
        if path.ends_with(".png") {
            *bytes = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".to_vec();
        }
    }
    let page = render(&sample, &HtmlOptions::default());
    assert!(pictures(&page).is_empty());
}

#[test]
fn the_screen_of_a_failing_step_is_there_as_text() {
    let page = render(&TWO, &HtmlOptions::default());
    let text: String = serde_json::from_str(script(&page, "text-0").unwrap()).unwrap();
    assert!(text.contains("[b7] StaticText \"38,00 €\""));
    let step = &details(&page)["sessions"][1]["attempts"][0]["steps"][6];
    assert_eq!(step["texts"][0]["n"], 0);
}

#[test]
fn a_run_cut_anywhere_still_has_a_page() {
    let sample = &*SIX;
    for cut in (0..sample.entries.len()).step_by(61) {
        let view = RunView::from_events(sample.entries[..cut].to_vec());
        let page = html(&view, None, &HtmlOptions::default(), &mut |_| None).unwrap();
        assert!(page.contains("end was not recorded"), "{cut}");
    }
}

/// The order of the page's parts; a golden of the whole would change with every colour.
#[test]
fn the_page_has_its_parts_in_order() {
    let page = render(&SIX, &HtmlOptions::default());
    let mut from = 0;
    for part in [
        "<header class=\"top\">",
        "<h1>3 of 24 failed: ",
        "4 trails × 6 devices",
        "<section class=\"block trail\"",
        "class=\"divergences\"",
        "on 2 of 6 devices",
        "<table class=\"grid wide\">",
        "<footer>",
        "id=\"data\"",
    ] {
        let found = page[from..].find(part);
        assert!(
            found.is_some(),
            "{part} is missing after what goes before it"
        );
        from += found.unwrap_or_default();
    }
}

#[test]
fn a_page_of_many_devices_stays_lean() {
    let sample = run::sample(Shape {
        devices: 200,
        trails: 1,
        screenshots: false,
    });
    let page = render(&sample, &HtmlOptions::default());
    let cells = page.matches("<td").count();
    let elements: BTreeMap<&str, usize> = ["<a ", "<span", "<i>", "<b "]
        .map(|tag| (tag, page.matches(tag).count()))
        .into();
    let all: usize = elements.values().sum();
    assert!(all < cells * 5, "{elements:?} for {cells} cells");
    assert!(
        page.len() < 1_500 * cells,
        "{} bytes for {cells} cells",
        page.len()
    );
}

#[test]
fn screens_that_hide_other_things_are_one_for_the_reader() {
    let mut made = matrix::matrix(Extent::Small);
    let mut seen: Vec<&mut ObservedTree> = Vec::new();
    for entry in &mut made.sample.entries {
        if let RunEvent::StepObserved { observed, .. } = &mut entry.event {
            seen.extend(observed.tree.as_mut());
        }
    }
    // The second of two equal ones has something hidden.
    let (first, rest) = seen.split_first_mut().unwrap();
    let second = rest.iter_mut().find(|one| one.digest == first.digest);
    let second = second.unwrap();
    let mut tree: ScreenTree =
        serde_json::from_slice(&made.sample.files[&second.artifact]).unwrap();
    tree.hidden.push(Hidden {
        element: "link \"Nobody sees this\"".to_owned(),
        why: HiddenBecause::Closed,
        behind: None,
    });
    second.shown = Some(first.digest.clone());
    second.digest = "feedfeedfeedfeed".to_owned();
    second.artifact = "trees/feedfeedfeedfeed.json".to_owned();
    let (path, json) = (second.artifact.clone(), serde_json::to_vec(&tree).unwrap());
    let before = matrix::matrix(Extent::Small).sample;
    made.sample.files.insert(path, json);
    let page = |sample: &Sample| {
        let page = html(
            &view(sample),
            Some(&made.comparison),
            &HtmlOptions::default(),
            &mut |path| sample.files.get(path).cloned(),
        );
        page.unwrap()
    };
    assert_eq!(details(&page(&made.sample)), details(&page(&before)));
    assert_eq!(page(&made.sample), page(&before));
}

#[test]
fn screens_that_are_compared_are_whole_in_the_file_and_the_words_of_all() {
    for extent in [Extent::Small, Extent::Large] {
        let made = matrix::matrix(extent);
        let view = view(&made.sample);
        let options = HtmlOptions::default();
        let page = html(&view, Some(&made.comparison), &options, &mut |path| {
            made.sample.files.get(path).cloned()
        })
        .unwrap();
        let kept: serde_json::Value =
            serde_json::from_str(script(&page, "comparison").unwrap()).unwrap();
        let comparison = serde_json::to_value(&made.comparison).unwrap();
        assert_eq!(kept, comparison);
        let words: serde_json::Value =
            serde_json::from_str(script(&page, "words").unwrap()).unwrap();
        let trees = made
            .sample
            .files
            .keys()
            .filter(|path| path.starts_with("trees/"));
        let whole = page.matches(" data-tree=\"").count();
        assert_eq!(
            words["trees"].as_object().unwrap().len(),
            trees.clone().count()
        );
        assert!(whole > 4 && whole < trees.count(), "{whole}");
        assert!(page.len() < 24 * 1024 * 1024, "{} bytes", page.len());
        // What a page that is open is given is the same, with pictures and trees left outside.
        let news = html_data(&view, &made.comparison, &options, &mut |path| {
            made.sample.files.get(path).cloned()
        });
        let news: serde_json::Value = serde_json::from_str(&news.unwrap()).unwrap();
        assert_eq!(news["words"], words);
        assert_eq!(news["comparison"], comparison);
        assert_eq!(
            news["data"]["sessions"].as_array().unwrap().len(),
            view.sessions().count()
        );
        let (_, shot) = news["data"]["pictures"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        assert!(shot["h"].as_str().unwrap().starts_with("pictures/"));
    }
}
