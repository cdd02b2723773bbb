//! What is stored, as facts.

use packtrain_model::{RunId, SessionId};

use super::state::{Fact, LeaseSeen, SessionKey};
use crate::names::{self, decode};
use crate::store::Stored;
use crate::wire::{DeviceKey, Grant, HostName};

/// What a message says; `None` when it says nothing to a broker.
///
/// # Errors
///
/// A sentence when it is not what its subject promises. It is left alone then.
pub(super) fn fact(stored: &Stored) -> Result<Option<Fact>, String> {
    let tokens = stored.tokens();
    Ok(Some(match tokens.as_slice() {
        ["$KV", names::LIVE, "host", host] => Fact::Host(host_name(host)?, read(stored)?),
        ["$KV", names::LIVE, "run", run] => Fact::Run(decoded(run).map(RunId)?, read(stored)?),
        ["$KV", names::DEVICES, host, device] => {
            Fact::Device(device_key(host, device)?, read(stored)?)
        }
        ["$KV", names::LEASES, host, device] => Fact::Lease(LeaseSeen {
            device: device_key(host, device)?,
            revision: stored.sequence,
            lease: read(stored)?,
        }),
        ["r", run, "demand", session] => {
            Fact::Demand(key(run, session)?, stored.sequence, stored.read()?)
        }
        ["r", run, "grant", session] => {
            let grant: Grant = stored.read()?;
            Fact::Grant(key(run, session)?, grant.device)
        }
        ["r", run, "end", session, host] => Fact::End(key(run, session)?, host_name(host)?),
        _ => return Ok(None),
    }))
}

/// The value of a key; `None` when it is gone.
fn read<T: serde::de::DeserializeOwned>(stored: &Stored) -> Result<Option<T>, String> {
    let is_there = stored.value.is_some();
    is_there.then(|| stored.read()).transpose()
}

fn key(run: &str, session: &str) -> Result<SessionKey, String> {
    Ok(SessionKey {
        run: decoded(run).map(RunId)?,
        session: decoded(session).map(SessionId)?,
    })
}

fn host_name(token: &str) -> Result<HostName, String> {
    token
        .parse()
        .map_err(|error: crate::wire::HostNameError| error.to_string())
}

fn device_key(host: &str, device: &str) -> Result<DeviceKey, String> {
    let key = names::device_of(host, device);
    key.ok_or_else(|| format!("unknown device `{host}.{device}`"))
}

fn decoded(token: &str) -> Result<String, String> {
    decode(token).ok_or_else(|| format!("unknown token `{token}`"))
}
