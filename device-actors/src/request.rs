//! A request for a device, from the caller's side: waits for the answer and leaves the queue when
//! it is dropped.

use std::time::Duration;

use actix::Addr;
use packtrain_drivers::DeviceId;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::device::{Acquire, DeviceActor, Waiter};
use crate::lease::{Lease, LeaseError};
use crate::lifecycle::{ConnectorId, Event, Ticket};
use crate::state::{DeviceState, WaitReason};

/// How much longer to wait for a driver that must say by the deadline why it did not connect.
const CONNECT_ANSWER_GRACE: Duration = Duration::from_secs(2);

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) id: &'a DeviceId,
    pub(crate) holder: &'a str,
    pub(crate) deadline: Instant,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) ticket: Ticket,
    pub(crate) connector: ConnectorId,
}

/// Leaves the queue when dropped. After a grant that changes nothing.
struct QueueEntry {
    device: Addr<DeviceActor>,
    ticket: Ticket,
}

impl Drop for QueueEntry {
    fn drop(&mut self) {
        self.device.do_send(Event::Left(self.ticket));
    }
}

impl Request<'_> {
    /// The answer; `None` when the actor is gone.
    pub(crate) async fn wait(
        self,
        device: Addr<DeviceActor>,
        mut on_wait: impl FnMut(&WaitReason),
    ) -> Option<Result<Lease, LeaseError>> {
        let (reply, mut answer) = oneshot::channel();
        let (reasons, mut reason) = watch::channel(WaitReason {
            state: DeviceState::Absent,
            ahead: 0,
        });
        // The mailbox's bound does not count here: a place in the queue costs little, and who asks
        // first is first.
        device.do_send(Acquire {
            ticket: self.ticket,
            connector: self.connector,
            id: self.id.clone(),
            holder: self.holder.to_owned(),
            deadline: self.deadline,
            waiter: Waiter {
                reply,
                reason: reasons,
                cancel: self.cancel.clone(),
            },
        });
        let _entry = QueueEntry {
            device,
            ticket: self.ticket,
        };
        loop {
            let connecting = matches!(reason.borrow().state, DeviceState::Connecting);
            let grace = if connecting {
                CONNECT_ANSWER_GRACE
            } else {
                Duration::ZERO
            };
            tokio::select! {
                biased;
                answer = &mut answer => return answer.ok(),
                () = self.cancel.cancelled() => return Some(Err(LeaseError::Cancelled)),
                Ok(()) = reason.changed() => on_wait(&reason.borrow_and_update().clone()),
                () = sleep_until(self.deadline + grace) => {
                    let reason = reason.borrow().clone();
                    let device = self.id.clone();
                    return Some(Err(LeaseError::TimedOut { device, reason }));
                }
            }
        }
    }
}
