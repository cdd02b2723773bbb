//! One tool call: templates filled in, the tool looked up and called, both ends journalled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use packtrain_drivers::{ActionReport, BoxFuture};
use packtrain_model::suggest::closest;
use packtrain_model::template::Unresolved;
use packtrain_model::trail::{Recorded, ToolCall, Trail};
use packtrain_model::yaml::Value;
use packtrain_model::{Outcome, RunEvent, StepIndex};
use packtrain_tools::{Answer, Call, NestedTrails, Tool, ToolError};

use crate::judge::judge;
use crate::session::Walk;

/// How deep tools may call tools.
const DEPTH: u32 = 16;
/// Characters of an answer that the journal keeps.
const ANSWER: usize = 8 * 1024;

/// The step that calls are made for.
pub(crate) struct StepCalls<'a> {
    pub(crate) walk: &'a Walk<'a>,
    pub(crate) step: StepIndex,
    pub(crate) next: AtomicU32,
}

impl StepCalls<'_> {
    /// Makes the calls one after another; the first that does not pass ends it.
    pub(crate) async fn all(
        &self,
        trail: &Trail,
        calls: &[ToolCall],
        depth: u32,
    ) -> Result<(), Outcome> {
        for call in calls {
            self.one(trail, call, depth).await?;
        }
        Ok(())
    }

    async fn one(&self, trail: &Trail, call: &ToolCall, depth: u32) -> Result<(), Outcome> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let walk = self.walk;
        let started = Instant::now();
        let tool = walk.registry.get(&call.name);
        let arguments = walk.filled_in(&call.args, tool, trail);
        if let (Some(tool), Ok(arguments)) = (tool, &arguments) {
            walk.scope.hide(tool.spec(), &arguments.value);
        }
        walk.record(RunEvent::ToolStarted {
            session: walk.id.clone(),
            step: self.step,
            call: number,
            depth,
            tool: call.name.clone(),
            arguments: arguments
                .as_ref()
                .map_or(&call.args, |filled| &filled.value)
                .to_json(),
        })
        .await;
        let answer = match arguments {
            Ok(arguments) => self
                .dispatch(call, tool, &arguments.value, depth)
                .await
                .map(|answer| noting(answer, &arguments.unresolved)),
            Err(error) => Err(error),
        };
        let (outcome, report, text) = match answer {
            Ok(Answer { text, report, .. }) => (Outcome::Passed, report, text),
            Err(error) => {
                let at = call.span.map(|span| {
                    format!(
                        "{}:{}:{}",
                        trail.source.name(),
                        span.start.line,
                        span.start.column
                    )
                });
                let outcome = judge(&error, &call.name, at, walk.stop.cause());
                (outcome, ActionReport::default(), None)
            }
        };
        walk.journal_device_events(self.step).await;
        walk.record(RunEvent::ToolFinished {
            session: walk.id.clone(),
            step: self.step,
            call: number,
            depth,
            tool: call.name.clone(),
            outcome: outcome.clone(),
            report,
            // Redacted before it is cut: half a secret would not be found.
            answer: text.map(|text| shortened(walk.redact(&text))),
            duration_ms: started.elapsed(),
        })
        .await;
        match outcome.is_passed() {
            true => Ok(()),
            false => Err(outcome),
        }
    }

    async fn dispatch(
        &self,
        call: &ToolCall,
        tool: Option<&Arc<dyn Tool>>,
        arguments: &Value,
        depth: u32,
    ) -> Result<Answer, ToolError> {
        let walk = self.walk;
        let Some(tool) = tool else {
            return Err(ToolError::Failed {
                message: format!("there is no tool `{}`", call.name),
                log: Vec::new(),
                hint: Some(match closest(&call.name, walk.registry.names()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "`packtrain tools` lists what there is".to_owned(),
                }),
            });
        };
        let platform = walk.scope.platform();
        if !tool.spec().works_on(platform) {
            return Err(ToolError::failed(format!(
                "`{}` does not work on {platform} devices",
                call.name
            )));
        }
        let call = Call {
            session: walk.scope,
            deadline: walk.deadline,
            depth,
            trails: self,
        };
        tool.call(arguments, &call).await
    }

    async fn nested(&self, path: &str, depth: u32) -> Result<Answer, ToolError> {
        if depth > DEPTH {
            return Err(ToolError::failed(format!(
                "trails call trails more than {DEPTH} deep; do two of them call each other?"
            )));
        }
        let walk = self.walk;
        let trail: Arc<Trail> = walk
            .loader
            .load(path, &walk.scope.folders)
            .map_err(ToolError::failed)?;
        let mut ran = 0;
        for step in trail.all_steps() {
            let outcome = match step.recording_for(&walk.lineage) {
                Recorded::NoAction(_) => Ok(()),
                Recorded::Calls(_, calls) => Box::pin(self.all(&trail, calls, depth)).await,
                Recorded::Unknown => Err(walk.needs_agent()),
            };
            outcome.map_err(|outcome| nested_error(path, &step.text, outcome))?;
            ran += 1;
        }
        Ok(Answer::text(format!("ran {ran} steps of {path}")))
    }
}

impl NestedTrails for StepCalls<'_> {
    fn run<'a>(
        &'a self,
        path: &'a str,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.nested(path, call.depth + 1))
    }
}

/// The outcome of an inner step, as the outer call tells it.
fn nested_error(path: &str, step: &str, outcome: Outcome) -> ToolError {
    match outcome {
        Outcome::Failed(failure) => ToolError::Failed {
            message: format!("{path}, step {step:?}: {}", failure.message),
            log: failure.log,
            hint: failure.hint,
        },
        Outcome::NeedsAgent { why } => {
            ToolError::NeedsAgent(format!("{path}, step {step:?} ({why})"))
        }
        Outcome::Infrastructure { cause, hint, .. } => {
            packtrain_drivers::DriverError::Lost { cause, hint }.into()
        }
        Outcome::Cancelled { .. } => ToolError::Cancelled,
        Outcome::Passed | Outcome::Skipped { .. } => {
            ToolError::failed(format!("{path}, step {step:?} ended oddly"))
        }
    }
}

/// A trail can ask for undefined templates to be left as they are; whoever reads the report shall
/// know.
fn noting(mut answer: Answer, unresolved: &[Unresolved]) -> Answer {
    answer.report.notes.extend(
        unresolved
            .iter()
            .map(|template| format!("{} is undefined and was left as is", template.token)),
    );
    answer
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(ANSWER) {
        Some((end, _)) => format!("{} [... {} characters]", &text[..end], text.chars().count()),
        None => text,
    }
}
