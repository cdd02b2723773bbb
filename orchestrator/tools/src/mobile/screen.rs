//! What a session remembers of its screen from one call to the next: whether something may still
//! be moving, how large it is, and the references that were last handed out.

use std::time::Duration;

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, InputCommand, Observation, ScreenMark, Size, SnapshotRef,
};
use tokio::time::Instant;

/// How long after an action things may still be on their way to where they end up.
const MOTION_GRACE: Duration = Duration::from_secs(1);

/// What a session remembers of its screen.
#[derive(Debug)]
pub(crate) struct ScreenMemory {
    /// When something was last done that may move things.
    acted: Option<Instant>,
    /// Since when nothing has moved, as somebody found out.
    still: Option<Instant>,
    shown: Option<Shown>,
    /// What the last look before that showed.
    before: Option<ScreenMark>,
    size: Option<Size>,
    refs: Vec<SnapshotRef>,
}

/// A command on its way to the device, as far as the screen is concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    effect: Effect,
    since: Option<ScreenMark>,
    at: Instant,
}

/// Looks in a row that all showed the same, with nothing done between them.
#[derive(Debug, Clone, Copy)]
struct Shown {
    mark: ScreenMark,
    /// When the first of them was over.
    since: Instant,
    /// When the last of them began.
    until: Instant,
}

