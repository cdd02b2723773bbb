//! `act`: actions, one after the other, and one look at the end. Each is a call of the tool that the
//! agent could call itself.

mod action;

use std::time::Duration;

use packtrain_drivers::Platform;
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use packtrain_tools::Answer;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use tokio::time::Instant;

use self::action::Action;
pub(super) use self::action::{ActArgs, READING};
use packtrain_toolsets::catalog;

use super::agent_context::{AgentContext, CALL_TIMEOUT};
use super::answers::{answered, failed, why};
use super::devices::{unknown_lease, with_doubts};
use super::look::Stop;
use super::ours::SnapshotArgs;
use super::reporter::Reporter;
use packtrain_daemon::HeldDevice;

/// The most actions of one call.
const MAX_ACTIONS: usize = 50;

impl AgentContext {
    pub(super) async fn act(&self, args: ActArgs, reporter: &Reporter) -> CallToolResult {
        let Some(held) = self.agent.held(&args.lease) else {
            return failed(unknown_lease(&args.lease));
        };
        let (actions, count) = (&args.actions, args.actions.len());
        if !(1..=MAX_ACTIONS).contains(&count) {
            return failed(format!(
                "`actions` has {count} items; expected 1 to {MAX_ACTIONS}"
            ));
        }
        for (action, number) in actions.iter().zip(1..) {
            if let Err(why) = self.check(&held, action) {
                return failed(format!("action {number}: {why}; nothing was done"));
            }
        }
        let _turn = held.turn().await;
        let (end, mut lines, mut done) = (Instant::now() + CALL_TIMEOUT, Vec::new(), 0);
        let mut failure = None;
        for action in actions {
            reporter.say(&format!("action {} of {count}: {action}", done + 1));
            // A tool may have changed since the others were checked.
            if let Err(why) = self.check(&held, action) {
                failure = Some(format!("action {} of {count} failed: {why}", done + 1));
                break;
            }
            let is_web = held.device.id.platform() == Platform::Web;
            if is_web && done > 0 && done + 1 == count && !action.is_look() {
                // What it changes is distinguished from what those before it have changed.
                let _ = self.tool(&held, READING, json!({}), end).await;
            }
            match self.carry_out(&held, action, end).await {
                Ok(said) => lines.extend(said.map(|said| format!("{action}: {said}"))),
                Err(why) => {
                    let why = why.unwrap_or_else(|| unknown_lease(&args.lease));
                    failure = Some(format!("action {} of {count} failed: {why}", done + 1));
                    break;
                }
            }
            done += 1;
        }
        let has_acted = failure.is_none() && !actions[count - 1].is_look();
        let settle = if has_acted { "CHANGE" } else { "REST" };
        let look = SnapshotArgs {
            since: held.last_told(),
            ..SnapshotArgs::default()
        };
        let screen = match self.look(&held, &look, settle).await {
            Ok((text, _)) => text,
            Err(why) => {
                let why = why.unwrap_or_else(|| unknown_lease(&args.lease));
                format!("cannot read the screen: {why}")
            }
        };
        let is_failed = failure.is_some();
        let head = failure
            .into_iter()
            .chain([format!("{done} of {count} done")]);
        let lines: Vec<_> = head.chain(lines).chain([screen]).collect();
        let mut result = failed(lines.join("\n"));
        result.is_error = Some(is_failed);
        with_doubts(result, &held)
    }

    /// Why an action can never be done.
    fn check(&self, held: &HeldDevice, action: &Action) -> Result<(), String> {
        let listed = held.listed(&self.project().agent);
        let calls = action.calls(held.device.id.platform(), None)?;
        let is_reading = |tool: &str| action.is_look() && tool == READING;
        for (tool, _) in calls.iter().filter(|(tool, _)| !is_reading(tool)) {
            if catalog::is_own(tool) {
                return Err(format!("call `{tool}` by itself, not through `act`"));
            }
            if let Some(why) = self.refusal(&listed, tool) {
                return Err(why);
            }
        }
        Ok(())
    }

    /// Does one action; answers what its tool had to say.
    async fn carry_out(
        &self,
        held: &HeldDevice,
        action: &Action,
        end: Instant,
    ) -> Result<Stop, Stop> {
        let platform = held.device.id.platform();
        let target = match action.sought(platform) {
            Some(arguments) => {
                let answer = self.tool(held, READING, arguments, end).await?;
                Some(found(&answer, platform).map_err(Some)?)
            }
            None => None,
        };
        let calls = action.calls(platform, target.as_deref()).map_err(Some)?;
        let mut said = None;
        for (tool, arguments) in calls {
            let content = answered(self.tool(held, &tool, arguments, end).await?).content;
            let text = content.first().and_then(ContentBlock::as_text);
            said = text.map(|text| text.text.clone());
        }
        Ok(said.filter(|said| said != "done" && !action.is_look()))
    }

    pub(super) async fn tool(
        &self,
        held: &HeldDevice,
        name: &str,
        arguments: serde_json::Value,
        end: Instant,
    ) -> Result<Answer, Stop> {
        let call = ToolCall::new(name, Value::from(&arguments));
        let left = end.saturating_duration_since(Instant::now());
        let answer = held.call(&call, left.max(Duration::from_millis(1))).await;
        answer.ok_or(None)?.map_err(|outcome| Some(why(&outcome)))
    }
}

/// The reference of the one element that an action means.
fn found(answer: &Answer, platform: Platform) -> Result<String, String> {
    let data = answer.data.clone().unwrap_or_default();
    let found = data["found"].as_array().map_or(&[][..], Vec::as_slice);
    let word = |of: &serde_json::Value, key: &str| of[key].as_str().unwrap_or_default().to_owned();
    if let [one] = found {
        return Ok(word(one, "ref"));
    }
    // What is on a page may be no element of the list.
    let line = data["line"].as_str().map(str::to_owned);
    if let Some(line) = line.filter(|_| found.is_empty() && platform == Platform::Web) {
        return Ok(line);
    }
    let named = found.iter().map(|one| {
        let [reference, role, name] = ["ref", "role", "name"].map(|key| word(one, key));
        format!("\n  [{reference}] {role} {name:?}")
    });
    let named: String = named.collect();
    let count = &data["matched"];
    Err(format!(
        "{count} elements match; name one by its `ref`:{named}"
    ))
}
