//! Alerts: what one says, what it asks for, and which of its buttons agrees.

use packtrain_drivers::{NodeId, Tree};

use crate::source::ios;

/// An alert on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenAlert {
    /// Title and message, one a line.
    pub(crate) text: String,
    /// The answers, in reading order.
    pub(crate) buttons: Vec<String>,
}

/// What iOS asks people for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Permission {
    /// Its name in trails, which is `simctl`'s where that has one.
    pub(crate) name: &'static str,
    /// What `simctl privacy` calls it.
    pub(crate) service: Option<&'static str>,
    /// What the alert says of it, in lower case. Alerts in other languages are not recognised.
    words: &'static [&'static str],
}

const fn permission(
    name: &'static str,
    service: Option<&'static str>,
    words: &'static [&'static str],
) -> Permission {
    Permission {
        name,
        service,
        words,
    }
}

/// The more telling ones first: a local network is found by its name, not by "network".
const PERMISSIONS: &[Permission] = &[
    permission("all", Some("all"), &[]),
    permission("calendar", Some("calendar"), &["calendar"]),
    permission("camera", Some("camera"), &["access the camera"]),
    permission("contacts", Some("contacts"), &["contacts"]),
    permission(
        "location",
        Some("location"),
        &["your location", "access location"],
    ),
    permission(
        "location-always",
        Some("location-always"),
        &["your location", "access location"],
    ),
    permission(
        "media-library",
        Some("media-library"),
        &["apple music", "media library"],
    ),
    permission("microphone", Some("microphone"), &["microphone"]),
    permission("motion", Some("motion"), &["motion"]),
    permission("photos", Some("photos"), &["photos", "photo library"]),
    permission("reminders", Some("reminders"), &["reminders"]),
    permission("siri", Some("siri"), &["siri"]),
    permission("bluetooth", None, &["bluetooth"]),
    permission("faceid", None, &["face id"]),
    permission("health", None, &["health"]),
    permission("local-network", None, &["local network"]),
    permission("notifications", None, &["notifications"]),
    permission("speech", None, &["speech recognition"]),
    permission("tracking", None, &["track your activity"]),
];

/// The buttons that agree, the most generous answer that needs no further question first.
const AGREE: &[&str] = &[
    "Allow While Using App",
    "Allow Full Access",
    "Allow Access to All Photos",
    "Allow",
    "OK",
    "Always Allow",
    "Allow Once",
];

impl Permission {
    /// The permission of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_lowercase().replace('_', "-");
        PERMISSIONS.iter().find(|known| known.name == name).copied()
    }

    /// All names, for people who mistyped one.
    pub(crate) fn names() -> String {
        let names: Vec<_> = PERMISSIONS.iter().map(|known| known.name).collect();
        names.join(", ")
    }

    /// Whether an alert asks for it.
    pub(crate) fn is_asked_by(self, alert: &OpenAlert) -> bool {
        let asked = || alert.asks_for();
        match self.name {
            "all" => asked().is_some(),
            _ => {
                let text = alert.text.to_lowercase();
                asked().is_some() && self.words.iter().any(|words| text.contains(words))
            }
        }
    }
}

impl OpenAlert {
    /// The alert in a tree, when there is one: the last, which lies on top.
    pub(crate) fn find(tree: &Tree) -> Option<Self> {
        let is = |id: NodeId, kinds: &[&str]| {
            let node = tree.get(id).and_then(|node| ios(&node.detail));
            let kind = node.and_then(|node| node.element_type.as_deref());
            kind.is_some_and(|kind| kinds.contains(&kind))
        };
        let alert = tree
            .iter()
            .map(|(id, _)| id)
            .filter(|&id| is(id, &["Alert"]));
        let alert = alert.last()?;
        let mut texts = Vec::new();
        let mut buttons = Vec::new();
        for id in tree.descendants(alert).map(NodeId) {
            let node = tree.get(id).and_then(|node| ios(&node.detail));
            let said = node.and_then(|node| {
                let told = [&node.label, &node.value, &node.name];
                told.into_iter().flatten().find(|text| !text.is_empty())
            });
            let Some(said) = said else {
                continue;
            };
            let in_button = tree
                .ancestors(id)
                .take_while(|&above| above != alert)
                .any(|above| is(above, &["Button"]));
            if is(id, &["Button"]) {
                buttons.push(said.clone());
            } else if is(id, &["StaticText", "TextView"]) && !in_button {
                texts.push(said.as_str());
            }
        }
        Some(Self {
            text: texts.join("\n"),
            buttons,
        })
    }

