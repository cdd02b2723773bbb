//! What there is on the farm, as of now.

use chrono::{DateTime, Utc};
use futures::{StreamExt as _, TryStreamExt as _};
use packtrain_model::RunId;

use crate::broker::BrokerAdvert;
use crate::bundle;
use crate::follow::Followed;
use crate::link::{FarmError, Link};
use crate::names;
use crate::store::Stored;
use crate::wire::{
    Blob, DeviceAdvert, DeviceKey, HostAdvert, HostName, Lease, Manifest, Protocol, RunAdvert,
};

/// A manifest larger than this is none.
const MANIFEST_BYTES: u64 = 64 * 1024 * 1024;
/// How many messages are read at once.
const READS_IN_FLIGHT: usize = 64;

/// Who and what is on the farm.
#[derive(Debug, Clone, Default)]
pub struct Overview {
    /// The hosts that are alive, by name.
    pub hosts: Vec<(HostName, HostAdvert)>,
    /// The devices of these hosts.
    pub devices: Vec<(DeviceKey, DeviceAdvert)>,
    /// The runs that are alive.
    pub runs: Vec<(RunId, RunAdvert)>,
    /// What the broker that is at work writes and reads; `None` when none is.
    pub broker: Option<Protocol>,
}

/// What is on the farm now.
///
/// # Errors
/// When the farm was never set up, does not answer, or this user may not look.
pub async fn overview(link: &Link) -> Result<Overview, FarmError> {
    let mut all = alive(link).await?;
    for message in values(link, names::DEVICES).await? {
        if let (Some(key), Ok(advert)) = (device_of(&message), message.read())
            && all.hosts.iter().any(|(host, _)| *host == key.host)
        {
            all.devices.push((key, advert));
        }
    }
    all.devices.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(all)
}

/// Who is alive on the farm now; its devices are not read.
pub(crate) async fn alive(link: &Link) -> Result<Overview, FarmError> {
    let mut all = Overview::default();
    for message in values(link, names::LIVE).await? {
        let tokens = message.tokens();
        match (tokens.get(2).copied(), tokens.get(3).copied()) {
            (Some("host"), Some(name)) => {
                if let (Ok(name), Ok(advert)) = (name.parse(), message.read()) {
                    all.hosts.push((name, advert));
                }
            }
            (Some("run"), Some(name)) => {
                if let (Some(name), Ok(advert)) = (names::decode(name), message.read()) {
                    all.runs.push((RunId(name), advert));
                }
            }
            (Some(names::BROKER), None) => {
                all.broker = message.read::<BrokerAdvert>().ok().map(|it| it.protocol);
            }
            _ => {}
        }
    }
    all.hosts.sort_by(|(a, _), (b, _)| a.cmp(b));
    all.runs.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(all)
}

/// A device that a session has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    /// The device.
    pub device: DeviceKey,
    /// The run of the session.
    pub run: RunId,
    /// When it was granted, by the server's clock.
    pub since: DateTime<Utc>,
}

/// The devices that sessions of these runs have now. A lease stays when its session has ended, until the
/// next is granted.
///
/// # Errors
/// As [`overview`].
pub async fn leases(link: &Link, runs: &[(RunId, RunAdvert)]) -> Result<Vec<Leased>, FarmError> {
    let is_alive = |run: &RunId| runs.iter().any(|(id, advert)| id == run && !advert.done);
    let mut held = Vec::new();
    for message in values(link, names::LEASES).await? {
        let (Some(device), Ok(lease)) = (device_of(&message), message.read::<Lease>()) else {
            continue;
        };
        if is_alive(&lease.run) {
            let end = names::end(&lease.run, &lease.session, &device.host);
            let (run, since) = (lease.run, message.at);
            held.push((end, Leased { device, run, since }));
        }
    }
    let held = held.into_iter().map(async |(end, leased)| {
        let end = link.last(&end).await?;
        Ok(end.is_none().then_some(leased))
    });
    let held = futures::stream::iter(held).buffered(READS_IN_FLIGHT);
    held.try_filter_map(async |leased| Ok(leased))
        .try_collect()
        .await
}

/// The device whose key a message is.
pub fn device_of(message: &Stored) -> Option<DeviceKey> {
    let tokens = message.tokens();
    names::device_of(tokens.get(2)?, tokens.get(3)?)
}

/// The manifest of a run that is not done.
///
/// # Errors
/// When the farm does not answer, or what it has of it cannot be read. `None` when there is none.
pub async fn manifest(link: &Link, run: &RunId) -> Result<Option<Manifest>, FarmError> {
    let unreadable =
        |cause: String| FarmError::server(format!("read the manifest of run {run}"), &cause);
    let key = names::key_subject(names::MANIFESTS, &names::encode(&run.0));
    let Some(last) = link.last(&key).await?.filter(|last| last.value.is_some()) else {
        return Ok(None);
    };
    let blob: Blob = last.read().map_err(unreadable)?;
    let content = bundle::get(link, &blob, MANIFEST_BYTES).await;
    let content = content.map_err(|error| unreadable(error.to_string()))?;
    let manifest = serde_json::from_slice(&content);
    manifest
        .map(Some)
        .map_err(|error| unreadable(error.to_string()))
}

/// The values of all keys of a bucket.
async fn values(link: &Link, bucket: &str) -> Result<Vec<Stored>, FarmError> {
    let mut follower = link.follow_keys(bucket, &[">".to_owned()]);
    let mut found: Vec<Stored> = Vec::new();
    while let Followed::Message(message) = follower.next().await? {
        found.retain(|known| known.subject != message.subject);
        if message.value.is_some() {
            found.push(message);
        }
    }
    Ok(found)
}
