//! A run on a farm: planned and recorded here, carried out by the farm's hosts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use packtrain_drivers::DeviceInfo;
use packtrain_engine::Plan;
use packtrain_farm::bundle::{CollectOptions, Collected, collect};
use packtrain_farm::link::{FarmOutage, Link};
use packtrain_farm::query::{self, Overview};
use packtrain_farm::requirement::{Requirement, Subject};
use packtrain_farm::run::{FarmHost, FarmRunOptions, Files};
use packtrain_farm::wire::{HostAdvert, Manifest, Protocol, QueuePosition, Resume};
use packtrain_model::{Exit, RunId};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::Prepared;
use super::recording::{self, Recording};
use crate::cli::farm::{address, expression, not_storing};
use crate::exit::{CliError, OrCliError as _};
use crate::render;
use crate::shutdown::Interrupts;

/// How long the farm may be in trouble without a word about it.
const TROUBLE_GRACE: Duration = Duration::from_secs(2);
/// How often it is looked for devices that have to be there.
const DEVICES_POLL: Duration = Duration::from_millis(500);

/// How a run asks a farm for devices.
#[derive(Debug, Args)]
#[command(next_help_heading = "On a farm")]
pub(crate) struct FarmRequest {
    /// Run on the devices of a farm [default URL: the configured farm]
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    farm: Option<Option<String>>,

    /// Which devices to use: 'android & api>=33' [default: all that the trails are for, or the
    /// configured expression]
    #[arg(long, value_name = "EXPR", requires = "farm")]
    pub(super) on: Option<String>,

    /// How many sessions of each trail [default: one on every device that matches]
    #[arg(long, value_name = "N", requires = "farm", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) count: Option<u32>,

    /// Wait until N devices match
    #[arg(long, value_name = "N", requires = "farm", value_parser = clap::value_parser!(u32).range(1..))]
    min_devices: Option<u32>,
}

impl FarmRequest {
    pub(super) const fn is_wanted(&self) -> bool {
        self.farm.is_some()
    }

    /// What stands behind `--farm` and is not an address is a trail.
    pub(super) fn trail(&mut self) -> Option<PathBuf> {
        let given = self.farm.as_mut()?;
        given
            // A missing scheme is reported.
            .take_if(|text| !text.contains(':') || Path::new(text).exists())
            .map(PathBuf::from)
    }

    /// What devices have to be.
    ///
    /// # Errors
    /// When that is invalid.
    pub(super) fn requirement(&self) -> Result<Requirement, CliError> {
        let Some(text) = &self.on else {
            return Ok(Requirement::default());
        };
        expression(text).map_err(|error| {
            CliError::misuse(format!("invalid --on: {error}"))
                .hint("`packtrain farm why --help` shows the syntax")
        })
    }
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
            "the farm's broker does not support `has`: it has version {broker} of the farm's protocol"
        ))
        .hint("update the broker, or ask without `has`"));
    }
    Ok(())
}

/// The devices that match, once there are as many as are needed.
///
/// # Errors
/// When the time is over before, or the farm does not know what is asked for.
async fn matching(
    link: &Link,
    on: &Requirement,
    least: u32,
    limit: Option<Instant>,
) -> Result<Vec<DeviceInfo>, CliError> {
    let mut is_told = false;
    loop {
        let all = match query::overview(link).await {
            Ok(all) => all,
            // A farm that is away for a moment comes back, as for a run that is under way.
            Err(_) if is_told => Overview::default(),
            Err(error) => return Err(farm_error(error)),
        };
        // Before it waits.
        if !is_told {
            tell_versions(&all, on)?;
        }
        let matching = all.devices.iter().filter(|(key, advert)| {
            let mut hosts = all.hosts.iter();
            hosts.any(|(name, host)| *name == key.host && speaks(host) && !host.draining)
                && advert.out_of_service.is_none()
                && on.matches(&Subject::new(key, advert))
        });
        let devices = matching.map(|(key, advert)| DeviceInfo {
            id: key.public(),
            ..advert.info.clone()
        });
        let devices: Vec<_> = devices.collect();
        if devices.len() >= least as usize {
            return Ok(devices);
        }
        if !std::mem::replace(&mut is_told, true) {
            let there = devices.len();
            render::say(&format!(
                "farm: waiting: {there} devices match, fewer than it needs"
            ));
        }
        if limit.is_some_and(|limit| Instant::now() >= limit) {
            let over = "timed out before enough devices were available";
            return Err(CliError::infrastructure(over));
        }
        tokio::time::sleep(DEVICES_POLL).await;
    }
}

