//! The fence between a host's sessions and its devices: open only while the host is certain to be taken
//! for alive. A host that was stopped, or cut off, and comes back sends no command before it knows
//! which of its leases it still has.

use std::sync::Arc;

use packtrain_drivers::{
    BoxFuture, Command, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Observation,
};
use tokio::sync::watch;
use tokio::time::Instant;

/// Until when commands pass. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Fence(watch::Sender<Option<Instant>>);

impl Default for Fence {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl Fence {
    /// Lets commands pass until then.
    pub fn open_until(&self, moment: Instant) {
        self.0.send_replace(Some(moment));
    }

    /// Lets nothing pass.
    pub fn close(&self) {
        self.0.send_replace(None);
    }

    /// Whether commands pass now.
    pub fn is_open(&self) -> bool {
        self.0.borrow().is_some_and(|until| Instant::now() < until)
    }

    /// Waits until commands pass.
    pub async fn pass(&self) {
        if self.is_open() {
            return;
        }
        let mut opened = self.0.subscribe();
        // Whoever waits has a sender, so that it never ends without.
        let _ = opened
            .wait_for(|until| until.is_some_and(|until| Instant::now() < until))
            .await;
    }

    /// A connector whose devices get their commands through this fence.
    pub fn around(&self, connector: Arc<dyn Connector>) -> Arc<dyn Connector> {
        Arc::new(Fenced {
            fence: self.clone(),
            inner: connector,
        })
    }
}

struct Fenced {
    fence: Fence,
    inner: Arc<dyn Connector>,
}

impl Connector for Fenced {
    fn id(&self) -> &DeviceId {
        self.inner.id()
    }

    fn describe(&self) -> DeviceInfo {
        self.inner.describe()
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            let inner = self.inner.connect(events, ctx).await?;
            let fence = self.fence.clone();
            Ok(Box::new(FencedDriver { fence, inner }) as Box<dyn Driver>)
        })
    }
}

struct FencedDriver {
    fence: Fence,
    inner: Box<dyn Driver>,
}

impl Driver for FencedDriver {
    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation, DriverError>> {
        if self.fence.is_open() {
            return self.inner.execute(command, ctx);
        }
        Box::pin(async move {
            tokio::select! {
                biased;
                () = ctx.cancel.cancelled() => return Err(DriverError::Cancelled),
                () = self.fence.pass() => {}
                () = tokio::time::sleep_until(ctx.deadline.into()) => {}
            }
            if !self.fence.is_open() {
                return Err(DriverError::lost("this host lost touch with its farm"));
            }
            self.inner.execute(command, ctx).await
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.inner.close()
    }
}
