//! Matrices: every cell gets what it asks for or says that it did not, and the comparison names what
//! the cells that went another way have in common.

use packtrain_testing::has;
use packtrain_tests::Lab;
use serde_json::Value;

use crate::lab;

/// A page that says what it is shown with, and hides what a test wants hidden.
const PAGE: &str = "<!doctype html><title>Tasks</title><h1>Tasks</h1>
<button id=done>Show done</button><p id=said></p>
<script>
  const has = {
    de: navigator.language.startsWith('de'), narrow: innerWidth < 400,
    dark: matchMedia('(prefers-color-scheme: dark)').matches,
  };
  if (HIDDEN) document.getElementById('done').hidden = true;
</script>";

const TRAIL: &str = "config: { id: tasks, title: Tasks }
trail:
  - step: Open the tasks
    recording: { web: [{ web_navigate: { url: page.html } }] }
  - verify: Done ones can be shown
    recording: { web: [{ web_verifyElementVisible: { nodeSelector: { web: { ariaRole: button, ariaNameRegex: Show done } }, timeoutMs: 300 } }] }
";

/// A project whose page hides its button where `hidden` holds.
fn project(hidden: &str, axes: &str) -> Lab {
    let lab = lab();
    lab.write("page.html", &PAGE.replace("HIDDEN", hidden));
    lab.write("tasks.trail.yaml", TRAIL);
    let config = format!(
        "devices: {{ web: {{ desk: {{}} }} }}\nrun: {{ trace: none }}\nmatrices:\n  all:\n    devices: [web/desk]\n    axes: {axes}\n"
    );
    lab.write("packtrain.yaml", &config);
    lab
}

