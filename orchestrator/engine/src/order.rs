//! The order for one session: everything it takes to run one attempt of one trail, and no path that
//! only one computer knows. It can be written down and carried out elsewhere.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use packtrain_device_actors::CONNECT_TIMEOUT;
use packtrain_drivers::{DeviceInfo, Rect};
use packtrain_model::trail::Trail;
use packtrain_model::{
    AttemptNumber, Memory, PlannedSession, RunEvent, RunId, SessionId, SessionIndex,
};
use packtrain_tools::Target;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::matrix::CellSettings;

/// One attempt of one trail, to be carried out somewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOrder {
    /// The run it belongs to.
    pub run: RunId,
    /// Its name in the run.
    pub session: SessionId,
    /// Which try.
    pub attempt: AttemptNumber,
    /// Which trail, device and configuration, as the run planned it.
    pub planned: PlannedSession,
    /// The trail.
    #[serde(serialize_with = "write_trail", deserialize_with = "read_trail")]
    pub trail: Arc<Trail>,
    /// Which device it needs.
    pub requires: DeviceRequirement,
    /// The app under test.
    pub target: Target,
    /// What it knows from the start.
    pub values: SessionValues,
    /// What its configuration means.
    #[serde(default)]
    pub cell: CellSettings,
    /// How it goes about it.
    pub options: SessionOptions,
}

impl SessionOrder {
    /// The only session of an unplanned run: a trail on this device.
    pub fn alone(run: RunId, trail: Trail, device: DeviceInfo) -> Self {
        let attempt = AttemptNumber(1);
        Self {
            run,
            session: SessionId::new(SessionIndex(0), attempt),
            attempt,
            planned: PlannedSession {
                device: Some(device.id.clone()),
                ..PlannedSession::default()
            },
            trail: Arc::new(trail),
            requires: DeviceRequirement::Exactly(device),
            target: Target::default(),
            values: SessionValues::default(),
            cell: CellSettings::default(),
            options: SessionOptions::default(),
        }
    }

    /// That it has this device.
    pub fn started(&self, device: DeviceInfo) -> RunEvent {
        started(&self.session, &self.planned, self.attempt, device)
    }
}

/// That a session has a device.
pub(crate) fn started(
    session: &SessionId,
    planned: &PlannedSession,
    attempt: AttemptNumber,
    device: DeviceInfo,
) -> RunEvent {
    let planned = PlannedSession {
        device: Some(device.id.clone()),
        ..planned.clone()
    };
    RunEvent::session_started(session.clone(), planned, attempt, device)
}

/// Which device a session needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceRequirement {
    /// This one, as it was described when the run was planned.
    Exactly(DeviceInfo),
    /// Any that an expression of the farm's matches.
    Matching(String),
}

impl DeviceRequirement {
    /// The device as the plan knows it; `None` when that is still to be found.
    pub const fn described(&self) -> Option<&DeviceInfo> {
        match self {
            Self::Exactly(device) => Some(device),
            Self::Matching(_) => None,
        }
    }
}

/// What a session knows from the start, besides what its trail says.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionValues {
    /// Values to remember, over the trail's own.
    pub memory: Vec<(String, String)>,
    /// Values to remember and never to show, over all others.
    pub secrets: Vec<(String, String)>,
    /// The trail's arguments, of the declared types.
    pub args: BTreeMap<String, serde_json::Value>,
}

impl SessionValues {
    /// The memory of a session of `trail`.
    ///
    /// # Errors
    /// A sentence when the arguments cannot be filled in.
    pub(crate) fn memory_of(&self, trail: &Trail) -> Result<Memory, String> {
        let mut memory = Memory::seeded(&trail.config.memory, &self.memory, &self.secrets);
        memory
            .set_args(self.args.clone(), trail.config.undefined)
            .map_err(|error| error.to_string())?;
        Ok(memory)
    }
}

/// Names only: an order in a log must not give anything away.
impl fmt::Debug for SessionValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| {
            let names = pairs.iter().map(|(name, _)| name.clone());
            names.collect::<Vec<_>>()
        };
        f.debug_struct("SessionValues")
            .field("memory", &names(&self.memory))
            .field("secrets", &names(&self.secrets))
            .field("args", &self.args.keys())
            .finish()
    }
}

/// How a session goes about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOptions {
    /// How long it may take, from the moment its device is ready.
    pub timeout: Duration,
    /// How long its device may take to get ready once it is free, so that a remote caller
    /// knows when to give up.
    pub connect_timeout: Duration,
    /// How long one step may take; without a limit of its own when `None`.
    #[serde(default)]
    pub step_timeout: Option<Duration>,
    /// When the screen is kept as a picture.
    pub screenshots: Screenshots,
    /// When the screen is observed for comparison.
    pub observe: Screenshots,
    /// When a trace of the whole session is kept.
    pub trace: Screenshots,
    /// What pictures are not compared in.
    #[serde(default)]
    pub masks: Vec<Mask>,
    /// What it means that several elements match.
    pub ambiguity: Ambiguity,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(600),
            connect_timeout: CONNECT_TIMEOUT,
            step_timeout: None,
            screenshots: Screenshots::default(),
            observe: Screenshots::default(),
            trace: Screenshots::None,
            masks: Vec::new(),
            ambiguity: Ambiguity::default(),
        }
    }
}

/// A part of the screen that pictures are not compared in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mask {
    /// Elements on pages, by CSS selector.
    Css(String),
    /// Elements with a text in which this regular expression matches.
    Text(String),
    /// A rectangle, in the units of snapshots.
    Rect(Rect),
}

/// When the screen is kept as a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Screenshots {
    /// At the end of every step.
    #[default]
    All,
    /// When a step fails.
    Failure,
    /// Never.
    None,
}

/// What it means that a call names one element and several match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ambiguity {
    /// The first is used, and the report says how many there were.
    #[default]
    Report,
    /// The call has failed.
    Fail,
}

fn write_trail<S: Serializer>(trail: &Arc<Trail>, serializer: S) -> Result<S::Ok, S::Error> {
    trail.serialize(serializer)
}

fn read_trail<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Trail>, D::Error> {
    Trail::deserialize(deserializer).map(Arc::new)
}
