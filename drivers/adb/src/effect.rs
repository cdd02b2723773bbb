//! Actions that were sent and never answered: the screen tells whether they took effect.
//!
//! What had not been sent is simply sent again, by its sender. What had been is never done
//! twice on a guess: it is done again only where the screen shows that it was not done, and where
//! nobody can tell the device is lost.

use std::time::Duration;

use packtrain_drivers::{InputCommand, NodeDetail, ScreenMark};
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result};
use crate::screen::Screen;

/// How long the effect of an action may take to show.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often to look for it.
const EFFECT_POLL: Duration = Duration::from_millis(150);
/// The fewest looks that prove that nothing shows: time alone proves nothing about a device that
/// had no processor meanwhile.
const MIN_LOOKS: u32 = 8;

/// What the screen showed when it was last read, if nothing was done since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastScreen {
    mark: ScreenMark,
    /// The app in front.
    package: Option<String>,
    /// The field that has the focus.
    field: Option<Field>,
}

/// A field that takes text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    id: Option<String>,
    /// Of a password only the number of characters is reported.
    is_password: bool,
    pub(crate) held: String,
}

impl Field {
    /// The one that has the focus.
    pub(crate) fn focused(screen: &Screen) -> Option<Self> {
        let mut nodes = screen.tree.nodes().iter();
        nodes.find_map(|node| match &node.detail {
            NodeDetail::Android(node) if node.is_focused && node.is_editable => Some(Self {
                id: node.resource_id.clone(),
                is_password: node.is_password,
                held: node.text.clone().unwrap_or_default(),
            }),
            _ => None,
        })
    }
}

impl LastScreen {
    pub(crate) const fn mark(&self) -> ScreenMark {
        self.mark
    }

    pub(crate) fn of(screen: &Screen) -> Self {
        Self {
            mark: screen.mark,
            package: screen.package().map(str::to_owned),
            field: Field::focused(screen),
        }
    }
}

/// What is known of an unanswered action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The screen shows it.
    Seen,
    /// The screen shows that there was none.
    Missing,
    /// It is unknown.
    Unknown,
}

/// What shows the effect of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence<'a> {
    /// Whatever changes on the screen.
    Change,
    /// What the field that has the focus holds besides what it held.
    Text(&'a str),
    /// It does several things: a change may be the effect of the first of them.
    NoChange,
    /// It looks itself what is left to do.
    Repeatable,
}

impl Evidence<'_> {
    fn of(command: &InputCommand) -> Evidence<'_> {
        match command {
            InputCommand::Tap { .. }
            | InputCommand::LongPress { .. }
            | InputCommand::Swipe { .. }
            | InputCommand::Drag { .. }
            | InputCommand::Pinch { .. }
            | InputCommand::Key(_)
            | InputCommand::Paste => Evidence::Change,
            InputCommand::Text(text) => Evidence::Text(text),
            InputCommand::Erase(Some(_)) => Evidence::NoChange,
            InputCommand::Erase(None)
            | InputCommand::HideKeyboard
            | InputCommand::SetClipboard(_) => Evidence::Repeatable,
        }
    }
}

impl AndroidDevice {
    /// Carries out an input command once; answers what a reader should know of it.
    pub(crate) async fn act(
        &self,
        command: InputCommand,
        deadline: Instant,
    ) -> Result<Vec<String>> {
        if matches!(
            command,
            InputCommand::Text(_) | InputCommand::Paste | InputCommand::Erase(Some(_))
        ) {
            self.await_focus(command.name(), deadline).await?;
        }
        let before = self.remember(None);
        let error = match self.input(command.clone(), deadline).await {
            Ok(()) => return Ok(Vec::new()),
            Err(error) if error.leaves_doubt() => error,
            Err(error) => return Err(error),
        };
        let evidence = Evidence::of(&command);
        match self.effect(evidence, before.as_ref(), deadline).await {
            Ok(Effect::Seen) => Ok(vec![format!(
                "{error}, but it took effect, as the screen shows"
            )]),
            Ok(Effect::Missing) => {
                self.input(command, deadline).await?;
                Ok(vec![format!(
                    "{error}, and it took no effect, as the screen shows; it was retried"
                )])
            }
            Ok(Effect::Unknown) => Err(error),
            Err(reading) => {
                tracing::debug!(%reading, "it is unknown whether an action took effect");
                Err(error)
            }
        }
    }

    /// Looks for the effect of an action.
    async fn effect(
        &self,
        evidence: Evidence<'_>,
        before: Option<&LastScreen>,
        deadline: Instant,
    ) -> Result<Effect> {
        if evidence == Evidence::Repeatable {
            return Ok(Effect::Missing);
        }
        let mut limit = None;
        for look in 1.. {
            let screen = self.read(deadline).await?;
            match shown(evidence, before, &screen) {
                Effect::Missing => {}
                known => return Ok(known),
            }
            let limit = *limit.get_or_insert(Instant::now() + EFFECT_TIMEOUT);
            if look >= MIN_LOOKS && Instant::now() >= limit {
                break;
            }
            tokio::time::sleep(EFFECT_POLL).await;
        }
        Ok(Effect::Missing)
    }
}

