//! A run on the daemon's devices, when it is there and has what the run needs.

use std::path::PathBuf;

use packtrain_config::Config;
use packtrain_drivers::DeviceInfo;

use super::RunArgs;
use crate::cli::Context;
use crate::cli::select::select;
use crate::daemon::wire::{DevicesNews, ProjectKey, Wants};
use crate::daemon::{InDaemon, TICKET, client};
use crate::exit::CliError;
use crate::render;
use crate::wiring::{DeviceSelection, Wiring};

/// The daemon, for one run.
pub(super) struct Warm {
    socket: PathBuf,
    project: ProjectKey,
    devices: Vec<DeviceInfo>,
    /// What shows that an agent has started the run.
    ticket: Option<String>,
}

/// The daemon, when it is there and has all devices that are wanted, as they are wanted.
///
/// # Errors
/// When an agent has started the run, and the daemon cannot carry it out.
pub(super) async fn find(
    args: &RunArgs,
    config: &Config,
    wanted: DeviceSelection<'_>,
    context: &Context,
) -> Result<Option<Warm>, CliError> {
    let ticket = std::env::var(TICKET).ok();
    if ticket.is_none() && !is_possible(args, wanted) {
        return Ok(None);
    }
    let found = match client::running() {
        Ok(Some(state)) => {
            let project = context.project_key();
            let asked = client::ask_for(
                &state.socket,
                project.clone(),
                Wants::Devices { open: true },
            )
            .await;
            asked.map(|news: DevicesNews| Warm {
                socket: state.socket,
                project,
                devices: news.devices.into_iter().map(|device| device.info).collect(),
                ticket: ticket.clone(),
            })
        }
        Ok(None) => Err(CliError::infrastructure("the daemon is gone")),
        Err(error) => Err(error),
    };
    if ticket.is_some() {
        return found.map(Some);
    }
    match found {
        Ok(warm) if warm.devices(config, wanted).is_ok() => Ok(Some(warm)),
        Ok(_) => Ok(None),
        Err(error) => {
            if client::running().is_ok_and(|state| state.is_some()) {
                let why = error.explanation.message;
                render::say(&format!("note: without the daemon: {why}"));
            }
            Ok(None)
        }
    }
}

/// Whether the daemon's devices are what the flags ask for.
fn is_possible(args: &RunArgs, wanted: DeviceSelection<'_>) -> bool {
    let asks_for_own = args.headed || args.headless.is_some() || args.base_url.is_some();
    let is_virtual = wanted.words.iter().any(|word| word.starts_with("virtual:"));
    let has_cells = args.matrix.is_some() || !args.axis.is_empty();
    !(args.no_daemon || args.choice.list || asks_for_own || is_virtual || has_cells)
}

impl Warm {
    /// The devices that are wanted.
    ///
    /// # Errors
    /// When it does not have them.
    pub(super) fn devices(
        &self,
        config: &Config,
        wanted: DeviceSelection<'_>,
    ) -> Result<(Wiring, Vec<DeviceInfo>), CliError> {
        let mut wiring = Wiring::in_daemon(config, self.devices.clone())?;
        let devices = select(wanted, &mut wiring)?;
        Ok((wiring, devices))
    }

    /// What carries out the run's sessions.
    pub(super) fn host(self, context: &Context, scratch: PathBuf) -> InDaemon {
        InDaemon {
            socket: self.socket,
            project: self.project,
            scratch: Some(scratch),
            working_directory: context.working_directory.clone(),
            ticket: self.ticket,
        }
    }
}
