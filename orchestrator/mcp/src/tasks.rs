//! Runs as tasks, for clients that declare the extension `io.modelcontextprotocol/tasks`: for them
//! `run_wait` answers a task, which is the run.

use packtrain_daemon::AgentRun;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CreateTaskResult, DetailedTask, GetTaskResult, Task, TaskPayload,
    TaskStatus,
};

use super::agent_context::AgentContext;
use super::answers::with_text_in_data;

/// How often a client should ask, in milliseconds.
const POLL_MS: u64 = 2000;

impl AgentContext {
    /// The task that stands for a call of `run_wait`; `None` when the call is another one, says itself
    /// how long it waits, or is of a run that is over.
    pub(super) fn as_task(&self, request: &CallToolRequestParams) -> Option<CreateTaskResult> {
        let arguments = request.arguments.as_ref()?;
        if request.name != "run_wait" || arguments.contains_key("timeout_ms") {
            return None;
        }
        let run = self.agent.run(arguments.get("run")?.as_str()?)?;
        (!run.is_over()).then(|| CreateTaskResult::new(task(&run)))
    }

    pub(super) fn task(&self, id: &str) -> Result<GetTaskResult, ErrorData> {
        let run = self.known_task(id)?;
        let payload = match run.is_over() {
            false => TaskPayload::Working,
            true if run.was_cancelled() => TaskPayload::Cancelled,
            true => TaskPayload::Completed {
                result: serde_json::to_value(with_text_in_data(self.answer(&run)))
                    .ok()
                    .and_then(|result| result.as_object().cloned())
                    .unwrap_or_default(),
            },
        };
        Ok(GetTaskResult::new(DetailedTask::new(task(&run), payload)))
    }

    pub(super) fn cancel_task(&self, id: &str) -> Result<(), ErrorData> {
        self.known_task(id)?.cancel();
        Ok(())
    }

    /// A run whose id is a task's.
    pub(super) fn known_task(&self, id: &str) -> Result<std::sync::Arc<AgentRun>, ErrorData> {
        let run = self.agent.run(id);
        run.ok_or_else(|| ErrorData::invalid_params("unknown task", None))
    }
}

fn task(run: &AgentRun) -> Task {
    let started = run.started.to_rfc3339();
    let now = chrono::Utc::now().to_rfc3339();
    Task::new(&run.handle, TaskStatus::Working, started, now)
        .with_status_message(run.line())
        .with_poll_interval_ms(POLL_MS)
}
