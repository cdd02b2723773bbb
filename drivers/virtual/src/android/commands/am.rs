//! `am` and `monkey`: starting and stopping apps.

use std::time::Duration;

use crate::android::commands::intent::{Intent, IntentTarget, short};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::app::AppId;
use crate::world::{LAUNCHER, LaunchKind, Launched, WindowKind};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let rest = call.args.get(2..).unwrap_or(&[]);
    match call.arg(1) {
        Some(what @ ("start" | "start-activity")) => start(call, what, rest).await,
        Some(what @ ("force-stop" | "crash")) => {
            let packages = Options::of(rest, &["--user"]).rest;
            if packages.is_empty() {
                let why = format!("IllegalArgumentException: Argument expected after \"{what}\"");
                return call.throw(what, why).await;
            }
            let android = call.android();
            for id in packages.into_iter().map(AppId) {
                if what == "crash" {
                    android.device().world(|world| world.crash(&id));
                    continue;
                }
                android.device().world(|world| world.stop(&id));
                let text = format!("Force stopping {id} appid=10200 user=0");
                android.log('I', "ActivityManager", text);
            }
            Ok(0)
        }
        Some("broadcast") => {
            let mut intent = Intent::read(call, "broadcast", rest).await?;
            intent.flags = Some("0x400000".to_owned());
            let shown = intent.shown();
            let text = format!("Broadcasting: {shown}\nBroadcast completed: result=0\n");
            call.say(text).await
        }
        other => call.unknown(other.unwrap_or("")).await,
    }
}

async fn start(call: &mut Call<'_>, what: &str, args: &[String]) -> CommandResult {
    let intent = Intent::read(call, what, args).await?;
    if intent.is_empty() {
        let why = "IllegalArgumentException: No intent supplied";
        return call.throw(what, why).await;
    }
    let android = call.android();
    let device = android.device();
    let target = intent.leads(&android);
    if intent.stops_first
        && let IntentTarget::Activity(id, _) = &target
    {
        call.out(format!("Stopping: {id}\n")).await?;
        device.world(|world| world.stop(id));
    }
    let shown = intent.shown();
    call.out(format!("Starting: {shown}\n")).await?;
    let begun = device.now();
    let unresolved = format!("Error: Activity not started, unable to resolve {shown}\n");
    let (id, launched) = match target {
        IntentTarget::NoSuchClass(name) => {
            let text = format!("Error type 3\nError: Activity class {{{name}}} does not exist.\n");
            return complain(call, &intent, text, 1).await;
        }
        IntentTarget::Nobody => return complain(call, &intent, unresolved, 1).await,
        IntentTarget::Home => {
            device.world(|world| world.home());
            return Ok(0);
        }
        IntentTarget::Link(url) => {
            let before = device.world(|world| world.front());
            let Some(id) = device.world(|world| world.open(&url)) else {
                return complain(call, &intent, unresolved, 1).await;
            };
            let kind = if before == id {
                LaunchKind::AlreadyInFront
            } else {
                LaunchKind::Cold
            };
            let ready_at = device.now();
            (id, Launched { kind, ready_at })
        }
        IntentTarget::Activity(id, class) => {
            let before = android.shown_activity();
            // It was found to be there; a fault may have removed it since.
            let Ok(mut launched) = device.launch(&id).await else {
                return Ok(1);
            };
            if id.as_str() != LAUNCHER {
                device.world(|world| world.show_activity(&id, &class));
            }
            let same = before == android.shown_activity();
            if launched.kind == LaunchKind::AlreadyInFront && !same {
                launched.kind = LaunchKind::Warm;
            }
            (id, launched)
        }
    };
    let intent_text = shown.trim_start_matches("Intent ");
    let text = format!("START u0 {intent_text} from uid 2000");
    android.log('I', "ActivityTaskManager", text);
    if launched.kind == LaunchKind::AlreadyInFront {
        let why = if intent.data.is_some() || intent.extras {
            "intent has been delivered to currently running top-most instance."
        } else {
            "its current task has been brought to the front"
        };
        let text = format!("Warning: Activity not started, {why}\n");
        complain(call, &intent, text, 0).await?;
    }
    if !intent.waits {
        return Ok(0);
    }
    // Until the app has drawn its first picture.
    let left = launched.ready_at.saturating_sub(device.now());
    device.sleep(left).await;
    let ms = device.now().saturating_sub(begun).as_millis();
    let state = match launched.kind {
        LaunchKind::Cold => "COLD",
        LaunchKind::Warm => "WARM",
        LaunchKind::AlreadyInFront => "UNKNOWN (0)",
    };
    let activity = short(&id, &android.shown_activity().1);
    let waited = ms + 3;
    call.say(format!(
        "Status: ok\nLaunchState: {state}\nActivity: {activity}\nTotalTime: {ms}\nWaitTime: {waited}\nComplete\n"
    ))
    .await
}

/// Errors go to the standard error, but with `-W` to the output.
async fn complain(call: &Call<'_>, intent: &Intent, text: String, code: i32) -> CommandResult {
    if intent.waits {
        call.end(text, code).await
    } else {
        call.refuse(text, code).await
    }
}

pub(super) async fn monkey(call: &mut Call<'_>) -> CommandResult {
    let args = call.rest();
    let lines = args.iter().map(|arg| format!("  bash arg: {arg}\n"));
    call.out(lines.collect::<String>()).await?;
    let named: String = (args.iter())
        .map(|arg| format!(" arg: \"{arg}\"\n"))
        .collect();
    call.err(format!("args: [{}]\n{named}", args.join(", ")))
        .await?;
    let options = Options::of(args, &["p", "c"]);
    let package = options.value("p").unwrap_or("").into();
    let android = call.android();
    let device = android.device();
    if device
        .world(|world| world.installed_app(&package))
        .is_none()
    {
        let text = "** No activities found to run, monkey aborted.\n";
        return call.refuse(text, 252).await;
    }
    let count = options.rest.last().map_or("1", String::as_str);
    if let Ok(launched) = device.launch(&package).await {
        let left = launched.ready_at.saturating_sub(device.now());
        device.sleep(left.min(Duration::from_millis(300))).await;
    }
    call.say(format!(
        "Events injected: {count}\n## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)\n"
    ))
    .await
}

impl crate::android::Android {
    /// The app that shows, and the full class of its activity.
    pub(in crate::android) fn shown_activity(&self) -> (AppId, String) {
        let snapshot = self.device().snapshot();
        let window = (snapshot.windows.iter()).find(|w| {
            matches!(
                w.kind,
                WindowKind::App | WindowKind::Starting | WindowKind::Launcher
            )
        });
        window.map_or_else(
            || (AppId::from(""), String::new()),
            |w| (w.app.clone(), w.activity.clone()),
        )
    }

    /// The window with the focus, as `mCurrentFocus` names it; `None` while there is none.
    pub(in crate::android) fn focused_window(&self) -> Option<String> {
        if !self.has_focus() {
            return None;
        }
        let snapshot = self.device().snapshot();
        let window = snapshot.active()?;
        let name = match window.kind {
            WindowKind::SystemDialog if window.app.as_str() == "android" => window.title.clone(),
            _ => format!("{}/{}", window.app, window.activity),
        };
        let hash = window.nodes.first().map_or(0, |root| root.key.0) & 0x0fff_ffff;
        Some(format!("Window{{{hash:x} u0 {name}}}"))
    }
}
