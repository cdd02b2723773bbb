//! A tool of a source. Its call owns the receiving end of its invocation: it waits for the server's
//! answer and serves the callbacks that arrive meanwhile, each through the session's own invoker.
//! When the call ends the receiver is gone, and late callbacks find no receiver.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use packtrain_drivers::BoxFuture;
use packtrain_model::template::Undefined;
use packtrain_model::yaml::{DecodeError, Value};
use packtrain_model::{Blame, SourceCall};
use packtrain_tools::{Answer, Call, Caller, Tool, ToolError, ToolRequest, ToolSpec};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::arguments;
use super::envelope::Envelope;
use super::handle::{Source, Use};
use super::mcp::{CallError, CallResult, PendingCall};
use super::metadata::{CONTEXT_ARGUMENT, ContextArgument, ToolTraits, describe};
use super::results;
use super::task::Listing;
use crate::invocation::{Callback, CallbackEffect, CallbackError, Invocation};

/// The least that is waited before it is looked again whether something takes too long.
const MIN_PAUSE: Duration = Duration::from_millis(1);
/// How long an action may go on that its tool did not wait for. Drivers give up an element earlier.
const FINISH_TIMEOUT: Duration = Duration::from_secs(40);

/// A tool that a source lists.
pub(super) struct SourceTool {
    pub(super) spec: ToolSpec,
    pub(super) traits: ToolTraits,
    pub(super) source: Arc<Source>,
    /// Whether it takes the session as an argument, as its first call has shown.
    takes_context: OnceLock<bool>,
}

/// The tools of a listing.
pub(crate) fn tools_of(source: &Arc<Source>, listing: &Listing) -> Vec<Arc<dyn Tool>> {
    let tools = listing.tools.iter().map(|tool| {
        let (spec, traits) = describe(source.settings(), tool, &listing.registry);
        let source = Arc::clone(source);
        let tool: Arc<dyn Tool> = Arc::new(SourceTool {
            spec,
            traits,
            source,
            takes_context: OnceLock::new(),
        });
        tool
    });
    tools.collect()
}

impl Tool for SourceTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, arguments: &Value) -> Result<(), DecodeError> {
        match &self.traits.unusable {
            Some(why) => Err(DecodeError::at(None, why)),
            None => arguments::check(arguments, &self.spec.arguments),
        }
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            if self.traits.needs_model && call.depth == 0 {
                return Err(ToolError::NeedsAgent(self.spec.name.clone()));
            }
            if let Some(why) = &self.traits.unusable {
                return Err(self.source.unavailable(why, &[]));
            }
            let with_context = self.gives_context();
            let mut told = None;
            let mut result = self
                .answered(arguments, with_context, call, &mut told)
                .await;
            let mut notes = Vec::new();
            let has_called_back = told.as_ref().is_some_and(|told| told.callbacks > 0);
            if with_context && !has_called_back && self.refused_context(&result) {
                let _ = self.takes_context.set(false);
                notes.push(format!(
                    "it refused `{CONTEXT_ARGUMENT}` and was called without it"
                ));
                result = self.answered(arguments, false, call, &mut told).await;
            } else if with_context && result.is_ok() {
                let _ = self.takes_context.set(true);
            }
            if let Some(told) = told {
                call.trace.set(told);
            }
            let result = result?;
            let mut answer = results::answer(&self.spec.name, &result, self.traits.success)?;
            answer.report.notes.extend(notes);
            results::remember(&mut call.session.memory(), &result.meta);
            match results::delegates(&result)? {
                Some(delegates) => {
                    let mut last = self.delegate(delegates, call).await?;
                    last.report.notes.extend(answer.report.notes);
                    Ok(last)
                }
                None => Ok(answer),
            }
        })
    }
}

impl SourceTool {
    /// Whether calls have the session among their arguments.
    fn gives_context(&self) -> bool {
        match self.traits.context {
            ContextArgument::Declared => true,
            ContextArgument::Undeclared => self.takes_context.get() != Some(&false),
            ContextArgument::Forbidden => false,
        }
    }

    /// Whether a call failed because the session was among its arguments: the server names an argument
    /// that its author never named.
    fn refused_context(&self, result: &Result<CallResult, ToolError>) -> bool {
        let may_refuse = self.traits.context == ContextArgument::Undeclared
            && self.takes_context.get() != Some(&true);
        if !may_refuse {
            return false;
        }
        let told = match result {
            Ok(result) if result.is_error => result.texts.as_slice(),
            Err(ToolError::Failed { message, .. }) => std::slice::from_ref(message),
            _ => return false,
        };
        told.iter().any(|text| is_refusal(text))
    }

