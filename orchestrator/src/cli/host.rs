//! `packtrain host`: the devices of this computer for a farm.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use packtrain_config::{Config, Flags};
use packtrain_drivers::{DeviceInfo, Platform};
use packtrain_farm::fence::Fence;
use packtrain_farm::host::{HostOptions, HostStop, Limits};
use packtrain_farm::link::{FarmAddress, Link};
use packtrain_farm::server::Role;
use packtrain_farm::wire::HostName;
use packtrain_model::Exit;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::Context;
use super::farm::address;
use super::run::farm::{farm_error, tell_of_outages};
use super::select::{fleet, known, release, select};
use crate::exit::CliError;
use crate::farm::arrivals::{self, Arrivals};
use crate::farm::capacity::Resources;
use crate::farm::devices::{advertise, keep_connected};
use crate::farm::scratch::HostFolder;
use crate::farm::workplace::HostWorkplace;
use crate::shutdown::Interrupts;
use crate::wiring::watch::{AWAY_GRACE, Watch};
use crate::wiring::{DeviceSelection, UnusablePhone, Wiring};
use crate::{render, runtime, wiring};

/// How long a host may take to end after the first Ctrl-C; its sessions have less.
const END_TIMEOUT: Duration = Duration::from_secs(90);
/// How long devices may take to let go at the end.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(15);
/// How long tool sources of runs that were given up may take to end.
const RUNS_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain host --farm nats://farm.example:4222 --token T
  packtrain host --farm nats://farm.example:4222 --token T -d android --label lab=berlin
  packtrain host --farm nats://127.0.0.1:4222 --token T --name second -d virtual:android:250")]
pub(crate) struct HostArgs {
    /// Addresses of the farm's servers, comma-separated [default: the farm that was joined]
    #[arg(long, value_name = "URL", env = "PACKTRAIN_FARM")]
    farm: Option<String>,

    /// The token for joining the farm; needed only once
    #[arg(
        long,
        requires = "farm",
        value_name = "TOKEN",
        env = "PACKTRAIN_FARM_TOKEN",
        hide_env_values = true
    )]
    token: Option<String>,

    /// The host's name [default: the computer's name]
    #[arg(long, value_name = "NAME")]
    name: Option<HostName>,

    #[command(flatten)]
    offer: Offer,
}

/// What a host offers.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Offer {
    /// Devices, as in `packtrain run` [default: all of this computer's]
    #[arg(
        short = 'd',
        long = "device",
        value_delimiter = ',',
        value_name = "DEVICE"
    )]
    pub(crate) devices: Vec<String>,

    /// A label for its devices: lab=berlin; repeatable
    #[arg(long = "label", value_name = "KIND=WORD", value_parser = label)]
    pub(crate) labels: Vec<(String, String)>,

    /// How many sessions at once [default: as many as the devices allow]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) sessions: Option<u32>,

    /// How many of them in browsers [default: by memory and cores]
    #[arg(long, value_name = "N")]
    pub(crate) browsers: Option<u32>,

    /// Let any trail on the farm run commands on this computer
    #[arg(long = "allow-commands")]
    pub(crate) allows_commands: bool,
}

/// `packtrain host`.
pub(crate) fn run(args: HostArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let (farm, token, name, offer) = (args.farm, args.token, args.name, args.offer);
    runtime::block_on_stoppable(async |interrupts| {
        let joining = joined(farm.as_deref(), token.as_deref(), name, &config);
        let (address, name) = interrupts.interruptible(joining).await?;
        let served = serve_on(address, name, offer, &config, interrupts).await;
        served.map(|()| Exit::Passed)
    })
}

/// The farm to serve and this host's name there; joins it when there is a token.
async fn joined(
    farm: Option<&str>,
    token: Option<&str>,
    name: Option<HostName>,
    config: &Config,
) -> Result<(FarmAddress, HostName), CliError> {
    let found = match token {
        Some(token) => {
            let servers = farm.unwrap_or_default().split(',').map(str::to_owned);
            let servers: Vec<_> = servers.collect();
            let access =
                super::farm::join::joined(&servers, token, name.clone(), Some(Role::Host)).await?;
            let (address, identity) = (access.address(), Some(access.identity));
            address::Found { address, identity }
        }
        None => address::find(farm, &config.farm, &[Role::Host])?,
    };
    let known = found.identity.map(|identity| identity.name);
    let name = match (name, known) {
        (Some(name), Some(known)) if name != known => {
            return Err(CliError::misuse(format!(
                "this computer joined the farm as `{known}`, not as `{name}`"
            ))
            .hint("join again under that name, with a new token"));
        }
        (_, Some(known)) => known,
        (Some(name), None) => name,
        (None, None) => own_name()?,
    };
    Ok((found.address, name))
}

