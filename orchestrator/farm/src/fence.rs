//! The fence between a host's sessions and its devices: open only while the host is certain to be taken
//! for alive. A host that was stopped, or cut off, and comes back sends no command before it knows
//! which of its leases it still has.

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    BoxFuture, Command, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Observation,
};
use tokio::sync::watch;
use tokio::time::Instant;

/// Until when commands pass. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Fence(watch::Sender<Gate>);

/// Where a fence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// It was never open: the farm does not know this host yet, and no device of it is anybody's.
    New,
    /// Open until then.
    OpenUntil(Instant),
    /// Closed again.
    Closed,
}

impl Gate {
    fn is_open(self) -> bool {
        match self {
            Self::OpenUntil(moment) => Instant::now() < moment,
            Self::New | Self::Closed => false,
        }
    }
}

impl Default for Fence {
    fn default() -> Self {
        Self(watch::Sender::new(Gate::New))
    }
}

impl Fence {
    /// Lets commands pass until then.
    pub fn open_until(&self, moment: Instant) {
        self.0.send_replace(Gate::OpenUntil(moment));
    }

    /// Lets nothing pass.
    pub fn close(&self) {
        self.0.send_replace(Gate::Closed);
    }

    /// Whether commands pass now.
    pub fn is_open(&self) -> bool {
        self.0.borrow().is_open()
    }

    /// Waits until commands pass.
    pub async fn pass(&self) {
        if self.is_open() {
            return;
        }
        let mut opened = self.0.subscribe();
        // Every waiter has a sender, so that it never ends without.
        let _ = opened.wait_for(|gate| gate.is_open()).await;
    }

    /// Waits until a command may pass, for as long as anybody wants it carried out.
    async fn admit(&self, ctx: &CommandContext) -> Result<(), DriverError> {
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => return Err(DriverError::Cancelled),
            () = self.pass() => {}
            () = tokio::time::sleep_until(ctx.deadline) => {}
        }
        if self.is_open() {
            Ok(())
        } else {
            Err(DriverError::lost("this host lost contact with its farm"))
        }
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
            // Connecting sends commands, too: what an earlier holder left on the device is put back,
            // apps are installed. A host that may be taken for dead must not, for its device may be
            // another's by now. One that the farm has never known waits for nothing: it is told to the
            // farm only once its devices are connected.
            if *self.fence.0.borrow() != Gate::New {
                self.fence.admit(ctx).await?;
            }
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
            self.fence.admit(ctx).await?;
            self.inner.execute(command, ctx).await
        })
    }

    fn end_grace(&self) -> Duration {
        self.inner.end_grace()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        self.inner.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_comes_to_a_closed_fence_waits_until_it_is_opened() {
        let fence = Fence::default();
        let ctx = CommandContext::within(Duration::from_secs(60));
        let mut waiting = std::pin::pin!(fence.admit(&ctx));
        assert!(futures::poll!(&mut waiting).is_pending());
        fence.open_until(Instant::now() + Duration::from_secs(5));
        assert_eq!(waiting.await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_fence_closes_by_itself() {
        let fence = Fence::default();
        fence.open_until(Instant::now() + Duration::from_secs(5));
        assert!(fence.is_open());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(!fence.is_open());
        let ctx = CommandContext::within(Duration::from_secs(60));
        assert!(futures::poll!(std::pin::pin!(fence.admit(&ctx))).is_pending());
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_passes_a_closed_fence_because_its_time_is_up() {
        let fence = Fence::default();
        fence.close();
        let late = fence.admit(&CommandContext::within(Duration::ZERO)).await;
        assert!(matches!(late, Err(DriverError::Lost { .. })), "{late:?}");
        let ctx = CommandContext::within(Duration::from_secs(60));
        ctx.cancel.cancel();
        assert_eq!(fence.admit(&ctx).await, Err(DriverError::Cancelled));
    }
}
