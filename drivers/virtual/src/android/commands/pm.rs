//! `pm`, which is `cmd package`.

use crate::android::commands::intent::{Intent, IntentTarget, short};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, install};
use crate::android::packages::apk_path;
use crate::app::{AppId, Permission};
use crate::world::{Installed, LAUNCHER};

/// Packages of the system that are no apps.
const FIXED: [&str; 6] = [
    "android",
    "com.android.shell",
    "com.android.systemui",
    "com.google.android.inputmethod.latin",
    "com.google.android.permissioncontroller",
    LAUNCHER,
];

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let args = call.rest();
    package(call, args).await
}

/// What follows `pm` or `cmd package`.
pub(super) async fn package(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let what = args.first().map_or("", String::as_str);
    let rest = args.get(1..).unwrap_or(&[]);
    let options = Options::of(rest, &["--user"]);
    let first = options.rest.first().map_or("", String::as_str);
    let id = AppId::from(first);
    let android = call.android();
    let device = android.device();
    let app = device.world(|world| world.installed_app(&id));
    match what {
        "list" => list(call, &options).await,
        "path" => match app {
            Some(app) => call.say(format!("package:{}\n", apk_path(&app))).await,
            None => Ok(1),
        },
        "install" | "install-create" | "install-write" | "install-commit" | "install-abandon" => {
            install::run(call, what, rest).await
        }
        "uninstall" if android.uninstall(&id) => call.say("Success\n").await,
        "uninstall" => {
            // Only where one user is named is it looked up before.
            let text = match (app, options.value("--user")) {
                (None, Some(user)) if user != "all" => {
                    format!("Failure [not installed for {user}]\n")
                }
                _ => "Failure [DELETE_FAILED_INTERNAL_ERROR]\n".to_owned(),
            };
            call.end(text, 1).await
        }
        "clear" if device.world(|world| world.clear(&id)) => call.say("Success\n").await,
        "clear" => call.end("Failed\n", 1).await,
        "grant" | "revoke" => {
            let name = options.rest.get(1).map_or("", String::as_str);
            if app.is_none() {
                let why = format!("IllegalArgumentException: Unknown package: {first}");
                return call.throw(what, why).await;
            }
            let Some(permission) = Permission::ALL.into_iter().find(|p| p.android() == name) else {
                let why = format!(
                    "SecurityException: Package {first} has not requested permission {name}"
                );
                return call.throw(what, why).await;
            };
            device.world(|world| {
                world.set_permission(&id, permission, what == "grant");
                if what == "revoke" {
                    // An app loses its process with a permission.
                    world.stop(&id);
                }
            });
            Ok(0)
        }
        "resolve-activity" => resolve(call, rest).await,
        "query-activities" => query(call, rest).await,
        other => call.unknown(other).await,
    }
}

async fn list(call: &mut Call<'_>, options: &Options) -> CommandResult {
    match options.rest.first().map(String::as_str) {
        Some("packages" | "package") => {}
        None => {
            let text = "Error: didn't specify type of data to list\n";
            return call.end(text, 255).await;
        }
        Some(other) => {
            call.unhandled();
            let text = format!("Error: unknown list type '{other}'\n");
            return call.end(text, 255).await;
        }
    }
    if options
        .other_than("3s", &["--user", "--show-versioncode"])
        .is_some()
    {
        return call.not_recorded().await;
    }
    let filter = options.rest.get(1).map_or("", String::as_str);
    let android = call.android();
    let mut apps: Vec<Installed> = android.device().world(|world| world.installed().collect());
    if let Some(like) = apps.first().cloned() {
        apps.extend(FIXED.map(|id| Installed {
            id: AppId::from(id),
            name: id.to_owned(),
            system: true,
            pid: None,
            ..like.clone()
        }));
    }
    apps.sort_by(|a, b| a.id.cmp(&b.id));
    apps.retain(|app| {
        let out = options.has("3") && app.system || options.has("s") && !app.system;
        !out && app.id.as_str().contains(filter)
    });
    let mut text = String::new();
    for app in &apps {
        text.push_str(&format!("package:{}", app.id));
        if options.has("--show-versioncode") {
            let code = android.version_code(&app.id);
            text.push_str(&format!(" versionCode:{code}"));
        }
        text.push('\n');
    }
    call.say(text).await
}

async fn resolve(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::read(call, "resolve-activity", args).await?;
    let android = call.android();
    let found = match intent.leads(&android) {
        IntentTarget::Activity(id, class) => Some((id, class)),
        IntentTarget::Link(url) => android.device().world(|world| {
            let app = world.handler_of(&url)?;
            Some((app.id, app.main_activity))
        }),
        IntentTarget::Home => {
            let class = format!("{LAUNCHER}.NexusLauncherActivity");
            Some((AppId::from(LAUNCHER), class))
        }
        IntentTarget::NoSuchClass(_) | IntentTarget::Nobody => None,
    };
    let Some((id, class)) = found else {
        return call.say("No activity found\n").await;
    };
    let shown = if intent.brief {
        short(&id, &class)
    } else {
        format!(
            "ActivityInfo:\n  name={class}\n  packageName={id}\n  processName={id}\n  enabled=true exported=true"
        )
    };
    call.say(format!("{PRIORITY}\n{shown}\n")).await
}

const PRIORITY: &str = "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true";

async fn query(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::read(call, "query-activities", args).await?;
    let launchable = intent.categories.iter().any(|c| c.ends_with("LAUNCHER"));
    let mut apps: Vec<Installed> =
        (call.shell.android.device()).world(|world| match &intent.data {
            Some(url) => world.handler_of(url).into_iter().collect(),
            None if launchable || intent.package.is_some() => world.installed().collect(),
            None => Vec::new(),
        });
    apps.retain(|app| intent.package.as_ref().is_none_or(|id| *id == app.id));
    if apps.is_empty() {
        return call.say("No activities found\n").await;
    }
    let mut text = format!("{} activities found:\n", apps.len());
    for (i, app) in apps.iter().enumerate() {
        text.push_str(&format!("  Activity #{i}:\n    {PRIORITY}\n"));
        let main = &app.main_activity;
        if intent.brief {
            text.push_str(&format!("    {}\n", short(&app.id, main)));
        } else {
            let (id, path) = (&app.id, apk_path(app));
            text.push_str(&format!("    ActivityInfo:\n      name={main}\n      packageName={id}\n      enabled=true exported=true directBootAware=false\n      ApplicationInfo:\n        packageName={id}\n        sourceDir={path}\n"));
        }
    }
    call.say(text).await
}
