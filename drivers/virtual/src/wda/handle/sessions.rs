//! Sessions: making and ending the one there is, its settings, and what WebDriverAgent says of
//! itself.

use serde_json::{Map, Value, json};

use super::Handler;
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::request::unrecognized;
use crate::wda::route::recorded;
use crate::wda::session::{ElementCache, Session, SessionId, TestedApp};
use crate::wda::settings::{Settings, truthy};

/// A capability that no WebDriverAgent has, under a prefix of its own as W3C has it: the app
/// begins as after its installation. A phone made for tests can do that; who asks a real one reads
/// in its answer that it did not.
const CLEAR_APP_DATA: &str = "packtrain:clearAppData";
/// The capabilities W3C names, which no prefix may stand before.
const STANDARD: [&str; 9] = [
    "acceptInsecureCerts",
    "browserName",
    "browserVersion",
    "pageLoadStrategy",
    "platformName",
    "proxy",
    "setWindowRect",
    "timeouts",
    "unhandledPromptBehavior",
];

impl Handler<'_> {
    pub(super) async fn create_session(&mut self) -> Result<Value, WdaError> {
        self.end_session();
        let capabilities = self
            .arguments
            .get("capabilities")
            .and_then(Value::as_object);
        let missing = "'capabilities' is mandatory to create a new session";
        let capabilities = merge(capabilities.ok_or_else(|| not_created(missing))?)?;
        self.state.settings = Settings::default();
        let known = [
            "shouldUseCompactResponses",
            "elementResponseAttributes",
            "maxTypingFrequency",
            "waitForIdleTimeout",
            "defaultAlertAction",
        ];
        let of_settings = known
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), capabilities.get(key)?.clone())));
        self.apply_settings(&of_settings.collect())?;
        let on = |key: &str| capabilities.get(key).is_none_or(truthy);
        let clears = capabilities.get(CLEAR_APP_DATA).is_some_and(truthy)
            && (capabilities.get("bundleId").and_then(Value::as_str))
                .is_some_and(|id| self.world(|world| world.clear(&id.into())));
        let tested = self.start_tested(&capabilities).await?;
        self.state.session = Some(Session {
            id: SessionId::rolled(self.device()),
            tested,
            waits: on("shouldWaitForQuiescence"),
            ends_app: on("shouldTerminateApp"),
            elements: ElementCache::default(),
        });
        let mut information = self.session_information();
        if clears {
            information["capabilities"][CLEAR_APP_DATA] = true.into();
        }
        Ok(information)
    }

    /// Starts the app the session is for, as the capabilities say.
    async fn start_tested(
        &mut self,
        capabilities: &Map<String, Value>,
    ) -> Result<Option<TestedApp>, WdaError> {
        let url = capabilities.get("initialUrl").and_then(Value::as_str);
        let Some(id) = capabilities.get("bundleId").and_then(Value::as_str) else {
            if let Some(url) = url {
                let opened = self.open_link(url).await;
                opened.map_err(|error| not_opened(url, "default", &error))?;
            }
            return Ok(None);
        };
        let afresh = capabilities.get("forceAppLaunch").is_none_or(truthy);
        let starts = !self.runs(id) || afresh;
        if starts {
            self.terminate(id);
        }
        match url {
            Some(url) => {
                let opened = self.open_link(url).await;
                opened.map_err(|error| not_opened(url, id, &error))?;
            }
            None => {
                let launched = self.launch(id).await;
                launched.map_err(|error| not_created(&error.message))?;
            }
        }
        if !self.runs(id) {
            return Err(not_created(&format!(
                "Cannot launch {id} application. Make sure the correct bundle identifier has been provided in capabilities and check the device log for possible crash report occurrences"
            )));
        }
        if starts {
            self.started_with(id, capabilities);
        }
        Ok(Some(TestedApp {
            bundle_id: id.to_owned(),
            expected_to_run: true,
        }))
    }

    /// Ends the session there is, and its app with it.
    pub(super) fn end_session(&mut self) {
        let ended = self.state.session.take().filter(|session| session.ends_app);
        if let Some(tested) = ended.and_then(|session| session.tested) {
            self.terminate(&tested.bundle_id);
        }
    }

    pub(super) fn session_information(&self) -> Value {
        let session = self.state.session.as_ref();
        let id = session.map(|session| session.id.0.clone());
        json!({
            "sessionId": id,
            "capabilities": {
                "device": "iphone",
                "sdkVersion": self.device().shape().os_version,
            },
        })
    }

    pub(super) fn set_settings(&mut self) -> Result<Value, WdaError> {
        match self.arguments.get("settings") {
            None => {}
            Some(Value::Object(settings)) => {
                let settings = settings.clone();
                self.apply_settings(&settings)?;
            }
            Some(_) => return Err(WdaError::invalid_argument("settings must be a dictionary")),
        }
        Ok(self.state.settings.all())
    }

    /// Changes settings; those without effect are noted.
    fn apply_settings(&mut self, changes: &Map<String, Value>) -> Result<(), WdaError> {
        for other in self.state.settings.apply(changes)? {
            self.device().note_unhandled(&other);
        }
        Ok(())
    }

    pub(super) fn status(&self) -> Result<Value, WdaError> {
        let mut status = recorded("status")?;
        status["os"]["version"] = self.device().shape().os_version.into();
        Ok(status)
    }
}

