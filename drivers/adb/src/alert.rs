//! Dialogs of the system and of apps: permissions, crashes, questions.

use std::time::Duration;

use packtrain_drivers::tree::AndroidNode;
use packtrain_drivers::{NodeDetail, Point, Tree};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::agent::Keycode;
use crate::command_error::CommandError;
use crate::device::{AndroidDevice, Result, unmet};

/// How long a dialog may take to go once it was answered.
const ALERT_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to look for it.
const ALERT_POLL: Duration = Duration::from_millis(80);
/// Ids of buttons that say yes, best first; without their package.
const YES: [&str; 6] = [
    "permission_allow_button",
    "permission_allow_foreground_only_button",
    "permission_allow_one_time_button",
    "permission_allow_all_button",
    "button1",
    "aerr_wait",
];
/// Ids of buttons that say no, best first.
const NO: [&str; 5] = [
    "permission_deny_button",
    "permission_deny_and_dont_ask_again_button",
    "button2",
    "button3",
    "aerr_close",
];
/// Ids of further buttons.
const OTHER: [&str; 3] = ["aerr_app_info", "aerr_restart", "aerr_mute"];
/// Ids of what a dialog says.
const TEXTS: [&str; 3] = ["alertTitle", "message", "permission_message"];

/// A dialog on the screen.
#[derive(Debug, Clone, PartialEq)]
struct Dialog {
    text: String,
    buttons: Vec<Button>,
}

#[derive(Debug, Clone, PartialEq)]
struct Button {
    /// Its id without the package.
    id: String,
    label: String,
    at: Point,
}

impl AndroidDevice {
    /// The dialog on the screen: `{text, buttons}` or `null`.
    pub(crate) async fn alert(&self, deadline: Instant) -> Result<Value> {
        let screen = self.read(deadline).await?;
        Ok(find(&screen.tree).map_or(Value::Null, |dialog| {
            let labels: Vec<_> = dialog.buttons.iter().map(|b| b.label.as_str()).collect();
            json!({ "text": dialog.text, "buttons": labels })
        }))
    }

    /// Answers the dialog on the screen and waits until it is gone.
    pub(crate) async fn answer_alert(
        &self,
        accept: bool,
        button: Option<&str>,
        deadline: Instant,
    ) -> Result<()> {
        let screen = self.read(deadline).await?;
        let dialog =
            find(&screen.tree).ok_or_else(|| unmet("answer the alert: no alert on the screen"))?;
        let answered = match dialog.button(accept, button) {
            Some(button) => self.agent.touch(button.at, None, deadline).await,
            // Back says no to most dialogs without such a button.
            None if button.is_none() && !accept => {
                self.agent.press(&[Keycode::BACK], deadline).await
            }
            None => {
                let labels: Vec<_> = dialog.buttons.iter().map(|b| b.label.as_str()).collect();
                return Err(unmet(format!(
                    "answer the alert {:?}: no such button among {labels:?}",
                    dialog.text
                )));
            }
        };
        // The screen shows whether the device took the unconfirmed answer.
        let doubt = match answered.map_err(CommandError::from) {
            Err(error) if error.leaves_doubt() => Some(error),
            answered => {
                answered?;
                None
            }
        };
        let limit = deadline.min(Instant::now() + ALERT_TIMEOUT);
        loop {
            let screen = self.read(deadline).await?;
            if find(&screen.tree).as_ref() != Some(&dialog) {
                return Ok(());
            }
            if Instant::now() + ALERT_POLL >= limit {
                let stays = || {
                    unmet(format!(
                        "answer the alert {:?}: it is still open",
                        dialog.text
                    ))
                };
                return Err(doubt.unwrap_or_else(stays));
            }
            tokio::time::sleep(ALERT_POLL).await;
        }
    }
}

impl Dialog {
    fn button(&self, accept: bool, label: Option<&str>) -> Option<&Button> {
        if let Some(label) = label {
            let exact = self.buttons.iter().find(|b| b.label == label);
            return exact.or_else(|| {
                let same = |b: &&Button| b.label.to_lowercase() == label.to_lowercase();
                self.buttons.iter().find(same)
            });
        }
        let ids: &[&str] = if accept { &YES } else { &NO };
        let meant = ids
            .iter()
            .find_map(|id| self.buttons.iter().find(|button| button.id == *id));
        // A single button is the answer to everything: "OK", "Close app".
        meant.or(match self.buttons.as_slice() {
            [only] => Some(only),
            _ => None,
        })
    }
}

