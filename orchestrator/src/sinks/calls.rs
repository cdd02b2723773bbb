//! The calls that a tool makes while it runs, as they are made: for the tool's author.

use packtrain_engine::Sink;
use packtrain_model::{Entry, RunEvent};
use packtrain_report::{cut, duration, one_line};

use crate::render;

/// Characters of a call's arguments that are shown.
const MAX_SHOWN: usize = 160;

/// Prints two lines for each call within a call: when it begins and how it ended.
pub struct Calls;

impl Sink for Calls {
    fn name(&self) -> &'static str {
        "calls"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        match &entry.event {
            RunEvent::ToolStarted {
                depth,
                tool,
                arguments,
                ..
            } if *depth > 0 => {
                let arguments = arguments.to_string();
                let arguments = cut(&arguments, MAX_SHOWN);
                say(&format!("{}{tool} {arguments}", indent(*depth)));
            }
            RunEvent::ToolFinished {
                depth,
                outcome,
                answer,
                duration_ms,
                ..
            } if *depth > 0 => {
                let took = duration(*duration_ms);
                let said = if outcome.is_passed() {
                    let answer = answer.as_deref().map(one_line).unwrap_or_default();
                    format!("✓ {took}  {}", cut(&answer, MAX_SHOWN))
                } else {
                    let message = outcome.message().unwrap_or_default();
                    format!("✗ {took}  {}", one_line(&message))
                };
                say(&format!("{}  {}", indent(*depth), said.trim_end()));
            }
            _ => {}
        }
        Ok(())
    }

    fn on_dropped(&mut self, count: u64) -> Result<(), String> {
        render::say(&super::lines::not_shown(count));
        Ok(())
    }
}

/// Says a line of somebody else's, who has no say over the terminal.
pub fn say(line: &str) {
    let plain = |letter: char| {
        if letter.is_control() && letter != '\t' {
            '\u{fffd}'
        } else {
            letter
        }
    };
    render::say(&line.chars().map(plain).collect::<String>());
}

fn indent(depth: u32) -> String {
    "  ".repeat(depth.min(16) as usize)
}
