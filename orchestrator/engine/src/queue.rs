//! How long a session waits for its device: for whoever has it, as long as they take; for the device
//! itself, as long as it may take to connect.

use std::time::Duration;

use packtrain_device_actors::{DeviceState, WaitReason};
use tokio::sync::watch;

/// Whether somebody else comes first.
pub(crate) fn is_held(reason: &WaitReason) -> bool {
    matches!(reason.state, DeviceState::Leased(_)) || reason.ahead > 0
}

/// Waits until a device that nobody else has has been waited for as long as that; answers why.
pub(crate) async fn connected_too_long(
    mut reason: watch::Receiver<Option<WaitReason>>,
    limit: Duration,
) -> WaitReason {
    let is_others = |reason: &Option<WaitReason>| reason.as_ref().is_some_and(is_held);
    loop {
        // Its sender lives as long as the device is waited for.
        let _ = reason.wait_for(|reason| !is_others(reason)).await;
        if tokio::time::timeout(limit, reason.wait_for(is_others))
            .await
            .is_err()
            && let Some(reason) = reason.borrow().clone()
        {
            return reason;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, advance};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(120);
    const HOUR: Duration = Duration::from_secs(3600);

    /// That so many come first.
    fn behind(ahead: usize) -> Option<WaitReason> {
        let state = DeviceState::Connecting;
        Some(WaitReason { state, ahead })
    }

    async fn later(time: Duration) {
        // Whoever waits looks at the clock before and after.
        tokio::task::yield_now().await;
        advance(time).await;
        tokio::task::yield_now().await;
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_has_it_takes_as_long_as_they_take_and_the_device_does_not() {
        let (reasons, waits) = watch::channel(behind(1));
        let waiting = tokio::spawn(connected_too_long(waits, LIMIT));
        for ahead in [2, 0, 1] {
            reasons.send_replace(behind(ahead));
            // A moment less than it may take by itself.
            later(LIMIT - Duration::from_secs(1)).await;
            assert!(!waiting.is_finished());
        }
        later(HOUR).await;
        assert!(!waiting.is_finished());
        let since = Instant::now();
        reasons.send_replace(behind(0));
        assert_eq!(waiting.await.unwrap().ahead, 0);
        assert!(since.elapsed() >= LIMIT);
    }
}
