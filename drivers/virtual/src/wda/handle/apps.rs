//! Apps: starting, stopping, asking after them, and the way home.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::looking::facts;
use super::{Done, Handler};
use crate::app::AppId;
use crate::faults::{Event, Fault};
use crate::wda::error::WdaError;
use crate::world::{AppState, SPRINGBOARD};

impl Handler<'_> {
    pub(super) async fn app_launch(&mut self) -> Done {
        let id = self.bundle_id()?;
        let ran = self.runs(&id);
        self.launch(&id).await?;
        if !ran {
            self.started_with(&id, &self.arguments.body().clone());
        }
        self.expect_to_run(&id, true);
        Ok(())
    }

    pub(super) fn app_terminate(&mut self) -> Result<Value, WdaError> {
        let id = self.bundle_id()?;
        self.expect_to_run(&id, false);
        let ran = self.runs(&id);
        self.terminate(&id);
        Ok(ran.into())
    }

    pub(super) fn app_state(&mut self) -> Result<Value, WdaError> {
        // (`XCUIApplicationState`)
        let state = match self.state_of(&self.bundle_id()?) {
            AppState::NotInstalled => 0,
            AppState::NotRunning => 1,
            AppState::Background => 3,
            AppState::Foreground => 4,
        };
        Ok(state.into())
    }

    pub(super) fn apps_list(&self) -> Value {
        let app = self.world(|world| facts(world, world.front().as_str()));
        json!([{"pid": app.pid, "bundleId": app.bundle_id}])
    }

    pub(super) fn active_app_info(&mut self) -> Result<Value, WdaError> {
        let app = self.active_app()?;
        let process = self.state.processes.get(&app.bundle_id).cloned();
        Ok(json!({
            "pid": app.pid,
            "bundleId": app.bundle_id,
            "name": "",
            "processArguments": process.unwrap_or_else(|| json!({"args": [], "env": {}})),
        }))
    }

    pub(super) async fn deactivate_app(&mut self) -> Done {
        let app = self.active_app()?;
        let away = self.arguments.number("duration").unwrap_or(3.0);
        self.homescreen().await;
        let away = Duration::from_secs_f64(away.clamp(0.0, 600.0));
        self.spend(away).await;
        self.launch(&app.bundle_id).await
    }

    pub(super) async fn homescreen(&mut self) {
        self.act().await;
        self.world(|world| world.home());
    }

    pub(super) async fn open_url(&mut self) -> Done {
        let url = self.arguments.text("url");
        let url = url.ok_or_else(|| WdaError::invalid_argument("URL is required"))?;
        let opened = self.open_link(url).await;
        opened.map_err(|text| WdaError::failed(&text))
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
        let opened = self.world(|world| world.open(url));
        opened.ok_or_else(|| {
            format!("Cannot open '{url}' with the default application assigned for it")
        })?;
        self.await_first_picture().await;
        Ok(())
    }

    /// Remembers what an app was just started with, and has it speak the language of its
    /// arguments, of which Foundation takes the one before as a setting's name:
    /// `-AppleLanguages (de)`.
    pub(super) fn started_with(&mut self, id: &str, told: &Map<String, Value>) {
        let told = |name, none| told.get(name).cloned().unwrap_or(none);
        let (args, env) = (told("arguments", json!([])), told("environment", json!({})));
        let mut texts = args
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        texts.find(|text| *text == "-AppleLanguages");
        let list = texts.next().map(|list| list.trim_matches(['(', ')']));
        let first = list.and_then(|list| list.split(',').next());
        let language = first.map(|first| first.trim().trim_matches('"').to_owned());
        self.world(|world| world.set_language(&id.into(), language));
        let process = json!({"args": args, "env": env});
        self.state.processes.insert(id.to_owned(), process);
    }

    /// Brings an app to the front and waits until it shows.
    pub(super) async fn launch(&self, id: &str) -> Done {
        for fault in self.device().fire_faults(Event::Launch(id)) {
            match fault {
                Fault::Delay(time) => self.device().sleep(time.0).await,
                Fault::Fail(text) => return Err(WdaError::unknown(text)),
                Fault::IgnoreLaunch => return Ok(()),
                _ => {}
            }
        }
        let there = id == SPRINGBOARD || self.state_of(id) != AppState::NotInstalled;
        let launched = there && self.world(|world| world.launch(&id.into()).is_ok());
        if !launched {
            return Err(WdaError::unknown(format!(
                "The request to open \"{id}\" failed. Original error: Application info provider (FBSApplicationLibrary) returned nil for \"{id}\""
            )));
        }
        self.await_first_picture().await;
        Ok(())
    }

    async fn await_first_picture(&self) {
        let deadline = self.device().now() + Duration::from_secs(60);
        let shows = self
            .device()
            .wait_for(deadline, |world| (!world.starting()).then_some(()));
        shows.await;
    }

    pub(super) fn terminate(&self, id: &str) {
        self.world(|world| world.stop(&AppId::from(id)));
    }

    /// Whether it has a process.
    pub(super) fn runs(&self, id: &str) -> bool {
        matches!(
            self.state_of(id),
            AppState::Background | AppState::Foreground
        )
    }

    fn state_of(&self, id: &str) -> AppState {
        self.world(|world| world.app_state(&AppId::from(id)))
    }

    fn expect_to_run(&mut self, id: &str, expected: bool) {
        let session = self.session();
        if let Some(tested) = session.and_then(|session| session.tested.as_mut())
            && tested.bundle_id == id
        {
            tested.expected_to_run = expected;
        }
    }

    pub(super) fn bundle_id(&self) -> Result<String, WdaError> {
        let id = self.arguments.text("bundleId").map(str::to_owned);
        id.ok_or_else(|| WdaError::invalid_argument("'bundleId' must be set to a string"))
    }
}
