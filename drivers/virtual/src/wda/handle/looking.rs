//! What commands look at: the active app, its elements, and the one a client names.

use serde_json::{Value, json};

use super::Handler;
use crate::app::AppId;
use crate::faults::{Event, Fault};
use crate::geometry::Point;
use crate::wda::attribute::{self, AttributeValue};
use crate::wda::error::{ErrorKind, WdaError};
use crate::wda::screen::{AppFacts, SPRINGBOARD_PID, observe};
use crate::wda::session::{ElementHandle, TestedApp};
use crate::wda::source;
use crate::wda::tree::ElementTree;
use crate::world::{AppState, SPRINGBOARD, WindowKind, World};

impl Handler<'_> {
    /// The app whose elements a command is about.
    pub(super) fn active_app(&mut self) -> Result<AppFacts, WdaError> {
        let respects_alerts = self.state.settings.flag("respectSystemAlerts");
        let tested = self.session().and_then(|session| session.tested.clone());
        self.world(|world| {
            let state = |id: &str| world.app_state(&AppId::from(id));
            if let Some(TestedApp {
                bundle_id,
                expected_to_run,
            }) = tested
            {
                match state(&bundle_id) {
                    AppState::Foreground => {
                        let system_alert = world.dialog().is_some_and(|dialog| dialog.system);
                        let shown = if respects_alerts && system_alert {
                            SPRINGBOARD
                        } else {
                            &bundle_id
                        };
                        return Ok(facts(world, shown));
                    }
                    AppState::NotInstalled | AppState::NotRunning if expected_to_run => {
                        return Err(WdaError::invalid_state(format!(
                            "The application under test with bundle id '{bundle_id}' is not running, possibly crashed"
                        )));
                    }
                    AppState::NotInstalled | AppState::NotRunning | AppState::Background => {}
                }
            }
            Ok(facts(world, world.front().as_str()))
        })
    }

    /// The elements of the active app, after the time it takes to fetch them.
    pub(super) async fn tree(&mut self) -> Result<ElementTree, WdaError> {
        let app = self.active_app()?;
        self.tree_of(&app).await
    }

    pub(super) async fn tree_of(&mut self, app: &AppFacts) -> Result<ElementTree, WdaError> {
        self.tree_faults = self.device().fire_faults(Event::Tree("wda"));
        self.come_to_rest("animationCoolOffTimeout").await;
        self.device().takes(self.device().latency().source).await;
        let mut snapshot = self.device().snapshot();
        let mut max_depth = self.state.settings.max_depth();
        for fault in &self.tree_faults {
            match fault {
                Fault::Delay(time) => self.device().sleep(time.0).await,
                Fault::Fail(text) => return Err(WdaError::unknown(text)),
                Fault::NotIdle => {
                    let patience = self.state.settings.seconds("animationCoolOffTimeout");
                    self.device().sleep(patience).await;
                }
                Fault::NullRoot => {
                    return Err(WdaError::unknown(
                        "Error getting main window kAXErrorServerNotFound",
                    ));
                }
                Fault::EmptyTree => max_depth = 1,
                Fault::Stale(by) => snapshot = self.device().told_late(snapshot, *by),
                _ => {}
            }
        }
        let status_bar = self.device().shape().status_bar;
        Ok(observe(&snapshot, app, status_bar, max_depth))
    }

    /// Waits until nothing moves, at most as long as that setting says.
    pub(super) async fn come_to_rest(&self, setting: &str) {
        if self
            .state
            .session
            .as_ref()
            .is_some_and(|session| !session.waits)
        {
            return;
        }
        let deadline = self.device().now() + self.state.settings.seconds(setting);
        self.device()
            .wait_for(deadline, |world| world.quiet_since())
            .await;
    }

    /// The element of the path: the tree it is in now, and its place there.
    pub(super) async fn element(&mut self) -> Result<(ElementTree, usize), WdaError> {
        let uid = self.found.uuid.clone().unwrap_or_default();
        self.element_of(&uid).await
    }

    pub(super) async fn element_of(&mut self, uid: &str) -> Result<(ElementTree, usize), WdaError> {
        let handed_out = self.session().and_then(|session| session.elements.get(uid));
        let Some(ElementHandle { pid, key }) = handed_out else {
            return Err(WdaError::new(
                ErrorKind::STALE_ELEMENT_REFERENCE,
                format!(
                    "The element identified by \"{uid}\" is either not present or it has expired from the internal cache. Try to find it again"
                ),
            ));
        };
        let app = self.world(|world| {
            let front = facts(world, world.front().as_str());
            [front, facts(world, SPRINGBOARD)]
                .into_iter()
                .find(|app| app.pid == pid)
        });
        if let Some(app) = app {
            let tree = self.tree_of(&app).await?;
            if let Some(at) = tree.find(key) {
                return Ok((tree, at));
            }
        }
        if let Some(session) = self.session() {
            session.elements.forget(uid);
        }
        let message = format!(
            "The previously found element \"{uid}\" is not present in the current view anymore. Make sure the application UI has the expected state"
        );
        Err(WdaError::new(ErrorKind::STALE_ELEMENT_REFERENCE, message))
    }

    /// The element of the path, or the active app when it names none.
    pub(super) async fn target(&mut self) -> Result<(ElementTree, usize), WdaError> {
        match self.found.uuid {
            Some(_) => self.element().await,
            None => Ok((self.tree().await?, 0)),
        }
    }

    /// Hands an element out by its id.
    pub(super) fn hand_out(&mut self, tree: &ElementTree, at: usize) -> Value {
        let Some(element) = tree.get(at) else {
            return Value::Null;
        };
        let uid = attribute::uid(tree.pid, element);
        let (pid, key) = (tree.pid, element.key);
        if let Some(session) = self.session() {
            session.elements.store(&uid, ElementHandle { pid, key });
        }
        json!({"ELEMENT": uid, "element-6066-11e4-a52e-4f735466cecf": uid})
    }

    /// Where a finger finds an element, after it has been brought into view. `None` when the app's
    /// own keyboard or alert lies over it or nothing of it is on the screen: XCTest notes a failure
    /// then and touches nothing. It does not see what other processes put on top.
    pub(super) fn touch_point(&self, tree: &ElementTree, at: usize) -> Option<Point> {
        let element = tree.get(at)?;
        let Some(key) = element.node else {
            return Some(element.frame.centre());
        };
        if !element.flags.visible {
            self.world(|world| world.scroll_into_view(key));
        }
        let windows = self.device().snapshot().windows;
        let (at, node) = windows.iter().enumerate().find_map(|(at, window)| {
            let node = window.nodes.iter().find(|node| node.key == key)?;
            Some((at, node))
        })?;
        let mut open = node.visible;
        for above in windows.iter().skip(at + 1) {
            match above.kind {
                // Of what is half below the keyboard the other half can be touched.
                WindowKind::Keyboard => open.h = open.h.min((above.bounds.y - open.y).max(0.0)),
                WindowKind::Dialog if above.bounds.contains(open.centre()) => return None,
                _ => {}
            }
        }
        (!open.is_empty()).then(|| open.centre())
    }
}

