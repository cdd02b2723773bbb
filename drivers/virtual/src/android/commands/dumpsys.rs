//! `dumpsys`, where its answer is not recorded: what is told of packages, and their memory, and
//! the charge of the battery, which can be set.

use crate::android::commands::intent::short;
use crate::android::commands::{Call, CommandResult};
use crate::android::files::parent_of;
use crate::android::logs::clock_text;
use crate::android::packages::apk_path;
use crate::android::recorded;
use crate::app::{AppId, Permission};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match (call.arg(1), call.arg(2)) {
        (Some("package"), Some(name)) => package(call, name).await,
        (Some("meminfo"), Some(name)) => {
            let id = AppId::from(name);
            let device = call.shell.android.device();
            let app = device.world(|world| world.installed_app(&id));
            let Some(pid) = app.and_then(|app| app.pid) else {
                return call.say(format!("No process found for: {name}\n")).await;
            };
            call.say(format!(
                "Applications Memory Usage (in Kilobytes):\nUptime: 1000 Realtime: 1000\n\n** MEMINFO in pid {pid} [{name}] **\n\n App Summary\n           TOTAL PSS:    91204            TOTAL RSS:   182408       TOTAL SWAP (KB):        0\n"
            ))
            .await
        }
        (Some("battery"), Some("reset")) => {
            call.shell.android.device().set_battery(100);
            Ok(0)
        }
        (Some("battery"), Some("set")) if call.arg(3) == Some("level") => {
            match call.arg(4).map(str::parse) {
                Some(Ok(percent)) => call.shell.android.device().set_battery(percent),
                _ => return call.not_recorded().await,
            }
            Ok(0)
        }
        (name, _) => {
            if call.args.len() > 2 && recorded::answer(&call.args[..2]).is_some() {
                return call.not_recorded().await;
            }
            call.unhandled();
            let name = name.unwrap_or("");
            call.refuse(format!("Can't find service: {name}\n"), 0)
                .await
        }
    }
}

/// `dumpsys package NAME`
async fn package(call: &mut Call<'_>, name: &str) -> CommandResult {
    let id = AppId::from(name);
    let android = call.android();
    let device = android.device();
    let Some(app) = device.world(|world| world.installed_app(&id)) else {
        let text = format!("Dexopt state:\n  Unable to find package: {name}\n");
        return call.say(text).await;
    };
    let born = device.clock().saturating_sub(device.now());
    let mut requested = String::new();
    let mut granted = String::new();
    for permission in Permission::ALL {
        let (name, has) = (permission.android(), app.granted.contains(&permission));
        requested.push_str(&format!("      {name}\n"));
        granted.push_str(&format!(
            "        {name}: granted={has}, flags=[ USER_SET ]\n"
        ));
    }
    let path = apk_path(&app);
    call.say(format!(
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n        4f1a2b {main} filter 9c8d7e\n          Action: \"android.intent.action.MAIN\"\n          Category: \"android.intent.category.LAUNCHER\"\n\nPackages:\n  Package [{id}] (1f2e3d):\n    userId=10200\n    pkg=Package{{1f2e3d {id}}}\n    codePath={dir}\n    resourcePath={dir}\n    primaryCpuAbi=arm64-v8a\n    versionCode={code} minSdk=24 targetSdk={sdk}\n    versionName={version}\n    signatures=PackageSignatures{{6a5b4c version:2, signatures:[a1b2c3d4], past signatures:[]}}\n    pkgFlags=[ {system}HAS_CODE ALLOW_CLEAR_USER_DATA ]\n    dataDir=/data/user/0/{id}\n    timeStamp={updated}\n    firstInstallTime={installed}\n    lastUpdateTime={updated}\n    requested permissions:\n{requested}    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false enabled=0\n      runtime permissions:\n{granted}\n",
        main = short(&id, &app.main_activity),
        dir = parent_of(&path),
        code = android.version_code(&id),
        sdk = device.shape().api_level,
        version = app.version,
        system = if app.system { "SYSTEM " } else { "" },
        installed = clock_text(born + app.installed_at, "%F %T"),
        updated = clock_text(born + app.updated_at, "%F %T"),
    ))
    .await
}
