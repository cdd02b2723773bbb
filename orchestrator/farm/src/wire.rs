//! What is written to the server, as JSON. Readers ignore what they do not know.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chrono::{DateTime, Utc};
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_engine::{SessionOptions, SessionOrder};
use packtrain_model::{Blame, Outcome, RunId, SessionId};
use packtrain_wire::Dated;
use serde::{Deserialize, Serialize};

/// A version of what is written to the server, whatever the builds that write and read it. It is raised
/// with what readers of the version before cannot read; neighbours work together, so that the computers
/// of a farm can be updated one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Protocol(pub u32);

impl Protocol {
    /// What this build writes.
    pub const CURRENT: Self = Self(2);

    /// Whether who writes this and who writes the other work together.
    pub const fn works_with(self, other: Self) -> bool {
        self.0.abs_diff(other.0) <= 1
    }
}

impl Default for Protocol {
    /// The first, which was not told.
    fn default() -> Self {
        Self(1)
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A host's name: lower-case letters, digits and `-`, at most 63, so that it is one token anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct HostName(String);

/// A name that cannot be a host's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid host name `{0}`: expected at most 63 lower-case letters, digits and `-`")]
pub struct HostNameError(String);

impl FromStr for HostName {
    type Err = HostNameError;

    fn from_str(text: &str) -> Result<Self, HostNameError> {
        let is_fit = (1..=63).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if is_fit {
            Ok(Self(text.to_owned()))
        } else {
            Err(HostNameError(text.to_owned()))
        }
    }
}

impl TryFrom<String> for HostName {
    type Error = HostNameError;

    fn try_from(text: String) -> Result<Self, HostNameError> {
        text.parse()
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A device of the farm.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceKey {
    /// The host it is connected to.
    pub host: HostName,
    /// Its name there.
    pub device: DeviceId,
}

impl DeviceKey {
    /// What the device is called in runs: `android/emulator-5554@mac-1`.
    pub fn public(&self) -> DeviceId {
        let name = format!("{}@{}", self.device.name(), self.host);
        DeviceId::new(self.device.platform(), name)
    }

    /// The device that runs call so.
    pub fn named(public: &DeviceId) -> Option<Self> {
        let (name, host) = public.name().rsplit_once('@')?;
        Some(Self {
            host: host.parse().ok()?,
            device: DeviceId::new(public.platform(), name),
        })
    }
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.public().fmt(f)
    }
}

/// A host that is alive; the value of its key in `live`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAdvert {
    /// New with each start of the host: what an earlier one had is lost.
    pub incarnation: String,
    /// Version of packtrain, for people.
    pub version: String,
    /// What it writes and reads.
    #[serde(default)]
    pub protocol: Protocol,
    /// How much it takes at once.
    pub capacity: Capacity,
    /// Whether it takes nothing new.
    pub draining: bool,
    /// The public key that secrets are sealed to (an nkey of type `X`).
    pub seal: String,
    /// Operating system and architecture.
    pub system: String,
}

/// How much a host takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    /// Sessions, of any kind.
    pub sessions: u32,
    /// Of these, sessions in browsers.
    pub browsers: u32,
}

/// What a device is; the value of its key in `device`. Written on change only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeviceAdvert {
    /// As its driver describes it, by its name on the host.
    pub info: DeviceInfo,
    /// The Android API level, where it has one and it is known.
    pub api: Option<u32>,
    /// What the host's owner calls its devices: `lab=berlin`.
    pub labels: BTreeMap<String, String>,
    /// Names of tool sources' tools that the host has at hand for every run.
    pub tools: Vec<String>,
    /// Names of programs that its host has and that tool sources may need: `python3`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub has: Vec<String>,
    /// Why it gets no sessions, if so.
    pub out_of_service: Option<OutOfService>,
}

/// Why a device gets no sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutOfService {
    /// It is not connected or does not answer.
    Down,
    /// It broke too often, or somebody said so; with the cause.
    Quarantined(String),
}