/// What the outside knows of an app.
pub(super) fn facts(world: &World, id: &str) -> AppFacts {
    if id == SPRINGBOARD {
        return AppFacts {
            bundle_id: id.to_owned(),
            name: "SpringBoard".to_owned(),
            pid: SPRINGBOARD_PID,
        };
    }
    let installed = world.installed_app(&AppId::from(id));
    AppFacts {
        bundle_id: id.to_owned(),
        pid: installed.as_ref().and_then(|app| app.pid).unwrap_or(0),
        name: installed.map(|app| app.name).unwrap_or_default(),
    }
}

/// The value, or else the label.
pub(super) fn text_of(tree: &ElementTree, at: usize) -> String {
    let element = tree.get(at);
    let value = element.and_then(attribute::value);
    value
        .or_else(|| element.and_then(attribute::label))
        .unwrap_or_default()
}

/// An attribute as JSON; a frame has no form there.
pub(super) fn told(value: AttributeValue) -> Result<Value, WdaError> {
    Ok(match value {
        AttributeValue::Null => Value::Null,
        AttributeValue::Flag(flag) => flag.into(),
        AttributeValue::Number(number) => source::number(number),
        AttributeValue::Text(text) => text.into(),
        AttributeValue::Rect(rect) => source::rect(rect),
        AttributeValue::Frame(_) => {
            return Err(WdaError::unknown(
                "Invalid type in JSON write (NSConcreteValue)",
            ));
        }
    })
}
