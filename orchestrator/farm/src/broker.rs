//! The broker: who gets which device, and who lost one.
//!
//! [`state`] decides, purely; nothing there does I/O or knows the time. What is here reads facts, carries
//! deeds out by compare-and-set and tells their answers. One broker is elected and the others stand by;
//! two at once waste work and do no harm.

mod carry;
mod lead;
mod read;
mod request;
pub mod state;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use self::lead::lead;
pub use self::request::{BrokerAnswer, BrokerRequest, queue};
use crate::follow::Followed;
use crate::link::{FarmError, Link};
use crate::live::{Liveness, Take};
use crate::names::{BROKER, LIVE};
use crate::store::new_id;
use crate::wire::Protocol;

/// The pause after something went wrong that may pass.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// How a broker works.
#[derive(Debug, Clone)]
pub struct BrokerOptions {
    /// Who it is, for people: `broker@mac-1`.
    pub name: String,
    /// On how many servers everything is kept.
    pub replicas: usize,
    /// How long its key and those of hosts and runs live; whole seconds. See [`live::ttl`](crate::live::ttl).
    pub ttl: Duration,
}

/// The value of the elected broker's key.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BrokerAdvert {
    incarnation: String,
    name: String,
    #[serde(default)]
    pub(crate) protocol: Protocol,
}

/// Sets the farm up, stands by, leads when elected, stands by again; until it is stopped.
///
/// # Errors
///
/// When the server refuses what a broker has to do. Whatever may pass is tried again.
pub async fn run(
    link: Link,
    options: BrokerOptions,
    stop: CancellationToken,
) -> Result<(), FarmError> {
    loop {
        let served = stop.run_until_cancelled(link.set_up(options.replicas));
        match served.await {
            None => return Ok(()),
            Some(Ok(())) => break,
            Some(Err(error)) => pause(error, &stop).await?,
        }
    }
    while !stop.is_cancelled() {
        let incarnation = new_id();
        let elected = stop.run_until_cancelled(stand_by(&link, &options, &incarnation));
        let liveness = match elected.await {
            None => return Ok(()),
            Some(Ok(liveness)) => liveness,
            Some(Err(error)) => {
                pause(error, &stop).await?;
                continue;
            }
        };
        tracing::info!(broker = options.name, "leads");
        let led = lead(&link, &liveness, &incarnation, options.ttl, &stop).await;
        // Who was only late has the key still, and would wait for itself to expire; and others may manage
        // what this one does not.
        liveness.release().await;
        match led {
            Ok(cause) => tracing::info!(broker = options.name, cause, "leads no more"),
            Err(error) => pause(error, &stop).await?,
        }
    }
    Ok(())
}

/// Waits a moment after what may pass; what does not pass is returned.
async fn pause(error: FarmError, stop: &CancellationToken) -> Result<(), FarmError> {
    match error {
        FarmError::Unreachable { .. }
        | FarmError::Silent { .. }
        | FarmError::Taken(_)
        | FarmError::Server { .. } => {
            tracing::warn!(%error, "the broker tries again");
            stop.run_until_cancelled(tokio::time::sleep(RETRY_DELAY))
                .await;
            Ok(())
        }
        lasting => Err(lasting),
    }
}

/// Waits until there is no leader, and takes the key.
async fn stand_by(
    link: &Link,
    options: &BrokerOptions,
    incarnation: &str,
) -> Result<Liveness, FarmError> {
    let advert = serde_json::to_vec(&BrokerAdvert {
        incarnation: incarnation.to_owned(),
        name: options.name.clone(),
        protocol: Protocol::CURRENT,
    });
    let advert = advert.map_err(|error| FarmError::server("describe the broker", &error))?;
    let mut keys = link.follow_keys(LIVE, &[BROKER.to_owned()]);
    let mut is_free = true;
    let mut is_caught_up = false;
    loop {
        match keys.next().await? {
            Followed::Message(stored) => is_free = stored.value.is_none(),
            Followed::CaughtUp => is_caught_up = true,
        }
        if !is_free || !is_caught_up {
            continue;
        }
        let (key, advert) = (BROKER.to_owned(), advert.clone());
        let taken = Liveness::take(link, key, advert, options.ttl, Take::Free, None);
        if let Some(liveness) = taken.await? {
            return Ok(liveness);
        }
    }
}
