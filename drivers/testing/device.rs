//! What every test of a driver does with a device, whatever the wire.

use std::time::Duration;

use packtrain_drivers::{
    AppCommand, Command, CommandContext, Driver, DriverError, InputCommand, LaunchMode, NodeDetail,
    Observation, Point, ScreenMark, Snapshot, SnapshotDetail,
};

use crate::phone::SHOP;

/// How long anything may take before a test fails.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// What is on the screen.
pub const SNAPSHOT: Command = Command::Snapshot(SnapshotDetail {
    bounds: false,
    css_selectors: false,
    offscreen: false,
    lasting: false,
});

/// A context with all the time a test has.
pub fn context() -> CommandContext {
    CommandContext::within(TEST_TIMEOUT)
}

/// A device that a test drives.
#[expect(async_fn_in_trait, reason = "tests need no `Send`")]
pub trait TestDevice {
    /// What drives it.
    fn driver_mut(&mut self) -> &mut dyn Driver;

    /// What a failed test calls it.
    fn label(&self) -> String;

    /// Runs a command in a context of its own.
    async fn execute_in(
        &mut self,
        command: Command,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        self.driver_mut().execute(command, ctx).await
    }

    /// Runs a command.
    async fn execute(&mut self, command: Command) -> Result<Observation, DriverError> {
        self.execute_in(command, &context()).await
    }

    /// The answer to a command that must succeed.
    async fn ok(&mut self, command: Command) -> Observation {
        let (label, name) = (self.label(), command.name());
        let done = self.execute(command).await;
        done.unwrap_or_else(|error| panic!("{label} {name}: {error}\n{:#?}", error.log()))
    }

    /// Why a command failed that must fail.
    async fn err(&mut self, command: Command) -> DriverError {
        let (label, name) = (self.label(), command.name());
        match self.execute(command).await {
            Ok(answer) => panic!("{label} {name} succeeded: {answer:?}"),
            Err(error) => error,
        }
    }

    /// The notes of a command that was carried out.
    async fn notes(&mut self, command: Command) -> Vec<String> {
        match self.ok(command).await {
            Observation::Done(report) => report.notes,
            other => panic!("{other:?}"),
        }
    }

    /// Runs an input command that must succeed.
    async fn input(&mut self, command: InputCommand) {
        self.ok(Command::Input(command)).await;
    }

    /// The answer to a command about apps that must succeed.
    async fn app(&mut self, command: AppCommand) -> Observation {
        self.ok(Command::App(command)).await
    }

    /// The JSON that a command answers.
    async fn json(&mut self, command: Command) -> serde_json::Value {
        match self.ok(command).await {
            Observation::Json(value) => value,
            other => panic!("{other:?}"),
        }
    }

    /// What is on the screen.
    async fn snapshot(&mut self) -> Box<Snapshot> {
        match self.ok(SNAPSHOT).await {
            Observation::Snapshot(snapshot) => snapshot,
            other => panic!("{other:?}"),
        }
    }

    /// What the screen shows once it shows something else than that snapshot, if it comes to that.
    async fn change_since(&mut self, mark: ScreenMark, limit: Duration) -> Option<Box<Snapshot>> {
        match self.ok(Command::AwaitChange { since: mark, limit }).await {
            Observation::Snapshot(snapshot) => Some(snapshot),
            Observation::Unchanged => None,
            other => panic!("{other:?}"),
        }
    }

    /// Brings the shop to the front as it is after a fresh start.
    async fn open_shop(&mut self) {
        let (id, mode) = (SHOP.to_owned(), LaunchMode::ForceRestart);
        self.app(AppCommand::Launch { id, mode }).await;
    }

    /// The middle of an element.
    async fn center(&mut self, name: &str) -> Point {
        let snapshot = self.snapshot().await;
        let mut nodes = snapshot.tree.nodes().iter();
        let found = nodes.find_map(|node| node.bounds.filter(|_| is_named(&node.detail, name)));
        let Some(bounds) = found else {
            panic!("{}: no {name} in\n{}", self.label(), snapshot.text);
        };
        bounds.center()
    }

    /// Taps an element.
    async fn tap(&mut self, name: &str) {
        let at = self.center(name).await;
        self.input(InputCommand::Tap { at }).await;
    }

    /// Types into an element.
    async fn fill(&mut self, name: &str, text: &str) {
        self.tap(name).await;
        self.input(InputCommand::Text(text.to_owned())).await;
    }

    /// Whether an element of that id, text or description is on the screen.
    async fn shows(&mut self, name: &str) -> bool {
        let snapshot = self.snapshot().await;
        let mut nodes = snapshot.tree.nodes().iter();
        nodes.any(|node| is_named(&node.detail, name))
    }
}

fn is_named(detail: &NodeDetail, name: &str) -> bool {
    let names = match detail {
        NodeDetail::Android(node) => {
            let id = node.resource_id.as_deref();
            let id = id.and_then(|id| id.split_once(":id/"));
            [
                id.map(|(_, id)| id),
                node.text.as_deref(),
                node.content_description.as_deref(),
            ]
        }
        NodeDetail::Ios(node) => [node.identifier.as_deref(), node.label.as_deref(), None],
        _ => [None; 3],
    };
    names.contains(&Some(name))
}
