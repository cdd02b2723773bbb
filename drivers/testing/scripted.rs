//! A device in memory, whose every answer a test writes.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    BoxFuture, Command, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Observation,
};

/// What a device does, told to be connected as often as need be.
pub trait Script: Send + Sync + 'static {
    /// What is known of it.
    fn info(&self) -> &DeviceInfo;

    /// What happens when it is connected.
    fn connect(&self, _: &CommandContext) -> impl Future<Output = Result<(), DriverError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Its answer to a command.
    fn execute(
        &self,
        command: Command,
        ctx: &CommandContext,
        events: &EventSink,
    ) -> impl Future<Output = Result<Observation, DriverError>> + Send;

    /// As [`Driver::end_grace`].
    fn end_grace(&self) -> Duration {
        Duration::ZERO
    }

    /// What happens when it is let go of.
    fn close(&self) {}
}

/// Leads to a device that does what is written in `script`.
pub fn scripted(script: Arc<impl Script>) -> Arc<dyn Connector> {
    Arc::new(Scripted(script))
}

struct Scripted<S>(Arc<S>);

impl<S: Script> Connector for Scripted<S> {
    fn id(&self) -> &DeviceId {
        &self.0.info().id
    }

    fn describe(&self) -> DeviceInfo {
        self.0.info().clone()
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            self.0.connect(ctx).await?;
            let script = Arc::clone(&self.0);
            Ok(Box::new(ScriptedDriver { script, events }) as Box<dyn Driver>)
        })
    }
}

struct ScriptedDriver<S> {
    script: Arc<S>,
    events: EventSink,
}

impl<S: Script> Driver for ScriptedDriver<S> {
    fn info(&self) -> &DeviceInfo {
        self.script.info()
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation, DriverError>> {
        Box::pin(self.script.execute(command, ctx, &self.events))
    }

    fn end_grace(&self) -> Duration {
        self.script.end_grace()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.script.close();
        Box::pin(async {})
    }
}
