//! What is asked of a run, by whichever command: what was typed has been read and checked.

use std::path::PathBuf;

use packtrain_config::Flags;
use packtrain_model::trail::GivenArg;

use super::choice::Choice;
use super::farm::FarmRequest;
use super::shown::Shown;
use crate::cli::Format;
use crate::matrix::MatrixOptions;
use crate::reports::Copies;

/// A run as it is asked for.
#[derive(Default)]
pub(crate) struct RunRequest {
    /// Files, or folders that hold some; the configured folder when there are none.
    pub(crate) trails: Vec<PathBuf>,
    /// The words for devices.
    pub(crate) devices: Vec<String>,
    pub(crate) all_devices: bool,
    pub(crate) matrix: MatrixOptions,
    /// Only trails with one of these, if there are any.
    pub(crate) tags: Vec<String>,
    /// Whether it is this run that is to be split, and not all runs by the configuration.
    pub(crate) is_split: bool,
    pub(crate) choice: Choice,
    pub(crate) memory: Vec<(String, String)>,
    pub(crate) secrets: Vec<(String, String)>,
    pub(crate) args: Vec<GivenArg>,
    /// The app under test, by its name in the configuration.
    pub(crate) target: Option<String>,
    pub(crate) base_url: Option<String>,
    /// The driver to use instead of the one a trail pins.
    pub(crate) driver: Option<String>,
    /// Whether browsers show their windows.
    pub(crate) headed: bool,
    /// Whether the daemon's devices would not do, whatever they are.
    pub(crate) without_daemon: bool,
    /// The farm that it is for, if it is for one.
    pub(crate) farm: Option<FarmRequest>,
    pub(crate) format: Format,
    pub(crate) shown: Shown,
    pub(crate) copies: Copies,
    /// What it says about the configuration.
    pub(crate) flags: Flags,
}

impl RunRequest {
    /// The flags that leave out devices or configurations that the project has.
    pub(super) fn narrowing(&self) -> Vec<String> {
        let flags = [
            ("--device", !self.devices.is_empty()),
            ("--axis", !self.matrix.axes.is_empty()),
            ("--cell", !self.matrix.cells.is_empty()),
            ("--last-failed", self.choice.last_failed),
            ("--shard", self.is_split),
            // Its devices are those that are there at the moment.
            ("--farm", self.farm.is_some()),
        ];
        let given = flags.into_iter().filter(|(_, is_given)| *is_given);
        given.map(|(flag, _)| flag.to_owned()).collect()
    }
}
