//! Actions that were sent and never answered: the screen tells whether they took effect.
//!
//! What had not been sent is simply sent again, by whoever sends it. What had been is never done
//! twice on a guess: it is done again only where the screen shows that it was not done, and where
//! nobody can tell the device is lost.

use std::time::{Duration, Instant};

use packtrain_drivers::{InputCommand, NodeDetail, ScreenMark};

use crate::device::{AndroidDevice, Result};
use crate::screen::Screen;

/// How long the effect of an action may take to show.
const EFFECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often it is looked for.
const EFFECT_POLL: Duration = Duration::from_millis(150);
/// The fewest looks that prove that nothing shows: time alone proves nothing about a device that
/// had no processor meanwhile.
const MIN_LOOKS: u32 = 8;

/// What the screen showed when it was last read, if nothing was done since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    mark: ScreenMark,
    /// The app in front.
    package: Option<String>,
}

impl Seen {
    pub(crate) fn of(screen: &Screen) -> Self {
        Self {
            mark: screen.mark,
            package: screen.package().map(str::to_owned),
        }
    }
}

/// What is known of an action that nobody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The screen shows it.
    Seen,
    /// The screen shows that there was none.
    Missing,
    /// Nobody can tell.
    Unknown,
}

/// What shows the effect of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence<'a> {
    /// Whatever changes on the screen.
    Change,
    /// What the field that has the focus ends with.
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
                    "{error} without having taken effect, as the screen shows; it was repeated"
                )])
            }
            Ok(Effect::Unknown) => Err(error),
            Err(reading) => {
                tracing::debug!(%reading, "nobody can tell whether an action took effect");
                Err(error)
            }
        }
    }

    /// Looks for the effect of an action.
    async fn effect(
        &self,
        evidence: Evidence<'_>,
        before: Option<&Seen>,
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
fn shown(evidence: Evidence<'_>, before: Option<&Seen>, now: &Screen) -> Effect {
    if before.is_some_and(|before| before.mark == now.mark) {
        return Effect::Missing;
    }
    if let Evidence::Text(text) = evidence {
        return typed(text, now);
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

/// Whether the field that has the focus ends with `text`.
fn typed(text: &str, now: &Screen) -> Effect {
    let mut nodes = now.tree.nodes().iter();
    let field = nodes.find_map(|node| match &node.detail {
        NodeDetail::Android(node) if node.is_focused && node.is_editable => Some(node),
        _ => None,
    });
    let Some(field) = field else {
        return Effect::Unknown;
    };
    let held = field.text.as_deref().unwrap_or_default();
    if field.is_password {
        // Its characters are not told, their number is.
        return match held.chars().count() {
            0 => Effect::Missing,
            count if count == text.chars().count() => Effect::Seen,
            _ => Effect::Unknown,
        };
    }
    if held.ends_with(text) {
        return Effect::Seen;
    }
    let mut beginnings = text.char_indices().skip(1).map(|(end, _)| &text[..end]);
    if beginnings.any(|beginning| held.ends_with(beginning)) {
        Effect::Unknown
    } else {
        Effect::Missing
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
        let before = Seen::of(&same);
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

    #[test]
    fn text_is_typed_as_a_whole_or_not_at_all_or_nobody_can_tell() {
        for (held, expected) in [
            ("Ada Lovelace", Effect::Seen),
            ("Dear Ada Lovelace", Effect::Seen),
            ("", Effect::Missing),
            ("Dear ", Effect::Missing),
            ("Ada Lo", Effect::Unknown),
            ("Dear A", Effect::Unknown),
        ] {
            assert_eq!(typed("Ada Lovelace", &holding(held)), expected, "{held}");
        }
        let secret = |held: &str| {
            screen("com.a", |node| {
                node.is_password = true;
                node.text = Some(held.into());
            })
        };
        assert_eq!(
            typed("abc", &secret("\u{2022}\u{2022}\u{2022}")),
            Effect::Seen
        );
        assert_eq!(typed("abc", &secret("")), Effect::Missing);
        assert_eq!(typed("abc", &secret("\u{2022}")), Effect::Unknown);
        assert_eq!(
            typed("abc", &screen("com.a", |node| node.is_focused = false)),
            Effect::Unknown
        );
    }
}
