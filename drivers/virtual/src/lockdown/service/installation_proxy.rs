//! `com.apple.mobile.installation_proxy`: which apps are installed, and removing one.

use crate::app::AppId;
use crate::device::Device;
use crate::lockdown::channel::Channel;
use crate::lockdown::values;
use crate::plist::{Dictionary, Value, dictionary, text};
use crate::usbmux::frame::FrameError;
use crate::world::Installed;

/// How many apps go into one answer to `Browse`.
const BATCH: usize = 20;
/// Under which id the app is installed whose process is WebDriverAgent.
const RUNNER: &str = "com.facebook.WebDriverAgentRunner.xctrunner";

pub(super) async fn serve(mut channel: Channel, device: &Device) -> Result<(), FrameError> {
    while let Some(request) = channel.read().await? {
        for answer in answers(&request, device) {
            channel.write(answer).await?;
        }
    }
    Ok(())
}

fn answers(request: &Dictionary, device: &Device) -> Vec<Dictionary> {
    let none = Dictionary::new();
    let options = request
        .get("ClientOptions")
        .and_then(Value::as_dictionary)
        .unwrap_or(&none);
    match text(request, "Command").unwrap_or_default() {
        "Browse" => browse(options, &apps(device)),
        "Lookup" => vec![lookup(options, &apps(device))],
        "Uninstall" => uninstall(request, device),
        // Installing takes a file that came through AFC, which this phone does not have.
        command => {
            device.note_unhandled(&format!("installation_proxy {command}"));
            vec![failure("UnknownCommand", "the command is not known")]
        }
    }
}

/// What is installed, and the app in which WebDriverAgent came.
fn apps(device: &Device) -> Vec<Installed> {
    let mut apps: Vec<Installed> = device.world(|world| world.installed().collect());
    if let Some(like) = apps.first().cloned() {
        apps.push(Installed {
            id: AppId::from(RUNNER),
            name: "WebDriverAgentRunner-Runner".to_owned(),
            version: "1.0".to_owned(),
            system: false,
            ..like
        });
    }
    apps
}

fn browse(options: &Dictionary, apps: &[Installed]) -> Vec<Dictionary> {
    let listed: Vec<Value> = apps
        .iter()
        .filter(|app| asked_for(options, app))
        .map(|app| Value::Dictionary(describe(options, app)))
        .collect();
    let mut answers = Vec::new();
    for (number, batch) in listed.chunks(BATCH).enumerate() {
        answers.push(dictionary([
            ("CurrentAmount", Value::from(batch.len() as u64)),
            ("CurrentIndex", Value::from((number * BATCH) as u64)),
            ("CurrentList", Value::Array(batch.to_vec())),
            ("Status", "BrowsingApplications".into()),
            ("Total", Value::from(listed.len() as u64)),
        ]));
    }
    answers.push(dictionary([("Status", "Complete".into())]));
    answers
}

fn lookup(options: &Dictionary, apps: &[Installed]) -> Dictionary {
    let ids = options.get("BundleIDs").and_then(Value::as_array);
    let named = |app: &&Installed| {
        ids.is_none_or(|ids| ids.iter().any(|id| id.as_string() == Some(app.id.as_str())))
    };
    let found: Dictionary = apps
        .iter()
        .filter(named)
        .filter(|app| asked_for(options, app))
        .map(|app| {
            let about = Value::Dictionary(describe(options, app));
            (app.id.0.clone(), about)
        })
        .collect();
    dictionary([
        ("LookupResult", Value::Dictionary(found)),
        ("Status", "Complete".into()),
    ])
}

fn uninstall(request: &Dictionary, device: &Device) -> Vec<Dictionary> {
    let id = text(request, "ApplicationIdentifier").unwrap_or_default();
    let id = AppId::from(id);
    let app = device.world(|world| world.installed_app(&id));
    if app.is_some_and(|app| app.system) {
        return vec![failure("ApplicationVerificationFailed", "part of iOS")];
    }
    // An app that is not there is removed with success, on a phone, too.
    device.world(|world| world.uninstall(&id));
    let progress = dictionary([
        ("PercentComplete", Value::from(50_u64)),
        ("Status", "RemovingApplication".into()),
    ]);
    vec![progress, dictionary([("Status", "Complete".into())])]
}

fn failure(error: &str, description: &str) -> Dictionary {
    dictionary([
        ("Error", error.into()),
        ("ErrorDescription", description.into()),
    ])
}

fn asked_for(options: &Dictionary, app: &Installed) -> bool {
    match text(options, "ApplicationType") {
        Some("User") => !app.system,
        Some("System") => app.system,
        _ => true,
    }
}

fn describe(options: &Dictionary, app: &Installed) -> Dictionary {
    let id = app.id.as_str();
    let (kind, folder) = if app.system {
        ("System", "/Applications".to_owned())
    } else {
        let folder = "/private/var/containers/Bundle/Application";
        ("User", format!("{folder}/{id}"))
    };
    let executable: String = app.name.split_whitespace().collect();
    let container = format!("/private/var/mobile/Containers/Data/{id}");
    let mut about = values::recorded(["app", ""]);
    about.extend(dictionary([
        ("ApplicationType", kind.into()),
        ("CFBundleDisplayName", app.name.as_str().into()),
        ("CFBundleExecutable", executable.as_str().into()),
        ("CFBundleIdentifier", id.into()),
        ("CFBundleName", app.name.as_str().into()),
        ("CFBundleShortVersionString", app.version.as_str().into()),
        ("CFBundleVersion", app.version.as_str().into()),
        ("Container", container.into()),
        ("Path", format!("{folder}/{executable}.app").into()),
    ]));
    about.sort_keys();
    let wanted = options.get("ReturnAttributes").and_then(Value::as_array);
    if let Some(wanted) = wanted {
        about.retain(|key, _| wanted.iter().any(|name| name.as_string() == Some(key)));
    }
    about
}
