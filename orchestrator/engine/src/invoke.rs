//! The invoker: every call of a tool by name. Looked up, permitted, templates filled in, called
//! under the session's deadline, judged, both ends journalled.

mod arguments;
mod nested;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use packtrain_drivers::ActionReport;
use packtrain_model::suggest::did_you_mean;
use packtrain_model::trail::{ToolCall, Trail};
use packtrain_model::yaml::Value;
use packtrain_model::{Blame, Outcome, RecordAs, RunEvent, StepIndex};
use packtrain_tools::{
    Answer, Call, CallTrace, Caller, Kind, Origin, Registry, Tool, ToolError, ToolRequest, ToolSpec,
};
use tokio::time::Instant;

use crate::judge::{TimeLimit, judge};
use crate::order::Ambiguity;
use crate::session::{DEADLINE_MARGIN, SessionContext};

/// How deep tools may call tools.
const MAX_DEPTH: u32 = 16;
/// Characters of an answer that the journal keeps.
const MAX_JOURNALLED_ANSWER: usize = 8 * 1024;
/// How long after the session's deadline a call may still answer: longer than a driver takes to say what it
/// waited for.
const CALL_DEADLINE_GRACE: Duration = Duration::from_secs(3);
/// How an abandoned call failed.
pub(crate) const GIVEN_UP: &str = "it was cancelled before it finished";

/// Calls tools for one step of a session.
pub(crate) struct Invoker<'a> {
    session: &'a SessionContext,
    step: StepIndex,
    next_call: Arc<AtomicU32>,
    /// When its calls have to be over, at the latest with the session.
    deadline: Instant,
    /// How long they may take.
    limit: TimeLimit,
}

impl<'a> Invoker<'a> {
    pub(crate) fn new(session: &'a SessionContext, step: StepIndex) -> Self {
        Self {
            session,
            step,
            next_call: Arc::default(),
            deadline: session.deadline,
            limit: TimeLimit::Session(session.options.timeout),
        }
    }

    /// For the calls of a step of a trail.
    pub(crate) fn of_step(session: &'a SessionContext, step: StepIndex) -> Self {
        let invoker = Self::new(session, step);
        let limit = session.options.step_timeout;
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        match (limit, deadline) {
            (Some(limit), Some(deadline)) if deadline < invoker.deadline => Self {
                deadline,
                limit: TimeLimit::Step(limit),
                ..invoker
            },
            _ => invoker,
        }
    }

    /// For one of the calls made by hand, all in one step.
    pub(crate) fn by_hand(session: &'a SessionContext, limit: Duration) -> Self {
        let deadline = Instant::now().checked_add(limit);
        Self {
            next_call: Arc::clone(&session.by_hand.next_call),
            deadline: deadline.map_or(session.deadline, |at| at.min(session.deadline)),
            limit: TimeLimit::Session(limit),
            ..Self::new(session, StepIndex::BY_HAND)
        }
    }

    /// Makes the calls one after another; the first that does not pass ends it.
    pub(crate) async fn all(
        &self,
        trail: &Trail,
        calls: &[ToolCall],
        depth: u32,
        caller: Caller,
    ) -> Result<(), Outcome> {
        for call in calls {
            self.one(Some(trail), call, depth, caller.clone()).await?;
        }
        Ok(())
    }

    /// Makes a call of a trail, or one that stands in none.
    pub(crate) async fn one(
        &self,
        trail: Option<&Trail>,
        call: &ToolCall,
        depth: u32,
        caller: Caller,
    ) -> Result<Answer, Outcome> {
        let at = trail.zip(call.span).map(|(trail, span)| {
            let (line, column) = (span.start.line, span.start.column);
            format!("{}:{line}:{column}", trail.source.name())
        });
        self.call(ToolRequest {
            tool: &call.name,
            arguments: &call.args,
            params: None,
            undefined: trail
                .map(|trail| trail.config.undefined)
                .unwrap_or_default(),
            at,
            depth,
            caller,
        })
        .await
    }

