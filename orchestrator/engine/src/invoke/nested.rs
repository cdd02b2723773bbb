//! Calls and trails within a call.

use std::sync::Arc;

use packtrain_drivers::BoxFuture;
use packtrain_model::Outcome;
use packtrain_model::trail::{Recorded, Trail};
use packtrain_tools::{Answer, Call, Caller, Invoke, ToolError, ToolRequest};

use super::Invoker;

impl Invoke for Invoker<'_> {
    fn invoke<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            let tool = request.tool;
            let answer = self.call(request).await;
            answer.map_err(|outcome| inner_error(outcome, |what| format!("`{tool}`: {what}")))
        })
    }

    fn knows(&self, tool: &str) -> bool {
        self.session.registry.snapshot().get(tool).is_some()
    }

    fn run_trail<'a>(
        &'a self,
        path: &'a str,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.nested(path, call.depth + 1, call.caller.clone()))
    }
}

impl Invoker<'_> {
    async fn nested(&self, path: &str, depth: u32, caller: Caller) -> Result<Answer, ToolError> {
        let session = self.session;
        let trail: Arc<Trail> = session
            .loader
            .load(path, &session.scope.folders, session.caller.reach())
            .map_err(ToolError::failed)?;
        let mut ran = 0;
        for step in trail.all_steps() {
            let outcome = match step.recording_for(&session.lineage) {
                Recorded::NoAction(_) => Ok(()),
                Recorded::Calls(_, calls) => {
                    Box::pin(self.all(&trail, calls, depth, caller.clone())).await
                }
                Recorded::Unknown => Err(session.needs_agent()),
            };
            outcome.map_err(|outcome| {
                inner_error(outcome, |what| {
                    format!("{path}, step {:?}: {what}", step.text)
                })
            })?;
            ran += 1;
        }
        if ran == 0 {
            return Err(ToolError::failed(format!("{path} has no steps")));
        }
        Ok(Answer::text(format!("ran {ran} steps of {path}")))
    }
}

/// The outcome of an inner call, as the outer call tells it.
fn inner_error(outcome: Outcome, told: impl Fn(&str) -> String) -> ToolError {
    match outcome {
        Outcome::Failed(failure) if failure.fatal => ToolError::Fatal {
            message: told(&failure.message),
            log: failure.log,
        },
        Outcome::Failed(failure) => ToolError::Failed {
            message: told(&failure.message),
            log: failure.log,
            hint: failure.hint,
        },
        Outcome::NeedsAgent { why } => ToolError::NeedsAgent(told(&why)),
        Outcome::Infrastructure {
            blame,
            cause,
            hint,
            unstarted,
        } => ToolError::Infrastructure {
            blame,
            cause,
            hint,
            unstarted,
        },
        Outcome::Cancelled { .. } => ToolError::Cancelled,
        Outcome::Passed | Outcome::Skipped { .. } => {
            ToolError::failed(told("unexpected outcome of a nested call"))
        }
    }
}
