//! `com.apple.mobile.notification_proxy`: Darwin notifications by name. A client hears what it
//! posts itself, when it observes it; the phone posts nothing of its own accord.

use std::collections::HashSet;

use crate::lockdown::channel::Channel;
use crate::lockdown::frame::FrameError;
use crate::plist::{dictionary, text};

/// How many names one client may observe.
const MAX_OBSERVED: usize = 1_024;

pub(super) async fn serve(mut channel: Channel) -> Result<(), FrameError> {
    let mut observed = HashSet::new();
    while let Some(request) = channel.read().await? {
        let name = text(&request, "Name").unwrap_or_default();
        match text(&request, "Command").unwrap_or_default() {
            "ObserveNotification" if observed.len() < MAX_OBSERVED => {
                observed.insert(name.to_owned());
            }
            "PostNotification" if observed.contains(name) => {
                let relay = dictionary([
                    ("Command", "RelayNotification".into()),
                    ("Name", name.into()),
                ]);
                channel.write(relay).await?;
            }
            "Shutdown" => {
                let death = dictionary([("Command", "ProxyDeath".into())]);
                return Ok(channel.write(death).await?);
            }
            // Unanswered on a phone, too.
            _ => {}
        }
    }
    Ok(())
}
