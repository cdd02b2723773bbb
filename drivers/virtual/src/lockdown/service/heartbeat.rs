//! `com.apple.mobile.heartbeat`: the phone says Marco, the host says Polo.

use std::time::Duration;

use crate::lockdown::channel::Channel;
use crate::lockdown::frame::FrameError;
use crate::plist::{Value, dictionary, text};

/// How often the phone asks, which it also tells the host.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

pub(super) async fn serve(mut channel: Channel) -> Result<(), FrameError> {
    loop {
        let marco = dictionary([
            ("Command", "Marco".into()),
            ("Interval", Value::from(HEARTBEAT_INTERVAL.as_secs())),
            ("SupportsSleepyTime", true.into()),
        ]);
        channel.write(marco).await?;
        let asked = tokio::time::Instant::now();
        match tokio::time::timeout(2 * HEARTBEAT_INTERVAL, channel.read()).await {
            Ok(answer) => match answer? {
                Some(answer) if text(&answer, "Command") == Some("Polo") => {}
                Some(_) | None => return Ok(()),
            },
            Err(_) => {
                let tired = dictionary([("Command", "SleepyTime".into())]);
                return Ok(channel.write(tired).await?);
            }
        }
        tokio::time::sleep_until(asked + HEARTBEAT_INTERVAL).await;
    }
}
