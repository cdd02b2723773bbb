//! Tools that compare and print what the session remembers. Templates in their arguments were
//! filled in before they are called.

use crate::builtin::{Nothing, Tools, assertion, memory};
use crate::math;
use crate::tool::{Answer, ToolError};

/// Differences up to this do not count.
const CLOSE: f64 = 0.0001;

pub(super) fn tools() -> Tools {
    tools![
        assertion::<Compare>(
            "assertEquals",
            "Expects two texts to be equal.",
            body!(|arguments, _| {
                if arguments.actual == arguments.expected {
                    return Ok(Answer::default());
                }
                Err(ToolError::failed(format!(
                    "expected {:?}, got {:?}",
                    arguments.expected, arguments.actual
                )))
            }),
        ),
        assertion::<Compare>(
            "assertNotEquals",
            "Expects two texts to differ.",
            body!(|arguments, _| {
                if arguments.actual != arguments.expected {
                    return Ok(Answer::default());
                }
                Err(ToolError::failed(format!(
                    "expected something other than {:?}",
                    arguments.expected
                )))
            }),
        ),
        assertion::<Math>(
            "assertMath",
            "Expects an arithmetic expression to have a value: `{{price}} * 2`.",
            body!(|arguments, _| assert_math(&arguments)),
        ),
        memory::<Nothing>(
            "dumpMemory",
            "Returns what the session remembers, secrets redacted.",
            body!(|Nothing {}, call| {
                let memory = call.session.memory();
                let lines: Vec<_> = memory
                    .shown()
                    .into_iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                Ok(Answer::text(if lines.is_empty() {
                    "(nothing)".to_owned()
                } else {
                    lines.join("\n")
                }))
            }),
        ),
    ]
}

fn assert_math(arguments: &Math) -> Result<Answer, ToolError> {
    if arguments.expression.contains("[[") {
        return Err(ToolError::NeedsAgent(
            "a [[question]] in assertMath".to_owned(),
        ));
    }
    let wrong = |what: &str, text: &str, why: String| {
        ToolError::failed(format!("{what} {text:?} cannot be calculated: {why}"))
    };
    let value = math::evaluate(&arguments.expression)
        .map_err(|why| wrong("the expression", &arguments.expression, why))?;
    let expected = math::evaluate(&arguments.expected)
        .map_err(|why| wrong("the expected value", &arguments.expected, why))?;
    if (value - expected).abs() <= CLOSE {
        return Ok(Answer::text(value.to_string()));
    }
    Err(ToolError::failed(format!(
        "{} is {value}, expected {expected}",
        arguments.expression
    )))
}

arguments! {
    struct Compare {
        /// What is there.
        actual: String,
        /// What should be there.
        expected: String,
    }

    struct Math {
        /// Numbers, `+ - * / % ^`, parentheses, `abs sqrt floor ceil round`.
        expression: String,
        /// Its value.
        expected: String,
    }
}
