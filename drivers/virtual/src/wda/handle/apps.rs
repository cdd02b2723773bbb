//! Apps: starting, stopping, asking after them, and the way home.

use std::time::Duration;

use serde_json::{Value, json};

use super::Handler;
use super::looking::facts;
use crate::app::AppId;
use crate::faults::{Event, Fault};
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::settings::double;
use crate::world::{AppState, SPRINGBOARD};

impl Handler<'_> {
    pub(super) async fn app_launch(&mut self) -> Result<Value, WdaError> {
        let id = self.bundle_id()?;
        let ran = self.runs(&id);
        self.launch(&id).await?;
        if !ran {
            let told = |name, none| self.arguments.get(name).cloned().unwrap_or(none);
            let process = json!({
                "args": told("arguments", json!([])),
                "env": told("environment", json!({})),
            });
            self.speak(&id, &process);
            self.state.processes.insert(id.clone(), process);
        }
        self.expect_to_run(&id, true);
        Ok(Value::Null)
    }

    pub(super) async fn app_launch_unattached(&mut self) -> Result<Value, WdaError> {
        let id = self.bundle_id()?;
        let launched = self.launch(&id).await;
        launched.map_err(|_| WdaError::unknown("LSApplicationWorkspace failed to launch app"))?;
        Ok(Value::Null)
    }

    pub(super) async fn app_activate(&mut self) -> Result<Value, WdaError> {
        let id = self.bundle_id()?;
        self.launch(&id).await?;
        Ok(Value::Null)
    }

    pub(super) fn app_terminate(&mut self) -> Result<Value, WdaError> {
        let id = self.bundle_id()?;
        self.expect_to_run(&id, false);
        let ran = self.runs(&id);
        self.terminate(&id);
        Ok(ran.into())
    }

    pub(super) fn app_state(&mut self) -> Result<Value, WdaError> {
        let id = AppId::from(self.bundle_id()?.as_str());
        // (`XCUIApplicationState`)
        let state = match self.world(|world, _| world.app_state(&id)) {
            AppState::NotInstalled => 0,
            AppState::NotRunning => 1,
            AppState::Background => 3,
            AppState::Foreground => 4,
        };
        Ok(state.into())
    }

    pub(super) fn apps_list(&self) -> Value {
        let app = self.world(|world, _| facts(world, world.front().as_str()));
        json!([{"pid": app.pid, "bundleId": app.bundle_id}])
    }

    pub(super) fn active_app_info(&mut self) -> Result<Value, WdaError> {
        let app = self.active_app()?;
        let none = || json!({"args": [], "env": {}});
        let process = self.state.processes.get(&app.bundle_id).cloned();
        Ok(json!({
            "pid": app.pid,
            "bundleId": app.bundle_id,
            "name": "",
            "processArguments": process.unwrap_or_else(none),
        }))
    }

    pub(super) async fn deactivate_app(&mut self) -> Result<Value, WdaError> {
        let app = self.active_app()?;
        let away = self.arguments.get("duration").map_or(3.0, double);
        self.act().await;
        self.world(|world, now| world.home(now));
        self.spend(Duration::from_secs_f64(away.clamp(0.0, 600.0)))
            .await;
        self.launch(&app.bundle_id).await?;
        Ok(Value::Null)
    }

    pub(super) async fn homescreen(&mut self) -> Value {
        self.act().await;
        self.world(|world, now| world.home(now));
        Value::Null
    }

    pub(super) async fn open_url(&mut self) -> Result<Value, WdaError> {
        let Some(url) = self.arguments.text("url").map(str::to_owned) else {
            return Err(WdaError::invalid_argument("URL is required"));
        };
        let opened = self.open_link(&url).await;
        opened.map_err(|text| WdaError::described(ErrorKind::UnknownError, &text))?;
        Ok(Value::Null)
    }

    /// Opens a link in the app that claims it, and waits until that app shows.
    ///
    /// # Errors
    /// The words for why it cannot be opened.
    pub(super) async fn open_link(&self, url: &str) -> Result<(), String> {
        if !url.contains(':') {
            return Err(format!("'{url}' is not a valid URL"));
        }
        self.act().await;
        let opened = self.world(|world, now| world.open(url, now));
        if opened.is_none() {
            return Err(format!(
                "Cannot open '{url}' with the default application assigned for it"
            ));
        }
        self.await_first_picture().await;
        Ok(())
    }

    /// Has an app that was just started speak the language of its arguments, of which Foundation
    /// takes the one before as a setting's name: `-AppleLanguages (de)`.
    pub(super) fn speak(&self, id: &str, process: &Value) {
        let arguments = process.get("args").and_then(Value::as_array);
        let mut texts = arguments.into_iter().flatten().filter_map(Value::as_str);
        texts.find(|text| *text == "-AppleLanguages");
        let list = texts.next().map(|list| list.trim_matches(['(', ')']));
        let first = list.and_then(|list| list.split(',').next());
        let language = first.map(|first| first.trim().trim_matches('"').to_owned());
        self.world(|world, now| world.set_language(&id.into(), language, now));
    }

    /// Brings an app to the front and waits until it shows.
    pub(super) async fn launch(&self, id: &str) -> Result<(), WdaError> {
        for fault in self.device().fire_faults(Event::Launch(id)) {
            match fault {
                Fault::Delay(time) => self.device().sleep(time.0).await,
                Fault::Fail(text) => return Err(WdaError::unknown(text)),
                Fault::IgnoreLaunch => return Ok(()),
                _ => {}
            }
        }
        let app = AppId::from(id);
        if id != SPRINGBOARD
            && self.world(|world, _| world.app_state(&app)) == AppState::NotInstalled
        {
            return Err(not_installed(id));
        }
        let launched = self.world(|world, now| world.launch(&app, now));
        launched.map_err(|_| not_installed(id))?;
        self.await_first_picture().await;
        Ok(())
    }

    async fn await_first_picture(&self) {
        let deadline = self.device().now() + Duration::from_secs(60);
        self.device()
            .wait_for(deadline, |world, _| (!world.starting()).then_some(()))
            .await;
    }

    pub(super) fn terminate(&self, id: &str) {
        self.world(|world, now| world.stop(&AppId::from(id), now));
    }

    /// Whether it has a process.
    pub(super) fn runs(&self, id: &str) -> bool {
        let state = self.world(|world, _| world.app_state(&AppId::from(id)));
        matches!(state, AppState::Background | AppState::Foreground)
    }

    fn expect_to_run(&mut self, id: &str, expected: bool) {
        let session = self.session();
        if let Some(tested) = session.and_then(|session| session.tested.as_mut())
            && tested.bundle_id == id
        {
            tested.expected_to_run = expected;
        }
    }

    fn bundle_id(&self) -> Result<String, WdaError> {
        self.arguments.required("bundleId").map(str::to_owned)
    }
}

fn not_installed(id: &str) -> WdaError {
    WdaError::unknown(format!(
        "The request to open \"{id}\" failed. Original error: Application info provider (FBSApplicationLibrary) returned nil for \"{id}\""
    ))
}