/// What the screen shows of an action; missing may mean that it does not show yet.
fn shown(evidence: Evidence<'_>, before: Option<&LastScreen>, now: &Screen) -> Effect {
    if before.is_some_and(|before| before.mark == now.mark) {
        return Effect::Missing;
    }
    if let Evidence::Text(text) = evidence {
        let before = before.and_then(|before| before.field.as_ref());
        return typed(text, before, Field::focused(now).as_ref());
    }
    let Some(before) = before else {
        return Effect::Unknown;
    };
    // Another app may be in front for another reason, such as a restart of the device.
    let is_same_app = before
        .package
        .as_ref()
        .is_some_and(|package| now.has(package));
    if evidence == Evidence::Change && is_same_app {
        Effect::Seen
    } else {
        Effect::Unknown
    }
}

/// Whether a field holds `text` after what it held.
fn typed(text: &str, before: Option<&Field>, now: Option<&Field>) -> Effect {
    let Some(now) = now else {
        return Effect::Unknown;
    };
    let Some(before) = before.filter(|before| before.id == now.id) else {
        // What stands there may have stood there before; what does not was not typed.
        let mut first = text.chars().take(1);
        let is_there = |c| now.is_password || now.held.contains(c);
        return if now.held.is_empty() || !first.any(is_there) {
            Effect::Missing
        } else {
            Effect::Unknown
        };
    };
    // All of it may be new: a dump may tell of an empty field's hint as its text.
    let (is_all, is_none) = if now.is_password {
        let length = |text: &str| text.chars().count();
        let (was, is) = (length(&before.held), length(&now.held));
        (is == was + length(text) || is == length(text), is == was)
    } else {
        let rest = now.held.strip_prefix(&before.held);
        let is_all = rest == Some(text) || now.held == text;
        (is_all, now.held == before.held)
    };
    match (is_none, is_all) {
        (true, _) => Effect::Missing,
        (false, true) => Effect::Seen,
        (false, false) => Effect::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::Size;
    use packtrain_drivers::tree::{AndroidNode, TreeBuilder};

    use super::*;

    fn screen(package: &str, change: impl FnOnce(&mut AndroidNode)) -> Screen {
        let mut node = AndroidNode {
            package: Some(package.into()),
            is_focused: true,
            is_editable: true,
            ..AndroidNode::default()
        };
        change(&mut node);
        let mut tree = TreeBuilder::new();
        tree.open(None, NodeDetail::Android(Box::new(node)));
        tree.close();
        Screen::new(tree.finish(), Size::new(10.0, 10.0))
    }

    fn holding(text: &str) -> Screen {
        screen("com.a", |node| node.text = Some(text.into()))
    }

    #[test]
    fn a_change_of_the_same_app_is_the_effect_of_one_action_and_of_several_proves_nothing() {
        let (same, after) = (holding(""), holding("x"));
        let before = LastScreen::of(&same);
        let elsewhere = screen("com.launcher", |_| ());
        for (evidence, before, now, expected) in [
            (Evidence::Change, Some(&before), &after, Effect::Seen),
            (Evidence::Change, Some(&before), &same, Effect::Missing),
            (Evidence::Change, Some(&before), &elsewhere, Effect::Unknown),
            (Evidence::Change, None, &after, Effect::Unknown),
            (Evidence::NoChange, Some(&before), &same, Effect::Missing),
            (Evidence::NoChange, Some(&before), &after, Effect::Unknown),
            (Evidence::Text("x"), Some(&before), &after, Effect::Seen),
            (Evidence::Text(""), Some(&before), &same, Effect::Missing),
        ] {
            assert_eq!(shown(evidence, before, now), expected, "{evidence:?}");
        }
    }

    /// What becomes of `text` when a field held the one and holds the other.
    fn typing(text: &str, before: Option<&str>, now: &str, is_password: bool) -> Effect {
        let field = |held: &str| Field {
            id: None,
            is_password,
            held: held.to_owned(),
        };
        typed(text, before.map(field).as_ref(), Some(&field(now)))
    }

    #[test]
    fn text_is_typed_as_a_whole_or_not_at_all_or_nobody_can_tell() {
        for (before, held, expected) in [
            (Some(""), "Ada Lovelace", Effect::Seen),
            (Some("Dear "), "Dear Ada Lovelace", Effect::Seen),
            (Some(""), "", Effect::Missing),
            (Some("Ada Lovelace"), "Ada Lovelace", Effect::Missing),
            (Some("Dear "), "Dear A", Effect::Unknown),
            (Some("Your name"), "Ada Lovelace", Effect::Seen),
            (Some("x"), "Dear Ada Lovelace", Effect::Unknown),
            (None, "", Effect::Missing),
            (None, "Dear ", Effect::Missing),
            (None, "Ada Lovelace", Effect::Unknown),
            (None, "Dear A", Effect::Unknown),
        ] {
            let effect = typing("Ada Lovelace", before, held, false);
            assert_eq!(effect, expected, "{before:?} {held}");
        }
        for (before, held, expected) in [
            (Some(""), "***", Effect::Seen),
            (Some("**"), "*****", Effect::Seen),
            (Some("***"), "***", Effect::Missing),
            (Some(""), "*", Effect::Unknown),
            (None, "", Effect::Missing),
            (None, "***", Effect::Unknown),
        ] {
            let effect = typing("abc", before, held, true);
            assert_eq!(effect, expected, "{before:?} {held}");
        }
        assert_eq!(typed("abc", None, None), Effect::Unknown);
    }

    #[test]
    fn what_another_field_held_says_nothing() {
        let field = |id: &str, held: &str| Field {
            id: Some(id.to_owned()),
            is_password: false,
            held: held.to_owned(),
        };
        let effect = typed("a", Some(&field("a", "ad")), Some(&field("b", "ada")));
        assert_eq!(effect, Effect::Unknown);
    }
}
