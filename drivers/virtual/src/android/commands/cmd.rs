//! `cmd SERVICE …`, `svc`, `ime`, `appops` and their like: switches of the system.

use crate::android::commands::{
    Call, CommandResult, am, battery, input, pm, property, services, wm,
};
use crate::android::lock;
use crate::world::Theme;

const KEYBOARD: &str =
    "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME";

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "svc" => svc(call).await,
        "ime" => ime(call, call.rest()).await,
        "appops" => appops(call, call.rest()).await,
        "bmgr" => Ok(0),
        "locksettings" => locksettings(call, call.rest()).await,
        _ => service(call).await,
    }
}

/// The same with another program's name in front, for services that programs are short for.
async fn as_program(call: &mut Call<'_>, name: &str, args: &[String]) -> CommandResult {
    let mut all = vec![name.to_owned()];
    all.extend_from_slice(args);
    let mut inner = call.with(&all);
    match name {
        "am" => am::run(&mut inner).await,
        _ => property::settings(&mut inner).await,
    }
}

async fn service(call: &mut Call<'_>) -> CommandResult {
    // `-w` waits for a service that is not there yet.
    let first = if call.arg(1) == Some("-w") { 2 } else { 1 };
    let Some(name) = call.arg(first) else {
        call.err("cmd: No service specified; use -l to list all services\n")
            .await?;
        return Ok(20);
    };
    let args = call.args.get(first + 1..).unwrap_or(&[]);
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let android = call.android();
    match (name, words.as_slice()) {
        ("package", _) => pm::package(call, args).await,
        ("activity", _) => as_program(call, "am", args).await,
        ("settings", _) => as_program(call, "settings", args).await,
        ("window", _) => wm::window(call, args).await,
        ("input", _) => input::send(call, args).await,
        ("input_method", _) => ime(call, args).await,
        ("appops", _) => appops(call, args).await,
        ("uimode", ["night", rest @ ..]) => {
            if let Some(mode) = rest.first()
                && !android.set_night(mode)
            {
                call.err(
                    "Error: mode must be 'yes', 'no', or 'auto', or 'custom_schedule', \
                     or 'custom_bedtime'\n",
                )
                .await?;
                return Ok(255);
            }
            call.out(format!("Night mode: {}\n", android.night()))
                .await?;
            Ok(0)
        }
        ("connectivity", ["airplane-mode", rest @ ..]) => {
            match rest.first() {
                Some(&"enable") => lock(&android.state).airplane = true,
                Some(&"disable") => lock(&android.state).airplane = false,
                _ => {
                    let on = lock(&android.state).airplane;
                    call.out(if on { "enabled\n" } else { "disabled\n" })
                        .await?;
                }
            }
            Ok(0)
        }
        ("wifi", ["status", ..]) => {
            let on = !lock(&android.state).wifi_off;
            call.out(format!(
                "Wifi is {}\n",
                if on {
                    "enabled\nWifi is connected to \"VirtualWifi\""
                } else {
                    "disabled"
                }
            ))
            .await?;
            Ok(0)
        }
        ("wifi", ["set-wifi-enabled", how, ..]) => {
            lock(&android.state).wifi_off = *how == "disabled";
            Ok(0)
        }
        ("display", ["get-displays", ..]) => {
            let shape = android.device().shape();
            call.out(format!(
                "Displays:\nDisplay id 0: DisplayInfo{{\"Built-in Screen\", displayId 0, real {} x {}, state ON, density {}, uniqueId \"local:4630946861623396481\"}}\n",
                shape.width_px,
                shape.height_px,
                shape.density()
            ))
            .await?;
            Ok(0)
        }
        ("statusbar", ["get-status-icons", ..]) => {
            call.out("clock\nwifi\nbattery\n").await?;
            Ok(0)
        }
        ("battery", ["set" | "unplug" | "reset", ..]) => battery::run(call, &words).await,
        ("battery", ["get", "level", ..]) => {
            call.out(format!("{}\n", android.device().battery()))
                .await?;
            Ok(0)
        }
        ("phone", ["data", how @ ("enable" | "disable"), ..]) => {
            lock(&android.state).data_off = *how == "disable";
            Ok(0)
        }
        ("bluetooth_manager", [how @ ("enable" | "disable"), ..]) => {
            let on = if *how == "enable" { "1" } else { "0" };
            android.put_setting("global", "bluetooth_on", Some(on));
            Ok(0)
        }
        ("lock_settings", _) => locksettings(call, args).await,
        ("clipboard", ["get-text" | "get", ..]) => {
            let text = android
                .device()
                .world(|world, _| world.clipboard().to_owned());
            call.out(text + "\n").await?;
            Ok(0)
        }
        ("clipboard", ["set-text" | "set", text, ..]) => {
            android.device().world(|world, _| world.set_clipboard(text));
            Ok(0)
        }
        (
            "notification",
            [
                "allow_listener" | "disallow_listener" | "allow_dnd" | "post",
                ..,
            ],
        )
        | ("locale", ["set-device-locales", ..])
        | ("overlay", ["enable" | "disable" | "enable-exclusive", ..])
        | ("statusbar", ["expand-notifications" | "expand-settings" | "collapse", ..])
        | ("device_config" | "testharness" | "jobscheduler" | "dropbox", _)
        | ("location", ["set-location-enabled" | "providers", ..])
        | ("power", ["set-mode" | "set-adaptive-power-saver-enabled", ..])
        | ("device_policy" | "role" | "media_session" | "vibrator_manager" | "autofill", _) => {
            Ok(0)
        }
        (
            "locale",
            [
                what @ ("get-app-locales" | "set-app-locales"),
                package,
                rest @ ..,
            ],
        ) => locale(call, what, package, rest).await,
        ("overlay", ["list", ..]) => {
            call.out("android\n[ ] com.android.internal.systemui.navbar.threebutton\n[x] com.android.internal.systemui.navbar.gestural\n").await?;
            Ok(0)
        }
        ("location", ["is-location-enabled", ..]) => {
            call.out("true\n").await?;
            Ok(0)
        }
        ("-l", _) => {
            call.out(services::list()).await?;
            Ok(0)
        }
        (_, rest) if services::is_there(name) => {
            call.unhandled();
            let text = match rest.first() {
                Some(command) => format!("Unknown command: {command}\n"),
                None => format!("{name} commands:\n  help\n"),
            };
            call.out(text).await?;
            Ok(255)
        }
        _ => {
            call.unhandled();
            call.err(format!("cmd: Can't find service: {name}\n"))
                .await?;
            Ok(20)
        }
    }
}

