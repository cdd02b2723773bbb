//! `am` and `monkey`: starting and stopping apps.

use std::time::Duration;

use crate::android::commands::intent::{Intent, IntentTarget, short};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, agent};
use crate::android::lock;
use crate::android::shell::io::Stop;
use crate::app::AppId;
use crate::world::{LAUNCHER, LaunchKind, Launched};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    if call.name() == "monkey" {
        return monkey(call).await;
    }
    let rest = call.args.get(2..).unwrap_or(&[]);
    match call.arg(1) {
        Some("start" | "start-activity") => start(call, rest).await,
        Some(
            "startservice"
            | "start-service"
            | "startforegroundservice"
            | "start-foreground-service",
        ) => service(call, rest).await,
        Some("stopservice" | "stop-service") => {
            call.out(format!("Stopping service: {}\n", Intent::of(rest).shown()))
                .await?;
            Ok(0)
        }
        Some(what @ ("force-stop" | "stop-app" | "kill" | "crash")) if rest.is_empty() => {
            call.err(exception(
                what,
                &format!("IllegalArgumentException: Argument expected after \"{what}\""),
            ))
            .await?;
            Ok(255)
        }
        Some("force-stop" | "stop-app") => {
            for_packages(call, rest, |call, id| {
                call.shell
                    .android
                    .device()
                    .world(|world, now| world.stop(id, now));
                call.shell.android.log(
                    'I',
                    "ActivityManager",
                    format!("Force stopping {id} appid=10200 user=0"),
                );
            });
            Ok(0)
        }
        Some("kill") => {
            for_packages(call, rest, |call, id| {
                // Only what is in the background is killed.
                call.shell.android.device().world(|world, now| {
                    if world.front() != *id {
                        world.stop(id, now);
                    }
                });
            });
            Ok(0)
        }
        Some("kill-all") => Ok(0),
        Some("crash") => {
            for_packages(call, rest, |call, id| {
                call.shell
                    .android
                    .device()
                    .world(|world, now| world.crash(id, now));
            });
            Ok(0)
        }
        Some("broadcast") => broadcast(call, rest).await,
        Some("instrument") => agent::instrument(call, rest).await,
        Some("get-current-user") => {
            call.out("0\n").await?;
            Ok(0)
        }
        Some("get-config") => {
            let text = format!(
                "config: en-rUS-ldltr-sw411dp-w411dp-h914dp-normal-long-notround-lowdr-nowidecg-port-notnight-{}dpi-finger-keyshidden-nokeys-navhidden-nonav-v{}\nabi: arm64-v8a\n",
                call.shell.android.device().screen().density(),
                call.shell.android.device().shape().api_level
            );
            call.out(text).await?;
            Ok(0)
        }
        Some("is-user-stopped") => {
            call.out("false\n").await?;
            Ok(0)
        }
        Some("wait-for-broadcast-idle" | "wait-for-broadcast-barrier") => {
            call.out("All broadcast queues are idle!\n").await?;
            Ok(0)
        }
        Some(
            "set-debug-app" | "clear-debug-app" | "set-inactive" | "switch-user" | "compat"
            | "profile" | "send-trim-memory" | "update-appinfo" | "unfreeze" | "freeze",
        ) => Ok(0),
        Some("stack" | "task") => {
            let (app, class) = call.shell.android.shown_activity();
            let screen = call.shell.android.device().screen();
            let bounds = format!("[0,0][{},{}]", screen.width_px, screen.height_px);
            call.out(format!("RootTask id=12 bounds={bounds} displayId=0 userId=0\n  taskId=12: {} bounds={bounds} userId=0 visible=true topActivity=ComponentInfo{{{app}/{class}}}\n", short(&app, &class))).await?;
            Ok(0)
        }
        Some("help" | "-h") | None => {
            call.out("Activity manager (activity) commands:\n  help\n")
                .await?;
            Ok(255)
        }
        Some(other) => {
            call.unhandled();
            call.out(format!("Unknown command: {other}\n")).await?;
            Ok(255)
        }
    }
}