/// The dialog in a tree: whatever has buttons with the ids that Android gives those of dialogs.
fn find(tree: &Tree) -> Option<Dialog> {
    let mut buttons = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    for node in tree.nodes() {
        let NodeDetail::Android(android) = &node.detail else {
            continue;
        };
        let Some(id) = system_id(android) else {
            continue;
        };
        let label = android
            .text
            .as_deref()
            .or(android.content_description.as_deref());
        let is_button = YES
            .iter()
            .chain(&NO)
            .chain(&OTHER)
            .any(|known| *known == id);
        if let (true, Some(bounds)) = (is_button && android.is_visible, node.bounds) {
            buttons.push(Button {
                id: id.to_owned(),
                label: label.unwrap_or_default().to_owned(),
                at: bounds.center(),
            });
        } else if let (true, Some(label)) = (TEXTS.contains(&id), label) {
            texts.push(label.to_owned());
        }
    }
    (!buttons.is_empty()).then(|| Dialog {
        text: texts.join("\n"),
        buttons,
    })
}

/// The id without its package, for ids that belong to the system.
fn system_id(node: &AndroidNode) -> Option<&str> {
    let (package, id) = node.resource_id.as_deref()?.split_once(":id/")?;
    let is_systems = package == "android"
        || package.ends_with("permissioncontroller")
        || package == "com.android.packageinstaller";
    is_systems.then_some(id)
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::{Rect, TreeBuilder};

    use super::*;

    fn tree(nodes: &[(&str, &str)]) -> Tree {
        let mut tree = TreeBuilder::new();
        for (id, text) in nodes {
            let node = AndroidNode {
                resource_id: Some((*id).to_owned()),
                text: Some((*text).to_owned()),
                is_visible: true,
                ..AndroidNode::default()
            };
            let bounds = Rect::new(0.0, 0.0, 10.0, 10.0);
            tree.open(Some(bounds), NodeDetail::Android(Box::new(node)));
            tree.close();
        }
        tree.finish()
    }

    fn label(dialog: &Dialog, accept: bool, button: Option<&str>) -> Option<String> {
        dialog.button(accept, button).map(|b| b.label.clone())
    }

    #[test]
    fn the_systems_question_for_a_permission_is_a_dialog() {
        let own = "com.google.android.permissioncontroller:id/";
        let dialog = find(&tree(&[
            (
                &format!("{own}permission_message"),
                "Allow Shop to take pictures?",
            ),
            (
                &format!("{own}permission_allow_foreground_only_button"),
                "While using the app",
            ),
            (
                &format!("{own}permission_allow_one_time_button"),
                "Only this time",
            ),
            (&format!("{own}permission_deny_button"), "Don't allow"),
        ]))
        .unwrap();
        assert_eq!(dialog.text, "Allow Shop to take pictures?");
        let yes = label(&dialog, true, None);
        assert_eq!(yes.as_deref(), Some("While using the app"));
        assert_eq!(label(&dialog, false, None).as_deref(), Some("Don't allow"));
        let once = label(&dialog, true, Some("only this time"));
        assert_eq!(once.as_deref(), Some("Only this time"));
        assert_eq!(label(&dialog, true, Some("Maybe")), None);
    }

    #[test]
    fn buttons_of_the_app_itself_are_no_dialog() {
        assert_eq!(find(&tree(&[("com.example.shop:id/button1", "Buy")])), None);
        assert_eq!(find(&tree(&[("android:id/content", "")])), None);
    }

    #[test]
    fn a_dialog_of_an_app_has_numbered_buttons() {
        let dialog = find(&tree(&[
            ("android:id/alertTitle", "Delete?"),
            ("android:id/message", "It is gone then."),
            ("android:id/button2", "Keep"),
            ("android:id/button1", "Delete"),
        ]))
        .unwrap();
        assert_eq!(dialog.text, "Delete?\nIt is gone then.");
        assert_eq!(label(&dialog, true, None).as_deref(), Some("Delete"));
        assert_eq!(label(&dialog, false, None).as_deref(), Some("Keep"));

        let only = find(&tree(&[("android:id/aerr_close", "Close app")])).unwrap();
        assert_eq!(label(&only, true, None).as_deref(), Some("Close app"));
    }
}
