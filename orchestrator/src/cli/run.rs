//! `packtrain run`: trails in, devices driven in parallel, a verdict and reports out.

mod alike;
mod args;
mod choice;
mod ending;
pub(crate) mod farm;
mod given;
mod list;
mod prepared;
mod recording;
mod request;
mod shown;
mod trailblaze;
pub(super) mod warm;

use std::sync::Arc;
use std::time::Duration;

use packtrain_engine::SessionHost;
use packtrain_model::Exit;
use packtrain_model::memory::Redactor;
use packtrain_tools::Caller;

pub(crate) use self::args::{RunArgs, secret};
use self::choice::last_failed;
pub(crate) use self::prepared::{Prepared, new_run};
use self::recording::Recording;
pub(crate) use self::request::RunRequest;
pub(crate) use self::shown::Shown;
use super::inspect::refuse_taken;
use super::{Context, select};
use crate::daemon::TICKET;
use crate::exit::CliError;
use crate::shutdown::Interrupts;
use crate::sources::{self, SourceStartOptions};
use crate::wiring::DeviceSelection;
use crate::wiring::descriptors;
use crate::workplace::Tools;
use crate::{render, runtime};

/// How long devices may take to let go at the end.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(15);

/// `packtrain run`.
pub(crate) fn run(args: RunArgs, context: &Context) -> Result<Exit, CliError> {
    if let Some(note) = args.trailblaze.note() {
        render::say(&note);
    }
    let secrets = Redactor::of(&args.secret);
    let ran = || {
        let mut prepared = Prepared::read(args.request()?, context)?;
        for warning in &mut prepared.found.warnings {
            secrets.redact_all(warning.texts_mut());
        }
        render::diagnostics(&prepared.found.warnings, context.color.on_stderr());
        runtime::block_on_stoppable(async |interrupts| execute(prepared, interrupts).await)
    };
    ran().map_err(|error| error.redacted(&secrets))
}

/// Carries a run out: on a farm, on the daemon's devices, or on devices that are wired for it.
pub(crate) async fn execute(
    mut prepared: Prepared<'_>,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    if prepared.request.farm.is_some() {
        return farm::execute(prepared, interrupts).await;
    }
    if prepared.request.base_url.is_some() {
        // It counts before what the devices say too.
        for slot in prepared.workspace.config.devices.web.values_mut() {
            slot.base_url = None;
        }
    }
    let Prepared {
        request,
        workspace,
        found,
        context,
    } = &prepared;
    let config = &workspace.config;
    let named = request.matrix.name.as_ref();
    let configured = named.and_then(|name| config.matrices.get(name));
    let words = match configured {
        _ if request.all_devices || !request.devices.is_empty() => request.devices.clone(),
        Some(matrix) => matrix.devices.clone(),
        None if request.choice.last_failed => {
            last_failed::devices(&found.trails, &config.run.output_dir, context)?
        }
        None => Vec::new(),
    };
    let wanted = DeviceSelection {
        words: &words,
        // Where nothing failed no device is asked for, and that is said.
        all: request.all_devices || (request.choice.last_failed && words.is_empty()),
    };
    let ticket = std::env::var(TICKET).ok();
    let warm = match ticket.is_none() && request.without_daemon {
        true => None,
        false => {
            let finding = warm::find(wanted, ticket, config, context);
            interrupts.interruptible(finding).await?
        }
    };
    let (daemon, (mut wiring, devices)) = match warm {
        Some((daemon, chosen)) => (Some(daemon), chosen),
        None => {
            let finding = select::found(wanted, config, request.headed);
            (None, interrupts.interruptible(finding).await?)
        }
    };
    let own = daemon.is_none().then_some(&mut wiring);
    let Some(plan) = prepared.plan(devices, own, None)? else {
        select::release(wiring).await;
        return Ok(Exit::Passed);
    };
    if daemon.is_none() {
        refuse_taken(&plan.devices, &wiring, context).await?;
        descriptors::suffice(plan.devices.len())?;
    }
    let folder = recording::create_folder(config, &plan.run, context.color)?;
    let needs_sources = daemon.is_none() && sources::are_needed(config, &workspace.registry, &plan);
    let purpose = needs_sources.then(|| SourceStartOptions {
        devices: plan.devices.clone(),
        first: plan.sessions.first().and_then(|planned| {
            let device = planned.devices.first()?.clone();
            Some(sources::first_of(&plan.run, device))
        }),
        run_dir: Some(folder.folder().to_owned()),
        secrets: &request.secrets,
        ..SourceStartOptions::of(&plan.run.to_string(), &workspace.root)
    });
    let starting = Tools::start(config, workspace.registry.clone(), purpose);
    let tools = interrupts.interruptible(starting).await?;
    let scratch = folder.folder().to_owned();
    let recording = Recording::begin(request, folder, context, &interrupts).await?;
    let (host, fleet): (Arc<dyn SessionHost>, _) = match daemon {
        Some(daemon) => (Arc::new(daemon.host(context, scratch)), None),
        None => {
            let fleet = select::fleet(&wiring, &plan.devices, |connector| connector)?;
            let working_directory = context.working_directory.clone();
            let here = tools.here(&fleet, Caller::Person, working_directory, Some(scratch));
            (Arc::new(here), Some(fleet))
        }
    };
    let recorded = recording.run(plan, host, std::future::pending()).await;
    if let Some(fleet) = fleet {
        fleet.shutdown(DEVICES_TIMEOUT).await;
    }
    tools.shutdown().await;
    select::release(wiring).await;
    recorded.close().await
}
