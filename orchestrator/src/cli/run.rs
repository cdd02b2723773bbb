//! `packtrain run`: trails in, devices driven in parallel, a verdict and reports out.

mod alike;
mod args;
mod choice;
mod ending;
pub(crate) mod farm;
mod given;
mod list;
mod recording;
mod shown;
mod trailblaze;
mod warm;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_config::{Config, Loaded};
use packtrain_device_actors::Fleet;
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_engine::{Anywhere, Plan, RequestedTrail, RunRequest, SessionHost, Shard, resolve};
use packtrain_model::memory::Redactor;
use packtrain_model::{Diagnostic, Exit, RunId};
use packtrain_tools::{Caller, Registry};

pub(crate) use self::args::{RunArgs, secret};
use self::choice::last_failed;
use self::recording::{Recording, RunFolder};
pub(crate) use self::shown::ShownArgs;
use super::check::Calls;
use super::inspect::refuse_taken;
use super::select::select;
use super::{Context, Workspace, refused};
use crate::exit::CliError;
use crate::render;
use crate::shutdown::Interrupts;
use crate::sources::{self, Purpose};
use crate::wiring::descriptors;
use crate::wiring::{DeviceSelection, Wiring};
use crate::workplace::Tools;
use crate::{matrix, names, runtime, trails};

/// How long devices may take to let go at the end.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(15);
/// How long what devices share may take to end.
const WIRING_TIMEOUT: Duration = Duration::from_secs(15);

/// `packtrain run`.
pub(crate) fn run(mut args: RunArgs, context: &Context) -> Result<Exit, CliError> {
    if let Some(trail) = args.farm.trail() {
        args.trails.insert(0, trail);
    }
    if let Some(note) = args.trailblaze.note() {
        render::say(&note);
    }
    let secrets = Redactor::of(&args.secret);
    let ran = || {
        let loaded = context.read(args.flags())?;
        let paths = match args.trails.as_slice() {
            [] => vec![loaded.config.trails_dir.clone()],
            given => given.to_vec(),
        };
        let (mut found, mut mistakes) = match trails::read(&paths) {
            Ok(found) => (found, loaded.mistakes.clone()),
            // Where trails are may be what is wrong.
            Err(error) => return loaded.whole().map_err(refused).and(Err(error)),
        };
        let registry = match context.tools(&loaded) {
            Ok(tools) => tools.registry,
            Err(error) if error.explanation.diagnostics.is_empty() => return Err(error),
            Err(error) => {
                mistakes.extend(error.explanation.diagnostics);
                Registry::builtin()
            }
        };
        mistakes.append(&mut found.mistakes);
        mistakes.extend(misspelled(
            &args,
            &loaded,
            (&found, &paths),
            &registry,
            context,
        )?);
        if !mistakes.is_empty() {
            return Err(CliError::mistakes("the project", mistakes));
        }
        let workspace = Workspace {
            config: loaded.config,
            root: loaded.root,
            registry,
        };
        for warning in &mut found.warnings {
            secrets.redact_all(warning.texts_mut());
        }
        render::diagnostics(&found.warnings, context.color.on_stderr());
        runtime::block_on_stoppable(async |interrupts| {
            execute(args, workspace, found, context, interrupts).await
        })
    };
    ran().map_err(|error| error.redacted(&secrets))
}

/// Names in the command line and the trails that nothing answers to.
///
/// # Errors
/// When the command line's axes cannot be read.
fn misspelled(
    args: &RunArgs,
    loaded: &Loaded,
    (found, paths): (&trails::Loaded, &[PathBuf]),
    registry: &Registry,
    context: &Context,
) -> Result<Vec<Diagnostic>, CliError> {
    let config = &loaded.config;
    let trails = found.trails.iter().flat_map(trails::LoadedTrail::files);
    let trails = trails.map(AsRef::as_ref);
    let axes = matrix::NamedAxes::new(config, paths);
    let mut all = matrix::misspelled_of_run(trails.clone(), loaded, args.matrices(), &axes)?;
    if !args.farm.is_wanted() {
        all.extend(names::unknown_devices(&args.device, config));
        all.extend(names::not_emulated(loaded, &args.device));
    }
    let calls = Calls::new(registry, config, &context.working_directory);
    for trail in trails {
        all.extend(names::of_trail(trail, loaded));
        all.extend(calls.unknown_words(trail));
    }
    Ok(all)
}

