//! The daemon's devices, when it is there and has what a run or a call needs.

use std::path::PathBuf;

use packtrain_config::Config;
use packtrain_model::Exit;

use crate::cli::Context;
use crate::cli::select::{Chosen, chosen};
use crate::daemon::wire::{DeviceList, ProjectKey, Request};
use crate::daemon::{InDaemon, client};
use crate::exit::CliError;
use crate::render;
use crate::wiring::{DeviceSelection, Wiring};

/// The daemon, for one run or call.
pub(in crate::cli) struct Warm {
    pub(in crate::cli) socket: PathBuf,
    pub(in crate::cli) project: ProjectKey,
    /// What shows that an agent has started the run.
    ticket: Option<String>,
}

/// The daemon, when it is there and has all devices that are wanted, with those.
///
/// # Errors
/// When there is a ticket and the daemon does not have them; when one of another build is in use.
pub(in crate::cli) async fn find(
    wanted: DeviceSelection<'_>,
    ticket: Option<String>,
    config: &Config,
    context: &Context,
) -> Result<Option<(Warm, Chosen)>, CliError> {
    let mut words = wanted.words.iter();
    if ticket.is_none() && words.any(|word| word.starts_with("virtual:")) {
        return Ok(None);
    }
    let project = context.project_key();
    let usable = match client::usable(&project).await {
        // One of another build is not passed by: it may have the devices.
        Err(error) if error.exit == Exit::Misuse => return Err(error),
        usable => usable,
    };
    let asked = async {
        let gone = || CliError::infrastructure("the daemon is gone");
        let socket = usable?.ok_or_else(gone)?.socket;
        let wants = Request::Devices { open: true };
        let news: DeviceList = client::ask_for(&socket, project.clone(), wants).await?;
        Ok((socket, news))
    };
    let (socket, news) = match asked.await {
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
    let devices = news.devices.into_iter().map(|device| device.info);
    let wiring = Wiring::in_daemon(config, devices.collect());
    match wiring.and_then(|wiring| chosen(wanted, wiring)) {
        Err(error) if ticket.is_some() => Err(error),
        Err(_) => Ok(None),
        Ok(chosen) => {
            let warm = Warm {
                socket,
                project,
                ticket,
            };
            Ok(Some((warm, chosen)))
        }
    }
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
