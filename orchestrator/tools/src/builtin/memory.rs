//! Tools that compare and print what the session remembers. Templates in their arguments were
//! filled in before they are called.

use crate::builtin::{EVERYWHERE, Nothing};
use crate::math;
use crate::tool::{Answer, ToolError};

/// Differences up to this do not count.
const CLOSE: f64 = 0.0001;

tools! { EVERYWHERE;
    /// Expects two texts to be equal.
    Assertion assertEquals Compare {
        /// What is there.
        actual: String,
        /// What should be there.
        expected: String,
    }
    |Compare { actual, expected }, _| {
        if actual == expected {
            return Ok(Answer::default());
        }
        Err(ToolError::failed(format!("expected {expected:?}, got {actual:?}")))
    };

    /// Expects two texts to differ.
    Assertion assertNotEquals Compare
    |Compare { actual, expected }, _| {
        if actual != expected {
            return Ok(Answer::default());
        }
        Err(ToolError::failed(format!("expected something other than {expected:?}")))
    };

    /// Expects an arithmetic expression to have a value: `{{price}} * 2`.
    Assertion assertMath Math {
        /// Numbers, `+ - * / % ^`, parentheses, `abs sqrt floor ceil round`.
        expression: String,
        /// Its value.
        expected: String,
    }
    |arguments, _| assert_math(&arguments);

    /// Returns what the session remembers, secrets redacted.
    Memory dumpMemory Nothing
    |Nothing {}, call| {
        let memory = call.session.memory().shown();
        let lines = memory.iter().map(|(name, value)| format!("{name} = {value}"));
        let lines: Vec<_> = lines.collect();
        Ok(Answer::text(if lines.is_empty() {
            "(nothing)".to_owned()
        } else {
            lines.join("\n")
        }))
    };
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
