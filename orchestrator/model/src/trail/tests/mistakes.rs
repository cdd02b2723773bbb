use super::{FULL, problem, problems};

#[test]
fn an_empty_file_is_no_trail() {
    let told = "f error: the file is empty | a trail begins with `config:` and `trail:`";
    for text in ["", "\n\n", "# only a comment\n", "---\n", "\u{feff}"] {
        let problem = problem(text);
        assert!(
            problem == told || problem.contains("found nothing"),
            "{text:?}: {problem}"
        );
    }
}

#[test]
fn every_mistake_is_told_not_only_the_first() {
    let text = "\
config:
  tags: smoke
  id: [a]
tral:
trailhead:
  verify: b
trail:
  - step: a
    verify: b
  - recordng: {}
    step: c
    recording:
      android: {tap: {}}
      web:
        - tap
        - {}
  - 5
";
    assert_eq!(
        problems(text),
        [
            "2:9: error: expected a list, found text | write it as a list of one: [smoke]",
            "3:7: error: expected `id` to be text, found a list | text that looks like YAML needs quotes around it",
            "4:1: error: unknown key `tral` in a trail | did you mean `trail`?",
            "6:3: error: a trailhead cannot be `verify`: it leads somewhere and asserts nothing | write `step:`, or make it the first step of the trail",
            "9:5: error: a step has either `step` or `verify`, not both | make it two steps",
            "10:5: error: unknown key `recordng` in a step | did you mean `recording`?",
            "13:16: error: expected a list of tool calls for `android` | begin each call with `- `",
            "15:11: error: expected a tool call, found text | a call without arguments is written `tap: {}`",
            "16:11: error: a tool call needs the name of a tool",
            "17:5: error: expected a step, found a number | a step begins with `step:` or `verify:`",
        ]
        .map(|line| line.replace("error: expected a list, found", "error: `tags`: expected a list, found"))
    );
}