/// A UUID of these bits.
pub(crate) fn uuid(high: u64, low: u64) -> String {
    format!(
        "{:08X}-{:04X}-4{:03X}-A{:03X}-{:012X}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        low >> 52,
        low & 0xffff_ffff_ffff
    )
}

fn not_created(message: &str) -> WdaError {
    WdaError::new(ErrorKind::SESSION_NOT_CREATED, message)
}

fn not_opened(url: &str, app: &str, error: &str) -> WdaError {
    not_created(&format!(
        "Cannot open the URL {url} with the {app} application. Original error: {error}"
    ))
}

/// Merges `alwaysMatch` with the first of `firstMatch` that does not contradict it.
fn merge(capabilities: &Map<String, Value>) -> Result<Map<String, Value>, WdaError> {
    let part = |name| capabilities.get(name).filter(|value| !value.is_null());
    let object = |value: &Value| {
        value
            .as_object()
            .cloned()
            .ok_or_else(|| unrecognized("count"))
    };
    let always = part("alwaysMatch").map_or(Ok(Map::new()), object)?;
    let always = stripped(&always)?;
    let first = part("firstMatch").map_or(Ok([].as_slice()), |first| {
        let first = first.as_array().map(Vec::as_slice);
        first.ok_or_else(|| unrecognized("count"))
    })?;
    for candidate in first {
        let candidate = stripped(&object(candidate)?)?;
        if candidate.keys().all(|key| !always.contains_key(key)) {
            return Ok(always.into_iter().chain(candidate).collect());
        }
    }
    if first.is_empty() {
        return Ok(always);
    }
    Err(not_created("Could not find matching capabilities"))
}

/// Takes Appium's prefix away.
fn stripped(capabilities: &Map<String, Value>) -> Result<Map<String, Value>, WdaError> {
    let mut stripped = Map::new();
    for (name, value) in capabilities {
        let short = name.strip_prefix("appium:");
        if let Some(short) = short.filter(|short| STANDARD.contains(short)) {
            return Err(not_created(&format!(
                "The capabilities ({short}) are standard and should not have the 'appium:' prefix"
            )));
        }
        if !value.is_null() {
            stripped.insert(short.unwrap_or(name).to_owned(), value.clone());
        }
    }
    Ok(stripped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(capabilities: Value) -> Result<Value, WdaError> {
        merge(capabilities.as_object().unwrap()).map(Value::Object)
    }

    #[test]
    fn capabilities_are_merged_without_their_prefix() {
        let capabilities = json!({
            "alwaysMatch": {"appium:bundleId": "com.example.shop"},
            "firstMatch": [{"bundleId": "com.example.other"}, {"platformName": "ios"}],
        });
        let wanted = json!({"bundleId": "com.example.shop", "platformName": "ios"});
        assert_eq!(merged(capabilities), Ok(wanted));
    }

    #[test]
    fn capabilities_that_contradict_each_other_make_no_session() {
        let twice = json!({"alwaysMatch": {"a": 1}, "firstMatch": [{"a": 1}]});
        let prefixed = json!({"firstMatch": [{"appium:platformName": "ios"}]});
        for capabilities in [twice, prefixed] {
            assert_eq!(
                merged(capabilities).unwrap_err().kind,
                ErrorKind::SESSION_NOT_CREATED
            );
        }
    }

    #[test]
    fn ids_look_like_uuids() {
        assert_eq!(
            uuid(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210),
            "01234567-89AB-4DEF-AFED-BA9876543210"
        );
    }
}
