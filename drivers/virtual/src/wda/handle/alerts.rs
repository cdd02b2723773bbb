//! Alerts: those of the app and those of the system over it.

use serde_json::Value;

use super::looking::facts;
use super::{Done, Handler};
use crate::wda::class_chain::ClassChain;
use crate::wda::element_type::ElementType;
use crate::wda::error::{ErrorKind, WdaError};
use crate::world::{DialogView, SPRINGBOARD};

impl Handler<'_> {
    /// Does what the settings say to alerts that are open, as WebDriverAgent's monitor does every
    /// two seconds.
    pub(super) async fn watch_alerts(&mut self) {
        if self.dialog().is_none() || self.state.session.is_none() {
            return;
        }
        let setting = |name| self.state.settings.text(name).to_owned();
        let (selector, action) = (
            setting("autoClickAlertSelector"),
            setting("defaultAlertAction"),
        );
        if !selector.is_empty() {
            if let Some(button) = self.selected_button(&selector) {
                self.press(button).await;
            }
        } else if ["accept", "dismiss"].contains(&action.as_str()) {
            // An alert it cannot answer stays, and the command goes on.
            let _ = self.answer(action == "accept").await;
        }
    }

    pub(super) fn alert_text(&mut self) -> Result<Value, WdaError> {
        if self.found.session.is_some() {
            self.active_app()?;
        }
        let dialog = self.dialog().ok_or_else(WdaError::no_alert)?;
        let texts = [dialog.title, dialog.text];
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        Ok(texts.join("\n").into())
    }

    pub(super) fn alert_buttons(&mut self) -> Result<Value, WdaError> {
        self.active_app()?;
        let dialog = self.dialog().ok_or_else(WdaError::no_alert)?;
        Ok(dialog.buttons.into())
    }

    pub(super) async fn answer_or_press(&mut self) -> Done {
        let dialog = self.open_alert()?;
        let Some(label) = self.arguments.text("name") else {
            return self.answer(self.found.command == "alert_accept").await;
        };
        let button = dialog.buttons.iter().position(|button| button == label);
        let button = button.ok_or_else(|| {
            WdaError::invalid_state(format!(
                "Failed to find button with label '{label}' for alert: {}",
                dialog.title
            ))
        })?;
        self.press(button).await;
        Ok(())
    }

    async fn answer(&mut self, accepts: bool) -> Done {
        let dialog = self.open_alert()?;
        let setting = match accepts {
            true => "acceptAlertButtonSelector",
            false => "dismissAlertButtonSelector",
        };
        let selector = self.state.settings.text(setting);
        let selected = (!selector.is_empty()).then(|| self.selected_button(selector));
        // An alert's last button is the one that agrees, its first the one that does not.
        let last = dialog.buttons.len().checked_sub(1);
        let button = selected
            .flatten()
            .or(last.map(|last| if accepts { last } else { 0 }));
        let button = button.ok_or_else(|| {
            let message = format!("Failed to find a button for alert: {}", dialog.title);
            WdaError::invalid_state(message)
        })?;
        self.press(button).await;
        Ok(())
    }

    async fn press(&mut self, button: usize) {
        self.act().await;
        self.world(|world| world.answer(button));
    }

    fn open_alert(&self) -> Result<DialogView, WdaError> {
        self.dialog()
            .ok_or_else(|| WdaError::new(ErrorKind::NO_SUCH_ALERT, "No alert is open"))
    }

    fn dialog(&self) -> Option<DialogView> {
        self.world(|world| world.dialog())
    }

    /// The number of the button a class chain finds in the alert; none when it finds none.
    fn selected_button(&self, selector: &str) -> Option<usize> {
        let chain = ClassChain::parse(selector).ok()?;
        let (app, snapshot) = self.world(|world| {
            let system = world.dialog().is_some_and(|dialog| dialog.system);
            let front = world.front();
            let owner = if system { SPRINGBOARD } else { front.as_str() };
            (facts(world, owner), world.snapshot())
        });
        let tree = crate::wda::screen::observe(&snapshot, &app, 0.0, usize::MAX);
        let is = |at: usize, kind| tree.get(at).is_some_and(|element| element.kind == kind);
        let alert = tree.subtree(0).rfind(|&at| is(at, ElementType::ALERT))?;
        let chosen = *chain.find(&tree, alert).ok()?.first()?;
        let mut buttons = (tree.descendants(alert)).filter(|&at| is(at, ElementType::BUTTON));
        buttons.position(|at| at == chosen)
    }
}
