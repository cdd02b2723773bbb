//! `packtrain virtual`: virtual phones for other tools.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use packtrain_config::{Flags, VirtualProfile, VirtualSettings};
use packtrain_model::Exit;
use packtrain_virtual::arrivals::Arrivals;
use serde_json::json;

use super::{Context, Format, listed};
use crate::exit::{CliError, OrCliError as _};
use crate::shutdown::Interrupts;
use crate::wiring::phones;
use crate::{render, runtime};

/// How long the phones may take to end.
const PHONES_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
pub(crate) struct VirtualArgs {
    #[command(subcommand)]
    command: VirtualCommand,
}

#[derive(Debug, Subcommand)]
enum VirtualCommand {
    /// Start virtual phones and keep them until Ctrl-C
    Up(UpArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Any client that speaks adb or WebDriverAgent can use them:
  adb connect ADDRESS; adb -s ADDRESS shell getprop ro.product.model
  curl WDA/status
  USBMUXD_SOCKET_ADDRESS=ADDRESS idevice_id -l"
)]
struct UpArgs {
    /// How many Android phones [default: as configured, or one of each kind]
    #[arg(long, value_name = "N")]
    android: Option<u32>,

    /// How many iPhones [default: as configured, or one of each kind]
    #[arg(long, value_name = "N")]
    ios: Option<u32>,

    /// The app on them [default: the example shop]
    #[arg(long, value_name = "FILE")]
    app: Option<PathBuf>,

    /// Fault rules
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,

    /// Random seed
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// As slow as a phone, or as fast as this computer
    #[arg(long, value_enum, value_name = "PROFILE")]
    profile: Option<Profile>,

    /// Append each request they receive to FILE, one line of JSON each
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// How to print their addresses
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Profile {
    /// As slow as a phone.
    Phone,
    /// As fast as this computer.
    Fast,
}

/// `packtrain virtual`.
pub(crate) fn run(args: VirtualArgs, context: &Context) -> Result<Exit, CliError> {
    let VirtualCommand::Up(args) = args.command;
    let config = context.config(Flags::default())?.config;
    let mut configured = config.devices.simulated.unwrap_or_default();
    let is_asked = args.android.or(args.ios).is_some();
    if !is_asked && configured.android == 0 && configured.ios == 0 {
        (configured.android, configured.ios) = (1, 1);
    }
    let settings = VirtualSettings {
        android: args.android.unwrap_or(configured.android),
        ios: args.ios.unwrap_or(configured.ios),
        app: args.app.or(configured.app),
        faults: args.faults.or(configured.faults),
        seed: args.seed.unwrap_or(configured.seed),
        profile: match args.profile {
            Some(Profile::Phone) => VirtualProfile::Phone,
            Some(Profile::Fast) => VirtualProfile::Fast,
            None => configured.profile,
        },
    };
    if settings.android == 0 && settings.ios == 0 {
        return Err(CliError::misuse(
            "no phone to start: --android and --ios are both 0",
        ));
    }
    let arrivals = args.log.as_deref().map(|path| {
        Arrivals::append(path).or_misuse(format_args!("cannot write {}", path.display()))
    });
    let arrivals = arrivals.transpose()?.map(Arc::new);
    runtime::block_on_stoppable(async |interrupts| {
        up(settings, arrivals, args.format, interrupts).await
    })
}

async fn up(
    settings: VirtualSettings,
    arrivals: Option<Arc<Arrivals>>,
    format: Format,
    interrupts: Interrupts,
) -> Result<Exit, CliError> {
    let fleet = interrupts
        .interruptible(phones::start(&settings, arrivals))
        .await?;
    match format {
        Format::Json => {
            let android = fleet.android().iter().map(|phone| {
                json!({
                    "name": phone.device().name(),
                    "model": phone.device().shape().model,
                    "serial": phone.device().serial(),
                    "adb": phone.address().to_string(),
                })
            });
            let ios = fleet.ios().iter().map(|phone| {
                json!({
                    "name": phone.device().name(),
                    "model": phone.device().shape().model,
                    "udid": phone.udid().0,
                    "wda": format!("http://{}", phone.wda_address()),
                })
            });
            let (android, ios): (Vec<_>, Vec<_>) = (android.collect(), ios.collect());
            // For clients that ask an adb server even where they drive phones directly.
            let adb_server = fleet
                .start_adb_server()
                .await
                .or_infrastructure("cannot listen for adb")?;
            let usbmuxd = fleet.usbmuxd_address().map(|address| address.to_string());
            listed::data(json!({
                "android": android,
                "ios": ios,
                "usbmuxd": usbmuxd,
                "adb_server": adb_server.to_string(),
            }));
        }
        Format::Text => {
            for phone in fleet.android() {
                let (device, at) = (phone.device(), phone.address());
                let (name, model) = (device.name(), device.shape().model);
                render::out(&format!("{name} ({model}): adb connect {at}"));
            }
            for phone in fleet.ios() {
                let (name, model) = (phone.device().name(), phone.device().shape().model);
                let (udid, address) = (&phone.udid().0, phone.wda_address());
                render::out(&format!("{name} ({model}, {udid}): http://{address}"));
            }
            if let Some(address) = fleet.usbmuxd_address() {
                render::out(&format!("usbmuxd: USBMUXD_SOCKET_ADDRESS={address}"));
            }
            render::say("press Ctrl-C to stop");
        }
    }
    interrupts.first().cancelled().await;
    let androids = fleet.android().iter().map(|phone| phone.device());
    let iphones = fleet.ios().iter().map(|phone| phone.device());
    for phone in androids.chain(iphones) {
        for (what, times) in phone.unhandled() {
            let (name, what) = (phone.name(), what.chars().take(100).collect::<String>());
            render::say(&format!(
                "{name} does not support a request made {times}×: {what:?}"
            ));
        }
    }
    let _ = tokio::time::timeout(PHONES_TIMEOUT, fleet.shutdown()).await;
    Ok(Exit::Passed)
}