impl Offer {
    /// The words of devices that may be here, and those of phones that may be plugged in yet.
    fn words(
        &self,
        known: &[DeviceInfo],
        unusable: &[UnusablePhone],
    ) -> (Vec<String>, Vec<String>) {
        let is_awaited = |word: &&String| {
            let platform = word.split('/').next().unwrap_or_default().parse();
            matches!(platform, Ok(Platform::Android | Platform::Ios))
                // Its problem is reported.
                && !(unusable.iter()).any(|device| word.ends_with(&device.serial))
                && !(known.iter()).any(|device| {
                    device.id.to_string() == **word || device.id.platform().as_str() == *word
                })
        };
        let words = self.devices.iter().cloned();
        words.partition(|word| !is_awaited(&word))
    }
}

/// Serves a farm with what this computer offers: drained by the first signal, ended by the second.
///
/// # Errors
/// As [`serve`], and when the host does not end in time.
pub(crate) async fn serve_on(
    farm: FarmAddress,
    name: HostName,
    offer: Offer,
    config: &Config,
    interrupts: Interrupts,
) -> Result<(), CliError> {
    let stop = HostStop {
        drain: interrupts.first().clone(),
        ..HostStop::default()
    };
    let overdue = async {
        interrupts.first().cancelled().await;
        render::say_without_waiting(
            "draining: sessions under way have 30 seconds; press Ctrl-C again to quit now",
        );
        tokio::time::sleep(END_TIMEOUT).await;
    };
    tokio::select! {
        served = serve(config, name, offer, &farm, stop) => served,
        () = overdue => Err(CliError::infrastructure("the host did not stop in time")),
    }
}

/// Offers devices of this computer to a farm until `stop` says so. Call from the thread of a running
/// actix system.
///
/// # Errors
/// When there is no such device, the farm cannot be reached, or it does not want this host.
async fn serve(
    config: &Config,
    name: HostName,
    offer: Offer,
    farm: &FarmAddress,
    stop: HostStop,
) -> Result<(), CliError> {
    let folder = HostFolder::take(&cache_folder()?, &name)?;
    let wanted = DeviceSelection {
        words: &offer.devices,
        all: offer.devices.is_empty(),
    };
    let link = Link::connect(farm, &format!("packtrain host {name}")).await;
    let link = link.map_err(farm_error)?;
    let ttl = address::ttl(&link).await;
    let mut wiring = tokio::select! {
        wiring = Wiring::new(config, wanted, false) => wiring?,
        () = stop.drain.cancelled() => return Ok(()),
    };
    let (present, awaited) = offer.words(&known(&wiring), wiring.unusable());
    for word in &awaited {
        render::say(&format!("{word} is not connected yet; offered once it is"));
    }
    let chosen = match present.is_empty() && !awaited.is_empty() {
        true => Vec::new(),
        false => {
            let words = present.as_slice();
            select(DeviceSelection { words, ..wanted }, &mut wiring)?
        }
    };
    let browsers = offer
        .browsers
        .unwrap_or_else(|| Resources::here().browsers());
    let offered = with_copies(&mut wiring, config, chosen, browsers);
    let mut labels = config.farm.labels.clone();
    labels.extend(offer.labels.iter().cloned());
    let fence = Fence::default();
    // None of them gets a command before this host is known to be alive.
    let fleet = fleet(&wiring, &offered, |connector| fence.around(connector))?;
    let ids: BTreeSet<_> = offered.iter().map(|info| info.id.clone()).collect();
    let options = HostOptions {
        limits: Limits {
            sessions: offer.sessions,
            browsers,
        },
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        cache: folder.cache().to_owned(),
        name: name.clone(),
        ttl,
    };
    render::say(&format!(
        "{name} offers {} devices to {}",
        offered.len(),
        farm.servers.join(", ")
    ));
    let devices = advertise(&wiring, offered, &labels);
    let keeping = keep_connected(&fleet, &devices);
    let words = offer.devices.clone();
    let arrivals = Arrivals {
        fleet: fleet.clone(),
        devices: devices.clone(),
        fence: fence.clone(),
        labels,
        is_wanted: Box::new(move |id| {
            let (words, all) = (words.as_slice(), words.is_empty());
            ids.contains(id) || DeviceSelection { words, all }.takes(id)
        }),
    };
    let arriving = arrivals::follow(Watch::start(&wiring, AWAY_GRACE), arrivals);
    let outages = AbortOnDropHandle::new(tokio::spawn(tell_of_outages(link.clone())));
    let closing = TaskTracker::new();
    let workplace = HostWorkplace {
        fleet: fleet.clone(),
        devices: devices.clone(),
        folder: Arc::new(folder),
        allows_commands: offer.allows_commands,
        arbiter: crate::workplace::arbiters(1).swap_remove(0),
        closing: closing.clone(),
    };
    let workplace = Arc::new(workplace);
    let served = packtrain_farm::host::run(link, options, devices, fence, workplace, stop).await;
    drop(arriving);
    drop(keeping);
    drop(outages);
    fleet.shutdown(DEVICES_TIMEOUT).await;
    closing.close();
    let _ = tokio::time::timeout(RUNS_TIMEOUT, closing.wait()).await;
    release(wiring).await;
    served.map_err(farm_error)
}

