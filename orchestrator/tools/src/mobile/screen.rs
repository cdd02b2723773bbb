//! What a session remembers of its screen from one call to the next: whether something may still
//! be moving, how large it is, and the references that were last handed out.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, InputCommand, Observation, Size, SnapshotRef,
};

use super::sight::picture;

/// How long after an action things may still be on their way to where they end up.
const MOVING: Duration = Duration::from_secs(1);

/// What a session remembers of its screen.
#[derive(Debug)]
pub(crate) struct ScreenMemory {
    moved: Option<Instant>,
    shown: Option<Shown>,
    size: Option<Size>,
    refs: Vec<SnapshotRef>,
}

/// Looks in a row that all showed the same picture, with nothing done between them.
#[derive(Debug, Clone, Copy)]
struct Shown {
    picture: u64,
    /// When the first of them was over.
    since: Instant,
    /// When the last of them began.
    until: Instant,
}

/// What a command does to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// Things may move.
    Moves,
    /// Things may move, and the screen may change its size.
    Turns,
}

impl ScreenMemory {
    /// Nothing is known yet.
    pub(crate) const fn new() -> Self {
        Self {
            moved: None,
            shown: None,
            size: None,
            refs: Vec::new(),
        }
    }

    /// Whether something was done so shortly before that things may still move.
    pub(crate) fn is_moving(&self) -> bool {
        self.moved.is_some_and(|at| at.elapsed() < MOVING)
    }

    /// Nothing has moved since `then`, whatever was done before.
    pub(crate) fn still_since(&mut self, then: Instant) {
        if self.moved.is_some_and(|at| at <= then) {
            self.moved = None;
        }
    }

    /// For how long the picture of the last look has been seen, from look to look.
    pub(crate) fn unchanged_for(&self) -> Duration {
        self.shown.map_or(Duration::ZERO, |shown| {
            shown.until.duration_since(shown.since)
        })
    }

    /// The screen's size as last seen, while it is likely to be so still.
    pub(crate) const fn size(&self) -> Option<Size> {
        self.size
    }

    /// A command was carried out, or failed half-way.
    pub(crate) fn carried_out(&mut self, effect: Effect) {
        match effect {
            Effect::None => return,
            Effect::Moves => {}
            Effect::Turns => self.size = None,
        }
        self.moved = Some(Instant::now());
        self.shown = None;
    }

    /// The device answered something that it was asked for at a moment.
    pub(crate) fn seen(&mut self, observation: &Observation, asked: Instant) {
        let screen = match observation {
            Observation::Snapshot(snapshot) => {
                self.looked_at(picture(&snapshot.tree), asked, Instant::now());
                snapshot.screen
            }
            Observation::Screenshot(screenshot) => screenshot.screen,
            Observation::Done(_) | Observation::Text(_) | Observation::Json(_) => return,
        };
        if !screen.to_rect().is_empty() {
            self.size = Some(screen);
        }
    }

    fn looked_at(&mut self, picture: u64, asked: Instant, answered: Instant) {
        let same = self.shown.filter(|shown| shown.picture == picture);
        self.shown = Some(Shown {
            picture,
            since: same.map_or(answered, |shown| shown.since),
            until: asked,
        });
    }

    /// References were handed out.
    pub(crate) fn handed_out(&mut self, refs: &[SnapshotRef]) {
        self.refs = refs.to_vec();
    }

    /// What a reference that was handed out stood for.
    pub(crate) fn handed_out_as(&self, name: &str) -> Option<&SnapshotRef> {
        self.refs.iter().find(|reference| reference.name == name)
    }
}

/// What a command does to the screen.
pub(crate) const fn effect(command: &Command) -> Effect {
    match command {
        Command::Begin(_) => Effect::Turns,
        Command::End
        | Command::Snapshot(_)
        | Command::Screenshot
        | Command::Settle { .. }
        | Command::AwaitChange { .. }
        // Pages are waited for by their driver.
        | Command::Web(_) => Effect::None,
        Command::Input(command) => match command {
            InputCommand::SetClipboard(_) => Effect::None,
            InputCommand::Tap { .. }
            | InputCommand::LongPress { .. }
            | InputCommand::Swipe { .. }
            | InputCommand::Drag { .. }
            | InputCommand::Text(_)
            | InputCommand::Erase(_)
            | InputCommand::Key(_)
            | InputCommand::HideKeyboard
            | InputCommand::Paste => Effect::Moves,
        },
        Command::App(command) => match command {
            AppCommand::Launch { .. } | AppCommand::OpenUrl(_) | AppCommand::Rotate { .. } => {
                Effect::Turns
            }
            AppCommand::Stop(_)
            | AppCommand::Clear(_)
            | AppCommand::Install(_)
            | AppCommand::Uninstall(_)
            | AppCommand::Network { .. }
            | AppCommand::AnswerAlert { .. } => Effect::Moves,
            AppCommand::List { .. }
            | AppCommand::Foreground
            | AppCommand::Grant { .. }
            | AppCommand::Alert => Effect::None,
        },
        Command::Android(command) => match command {
            // Whatever was run may have turned the screen.
            AndroidCommand::Shell { .. } => Effect::Turns,
            AndroidCommand::Broadcast { .. } | AndroidCommand::DemoMode { .. } => Effect::Moves,
            AndroidCommand::AppOp { .. }
            | AndroidCommand::WriteFile { .. }
            | AndroidCommand::AddMedia { .. } => Effect::None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_picture_lasts_from_the_end_of_its_first_look_to_the_start_of_its_last() {
        let start = Instant::now();
        let mut screen = ScreenMemory::new();
        assert_eq!(screen.unchanged_for(), ms(0));
        screen.looked_at(7, start, start + ms(200));
        assert_eq!(screen.unchanged_for(), ms(0), "one look proves nothing");
        screen.looked_at(7, start + ms(210), start + ms(400));
        assert_eq!(screen.unchanged_for(), ms(10));
        screen.looked_at(7, start + ms(400), start + ms(600));
        assert_eq!(screen.unchanged_for(), ms(200));
        screen.looked_at(8, start + ms(700), start + ms(900));
        assert_eq!(screen.unchanged_for(), ms(0), "another picture begins anew");
    }

    #[test]
    fn whatever_moves_things_ends_a_picture() {
        let start = Instant::now();
        for (effect, left) in [
            (Effect::None, ms(100)),
            (Effect::Moves, ms(0)),
            (Effect::Turns, ms(0)),
        ] {
            let mut screen = ScreenMemory::new();
            screen.looked_at(7, start, start);
            screen.looked_at(7, start + ms(100), start + ms(100));
            screen.carried_out(effect);
            assert_eq!(screen.unchanged_for(), left, "{effect:?}");
        }
    }
}
