//! `trail_check`, `run_start`, `run_wait`, `run_status`, `run_cancel`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_daemon::{AgentRun, Checked, Started};
use packtrain_workplace::trails::holds_trail;
use rmcp::model::{CallToolResult, ContentBlock, Resource};
use serde_json::{Value, json};

use super::agent_context::AgentContext;
use super::answers::{failed, told};
use super::ours::{CheckArgs, RunArgs, StartArgs, WaitArgs};
use super::reporter::Reporter;

/// How long a run is waited for in one call, unless the agent says so, and at most: clients give up
/// after 60 s.
const DEFAULT_WAIT_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_WAIT_TIMEOUT: Duration = Duration::from_secs(50);
/// The most trails that one call may name.
const MOST_TRAILS: usize = 200;
/// The most that one call may ask to try again.
const MOST_RETRIES: u32 = 10;

impl AgentContext {
    pub(super) async fn trail_check(&self, args: CheckArgs, reporter: &Reporter) -> CallToolResult {
        let paths = match self.paths(&args.trails) {
            Ok(paths) => paths,
            Err(refusal) => return failed(refusal),
        };
        reporter.say("checking");
        // Each is a process.
        let _place = self.hub.check_places.acquire().await;
        match AgentRun::check(self.project(), paths).await {
            Ok(Checked { is_right, said }) => {
                let text = match (said.trim(), is_right) {
                    ("", true) => "no mistakes",
                    ("", false) => return failed("the check did not finish"),
                    (said, _) => said,
                };
                told(text, json!({ "ok": is_right, "said": said }))
            }
            Err(why) => failed(why),
        }
    }

    pub(super) async fn run_start(&self, args: StartArgs) -> CallToolResult {
        let all = [&self.agent.run_places, &self.hub.run_places];
        let places = all.map(|places| Arc::clone(places).try_acquire_owned());
        let [Ok(of_agent), Ok(of_all)] = places else {
            return failed(
                "too many runs of agents are in progress (8 per agent, 64 in total); wait for one, or cancel it",
            );
        };
        if args.retries.is_some_and(|retries| retries > MOST_RETRIES) {
            return failed(format!("`retries` is {MOST_RETRIES} at most"));
        }
        let paths = match self.paths(&args.trails) {
            Ok(paths) => paths,
            Err(refusal) => return failed(refusal),
        };
        let might = |device: &str| args.devices.iter().any(|word| device.contains(word));
        let held = self.agent.all_held();
        let own: Vec<_> = held
            .iter()
            .filter(|held| args.devices.is_empty() || might(&held.device.id.to_string()))
            .map(|held| {
                let (device, lease) = (&held.device.id, &held.handle);
                format!(
                    "\nnote: you hold {device}: a session on it waits until you release {lease}"
                )
            })
            .collect();
        let mut words = Vec::new();
        for device in &args.devices {
            words.push(format!("--device={device}"));
        }
        if args.devices.is_empty() {
            words.push("--all-devices".to_owned());
        }
        for (name, value) in &args.args {
            words.push(format!("--arg={name}={}", plain(value)));
        }
        for (name, value) in &args.memory {
            words.push(format!("--memory={name}={value}"));
        }
        words.extend(args.tags.iter().map(|tag| format!("--tags={tag}")));
        words.extend(args.matrix.map(|name| format!("--matrix={name}")));
        words.extend(args.retries.map(|retries| format!("--retries={retries}")));
        let started = AgentRun::start(
            &self.hub,
            &self.agent,
            Started {
                words,
                paths,
                is_detached: args.detach,
                places: [of_agent, of_all],
            },
        );
        match started {
            Ok(run) => {
                let mut result = told(
                    format!(
                        "run: {}\nrun_wait waits for it; {} tells how it goes{}",
                        run.handle,
                        run.uri(),
                        own.concat()
                    ),
                    json!({ "run": run.handle, "resource": run.uri() }),
                );
                let resource = Resource::new(run.uri(), format!("run {}", run.handle));
                result.content.push(ContentBlock::ResourceLink(resource));
                result
            }
            Err(why) => failed(why),
        }
    }

    pub(super) async fn run_wait(&self, args: WaitArgs, reporter: &Reporter) -> CallToolResult {
        let Some(run) = self.agent.run(&args.run) else {
            return failed(unknown_run(&args.run));
        };
        let limit = args
            .timeout_ms
            .map_or(DEFAULT_WAIT_TIMEOUT, Duration::from_millis);
        let waiting = run.is_settled(|progress| {
            let own = self.own_waited_for(&run);
            reporter.say(&[own, vec![progress.line()]].concat().join("; "));
        });
        // Not over by then is an answer.
        let _ = tokio::time::timeout(limit.min(MAX_WAIT_TIMEOUT), waiting).await;
        self.answer(&run)
    }

    /// How a run goes, with what of the agent's own it waits for.
    pub(super) fn answer(&self, run: &AgentRun) -> CallToolResult {
        let text = [vec![run.summary()], self.own_waited_for(run)].concat();
        told(text.join("\n"), run.status())
    }

    fn own_waited_for(&self, run: &AgentRun) -> Vec<String> {
        let held = self.agent.all_held();
        let waited_for = held.iter().filter(|held| run.waits_for(&held.device.id));
        let told = waited_for.map(|held| {
            let (device, lease) = (&held.device.id, &held.handle);
            format!("waits for {device}, which you hold: release {lease}")
        });
        told.collect()
    }

    pub(super) fn run_status(&self, args: RunArgs) -> CallToolResult {
        match self.agent.run(&args.run) {
            Some(run) => self.answer(&run),
            None => failed(unknown_run(&args.run)),
        }
    }

    pub(super) fn run_cancel(&self, args: RunArgs) -> CallToolResult {
        let Some(run) = self.agent.run(&args.run) else {
            return failed(unknown_run(&args.run));
        };
        run.cancel();
        told(
            "it is being stopped: devices are given back and reports are written; run_wait says when",
            json!({ "run": run.handle }),
        )
    }

    /// Trails of the project, and nothing else of this computer.
    fn paths(&self, given: &[String]) -> Result<Vec<PathBuf>, String> {
        let project = self.project();
        if given.is_empty() {
            return Ok(vec![project.config.trails_dir.clone()]);
        }
        if given.len() > MOST_TRAILS {
            return Err(format!(
                "{} trails are too many: name their folder",
                given.len()
            ));
        }
        let paths: Result<BTreeSet<_>, _> = given.iter().map(|path| self.path(path)).collect();
        Ok(paths?.into_iter().collect())
    }

    fn path(&self, given: &str) -> Result<PathBuf, String> {
        let project = self.project();
        let reach = project.agent.reach();
        let found = reach.and_then(|reach| holds_trail(reach, &project.root.join(given)));
        found.ok_or_else(|| {
            let shown: String = given.chars().take(200).collect();
            format!("{shown}: not a trail or folder of the project")
        })
    }
}

/// A value as it stands behind `--arg name=`.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn unknown_run(handle: &str) -> String {
    let shown: String = handle.chars().take(60).collect();
    format!("unknown_run: `{shown}` is not your run")
}