fn for_packages(call: &Call<'_>, args: &[String], act: impl Fn(&Call<'_>, &AppId)) {
    for package in Options::of(args, &["--user"]).rest {
        act(call, &AppId(package));
    }
}

async fn start(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::of(args);
    if intent.is_empty() {
        call.err(exception(
            call.arg(1).unwrap_or("start"),
            "IllegalArgumentException: No intent supplied",
        ))
        .await?;
        return Ok(255);
    }
    let android = call.android();
    let mut code = 0;
    for _ in 0..intent.repeat.clamp(1, 100) {
        if intent.stops_first
            && let IntentTarget::Activity(id, _) = intent.leads(&android)
        {
            call.out(format!("Stopping: {id}\n")).await?;
            android.device().world(|world, now| world.stop(&id, now));
        }
        call.out(format!("Starting: {}\n", intent.shown())).await?;
        code = start_once(call, &intent).await?;
    }
    Ok(code)
}

async fn start_once(call: &mut Call<'_>, intent: &Intent) -> CommandResult {
    let android = call.android();
    let device = android.device();
    let begun = device.now();
    let (id, launched) = match intent.leads(&android) {
        IntentTarget::NoSuchClass(name) => {
            let text = format!("Error type 3\nError: Activity class {{{name}}} does not exist.\n");
            complain(call, intent, text).await?;
            return Ok(1);
        }
        IntentTarget::Nobody => {
            let text = format!(
                "Error: Activity not started, unable to resolve {}\n",
                intent.shown()
            );
            complain(call, intent, text).await?;
            return Ok(1);
        }
        IntentTarget::Home => {
            device.world(|world, now| world.home(now));
            return Ok(0);
        }
        IntentTarget::Link(url) => {
            let before = device.world(|world, _| world.front());
            match device.world(|world, now| world.open(&url, now)) {
                Some(id) => {
                    let kind = if before == id {
                        LaunchKind::AlreadyInFront
                    } else {
                        LaunchKind::Cold
                    };
                    let ready_at = device.now();
                    (id, Launched { kind, ready_at })
                }
                None => {
                    let text = format!(
                        "Error: Activity not started, unable to resolve {}\n",
                        intent.shown()
                    );
                    complain(call, intent, text).await?;
                    return Ok(1);
                }
            }
        }
        IntentTarget::Activity(id, class) => {
            let before = android.shown_activity();
            // It was found to be there; a fault may have removed it since.
            let Ok(launched) = device.launch(&id).await else {
                return Ok(1);
            };
            if id.as_str() != LAUNCHER {
                device.world(|world, now| world.show_activity(&id, &class, now));
            }
            let same = before == android.shown_activity();
            let kind = match launched.kind {
                LaunchKind::AlreadyInFront if !same => LaunchKind::Warm,
                kind => kind,
            };
            (id, Launched { kind, ..launched })
        }
    };
    android.log(
        'I',
        "ActivityTaskManager",
        format!(
            "START u0 {} from uid 2000",
            intent.shown().trim_start_matches("Intent ")
        ),
    );
    if launched.kind == LaunchKind::AlreadyInFront {
        let text = if intent.data.is_some() || intent.extras {
            "Warning: Activity not started, intent has been delivered to currently running top-most instance.\n"
        } else {
            "Warning: Activity not started, its current task has been brought to the front\n"
        };
        complain(call, intent, text.to_owned()).await?;
    }
    if intent.waits {
        wait_until(call, launched.ready_at).await;
        let (took, class) = (
            device.now().saturating_sub(begun),
            android.shown_activity().1,
        );
        let state = match launched.kind {
            LaunchKind::Cold => "COLD",
            LaunchKind::Warm => "WARM",
            LaunchKind::AlreadyInFront => "UNKNOWN (0)",
        };
        let ms = took.as_millis();
        call.out(format!(
            "Status: ok\nLaunchState: {state}\nActivity: {}\nTotalTime: {ms}\nWaitTime: {}\nComplete\n",
            short(&id, &class),
            ms + 3
        ))
        .await?;
    }
    Ok(0)
}

