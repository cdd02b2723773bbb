//! The host that is this computer: its devices, its tools, its files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use packtrain_device_actors::Fleet;
use packtrain_drivers::{BoxFuture, DeviceInfo};
use packtrain_model::{Outcome, RunEvent};
use packtrain_tools::{Caller, SharedRegistry};
use tokio::sync::mpsc;

use crate::host::{DeviceChange, SessionHost, SessionOutput};
use crate::judge::judge_lease;
use crate::loader::TrailLoader;
use crate::order::SessionOrder;
use crate::session::SessionContext;
use crate::stop::SessionStop;

/// This computer. Cheap to clone.
#[derive(Clone)]
pub struct Here {
    /// The devices.
    pub fleet: Fleet,
    /// The tools.
    pub registry: SharedRegistry,
    /// Where trails inside trails come from.
    pub loader: Arc<dyn TrailLoader>,
    /// Whoever asked for the sessions.
    pub caller: Caller,
    /// Where relative paths lead when they lead nowhere from the trail's folder.
    pub working_directory: PathBuf,
    /// Folder for downloads and device logs while they are written; without one there are none.
    pub scratch: Option<PathBuf>,
}

impl Here {
    /// Leases the device that an order requires and begins its session on it.
    ///
    /// # Errors
    /// The outcome, when there will be no session.
    pub async fn open(
        &self,
        order: &SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> Result<SessionContext, Outcome> {
        let required = order.requires.described();
        let started = |device: DeviceInfo| {
            let mut planned = order.planned.clone();
            planned.device = Some(device.id.clone());
            RunEvent::SessionStarted {
                session: order.session.clone(),
                planned,
                attempt: order.attempt,
                device,
            }
        };
        let holder = format!("{} of run {}", order.session, order.run);
        let deadline = Instant::now() + order.options.connect_timeout;
        let leased = self
            .fleet
            .lease(&required.id, &holder, deadline, stop.token());
        match leased.await {
            Ok(lease) => {
                output.record(started(lease.device().clone())).await;
                SessionContext::begin(order, lease, self, output, stop).await
            }
            Err(error) => {
                output.record(started(required.clone())).await;
                Err(judge_lease(&error, stop.cause()))
            }
        }
    }
}

impl SessionHost for Here {
    fn run(
        &self,
        order: SessionOrder,
        output: SessionOutput,
        stop: SessionStop,
    ) -> BoxFuture<'static, Outcome> {
        let here = self.clone();
        Box::pin(async move {
            match here.open(&order, output, stop).await {
                Ok(session) => {
                    let outcome = session.walk(&order.trail).await;
                    session.end().await;
                    outcome
                }
                Err(outcome) => outcome,
            }
        })
    }

    fn device_changes(&self) -> mpsc::Receiver<DeviceChange> {
        mpsc::channel(1).1
    }
}
