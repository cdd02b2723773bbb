//! Every action of a tool arrives on the device that the tool was called for, and on no other.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_tests::repository;

use super::{APP, configure, fastmcp, link_modules, nothing_runs};
use crate::lab;

/// Phones of each platform.
const PHONES: usize = 25;
/// Callbacks of a call.
const CALLBACKS: usize = 20;

/// What the tool of a letter types after a word.
fn marks(letter: char) -> String {
    (0..CALLBACKS)
        .map(|n| format!("{{{{mine}}}}{letter}{n};"))
        .collect()
}

#[test]
fn fifty_phones_get_their_own_actions_of_three_sources_and_nobody_elses() {
    let lab = lab();
    link_modules(&lab);
    let python = fastmcp().join("python");
    for file in ["mark.ts", "mark.py", "mark.mjs", "raw.mjs"] {
        let text = std::fs::read_to_string(repository().join("tests/sources").join(file)).unwrap();
        lab.write(file, &text);
    }
    lab.write("app.yaml", APP)
        .write("package.json", "{ \"type\": \"module\" }");
    let at = |file: &str| lab.folder().join(file);
    configure(
        &lab,
        &format!(
            "  - {{ name: ts, script: mark.ts, transport: http }}\n  \
             - {{ name: py, command: [{python:?}, {:?}], transport: http }}\n  \
             - {{ name: node, command: [node, {:?}], transport: stdio }}\n",
            at("mark.py"),
            at("mark.mjs"),
        ),
    );
    // The platforms meet the sources in opposite orders.
    let steps = |letters: [char; 3]| {
        let tools = BTreeMap::from([('t', "mark_ts"), ('p', "mark_py"), ('n', "mark_node")]);
        let calls = letters.map(|letter| {
            format!(
                "        - {}: {{ word: \"{{{{mine}}}}\" }}\n",
                tools[&letter]
            )
        });
        let there: String = letters.map(marks).concat();
        let shown =
            format!("        - assertVisibleWithText: {{ text: \"<{{{{mine}}}}{there}>\" }}\n");
        let opening = [
            "launchApp: { appId: com.example.note }",
            "tapOnElementWithText: { text: Note }",
            "inputTextRandom: { variable: mine, prefix: w, digitCount: 9, hideKeyboardAfter: false }",
        ];
        let opening = opening.map(|call| format!("        - {call}\n"));
        format!("{}{}{shown}", opening.concat(), calls.concat())
    };
    let (android, ios) = (steps(['t', 'p', 'n']), steps(['n', 'p', 't']));
    lab.write(
        "a.trail.yaml",
        &format!("trail:\n  - step: x\n    recording:\n      android:\n{android}      ios:\n{ios}"),
    );
    let devices = format!("virtual:android:{PHONES},virtual:ios:{PHONES}");
    lab.run(&["run", "a.trail.yaml", "--screenshots=none", "-d", &devices])
        .expect(0);
    nothing_runs(&lab);

    let outcomes = lab.outcomes();
    assert_eq!(outcomes.len(), 2 * PHONES);
    assert!(
        outcomes.values().all(|outcome| outcome == "passed"),
        "{outcomes:?}"
    );
    let events = lab.events();
    // One process of each source answered all calls.
    let mut pids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut answered = 0;
    for event in &events {
        let tool = event["tool"].as_str().unwrap_or_default();
        if event["event"] == "tool_finished" && tool.starts_with("mark_") {
            answered += 1;
            assert_eq!(event["via"]["callbacks"], CALLBACKS, "{event}");
            let pid = event["answer"].as_str().unwrap();
            pids.entry(tool).or_default().insert(pid);
        }
    }
    assert_eq!(answered, 2 * PHONES * 3);
    assert_eq!(pids.len(), 3);
    assert!(pids.values().all(|pids| pids.len() == 1), "{pids:?}");
    // And no id works any more.
    let status = std::fs::read_to_string(lab.run_folder().join("sources/status.json")).unwrap();
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(
        (&status["ended"], &status["open_invocations"]),
        (&true.into(), &0.into()),
        "{status}"
    );
    // In the journal too each session typed its own word only.
    let mut words: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut typed = 0;
    for event in &events {
        if event["event"] == "tool_started" && event["tool"] == "inputText" {
            typed += 1;
            let word = &event["arguments"]["text"].as_str().unwrap()[..10];
            words
                .entry(event["session"].as_str().unwrap())
                .or_default()
                .insert(word);
        }
    }
    assert_eq!(typed, 2 * PHONES * 3 * CALLBACKS);
    assert!(words.values().all(|words| words.len() == 1), "{words:?}");
    let all: BTreeSet<_> = words.values().flatten().collect();
    assert_eq!(all.len(), 2 * PHONES, "no two phones have a word in common");
}
