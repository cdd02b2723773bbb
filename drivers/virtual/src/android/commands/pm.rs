//! `pm`, which is `cmd package`.

use crate::android::commands::intent::{Intent, IntentTarget, short};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, am, dumpsys, install};
use crate::android::packages::apk_path;
use crate::app::{AppId, Permission};
use crate::world::Installed;

const FEATURES: &[&str] = &[
    "android.hardware.audio.output",
    "android.hardware.bluetooth",
    "android.hardware.camera",
    "android.hardware.camera.any",
    "android.hardware.faketouch",
    "android.hardware.location",
    "android.hardware.location.gps",
    "android.hardware.microphone",
    "android.hardware.screen.landscape",
    "android.hardware.screen.portrait",
    "android.hardware.sensor.accelerometer",
    "android.hardware.telephony",
    "android.hardware.touchscreen",
    "android.hardware.touchscreen.multitouch",
    "android.hardware.wifi",
    "android.software.home_screen",
    "android.software.input_methods",
    "android.software.webview",
];

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let args = call.rest();
    package(call, args).await
}

/// What follows `pm` or `cmd package`.
pub(super) async fn package(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let what = args.first().map_or("", String::as_str);
    let rest = args.get(1..).unwrap_or(&[]);
    let options = Options::of(
        rest,
        &["--user", "--uid", "-t", "-a", "-c", "-d", "-n", "-p"],
    );
    let names = &options.rest;
    let first = names.first().map_or("", String::as_str);
    let id = AppId::from(first);
    let android = call.android();
    let device = android.device().clone();
    let app = || device.world(|world, _| world.installed_app(&id));
    match what {
        "list" => list(call, rest).await,
        "path" => match app() {
            Some(app) => {
                call.out(format!("package:{}\n", apk_path(&app))).await?;
                Ok(0)
            }
            None => Ok(1),
        },
        "install" | "install-create" | "install-write" | "install-commit" | "install-abandon" => {
            install::run(call, what, rest).await
        }
        "install-existing" => match app() {
            Some(_) => {
                call.out(format!("Package {first} installed for user: 0\n"))
                    .await?;
                Ok(0)
            }
            None => {
                call.out(format!("android.content.pm.PackageManager$NameNotFoundException: Package {first} doesn't exist\n")).await?;
                Ok(1)
            }
        },
        "uninstall" => {
            if android.uninstall(&id) {
                call.out("Success\n").await?;
                return Ok(0);
            }
            // Only where one user is named is it looked up before.
            let text = match (app(), options.value("--user")) {
                (None, Some(user)) if user != "all" => {
                    format!("Failure [not installed for {user}]\n")
                }
                _ => "Failure [DELETE_FAILED_INTERNAL_ERROR]\n".to_owned(),
            };
            call.out(text).await?;
            Ok(1)
        }
        "clear" => {
            if device.world(|world, now| world.clear(&id, now)) {
                call.out("Success\n").await?;
                return Ok(0);
            }
            call.out("Failed\n").await?;
            Ok(1)
        }
        "grant" | "revoke" => permission(call, names, what == "grant").await,
        "reset-permissions" => Ok(0),
        "enable" | "disable" | "disable-user" | "default-state" | "hide" | "unhide" | "suspend"
        | "unsuspend" => match app() {
            Some(_) => {
                let state = match what {
                    "enable" | "unhide" | "unsuspend" => "enabled",
                    "default-state" => "default",
                    "disable-user" => "disabled-user",
                    _ => "disabled",
                };
                call.out(format!("Package {first} new state: {state}\n"))
                    .await?;
                Ok(0)
            }
            None => unknown_package(call, what, first).await,
        },
        "dump" => dumpsys::package(call, first).await,
        "resolve-activity" => resolve(call, rest).await,
        "query-activities" => query(call, rest).await,
        "has-feature" => {
            let has = FEATURES.contains(&first);
            call.out(format!("{has}\n")).await?;
            Ok(i32::from(!has))
        }
        "get-max-users" => {
            call.out("Maximum supported users: 4\n").await?;
            Ok(0)
        }
        "get-install-location" => {
            call.out("0[auto]\n").await?;
            Ok(0)
        }
        "trim-caches"
        | "set-install-location"
        | "compile"
        | "bg-dexopt-job"
        | "set-app-links"
        | "set-app-links-user-selection"
        | "wait-for-handler"
        | "wait-for-background-handler"
        | "set-home-activity"
        | "set-permission-enforced"
        | "bypass-staged-installer-check"
        | "bypass-allowed-apex-update-check" => {
            if matches!(what, "compile" | "set-home-activity") {
                call.out("Success\n").await?;
            }
            Ok(0)
        }
        "" | "help" | "-h" => {
            call.out("Package manager (package) commands:\n  help\n")
                .await?;
            Ok(255)
        }
        other => {
            call.unhandled();
            call.out(format!("Unknown command: {other}\n")).await?;
            Ok(255)
        }
    }
}

async fn unknown_package(call: &Call<'_>, what: &str, name: &str) -> CommandResult {
    call.err(am::exception(
        what,
        &format!("IllegalArgumentException: Unknown package: {name}"),
    ))
    .await?;
    Ok(255)
}