    /// Makes the call and waits for the server's answer. Once it was sent, `told` is what came of it.
    async fn answered(
        &self,
        given: &Value,
        with_context: bool,
        call: &Call<'_>,
        told: &mut Option<SourceCall>,
    ) -> Result<CallResult, ToolError> {
        let source = &self.source;
        let is_callback = matches!(call.caller, Caller::Remote { .. });
        let used = tokio::select! {
            used = source.instance(call.session, is_callback, call.deadline) => used?,
            () = call.session.cancel.cancelled() => return Err(ToolError::Cancelled),
        };
        let invocation =
            source
                .invocations()
                .open(&call.session.id, call.session.platform(), call.depth);
        let envelope = Envelope::new(call.session, &invocation.id, source.base_url());
        let mut arguments = arguments::as_json(given, &self.spec.arguments);
        if with_context {
            envelope.put_into(&mut arguments);
        }
        let sent = used
            .instance()
            .client
            .call(&self.spec.name, arguments, envelope.into_meta());
        let pending = match sent.await {
            Ok(pending) => pending,
            Err(error) => return Err(self.broken(&used, &error).await),
        };
        let mut under_way = UnderWay {
            tool: self,
            call,
            flight: Flight {
                source: Arc::clone(source),
                parts: Some((pending, used)),
            },
            invocation,
            seen: CallbackTotals::default(),
        };
        let ending = under_way.drive().await;
        under_way.settle(ending, told).await
    }

    /// What it means that the connection broke.
    async fn broken(&self, used: &Use, error: &CallError) -> ToolError {
        let name = &self.spec.name;
        let (source, log) = (&self.source.settings().name, &used.instance().log);
        let ended = used.ended().await;
        let mut cause = match &ended {
            Some(how) => format!("tool source `{source}` died while `{name}` was running\n{how}"),
            None => {
                format!("the connection to tool source `{source}` broke while `{name}` was running")
            }
        };
        cause.push_str(&format!("\ncause: {error}\ntail stderr:"));
        let tail = log.tail();
        if tail.is_empty() {
            cause.push_str("\n(no stderr captured)");
        }
        for line in tail {
            cause.push_str(&format!("\n{line}"));
        }
        ToolError::Infrastructure {
            blame: Blame::Source,
            cause,
            hint: Some("the call may have taken effect".to_owned()),
            unstarted: Vec::new(),
        }
    }

    /// Carries out the calls that stand for this one.
    async fn delegate(
        &self,
        delegates: Vec<results::Delegate>,
        call: &Call<'_>,
    ) -> Result<Answer, ToolError> {
        if let Some(unknown) = delegates.iter().find(|one| !call.invoker.knows(&one.tool)) {
            return Err(ToolError::failed(format!(
                "`{}` delegates to the unknown tool `{}`; none of its calls was made",
                self.spec.name, unknown.tool
            )));
        }
        call.trace.delegate();
        let mut last = Answer::default();
        for delegate in delegates {
            let arguments = Value::from(&delegate.arguments);
            let request = self.request(&delegate.tool, &arguments, call);
            last = call.invoker.invoke(request).await?;
        }
        Ok(last)
    }

    fn request<'r>(&self, tool: &'r str, arguments: &'r Value, call: &Call<'_>) -> ToolRequest<'r> {
        ToolRequest {
            tool,
            arguments,
            params: None,
            undefined: Undefined::Error,
            at: None,
            depth: call.depth + 1,
            // Who calls for somebody may do no more than they.
            caller: Caller::Remote {
                host_commands: self.source.settings().host_commands
                    && call.caller.may_run_host_commands(),
            },
        }
    }
}

/// Whether an error is that of a server that checks arguments and knows none of this name. That a text
/// has the name in it is not enough: tools show their arguments when they fail.
fn is_refusal(text: &str) -> bool {
    const WORDS: [&str; 6] = [
        "unexpected keyword",
        "unexpected_keyword",
        "unrecognized key",
        "additional properties",
        "extra inputs are not permitted",
        "unknown argument",
    ];
    let lower = text.to_lowercase();
    text.contains(CONTEXT_ARGUMENT) && WORDS.iter().any(|words| lower.contains(words))
}

/// What a call's callbacks did.
#[derive(Default)]
struct CallbackTotals {
    callbacks: u32,
    on_device: Duration,
    /// The first that says that nothing can be found out, or that the trail is over.
    decisive: Option<ToolError>,
}

