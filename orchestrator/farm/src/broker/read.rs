//! What is stored, as facts.

use packtrain_model::{RunId, SessionId};

use super::state::Fact;
use crate::names::{self, decode};
use crate::store::Stored;
use crate::wire::{Demand, DeviceKey, Grant, HostName};

/// What a message says; `None` when it says nothing to a broker.
///
/// # Errors
///
/// A sentence when it is not what its subject promises. It is left alone then.
pub(super) fn fact(stored: &Stored) -> Result<Option<Fact>, String> {
    let tokens = stored.tokens();
    let is_there = stored.value.is_some();
    Ok(Some(match tokens.as_slice() {
        ["$KV", names::LIVE, "host", host] => {
            let host = host_name(host)?;
            if is_there {
                let advert = stored.read()?;
                Fact::Host { host, advert }
            } else {
                Fact::HostGone { host }
            }
        }
        ["$KV", names::LIVE, "run", run] => {
            let run = run_id(run)?;
            if is_there {
                let advert = stored.read()?;
                Fact::Run { run, advert }
            } else {
                Fact::RunGone { run }
            }
        }
        ["$KV", names::DEVICES, host, device] => {
            let device = device_key(host, device)?;
            if is_there {
                let advert = stored.read()?;
                Fact::Device { device, advert }
            } else {
                Fact::DeviceGone { device }
            }
        }
        ["$KV", names::LEASES, host, device] => Fact::Lease {
            device: device_key(host, device)?,
            revision: stored.sequence,
            lease: is_there.then(|| stored.read()).transpose()?,
        },
        ["r", run, "demand", session] => {
            let demand: Demand = stored.read()?;
            Fact::Demand {
                run: run_id(run)?,
                session: session_id(session)?,
                sequence: stored.sequence,
                demand,
            }
        }
        ["r", run, "grant", session] => {
            let grant: Grant = stored.read()?;
            Fact::Grant {
                run: run_id(run)?,
                session: session_id(session)?,
                device: grant.device,
            }
        }
        ["r", run, "end", session, host] => Fact::End {
            run: run_id(run)?,
            session: session_id(session)?,
            host: host_name(host)?,
        },
        _ => return Ok(None),
    }))
}

fn host_name(token: &str) -> Result<HostName, String> {
    token
        .parse()
        .map_err(|error: crate::wire::HostNameError| error.to_string())
}

fn run_id(token: &str) -> Result<RunId, String> {
    decoded(token).map(RunId)
}

fn session_id(token: &str) -> Result<SessionId, String> {
    decoded(token).map(SessionId)
}

fn device_key(host: &str, device: &str) -> Result<DeviceKey, String> {
    let host = host_name(host)?;
    let device = decoded(device)?.parse();
    let device = device.map_err(|error: packtrain_drivers::DeviceIdError| error.to_string())?;
    Ok(DeviceKey { host, device })
}

fn decoded(token: &str) -> Result<String, String> {
    decode(token).ok_or_else(|| format!("`{token}` is no token of ours"))
}
