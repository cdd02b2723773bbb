//! `device_list`, `device_acquire`, `device_release`.

use std::time::Duration;

use packtrain_drivers::DeviceId;
use packtrain_farm::requirement::{Requirement, Subject};
use packtrain_farm::wire::{DeviceAdvert, DeviceKey, HostName};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

use super::act::ActArgs;
use packtrain_toolsets::catalog::plain;

use super::agent_context::AgentContext;
use super::answers::{failed, told};
use super::ours::{AcquireArgs, ListArgs, ReleaseArgs};
use super::reporter::Reporter;
use packtrain_daemon::wire::DeviceSummary;
use packtrain_daemon::{HeldDevice, NotHeld};

/// How long a device is waited for, its start included, unless the agent says so, and at most. Many clients
/// wait for 60 s.
const DEFAULT_WAIT_TIMEOUT: Duration = Duration::from_secs(45);
const MAX_WAIT_TIMEOUT: Duration = Duration::from_secs(120);

impl AgentContext {
    pub(super) async fn device_list(&self, args: ListArgs) -> CallToolResult {
        let on = match requirement(args.on.as_deref()) {
            Ok(on) => on,
            Err(refusal) => return failed(refusal),
        };
        let mut lines = Vec::new();
        let mut data = Vec::new();
        for device in self.project().devices().await {
            let mismatch = self.mismatch(&on, &device);
            let mut line = format!(
                "{}  {} {}  {}",
                device.info.id, device.info.model, device.info.system, device.state
            );
            if !device.queue.is_empty() {
                line.push_str(&format!("; waiting: {}", device.queue.join(", ")));
            }
            if let Some(why) = &mismatch {
                line.push_str(&format!("; does not match: {why}"));
            }
            lines.push(line);
            data.push(json!({
                "device": device.info.id,
                "platform": device.info.id.platform(),
                "model": device.info.model,
                "system": device.info.system,
                "driver": device.info.driver,
                "state": device.state,
                "free": device.is_free,
                "queue": device.queue,
                "matches": mismatch.is_none(),
                "why_not": mismatch,
            }));
        }
        for unusable in self.project().wiring.unusable() {
            let why = unusable.problem.clone();
            let why = why.unwrap_or_else(|| unusable.state.to_string());
            lines.push(format!(
                "android/{}  cannot be used: {why}",
                unusable.serial
            ));
        }
        if lines.is_empty() {
            lines.push("no devices; `packtrain doctor` says what is missing".to_owned());
        }
        told(lines.join("\n"), json!({ "devices": data }))
    }

    /// Why a device is not what it has to be.
    fn mismatch(&self, on: &Requirement, device: &DeviceSummary) -> Option<String> {
        let advert = DeviceAdvert {
            info: device.info.clone(),
            api: self.project().wiring.api_level(&device.info.id),
            labels: std::collections::BTreeMap::new(),
            tools: Vec::new(),
            has: Vec::new(),
            out_of_service: None,
        };
        let key = DeviceKey {
            host: "here".parse::<HostName>().ok()?,
            device: device.info.id.clone(),
        };
        let subject = Subject::new(&key, &advert);
        if on.matches(&subject) {
            return None;
        }
        let parts = on.why_not(&subject);
        let parts: Vec<_> = parts.iter().map(ToString::to_string).collect();
        Some(parts.join("; "))
    }

    pub(super) async fn device_acquire(
        &self,
        args: AcquireArgs,
        reporter: &Reporter,
    ) -> CallToolResult {
        let devices = match self.wanted(&args).await {
            Ok(devices) => devices,
            Err(refusal) => return failed(refusal),
        };
        let wait = args
            .wait_ms
            .map_or(DEFAULT_WAIT_TIMEOUT, Duration::from_millis);
        let waiting = |device: &DeviceId, reason: &packtrain_device_actors::WaitReason| {
            reporter.say(&format!("waiting for {device}: {reason}"));
        };
        let wait = wait.min(MAX_WAIT_TIMEOUT);
        let held = HeldDevice::acquire(&self.agent, &devices, wait, waiting).await;
        match held {
            Ok(held) => {
                let info = &held.device;
                let text = format!(
                    "{}: {} {}\nlease: {}\nEvery call that is for it names this lease. The report: packtrain report {}",
                    info.id, info.model, info.system, held.handle, held.run
                );
                let data = json!({
                    "lease": held.handle,
                    "device": info.id,
                    "platform": info.id.platform(),
                    "driver": info.driver,
                    "run": held.run,
                });
                let mut taken = told(text, data);
                if let Some(what) = args.open {
                    // The device is theirs, whether or not it opens.
                    let opening = ActArgs::opening(&held, what);
                    taken
                        .content
                        .extend(self.act(opening, reporter).await.content);
                }
                taken
            }
            Err((device, NotHeld::Busy(reason))) => {
                let mut busy = failed(format!(
                    "device_busy: {device} is {reason}\nCall again to keep waiting, or take another device: device_list shows which are free."
                ));
                busy.structured_content = Some(json!({
                    "error": "device_busy",
                    "device": device,
                    "reason": reason.to_string(),
                    "ahead": reason.ahead,
                    "retry_after_ms": 5000,
                }));
                busy
            }
            Err((device, NotHeld::Own)) => failed(self.own(&device)),
            Err((device, NotHeld::Refused(why))) => failed(format!("{device}: {why}")),
        }
    }