    async fn call(&self, request: ToolRequest<'_>) -> Result<Answer, Outcome> {
        let number = self.next_call.fetch_add(1, Ordering::Relaxed);
        let session = self.session;
        // However long it takes: a device is not taken from under a call.
        let _in_use = session.scope.lease.in_use();
        let started = Instant::now();
        let registry = session.registry.with(request.tool).await;
        let tool = registry.get(request.tool);
        let arguments = arguments::filled_in(session, &request, tool);
        if let (Some(tool), Ok(arguments)) = (tool, &arguments) {
            session.scope.hide(tool.spec(), &arguments.value);
        }
        let shown = match &arguments {
            Ok(filled) => &filled.value,
            Err(_) => request.arguments,
        };
        session
            .record(RunEvent::ToolStarted {
                session: session.id.clone(),
                step: self.step,
                call: number,
                depth: request.depth,
                tool: request.tool.to_owned(),
                arguments: shown.to_json(),
            })
            .await;
        let mut unfinished = Unfinished {
            invoker: self,
            number,
            depth: request.depth,
            tool: request.tool,
            started,
            is_finished: false,
        };
        let mut notes = Vec::new();
        let trace = CallTrace::default();
        let answer = match arguments {
            Ok(mut filled) => match arguments::known(tool, &mut filled) {
                Ok(noticed) => {
                    notes = noticed;
                    self.dispatch(&request, &registry, &filled.value, &trace)
                        .await
                }
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        let (outcome, mut answer) = match answer.and_then(|answer| self.unambiguous(tool, answer)) {
            Ok(answer) => (Outcome::Passed, answer),
            Err(error) => {
                let mut circumstances = session.circumstances(request.tool, request.at);
                circumstances.overtime = self.overtime();
                (judge(&error, circumstances), Answer::default())
            }
        };
        answer.report.notes.extend(notes);
        answer.report.notes.extend(session.new_collisions());
        session.journal_device_events(self.step).await;
        unfinished.is_finished = true;
        session
            .record(RunEvent::ToolFinished {
                session: session.id.clone(),
                step: self.step,
                call: number,
                depth: request.depth,
                tool: request.tool.to_owned(),
                outcome: outcome.clone(),
                report: answer.report.clone(),
                // Redacted before it is cut: half a secret would not be found.
                answer: answer
                    .text
                    .as_ref()
                    .map(|text| shortened(session.redact(text))),
                record: tool.map_or(RecordAs::Nothing, |tool| record_as(tool.spec(), &trace)),
                via: trace.source().cloned(),
                duration_ms: started.elapsed(),
            })
            .await;
        if outcome.is_passed() {
            Ok(answer)
        } else {
            Err(outcome)
        }
    }

    /// Whether the session's time is not over; if it is, nothing that happens counts as passed.
    fn in_time(&self, tool: &str, what: &str) -> Result<(), ToolError> {
        if Instant::now() <= self.deadline {
            return Ok(());
        }
        Err(ToolError::failed(format!("`{tool}` {what}")))
    }

    /// How long its calls were allowed to take, when that is over.
    fn overtime(&self) -> Option<TimeLimit> {
        (Instant::now() + DEADLINE_MARGIN >= self.deadline).then_some(self.limit)
    }

    async fn dispatch(
        &self,
        request: &ToolRequest<'_>,
        registry: &Registry,
        arguments: &Value,
        trace: &CallTrace,
    ) -> Result<Answer, ToolError> {
        let session = self.session;
        let tool = find(registry, request.tool)?;
        self.in_time(request.tool, "was no longer called")?;
        let device = session.scope.lease.device();
        if let Some(why) = (tool.spec()).unusable_on(device.id.platform(), &device.driver) {
            return Err(ToolError::failed(format!("`{}` {why}", request.tool)));
        }
        // A caller on behalf of another may do no more than that one.
        for caller in [&session.caller, &request.caller] {
            if let Some(refusal) = caller.refusal(tool.spec()) {
                return Err(refusal);
            }
        }
        if request.depth > MAX_DEPTH {
            return Err(ToolError::failed(format!(
                "tools and trails call each other more than {MAX_DEPTH} deep; is there a loop?"
            )));
        }
        let call = Call {
            session: &session.scope,
            deadline: self.deadline,
            depth: request.depth,
            caller: request.caller.clone(),
            invoker: self,
            trace,
        };
        let called = tool.call(arguments, &call);
        // What a call makes meanwhile ends with it.
        let answer = if request.depth == 0 {
            let limit = self.deadline + CALL_DEADLINE_GRACE;
            tokio::time::timeout_at(limit, called).await
        } else {
            Ok(called.await)
        };
        match answer {
            Ok(answer) => {
                let answer = answer?;
                self.in_time(request.tool, "was still running")?;
                Ok(answer)
            }
            // What it was doing is cancelled by being dropped.
            Err(_) => Err(ToolError::failed(format!(
                "`{}` was still running",
                request.tool
            ))),
        }
    }

    /// Whether several elements where one was meant are a failure is an option of the run; if not,
    /// an action notes that it took the first. Which of several elements shows what is expected is
    /// not worth a note.
    fn unambiguous(
        &self,
        tool: Option<&Arc<dyn Tool>>,
        mut answer: Answer,
    ) -> Result<Answer, ToolError> {
        let several = match &answer.report.located {
            Some(located) if located.matched > 1 => {
                format!("{} elements match {}", located.matched, located.by)
            }
            Some(_) | None => return Ok(answer),
        };
        if self.session.options.ambiguity == Ambiguity::Fail {
            return Err(ToolError::Failed {
                message: format!("{several}, and the run is strict"),
                log: answer.report.notes,
                hint: Some("name one of them, by a closer selector or an index".to_owned()),
            });
        }
        if tool.is_some_and(|tool| tool.spec().kind == Kind::Action) {
            let note = format!("{several}; the first was used");
            answer.report.notes.push(note);
        }
        Ok(answer)
    }
}

/// A call whose end is journalled even when it is abandoned: what it waited for was
/// dropped with it.
struct Unfinished<'a> {
    invoker: &'a Invoker<'a>,
    number: u32,
    depth: u32,
    tool: &'a str,
    started: Instant,
    is_finished: bool,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        let session = self.invoker.session;
        session.output.record_now(RunEvent::ToolFinished {
            session: session.id.clone(),
            step: self.invoker.step,
            call: self.number,
            depth: self.depth,
            tool: self.tool.to_owned(),
            outcome: Outcome::failed(GIVEN_UP),
            report: ActionReport::default(),
            answer: None,
            record: RecordAs::Nothing,
            via: None,
            duration_ms: self.started.elapsed(),
        });
    }
}