/// `cmd locale`: the languages of an app. (`LocaleManagerShellCommand.java`)
async fn locale(call: &Call<'_>, what: &str, package: &str, options: &[&str]) -> CommandResult {
    let device = call.shell.android.device();
    let id = package.into();
    let wanted = options.iter().position(|option| *option == "--locales");
    let done = match (what, wanted) {
        ("get-app-locales", _) => {
            let set = device.world(|world, _| {
                world.installed_app(&id)?;
                Some(world.app_locale(&id).unwrap_or_default().to_owned())
            });
            if let Some(set) = &set {
                call.out(format!("Locales for {package} for user 0 are [{set}]\n"))
                    .await?;
            }
            set.is_some()
        }
        (_, wanted) => {
            let list = wanted.and_then(|at| options.get(at + 1));
            let first = list.and_then(|list| list.split(',').next());
            let locale = first.filter(|locale| !locale.is_empty());
            device.world(|world, now| world.set_app_locale(&id, locale, now))
        }
    };
    if !done {
        call.err(format!("Unknown package {package} for userId 0\n"))
            .await?;
        return Ok(255);
    }
    Ok(0)
}

impl crate::android::Android {
    /// What `cmd uimode night` answers.
    fn night(&self) -> String {
        let other = lock(&self.state).night.clone();
        let dark = self.device().world(|world, _| world.theme()) == Theme::Dark;
        other.unwrap_or_else(|| String::from(if dark { "yes" } else { "no" }))
    }

    /// Has apps drawn dark or bright; false when there is no such mode.
    fn set_night(&self, mode: &str) -> bool {
        let theme = match mode {
            "yes" => Theme::Dark,
            // It is always day where the phones are.
            "no" | "auto" | "custom_schedule" | "custom_bedtime" => Theme::Light,
            _ => return false,
        };
        lock(&self.state).night = (!matches!(mode, "yes" | "no")).then(|| mode.to_owned());
        self.device()
            .world(|world, now| world.set_theme(theme, now));
        true
    }
}

/// `locksettings`. The screen is locked by a swipe; nothing asks for a secret.
async fn locksettings(call: &Call<'_>, args: &[String]) -> CommandResult {
    let text = match args.first().map(String::as_str) {
        Some("get-disabled") => "false\n",
        Some("verify") => "Lock credential verified successfully\n",
        Some("clear") => "Lock credential cleared\n",
        Some("help") | None => {
            "lockSettings service commands:\n\n  help\n  get-disabled\n  verify\n  clear\n"
        }
        Some(other) => {
            call.unhandled();
            call.out(format!("Unknown command: {other}\n")).await?;
            return Ok(255);
        }
    };
    call.out(text).await?;
    Ok(0)
}

