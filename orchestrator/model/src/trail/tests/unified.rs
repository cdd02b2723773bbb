use super::{FULL, on, parsed, trail};
use crate::event::StepKind;
use crate::ids::StepIndex;
use crate::trail::{Form, Recorded, ToolCall, Trail};
use crate::yaml::Value;

/// The line of the sample that holds some words, from 1.
fn line_of(words: &str) -> u32 {
    let line = FULL.lines().position(|line| line.contains(words));
    line.unwrap() as u32 + 1
}

#[test]
fn every_part_of_the_unified_form_is_read() {
    let trail = trail(FULL);
    assert_eq!(trail.form, Form::Unified);
    let trailhead = trail.trailhead.as_ref().unwrap();
    assert_eq!(
        (trailhead.index, trailhead.kind),
        (StepIndex::TRAILHEAD, StepKind::Trailhead)
    );
    assert_eq!(
        (trailhead.text.as_str(), trailhead.max_retries),
        ("Open the shop", Some(1))
    );
    let kinds: Vec<StepKind> = trail.steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Step, StepKind::Verify, StepKind::Step]);
    let texts: Vec<&str> = trail.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "Tap \"Plus\"",
            "The number is one more than before",
            "Say\ngoodbye"
        ]
    );
    let indices: Vec<u32> = trail.steps.iter().map(|step| step.index.0).collect();
    assert_eq!(indices, [1, 2, 3]);
    assert!(trail.steps[0].recordable && !trail.steps[2].recordable);
    assert_eq!(trail.steps[2].max_retries, Some(3));
}

#[test]
fn steps_and_calls_know_their_places() {
    let trail = trail(FULL);
    assert_eq!(trail.steps[0].span.start.line, line_of("- step: \"Tap"));
    assert_eq!(trail.steps[2].span.start.line, line_of("- step: |-"));
    for (name, span) in trail.tool_names() {
        assert_eq!(trail.source.slice(span.unwrap()), name);
    }
    let names: Vec<&str> = trail.tool_names().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "launchApp",
            "tapOnElementBySelector",
            "pressBack",
            "web_click",
            "web_type",
            "web_verifyTextVisible"
        ]
    );
}

#[test]
fn a_recording_is_unknown_or_no_action_or_calls() {
    let trail = trail(FULL);
    let step = &trail.steps[0];
    let Recorded::Calls(origin, calls) = step.recording_for(&on(&["android", "phone"])) else {
        panic!("{step:?}");
    };
    assert_eq!(origin.classifier, Some("android-phone"));
    assert_eq!(calls.len(), 2);
    assert!(matches!(
        step.recording_for(&on(&["android", "tablet"])),
        Recorded::NoAction(_)
    ));
    assert_eq!(step.recording_for(&on(&["android"])), Recorded::Unknown);
    assert_eq!(step.recording_for(&[]), Recorded::Unknown);
    let trailhead = trail.trailhead.as_ref().unwrap();
    assert!(matches!(
        trailhead.recording_for(&on(&["web"])),
        Recorded::NoAction(_)
    ));
    assert!(trail.has_recording_for(&on(&["web"])) && !trail.has_recording_for(&on(&["ios"])));
}

#[test]
fn the_closest_recording_wins_for_each_step_by_itself() {
    let trail = trail(
        "trail:
- step: a
  recording:
    android: [{one: {}}]
    android-phone: [{two: {}}]
- step: b
  recording:
    android: [{three: {}}]
",
    );
    let phone = on(&["android", "phone"]);
    let names: Vec<&str> = trail
        .steps
        .iter()
        .map(|step| match step.recording_for(&phone) {
            Recorded::Calls(_, calls) => calls[0].name.as_str(),
            Recorded::NoAction(_) | Recorded::Unknown => panic!("{step:?}"),
        })
        .collect();
    assert_eq!(names, ["two", "three"]);
}

#[test]
fn a_step_that_is_not_recordable_has_no_recording_even_if_it_says_no_action() {
    let trail = trail("trail:\n- step: a\n  recordable: false\n  recording:\n    web: []\n");
    assert_eq!(
        trail.steps[0].recording_for(&on(&["web"])),
        Recorded::Unknown
    );
}

