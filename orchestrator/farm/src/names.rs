//! What things are called on the server: streams, buckets, subjects and keys.
//!
//! Subjects and keys are made of tokens separated by dots, and a token may hold neither `:` nor spaces
//! nor wildcards. What may hold anything, such as a device's serial, is [encoded](encode).

use packtrain_model::{RunId, SessionId};

use crate::wire::{DeviceKey, HostName};

/// The stream of everything that happens to runs: demands, grants, events, ends. One stream, so that
/// there is one order.
pub const RUNS: &str = "RUNS";
/// The stream of pictures and bundles, by content.
pub const BLOBS: &str = "BLOBS";
/// Who is alive: `host.<host>`, `run.<run>`, `broker`. Keys expire.
pub const LIVE: &str = "live";
/// What each device was granted for last: `<host>.<device>`.
pub const LEASES: &str = "lease";
/// What the devices are: `<host>.<device>`.
pub const DEVICES: &str = "device";
/// What a run's hosts need: `<run>` is its manifest, `<run>.<host>` its secrets, sealed to the host.
pub const MANIFESTS: &str = "manifest";

/// The key of the elected broker in [`LIVE`].
pub const BROKER: &str = "broker";

/// A demand of a run: `r.<run>.demand.<session>`. Written once, by the run.
pub fn demand(run: &RunId, session: &SessionId) -> String {
    format!("r.{}.demand.{}", encode(&run.0), encode(&session.0))
}

/// Which device a session was granted: `r.<run>.grant.<session>`. Written once, by the broker.
pub fn grant(run: &RunId, session: &SessionId) -> String {
    format!("r.{}.grant.{}", encode(&run.0), encode(&session.0))
}

/// What happens in a session: `r.<run>.ev.<session>.<host>`. Written by the host.
pub fn events(run: &RunId, session: &SessionId, host: &HostName) -> String {
    format!("r.{}.ev.{}.{}", encode(&run.0), encode(&session.0), host)
}

/// How a session ended: `r.<run>.end.<session>.<host>`. Written once, by the host or, when that was
/// lost, by the broker.
pub fn end(run: &RunId, session: &SessionId, host: &HostName) -> String {
    format!("r.{}.end.{}.{}", encode(&run.0), encode(&session.0), host)
}

/// Asks the hosts of a run to let its sessions end: `cancel.<run>`, with a
/// [`Cancel`](crate::wire::Cancel). Not stored.
pub fn cancel(run: &RunId) -> String {
    format!("cancel.{}", encode(&run.0))
}

/// Where a run stands in the queue: `place.<run>`. Not stored.
pub fn place(run: &RunId) -> String {
    format!("place.{}", encode(&run.0))
}

/// Requests to the elected broker: `ctl.broker`. Not stored.
pub const CTL_BROKER: &str = "ctl.broker";

/// Requests to a host: `ctl.host.<host>`. Not stored.
pub fn ctl_host(host: &HostName) -> String {
    format!("ctl.host.{host}")
}

/// Requests to join the farm. Not stored.
pub const JOIN: &str = "join";

/// A blob: `blob.<sha256>`; written once.
pub fn blob(digest: &str) -> String {
    format!("blob.{digest}")
}

/// A host's key in [`LIVE`].
pub fn host_key(host: &HostName) -> String {
    format!("host.{host}")
}

/// A run's key in [`LIVE`].
pub fn run_key(run: &RunId) -> String {
    format!("run.{}", encode(&run.0))
}

/// The key of a run's secrets, sealed to a host, in [`MANIFESTS`].
pub fn secrets_key(run: &RunId, host: &HostName) -> String {
    format!("{}.{host}", encode(&run.0))
}

/// A device's key in [`LEASES`] and [`DEVICES`].
pub fn device_key(device: &DeviceKey) -> String {
    format!("{}.{}", device.host, encode(&device.device.to_string()))
}

/// The device whose key this is, by its tokens.
pub fn device_of(host: &str, device: &str) -> Option<DeviceKey> {
    Some(DeviceKey {
        host: host.parse().ok()?,
        device: decode(device)?.parse().ok()?,
    })
}

/// The stream of a bucket.
pub fn bucket_stream(bucket: &str) -> String {
    format!("KV_{bucket}")
}

/// The subject of a bucket's key.
pub fn key_subject(bucket: &str, key: &str) -> String {
    format!("$KV.{bucket}.{key}")
}

/// Text as one token: letters, digits, `-` and `_` stand for themselves, everything else is `=` and
/// two hexadecimal digits for each byte. The empty text is `=`.
pub fn encode(text: &str) -> String {
    if text.is_empty() {
        return "=".to_owned();
    }
    let mut token = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => token.push(char::from(byte)),
            other => token.push_str(&format!("={other:02x}")),
        }
    }
    token
}

/// The text of a token; `None` when it is none of ours.
pub fn decode(token: &str) -> Option<String> {
    if token == "=" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'=' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_one_token_and_comes_back(text in ".*") {
            let token = encode(&text);
            prop_assert!(!token.is_empty());
            prop_assert!(token.chars().all(|c| c.is_ascii_alphanumeric() || "-_=".contains(c)));
            prop_assert_eq!(decode(&token), Some(text));
        }

        #[test]
        fn hostile_tokens_are_no_panic(token in ".*") {
            let _ = decode(&token);
        }
    }
}
