//! A run on the daemon's devices, when it is there and has what the run needs.

use std::path::PathBuf;

use packtrain_config::Config;
use packtrain_drivers::DeviceInfo;
use packtrain_model::Exit;

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
    /// What shows that an agent has started the run.
    ticket: Option<String>,
}

/// What a run is on.
type Chosen = (Wiring, Vec<DeviceInfo>);

/// The daemon, when it is there and has all devices that are wanted, as they are wanted; with those.
///
/// # Errors
/// When an agent has started the run, and the daemon cannot carry it out; when one of another build is in
/// use.
pub(super) async fn find(
    args: &RunArgs,
    config: &Config,
    wanted: DeviceSelection<'_>,
    context: &Context,
) -> Result<Option<(Warm, Chosen)>, CliError> {
    let ticket = std::env::var(TICKET).ok();
    if ticket.is_none() && !is_possible(args, wanted) {
        return Ok(None);
    }
    let project = context.project_key();
    let daemon = client::usable(&project).await;
    let asked = match daemon {
        // One of another build is not passed by: it may have the devices.
        Err(error) if error.exit == Exit::Misuse => return Err(error),
        Ok(Some(state)) => {
            let wants = Wants::Devices { open: true };
            let asked = client::ask_for(&state.socket, project.clone(), wants).await;
            asked.map(|news: DevicesNews| {
                let warm = Warm {
                    socket: state.socket,
                    project,
                    ticket: ticket.clone(),
                };
                (warm, news)
            })
        }
        Ok(None) => Err(CliError::infrastructure("the daemon is gone")),
        Err(error) => Err(error),
    };
    let (warm, news) = match asked {
        Ok(asked) => asked,
        Err(error) if ticket.is_some() => return Err(error),
        Err(error) => {
            if client::running().is_ok_and(|state| state.is_some()) {
                let why = error.explanation.message;
                render::say(&format!("note: without the daemon: {why}"));
            }
            return Ok(None);
        }
    };
    match chosen(config, wanted, news) {
        Ok(chosen) => Ok(Some((warm, chosen))),
        Err(error) if ticket.is_some() => Err(error),
        Err(_) => Ok(None),
    }
}

/// Those of the daemon's devices that are wanted.
fn chosen(
    config: &Config,
    wanted: DeviceSelection<'_>,
    news: DevicesNews,
) -> Result<Chosen, CliError> {
    let devices = news.devices.into_iter().map(|device| device.info);
    let mut wiring = Wiring::in_daemon(config, devices.collect())?;
    let devices = select(wanted, &mut wiring)?;
    Ok((wiring, devices))
}

/// Whether the daemon's devices are what the flags ask for.
fn is_possible(args: &RunArgs, wanted: DeviceSelection<'_>) -> bool {
    let asks_for_own = args.headed || args.headless.is_some() || args.base_url.is_some();
    let is_virtual = wanted.words.iter().any(|word| word.starts_with("virtual:"));
    let has_cells = args.matrix.is_some() || !args.axis.is_empty();
    !(args.no_daemon || args.choice.list || asks_for_own || is_virtual || has_cells)
}

impl Warm {
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
