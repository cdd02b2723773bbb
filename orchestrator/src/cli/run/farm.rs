//! A run on a farm: planned and recorded here, carried out by the farm's hosts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use packtrain_config::Config;
use packtrain_engine::{Anywhere, Plan};
use packtrain_farm::bundle::{CollectOptions, Collected, collect};
use packtrain_farm::link::{Link, Trouble};
use packtrain_farm::query::{self, Overview};
use packtrain_farm::requirement::{Requirement, Subject};
use packtrain_farm::run::{FarmHost, FarmRunOptions, Files};
use packtrain_farm::wire::{HostAdvert, Manifest, Protocol, Resume, Standing};
use packtrain_model::{Exit, RunId};
use packtrain_tools::Registry;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::recording::{Recording, RunFolder};
use super::{Devices, RunArgs, list, plan, requested};
use crate::cli::farm::{address, expression, not_storing};
use crate::cli::{Context, Workspace};
use crate::exit::CliError;
use crate::shutdown::Interrupts;
use crate::{render, trails};

/// How long the farm may be in trouble without a word about it.
const TROUBLE_GRACE: Duration = Duration::from_secs(2);
/// How often it is looked for devices that have to be there.
const DEVICES_POLL: Duration = Duration::from_millis(500);

/// How a run asks a farm for devices.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "On a farm")]
pub(crate) struct FarmArgs {
    /// Run on the devices of a farm: this one, or the one that is configured
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    farm: Option<Option<String>>,

    /// What devices have to be: 'android & api>=33' [default: any that the trails are for, or what the
    /// configuration says]
    #[arg(long, value_name = "EXPR", requires = "farm")]
    on: Option<String>,

    /// How many sessions of each trail [default: one on every device that matches]
    #[arg(long, value_name = "N", requires = "farm", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,

    /// Wait until so many devices match
    #[arg(long, value_name = "N", requires = "farm", value_parser = clap::value_parser!(u32).range(1..))]
    min_devices: Option<u32>,
}

impl FarmArgs {
    pub(super) const fn is_wanted(&self) -> bool {
        self.farm.is_some()
    }

    /// What stands behind `--farm` and is no address is a trail.
    pub(super) fn trail(&mut self) -> Option<PathBuf> {
        let given = self.farm.as_mut()?;
        given
            // Who forgot the scheme is told so.
            .take_if(|text| !text.contains(':') || Path::new(text).exists())
            .map(PathBuf::from)
    }
}

/// A run that is carried on: what there was of it.
pub(crate) struct Resumed {
    pub(crate) link: Link,
    pub(crate) run: RunId,
    pub(crate) manifest: Manifest,
    pub(crate) resume: Resume,
    /// The folder of its bundle.
    pub(crate) bundle: PathBuf,
    /// Where its journal is kept.
    pub(crate) output: PathBuf,
}

/// Says which hosts are left out, and refuses what the farm's broker does not know.
fn tell_versions(all: &Overview, on: &Requirement) -> Result<(), CliError> {
    for (host, advert) in all.hosts.iter().filter(|(_, host)| !speaks(host)) {
        render::say(&format!(
            "farm: host {host} has version {} of the farm's protocol and this program {}, so its devices are \
             left out: update the older one",
            advert.protocol,
            Protocol::CURRENT
        ));
    }
    if let Some(Protocol(broker @ ..2)) = all.broker.filter(|_| on.asks_for_programs()) {
        return Err(CliError::misuse(format!(
            "the farm's broker does not know `has`: it has version {broker} of the farm's protocol"
        ))
        .hint("update the broker, or ask without `has`"));
    }
    Ok(())
}

