//! `dumpsys`: what clients look for in what the services tell. Only the lines they look for, in
//! the form the services write them.

use crate::android::commands::intent::short;
use crate::android::commands::options::Options;
use crate::android::commands::system::clock_text;
use crate::android::commands::{Call, CommandResult, battery, services};
use crate::android::lock;
use crate::android::packages::apk_path;
use crate::app::{AppId, Permission};
use crate::world::{AppState, Display};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["t", "T", "--priority"]);
    if options.has("l") {
        call.out(services::list()).await?;
        return Ok(0);
    }
    let args: Vec<&str> = options.rest.iter().map(String::as_str).collect();
    let android = call.android();
    let text = match args.as_slice() {
        ["window", "displays" | "d", ..] => window_displays(call),
        ["window", ..] => window(call),
        ["activity", "services", name, ..] => services(call, name),
        ["activity", "processes" | "p", ..] => processes(call),
        ["activity", "top", ..] => top(call),
        ["activity", ..] => activities(call),
        ["package", "packages"] | ["package"] => {
            let apps: Vec<AppId> =
                android.device().world(|world, _| world.installed().map(|app| app.id).collect());
            apps.iter().filter_map(|id| package_text(call, id)).collect()
        }
        ["package", name, ..] => return package(call, name).await,
        ["display", ..] => display(call),
        ["battery", rest @ ..] => return battery::run(call, rest).await,
        ["power", ..] => power(call),
        ["input", ..] => input(call),
        ["input_method", ..] => input_method(call),
        ["SurfaceFlinger", ..] => surface_flinger(call),
        ["accessibility", ..] => format!(
            "ACCESSIBILITY MANAGER (dumpsys accessibility)\n\nUser state[\n     attributes:{{id=0, touchExplorationEnabled=false, installedServiceCount=0}}\n     Bound services:{{}}\n     Enabled services:{{{}}}]\n",
            android.setting("secure", "enabled_accessibility_services").unwrap_or_default()
        ),
        ["deviceidle", ..] => String::new(),
        ["user", ..] => "Users:\n  UserInfo{0:Owner:4c13} serialNo=0 isPrimary=true\n    State: RUNNING_UNLOCKED\n".to_owned(),
        ["wifi", ..] => {
            let on = !lock(&android.state).wifi_off;
            format!("Wi-Fi is {}\n", if on { "enabled" } else { "disabled" })
        }
        ["meminfo", rest @ ..] => meminfo(call, rest),
        ["cpuinfo", ..] => "Load: 0.42 / 0.38 / 0.31\nCPU usage from 10000ms to 0ms ago:\n0% TOTAL: 0% user + 0% kernel\n".to_owned(),
        ["gfxinfo", name, ..] => format!("Applications Graphics Acceleration Info:\nUptime: 1000 Realtime: 1000\n\n** Graphics info for pid 1 [{name}] **\n\nTotal frames rendered: 120\nJanky frames: 2 (1.67%)\n50th percentile: 6ms\n90th percentile: 9ms\n95th percentile: 11ms\n99th percentile: 18ms\n"),
        ["diskstats", ..] => "Data-Free: 91131988K / 115249236K total = 79% free\n".to_owned(),
        ["notification" | "connectivity" | "alarm" | "batterystats" | "statusbar" | "telephony.registry" | "usb" | "gfxinfo", ..] => String::new(),
        [] => "Currently running services:\n".to_owned(),
        // It is there, but nobody made up what it says.
        [other, ..] if services::is_there(other) => {
            call.unhandled();
            return Ok(0);
        }
        [other, ..] => {
            call.unhandled();
            call.err(format!("Can't find service: {other}\n")).await?;
            return Ok(0);
        }
    };
    call.out(text).await?;
    Ok(0)
}

fn focus(call: &Call<'_>) -> String {
    let window = call.shell.android.focused_window();
    window.unwrap_or_else(|| "null".to_owned())
}

fn focused_app(call: &Call<'_>) -> String {
    let (app, class) = call.shell.android.shown_activity();
    format!("ActivityRecord{{5c3a1f u0 {} t12}}", short(&app, &class))
}

fn window(call: &Call<'_>) -> String {
    let android = &call.shell.android;
    let (app, class) = android.shown_activity();
    let rotation = android.device().world(|world, _| world.rotation().number());
    let lit = android
        .device()
        .world(|world, _| world.display() == Display::On);
    format!(
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mAwake={lit}\n    screenState=SCREEN_STATE_{}\n    showing=false\n    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false\nWINDOW MANAGER WINDOWS (dumpsys window windows)\n  Window #1 Window{{1a2b3c u0 {app}/{class}}}:\n    mDisplayId=0 rootTaskId=12\n    mOwnerUid=10200 showForAllUsers=false package={app} appop=NONE\n    isOnScreen=true\n    isVisible=true\n  mCurrentFocus={}\n  mFocusedApp={}\n  mInputMethodWindow=Window{{2b3c4d u0 InputMethod}}\n  mRotation={rotation}\n  mCurrentRotation=ROTATION_{}\n  mDisplayFrozen=false windows=1 client=false apps=0\n",
        if lit { "ON" } else { "OFF" },
        focus(call),
        focused_app(call),
        u32::from(rotation) * 90,
    )
}