/// A run that is alive; the value of its key in `live`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAdvert {
    /// New with each process that resumes the run.
    pub incarnation: String,
    /// Who runs it: `ada@laptop`.
    pub owner: String,
    /// It waits until that many devices match; 1 at least.
    pub min_devices: u32,
    /// It came to its end, and what is stored of it may go.
    pub done: bool,
    /// It was stopped: nothing more is begun for it, and what is under way ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopping: bool,
    /// Sessions that it does not wait for any more, though they were granted: their devices are taken
    /// back. Kept for as long as the run is alive; there are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_up: Vec<SessionId>,
    /// Hosts that lack what its tool sources need to start: they get its sessions only when no other
    /// host has a device for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<HostName>,
}

/// A session that a run wants carried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Demand {
    /// What the device has to be, in the language of `packtrain farm why`.
    pub on: String,
    /// Sessions of a run with the same word go to different devices, as long as there are any: a
    /// trail's sessions.
    pub spread: String,
    /// The device that it was planned on: it takes another only when that one cannot be had.
    pub own: Option<DeviceKey>,
    /// Whether an earlier attempt was lost; such sessions go first.
    pub requeued: bool,
    /// Devices that broke earlier attempts, each once for each; it waits a moment for others.
    pub avoid: Vec<DeviceKey>,
    /// Hosts that broke earlier attempts; the same.
    #[serde(default)]
    pub avoid_hosts: Vec<HostName>,
    /// When the run asked.
    pub at: DateTime<Utc>,
}

/// A demand as its host reads it: with what is to be carried out. The broker does not look at that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderedDemand {
    /// What the broker reads.
    #[serde(flatten)]
    pub demand: Demand,
    /// The order, without its trail and without secrets.
    pub order: SessionOrder,
    /// The trail as JSON.
    pub trail: Blob,
    /// The trail's path within the bundle, with `/`.
    pub path: String,
}

/// A grant; the value of a device's key in `lease`. Its revision is the fencing token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The session.
    pub session: SessionId,
    /// The incarnation of the host that it was granted to.
    pub incarnation: String,
}

/// Which device a session was granted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// The device.
    pub device: DeviceKey,
    /// What it is, for a session that is lost before it says so.
    pub info: DeviceInfo,
    /// Whether it takes the place of [`Demand::own`], which could not be had.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces: bool,
}

/// Some of a session's events, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pack {
    /// The number of the first item in its session, from 0.
    pub first: u64,
    /// What happened.
    pub items: Vec<Item>,
}

/// Something that happened in a session.
pub type Item = packtrain_wire::Item<Dated, Blob>;

/// Content that is stored under its digest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Blob {
    /// SHA-256, in hexadecimal digits.
    pub digest: String,
    /// Its size.
    pub bytes: u64,
    /// The digests of its parts, in order, when it is more than one message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The host carried it out.
    Settled {
        /// How it went.
        outcome: Outcome,
        /// How many items its packs have together.
        items: u64,
    },
    /// It was lost with its host, its device or its run.
    Lost {
        /// With what.
        #[serde(default)]
        blame: Blame,
        /// Why, in one sentence.
        cause: String,
    },
    /// One that is too large for a message: the blob's content is JSON of it.
    Large(Blob),
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledFile {
    /// What is in it.
    #[serde(flatten)]
    pub content: Blob,
    /// Whether it is a program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

/// What hosts need to carry out sessions of a run; a blob's content is JSON of this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The run.
    pub run: RunId,
    /// What the run writes and reads.
    #[serde(default)]
    pub protocol: Protocol,
    /// The files of the project, by their paths with `/`.
    pub files: BTreeMap<String, BundledFile>,
    /// The folder of the configuration, below the bundle.
    pub root: String,
    /// The configuration's file in that folder; `None` when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Whether sessions may call tool sources.
    pub sources: bool,
    /// Names of the secrets that are sealed to each host.
    pub secrets: Vec<String>,
    /// What carries the run on when its process is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Resume>,
}