/// Runs trails that are loaded on the devices of a farm.
pub(super) async fn execute(
    mut args: RunArgs,
    workspace: Workspace,
    found: trails::Loaded,
    context: &Context,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    refuse_odd(&args)?;
    requirement(&args)?;
    let given = args.farm.farm.clone().flatten();
    let address = address::of(given.as_deref(), &workspace.config)?;
    let link = interrupts
        .interruptible(async {
            let link = Link::connect(&address, "packtrain run").await;
            link.map_err(farm_error)
        })
        .await?;
    let mut arguments = arguments();
    if args.farm.on.is_none()
        && let Some(on) = &workspace.config.farm.on
    {
        // Whoever carries the run on may have another configuration.
        arguments.push(format!("--on={on}"));
        args.farm.on = Some(on.clone());
    }
    let on = requirement(&args)?;
    // Each device that there is gets sessions of its own: those that have to be there come first.
    let least = (args.farm.min_devices).filter(|_| args.farm.count.is_none());
    let limit = (workspace.config.run.time_limit).map(|limit| Instant::now() + limit.get());
    let mut is_told = false;
    let devices = loop {
        let all = match query::overview(&link).await {
            Ok(all) => all,
            // A farm that is away for a moment comes back, as for a run that is under way.
            Err(_) if is_told => Overview::default(),
            Err(error) => return Err(farm_error(error)),
        };
        // Before it waits.
        if !is_told {
            tell_versions(&all, &on)?;
        }
        let matching = all.devices.iter().filter(|(key, advert)| {
            let mut hosts = all.hosts.iter();
            hosts.any(|(name, host)| *name == key.host && speaks(host) && !host.draining)
                && advert.out_of_service.is_none()
                && on.matches(&Subject::new(key, advert))
        });
        let devices = matching.map(|(key, advert)| {
            let mut info = advert.info.clone();
            info.id = key.public();
            info
        });
        let devices: Vec<_> = devices.collect();
        if devices.len() >= least.unwrap_or(0) as usize {
            break devices;
        }
        if !std::mem::replace(&mut is_told, true) {
            let there = devices.len();
            render::say(&format!(
                "farm: waiting: {there} devices match, fewer than it needs"
            ));
        }
        if limit.is_some_and(|limit| Instant::now() >= limit) {
            let over = "its time was over before as many devices were there as it needs";
            return Err(CliError::infrastructure(over));
        }
        let pause = async {
            tokio::time::sleep(DEVICES_POLL).await;
            Ok(())
        };
        interrupts.interruptible(pause).await?;
    };
    let Workspace {
        config,
        root,
        registry,
    } = workspace;
    let mut planned = planned(
        &args,
        &config,
        &registry,
        &found,
        devices.clone(),
        None,
        context,
    )?;
    // What waiting has left of it.
    planned.options.time_limit = limit.map(|limit| limit.duration_since(Instant::now()));
    if args.choice.list || planned.sessions.is_empty() {
        if args.choice.list {
            list::print(&planned, args.format);
        }
        return Ok(Exit::Passed);
    }
    let files = files(&config, &root, &planned, context)?;
    let secrets = args.secret.iter().map(|(name, _)| name.clone()).collect();
    let sources = !config.mcp_servers.is_empty();
    let mut manifest = files.manifest(planned.run.clone(), sources, secrets);
    let named = match args.trails.as_slice() {
        [] => vec![config.trails_dir.clone()],
        given => given.to_vec(),
    };
    let named = named
        .iter()
        .filter_map(|path| files.map(&context.working_directory.join(path)));
    manifest.resume = Some(Resume {
        arguments,
        trails: named.collect(),
        devices,
        plan: planned.fingerprint(),
        retries: planned.options.retries,
        retry_delay: planned.options.retry_delay,
        fail_fast: planned.options.fail_fast,
        time_limit: planned.options.time_limit,
        session: planned.options.session.clone(),
    });
    let ready = Ready {
        link,
        plan: planned,
        manifest,
        files: Files::Collected(files),
        resumed: false,
    };
    carry_out(args, ready, &config, context, interrupts).await
}

/// Carries on a run that was begun elsewhere, or by a process that is gone.
pub(crate) async fn resume(
    args: RunArgs,
    workspace: Workspace,
    found: trails::Loaded,
    resumed: Resumed,
    context: &Context,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let Resumed {
        link,
        run,
        manifest,
        resume,
        bundle,
        output,
    } = resumed;
    let mut config = workspace.config;
    config.run.output_dir = output;
    let registry = &workspace.registry;
    let known = resume.devices.clone();
    let mut planned = planned(&args, &config, registry, &found, known, Some(run), context)?;
    if planned.fingerprint() != resume.plan {
        return Err(CliError::misuse(format!(
            "run {} cannot be carried on: its plan is another one now",
            planned.run
        ))
        .hint("use the same version of packtrain and the same secrets, or run it anew"));
    }
    // As it was said then, by whichever file or variable.
    planned.options.retries = resume.retries;
    planned.options.retry_delay = resume.retry_delay;
    planned.options.fail_fast = resume.fail_fast;
    planned.options.time_limit = resume.time_limit;
    planned.options.session = resume.session;
    let ready = Ready {
        link,
        plan: planned,
        manifest,
        files: Files::Bundle(bundle),
        resumed: true,
    };
    carry_out(args, ready, &config, context, interrupts).await
}