/// Runs trails that are loaded on devices that are wired.
pub(crate) async fn execute(
    args: RunArgs,
    workspace: Workspace,
    found: trails::Loaded,
    context: &Context,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    if args.farm.is_wanted() {
        return farm::execute(args, workspace, found, context, interrupts).await;
    }
    let Workspace {
        mut config,
        root: project,
        registry,
    } = workspace;
    let configured = args
        .matrix
        .as_deref()
        .and_then(|name| config.matrices.get(name));
    let words = match configured {
        _ if args.all_devices || !args.device.is_empty() => args.device.clone(),
        Some(matrix) => matrix.devices.clone(),
        None if args.choice.last_failed => {
            last_failed::devices(&found.trails, &config.run.output_dir, context)?
        }
        None => Vec::new(),
    };
    let wanted = DeviceSelection {
        words: &words,
        // Where nothing failed no device is asked for, and that is said.
        all: args.all_devices || (args.choice.last_failed && words.is_empty()),
    };
    given::override_base_urls(&args, &mut config);
    let is_headed = args.headed || args.headless == Some(false);
    let warm = interrupts
        .interruptible(warm::find(&args, &config, wanted, context))
        .await?;
    let (daemon, (mut wiring, devices)) = match warm {
        Some((daemon, chosen)) => (Some(daemon), chosen),
        None => {
            let wiring = Wiring::new(&config, wanted, is_headed);
            let mut wiring = interrupts.interruptible(wiring).await?;
            let devices = select(wanted, &mut wiring)?;
            (None, (wiring, devices))
        }
    };
    let mut requested = requested(&args, &config, &found, &devices)?;
    let (devices, alike) = match &daemon {
        // Its browsers are those that are configured.
        Some(_) => (devices, Vec::new()),
        None => alike::side_by_side(&mut wiring, &config, devices, &mut requested),
    };
    let plan = plan(
        &args,
        &config,
        &registry,
        requested,
        Devices {
            devices,
            alike,
            ..Devices::default()
        },
        context,
    )?;
    let has_nothing_to_do = plan.sessions.is_empty() && plan.part.is_none();
    if args.choice.list || has_nothing_to_do {
        if args.choice.list {
            list::print(&plan, args.format);
        }
        let _ = tokio::time::timeout(WIRING_TIMEOUT, wiring.shutdown()).await;
        return Ok(Exit::Passed);
    }
    if daemon.is_none() {
        refuse_taken(&plan.devices, &wiring, context).await?;
        descriptors::suffice(plan.devices.len())?;
    }
    let folder = RunFolder::create(&config, &plan.run, context.color)?;
    let needs_sources = daemon.is_none() && sources::are_needed(&config, &registry, &plan);
    let purpose = needs_sources.then(|| Purpose {
        devices: plan.devices.clone(),
        first: plan.sessions.first().and_then(|planned| {
            let device = planned.devices.first()?.clone();
            Some(sources::first_of(&plan.run, device))
        }),
        run_dir: Some(folder.path.clone()),
        secrets: &args.secret,
        ..Purpose::of(&plan.run.to_string(), &project)
    });
    let starting = Tools::start(&config, registry, purpose);
    let tools = interrupts.interruptible(starting).await?;
    let scratch = folder.path.clone();
    let recording = Recording::begin(&args, folder, context, &interrupts).await?;
    let (host, fleet): (Arc<dyn SessionHost>, _) = match daemon {
        Some(daemon) => (Arc::new(daemon.host(context, scratch)), None),
        None => {
            let fleet = fleet(&wiring, &plan)?;
            let working_directory = context.working_directory.clone();
            let here = tools.here(&fleet, Caller::Person, working_directory, Some(scratch));
            (Arc::new(here), Some(fleet))
        }
    };
    let recorded = recording.run(plan, host).await;
    if let Some(fleet) = fleet {
        fleet.shutdown(DEVICES_TIMEOUT).await;
    }
    tools.shutdown().await;
    // What does not end in time is killed with the program's other children.
    let _ = tokio::time::timeout(WIRING_TIMEOUT, wiring.shutdown()).await;
    recorded.close().await
}

