//! What a session remembers of its screen from one call to the next: whether something may still
//! be moving, how large it is, and the references that were last handed out.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, InputCommand, Observation, Size, SnapshotRef,
};

/// How long after an action things may still be on their way to where they end up.
const MOVING: Duration = Duration::from_secs(1);

/// What a session remembers of its screen.
#[derive(Debug)]
pub(crate) struct ScreenMemory {
    moved: Option<Instant>,
    size: Option<Size>,
    refs: Vec<SnapshotRef>,
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

    /// The screen's size as last seen, while it is likely to be so still.
    pub(crate) const fn size(&self) -> Option<Size> {
        self.size
    }

    /// A command was carried out, or failed half-way.
    pub(crate) fn carried_out(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Moves => self.moved = Some(Instant::now()),
            Effect::Turns => {
                self.moved = Some(Instant::now());
                self.size = None;
            }
        }
    }

    /// The device answered something.
    pub(crate) fn seen(&mut self, observation: &Observation) {
        let screen = match observation {
            Observation::Snapshot(snapshot) => snapshot.screen,
            Observation::Screenshot(screenshot) => screenshot.screen,
            Observation::Done(_) | Observation::Text(_) | Observation::Json(_) => return,
        };
        if !screen.to_rect().is_empty() {
            self.size = Some(screen);
        }
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