/// What the server has to be notified of. Dropped before it is settled, the server learns that nobody
/// waits.
struct Flight {
    source: Arc<Source>,
    /// Until it is settled.
    parts: Option<(PendingCall, Use)>,
}

impl Flight {
    /// Tells the server that its caller stopped waiting.
    fn call_off(&mut self, why: &'static str) {
        if let Some((pending, used)) = self.parts.take() {
            self.source.call_off(pending, used, why);
        }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // Without a runtime the program ends, and its sources with it.
        if tokio::runtime::Handle::try_current().is_ok() {
            self.call_off("no caller waits for it any more");
        }
    }
}

/// A call under way.
struct UnderWay<'a> {
    tool: &'a SourceTool,
    call: &'a Call<'a>,
    flight: Flight,
    invocation: Invocation,
    seen: CallbackTotals,
}

/// How waiting for an answer ended.
enum Ending {
    Answered(Result<CallResult, CallError>),
    Cancelled,
    /// The session's time is over.
    Deadline,
    /// The call was silent, or took, too long: this long.
    Overdue(&'static str, Duration),
}

impl UnderWay<'_> {
    /// Waits for the answer and serves callbacks, one at a time in the order of their arrival.
    async fn drive(&mut self) -> Ending {
        let Self {
            tool,
            call,
            flight,
            invocation,
            seen,
        } = self;
        let Some((pending, _)) = flight.parts.as_mut() else {
            return Ending::Cancelled;
        };
        let settings = tool.source.settings();
        let begun = Instant::now();
        let total = begun + settings.max_total.get();
        let callback_timeout = tool.source.callback_timeout();
        let mut serving: Option<Serving<'_>> = None;
        // One timer for all that may take too long. It is reset when it fires, not with each
        // callback: that would cost as much as the callback.
        let pause = settings.call_timeout.get().min(callback_timeout);
        let first = (begun + pause).min(total).min(call.deadline);
        let mut timer = std::pin::pin!(tokio::time::sleep_until(first));
        loop {
            tokio::select! {
                biased;
                () = call.session.cancel.cancelled() => return Ending::Cancelled,
                answer = pending.answer() => {
                    let under_way = serving.take().filter(|serving| serving.does == CallbackEffect::Act);
                    if let (Some(serving), Ok(_)) = (under_way, &answer) {
                        seen.finish(serving, call).await;
                    }
                    return Ending::Answered(answer);
                }
                answer = served(&mut serving) => {
                    if let Some(served) = serving.take() {
                        let given_up = CallbackError::Late(served.begun.elapsed());
                        let answer = answer.map(|answer| answer.map_err(CallbackError::Tool));
                        seen.add(served, answer.unwrap_or(Err(given_up)));
                    }
                    pending.hear();
                }
                Some(callback) = invocation.callbacks.recv(), if serving.is_none() => {
                    // Its sender may be gone by its turn.
                    if callback.answer.is_closed() {
                        continue;
                    }
                    let until = callback.arrived + callback_timeout;
                    if until < timer.deadline() {
                        timer.as_mut().reset(until);
                    }
                    serving = Some(Serving::begin(tool, call, callback, until));
                }
                () = &mut timer => {
                    let now = Instant::now();
                    let heard = if settings.reset_on_progress { pending.heard() } else { begun };
                    // A callback that takes long keeps its call alive.
                    let idle = match &serving {
                        Some(serving) => serving.until,
                        None => heard + settings.call_timeout.get(),
                    };
                    if now >= call.deadline {
                        return Ending::Deadline;
                    }
                    if now >= total {
                        return Ending::Overdue("took", settings.max_total.get());
                    }
                    if now >= idle {
                        let Some(late) = serving.take() else {
                            return Ending::Overdue("was silent for", settings.call_timeout.get());
                        };
                        seen.add(late, Err(CallbackError::Late(callback_timeout)));
                        pending.hear();
                    }
                    let next = idle.max(now + MIN_PAUSE).min(now + pause).min(total);
                    timer.as_mut().reset(next.min(call.deadline));
                }
            }
        }
    }