fn window_displays(call: &Call<'_>) -> String {
    let device = call.shell.android.device();
    let shape = device.shape();
    let rotation = device.world(|world, _| world.rotation());
    let screen = device.screen();
    let (w, h) = rotation.turn(screen.width_px, screen.height_px);
    format!(
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0\n    init={}x{} {}dpi cur={w}x{h} app={w}x{h} rng={w}x{w}-{h}x{h}\n    deferred=false mLayoutNeeded=false\n  mLayoutSeq=1\n  mCurrentFocus={}\n  mFocusedApp={}\n  DisplayRotation\n    mCurrentRotation=ROTATION_{}\n",
        shape.width_px,
        shape.height_px,
        shape.density(),
        focus(call),
        focused_app(call),
        u32::from(rotation.number()) * 90,
    )
}

fn activities(call: &Call<'_>) -> String {
    let (app, class) = call.shell.android.shown_activity();
    let record = format!("ActivityRecord{{5c3a1f u0 {} t12}}", short(&app, &class));
    format!(
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\nDisplay #0 (activities from top to bottom):\n  * Task{{7a1 #12 type=standard A=10200:{app}}}\n    topResumedActivity={record}\n    * Hist  #0: {record}\n      packageName={app} processName={app}\n      state=RESUMED\n  ResumedActivity: {record}\n  mResumedActivity: {record}\n  mFocusedApp={record}\n"
    )
}

fn top(call: &Call<'_>) -> String {
    let (app, class) = call.shell.android.shown_activity();
    let installed = call
        .shell
        .android
        .device()
        .world(|world, _| world.installed_app(&app));
    let pid = installed.and_then(|app| app.pid).unwrap_or(1833);
    format!(
        "TASK {app} id=12 userId=0\n  ACTIVITY {} 5c3a1f pid={pid}\n    Local Activity 7f1 State:\n      mResumed=true mStopped=false mFinished=false\n",
        short(&app, &class)
    )
}

fn processes(call: &Call<'_>) -> String {
    let android = &call.shell.android;
    let lines: String = (android.processes().iter())
        .filter(|p| p.name.contains('.'))
        .map(|p| {
            format!(
                "  *APP* UID 10200 ProcessRecord{{1a2b {}:{}/u0a200}}\n",
                p.pid, p.name
            )
        })
        .collect();
    format!(
        "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n  All known processes:\n{lines}"
    )
}

fn services(call: &Call<'_>, name: &str) -> String {
    let package = AppId::from(name.split('/').next().unwrap_or(""));
    let device = call.shell.android.device();
    let state = device.world(|world, _| world.app_state(&package));
    let head = "ACTIVITY MANAGER SERVICES (dumpsys activity services)\n";
    // An app that was started once keeps its helper service in the foreground.
    match state {
        AppState::Foreground | AppState::Background => format!(
            "{head}  User 0 active services:\n  * ServiceRecord{{3d4e5f u0 {package}/.Service}}\n    packageName={package}\n    isForeground=true foregroundId=1\n"
        ),
        AppState::NotRunning | AppState::NotInstalled => format!("{head}  (nothing)\n"),
    }
}

/// `dumpsys package NAME` and `pm dump NAME`.
pub(super) async fn package(call: &mut Call<'_>, name: &str) -> CommandResult {
    let text = match package_text(call, &AppId::from(name)) {
        Some(text) => text,
        None => format!("Dexopt state:\n  Unable to find package: {name}\n"),
    };
    call.out(text).await?;
    Ok(0)
}

fn package_text(call: &Call<'_>, id: &AppId) -> Option<String> {
    let android = &call.shell.android;
    let app = android.device().world(|world, _| world.installed_app(id))?;
    let package = android.package(id);
    let stamp = |since: std::time::Duration| {
        let born = android
            .device()
            .clock()
            .saturating_sub(android.device().now());
        clock_text(born + since, "%F %T")
    };
    let sdk = android.device().shape().api_level;
    let path = apk_path(&app);
    let requested: String = Permission::ALL
        .iter()
        .map(|p| format!("      {}\n", p.android()))
        .collect();
    let granted: String = (Permission::ALL.iter())
        .map(|p| {
            format!(
                "        {}: granted={}, flags=[ USER_SET ]\n",
                p.android(),
                app.granted.contains(p)
            )
        })
        .collect();
    Some(format!(
        "Activity Resolver Table:\n  Non-Data Actions:\n      android.intent.action.MAIN:\n        4f1a2b {main} filter 9c8d7e\n          Action: \"android.intent.action.MAIN\"\n          Category: \"android.intent.category.LAUNCHER\"\n\nPackages:\n  Package [{id}] (1f2e3d):\n    userId=10200\n    pkg=Package{{1f2e3d {id}}}\n    codePath={dir}\n    resourcePath={dir}\n    primaryCpuAbi=arm64-v8a\n    versionCode={code} minSdk=24 targetSdk={sdk}\n    versionName={version}\n    signatures=PackageSignatures{{6a5b4c version:2, signatures:[a1b2c3d4], past signatures:[]}}\n    pkgFlags=[ {system}HAS_CODE ALLOW_CLEAR_USER_DATA ]\n    dataDir=/data/user/0/{id}\n    timeStamp={updated}\n    firstInstallTime={installed}\n    lastUpdateTime={updated}\n    requested permissions:\n{requested}    User 0: ceDataInode=1 installed=true hidden=false suspended=false stopped=false enabled=0\n      runtime permissions:\n{granted}\n",
        main = short(id, &app.main_activity),
        dir = crate::android::files::parent_of(&path),
        code = package.version_code,
        version = app.version,
        system = if app.system { "SYSTEM " } else { "" },
        installed = stamp(app.installed_at),
        updated = stamp(app.updated_at),
    ))
}