    /// What it is in one word: what a report calls it.
    pub(crate) fn kind(&self) -> &'static str {
        match self.asks_for() {
            Some(_) => "permission",
            None => "alert",
        }
    }

    /// The permission it asks for.
    fn asks_for(&self) -> Option<Permission> {
        let text = self.text.to_lowercase();
        let asks = ["would like", "allow “", "allow \"", "do you want to allow"];
        if !asks.iter().any(|words| text.contains(words)) {
            return None;
        }
        let named =
            |permission: &&Permission| permission.words.iter().any(|words| text.contains(words));
        PERMISSIONS.iter().find(named).copied()
    }

    /// The button that agrees to what a permission's alert asks.
    pub(crate) fn agreeing(&self) -> Option<&str> {
        let label = |wanted: &&&str| self.buttons.iter().any(|button| button == **wanted);
        AGREE.iter().find(label).copied()
    }

    /// On one line, for people.
    pub(crate) fn summary(&self) -> String {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("\"{text}\" [{}]", self.buttons.join("] ["))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::source;

    fn alert(texts: &[&str], buttons: &[&str]) -> OpenAlert {
        OpenAlert {
            text: texts.join("\n"),
            buttons: buttons.iter().map(|&b| b.to_owned()).collect(),
        }
    }

    #[test]
    fn the_alert_on_top_is_read_without_the_texts_of_its_buttons() {
        let text = |text: &str| json!({"type": "StaticText", "label": text});
        let tree = json!({"type": "Application", "children": [
            {"type": "Alert", "label": "Below", "children": [text("Below")]},
            {"type": "Alert", "label": "Sure?", "children": [
                text("Sure?"),
                {"type": "Other", "children": [text("It is gone then.")]},
                {"type": "Button", "label": "Cancel", "children": [text("Cancel")]},
                {"type": "Button", "name": "Delete", "label": null},
            ]},
            text("Beside"),
        ]});
        let tree = source::read(&tree.to_string()).unwrap();
        let found = OpenAlert::find(&tree).unwrap();
        assert_eq!(
            found,
            alert(&["Sure?", "It is gone then."], &["Cancel", "Delete"])
        );
        assert_eq!(
            found.summary(),
            "\"Sure? It is gone then.\" [Cancel] [Delete]"
        );
        assert_eq!(found.kind(), "alert");
    }

    #[test]
    fn permissions_are_recognised_by_what_ios_says() {
        for (text, name) in [
            ("“Shop” Would Like to Access the Camera", "camera"),
            ("Allow “Shop” to use your location?", "location"),
            (
                "“Shop” Would Like to Send You Notifications",
                "notifications",
            ),
            ("“Shop” Would Like to Access Your Photos", "photos"),
            (
                "Allow “Shop” to track your activity across other companies’ apps?",
                "tracking",
            ),
        ] {
            let open = alert(&[text], &["Don’t Allow", "Allow"]);
            assert_eq!(open.kind(), "permission", "{text}");
            assert!(
                Permission::named(name).unwrap().is_asked_by(&open),
                "{text}"
            );
            assert!(
                Permission::named("all").unwrap().is_asked_by(&open),
                "{text}"
            );
            assert!(
                !Permission::named("siri").unwrap().is_asked_by(&open),
                "{text}"
            );
        }
    }

    #[test]
    fn an_apps_own_alert_about_the_camera_is_not_agreed_to() {
        let open = alert(
            &["The camera is broken", "Contacts and photos are safe"],
            &["OK"],
        );
        assert!(!Permission::named("camera").unwrap().is_asked_by(&open));
        assert!(!Permission::named("all").unwrap().is_asked_by(&open));
    }

    #[test]
    fn the_button_that_agrees_is_found_wherever_it_is() {
        let location = ["Allow Once", "Allow While Using App", "Don’t Allow"];
        assert_eq!(
            alert(&[""], &location).agreeing(),
            Some("Allow While Using App")
        );
        assert_eq!(
            alert(&[""], &["Nicht erlauben", "Erlauben"]).agreeing(),
            None
        );
    }
}
