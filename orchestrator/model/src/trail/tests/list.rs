use super::{on, parsed, problem, trail};
use crate::event::StepKind;
use crate::trail::{Form, Recorded};

const LIST: &str = "\
- config:
    id: old/one
    title: Old
    platform: android
    driver: ANDROID_ONDEVICE_INSTRUMENTATION
    skip: ''
    tags: [smoke]
    source:
      type: HANDWRITTEN
      reason: SHOP-1
- trailhead: shop_freshInstall
- tools:
    - launchApp:
        appId: com.example.shop
    - pressBack: {}
- prompts:
    - step: Tap it
      recording:
        tools:
          - tapOnPoint: {x: 1, y: 2}
    - verify: It is there
      recording: {tools: []}
    - step: Find a way
      recordable: false
      maxRetries: 5
";

#[test]
fn the_list_form_is_read() {
    let trail = trail(LIST);
    assert_eq!(trail.form, Form::List);
    assert_eq!(trail.config.id.as_deref(), Some("old/one"));
    assert_eq!(trail.config.platform.as_deref(), Some("android"));
    assert_eq!(trail.config.metadata["sourceReason"], "SHOP-1");
    let shown: Vec<_> = trail
        .all_steps()
        .map(|step| (step.index.0, step.kind, step.text.as_str()))
        .collect();
    assert_eq!(
        shown,
        [
            (0, StepKind::Trailhead, "Go to where the trail begins"),
            (1, StepKind::Step, "launchApp, pressBack"),
            (2, StepKind::Step, "Tap it"),
            (3, StepKind::Verify, "It is there"),
            (4, StepKind::Step, "Find a way"),
        ]
    );
}

#[test]
fn a_recording_of_the_list_form_is_for_every_device() {
    let trail = trail(LIST);
    let web = on(&["web"]);
    let recorded: Vec<Option<usize>> = trail
        .all_steps()
        .map(|step| match step.recording_for(&web) {
            Recorded::Unknown => None,
            Recorded::NoAction(origin) => origin.classifier.is_none().then_some(0),
            Recorded::Calls(origin, calls) => origin.classifier.is_none().then_some(calls.len()),
        })
        .collect();
    assert_eq!(recorded, [Some(1), Some(2), Some(1), Some(0), None]);
    assert_eq!(
        trail.config.driver_for(&web),
        Some("ANDROID_ONDEVICE_INSTRUMENTATION")
    );
    assert_eq!(trail.config.skip_for(&web), None, "a blank reason");
}

#[test]
fn a_reason_to_skip_holds_for_every_device() {
    let trail = trail("- config: {skip: broken}\n- prompts: [{step: a}]\n");
    assert_eq!(trail.config.skip_for(&on(&["web"])), Some("broken"));
    assert_eq!(trail.config.skip_for(&[]), Some("broken"));
}

#[test]
fn a_trailhead_of_the_list_form_may_have_words_or_tools_or_both() {
    let words = trail("- trailhead: {step: Sign in}\n- prompts: [{step: a}]\n");
    let trailhead = words.trailhead.unwrap();
    assert_eq!(trailhead.text, "Sign in");
    assert_eq!(trailhead.recording_for(&[]), Recorded::Unknown);
    let both =
        trail("- trailhead: {step: Sign in, tools: [{a: {}}, {b: {}}]}\n- prompts: [{step: a}]\n");
    assert!(matches!(
        both.trailhead.unwrap().recording_for(&[]),
        Recorded::Calls(_, [_, _])
    ));
    let nothing = trail("- trailhead: {step: Here already, tools: []}\n- prompts: [{step: a}]\n");
    assert!(matches!(
        nothing.trailhead.unwrap().recording_for(&[]),
        Recorded::NoAction(_)
    ));
}

#[test]
fn several_lists_of_steps_are_one_trail() {
    let trail = trail("- prompts: [{step: a}]\n- tools: [{t: {}}]\n- prompts: [{step: b}]\n");
    let texts: Vec<&str> = trail.steps.iter().map(|step| step.text.as_str()).collect();
    assert_eq!(texts, ["a", "t", "b"]);
}

#[test]
fn keys_the_list_form_does_not_know_are_warnings() {
    let parsed = parsed("- config: {colour: red}\n- prompts:\n    - step: a\n      hint: b\n");
    let told: Vec<String> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "f.trail.yaml:1:12: warning: unknown key `colour` in config",
            "f.trail.yaml:4:7: warning: unknown key `hint` in a step",
        ]
    );
}

#[test]
fn mistakes_in_the_list_form_are_told_where_they_are() {
    for (text, told) in [
        (
            "- prompts: [{step: a}]\n- config: {}\n",
            "2:3: error: `config` must be the first item, and the only one",
        ),
        (
            "- prompts: [{step: a}]\n- trailhead: x\n",
            "2:3: error: `trailhead` must come before all steps, and only once",
        ),
        (
            "- promts: [{step: a}]\n",
            "1:3: error: unknown item `promts` in a trail | did you mean `prompts`?",
        ),
        (
            "- trailhead: {maxRetries: 1}\n- prompts: [{step: a}]\n",
            "1:3: error: empty trailhead: `step` or `tools` is missing",
        ),
        (
            "- prompts:\n    - step: a\n      recording: {}\n",
            "3:7: error: `tools` is missing | write `tools: []` when there is nothing to do",
        ),
        (
            "- prompts:\n    - step: a\n      verify: b\n",
            "3:7: error: a step has either `step` or `verify`, not both",
        ),
        (
            "- prompts:\n    - recordable: true\n",
            "2:7: error: empty step: `step` or `verify` is missing",
        ),
        (
            "- prompts: {step: a}\n",
            "1:12: error: expected `prompts` to be a list of steps, found a mapping",
        ),
        ("[]\n", "f error: the trail has no steps"),
    ] {
        assert_eq!(problem(text), told);
    }
}