    /// What came of the call.
    async fn settle(
        self,
        ending: Ending,
        told: &mut Option<SourceCall>,
    ) -> Result<CallResult, ToolError> {
        let Self {
            tool,
            call: _,
            mut flight,
            invocation,
            mut seen,
        } = self;
        drop(invocation);
        if let Some((_, used)) = &flight.parts {
            *told = Some(SourceCall {
                source: tool.source.settings().name.clone(),
                replica: used.replica(),
                callbacks: seen.callbacks,
                device_ms: seen.on_device,
                log: used.log_path(),
            });
        }
        let name = &tool.spec.name;
        let error = match ending {
            Ending::Answered(answer) => {
                let parts = flight.parts.take();
                match (answer, parts) {
                    (Ok(result), _) => return seen.decisive.take().map_or(Ok(result), Err),
                    (Err(error @ CallError::Broken(_)), Some((_, used))) => {
                        tool.broken(&used, &error).await
                    }
                    (Err(error), _) => ToolError::failed(error.to_string()),
                }
            }
            Ending::Cancelled => {
                flight.call_off("the session was cancelled");
                ToolError::Cancelled
            }
            Ending::Deadline => {
                flight.call_off("the session's time is over");
                ToolError::failed(format!("`{name}` was still running"))
            }
            Ending::Overdue(how, limit) => {
                flight.call_off("the call took too long");
                let source = &tool.source.settings().name;
                ToolError::Infrastructure {
                    blame: Blame::Source,
                    cause: format!(
                        "`{name}` of tool source `{source}` {how} {:.1} s",
                        limit.as_secs_f64()
                    ),
                    hint: Some(
                        "`callTimeout` and `maxTotal` of the source allow its calls more time"
                            .to_owned(),
                    ),
                    unstarted: Vec::new(),
                }
            }
        };
        Err(seen.decisive.take().unwrap_or(error))
    }
}

/// A callback that is being served.
struct Serving<'a> {
    begun: Instant,
    does: CallbackEffect,
    /// When it has taken too long.
    until: Instant,
    work: BoxFuture<'a, Result<Answer, ToolError>>,
    answer: oneshot::Sender<Result<Answer, CallbackError>>,
}

impl<'a> Serving<'a> {
    fn begin(tool: &'a SourceTool, call: &'a Call<'a>, callback: Callback, until: Instant) -> Self {
        let Callback {
            tool: name,
            arguments,
            does,
            answer,
            ..
        } = callback;
        let work = async move {
            let arguments = Value::from(&arguments);
            let request = tool.request(&name, &arguments, call);
            call.invoker.invoke(request).await
        };
        Self {
            begun: Instant::now(),
            does,
            until,
            work: Box::pin(work),
            answer,
        }
    }
}

impl CallbackTotals {
    /// Lets an action that its tool did not wait for come to its end: cut off in the middle, nobody
    /// would know what it did, and a page would be closed with it.
    async fn finish(&mut self, mut serving: Serving<'_>, call: &Call<'_>) {
        let limit = (Instant::now() + FINISH_TIMEOUT).min(call.deadline);
        let until = serving.until.min(limit);
        let ended = tokio::select! {
            ended = serving.work.as_mut() => ended.map_err(CallbackError::Tool),
            () = tokio::time::sleep_until(until) => {
                Err(CallbackError::Late(serving.begun.elapsed()))
            }
            () = call.session.cancel.cancelled() => Err(CallbackError::Tool(ToolError::Cancelled)),
        };
        let is_late = matches!(ended, Err(CallbackError::Late(_)));
        self.add(serving, ended);
        if is_late && self.decisive.is_none() {
            self.decisive = Some(ToolError::failed(
                "an action was still under way long after its tool had returned; a tool must \
                 await its commands before it returns",
            ));
        }
    }

    fn add(&mut self, serving: Serving<'_>, answer: Result<Answer, CallbackError>) {
        self.callbacks += 1;
        self.on_device += serving.begun.elapsed();
        if let Err(CallbackError::Tool(
            error @ (ToolError::Infrastructure { .. }
            | ToolError::Cancelled
            | ToolError::Fatal { .. }),
        )) = &answer
            && self.decisive.is_none()
        {
            // What could not be found out is not a pass, whatever the tool makes of it.
            self.decisive = Some(error.clone());
        }
        // Who does not wait any more is not told.
        let _ = serving.answer.send(answer);
    }
}

/// What came of a callback; `None` when it was given up, because it only looked and nobody waits for it
/// any more.
async fn served(serving: &mut Option<Serving<'_>>) -> Option<Result<Answer, ToolError>> {
    match serving {
        Some(serving) => tokio::select! {
            biased;
            answer = serving.work.as_mut() => Some(answer),
            () = serving.answer.closed(), if serving.does == CallbackEffect::Look => None,
        },
        None => std::future::pending().await,
    }
}
