//! A configuration out of a matrix is shown wherever its session is.

use std::collections::BTreeMap;

use packtrain_compare::input::Run;
use packtrain_model::{Cell, Entry, RunEvent};
use packtrain_report::comparison::input;
use packtrain_report::console::{Detail, EventLines, Layout, Timestamps};
use packtrain_report::{HtmlOptions, JunitOptions, RunView};
use quick_junit::Report;
use serde_json::{Value, json};

use crate::matrix::{Extent, matrix as browsers};
use crate::run::{self, Shape};
use crate::{html, json, junit, summary};

/// One device twice: as it is, and in German.
fn matrix(shard: &str) -> Vec<Entry> {
    let shape = |devices| Shape {
        devices,
        trails: 1,
        screenshots: false,
    };
    let german = Cell(BTreeMap::from([("locale".to_owned(), "de".to_owned())]));
    let mut entries = run::sample(shape(2)).entries;
    let desktop = run::sample(shape(1)).entries;
    let RunEvent::RunStarted { devices, .. } = &desktop[0].event else {
        panic!("a run starts with its start");
    };
    let desktop = devices[0].clone();
    for entry in &mut entries {
        match &mut entry.event {
            RunEvent::RunStarted {
                devices,
                sessions,
                options,
                ..
            } => {
                devices.truncate(1);
                sessions[1].device = Some(desktop.id.clone());
                sessions[1].cell = german.clone();
                options.shard = shard.to_owned();
            }
            RunEvent::SessionStarted {
                planned, device, ..
            } if device.id != desktop.id => {
                planned.cell = german.clone();
                *device = desktop.clone();
            }
            _ => {}
        }
    }
    entries
}

#[test]
fn a_configuration_stands_behind_the_device_on_the_terminal() {
    let mut lines = EventLines::new(Layout::default(), Detail::Sessions, Timestamps::None);
    let entries = matrix("all");
    let said: Vec<String> = entries
        .iter()
        .flat_map(|entry| lines.lines(entry))
        .collect();
    let of = |label: &str| said.iter().filter(|line| line.starts_with(label)).count();
    assert!(of("checkout on web/desktop (locale=de)  ") > 1, "{said:#?}");
    assert!(of("checkout on web/desktop   ") > 1, "{said:#?}");
    let text = summary(&RunView::from_events(entries), &[], Layout::default());
    assert!(text.contains("\n de       A  "), "{text}");
    assert!(text.contains("\n     de\n"), "{text}");
}

#[test]
fn a_configuration_tells_suites_and_tests_apart_in_junit_and_is_a_property() {
    let report = |shard| {
        let view = RunView::from_events(matrix(shard));
        let xml = junit(&view, &JunitOptions::default());
        Report::deserialize_from_str(&xml).unwrap()
    };
    let all = report("all");
    let suites: Vec<&str> = all
        .test_suites
        .iter()
        .map(|suite| suite.name.as_str())
        .collect();
    assert_eq!(suites, ["web/desktop", "web/desktop (locale=de)"]);
    let suite = &all.test_suites[1];
    let case = &suite.test_cases[0];
    assert_eq!(case.name.as_str(), "Buy two cups [web/desktop (locale=de)]");
    for properties in [&suite.properties, &case.properties] {
        let cell = properties
            .iter()
            .find(|one| one.name.as_str() == "cell.locale");
        assert_eq!(cell.map(|one| one.value.as_str()), Some("de"));
    }
    let split = report("split");
    let names: Vec<&str> = split.test_suites[0]
        .test_cases
        .iter()
        .map(|case| case.name.as_str())
        .collect();
    assert_eq!(names, ["Buy two cups", "Buy two cups [locale=de]"]);
}

#[test]
fn a_configuration_is_in_the_json_and_in_the_html() {
    let view = RunView::from_events(matrix("all"));
    let document: Value = json(&view);
    let sessions = &document["trails"][0]["sessions"];
    assert_eq!(sessions[0].get("cell"), None);
    assert_eq!(sessions[1]["cell"], serde_json::json!({"locale": "de"}));
    let page = html(&view, None, &HtmlOptions::default(), &mut |_| None).unwrap();
    assert!(page.contains("<span class=\"model\">de</span>"));
    assert!(page.contains("\"label\":\"de\""));
}

/// Two sessions of one size, in Chromium and in Firefox, as `change` has their events: no axis says
/// which engine it is.
fn two_engines(change: impl Fn(&mut Value)) -> Run {
    let made = browsers(Extent::Small).sample;
    let entries = made.entries.iter().filter_map(|entry| {
        let mut event = serde_json::to_value(entry).unwrap();
        let session = event["session"].as_str().map(str::to_owned);
        match session.as_deref() {
            None | Some("s1") => {}
            Some("s13") => {
                event["session"] = "s2".into();
                if event["event"] == "session_started" {
                    event["device"]["system"] = "Firefox 140.5".into();
                }
            }
            Some(_) => return None,
        }
        if event["event"] == "run_started" {
            event["sessions"] = json!([event["sessions"][0], event["sessions"][12]]);
            event["trails"] = json!([event["trails"][0], event["trails"][0]]);
        }
        change(&mut event);
        Some(serde_json::from_value(event).unwrap())
    });
    let view = RunView::from_events(entries);
    input(&view, &mut |path| made.files.get(path).cloned()).0
}

/// Leaves the engine out of the configurations of an event.
fn without_engine(event: &mut Value) {
    let planned = |event: &mut Value| {
        if let Some(cell) = event["cell"].as_object_mut() {
            cell.remove("engine");
        }
    };
    match event["sessions"].as_array_mut() {
        Some(all) => all.iter_mut().for_each(planned),
        None => planned(&mut event["planned"]),
    }
}

#[test]
fn firefox_is_told_as_firefox_where_no_axis_says_so() {
    let run = two_engines(|event| {
        without_engine(event);
        if event["event"] == "run_started" {
            event["sessions"][1]["device"] = "web/fox".into();
        } else if event["session"] == "s2" && !event["planned"].is_null() {
            event["planned"]["device"] = "web/fox".into();
            event["device"]["id"] = "web/fox".into();
        }
    });
    let [chromium, firefox] = run.cells.as_slice() else {
        panic!("{:#?}", run.cells);
    };
    assert_eq!(firefox.device, "web/fox");
    assert_eq!(chromium.engine, "Chromium 156");
    assert_eq!(firefox.engine, "Firefox 140.5");
    assert_eq!(chromium.facts["engine"], "chromium");
    assert_eq!(firefox.facts["engine"], "firefox");
    assert_eq!(firefox.facts["width"], "390", "as it ran");
    assert_ne!(chromium.visual_key, firefox.visual_key);
}

#[test]
fn a_cell_of_two_trails_is_what_it_ran_with() {
    // One trail saw its screens without pictures, the other none at all, and so has the planned size.
    for blind in ["s1", "s2"] {
        let run = two_engines(|event| {
            without_engine(event);
            if event["event"] == "run_started" {
                event["sessions"][1]["trail"] = 1.into();
            } else if event["planned"].is_object() && event["session"] == "s2" {
                event["planned"]["trail"] = 1.into();
            }
            if event["event"] == "step_observed" {
                let is_blind = event["session"] == blind;
                let observed = event.as_object_mut().unwrap();
                observed.remove("picture");
                if is_blind {
                    observed.remove("tree");
                }
            }
        });
        let [cell] = run.cells.as_slice() else {
            panic!("{:#?}", run.cells);
        };
        assert_eq!(cell.facts["width"], "390", "{blind} saw nothing");
    }
}