/// What a command does to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
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
            acted: None,
            still: None,
            shown: None,
            before: None,
            size: None,
            refs: Vec::new(),
        }
    }

    /// Whether something was done so shortly before that things may still move.
    pub(crate) fn is_moving(&self) -> bool {
        self.acted.is_some_and(|acted| {
            acted.elapsed() < MOTION_GRACE && self.still.is_none_or(|at| at < acted)
        })
    }

    /// Nothing has moved since `then`, whatever was done before.
    pub(crate) fn still_since(&mut self, then: Instant) {
        self.still = self.still.max(Some(then));
    }

    /// For how long the screen has shown what the last look saw, from look to look.
    pub(crate) fn unchanged_for(&self) -> Duration {
        self.shown.map_or(Duration::ZERO, |shown| {
            shown.until.duration_since(shown.since)
        })
    }

    /// What the screen showed when it was last looked at before something was done.
    pub(crate) fn before_last_act(&self) -> Option<ScreenMark> {
        self.shown.map_or(self.before, |shown| Some(shown.mark))
    }

    /// The screen's size as last seen, while it is likely to be so still.
    pub(crate) const fn size(&self) -> Option<Size> {
        self.size
    }

    /// A command was answered, or failed half-way.
    pub(crate) fn answered(&mut self, asked: Asked, observation: Option<&Observation>) {
        let now = Instant::now();
        self.carried_out(asked.effect, now);
        if let Some(observation) = observation {
            self.seen(asked, observation, now);
        }
    }

    fn carried_out(&mut self, effect: Effect, now: Instant) {
        match effect {
            Effect::None => return,
            Effect::Moves => {}
            Effect::Turns => self.size = None,
        }
        self.acted = Some(now);
        self.before = self.before_last_act();
        self.shown = None;
    }

    fn seen(&mut self, asked: Asked, observation: &Observation, now: Instant) {
        // Another caller may have done something meanwhile: this tells nothing of the time after.
        if self.acted.is_some_and(|acted| asked.at < acted) {
            return;
        }
        let screen = match observation {
            Observation::Snapshot(snapshot) => {
                self.looked(snapshot.mark, asked.at, now);
                snapshot.screen
            }
            Observation::Unchanged => {
                if let Some(mark) = asked.since {
                    self.looked(mark, asked.at, now);
                }
                return;
            }
            Observation::Screenshot(screenshot) => screenshot.screen,
            Observation::Observed(observed) => {
                // It took two looks of its own, as far apart as when an element is waited for.
                if observed.is_still && !observed.settled.is_zero() {
                    self.still_since(asked.at);
                }
                observed.snapshot.screen
            }
            Observation::Begun(_)
            | Observation::Done(_)
            | Observation::Text(_)
            | Observation::Json(_) => return,
        };
        if !screen.to_rect().is_empty() {
            self.size = Some(screen);
        }
    }

    fn looked(&mut self, mark: ScreenMark, asked: Instant, answered: Instant) {
        let same = self.shown.filter(|shown| shown.mark == mark);
        self.shown = Some(Shown {
            mark,
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

impl Asked {
    /// A command that is given to the device now.
    pub(crate) fn now(command: &Command) -> Self {
        let since = match command {
            Command::AwaitChange { since, .. } => Some(*since),
            _ => None,
        };
        Self {
            effect: effect(command),
            since,
            at: Instant::now(),
        }
    }
}

/// What a command does to the screen.
const fn effect(command: &Command) -> Effect {
    match command {
        Command::Begin(_) => Effect::Turns,
        Command::End
        | Command::Snapshot(_)
        | Command::Screenshot
        | Command::Observe(_)
        | Command::AwaitChange { .. }
        // Pages are waited for by their driver.
        | Command::Web(_) => Effect::None,
        Command::Input(command) => match command {
            InputCommand::SetClipboard(_) => Effect::None,
            InputCommand::Tap { .. }
            | InputCommand::LongPress { .. }
            | InputCommand::Swipe { .. }
            | InputCommand::Drag { .. }
            | InputCommand::Pinch { .. }
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
    use packtrain_drivers::{NodeDetail, Observed, Snapshot, Tree, TreeBuilder};

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// The marks of two screens that differ.
    fn marks() -> [ScreenMark; 2] {
        let mut other = TreeBuilder::new();
        other.open(None, NodeDetail::Ios(Box::default()));
        [Tree::default(), other.finish()].map(|tree| ScreenMark::of(&tree))
    }

    #[test]
    fn a_mark_lasts_from_the_end_of_its_first_look_to_the_start_of_its_last() {
        let start = Instant::now();
        let [one, other] = marks();
        let mut screen = ScreenMemory::new();
        assert_eq!(screen.unchanged_for(), ms(0));
        screen.looked(one, start, start + ms(200));
        assert_eq!(screen.unchanged_for(), ms(0), "one look proves nothing");
        screen.looked(one, start + ms(210), start + ms(400));
        assert_eq!(screen.unchanged_for(), ms(10));
        screen.looked(one, start + ms(400), start + ms(600));
        assert_eq!(screen.unchanged_for(), ms(200));
        screen.looked(other, start + ms(700), start + ms(900));
        assert_eq!(screen.unchanged_for(), ms(0), "another screen");
    }

    #[test]
    fn whatever_moves_things_ends_a_mark() {
        let start = Instant::now();
        for (effect, left) in [
            (Effect::None, ms(100)),
            (Effect::Moves, ms(0)),
            (Effect::Turns, ms(0)),
        ] {
            let [mark, _] = marks();
            let mut screen = ScreenMemory::new();
            screen.looked(mark, start, start);
            screen.looked(mark, start + ms(100), start + ms(100));
            screen.carried_out(effect, start + ms(100));
            assert_eq!(screen.unchanged_for(), left, "{effect:?}");
        }
    }

    #[test]
    fn a_look_that_was_asked_for_before_another_callers_touch_proves_nothing_after_it() {
        let start = Instant::now();
        let [mark, _] = marks();
        let mut screen = ScreenMemory::new();
        let look = |at| Asked {
            effect: Effect::None,
            since: Some(mark),
            at,
        };
        screen.carried_out(Effect::Moves, start + ms(50));
        screen.seen(look(start), &Observation::Unchanged, start + ms(60));
        screen.seen(
            look(start + ms(200)),
            &Observation::Unchanged,
            start + ms(220),
        );
        assert_eq!(screen.unchanged_for(), ms(0));
        screen.seen(
            look(start + ms(300)),
            &Observation::Unchanged,
            start + ms(320),
        );
        assert_eq!(screen.unchanged_for(), ms(80));
    }

    #[test]
    fn an_observation_ends_motion_only_by_two_looks_of_its_own() {
        let start = Instant::now();
        for (is_still, settled, is_moving) in [
            (true, ms(5), false),
            (true, ms(0), true),
            (false, ms(900), true),
        ] {
            let observed = Observation::Observed(Box::new(Observed {
                snapshot: Snapshot {
                    mark: marks()[0],
                    tree: Tree::default(),
                    text: String::new(),
                    refs: Vec::new(),
                    location: None,
                    title: None,
                    screen: Size::new(1.0, 1.0),
                },
                picture: None,
                masked: Vec::new(),
                defects: Vec::new(),
                settled,
                is_still,
                hidden: Vec::new(),
            }));
            let asked = Asked {
                effect: Effect::None,
                since: None,
                at: start,
            };
            let mut screen = ScreenMemory::new();
            screen.carried_out(Effect::Moves, start);
            screen.seen(asked, &observed, start + ms(300));
            assert_eq!(screen.is_moving(), is_moving, "{is_still} {settled:?}");
        }
    }
}