/// The trails for these devices, with what varies in them.
fn requested(
    args: &RunArgs,
    config: &Config,
    found: &trails::Loaded,
    devices: &[DeviceInfo],
) -> Result<Vec<RequestedTrail>, CliError> {
    let given_matrix = matrix::wanted(config, args.matrices())?;
    let mut requested: Vec<_> = found
        .trails
        .iter()
        .flat_map(|trail| trail.requested(devices))
        .collect();
    for trail in &mut requested {
        trail.matrix = match &given_matrix {
            Some(matrix) => Some(Arc::clone(matrix)),
            None => matrix::of_trail(&trail.trail, config, args.matrices())?,
        };
    }
    if requested.iter().all(|trail| trail.matrix.is_none()) && !args.cell.is_empty() {
        return Err(
            CliError::misuse("`--cell` chooses among configurations, and there are none")
                .hint("`--matrix`, `--axis` or a trail's `config.matrix` makes some"),
        );
    }
    let has_cells = requested.iter().any(|trail| trail.matrix.is_some());
    if has_cells && config.run.shard == packtrain_config::Sharding::Split {
        return Err(CliError::misuse(
            "`--shard split` runs each trail once, a matrix in each cell",
        )
        .hint("leave one of them out"));
    }
    Ok(requested)
}

fn fleet(wiring: &Wiring, plan: &Plan) -> Result<Fleet, CliError> {
    let connectors: Vec<_> = wiring
        .connectors()
        .iter()
        .filter(|connector| plan.device(connector.id()).is_some())
        .map(Arc::clone)
        .collect();
    let arbiters = crate::workplace::arbiters(connectors.len());
    Fleet::start(connectors, &arbiters).map_err(|error| CliError::misuse(error.to_string()))
}

/// The devices of a run, and which of them stand for each other.
#[derive(Default)]
struct Devices {
    devices: Vec<DeviceInfo>,
    alike: Vec<Vec<DeviceId>>,
    /// What a device has to be, when a farm finds it.
    anywhere: Option<Anywhere>,
    /// The run, when it is carried on.
    run: Option<RunId>,
}

fn plan(
    args: &RunArgs,
    config: &Config,
    registry: &Registry,
    trails: Vec<RequestedTrail>,
    devices: Devices,
    context: &Context,
) -> Result<Plan, CliError> {
    let has_trails = !trails.is_empty();
    if let Some(driver) = &args.driver {
        packtrain_engine::check_driver(driver).map_err(CliError::misuse)?;
    }
    let given = given::args_for(args, &trails)?;
    let now = chrono::Utc::now();
    let salt = now.timestamp_subsec_nanos() ^ std::process::id().rotate_left(13);
    let Devices {
        devices,
        alike,
        anywhere,
        run,
    } = devices;
    let run = run.unwrap_or_else(|| RunId::new(now, salt));
    let part = args.part()?;
    let mut plan = resolve(RunRequest {
        trails,
        devices,
        alike,
        anywhere,
        only_declared: args.all_devices,
        driver: args.driver.clone(),
        tags: args.tags.clone(),
        shard: match config.run.shard {
            packtrain_config::Sharding::All => Shard::All,
            packtrain_config::Sharding::Split => Shard::Split,
        },
        options: given::options(args, config, given, context)?,
        run,
    });
    if plan.sessions.is_empty() {
        let error = CliError::misuse("nothing to run");
        return Err(error.hint(if !args.tags.is_empty() {
            format!("no trail has the tag {}", args.tags.join(" or "))
        } else if !has_trails {
            "no trail has steps".to_owned()
        } else {
            "no trail is for these devices".to_owned()
        }));
    }
    choice::apply(&args.choice, part, &mut plan, config, context)?;
    let misspelled = Calls::new(registry, config, &context.working_directory).misspelled(&plan);
    if !misspelled.is_empty() {
        return Err(CliError::files("the trails call unknown tools", misspelled));
    }
    Ok(plan)
}