/// What of a call belongs into a recording.
fn record_as(spec: &ToolSpec, trace: &CallTrace) -> RecordAs {
    match spec.kind {
        _ if trace.has_delegated() => RecordAs::Children,
        Kind::Query | Kind::Meta => RecordAs::Nothing,
        Kind::Action | Kind::Assertion | Kind::Memory if spec.recordable => RecordAs::Itself,
        Kind::Action | Kind::Assertion | Kind::Memory => RecordAs::Children,
    }
}

fn find<'r>(registry: &'r Registry, name: &str) -> Result<&'r Arc<dyn Tool>, ToolError> {
    let built_in = registry
        .all()
        .map(|tool| tool.spec())
        .filter(|spec| spec.origin == Origin::BuiltIn);
    let is_misspelled = || did_you_mean(name, built_in.map(|spec| spec.name.as_str())).is_some();
    if registry.get(name).is_none() && !registry.missing().is_empty() && !is_misspelled() {
        let missing = registry.missing().iter();
        let reasons: Vec<&str> = missing.clone().map(|one| one.why.as_str()).collect();
        return Err(ToolError::Infrastructure {
            blame: Blame::Source,
            cause: format!(
                "unknown tool `{name}`; it may belong to a source that is not available: {}",
                reasons.join("\n")
            ),
            hint: None,
            unstarted: missing.filter_map(|one| one.unstarted.clone()).collect(),
        });
    }
    registry.get(name).ok_or_else(|| ToolError::Failed {
        message: format!("unknown tool `{name}`"),
        log: Vec::new(),
        hint: did_you_mean(name, registry.names())
            .or_else(|| Some("`packtrain tools` lists all tools".to_owned())),
    })
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_JOURNALLED_ANSWER) {
        Some((end, _)) => format!("{} [... {} characters]", &text[..end], text.chars().count()),
        None => text,
    }
}