/// What it takes to plan a run again as it was, from its bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resume {
    /// The command line, without the program and without values of secrets.
    pub arguments: Vec<String>,
    /// Paths of the trails and folders that were named, within the bundle.
    pub trails: Vec<String>,
    /// The devices that matched when the run was planned.
    pub devices: Vec<DeviceInfo>,
    /// What tells the plan from another.
    pub plan: String,
    /// How the run goes about it, wherever that was said.
    pub retries: u32,
    /// How long to wait before a retry.
    pub retry_delay: Duration,
    /// Whether it stops after the first failure.
    pub fail_fast: bool,
    /// How long each of its processes may take.
    pub time_limit: Option<Duration>,
    /// How each session goes about it.
    pub session: SessionOptions,
}

/// Asks the hosts of a run to let its sessions end. There is nothing else in it, so that nothing that is
/// meant for something else is taken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// The run.
    pub run: RunId,
}

/// Where a run stands; sent when that changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuePosition {
    /// The run.
    pub run: RunId,
    /// Who runs it.
    pub owner: String,
    /// Sessions under way.
    pub running: u32,
    /// Sessions that wait.
    pub waiting: u32,
    /// Runs that are served before this one.
    pub ahead: u32,
    /// Why nothing of it is under way, in one sentence.
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_version_of_the_protocol_and_the_last_work_together_and_others_do_not() {
        let Protocol(now) = Protocol::CURRENT;
        for (other, works) in [
            (now - 1, true),
            (now, true),
            (now + 1, true),
            (now + 2, false),
        ] {
            assert_eq!(
                Protocol::CURRENT.works_with(Protocol(other)),
                works,
                "{other}"
            );
        }
    }

    #[test]
    fn what_a_build_of_the_last_version_wrote_is_read() {
        let host = r#"{"incarnation":"i","version":"0.0.9","capacity":{"sessions":2,"browsers":0},
            "draining":false,"seal":"X","system":"linux x86_64"}"#;
        let host: HostAdvert = serde_json::from_str(host).unwrap();
        assert!(Protocol::CURRENT.works_with(host.protocol), "{host:?}");
        let manifest = r#"{"run":"r","files":{},"root":"project","sources":false,"secrets":[]}"#;
        let manifest: Manifest = serde_json::from_str(manifest).unwrap();
        assert!(Protocol::CURRENT.works_with(manifest.protocol));
        let end = r#"{"settled":{"outcome":{"outcome":"passed"},"items":3}}"#;
        serde_json::from_str::<End>(end).unwrap();
    }

    #[test]
    fn what_a_session_says_is_read_and_written_as_it_always_was() {
        let pack = concat!(
            r#"{"first":7,"items":["#,
            r#"{"event":{"at":"2026-11-27T18:00:00.250Z","event":{"event":"step_started","session":"s1","step":2}}},"#,
            r#"{"file":{"step":2,"kind":"screenshot","name":"2.png","shared":false,"content":{"digest":"ab","bytes":3}}},"#,
            r#"{"file":{"step":0,"kind":"screen_tree","name":"trees/ab.json","shared":true,"#,
            r#""content":{"digest":"ab","bytes":600000,"parts":["cd","ef"]}}},"#,
            r#"{"lost":"video.mp4: 200000000 bytes are too many to send"},"#,
            r#"{"large":{"digest":"ab","bytes":300000}}]}"#
        );
        let read: Pack = serde_json::from_str(pack).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), pack);
        for end in [
            r#"{"settled":{"outcome":{"outcome":"failed","message":"no","failed_at":"a.trail.yaml:1:2"},"items":3}}"#,
            r#"{"lost":{"blame":"host","cause":"its host is gone"}}"#,
            r#"{"large":{"digest":"ab","bytes":300000}}"#,
        ] {
            let read: End = serde_json::from_str(end).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), end);
        }
    }
}
