//! The order in which sessions are asked for.

use std::convert::Infallible;

use tokio::sync::oneshot;

/// Gives turns, one after the other.
#[derive(Debug, Default)]
pub(super) struct Turns(Option<oneshot::Receiver<Infallible>>);

/// A place in the order. Dropped, the next one comes.
#[derive(Debug)]
pub(super) struct Turn {
    /// Ends when the one before is dropped.
    before: Option<oneshot::Receiver<Infallible>>,
    _next: oneshot::Sender<Infallible>,
}

impl Turns {
    /// The place behind all that were taken.
    pub(super) fn take(&mut self) -> Turn {
        let (next, over) = oneshot::channel();
        Turn {
            before: self.0.replace(over),
            _next: next,
        }
    }
}

impl Turn {
    /// Waits until all before it have had their turns, or have given them up.
    pub(super) async fn come(&mut self) {
        if let Some(before) = &mut self.before {
            // Nothing is ever sent.
            let _ = before.await;
            self.before = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn turns_come_in_the_order_in_which_they_were_taken() {
        let mut turns = Turns::default();
        let (mut first, mut second, third) = (turns.take(), turns.take(), turns.take());
        let mut fourth = turns.take();
        first.come().await;
        assert!(futures::poll!(std::pin::pin!(second.come())).is_pending());
        drop(first);
        second.come().await;
        // A turn that never comes holds up no other.
        drop(third);
        assert!(futures::poll!(std::pin::pin!(fourth.come())).is_ready());
    }
}