async fn svc(call: &mut Call<'_>) -> CommandResult {
    let android = call.android();
    let (what, how) = (call.arg(1).unwrap_or(""), call.arg(2).unwrap_or(""));
    let off = how == "disable";
    match (what, how) {
        ("wifi", "enable" | "disable") => lock(&android.state).wifi_off = off,
        ("data", "enable" | "disable") => lock(&android.state).data_off = off,
        ("power", "stayon") => lock(&android.state).stay_awake = call.arg(3) != Some("false"),
        ("power", "reboot") => android.reboot_to(call.arg(3).unwrap_or("")).await,
        ("power" | "usb" | "nfc" | "bluetooth", _) => {}
        _ => {
            call.unhandled();
            call.err("Available commands:\n    help     Show information about the subcommands\n    power    Control the power manager\n    data     Control mobile data connectivity\n    wifi     Control the Wi-Fi manager\n").await?;
            return Ok(255);
        }
    }
    Ok(0)
}

async fn ime(call: &Call<'_>, args: &[String]) -> CommandResult {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let android = &call.shell.android;
    match words.as_slice() {
        ["list", ..] => {
            let set = android
                .setting("secure", "enabled_input_methods")
                .unwrap_or_default();
            let short = words.iter().any(|word| word.starts_with("-s"));
            let names: String = (set.split(':'))
                .map(|name| {
                    if short {
                        format!("{name}\n")
                    } else {
                        format!("{name}:\n  mId={name} mIsVrOnly=false\n")
                    }
                })
                .collect();
            call.out(names).await?;
            Ok(0)
        }
        ["enable", id, ..] => {
            let set = android
                .setting("secure", "enabled_input_methods")
                .unwrap_or_default();
            let package = id.split('/').next().unwrap_or("");
            let there = *id == KEYBOARD
                || (android.device())
                    .world(|world, _| world.installed_app(&package.into()).is_some());
            if !there {
                call.err(format!(
                    "Unknown input method {id} cannot be enabled for user #0\n"
                ))
                .await?;
                return Ok(255);
            }
            if !set.split(':').any(|known| known == *id) {
                android.put_setting(
                    "secure",
                    "enabled_input_methods",
                    Some(&format!("{set}:{id}")),
                );
            }
            call.out(format!("Input method {id}: now enabled for user #0\n"))
                .await?;
            Ok(0)
        }
        ["disable", id, ..] => {
            let set = android
                .setting("secure", "enabled_input_methods")
                .unwrap_or_default();
            let left: Vec<&str> = set.split(':').filter(|known| known != id).collect();
            android.put_setting("secure", "enabled_input_methods", Some(&left.join(":")));
            call.out(format!("Input method {id}: now disabled for user #0\n"))
                .await?;
            Ok(0)
        }
        ["set", id, ..] => {
            let set = android
                .setting("secure", "enabled_input_methods")
                .unwrap_or_default();
            if !set.split(':').any(|known| known == *id) {
                call.err(format!(
                    "Unknown input method {id} cannot be selected for user #0\n"
                ))
                .await?;
                return Ok(255);
            }
            android.put_setting("secure", "default_input_method", Some(id));
            call.out(format!("Input method {id} selected for user #0\n"))
                .await?;
            Ok(0)
        }
        ["reset", ..] => {
            android.put_setting("secure", "default_input_method", Some(KEYBOARD));
            android.put_setting("secure", "enabled_input_methods", Some(KEYBOARD));
            call.out("Reset current and enabled IMEs for user #0\n")
                .await?;
            Ok(0)
        }
        _ => {
            call.unhandled();
            call.err("ime <command>:\n  list [-a] [-s]\n  enable <ID>\n  disable <ID>\n  set <ID>\n  reset\n").await?;
            Ok(255)
        }
    }
}

async fn appops(call: &Call<'_>, args: &[String]) -> CommandResult {
    match args.first().map(String::as_str) {
        Some("get") => {
            call.out("No operations.\n").await?;
            Ok(0)
        }
        Some("set" | "reset" | "write-settings" | "start" | "stop") => Ok(0),
        _ => {
            call.out("AppOps service (appops) commands:\n").await?;
            Ok(255)
        }
    }
}
