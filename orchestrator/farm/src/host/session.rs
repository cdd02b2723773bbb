//! One session that was granted to this host, from the grant to its end.

use std::panic::AssertUnwindSafe;

use bytes::Bytes;
use futures::FutureExt as _;

use packtrain_drivers::DeviceInfo;
use packtrain_engine::{DeviceRequirement, SessionOrder, SessionOutput, SessionStop};
use packtrain_model::{Blame, Outcome};
use tokio_util::sync::CancellationToken;

use super::devices::HostDevices;
use super::output::{self, Address};
use super::runs::{Opened, OpenedRun};
use crate::bundle;
use crate::link::{FarmError, Link, in_one_line};
use crate::names;
use crate::store::Put;
use crate::wire::{End, OrderedDemand};

/// The most of an end in one message.
const END_BYTES: usize = 256 * 1024;

/// A session to be carried out.
pub(super) struct Granted {
    /// Which, and where.
    pub(super) to: Address,
    /// The device as it is known here.
    pub(super) info: DeviceInfo,
    pub(super) stop: SessionStop,
    /// Cancelled when the host does not wait any more for what runs on it.
    pub(super) drained: CancellationToken,
    /// What decides on the devices.
    pub(super) devices: HostDevices,
}

/// Carries a session out and writes its end, unless the farm has given it up. Dropped, it ends at once
/// and writes nothing.
pub(super) async fn carry_out(link: &Link, place: Opened, granted: Granted) {
    let to = &granted.to;
    let (output, mut sending) = output::output(link, to);
    // Until everything is sent, once all outputs are gone, or the server refuses some of it.
    let mut sent = async || {
        (&mut sending)
            .await
            .unwrap_or_else(|error| Err(error.to_string()))
    };
    let walked = walk(link, place, &granted, output);
    // A bug of ours must not leave the device busy for ever.
    let mut walked = Box::pin(AssertUnwindSafe(walked).catch_unwind());
    let ended = tokio::select! {
        biased;
        outcome = &mut walked => sent().await.map(|items| (outcome, items)),
        sent = sent() => match sent {
            Ok(items) => Ok((walked.as_mut().await, items)),
            Err(why) => Err(why),
        },
    };
    // Without a receiver of its events, it ends here.
    drop(walked);
    let end = match ended {
        Ok((Ok(outcome), items)) => End::Settled {
            outcome: drained(outcome, &granted),
            items,
        },
        Ok((Err(_), items)) => End::Settled {
            outcome: Outcome::broken(Blame::Host, "packtrain panicked on its host"),
            items,
        },
        Err(why) => {
            tracing::warn!(session = %to.session, why, "its events do not reach its run");
            End::Lost {
                blame: Blame::Host,
                cause: format!("its events did not reach its run: {why}"),
            }
        }
    };
    let subject = names::end(&to.run, &to.session, &to.device.host);
    let end = written(link, &end).await;
    loop {
        match link.put_if(&subject, 0, end.clone(), None).await {
            Ok(Put::Done(_)) => break,
            Ok(Put::Refused) => {
                tracing::info!(session = %to.session, "the farm had given up this session");
                break;
            }
            Err(FarmError::Silent { .. }) => {}
            Err(error) => {
                tracing::warn!(%error, session = %to.session, "cannot send the end");
                break;
            }
        }
    }
}

/// An outcome that its host is the cause of, as its run is to hear of it.
fn drained(outcome: Outcome, granted: &Granted) -> Outcome {
    match outcome {
        // Not by its run, which could not tell it from that.
        Outcome::Cancelled { .. } if granted.drained.is_cancelled() => {
            let cause = format!("its host {} was drained", granted.to.device.host);
            Outcome::broken(Blame::HostDrained, cause)
        }
        outcome => outcome,
    }
}

/// An end as it fits into a message.
async fn written(link: &Link, end: &End) -> Bytes {
    let whole = Bytes::from(serde_json::to_vec(end).unwrap_or_default());
    if whole.len() <= END_BYTES {
        return whole;
    }
    let stored = match bundle::put(link, whole).await {
        Ok(blob) => End::Large(blob),
        Err(error) => End::Lost {
            blame: Blame::Host,
            cause: format!("its outcome is large and could not be stored: {error}"),
        },
    };
    serde_json::to_vec(&stored).unwrap_or_default().into()
}

async fn walk(link: &Link, place: Opened, granted: &Granted, output: SessionOutput) -> Outcome {
    let ordered = async {
        let place = place.await?;
        let order = order(link, &place, granted).await?;
        Ok::<_, String>((place, order))
    };
    match ordered.await {
        Ok((place, order)) => {
            let running = place.run.host.run(order, output, granted.stop.clone());
            let outcome = running.await;
            granted.devices.ended(&granted.to.device.device, &outcome);
            outcome
        }
        Err(cause) => Outcome::broken(Blame::Host, cause),
    }
}

/// The order as it was asked for, with what only this host knows.
async fn order(link: &Link, place: &OpenedRun, granted: &Granted) -> Result<SessionOrder, String> {
    let subject = names::demand(&granted.to.run, &granted.to.session);
    let demand = link
        .last(&subject)
        .await
        .map_err(|error| in_one_line(&error))?;
    let demand = demand.ok_or("the farm has no order for this session")?;
    let OrderedDemand {
        mut order,
        trail,
        path,
        ..
    } = demand.read()?;
    order.trail = place.trail(link, &trail, &path).await?;
    order.requires = DeviceRequirement::Exactly(granted.info.clone());
    order.values.secrets.clone_from(&place.secrets.0);
    if let Some(app) = &mut order.cell.app_file {
        let there = bundle::inside(&place.folder, &app.to_string_lossy());
        *app = there.map_err(|error| in_one_line(&error))?;
    }
    Ok(order)
}