/// Everything it takes to carry a run out.
struct Ready {
    link: Link,
    plan: Plan,
    manifest: Manifest,
    files: Files,
    resumed: bool,
}

async fn carry_out(
    args: RunArgs,
    ready: Ready,
    config: &Config,
    context: &Context,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let Ready {
        link,
        plan,
        manifest,
        files,
        resumed,
    } = ready;
    let options = FarmRunOptions {
        run: plan.run.clone(),
        owner: address::owner(),
        min_devices: args.farm.min_devices.unwrap_or(1),
        secrets: args.secret.clone(),
        ttl: address::ttl(&link).await,
        resumed,
    };
    let run = plan.run.clone();
    let outages = AbortOnDropHandle::new(tokio::spawn(tell_of_outages(link.clone())));
    let begun = async {
        let begun = FarmHost::begin(link, options, manifest, files).await;
        begun.map_err(farm_error)
    };
    let farm = interrupts.interruptible(begun).await?;
    render::say(&format!(
        "run {run}; should this process end early: packtrain resume {run}"
    ));
    // From now on no other process carries the run on, so that what it wrote is as it stays.
    if resumed {
        RunFolder::put_aside(config, &run)?;
    }
    let folder = RunFolder::create(config, &run, context.color)?;
    let recording = Recording::begin(&args, folder, context, &interrupts).await?;
    let telling = AbortOnDropHandle::new(tokio::spawn(tell(farm.standing())));
    let elsewhere = async { carried_on(&run, &farm.until_taken().await) };
    let host = Arc::new(farm.clone());
    let recorded = recording.run_until(plan, host, elsewhere).await;
    drop(telling);
    drop(outages);
    // What is on the farm is kept for as long as the journal is not whole.
    if let Some(by) = farm.taken() {
        recorded.close().await?;
        return Err(carried_on(&run, &by));
    }
    if recorded.is_whole() {
        farm.done().await;
        if resumed {
            // All of it is in the new journal.
            RunFolder::remove_aside(config, &run);
        }
    }
    recorded.close().await
}

/// What a process says that comes back to a run of somebody else's.
fn carried_on(run: &RunId, by: &str) -> CliError {
    CliError::infrastructure(format!("run {run} is carried on by another process: {by}"))
        .hint("its journal, its verdict and its reports are there; this process wrote none")
}

/// Says why nothing of the run is under way, whenever that changes.
async fn tell(mut standing: watch::Receiver<Option<Standing>>) {
    let mut said = None;
    loop {
        let now = standing.borrow_and_update().clone();
        if let Some(now) = now
            && now.running == 0
            && now.waiting > 0
        {
            let place = match now.ahead {
                0 => String::new(),
                1 => "1 run is ahead; ".to_owned(),
                many => format!("{many} runs are ahead; "),
            };
            let why = now.reason.unwrap_or_else(|| "its turn comes".to_owned());
            let text = format!("farm: waiting: {place}{why}");
            if said.as_ref() != Some(&text) {
                render::say(&text);
                said = Some(text);
            }
        }
        if standing.changed().await.is_err() {
            return;
        }
    }
}

