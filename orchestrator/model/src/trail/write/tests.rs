mod laws;

use super::{WriteError, write_recording};
use crate::ids::StepIndex;
use crate::trail::{ToolCall, Trail};

/// Calls from YAML.
fn calls(yaml: &str) -> Vec<ToolCall> {
    ToolCall::parse_list(yaml, "<calls>").unwrap()
}

fn write(text: &str, step: u32, classifier: &str, yaml: &str) -> String {
    write_recording(text, StepIndex(step), classifier, &calls(yaml)).unwrap()
}

const TAP: &str = "- tap: {ref: e4}\n";

#[test]
fn a_step_without_recordings_gets_one_behind_its_words() {
    let text = "\
trail:
  - step: \"One\"   # first
    # and a word about it
  - verify: |-
      Two
      lines
    maxRetries: 2

  # the last
  - step: Three
";
    assert_eq!(
        write(
            text,
            1,
            "web",
            "- web_click:\n    ref: e4\n    values: [a, b]\n"
        ),
        "\
trail:
  - step: \"One\"   # first
    # and a word about it
    recording:
      web:
        - web_click:
            ref: e4
            values:
            - a
            - b
  - verify: |-
      Two
      lines
    maxRetries: 2

  # the last
  - step: Three
"
    );
    assert!(write(text, 2, "web", "[]").contains(
        "      lines\n    recording:\n      web: []\n    maxRetries: 2\n\n  # the last\n"
    ));
    assert!(write(text, 3, "web", TAP).ends_with(
        "  - step: Three\n    recording:\n      web:\n        - tap:\n            ref: e4\n"
    ));
}

#[test]
fn another_device_comes_behind_those_that_are_there() {
    let text = "\
trail:
- step: One
  recording:
    android:
      - tap: {ref: a} # odd but ours
      # ends here

  # not recordable on watches
  recordable: true
- step: Two
";
    assert_eq!(
        write(text, 1, "ios-iphone", TAP),
        "\
trail:
- step: One
  recording:
    android:
      - tap: {ref: a} # odd but ours
      # ends here
    ios-iphone:
      - tap:
          ref: e4

  # not recordable on watches
  recordable: true
- step: Two
"
    );
}

#[test]
fn only_the_devices_own_recording_is_replaced() {
    let text = "\
trail:
  - step: One
    recording:
      android: # Pixel
        - a: {}
        - b:
            text: |+
              kept

      'web':
        - c: {x: '1'} # gone with it
        # stays
      ios: []   # nothing to do
    recordable: true
";
    assert_eq!(
        write(text, 1, "web", TAP),
        text.replace(
            "        - c: {x: '1'} # gone with it\n",
            "        - tap:\n            ref: e4\n"
        )
    );
    assert_eq!(
        write(text, 1, "ios", TAP),
        text.replace(
            "ios: []   # nothing to do\n",
            "ios:   # nothing to do\n        - tap:\n            ref: e4\n"
        )
    );
    assert_eq!(
        write(text, 1, "android", "[]"),
        text.replace("android: # Pixel\n        - a: {}\n        - b:\n            text: |+\n              kept\n\n", "android: [] # Pixel\n")
    );
}

#[test]
fn the_same_recording_again_changes_nothing() {
    let text =
        "trail:\n- step: a\n  recording:\n    web:\n\n      # first\n      - {tap: {ref: 'e4'}}\n";
    assert_eq!(write(text, 1, "web", TAP), text);
}

#[test]
fn a_trailhead_is_a_mapping_of_one_call() {
    let text = "\
trailhead:
  step: Open it
  maxRetries: 1
trail:
- step: a
";
    let written = write(text, 0, "android-phone", "- launchApp: {appId: a.b}\n");
    assert_eq!(
        written,
        "\
trailhead:
  step: Open it
  recording:
    android-phone:
      launchApp:
        appId: a.b
  maxRetries: 1
trail:
- step: a
"
    );
    assert_eq!(
        write(&written, 0, "android-phone", "[]"),
        written.replace(":\n      launchApp:\n        appId: a.b\n", ": {}\n")
    );
    assert_eq!(
        write_recording(text, StepIndex(0), "web", &calls("- a: {}\n- b: {}\n")),
        Err(WriteError::TrailheadCalls(2))
    );
}

#[test]
fn an_empty_recording_of_braces_opens_up() {
    assert_eq!(
        write("trail:\n- step: a\n  recording: {} # none\n", 1, "web", TAP),
        "trail:\n- step: a\n  recording: # none\n    web:\n      - tap:\n          ref: e4\n"
    );
}

