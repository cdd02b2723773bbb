//! `cmd SERVICE …` and `svc`: switches of the system.

use crate::android::commands::{Call, CommandResult, pm};
use crate::world::Theme;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let Some(name) = call.arg(1) else {
        let text = "cmd: No service specified; use -l to list all services\n";
        return call.refuse(text, 20).await;
    };
    let args = call.args.get(2..).unwrap_or(&[]);
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let android = call.android();
    match (name, words.as_slice()) {
        ("package", _) => pm::package(call, args).await,
        ("uimode", ["night", rest @ ..]) => {
            match rest {
                [] => {}
                ["yes"] => android.device().world(|world| world.set_theme(Theme::Dark)),
                ["no"] => android
                    .device()
                    .world(|world| world.set_theme(Theme::Light)),
                _ => {
                    return call
                        .refuse("Error: mode must be 'yes' or 'no'\n", 255)
                        .await;
                }
            }
            let dark = android.device().world(|world| world.theme()) == Theme::Dark;
            let night = if dark { "yes" } else { "no" };
            call.say(format!("Night mode: {night}\n")).await
        }
        ("connectivity", ["airplane-mode", how @ ("enable" | "disable")]) => {
            android.state.lock().airplane = *how == "enable";
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
        (
            "connectivity" | "display" | "locale" | "notification" | "statusbar" | "uimode"
            | "wifi" | "window",
            rest,
        ) => call.unknown(rest.first().unwrap_or(&"")).await,
        _ => {
            call.unhandled();
            let text = format!("cmd: Can't find service: {name}\n");
            call.refuse(text, 20).await
        }
    }
}

/// `cmd locale`: the languages of an app. (`LocaleManagerShellCommand.java`)
async fn locale(call: &Call<'_>, what: &str, package: &str, options: &[&str]) -> CommandResult {
    let device = call.shell.android.device();
    let id = package.into();
    if device.world(|world| world.installed_app(&id)).is_none() {
        let text = format!("Unknown package {package} for userId 0\n");
        return call.refuse(text, 255).await;
    }
    if what == "get-app-locales" {
        let set = device.world(|world| world.app_locale(&id).unwrap_or_default().to_owned());
        let text = format!("Locales for {package} for user 0 are [{set}]\n");
        return call.say(text).await;
    }
    let wanted = options.iter().position(|option| *option == "--locales");
    let list = wanted.and_then(|at| options.get(at + 1));
    let first = list.and_then(|list| list.split(',').next());
    let locale = first.filter(|locale| !locale.is_empty());
    device.world(|world| world.set_app_locale(&id, locale));
    Ok(0)
}

/// Every app may do what it asks for, also by default, so there is nothing but to allow it.
pub(super) async fn appops(call: &mut Call<'_>) -> CommandResult {
    match call.rest() {
        [what, _, _, how] if what == "set" && ["allow", "default"].contains(&how.as_str()) => Ok(0),
        _ => call.not_recorded().await,
    }
}

pub(super) async fn svc(call: &mut Call<'_>) -> CommandResult {
    let android = call.android();
    let mut state = android.state.lock();
    let words: Vec<&str> = call.rest().iter().map(String::as_str).collect();
    match words.as_slice() {
        ["wifi", how @ ("enable" | "disable")] => state.wifi_off = *how == "disable",
        ["data", how @ ("enable" | "disable")] => state.data_off = *how == "disable",
        _ => {
            drop(state);
            call.unhandled();
            let text = "Available commands:\n    help     Show information about the subcommands\n    power    Control the power manager\n    data     Control mobile data connectivity\n    wifi     Control the Wi-Fi manager\n";
            return call.refuse(text, 255).await;
        }
    }
    Ok(0)
}