async fn list(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let options = Options::of(args, &["--user", "--uid", "-u "]);
    let filter = options.rest.get(1).map_or("", String::as_str);
    let android = call.android();
    let mut apps: Vec<Installed> = android
        .device()
        .world(|world, _| world.installed().collect());
    let text: String = match options.rest.first().map_or("", String::as_str) {
        "packages" | "package" => {
            let fixed = [
                "android",
                "com.android.shell",
                "com.android.systemui",
                "com.google.android.inputmethod.latin",
                "com.google.android.permissioncontroller",
                crate::world::LAUNCHER,
            ];
            let like = apps.first().cloned();
            apps.extend(fixed.iter().filter_map(|id| {
                Some(Installed {
                    id: AppId::from(*id),
                    name: (*id).to_owned(),
                    system: true,
                    pid: None,
                    ..like.clone()?
                })
            }));
            apps.sort_by(|a, b| a.id.cmp(&b.id));
            (apps.iter())
                .filter(|app| !(options.has("3") && app.system || options.has("s") && !app.system))
                // None is disabled.
                .filter(|_| !options.has("d"))
                .filter(|app| app.id.as_str().contains(filter))
                .map(|app| {
                    let mut line = String::from("package:");
                    if options.has("f") {
                        line.push_str(&format!("{}=", apk_path(app)));
                    }
                    line.push_str(app.id.as_str());
                    if options.has("--show-versioncode") {
                        line.push_str(&format!(
                            " versionCode:{}",
                            android.package(&app.id).version_code
                        ));
                    }
                    if options.has("i") {
                        line.push_str("  installer=null");
                    }
                    if options.has("U") {
                        line.push_str(" uid:10200");
                    }
                    line + "\n"
                })
                .collect()
        }
        "features" => (FEATURES.iter())
            .map(|name| format!("feature:{name}\n"))
            .collect(),
        "instrumentation" => (apps.iter())
            .flat_map(|app| {
                let runners = android.package(&app.id).instrumentations;
                runners
                    .into_iter()
                    .map(|(class, target)| {
                        format!("instrumentation:{}/{class} (target={target})\n", app.id)
                    })
                    .collect::<Vec<_>>()
            })
            .filter(|line| line.contains(filter))
            .collect(),
        "users" => "Users:\n\tUserInfo{0:Owner:4c13} running\n".to_owned(),
        "libraries" => "library:android.test.base\nlibrary:android.test.runner\n".to_owned(),
        "permissions" | "permission-groups" => {
            "All Permissions:\n\n".to_owned()
                + &Permission::ALL
                    .map(|p| format!("permission:{}\n", p.android()))
                    .concat()
        }
        "" => {
            call.out("Error: didn't specify type of data to list\n")
                .await?;
            return Ok(255);
        }
        other => {
            call.unhandled();
            call.out(format!("Error: unknown list type '{other}'\n"))
                .await?;
            return Ok(255);
        }
    };
    call.out(text).await?;
    Ok(0)
}

async fn permission(call: &mut Call<'_>, names: &[String], granted: bool) -> CommandResult {
    let [package, name, ..] = names else {
        call.err("Error: no permission specified\n").await?;
        return Ok(1);
    };
    let id = AppId::from(package.as_str());
    let device = call.shell.android.device().clone();
    if device.world(|world, _| world.installed_app(&id)).is_none() {
        let what = if granted { "grant" } else { "revoke" };
        return unknown_package(call, what, package).await;
    }
    let known = Permission::ALL.into_iter().find(|p| p.android() == name);
    let Some(permission) = known else {
        call.err(format!(
            "\nException occurred while executing '{}':\njava.lang.SecurityException: Package {package} has not requested permission {name}\n",
            if granted { "grant" } else { "revoke" }
        ))
        .await?;
        return Ok(255);
    };
    device.world(|world, now| {
        world.set_permission(&id, permission, granted);
        if !granted {
            // An app loses its process with a permission.
            world.stop(&id, now);
        }
    });
    Ok(0)
}

async fn resolve(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::of(args);
    let android = call.android();
    let found = match intent.leads(&android) {
        IntentTarget::Activity(id, class) => Some((id, class)),
        IntentTarget::Link(url) => android.device().world(|world, _| {
            let app = world.handler_of(&url)?;
            Some((app.id, app.main_activity))
        }),
        IntentTarget::Home => Some((
            AppId::from(crate::world::LAUNCHER),
            format!("{}.NexusLauncherActivity", crate::world::LAUNCHER),
        )),
        IntentTarget::NoSuchClass(_) | IntentTarget::Nobody => None,
    };
    let text = match found {
        None => "No activity found\n".to_owned(),
        Some((id, class)) if intent.brief => {
            format!(
                "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{}\n",
                short(&id, &class)
            )
        }
        Some((id, class)) => format!(
            "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\nActivityInfo:\n  name={class}\n  packageName={id}\n  processName={id}\n  enabled=true exported=true\n"
        ),
    };
    call.out(text).await?;
    Ok(0)
}

async fn query(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::of(args);
    let launchable = intent.categories.iter().any(|c| c.ends_with("LAUNCHER"));
    let android = call.android();
    let apps: Vec<Installed> = android.device().world(|world, _| match &intent.data {
        Some(url) => world.handler_of(url).into_iter().collect(),
        None if launchable || intent.package.is_some() => world.installed().collect(),
        None => Vec::new(),
    });
    let apps: Vec<&Installed> = (apps.iter())
        .filter(|app| {
            intent
                .package
                .as_ref()
                .is_none_or(|package| *package == app.id)
        })
        .collect();
    if apps.is_empty() {
        call.out("No activities found\n").await?;
        return Ok(0);
    }
    let mut text = format!("{} activities found:\n", apps.len());
    for (i, app) in apps.iter().enumerate() {
        if intent.brief {
            text.push_str(&format!("  Activity #{i}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n    {}\n", short(&app.id, &app.main_activity)));
        } else {
            text.push_str(&format!("  Activity #{i}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n    ActivityInfo:\n      name={}\n      packageName={}\n      enabled=true exported=true directBootAware=false\n      ApplicationInfo:\n        packageName={}\n        sourceDir={}\n", app.main_activity, app.id, app.id, apk_path(app)));
        }
    }
    call.out(text).await?;
    Ok(0)
}
