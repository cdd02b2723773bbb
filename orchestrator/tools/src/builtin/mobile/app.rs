//! Tools for apps and for the phone as a whole.

use packtrain_drivers::{AppCommand, Command, LaunchMode, Observation, Platform};
use serde_json::{Value, json};

use super::app;
use crate::builtin::{Nothing, caseless, yes};
use crate::call::Call;
use crate::mobile::PHONES;
use crate::tool::{Answer, ToolError};

tools! { PHONES;
    /// Opens an app: as if newly installed (REINSTALL), afresh with its data kept
    /// (FORCE_RESTART), or as it was left (RESUME).
    Action launchApp LaunchApp(reasoning) {
        /// Package name or bundle id.
        app_id: String,
        /// REINSTALL, RESUME or FORCE_RESTART.
        #[serde(default, deserialize_with = "caseless")]
        launch_mode: Mode,
    }
    |arguments, call| launch(call, arguments.app_id, arguments.launch_mode.into()).await;

    /// Ends an app.
    Action stopApp App {
        /// Package name or bundle id.
        app_id: String,
    }
    |arguments, call| app(call, AppCommand::Stop(arguments.app_id)).await;

    /// Deletes an app's data, as if it had just been installed.
    Action mobile_clearAppData App
    .internal()
    |arguments, call| app(call, AppCommand::Clear(arguments.app_id)).await;

    /// Opens a URL in the browser, or in the app that claims it.
    Action openUrl OpenUrl {
        /// The address, with its scheme.
        url: String,
    }
    |arguments, call| open_url(call, &arguments.url).await;

    /// Connects the phone to the network, or disconnects it as in airplane mode.
    Action networkConnection Network {
        /// Whether there shall be a network.
        connected: bool,
    }
    |Network { connected }, call| app(call, AppCommand::Network { connected }).await;

    /// Returns the ids of the installed apps as JSON: `{"appIds": [...]}`, sorted.
    Query mobile_listInstalledApps Nothing
    |Nothing {}, call| {
        let apps = installed(call, true).await?;
        let ids: Vec<_> = apps.iter().map(|app| &app["id"]).collect();
        Ok(Answer::data(json!({ "appIds": ids })))
    };

    /// Returns what is known of the installed apps as JSON: `{"apps": [{appId,
    /// isSystemApp, label, version}]}`, sorted by id.
    Query mobile_listInstalledAppsDetailed ListDetailed {
        /// The system's own apps too.
        #[serde(default = "yes")]
        include_system_apps: bool,
    }
    .internal()
    |arguments, call| {
        let apps = installed(call, arguments.include_system_apps).await?;
        let apps = apps.iter().map(|app| {
            json!({
                "appId": app["id"],
                "isSystemApp": app["system"],
                "label": app["name"],
                "version": app["version"],
            })
        });
        Ok(Answer::data(json!({ "apps": apps.collect::<Vec<_>>() })))
    };
}

words! {
    #[derive(Default)]
    enum Mode as "SCREAMING_SNAKE_CASE", for LaunchMode { #[default] Reinstall, Resume, ForceRestart }
}

/// Opens an app. Apple's own apps cannot be reinstalled and keep their data.
pub(super) async fn launch(
    call: &Call<'_>,
    id: String,
    mode: LaunchMode,
) -> Result<Answer, ToolError> {
    if id.trim().is_empty() {
        return Err(ToolError::failed("`appId` is empty"));
    }
    let is_apples = call.session.platform() == Platform::Ios && id.starts_with("com.apple.");
    let (mode, note) = match mode {
        LaunchMode::Reinstall if is_apples => (
            LaunchMode::ForceRestart,
            Some("iOS's own apps cannot be reinstalled; it was restarted with its data"),
        ),
        mode @ (LaunchMode::Reinstall | LaunchMode::Resume | LaunchMode::ForceRestart) => {
            (mode, None)
        }
    };
    let mut answer = app(call, AppCommand::Launch { id, mode }).await?;
    answer.report.notes.extend(note.map(str::to_owned));
    Ok(answer)
}

/// Opens an address.
pub(super) async fn open_url(call: &Call<'_>, url: &str) -> Result<Answer, ToolError> {
    let url = url.trim();
    if url.is_empty() {
        return Err(ToolError::failed("`url` is empty"));
    }
    app(call, AppCommand::OpenUrl(url.to_owned())).await
}

/// The installed apps as the device lists them, sorted by id.
async fn installed(call: &Call<'_>, system: bool) -> Result<Vec<Value>, ToolError> {
    let answer = call
        .device(Command::App(AppCommand::List { system }))
        .await?;
    let Observation::Json(Value::Array(mut apps)) = answer else {
        return Err(ToolError::failed("the device returned no list of apps"));
    };
    apps.retain(|app| app["id"].is_string() && (system || app["system"] != json!(true)));
    apps.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
    Ok(apps)
}
