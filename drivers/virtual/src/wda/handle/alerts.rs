//! Alerts: those of the app and those of the system over it.

use serde_json::Value;

use super::Handler;
use super::looking::facts;
use crate::wda::class_chain::ClassChain;
use crate::wda::element_type::ElementType;
use crate::wda::error::{ErrorKind, WdaError};
use crate::world::{DialogView, SPRINGBOARD};

/// Which answer to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Accept,
    Dismiss,
}

impl Answer {
    /// The setting that names the button, as a class chain.
    const fn setting(self) -> &'static str {
        match self {
            Self::Accept => "acceptAlertButtonSelector",
            Self::Dismiss => "dismissAlertButtonSelector",
        }
    }
}

impl Handler<'_> {
    /// Does what the settings say to alerts that are open, as WebDriverAgent's monitor does every
    /// two seconds.
    pub(super) async fn watch_alerts(&mut self) {
        if self.dialog().is_none() || self.state.session.is_none() {
            return;
        }
        let selector = self
            .state
            .settings
            .text("autoClickAlertSelector")
            .to_owned();
        if !selector.is_empty() {
            if let Some(button) = self.selected_button(&selector) {
                self.give(button).await;
            }
            return;
        }
        let answer = match self.state.settings.text("defaultAlertAction") {
            "accept" => Answer::Accept,
            "dismiss" => Answer::Dismiss,
            _ => return,
        };
        // An alert it cannot answer stays, and the command goes on.
        let _ = self.answer(answer).await;
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

    pub(super) fn alert_set_text(&mut self) -> Result<Value, WdaError> {
        if self.arguments.get("value").is_none() {
            return Err(WdaError::invalid_argument("Missing 'value' parameter"));
        }
        self.open_alert()?;
        Err(WdaError::new(
            ErrorKind::UnsupportedOperation,
            "The alert contains no input fields",
        ))
    }

    pub(super) async fn alert_accept(&mut self) -> Result<Value, WdaError> {
        self.answer_or_press(Answer::Accept).await
    }

    pub(super) async fn alert_dismiss(&mut self) -> Result<Value, WdaError> {
        self.answer_or_press(Answer::Dismiss).await
    }

    pub(super) fn alert_buttons(&mut self) -> Result<Value, WdaError> {
        self.active_app()?;
        let dialog = self.dialog().ok_or_else(WdaError::no_alert)?;
        Ok(dialog.buttons.into())
    }

    async fn answer_or_press(&mut self, answer: Answer) -> Result<Value, WdaError> {
        let dialog = self.open_alert()?;
        let Some(label) = self.arguments.text("name") else {
            self.answer(answer).await?;
            return Ok(Value::Null);
        };
        let button = dialog.buttons.iter().position(|button| button == label);
        let Some(button) = button else {
            return Err(WdaError::invalid_state(format!(
                "Failed to find button with label '{label}' for alert: {}",
                dialog.title
            )));
        };
        self.give(button).await;
        Ok(Value::Null)
    }

    async fn answer(&mut self, answer: Answer) -> Result<(), WdaError> {
        let dialog = self.open_alert()?;
        let selector = self.state.settings.text(answer.setting()).to_owned();
        let selected = if selector.is_empty() {
            None
        } else {
            self.selected_button(&selector)
        };
        // An alert's last button is the one that agrees, its first the one that does not.
        let button = selected.or_else(|| match answer {
            Answer::Accept => dialog.buttons.len().checked_sub(1),
            Answer::Dismiss => (!dialog.buttons.is_empty()).then_some(0),
        });
        let button = button.ok_or_else(|| {
            WdaError::invalid_state(format!(
                "Failed to find a button for alert: {}",
                dialog.title
            ))
        })?;
        self.give(button).await;
        Ok(())
    }

    async fn give(&mut self, button: usize) {
        self.act().await;
        self.world(|world, now| world.answer(button, now));
    }

    fn open_alert(&self) -> Result<DialogView, WdaError> {
        self.dialog()
            .ok_or_else(|| WdaError::new(ErrorKind::NoSuchAlert, "No alert is open"))
    }

    fn dialog(&self) -> Option<DialogView> {
        self.world(|world, _| world.dialog())
    }

    /// The number of the button a class chain finds in the alert; none when it finds none.
    fn selected_button(&self, selector: &str) -> Option<usize> {
        let chain = ClassChain::parse(selector).ok()?;
        let (app, snapshot) = self.world(|world, now| {
            let system = world.dialog().is_some_and(|dialog| dialog.system);
            let front = world.front();
            let owner = if system { SPRINGBOARD } else { front.as_str() };
            (facts(world, owner), world.snapshot(now))
        });
        let tree = crate::wda::screen::observe(&snapshot, &app, 0.0, usize::MAX);
        let alert = tree
            .iter()
            .rfind(|(_, element)| element.kind == ElementType::ALERT);
        let alert = alert.map(|(at, _)| at)?;
        let chosen = *chain.find(&tree, alert).ok()?.first()?;
        let is_button = |at: &usize| {
            tree.get(*at)
                .is_some_and(|element| element.kind == ElementType::BUTTON)
        };
        tree.descendants(alert)
            .filter(is_button)
            .position(|at| at == chosen)
    }
}
