//! A connected phone: commands in, observations out.

use std::time::Duration;

use packtrain_drivers::{
    ActionReport, AxisRestore, BoxFuture, Command, CommandContext, DeviceEvent, DeviceInfo, Driver,
    DriverError, EventSink, Observation, SessionOptions,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::app::AppContext;
use crate::axes::Restoring;
use crate::device::{AndroidDevice, Result};
use crate::session::{Session, UNDO_TIMEOUT};

/// How long before a command's deadline its parts give up, at most.
const DEADLINE_GRACE: Duration = Duration::from_millis(100);

/// One phone, with a session at a time.
pub(crate) struct AdbDriver {
    info: DeviceInfo,
    device: AndroidDevice,
    events: EventSink,
    session: Option<Session>,
    axes: AxisRestore,
}

impl AdbDriver {
    pub(crate) const fn new(
        info: DeviceInfo,
        device: AndroidDevice,
        events: EventSink,
        axes: AxisRestore,
    ) -> Self {
        Self {
            info,
            device,
            events,
            session: None,
            axes,
        }
    }

    async fn run(
        &mut self,
        command: Command,
        ctx: &CommandContext,
    ) -> std::result::Result<Observation, DriverError> {
        let name = command.name();
        let mut ctx = ctx.clone();
        if matches!(command, Command::End) {
            // Who gives a session up wants it to end.
            ctx.cancel = CancellationToken::new();
        }
        // A command that is given up closes its streams, which ends it on the device.
        let work = async {
            let answer = self.dispatch(command, &ctx).await;
            answer.map_err(|error| error.into_driver_error(name))
        };
        ctx.bound(name, work).await
    }

    async fn dispatch(&mut self, command: Command, ctx: &CommandContext) -> Result<Observation> {
        let deadline = ctx.early(DEADLINE_GRACE).deadline;
        match command {
            Command::Begin(options) => {
                // An earlier session has been told what is left, or is gone.
                self.end().await?;
                self.begin(options, deadline).await
            }
            Command::End => Ok(done(self.end().await?)),
            Command::Snapshot(detail) => {
                session(&mut self.session)?;
                self.device.snapshot(detail, deadline).await
            }
            Command::Observe(options) => {
                session(&mut self.session)?;
                self.device.observe(&options, deadline).await
            }
            Command::Screenshot => self.device.picture(deadline).await,
            Command::AwaitChange { since, limit } => {
                session(&mut self.session)?;
                let limit = ctx.remaining_up_to(limit);
                self.device.await_change(since, limit, deadline).await
            }
            Command::Input(command) => {
                session(&mut self.session)?;
                Ok(done(self.device.act(command, deadline).await?))
            }
            Command::App(command) => {
                self.device.remember(None);
                let session = session(&mut self.session)?;
                let ctx = AppContext {
                    base_url: session.base_url.as_deref(),
                    reach: session.reach.as_ref(),
                    restore: &mut session.restore,
                };
                self.device.app(command, ctx, deadline).await
            }
            Command::Android(command) => {
                self.device.remember(None);
                let session = session(&mut self.session)?;
                let restore = &mut session.restore;
                self.device.android(command, restore, deadline).await
            }
            Command::Web(command) => Err(DriverError::Unsupported {
                command: command.name().to_owned(),
                device: "Android".to_owned(),
            }
            .into()),
        }
    }

    async fn begin(&mut self, options: SessionOptions, deadline: Instant) -> Result<Observation> {
        let mut applied = Vec::new();
        if !options.axes.is_empty() {
            let app = options.app.as_deref();
            let (axes, events) = (&mut self.axes, &self.events);
            let apply = (self.device).apply_axes(&options.axes, app, axes, events, deadline);
            applied = apply.await?;
        }
        let has_axes = !options.axes.is_empty();
        let begun = Session::begin(&mut self.device, options, &self.events, deadline);
        let (session, notes) = begun.await?;
        self.session = Some(session);
        if !has_axes {
            return Ok(done(notes));
        }
        for text in notes {
            self.events.report(DeviceEvent::Logged {
                level: "warning".to_owned(),
                text,
                source: None,
            });
        }
        Ok(Observation::Begun(applied))
    }

    /// Ends the session, if there is one, and puts back what axes changed; answers what could not
    /// be undone of the rest.
    async fn end(&mut self) -> Result<Vec<String>> {
        let mut left = Vec::new();
        if let Some(session) = &mut self.session {
            // Given up in the middle, the rest is done with the next session or at the end.
            left = session.end(&self.device).await;
            self.session = None;
        }
        let device = Restoring {
            phone: &self.device.phone,
            deadline: Instant::now() + UNDO_TIMEOUT,
        };
        self.axes.put_back(&self.events, device).await?;
        self.device.screen = self.device.own_screen;
        Ok(left)
    }
}

impl Driver for AdbDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, std::result::Result<Observation, DriverError>> {
        Box::pin(self.run(command, ctx))
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            if let Err(error) = self.end().await {
                tracing::warn!(%error, device = %self.info.id, "letting go of a device");
            }
            self.device.agent.stop().await;
        })
    }
}

fn session(session: &mut Option<Session>) -> Result<&mut Session> {
    session.as_mut().ok_or_else(|| {
        DriverError::Invalid("no session was begun on this device".to_owned()).into()
    })
}

const fn done(notes: Vec<String>) -> Observation {
    Observation::Done(ActionReport {
        located: None,
        notes,
    })
}