/// Says when the farm is in trouble for a while, and when it is not any more.
pub(crate) async fn tell_of_outages(link: Link) {
    let mut trouble = link.trouble();
    let mut said = None;
    loop {
        let now = trouble.borrow_and_update().clone();
        let lasts = tokio::time::timeout(TROUBLE_GRACE, trouble.changed()).await;
        match lasts {
            Ok(Ok(())) => continue,
            Ok(Err(_)) => return,
            Err(_) => {}
        }
        if now != said {
            let servers = link.servers();
            render::say(&match &now {
                None => "farm: all is well again".to_owned(),
                Some(Trouble::Away) => format!("farm: no answer from {servers}; still trying"),
                Some(Trouble::NotAllowedIn) => {
                    format!("farm: {servers} does not let us in any more; still trying")
                }
                Some(Trouble::NotStoring(why)) => format!("farm: {}", not_storing(why)),
            });
            said = now;
        }
        if trouble.changed().await.is_err() {
            return;
        }
    }
}

/// Whether a host reads what this program writes.
const fn speaks(host: &HostAdvert) -> bool {
    Protocol::CURRENT.works_with(host.protocol)
}

fn planned(
    args: &RunArgs,
    config: &Config,
    registry: &Registry,
    found: &trails::Loaded,
    devices: Vec<packtrain_drivers::DeviceInfo>,
    run: Option<RunId>,
    context: &Context,
) -> Result<Plan, CliError> {
    let trails = requested(args, config, found, &devices)?;
    let devices = Devices {
        devices,
        anywhere: Some(Anywhere {
            on: args.farm.on.clone().unwrap_or_default(),
            count: args.farm.count.map(|count| count as usize),
        }),
        run,
        ..Devices::default()
    };
    plan(args, config, registry, trails, devices, context)
}

fn requirement(args: &RunArgs) -> Result<Requirement, CliError> {
    let Some(text) = &args.farm.on else {
        return Ok(Requirement::default());
    };
    expression(text).map_err(|error| {
        CliError::misuse(format!("`--on` makes no sense: {error}"))
            .hint("`packtrain farm why --help` shows how it is written")
    })
}

/// The files that hosts need.
fn files(
    config: &Config,
    root: &Path,
    plan: &Plan,
    context: &Context,
) -> Result<Collected, CliError> {
    let trails: Vec<PathBuf> = plan
        .trails
        .iter()
        .map(|trail| context.working_directory.join(trail.source.name()))
        .collect();
    let apps = plan.matrices.iter().flatten();
    let apps = apps.flat_map(|matrix| matrix.meanings.iter());
    let apps = apps.filter_map(|(_, meaning)| meaning.app_file.clone());
    let apps: Vec<PathBuf> = apps.collect();
    let file = context.project_file(root);
    let options = CollectOptions {
        is_project: file.is_file(),
        config: file.is_file().then_some(file),
        include: config.farm.include.clone(),
        leave_out: vec![config.run.output_dir.clone()],
        ..CollectOptions::default()
    };
    let collected = collect(root, &trails, &apps, &options);
    collected.map_err(|error| {
        CliError::misuse("the run's files cannot be sent to hosts").because(&error)
    })
}

/// The command line, without the program and without what must not be shown.
fn arguments() -> Vec<String> {
    without_secrets(std::env::args().skip(1))
}

fn without_secrets(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == "--secret" {
            arguments.next();
        } else if !argument.starts_with("--secret=") {
            kept.push(argument);
        }
    }
    kept
}

/// What makes no sense on a farm.
fn refuse_odd(args: &RunArgs) -> Result<(), CliError> {
    let odd = [
        (!args.device.is_empty(), "--device"),
        (args.all_devices, "--all-devices"),
        (args.choice.last_failed, "--last-failed"),
        (args.choice.times.is_some(), "--times"),
        (args.headed, "--headed"),
    ];
    match odd.iter().find(|(given, _)| *given) {
        None => Ok(()),
        Some((_, flag)) => Err(
            CliError::misuse(format!("`{flag}` is not for runs on a farm"))
                .hint("`--on` says what devices have to be: --on 'android & api>=33'"),
        ),
    }
}

/// An error of the farm's as people are told.
pub(crate) fn farm_error(error: packtrain_farm::link::FarmError) -> CliError {
    error.into()
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn secrets_are_in_no_command_line_that_is_kept() {
        let given = [
            "run",
            "a",
            "--secret",
            "P=x",
            "--on",
            "ios",
            "--secret=Q=y",
            "b",
        ];
        let kept = without_secrets(given.iter().map(ToString::to_string));
        assert_eq!(kept, ["run", "a", "--on", "ios", "b"]);
    }
}
