//! A connected iOS device: commands in, observations out.

mod alerts;
mod apps;
mod axes;
mod begin;
mod front;
mod input;
mod keyboard;
mod observe;
mod screen;

use std::time::Duration;

use packtrain_drivers::{
    ActionReport, AppCommand, AxisRestore, BoxFuture, Command, CommandContext, DeviceInfo, Driver,
    DriverError, Observation, Reach, ScreenMark, Size,
};

pub(crate) use self::axes::Restoring;
use self::keyboard::KeyboardScreen;
use crate::access::DeviceAccess;
use crate::agent::{Agent, Failure, Reply, WdaRequest};
use crate::alert::{OpenAlert, Permission};
use crate::answer::Refusal;

/// How long the last request may take when a device is let go.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How often an alert that was announced for may get in the way of one command.
const ALERTS: u32 = 4;

type Result<T> = std::result::Result<T, DriverError>;

/// A device under one WebDriverAgent.
pub(crate) struct WdaDriver {
    info: DeviceInfo,
    agent: Agent,
    access: DeviceAccess,
    /// Pixels per point.
    scale: f64,
    state: State,
    axes: AxisRestore,
}

/// What is known within a session.
#[derive(Default)]
struct State {
    /// The device was turned, or may have been, and is to be turned upright again.
    turned: bool,
    /// What the screen showed when it was last read, if nothing was done since.
    seen: Option<ScreenMark>,
    /// The screen as it is held, when it was read.
    screen: Option<Size>,
    /// What the app in front calls itself, and its id.
    front: Option<(String, String)>,
    /// The app that WebDriverAgent would not bind a session to.
    unbindable: Option<String>,
    /// The alert that was reported last and is still open.
    alert: Option<OpenAlert>,
    /// Screens on which no drag hid the keyboard.
    undismissable: Vec<KeyboardScreen>,
    /// Permissions that are granted as soon as an app asks.
    grants: Vec<(String, Permission)>,
    /// Which addresses may be opened.
    reach: Option<Reach>,
    /// What was put on the clipboard.
    clipboard: Option<String>,
}

impl WdaDriver {
    /// A driver for a device whose WebDriverAgent has answered. `scale` is in pixels per point.
    pub(crate) fn new(
        info: DeviceInfo,
        agent: Agent,
        access: DeviceAccess,
        scale: f64,
        axes: AxisRestore,
    ) -> Self {
        Self {
            info,
            agent,
            access,
            scale,
            state: State::default(),
            axes,
        }
    }

    async fn run(&mut self, command: Command, ctx: &CommandContext) -> Result<Observation> {
        let name = command.name();
        ctx.bound(name, self.dispatch(command, ctx)).await
    }

    async fn dispatch(&mut self, command: Command, ctx: &CommandContext) -> Result<Observation> {
        match command {
            Command::Begin(options) => self.begin(&options, ctx).await,
            Command::End => self.end(ctx).await,
            Command::Snapshot(detail) => self.snapshot(detail, ctx).await,
            Command::Observe(options) => self.observe(&options, ctx).await,
            Command::Screenshot => self.screenshot(ctx).await,
            Command::AwaitChange { since, limit } => self.await_change(since, limit, ctx).await,
            Command::Input(command) => {
                self.state.seen = None;
                self.input(command, ctx).await
            }
            Command::App(command) => {
                self.state.seen = None;
                self.app(command, ctx).await
            }
            Command::Android(command) => Err(self.unsupported(command.name())),
            Command::Web(command) => Err(self.unsupported(command.name())),
        }
    }

    async fn app(&mut self, command: AppCommand, ctx: &CommandContext) -> Result<Observation> {
        let name = command.name();
        match command {
            AppCommand::Launch { id, mode } => self.launch(&id, mode, ctx).await,
            AppCommand::Stop(id) => self.stop(&id, ctx).await,
            AppCommand::Clear(id) => self.clear(&id, ctx).await,
            AppCommand::Install(file) => self.install(&file).await,
            AppCommand::Uninstall(id) => self.uninstall(&id).await,
            AppCommand::List { system } => self.list(system).await,
            AppCommand::Foreground => self.foreground(ctx).await,
            AppCommand::OpenUrl(url) => self.open_url(&url, ctx).await,
            AppCommand::Grant { id, permissions } => self.grant(&id, &permissions).await,
            AppCommand::Network { .. } => Err(self.unsupported(name)),
            AppCommand::Rotate { landscape } => self.rotate(landscape, ctx).await,
            AppCommand::Alert => self.read_alert(ctx).await,
            AppCommand::AnswerAlert { accept, button } => {
                self.answer_alert(accept, button.as_deref(), ctx).await
            }
        }
    }

    /// Asks WebDriverAgent. An alert that is in its way is answered when it asks for a permission
    /// that was granted; any other is reported, and the command failed because of it.
    async fn ask(
        &mut self,
        request: &WdaRequest,
        ctx: &CommandContext,
    ) -> std::result::Result<Reply, Failure> {
        for _ in 0..ALERTS {
            match self.agent.ask(request, ctx).await {
                Err(failure) if failure.is(Refusal::AlertOpen) => {
                    let Some(alert) = self.open_alert(ctx).await? else {
                        // Another client has answered it.
                        continue;
                    };
                    if !self.handle_alert(&alert, ctx).await? {
                        let what = format!("{}: an alert is open", request.doing());
                        let log = vec![format!("the alert {}", alert.summary())];
                        return Err(DriverError::Unmet { what, log }.into());
                    }
                }
                answer => return answer,
            }
        }
        let what = format!("{}: alerts keep appearing", request.doing());
        Err(DriverError::unmet(what).into())
    }

    /// As `request`, where a refusal is a failure of the step.
    async fn have(&mut self, request: &WdaRequest, ctx: &CommandContext) -> Result<Reply> {
        let reply = self.ask(request, ctx).await;
        reply.map_err(|failure| failure.into_error(request.doing()))
    }

    fn unsupported(&self, command: &str) -> DriverError {
        DriverError::Unsupported {
            command: command.to_owned(),
            device: self.access.name().to_owned(),
        }
    }

    /// The screen as it is held, as far as is known.
    fn screen_size(&self) -> Size {
        self.state.screen.unwrap_or(self.info.screen)
    }
}

fn done() -> Result<Observation> {
    Ok(Observation::Done(ActionReport::default()))
}

fn noted(note: impl Into<String>) -> Result<Observation> {
    Ok(Observation::Done(ActionReport {
        located: None,
        notes: vec![note.into()],
    }))
}

impl Driver for WdaDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation>> {
        Box::pin(self.run(command, ctx))
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let ctx = CommandContext::within(CLOSE_TIMEOUT);
            self.agent.start_no_more();
            if let Err(error) = self.end(&ctx).await {
                tracing::debug!(%error, device = %self.info.id, "letting go of a device");
            }
        })
    }
}