fn compared(lab: &Lab) -> Value {
    let text = std::fs::read_to_string(lab.run_folder().join("comparison.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The cluster of failures: its verdict, its words, and its explanation as text.
fn failure(comparison: &Value) -> (String, String, String) {
    let clusters = comparison["clusters"].as_array().unwrap();
    let failures: Vec<_> = clusters
        .iter()
        .filter(|one| one["kind"] == "failure")
        .collect();
    assert_eq!(failures.len(), 1, "{clusters:#?}");
    let parts = failures[0]["explanations"].as_array().into_iter().flatten();
    let parts = parts.map(|part| {
        let all_of = part["all_of"].as_array().unwrap().iter();
        let literals = all_of.map(|literal| {
            let text = |key: &str| literal[key].as_str().unwrap().to_owned();
            format!("{}{}{}", text("fact"), text("is"), text("value"))
        });
        let number = |key: &str| part[key].as_f64().unwrap();
        let (bad, good) = (number("bad"), number("good"));
        let counts = format!("{bad}/{} {good}/{}", number("bad_of"), number("good_of"));
        format!("{} {counts}", literals.collect::<Vec<_>>().join(" "))
    });
    let parts = parts.collect::<Vec<_>>().join("; ");
    let text = |key: &str| failures[0][key].as_str().unwrap().to_owned();
    (text("verdict"), text("words"), parts)
}

#[test]
fn two_literals_are_named_at_twenty_four_cells() {
    let axes = "{ locale: [en-US, de-DE], viewport: [390x844, 768x1024, 1280x800], colorScheme: [light, dark], engine: [chromium, firefox] }";
    let lab = project("has.de && has.narrow", axes);
    let run = ["run", "tasks.trail.yaml", "--matrix", "all"];
    lab.run(&[&run[..], &["--screenshots", "none"]].concat())
        .expect(1);
    let (verdict, words, parts) = failure(&compared(&lab));
    let named = "locale=de-DE width<=390 4/4 0/20";
    assert_eq!((&*verdict, &*parts), ("cause", named), "{words}");
}

#[test]
fn every_cell_is_configured_as_it_says_and_templates_know_it() {
    let lab = lab();
    lab.write(
        "cells.trail.yaml",
        "config: { id: cells, matrix: { axes: { locale: [en-US, de-DE], flag: [new: { memory: { greeting: Hi } }, old: { memory: { greeting: Hello } }] } } }
trail:
  - step: Say it
    recording:
      web:
        - web_navigate: { url: 'data:text/html,<p>{{axis.locale}} {{greeting}}</p><p>{{cell.id}}</p>' }
        - web_evaluate: { script: 'navigator.language + ` ` + document.body.innerText' }
",
    );
    lab.run(&["run", "cells.trail.yaml", "-d", "web/a"])
        .expect(0);
    let events = lab.events();
    let of = |kind: &str| {
        events
            .iter()
            .filter(|event| event["event"] == kind)
            .collect::<Vec<_>>()
    };
    let mut told: Vec<_> = of("tool_finished")
        .iter()
        .filter_map(|event| event["answer"].as_str().map(str::to_owned))
        .filter(|answer| answer.contains("web-a"))
        .collect();
    told.sort();
    let expected = [
        "de-DE de-DE Hello",
        "de-DE de-DE Hi",
        "en-US en-US Hello",
        "en-US en-US Hi",
    ];
    assert_eq!(told.len(), 4, "{told:?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
    let ids: std::collections::BTreeSet<_> =
        told.iter().map(|told| told.split("web-a").nth(1)).collect();
    assert_eq!(ids.len(), 4, "each cell has an id of its own: {told:?}");
    for configured in of("session_configured") {
        let axes = configured["axes"].as_array().unwrap();
        assert!(
            axes.iter().all(|axis| axis["want"] == axis["got"]),
            "{axes:?}"
        );
    }
    // Chosen cells run alone, and unknown ones are refused before anything runs.
    let chosen = [
        "run",
        "cells.trail.yaml",
        "-d",
        "web/a",
        "--cell",
        "locale=de-DE,flag=new",
    ];
    lab.run(&chosen).expect(0);
    assert_eq!(lab.outcomes().len(), 1);
    let refused = lab
        .run(&[
            "run",
            "cells.trail.yaml",
            "-d",
            "web/a",
            "--cell",
            "locale=xx",
        ])
        .expect(3);
    has(&refused.stderr, &["locale is never `xx`"]);
}

#[test]
fn a_device_that_cannot_have_what_its_cell_asks_for_is_no_pass() {
    let lab = lab();
    lab.write(
        "any.trail.yaml",
        "config: { id: any }
trail:
  - step: Open
    recording: { web: [{ web_navigate: { url: 'data:text/html,x' } }] }
",
    );
    // A slow network is a thing of Chromium's protocol.
    let axes = [
        "--axis",
        "network=slow",
        "--axis",
        "engine=firefox,chromium",
    ];
    let run = ["run", "any.trail.yaml", "-d", "web/a"];
    let ended = lab.run(&[run.as_slice(), &axes].concat()).expect(2);
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(said.contains("network=slow"), "{said}");
    let events = lab.events();
    let outcomes = events
        .iter()
        .filter(|event| event["event"] == "session_finished");
    let mut outcomes: Vec<_> = outcomes
        .map(|event| event["outcome"].as_str().unwrap())
        .collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["infrastructure", "passed"]);
}

#[test]
fn a_value_or_a_cell_that_makes_no_sense_is_refused_before_anything_runs() {
    let trail = |matrix: &str| {
        format!("config:\n  id: odd{matrix}\ntrail: [{{ step: x, recording: {{ web: [] }} }}]\n")
    };
    let said = |lab: &Lab, arguments: &[&str]| lab.run(arguments).expect(3).stderr;
    let lab = lab();
    lab.write("plain.trail.yaml", &trail(""));
    let run = ["run", "plain.trail.yaml", "-d", "web/a"];
    let axis = ["--axis", "viewport=390x844,0390x0844"];
    let told = said(&lab, &[&run[..], &axis].concat());
    assert!(told.contains("`0390x0844` is not a width"), "{told}");
    let twice = ["--axis", "locale=de-DE", "--axis", "locale=en-US"];
    let told = said(&lab, &[&run[..], &twice].concat());
    assert!(told.contains("`--axis locale` is given twice"), "{told}");

    let inline = "\n  matrix:\n    axes:\n      viewport:\n        - 390x844\n        - 390x0844";
    lab.write("odd.trail.yaml", &trail(inline));
    for words in [&["check"][..], &["run", "-d", "web/a"]] {
        let told = said(&lab, &[words, &["odd.trail.yaml"]].concat());
        has(&told, &["odd.trail.yaml:7:11", "`390x0844` is not a width"]);
    }

    let matrices = |scale: &str| {
        let axes = format!("fontScale: [1, {scale}]\n      locale: [en-US, de-DE]");
        let exclude = "{ locale: de-DE, fontScale: '>1' }";
        format!("matrices:\n  m:\n    axes:\n      {axes}\n    exclude: [{exclude}]\n")
    };
    lab.write("packtrain.yaml", &matrices("20000"));
    let told = said(&lab, &["matrix", "m"]);
    has(&told, &["packtrain.yaml:4:7", "`20000` is not a number"]);

    lab.write("packtrain.yaml", &matrices("2"));
    let cell = ["--matrix", "m", "--cell", "locale=de-DE,fontScale=2"];
    let told = said(&lab, &[&run[..], &cell].concat());
    let excluded = "the matrix excludes fontScale=2, locale=de-DE";
    assert!(told.contains(excluded), "{told}");
}

#[test]
fn texts_of_a_recording_are_what_the_app_says_in_a_language() {
    let lab = lab();
    lab.write(
        "page.html",
        "<button onclick=\"document.title='x'\"></button><script>
document.querySelector('button').textContent = navigator.language.startsWith('de') ? 'Anmelden' : 'Sign in';
</script>",
    );
    lab.write(
        "sign.trail.yaml",
        "config:
  id: sign
  matrix:
    axes:
      locale: [en-US, de-DE: { texts: { Sign in: Anmelden } }]
trail:
  - step: Sign in
    recording:
      web:
        - web_navigate: { url: page.html }
        - web_click: { nodeSelector: { web: { ariaRole: button, ariaNameRegex: Sign in } } }
",
    );
    lab.run(&["run", "sign.trail.yaml", "-d", "web/a"])
        .expect(0);
    assert_eq!(
        lab.events()
            .iter()
            .filter(|event| event["event"] == "session_finished")
            .count(),
        2
    );
}

#[test]
fn four_parts_merged_are_the_same_verdict_and_the_same_comparison_as_one_run() {
    let lab = project(
        "has.dark",
        "{ colorScheme: [light, dark], viewport: [390x844, 768x1024, 1280x800], touch: [true, false] }",
    );
    let run = ["run", "tasks.trail.yaml", "--matrix", "all"];
    lab.run(&run).expect(1);
    // What a run says of itself, and how long things took, is its own.
    let told = |compared: &Value| {
        let clusters = compared["clusters"].as_array().unwrap().iter();
        let clusters: Vec<_> = clusters
            .filter(|cluster| cluster["kind"] != "slow")
            .map(|cluster| {
                let keys = [
                    "kind",
                    "title",
                    "verdict",
                    "words",
                    "explanations",
                    "cells",
                    "again",
                ];
                keys.map(|key| cluster[key].clone())
            })
            .collect();
        let keys = [
            "cells",
            "axes",
            "facts",
            "trails",
            "settled",
            "planned",
            "differences",
        ];
        (keys.map(|key| compared[key].clone()), clusters)
    };
    let whole = told(&compared(&lab));
    let verdict = |lab: &Lab| lab.events().last().unwrap()["verdict"].clone();
    let whole_verdict = verdict(&lab);

    let mut merge = vec!["report".to_owned(), "merge".to_owned()];
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        let part = [run.as_slice(), &["--shard", part]].concat();
        let code = lab.run(&part).code;
        assert!(code == 0 || code == 1, "{code}");
        merge.push(lab.run_folder().display().to_string());
    }
    lab.run(&merge).expect(1);
    assert_eq!(verdict(&lab), whole_verdict);
    let merged = told(&compared(&lab));
    assert_eq!(merged.0, whole.0);
    assert_eq!(merged.1, whole.1);

    // Without one of the parts nobody knows.
    merge.pop();
    let said = lab.run(&merge);
    assert_ne!(said.code, 0, "{}", said.stderr);
    let left = compared(&lab)["not_compared"]
        .as_array()
        .map_or(0, Vec::len);
    assert_eq!(
        left, 3,
        "the sessions of the missing part are infrastructure"
    );
}