#[test]
fn each_mistake_has_a_message_a_place_and_advice() {
    for (text, told) in [
        ("- a\nb\n", None),
        (
            "config: {id: a}\ntrailhead: {step: b}\n",
            Some(
                "2:1: error: a trail with a trailhead needs steps | add `trail:` with a list of steps",
            ),
        ),
        (
            "trail: []\n",
            Some("1:1: error: the trail has no steps | add `trail:` with a list of steps"),
        ),
        (
            "config: {}\ntrail: []\n",
            Some("2:1: warning: the trail has no steps"),
        ),
        (
            "config: {}\ntrail:\n",
            Some(
                "2:1: error: expected `trail` to be a list of steps, found nothing | add steps below it, or leave `trail:` out of a file that is only `config:`",
            ),
        ),
        (
            "trail:\n  step: a\n",
            Some(
                "1:1: error: expected `trail` to be a list of steps, found a mapping | begin each step with `- `",
            ),
        ),
        (
            "trail: [{recordable: true}]\n",
            Some("1:9: error: empty step: `step` or `verify` is missing | describe what to do"),
        ),
        (
            "trail: [{stp: a}]\n",
            Some("1:10: error: unknown key `stp` in a step | did you mean `step`?"),
        ),
        (
            "trail:\n- step: a\n  android-phone:\n  - tap: {}\n",
            Some(
                "3:3: error: unknown key `android-phone` in a step | device classifiers stand below `recording:`",
            ),
        ),
        (
            "trail:\n- step: a\n  recording:\n  - tap: {}\n",
            Some(
                "3:3: error: expected `recording` to be a mapping of device classifiers, found a list | put `android:`, `ios:` or `web:` between it and the calls",
            ),
        ),
        (
            "trail:\n- step: a\n  recording:\n",
            Some(
                "3:3: error: expected `recording` to be a mapping of device classifiers, found nothing | put `android:`, `ios:` or `web:` between it and the calls",
            ),
        ),
        (
            "trail:\n- step: a\n  recording:\n    web:\n",
            Some(
                "4:5: error: expected a list of tool calls for `web`, found nothing | write [] when there is nothing to do",
            ),
        ),
        (
            "trail:\n- step: a\n  recording:\n    web:\n    - tap:\n      ref: e4\n",
            Some(
                "6:7: error: one list item is one tool call, found `tap` and `ref` | indent the arguments below `tap:`",
            ),
        ),
        (
            "trail:\n- step: a\n  recording:\n    web:\n    - tap: {}\n      back: {}\n",
            Some(
                "6:7: error: one list item is one tool call, found `tap` and `back` | begin each call with `- `",
            ),
        ),
        (
            "trail:\n- step: a\n  recording:\n    web:\n    - tap: e4\n",
            Some(
                "5:12: error: expected the arguments of `tap` to be a mapping, found text | write `tap:` and its arguments indented below",
            ),
        ),
        (
            "trail:\n- step: a\n  recording: {\"a b\": []}\n",
            Some(
                "3:15: error: invalid device classifier `a b` | write a platform, or a narrower one like `android-phone`",
            ),
        ),
        (
            "trail:\n- step: a\n  recordable: false\n  recording:\n    web: [{tap: {}}]\n",
            Some(
                "5:5: error: the step is not recordable, yet something is recorded | remove `recordable: false` or the recording",
            ),
        ),
        (
            "trail:\n- step: a\n  recordable: maybe\n",
            Some("3:15: error: `recordable`: expected true or false, found `maybe`"),
        ),
        (
            "trail:\n- step: a\n  maxRetries: -1\n",
            Some("3:15: error: `maxRetries`: expected a whole number of at least 0, found `-1`"),
        ),
        (
            "trail:\n- step:\n",
            Some(
                "2:7: error: expected `step` to be text, found nothing | write \"\" for empty text",
            ),
        ),
        (
            "trail:\n- step: ''\n",
            Some("2:9: warning: the step has no text"),
        ),
        (
            "trailhead: Open it\ntrail: [{step: a}]\n",
            Some(
                "1:12: error: expected `trailhead` to be a mapping, found text | write its text as `step: ...` below it",
            ),
        ),
        (
            "trailhead:\n  step: a\n  recording:\n    web: [{a: {}}]\ntrail: [{step: a}]\n",
            Some(
                "4:5: error: the trailhead of `web` must be one tool call, found a list | write the call without `- `, or {} when there is nothing to do",
            ),
        ),
        (
            "trailhead:\n  step: a\n  recording:\n    web: {a: {}, b: {}}\ntrail: [{step: a}]\n",
            Some(
                "4:18: error: the trailhead of `web` must be one tool call, found a, b | use a tool that does it all, or move the rest into the first step",
            ),
        ),
        (
            "trailhead: {recording: {}}\ntrail: [{step: a}]\n",
            Some("1:12: error: empty trailhead: `step` is missing | describe what to do"),
        ),
        (
            "just words\n",
            Some(
                "1:1: error: expected a trail, found text | a trail begins with `config:` and `trail:`",
            ),
        ),
        ("steps:\n- step: a\n", None),
    ] {
        match told {
            Some(told) => assert_eq!(problem(text), told, "{text}"),
            None => assert!(!problems(text).is_empty(), "{text}"),
        }
    }
}

#[test]
fn a_flood_of_mistakes_is_cut_and_does_not_hide_an_error() {
    let config: String = (0..200).map(|n| format!("  unknown{n}: x\n")).collect();
    let text = format!("config:\n{config}trail:\n- step: a\n  bad: b\n");
    let told = problems(&text);
    assert!(told.len() < 60, "{}", told.len());
    assert!(told.last().unwrap().contains("error: unknown key `bad`"));
    let steps: String = (0..200).map(|_| "- bad: b\n").collect();
    assert!(problems(&format!("trail:\n{steps}")).len() <= 50);
}

#[test]
fn the_sample_has_no_mistakes() {
    assert_eq!(problems(FULL), [] as [&str; 0]);
}
