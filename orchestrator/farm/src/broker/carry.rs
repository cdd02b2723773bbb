//! Carrying deeds out. Each is a compare-and-set or two; what is refused is looked at and told.

use bytes::Bytes;
use serde::Serialize;

use super::state::{Effect, Fact, LeaseSeen, SessionKey};
use crate::link::{FarmError, Link};
use crate::names;
use crate::store::{Put, Stored};
use crate::wire::{DeviceKey, End, Grant, Lease};

/// Carries a deed out.
///
/// # Errors
///
/// When the server refuses as such, or does not answer for half a minute. Then it is not known whether
/// it was done.
pub(super) async fn carry_out(link: Link, deed: Effect) -> Result<Fact, FarmError> {
    match deed {
        Effect::Grant {
            session,
            grant,
            incarnation,
            expected,
        } => {
            let device = grant.device.clone();
            let lease = Lease {
                run: session.run.clone(),
                session: session.session.clone(),
                incarnation,
            };
            let subject = lease_subject(&device);
            match link.put_if(&subject, expected, json(&lease)?, None).await? {
                Put::Done(revision) => {
                    let granted = write_grant(&link, &session, &grant).await?;
                    Ok(Fact::Granted {
                        session,
                        device,
                        revision,
                        granted,
                    })
                }
                Put::Refused => {
                    let seen = lease_at(&link, device).await?;
                    Ok(Fact::LeaseRefused(session, seen))
                }
            }
        }
        Effect::Confirm(session, grant) => {
            let granted = write_grant(&link, &session, &grant).await?;
            Ok(Fact::Confirmed(session, granted))
        }
        Effect::Lose {
            session,
            host,
            blame,
            cause,
        } => {
            let subject = names::end(&session.run, &session.session, &host);
            // Refused: it has an end, which is all that is wanted.
            let end = json(&End::Lost { blame, cause })?;
            link.put_if(&subject, 0, end, None).await?;
            Ok(Fact::Lost(session, host))
        }
        Effect::Check(session, device) => {
            let seen = lease_at(&link, device).await?;
            Ok(Fact::Checked(session, seen))
        }
        Effect::Wait(session, time) => {
            tokio::time::sleep(time).await;
            Ok(Fact::Waited(session))
        }
        Effect::TakeBack(device, expected) => {
            let key = names::device_key(&device);
            match link.take_key(names::LEASES, &key, expected).await? {
                Put::Done(revision) => Ok(Fact::TakenBack(LeaseSeen {
                    device,
                    revision,
                    lease: None,
                })),
                Put::Refused => {
                    let seen = lease_at(&link, device).await?;
                    Ok(Fact::TakenBack(seen))
                }
            }
        }
        Effect::Forget(run) => {
            let token = names::encode(&run.0);
            link.purge(names::RUNS, &format!("r.{token}.>")).await?;
            // Secrets first of all; what is left of them expires by itself.
            for key in [format!("{token}.>"), token] {
                let subject = names::key_subject(names::MANIFESTS, &key);
                let bucket = names::bucket_stream(names::MANIFESTS);
                if let Err(error) = link.purge(&bucket, &subject).await {
                    tracing::debug!(%error, %run, "its manifest expires by itself");
                }
            }
            Ok(Fact::Forgotten(run))
        }
    }
}

/// Writes a session's grant if it has none, and says which device it has.
async fn write_grant(
    link: &Link,
    session: &SessionKey,
    grant: &Grant,
) -> Result<DeviceKey, FarmError> {
    let subject = names::grant(&session.run, &session.session);
    let value = json(grant)?;
    loop {
        match link.put_if(&subject, 0, value.clone(), None).await? {
            Put::Done(_) => return Ok(grant.device.clone()),
            Put::Refused => {}
        }
        // Gone again when the run was purged in between.
        if let Some(stored) = link.last(&subject).await? {
            return Ok(read::<Grant>(&stored)?.device);
        }
    }
}

/// What stands as a device's lease, with its revision.
async fn lease_at(link: &Link, device: DeviceKey) -> Result<LeaseSeen, FarmError> {
    let last = link.last(&lease_subject(&device)).await?;
    let there = last.as_ref().filter(|last| last.value.is_some());
    Ok(LeaseSeen {
        device,
        revision: last.as_ref().map_or(0, |last| last.sequence),
        lease: there.map(read).transpose()?,
    })
}

fn lease_subject(device: &DeviceKey) -> String {
    names::key_subject(names::LEASES, &names::device_key(device))
}

fn read<T: serde::de::DeserializeOwned>(stored: &Stored) -> Result<T, FarmError> {
    stored
        .read()
        .map_err(|cause| FarmError::server("read what stands there", &cause))
}

fn json(value: &impl Serialize) -> Result<Bytes, FarmError> {
    let written = serde_json::to_vec(value).map(Bytes::from);
    written.map_err(|error| FarmError::server("write it as JSON", &error))
}
