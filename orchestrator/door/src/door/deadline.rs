//! The deadline of a request's head, without a timer for each request: it is looked at whenever its
//! connection is, and the connection's own tick sees to that.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{self, Duration};

use hyper::rt::{Sleep, Timer};
use tokio::time::Instant;

/// Makes deadlines for a connection that is looked at again and again.
#[derive(Clone)]
pub(crate) struct Deadlines;

struct Deadline(Instant);

#[expect(clippy::disallowed_types, reason = "hyper's timers speak of std's")]
impl Timer for Deadlines {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline(Instant::now() + duration))
    }

    fn sleep_until(&self, deadline: time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Deadline(deadline.into()))
    }

    fn now(&self) -> time::Instant {
        Instant::now().into_std()
    }
}

impl Future for Deadline {
    type Output = ();

    /// Wakes no task: see above.
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match Instant::now() >= self.0 {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Sleep for Deadline {}
