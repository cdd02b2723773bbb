//! Laws of writing, on trails written in all sorts of ways.

use proptest::prelude::*;

use super::{calls, write};
use crate::ids::StepIndex;
use crate::trail::{Recorded, ToolCall, Trail, write_recording};
use crate::yaml::Value;

/// How a step may be written, its key in column 4; `#` begins something that must survive.
const WORDS: [&str; 7] = [
    "step: plain words\n",
    "step: \"quoted\"  # why\n",
    "verify: over\n      two lines\n",
    "step: |\n      literal\n\n",
    "verify: >-\n      folded\n      text\n",
    "step: |+\n      kept\n\n\n",
    "step: \u{e9}\u{6f22} # \u{fc}\n",
];

const RECORDINGS: [&str; 9] = [
    "",
    "    # none yet\n",
    "    recording:\n      android: []\n",
    "    recording: # on two\n      ios-iphone:\n        - a: {x: 1}\n      # between\n      web:\n        - b:\n            text: |-\n              two\n              lines\n        # below\n",
    "    recording:\n      web: [] # nothing\n",
    "    recording: {}\n",
    "    recording: {web: [{c: {}}], android: []}\n",
    "    recording:\n      'web':\n\n        # first\n        - c: {}\n\n        - d:\n",
    "    recording:\n      web:\n        - e:\n            text: |+\n              kept\n\n      ios: []\n",
];

const AFTER: [&str; 5] = [
    "",
    "\n",
    "    # attached\n\n  # about the next\n",
    "    maxRetries: 3 # enough\n",
    "    # about the key below\n    recordable: true\n\n\n",
];

fn trail() -> impl Strategy<Value = (String, usize)> {
    let step = (
        prop::sample::select(&WORDS[..]),
        prop::sample::select(&RECORDINGS[..]),
        prop::sample::select(&AFTER[..]),
    );
    (
        prop::collection::vec(step, 1..5),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(&["", "config:\n  id: x # y\n\n", "# top\n"][..]),
    )
        .prop_map(|(steps, windows, open_end, head)| {
            let mut text = format!("{head}trail:\n");
            for (words, recording, after) in &steps {
                text.push_str(&format!("  - {words}{recording}{after}"));
            }
            if open_end {
                text.truncate(text.trim_end().len());
            }
            if windows {
                text = text.replace('\n', "\r\n");
            }
            (text, steps.len())
        })
}

fn any_calls() -> impl Strategy<Value = Vec<ToolCall>> {
    let args = prop::collection::btree_map("[a-zA-Z]{1,8}", any_json(), 0..4)
        .prop_map(|args| serde_json::Value::Object(args.into_iter().collect()));
    let call = ("[a-z_A-Z]{1,12}|\\PC{1,6}", args)
        .prop_filter("a name", |(name, _)| !name.trim().is_empty())
        .prop_map(|(name, args)| ToolCall::new(name, Value::from(&args)));
    prop::collection::vec(call, 0..4)
}

fn parsed(text: &str) -> Trail {
    Trail::parse(text, "f")
        .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"))
        .trail
}

/// The trail without what is recorded for one device in one step.
fn without(trail: &Trail, step: u32, classifier: &str) -> Vec<String> {
    trail
        .all_steps()
        .map(|known| {
            let recordings: Vec<_> = known
                .recordings
                .iter()
                .filter(|entry| {
                    known.index != StepIndex(step)
                        || entry.classifier.as_deref() != Some(classifier)
                })
                .map(|entry| format!("{:?} {:?}", entry.classifier, names(&entry.value)))
                .collect();
            format!(
                "{} {:?} {:?} {recordings:?} {:?}",
                known.index, known.kind, known.text, known.max_retries
            )
        })
        .collect()
}

fn names(calls: &[ToolCall]) -> Vec<String> {
    calls
        .iter()
        .map(|call| call.to_value().to_string())
        .collect()
}

/// Comments that stand outside of one recording.
fn comments(text: &str, trail: &Trail, step: u32, classifier: &str) -> Vec<String> {
    let slot = trail.steps[step as usize - 1].recordings.get(classifier);
    let inside = slot.and_then(|slot| {
        let first = slot.span.end.line;
        let last = slot
            .value
            .iter()
            .filter_map(|call| call.args.span)
            .map(|span| span.end.line)
            .max()?;
        Some(first..=last)
    });
    text.lines()
        .zip(1u32..)
        .filter(|(_, line)| !inside.as_ref().is_some_and(|inside| inside.contains(line)))
        .filter_map(|(line, _)| Some(format!("#{}", line.split_once('#')?.1.trim_end())))
        .collect()
}

proptest! {
    #[test]
    fn what_is_written_reads_back_and_all_else_stays(
        (text, steps) in trail(), step in 0usize..4,
        classifier in prop::sample::select(&["web", "android", "ios-iphone", "desktop"][..]),
        calls in any_calls()
    ) {
        let step = (step % steps + 1) as u32;
        let before = parsed(&text);
        let written = write_recording(&text, StepIndex(step), classifier, &calls).unwrap();
        let after = parsed(&written);

        let lineage = [classifier.to_owned()];
        match after.steps[step as usize - 1].recording_for(&lineage) {
            Recorded::Calls(_, read) => prop_assert_eq!(read, calls.as_slice()),
            Recorded::NoAction(_) => prop_assert!(calls.is_empty()),
            Recorded::Unknown => prop_assert!(false, "nothing was written"),
        }
        prop_assert_eq!(without(&before, step, classifier), without(&after, step, classifier));

        // One stretch of the text was replaced, and no comment outside the recording was in it.
        let kept = comments(&text, &before, step, classifier);
        let mut rest = written.as_str();
        for comment in kept {
            let at = rest.find(&comment);
            prop_assert!(at.is_some(), "lost {} in\n{}", comment, written);
            rest = &rest[at.unwrap_or_default() + comment.len()..];
        }
        if text.contains("\r\n") {
            prop_assert!(!written.replace("\r\n", "").contains('\n'));
        }

        // Once more changes nothing.
        let again = write_recording(&written, StepIndex(step), classifier, &calls).unwrap();
        prop_assert_eq!(again, written);
    }

    #[test]
    fn two_devices_do_not_mind_each_other((text, steps) in trail(), step in 0usize..4) {
        let step = (step % steps + 1) as u32;
        let one = |text: &str| write(text, step, "tv", "- one: {a: 1}\n");
        let two = |text: &str| write(text, step, "car", "- two: {b: '2'}\n");
        let lines = |text: String| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        if !text.contains("recording: {web") {
            prop_assert_eq!(lines(one(&two(&text))), lines(two(&one(&text))));
        }
        let both = parsed(&one(&two(&text)));
        let recorded = &both.steps[step as usize - 1].recordings;
        prop_assert_eq!(&recorded.get("tv").unwrap().value, &calls("- one: {a: 1}\n"));
        prop_assert_eq!(&recorded.get("car").unwrap().value, &calls("- two: {b: '2'}\n"));
    }

    #[test]
    fn writing_into_arbitrary_text_never_panics(text in "((  )?- step: a|    recording:|      web:|        - [a{\\[]|[ \t]|\n|#|\\{|\\}|trail:\n){0,20}", step in 0u32..3) {
        let _ = write_recording(&text, StepIndex(step), "web", &calls("- tap: {}\n"));
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<String>().prop_map(serde_json::Value::from),
        "(yes|no|null|~|[-+]?[0-9x_.:eE]{1,6}|true|False)".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[ -~]{0,8}", inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}