fn display(call: &Call<'_>) -> String {
    let device = call.shell.android.device();
    let shape = device.shape();
    let rotation = device.world(|world, _| world.rotation());
    let state = if device.world(|world, _| world.display() == Display::On) {
        "ON"
    } else {
        "OFF"
    };
    let screen = device.screen();
    let (w, h) = rotation.turn(screen.width_px, screen.height_px);
    format!(
        "DISPLAY MANAGER (dumpsys display)\n  mGlobalDisplayState={state}\n  mScreenState={state}\n  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:4630946861623396481', physicalPort=0, orientation={}, logicalFrame=Rect(0, 0 - {w}, {h}), physicalFrame=Rect(0, 0 - {w}, {h}), deviceWidth={w}, deviceHeight={h}}}]\nDisplay Devices: size=1\n  DisplayDeviceInfo{{\"Built-in Screen\": uniqueId=\"local:4630946861623396481\", {} x {}, density {}, state {state}}}\n",
        rotation.number(),
        shape.width_px,
        shape.height_px,
        shape.density(),
    )
}

fn power(call: &Call<'_>) -> String {
    let android = &call.shell.android;
    let lit = android
        .device()
        .world(|world, _| world.display() == Display::On);
    let (awake, state) = if lit {
        ("Awake", "ON")
    } else {
        ("Asleep", "OFF")
    };
    format!(
        "POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mWakefulness={awake}\n  mWakefulnessChanging=false\n  mIsPowered=true\n  mStayOn={}\n  mBatteryLevel={}\n  mHoldingWakeLockSuspendBlocker={lit}\n  mHoldingDisplaySuspendBlocker={lit}\nDisplay Power: state={state}\n",
        android.stays_awake(),
        android.device().battery(),
    )
}

fn input(call: &Call<'_>) -> String {
    let rotation = call
        .shell
        .android
        .device()
        .world(|world, _| world.rotation().number());
    format!(
        "INPUT MANAGER (dumpsys input)\n\nInput Reader State:\n  Device 2: touchscreen\n    Viewport INTERNAL: displayId=0, orientation={rotation}\n    SurfaceOrientation: {rotation}\nInput Dispatcher State:\n  FocusedWindows:\n    displayId=0, name='{}'\n",
        focus(call)
    )
}

fn input_method(call: &Call<'_>) -> String {
    let shown = call.shell.android.keyboard_shown();
    format!(
        "Current Input Method Manager state:\n  mCurMethodId=com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME\n  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false mInputShown={shown}\n  mIsInputViewShown={shown}\n"
    )
}

fn surface_flinger(call: &Call<'_>) -> String {
    if call.rest().iter().any(|arg| arg == "--display-id") {
        return "Display 4630946861623396481 (HWC display 0): port=0 pnpId=VRT displayName=\"Built-in Screen\"\n".to_owned();
    }
    if call.rest().iter().any(|arg| arg == "--list") {
        let (app, class) = call.shell.android.shown_activity();
        return format!("{app}/{class}#1\nStatusBar#1\nNavigationBar0#1\n");
    }
    "Build configuration: virtual\n".to_owned()
}

fn meminfo(call: &Call<'_>, args: &[&str]) -> String {
    let name = args.iter().find(|arg| !arg.starts_with('-'));
    let known = name.and_then(|name| {
        let id = AppId::from(*name);
        call.shell
            .android
            .device()
            .world(|world, _| world.installed_app(&id)?.pid)
    });
    match (name, known) {
        (Some(name), Some(pid)) => format!(
            "Applications Memory Usage (in Kilobytes):\nUptime: 1000 Realtime: 1000\n\n** MEMINFO in pid {pid} [{name}] **\n\n App Summary\n           TOTAL PSS:    91204            TOTAL RSS:   182408       TOTAL SWAP (KB):        0\n"
        ),
        (Some(name), None) => format!("No process found for: {name}\n"),
        (None, _) => {
            "Total RAM: 7,864,320K (status normal)\n Free RAM: 4,194,304K\n Used RAM: 3,670,016K\n"
                .to_owned()
        }
    }
}