    /// That a device is the agent's own already.
    fn own(&self, device: &DeviceId) -> String {
        match self.agent.lease_of(device) {
            Some(lease) => format!("you have it: {lease} is your lease on {device}"),
            None => format!("you have it: another call of yours takes {device}"),
        }
    }

    /// What is wanted: a device that is free, if there is one, or else all that will do, the one first that
    /// the fewest wait for; and never one of the agent's own.
    async fn wanted(&self, args: &AcquireArgs) -> Result<Vec<DeviceId>, String> {
        let on = requirement(args.on.as_deref())?;
        let word = args.device.as_deref().unwrap_or_default().trim();
        let devices = self.project().devices().await;
        let is_meant = |device: &DeviceSummary, exactly: bool| {
            let id = device.info.id.to_string();
            let platform = device.info.id.platform().as_str();
            match exactly {
                true => id == word || platform == word || device.info.id.name() == word,
                false => id.contains(word),
            }
        };
        let meant: Vec<_> = devices.iter().filter(|it| is_meant(it, true)).collect();
        let meant: Vec<_> = match meant.is_empty() {
            true => devices.iter().filter(|it| is_meant(it, false)).collect(),
            false => meant,
        };
        if meant.is_empty() {
            return Err(format!("unknown device `{word}`; device_list shows all"));
        }
        let mut why = Vec::new();
        let mut fitting = Vec::new();
        for device in meant {
            match self.mismatch(&on, device) {
                None => fitting.push(device),
                Some(mismatch) => why.push(format!("{}: {mismatch}", device.info.id)),
            }
        }
        if fitting.is_empty() {
            return Err(format!("no device matches\n{}", why.join("\n")));
        }
        let (own, mut others): (Vec<_>, Vec<_>) = fitting
            .into_iter()
            .partition(|device| self.agent.lease_of(&device.info.id).is_some());
        others.sort_by_key(|device| (!device.is_free, device.queue.len()));
        match others.first() {
            Some(first) if first.is_free => Ok(vec![first.info.id.clone()]),
            Some(_) => Ok(others.iter().map(|device| device.info.id.clone()).collect()),
            None => {
                let own: Vec<_> = own.iter().map(|device| self.own(&device.info.id)).collect();
                Err(own.join("\n"))
            }
        }
    }

    pub(super) async fn device_release(&self, args: ReleaseArgs) -> CallToolResult {
        let Some(held) = self.agent.take(&args.lease) else {
            return failed(unknown_lease(&args.lease));
        };
        held.let_go();
        held.is_closed().await;
        let free = format!("{} is free", held.device.id);
        let data = json!({ "device": held.device.id, "run": held.run });
        match held.unwritten() {
            None => told(
                format!("{free}; packtrain report {} shows what was done", held.run),
                data,
            ),
            Some(why) => {
                let mut lost = failed(format!(
                    "{free}, but the run's journal could not be written completely: {why}\nhint: its report ends where the journal does; make room on the disk"
                ));
                lost.structured_content = Some(data);
                lost
            }
        }
    }
}

/// An answer about a device, with what is wrong with the journal of what is done on it.
pub(super) fn with_doubts(mut result: CallToolResult, held: &HeldDevice) -> CallToolResult {
    if let Some(why) = held.unwritten() {
        let text =
            format!("note: this is in no report, the run's journal cannot be written: {why}");
        result.content.push(ContentBlock::text(plain(&text)));
    }
    result
}

/// The error for a lease that is not the agent's.
pub(super) fn unknown_lease(handle: &str) -> String {
    let shown: String = handle.chars().take(60).collect();
    format!("unknown_lease: `{shown}` is not your lease, or has ended; device_acquire gives one")
}

fn requirement(on: Option<&str>) -> Result<Requirement, String> {
    Requirement::parse(on.unwrap_or_default()).map_err(|error| format!("`on`: {error}"))
}
