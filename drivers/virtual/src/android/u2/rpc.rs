//! JSON-RPC: methods by their names and parameters.

use std::time::Duration;

use serde_json::{Value, json};

use crate::android::commands::truncate;
use crate::android::keys::{Stroke, stroke_of, stroke_of_code, with_control};
use crate::android::tree::{Style, Tree, View, trees, write_xml};
use crate::android::u2::Server;
use crate::android::u2::objects::{device_info, object};
use crate::android::u2::selector::{Selector, ViewIndex};
use crate::faults::{Event, Fault};
use crate::world::{Key, Rotation, World};

/// Why a call failed.
#[derive(Debug)]
pub(super) enum CallError {
    /// There is no such method, or not with these parameters.
    NoMethod,
    /// The view is not there.
    NotFound(String),
    /// Something else, with its text.
    Other(String),
}

pub(super) type CallResult = Result<Value, CallError>;

impl CallError {
    fn json(&self) -> Value {
        match self {
            Self::NoMethod => json!({ "code": -32601, "message": "method not found" }),
            Self::NotFound(selector) => {
                let message =
                    format!("androidx.test.uiautomator.UiObjectNotFoundException: {selector}");
                json!({ "code": -32001, "message": message, "data": message })
            }
            Self::Other(text) => json!({ "code": -32001, "message": text, "data": text }),
        }
    }
}

/// The longest wait a client can ask for.
const MAX_WAIT_MS: u64 = 3_600_000;