/// Runs trails on the devices of a farm.
pub(super) async fn execute(
    mut prepared: Prepared<'_>,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let config = &prepared.workspace.config;
    let Some(farm) = &mut prepared.request.farm else {
        return Err(CliError::misuse("the run is not for a farm"));
    };
    let given = farm.farm.as_ref().and_then(Option::as_deref);
    let address = address::of(given, config)?;
    let mut arguments = arguments();
    if farm.on.is_none()
        && let Some(on) = &config.farm.on
    {
        // The process that resumes the run may have another configuration.
        arguments.push(format!("--on={on}"));
        farm.on = Some(on.clone());
    }
    let on = farm.requirement()?;
    // Each device that there is gets sessions of its own: those that have to be there come first.
    let least = farm.min_devices.filter(|_| farm.count.is_none());
    let connecting = async {
        let link = Link::connect(&address, "packtrain run").await;
        link.map_err(farm_error)
    };
    let link = interrupts.interruptible(connecting).await?;
    let limit = (config.run.time_limit).map(|limit| Instant::now() + limit.get());
    let finding = matching(&link, &on, least.unwrap_or(0), limit);
    let devices = interrupts.interruptible(finding).await?;
    let Some(mut plan) = prepared.plan(devices.clone(), None, None)? else {
        return Ok(Exit::Passed);
    };
    // What waiting has left of it.
    plan.options.time_limit = limit.map(|limit| limit.duration_since(Instant::now()));
    let files = files(&prepared, &plan)?;
    let secrets = prepared.request.secrets.iter();
    let secrets = secrets.map(|(name, _)| name.clone()).collect();
    let sources = !prepared.workspace.config.mcp_servers.is_empty();
    let mut manifest = files.manifest(plan.run.clone(), sources, secrets);
    let here = &prepared.context.working_directory;
    let named = prepared.request.trails.iter();
    let named = named.filter_map(|path| files.map(&here.join(path)));
    manifest.resume = Some(Resume {
        arguments,
        trails: named.collect(),
        devices,
        plan: plan.fingerprint(),
        retries: plan.options.retries,
        retry_delay: plan.options.retry_delay,
        fail_fast: plan.options.fail_fast,
        time_limit: plan.options.time_limit,
        session: plan.options.session.clone(),
    });
    let files = Files::Collected(files);
    carry_out(prepared, link, plan, manifest, files, interrupts).await
}

/// Carries on a run that was begun elsewhere, or by a process that is gone, with the folder of its bundle.
pub(crate) async fn resume(
    prepared: Prepared<'_>,
    link: Link,
    manifest: Manifest,
    resume: Resume,
    bundle: PathBuf,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let run = manifest.run.clone();
    let plan = prepared.plan(resume.devices, None, Some(run.clone()))?;
    let is_same = |plan: &Plan| plan.fingerprint() == resume.plan;
    let Some(mut plan) = plan.filter(is_same) else {
        return Err(
            CliError::misuse(format!("run {run} cannot be resumed: its plan has changed"))
                .hint("use the same version of packtrain and the same secrets, or start a new run"),
        );
    };
    // As it was said then, by whichever file or variable.
    plan.options.retries = resume.retries;
    plan.options.retry_delay = resume.retry_delay;
    plan.options.fail_fast = resume.fail_fast;
    plan.options.time_limit = resume.time_limit;
    plan.options.session = resume.session;
    let files = Files::Bundle(bundle);
    carry_out(prepared, link, plan, manifest, files, interrupts).await
}

async fn carry_out(
    prepared: Prepared<'_>,
    link: Link,
    plan: Plan,
    manifest: Manifest,
    files: Files,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let resumed = matches!(files, Files::Bundle(_));
    let Prepared {
        request, context, ..
    } = &prepared;
    let (config, farm) = (&prepared.workspace.config, request.farm.as_ref());
    let options = FarmRunOptions {
        run: plan.run.clone(),
        owner: address::owner(),
        min_devices: farm.and_then(|farm| farm.min_devices).unwrap_or(1),
        secrets: request.secrets.clone(),
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
        recording::put_aside(config, &run)?;
    }
    let folder = recording::create_folder(config, &run, context.color)?;
    let recording = Recording::begin(request, folder, context, &interrupts).await?;
    let telling = AbortOnDropHandle::new(tokio::spawn(tell(farm.standing())));
    let elsewhere = async { carried_on(&run, &farm.until_taken().await) };
    let host = Arc::new(farm.clone());
    let recorded = recording.run(plan, host, elsewhere).await;
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
            recording::remove_aside(config, &run);
        }
    }
    recorded.close().await
}

/// What a process says that comes back to a run of somebody else's.
fn carried_on(run: &RunId, by: &str) -> CliError {
    CliError::infrastructure(format!("run {run} is continued by another process: {by}"))
        .hint("its journal, verdict and reports are there; this process wrote none")
}

/// Says why nothing of the run is under way, whenever that changes.
async fn tell(mut standing: watch::Receiver<Option<QueuePosition>>) {
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
            let why = now.reason.unwrap_or_else(|| "next in the queue".to_owned());
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
                None => "farm: connected again".to_owned(),
                Some(FarmOutage::Away) => format!("farm: no answer from {servers}; still trying"),
                Some(FarmOutage::NotAllowedIn) => {
                    format!("farm: {servers} no longer accepts these credentials; still trying")
                }
                Some(FarmOutage::NotStoring(why)) => format!("farm: {}", not_storing(why)),
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

/// The files that hosts need.
fn files(prepared: &Prepared<'_>, plan: &Plan) -> Result<Collected, CliError> {
    let Prepared {
        workspace, context, ..
    } = prepared;
    let trails = plan.trails.iter();
    let trails = trails.map(|trail| context.working_directory.join(trail.source.name()));
    let trails: Vec<PathBuf> = trails.collect();
    let apps = plan.matrices.iter().flatten();
    let apps = apps.flat_map(|matrix| matrix.meanings.iter());
    let apps = apps.filter_map(|(_, meaning)| meaning.app_file.clone());
    let apps: Vec<PathBuf> = apps.collect();
    let file = context.project_file(&workspace.root);
    let options = CollectOptions {
        is_project: file.is_file(),
        config: file.is_file().then_some(file),
        include: workspace.config.farm.include.clone(),
        leave_out: vec![workspace.config.run.output_dir.clone()],
        ..CollectOptions::default()
    };
    let collected = collect(&workspace.root, &trails, &apps, &options);
    collected.or_misuse("the run's files cannot be sent to hosts")
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

/// A farm error as people see it.
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
