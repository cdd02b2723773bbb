//! Whatever the trail, a recording is written so that it reads back, or it is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_model::trail::write_recording;
use packtrain_model::yaml::Value;
use packtrain_model::{StepIndex, ToolCall, Trail};

fuzz_target!(|input: (&str, u8, u8, &str)| {
    let (text, step, classifier, argument) = input;
    let classifier = ["web", "android", "ios-iphone"][usize::from(classifier) % 3];
    let step = StepIndex(u32::from(step) % 4);
    let args = Value::mapping([("text".to_owned(), Value::text(argument))]);
    let calls = [ToolCall::new("say", args)];
    let Ok(written) = write_recording(text, step, classifier, &calls) else {
        return;
    };
    let trail = Trail::parse(&written, "written")
        .expect("what was written is a trail")
        .trail;
    let recorded = trail
        .step(step)
        .and_then(|step| step.recordings.get(classifier))
        .expect("what was written is there");
    assert_eq!(recorded.value, calls);
    assert_eq!(
        write_recording(&written, step, classifier, &calls).as_deref(),
        Ok(written.as_str())
    );
});
