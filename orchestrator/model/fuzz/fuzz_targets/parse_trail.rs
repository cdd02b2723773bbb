//! Whatever the text, reading it ends, with a trail or with mistakes that can be drawn.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_model::{Severity, Trail};

fuzz_target!(|text: &str| {
    let problems = match Trail::parse(text, "fuzz.trail.yaml") {
        Ok(parsed) => {
            parsed.trail.summary();
            for (name, span) in parsed.trail.tool_names() {
                assert!(!name.is_empty() && span.is_some());
            }
            parsed.warnings
        }
        Err(problems) => {
            assert!(
                problems
                    .iter()
                    .any(|problem| problem.severity == Severity::Error)
            );
            problems
        }
    };
    for problem in problems {
        problem.render(true);
    }
});