/// The devices, and as many of each browser as sessions fit into them.
fn with_copies(
    wiring: &mut Wiring,
    config: &Config,
    chosen: Vec<DeviceInfo>,
    browsers: u32,
) -> Vec<DeviceInfo> {
    let slots = chosen.iter().map(|info| info.id.clone());
    let slots: Vec<_> = slots.filter(|id| id.platform() == Platform::Web).collect();
    let each = browsers / u32::try_from(slots.len()).unwrap_or(u32::MAX).max(1);
    let mut offered = chosen;
    for slot in slots {
        let taken: Vec<_> = known(wiring).into_iter().map(|info| info.id).collect();
        let copies = wiring.add_copies(config, &slot, each);
        offered.extend(copies.into_iter().filter(|copy| !taken.contains(&copy.id)));
    }
    offered
}

/// `lab=berlin`.
fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((kind, word)) if !kind.trim().is_empty() && !word.trim().is_empty() => {
            Ok((kind.trim().to_owned(), word.trim().to_owned()))
        }
        _ => Err("expected KIND=WORD, as in lab=berlin".to_owned()),
    }
}

/// The computer's name, as far as it can be a host's.
pub(crate) fn own_name() -> Result<HostName, CliError> {
    let unknown = || {
        CliError::misuse("this computer's name is not a valid host name")
            .hint("name it with `--name`")
    };
    let name = nix::unistd::gethostname().map_err(|_| unknown())?;
    host_name(&name.to_string_lossy()).ok_or_else(unknown)
}

/// `Ada's-Mac.local` is `ada-s-mac`.
fn host_name(computer: &str) -> Option<HostName> {
    let first = computer.split('.').next().unwrap_or_default();
    let fit = first.chars().map(|letter| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
        _ => '-',
    });
    let fit: String = fit.take(63).collect();
    fit.trim_matches('-').parse().ok()
}

/// Where bundles and files of runs are kept, for all hosts of a user.
pub(crate) fn cache_folder() -> Result<PathBuf, CliError> {
    wiring::cache_folder().ok_or_else(|| {
        CliError::infrastructure("no folder for the files of runs")
            .hint("set XDG_CACHE_HOME or HOME")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computer_s_name_becomes_a_host_s() {
        let name = |computer: &str| host_name(computer).map(|name| name.to_string());
        assert_eq!(name("mac-1").as_deref(), Some("mac-1"));
        assert_eq!(name("Ada's-Mac.local").as_deref(), Some("ada-s-mac"));
        assert_eq!(name("büro").as_deref(), Some("b-ro"));
        assert_eq!(name("...").as_deref(), None);
        assert_eq!(name("").as_deref(), None);
    }

    #[test]
    fn a_label_is_a_kind_and_a_word() {
        assert_eq!(label("lab=berlin"), Ok(("lab".into(), "berlin".into())));
        assert_eq!(label("a=b=c"), Ok(("a".into(), "b=c".into())));
        for wrong in ["lab", "=berlin", "lab=", " = "] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
    }
}