#[test]
fn an_unknown_tool_is_kept_as_written() {
    let trail = trail(
        "trail:\n- step: a\n  recording:\n    web:\n    - myTool: {pin: 0000, n: 5, t: \"5\", deep: {list: [x]}}\n",
    );
    let Recorded::Calls(_, [call]) = trail.steps[0].recording_for(&on(&["web"])) else {
        panic!("{trail:?}");
    };
    assert_eq!(
        call.args.to_json(),
        serde_json::json!({"pin": "0000", "n": 5, "t": "5", "deep": {"list": ["x"]}})
    );
}

#[test]
fn a_file_that_is_all_config_is_a_description() {
    for text in ["config:\n  id: a\n", "config: {}\n", "config:\n"] {
        let trail = trail(text);
        assert!(trail.is_metadata_only(), "{text}");
    }
}

#[test]
fn variables_are_filled_in_while_reading_and_places_stay() {
    let text = "trail:\n- step: Open {{HOST}}\n  recording:\n    web:\n    - web_navigate:\n        url: \"http://{{ HOST }}/{{later}}\"\n        x: {y: 1}\n    - web_click: {}\n";
    let lookup = |name: &str| (name == "HOST").then(|| "shop.test:8080".to_owned());
    let trail = Trail::parse_with(text, "f", &lookup).unwrap().trail;
    assert_eq!(trail.steps[0].text, "Open shop.test:8080");
    let Recorded::Calls(_, calls) = trail.steps[0].recording_for(&on(&["web"])) else {
        panic!("{trail:?}");
    };
    assert_eq!(
        calls[0].args.as_mapping().unwrap().get("url"),
        Some(&Value::text("http://shop.test:8080/{{later}}"))
    );
    assert_eq!(calls[1].span.unwrap().start.line, 8);
}

#[test]
fn a_value_of_a_variable_cannot_become_yaml() {
    let lookup = |_: &str| Some("x\n- step: injected\n".to_owned());
    let trail = Trail::parse_with("trail:\n- step: a {{X}}\n", "f", &lookup)
        .unwrap()
        .trail;
    assert_eq!(trail.steps.len(), 1);
    assert_eq!(trail.steps[0].text, "a x\n- step: injected\n");
}

#[test]
fn a_summary_has_what_reports_need() {
    let parsed = Trail::parse(FULL, "trails/shop/counter.trail.yaml").unwrap();
    let summary = parsed.trail.summary();
    assert_eq!(
        (summary.name.as_str(), summary.title.as_str()),
        ("shop/counter", "Count: up & down")
    );
    assert_eq!(summary.tags, ["smoke", "counter"]);
    let lines: Vec<u32> = summary.steps.iter().map(|step| step.line).collect();
    let words = [
        "  step: Open",
        "- step: \"Tap",
        "- verify: The",
        "- step: |-",
    ];
    assert_eq!(lines, words.map(line_of));
    assert_eq!(summary.steps.len(), 4);
    let untitled = parsed_summary_title("config: {}\n");
    assert_eq!(untitled, "f");
}

fn parsed_summary_title(text: &str) -> String {
    parsed(text).trail.summary().title
}

#[test]
fn windows_line_ends_make_no_difference() {
    let windows = FULL.replace('\n', "\r\n");
    let (unix, windows) = (trail(FULL), trail(&windows));
    assert_eq!(unix.config.description, windows.config.description);
    let texts = |trail: &Trail| -> Vec<String> {
        trail.steps.iter().map(|step| step.text.clone()).collect()
    };
    assert_eq!(texts(&unix), texts(&windows));
}

#[test]
fn a_list_of_calls_can_be_read_alone() {
    let calls =
        ToolCall::parse_list("- launchApp: {appId: a.b}\n- pressBack:\n", "<yaml>").unwrap();
    assert_eq!(
        calls,
        [
            ToolCall::new(
                "launchApp",
                Value::mapping([("appId".to_owned(), Value::text("a.b"))])
            ),
            ToolCall::new("pressBack", Value::mapping([])),
        ]
    );
    let problems = ToolCall::parse_list("launchApp: {}\n", "<yaml>").unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "<yaml>:1:1: error: expected the file to be a list of tool calls, found a mapping"
    );
}