/// What a service's command prints when it throws. Source: AOSP `BasicShellCommandHandler`.
pub(super) fn exception(command: &str, what: &str) -> String {
    format!("\nException occurred while executing '{command}':\njava.lang.{what}\n")
}

/// Errors go to the standard error, but with `-W` to the output.
async fn complain(call: &Call<'_>, intent: &Intent, text: String) -> Result<(), Stop> {
    if intent.waits {
        call.out(text).await
    } else {
        call.err(text).await
    }
}

/// Lets the time pass until an app has drawn its first picture.
pub(super) async fn wait_until(call: &Call<'_>, ready_at: Duration) {
    let device = call.shell.android.device();
    let left = ready_at.saturating_sub(device.now());
    if !left.is_zero() {
        device.sleep(left).await;
    }
}

async fn service(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::of(args);
    call.out(format!("Starting service: {}\n", intent.shown()))
        .await?;
    let there = intent.component.as_ref().is_some_and(|(id, _)| {
        call.shell
            .android
            .device()
            .world(|world, _| world.installed_app(id).is_some())
    });
    if there {
        return Ok(0);
    }
    call.err("Error: Not found; no service started.\n").await?;
    Ok(255)
}

async fn broadcast(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let intent = Intent::of(args);
    let mut shown = intent.clone();
    shown.flags = Some("0x400000".to_owned());
    call.out(format!(
        "Broadcasting: {}\nBroadcast completed: result=0\n",
        shown.shown()
    ))
    .await?;
    Ok(0)
}

async fn monkey(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(
        call.rest(),
        &[
            "p",
            "c",
            "s",
            "--throttle",
            "--pct-touch",
            "--pct-motion",
            "--pct-syskeys",
            "-p",
            "-c",
        ],
    );
    let bash: String = call
        .rest()
        .iter()
        .map(|arg| format!("  bash arg: {arg}\n"))
        .collect();
    call.out(bash).await?;
    let named: String = (call.rest().iter())
        .map(|arg| format!(" arg: \"{arg}\"\n"))
        .collect();
    call.err(format!("args: [{}]\n{named}", call.rest().join(", ")))
        .await?;
    let package = options
        .value("p")
        .or(options.value("-p"))
        .unwrap_or("")
        .into();
    let android = call.android();
    let there = android
        .device()
        .world(|world, _| world.installed_app(&package));
    if there.is_none() {
        call.err("** No activities found to run, monkey aborted.\n")
            .await?;
        return Ok(252);
    }
    let count: u64 = options
        .rest
        .last()
        .and_then(|n| n.parse().ok())
        .unwrap_or(1);
    if let Ok(launched) = android.device().launch(&package).await {
        wait_until(
            call,
            launched
                .ready_at
                .min(android.device().now() + Duration::from_millis(300)),
        )
        .await;
    }
    call.out(format!(
        "Events injected: {count}\n## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)\n"
    ))
    .await?;
    Ok(0)
}

impl crate::android::Android {
    /// The app that shows, and the full class of its activity.
    pub(in crate::android) fn shown_activity(&self) -> (AppId, String) {
        use crate::world::WindowKind;
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
        use crate::world::WindowKind;
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

    /// Whether the keyboard is kept away. (`svc power stayon` and its like are elsewhere.)
    pub(in crate::android) fn keyboard_shown(&self) -> bool {
        self.device().world(|world, _| world.keyboard_shown())
    }

    /// Whether the screen is kept lit while charging.
    pub(in crate::android) fn stays_awake(&self) -> bool {
        lock(&self.state).stay_awake
    }
}