impl Server {
    /// Answers one request.
    pub(super) async fn call(&self, body: &[u8]) -> Value {
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            let error = json!({ "code": -32700, "message": "JSON parse error" });
            return json!({ "jsonrpc": "2.0", "id": null, "error": error });
        };
        let id = request.get("id").cloned().unwrap_or(Value::Null);
        let method = request.get("method").and_then(Value::as_str).unwrap_or("");
        let params = match request.get("params") {
            Some(Value::Array(params)) => params.clone(),
            Some(Value::Null) | None => Vec::new(),
            // A client without parameters sends an empty object.
            Some(Value::Object(named)) => named.values().cloned().collect(),
            Some(one) => vec![one.clone()],
        };
        let result = match self.apply_faults(&format!("jsonrpc {method}")).await {
            Ok(faults) => self.dispatch(method, &params, faults).await,
            Err(text) => Err(CallError::Other(text)),
        };
        match result {
            Ok(value) => json!({ "jsonrpc": "2.0", "id": id, "result": value }),
            Err(error) => {
                if matches!(error, CallError::NoMethod) {
                    let line = format!("u2 {method}({} parameters)", params.len());
                    self.android.device().note_unhandled(&line);
                }
                json!({ "jsonrpc": "2.0", "id": id, "error": error.json() })
            }
        }
    }

    async fn dispatch(&self, method: &str, params: &[Value], faults: Vec<Fault>) -> CallResult {
        let device = self.android.device();
        let latency = device.latency();
        let time = match method {
            "dumpWindowHierarchy" => latency.agent_dump,
            _ => latency.agent_call,
        };
        device.takes(time).await;
        if let Some(result) = self.touch(method, params).await {
            return result;
        }
        match (method, params) {
            ("deviceInfo", []) => Ok(device_info(&self.android)),
            ("dumpWindowHierarchy", [compressed, rest @ ..]) => {
                self.dump(compressed, rest.get(1), faults).await
            }
            ("exist", [selector]) => Ok((!self.find(selector)?.1.is_empty()).into()),
            ("count", [selector]) => Ok(self.find(selector)?.1.len().into()),
            ("objInfo", [selector]) => {
                let (all, index) = self.one(selector)?;
                Ok(object(&all, index))
            }
            ("objInfoOfAllInstances", [selector]) => {
                let (all, found) = self.find(selector)?;
                Ok(found.into_iter().map(|index| object(&all, index)).collect())
            }
            (
                "childByText" | "childByDescription",
                [container, pattern, Value::String(text), ..],
            ) => {
                let (all, found) = self.below(container, pattern)?;
                let says = |view: &View| match method {
                    "childByText" => view.text == *text,
                    _ => view.description == *text,
                };
                let found = found.into_iter().find(|index| {
                    let views = &all[index.tree];
                    let mut below = views.below(index.view).into_iter();
                    below.any(|at| says(&views.0[at]))
                });
                handed_out(&all, found, text)
            }
            ("childByInstance", [container, pattern, number]) => {
                let (all, found) = self.below(container, pattern)?;
                let number = number.as_u64().and_then(|n| usize::try_from(n).ok());
                let found = found.get(number.unwrap_or(0)).copied();
                handed_out(&all, found, "instance")
            }
            ("getText", [selector]) => {
                let (all, index) = self.one(selector)?;
                Ok(index.of(&all).text.clone().into())
            }
            ("setText", [selector, Value::String(text)]) => self.set_text(selector, text),
            ("clearTextField", [selector]) => self.set_text(selector, "").map(|_| Value::Null),
            ("clearInputText", []) => self.press([Key::SelectAll, Key::Backspace]).await,
            ("pasteClipboard", []) => self.press([Key::Paste]).await,
            ("wakeUp", []) => self.press([Key::Wake]).await,
            ("sleep", []) => self.press([Key::Sleep]).await,
            ("waitForExists", [selector, ms]) => self.wait(selector, ms, true).await,
            ("waitUntilGone", [selector, ms]) => self.wait(selector, ms, false).await,
            ("pressKey", [Value::String(name)]) => self.press_key(name).await,
            ("pressKeyCode", [code, rest @ ..]) => self.press_code(code, rest.first()).await,
            ("takeScreenshot", [.., scale, _]) => {
                let scale = scale.as_f64().unwrap_or(1.0);
                let png = device.screenshot(scale).await;
                let png = png.map_err(|error| CallError::Other(error.to_string()))?;
                use base64::Engine as _;
                Ok(base64::engine::general_purpose::STANDARD.encode(png).into())
            }
            ("getClipboard", []) => Ok(device.world(|world| world.clipboard().to_owned()).into()),
            ("setClipboard", [_, Value::String(text)]) => {
                device.world(|world| world.set_clipboard(text));
                Ok(Value::Null)
            }
            ("setOrientation", [Value::String(name)]) => {
                let rotation = match name.chars().next() {
                    Some('l') => Rotation::Left,
                    Some('r') => Rotation::Right,
                    Some('u') => Rotation::UpsideDown,
                    _ => Rotation::Upright,
                };
                device.world(|world| world.rotate(rotation));
                Ok(Value::Null)
            }
            // It never waits by itself, which is all that a client can set.
            ("getConfigurator", []) => Ok(self.configured()),
            ("setConfigurator", [Value::Object(new)]) => {
                self.configurator.lock().extend(new.clone());
                Ok(self.configured())
            }
            ("openNotification" | "openQuickSettings", []) => Ok(true.into()),
            ("freezeRotation", [_])
            | (
                "getLastToast"
                | "clearLastToast"
                | "getLastTraversedText"
                | "clearLastTraversedText",
                [],
            ) => Ok(Value::Null),
            _ => Err(CallError::NoMethod),
        }
    }

    fn configured(&self) -> Value {
        let mut all = json!({
            "actionAcknowledgmentTimeout": 3000,
            "keyInjectionDelay": 0,
            "scrollAcknowledgmentTimeout": 200,
            "uiAutomationFlags": 0,
            "waitForIdleTimeout": 0,
            "waitForSelectorTimeout": 0,
        });
        for (name, value) in self.configurator.lock().iter() {
            all[name] = value.clone();
        }
        all
    }

    /// The trees of all windows, those on top first.
    pub(super) fn trees(&self) -> Vec<Tree> {
        trees(
            &self.android.device().snapshot(),
            self.android.device().screen().scale,
        )
    }

    pub(super) fn find(&self, selector: &Value) -> Result<(Vec<Tree>, Vec<ViewIndex>), CallError> {
        let selector = Selector::of(selector).ok_or(CallError::NoMethod)?;
        let all = self.trees();
        let found = selector.find(&all);
        Ok((all, found))
    }

    /// The first view a selector means.
    pub(super) fn one(&self, selector: &Value) -> Result<(Vec<Tree>, ViewIndex), CallError> {
        let (all, found) = self.find(selector)?;
        match found.first() {
            Some(index) => Ok((all, *index)),
            None => {
                let shown = Selector::of(selector).map_or_else(String::new, |s| s.shown());
                Err(CallError::NotFound(shown))
            }
        }
    }

    /// The views like `pattern` below the one `container` means.
    fn below(
        &self,
        container: &Value,
        pattern: &Value,
    ) -> Result<(Vec<Tree>, Vec<ViewIndex>), CallError> {
        let (all, root) = self.one(container)?;
        let inside = all[root.tree].below(root.view);
        let pattern = Selector::of(pattern).ok_or(CallError::NoMethod)?;
        let mut found = pattern.find(&all);
        found.retain(|at| at.tree == root.tree && *at != root && inside.contains(&at.view));
        Ok((all, found))
    }

    async fn dump(
        &self,
        compressed: &Value,
        active: Option<&Value>,
        faults: Vec<Fault>,
    ) -> CallResult {
        let device = self.android.device();
        let mut all = device.fire_faults(Event::Tree("u2"));
        all.extend(faults);
        device.delay(&all).await;
        if all.contains(&Fault::NullRoot) {
            return Err(CallError::Other(
                "java.lang.NullPointerException: null root node".to_owned(),
            ));
        }
        let snapshot = self.android.faulty_snapshot(&all);
        let mut found = trees(&snapshot, device.screen().scale);
        if active.and_then(Value::as_bool) == Some(true) {
            found.truncate(1);
        }
        if all.contains(&Fault::EmptyTree) {
            found.clear();
        }
        let compressed = compressed.as_bool().unwrap_or(false);
        let mut xml = write_xml(&found, snapshot.rotation.number(), Style::Agent, compressed);
        truncate(&mut xml, &all);
        Ok(xml.into())
    }

    fn set_text(&self, selector: &Value, text: &str) -> CallResult {
        let (all, index) = self.one(selector)?;
        let key = index.of(&all).key;
        let device = self.android.device();
        Ok(device.world(|world| world.set_text(key, text)).into())
    }

    async fn wait_for<R>(
        &self,
        ms: &Value,
        look: impl FnMut(&mut World) -> Option<R>,
    ) -> Option<R> {
        let device = self.android.device();
        let ms = ms.as_f64().unwrap_or(0.0).clamp(0.0, MAX_WAIT_MS as f64);
        let deadline = device.now() + Duration::from_secs_f64(ms / 1000.0);
        device.wait_for(deadline, look).await
    }

    async fn wait(&self, selector: &Value, ms: &Value, exists: bool) -> CallResult {
        let selector = Selector::of(selector).ok_or(CallError::NoMethod)?;
        let scale = self.android.device().screen().scale;
        let seen = self
            .wait_for(ms, |world| {
                let all = trees(&world.snapshot(), scale);
                (selector.find(&all).is_empty() != exists).then_some(())
            })
            .await;
        Ok(seen.is_some().into())
    }

    async fn press<const N: usize>(&self, keys: [Key; N]) -> CallResult {
        for key in keys {
            self.android.device().press(key).await;
        }
        Ok(Value::Null)
    }

    async fn press_key(&self, name: &str) -> CallResult {
        let stroke = match name {
            "left" | "right" | "up" | "down" | "menu" | "recent" | "camera" => {
                Stroke::Does(Key::Other)
            }
            "center" => Stroke::Does(Key::Enter),
            "delete" | "del" => Stroke::Does(Key::Backspace),
            other => stroke_of(other),
        };
        self.android.strike_key(stroke).await;
        Ok(true.into())
    }

    async fn press_code(&self, code: &Value, meta: Option<&Value>) -> CallResult {
        const CONTROL: u64 = 0x1000;
        const SHIFT: u64 = 0x1;
        let code = code
            .as_u64()
            .and_then(|code| u32::try_from(code).ok())
            .unwrap_or(0);
        let meta = meta.and_then(Value::as_u64).unwrap_or(0);
        let stroke = match stroke_of_code(code) {
            stroke if meta & CONTROL != 0 => with_control(stroke),
            Stroke::Types(c) if meta & SHIFT != 0 => Stroke::Types(c.to_ascii_uppercase()),
            stroke => stroke,
        };
        self.android.strike_key(stroke).await;
        Ok(true.into())
    }
}

/// The name by which clients ask for an object from now on.
fn handed_out(all: &[Tree], found: Option<ViewIndex>, what: &str) -> CallResult {
    let found = found.ok_or_else(|| CallError::NotFound(what.to_owned()))?;
    Ok(found.of(all).key.0.to_string().into())
}