#[test]
fn a_trail_in_braces_stays_in_braces() {
    let text = "{trail: [{step: a}, {step: b, recording: {web: []}}]}";
    assert_eq!(
        write(text, 1, "web", TAP),
        "{trail: [{step: a, recording: {web: [{tap: {ref: e4}}]}}, {step: b, recording: {web: []}}]}"
    );
    assert_eq!(
        write(text, 2, "web", TAP),
        "{trail: [{step: a}, {step: b, recording: {web: [{tap: {ref: e4}}]}}]}"
    );
    assert_eq!(
        write(text, 2, "ios", "[]"),
        "{trail: [{step: a}, {step: b, recording: {web: [], ios: []}}]}"
    );
    assert_eq!(
        write("trail:\n- {step: a, recording: {}}\n", 1, "ios", "[]"),
        "trail:\n- {step: a, recording: {ios: []}}\n"
    );
}

#[test]
fn a_json_file_is_edited_too() {
    let text = "{\n  \"trail\": [\n    { \"step\": \"a\" }\n  ]\n}\n";
    assert_eq!(
        write(text, 1, "web", TAP),
        "{\n  \"trail\": [\n    { \"step\": \"a\", recording: {web: [{tap: {ref: e4}}]} }\n  ]\n}\n"
    );
}

#[test]
fn windows_line_ends_stay_windows_line_ends() {
    let text = "trail:\r\n- step: a\r\n- step: b\r\n";
    let written = write(text, 1, "web", "- say: {text: \"one\\ntwo\"}\n");
    assert_eq!(
        written,
        "trail:\r\n- step: a\r\n  recording:\r\n    web:\r\n      - say:\r\n          text: |-\r\n            one\r\n            two\r\n- step: b\r\n"
    );
    assert_eq!(write(&written, 1, "web", "[]").matches('\n').count(), 5);
    assert!(
        !write(&written, 1, "web", "[]")
            .replace("\r\n", "")
            .contains(['\r', '\n'])
    );
}

#[test]
fn a_file_that_ends_without_a_line_break_is_written_to_as_well() {
    assert_eq!(
        write("trail:\n- step: a", 1, "web", "[]"),
        "trail:\n- step: a\n  recording:\n    web: []"
    );
    let literal = "trail:\n- step: |\n    a";
    let written = write(literal, 1, "web", "[]");
    assert_eq!(
        Trail::parse(&written, "f").unwrap().trail.steps[0].text,
        "a\n"
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    let text = "config: {}\ntrail:\n- step: a\n  recordable: false\n- step: b\n";
    let refused = |text: &str, step: u32, classifier: &str, yaml: &str| {
        write_recording(text, StepIndex(step), classifier, &calls(yaml)).unwrap_err()
    };
    assert_eq!(
        refused(text, 1, "web", TAP),
        WriteError::NotRecordable(StepIndex(1))
    );
    assert_eq!(
        refused(text, 3, "web", TAP),
        WriteError::NoSuchStep {
            step: StepIndex(3),
            steps: 2
        }
    );
    assert_eq!(
        refused(text, 0, "web", TAP),
        WriteError::NoSuchStep {
            step: StepIndex(0),
            steps: 2
        }
    );
    assert_eq!(
        refused(text, 2, "a b", TAP),
        WriteError::Classifier("a b".to_owned())
    );
    assert_eq!(
        refused("- prompts: [{step: a}]\n", 1, "web", TAP),
        WriteError::ListForm
    );
    assert!(matches!(
        refused("trail: 5\n", 1, "web", TAP),
        WriteError::NotATrail(_)
    ));
    let nameless = [ToolCall::new("", crate::yaml::Value::mapping([]))];
    assert!(matches!(
        write_recording(text, StepIndex(2), "web", &nameless),
        Err(WriteError::Call { .. })
    ));
}

#[test]
fn a_call_with_an_argument_the_trail_does_not_declare_is_refused() {
    let text = "config: {args: {name: string}}\ntrail:\n- step: a\n";
    let known = calls("- say: {text: \"{{args.name}}\"}\n");
    assert!(write_recording(text, StepIndex(1), "web", &known).is_ok());
    let unknown = calls("- say: {text: \"{{args.nmae}}\"}\n");
    let refused = write_recording(text, StepIndex(1), "web", &unknown);
    assert!(matches!(refused, Err(WriteError::Spoils(_))), "{refused:?}");
}

#[test]
fn a_layout_that_cannot_be_edited_is_refused_not_broken() {
    // The value of an explicit key stands behind a colon of its own.
    let explicit = "trail:\n- step: a\n  recording:\n    ? web\n    : - tap: {}\n";
    match write_recording(explicit, StepIndex(1), "web", &calls("- back: {}\n")) {
        Ok(written) => assert!(written.contains("back")),
        Err(error) => assert_eq!(error, WriteError::Layout(StepIndex(1))),
    }
}
