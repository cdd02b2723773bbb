//! What a run is asked for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::RunId;
use packtrain_model::trail::{GivenArg, Trail};
use packtrain_tools::Targets;

use crate::matrix::Matrix;
use crate::order::SessionOptions;

/// One request: trails, devices and how.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The run's name.
    pub run: RunId,
    /// The trails, in order.
    pub trails: Vec<RequestedTrail>,
    /// The devices, in order.
    pub devices: Vec<DeviceInfo>,
    /// Devices that are alike and stand for each other, first to last. A device in none stands for
    /// itself.
    pub alike: Vec<Vec<DeviceId>>,
    /// Leave out devices of platforms that a trail does not declare.
    pub only_declared: bool,
    /// The driver to use instead of the one a trail pins; see [`check_driver`](crate::check_driver).
    pub driver: Option<String>,
    /// Run only trails that have one of these tags; all when empty.
    pub tags: Vec<String>,
    /// How trails and devices are combined.
    pub shard: Shard,
    /// What devices have to be when the farm finds them; those above are the ones that match now.
    pub anywhere: Option<Anywhere>,
    /// Everything else.
    pub options: RunOptions,
}

/// Any device of a farm that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anywhere {
    /// What it has to be, in the farm's language.
    pub on: String,
    /// How many sessions of each trail; as many as devices match when `None`, and at least one.
    pub count: Option<usize>,
}

/// A trail and where it may run.
#[derive(Debug, Clone)]
pub struct RequestedTrail {
    /// The trail.
    pub trail: Arc<Trail>,
    /// The devices it may run on; all of the request's when `None`.
    pub only: Option<Vec<DeviceId>>,
    /// The configurations it runs in; just one, without a name, when there is none.
    pub matrix: Option<Arc<Matrix>>,
}

impl RequestedTrail {
    pub(crate) fn may_run_on(&self, device: &DeviceId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(device))
    }
}

/// How trails and devices are combined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shard {
    /// Every trail on every device.
    #[default]
    All,
    /// Every trail once, on whichever device is free.
    Split,
}

impl Shard {
    /// The word people use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Split => "split",
        }
    }
}

/// How a run goes about it.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// How often a session that did not pass is tried again.
    pub retries: u32,
    /// How long to wait before that; twice as long each time.
    pub retry_delay: Duration,
    /// Stop everything after the first session that did not pass.
    pub fail_fast: bool,
    /// How long the run may take.
    pub time_limit: Option<Duration>,
    /// How each session goes about it.
    pub session: SessionOptions,
    /// Values to remember, over the trail's own.
    pub memory: Vec<(String, String)>,
    /// Values to remember and never to show, over all others.
    pub secrets: Vec<(String, String)>,
    /// Arguments of the trails.
    pub args: Vec<GivenArg>,
    /// The apps under test.
    pub targets: Targets,
    /// The flags that left out devices or configurations of the project, for the journal.
    pub narrowed_by: Vec<String>,
    /// The folder it was started in, for the journal.
    pub working_directory: PathBuf,
    /// Version of the program, for the journal.
    pub version: String,
}
