//! What the property lists of usbmuxd say: requests, answers and events.

use crate::plist::{Dictionary, Value, dictionary, text};

use super::{DeviceId, DevicePort, Udid};

/// The identity of a host as its pair records carry it, a UUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemBuid(pub String);

/// What a client asks.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    ListDevices,
    ListListeners,
    Listen,
    Connect { device: DeviceId, port: DevicePort },
    ReadBuid,
    ReadPairRecord { id: String },
    SavePairRecord { id: String, record: Vec<u8> },
    DeletePairRecord { id: String },
}

/// The number in a `Result`. Pair record requests answer an errno instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultCode {
    Ok = 0,
    BadCommand = 1,
    /// `RESULT_BADDEV`, and `ENOENT` for pair records.
    NotThere = 2,
    ConnectionRefused = 3,
    BadVersion = 6,
    /// `EINVAL`.
    InvalidArgument = 22,
}

impl Request {
    /// Reads a request; the code to answer when it is none.
    pub(super) fn read(body: &Dictionary) -> Result<Self, ResultCode> {
        let id = || {
            text(body, "PairRecordID")
                .map(str::to_owned)
                .ok_or(ResultCode::InvalidArgument)
        };
        match text(body, "MessageType").unwrap_or_default() {
            "ListDevices" => Ok(Self::ListDevices),
            "ListListeners" => Ok(Self::ListListeners),
            "Listen" => Ok(Self::Listen),
            "Connect" => Ok(Self::Connect {
                device: DeviceId(number(body, "DeviceID").ok_or(ResultCode::BadCommand)?),
                port: port(body).ok_or(ResultCode::BadCommand)?,
            }),
            "ReadBUID" => Ok(Self::ReadBuid),
            "ReadPairRecord" => Ok(Self::ReadPairRecord { id: id()? }),
            "SavePairRecord" => Ok(Self::SavePairRecord {
                id: id()?,
                record: body
                    .get("PairRecordData")
                    .and_then(Value::as_data)
                    .map(<[u8]>::to_vec)
                    .ok_or(ResultCode::InvalidArgument)?,
            }),
            "DeletePairRecord" => Ok(Self::DeletePairRecord { id: id()? }),
            _ => Err(ResultCode::BadCommand),
        }
    }
}

/// The port lies in the list with its two bytes swapped: network order, read as a host number.
fn port(body: &Dictionary) -> Option<DevicePort> {
    let swapped = u16::try_from(number::<u64>(body, "PortNumber")?).ok()?;
    Some(DevicePort(swapped.swap_bytes()))
}

fn number<N: TryFrom<u64>>(body: &Dictionary, key: &str) -> Option<N> {
    body.get(key)?
        .as_unsigned_integer()
        .and_then(|number| N::try_from(number).ok())
}

pub(super) fn result(code: ResultCode) -> Dictionary {
    dictionary([
        ("MessageType", "Result".into()),
        ("Number", Value::from(code as u64)),
    ])
}

pub(super) fn buid(buid: &SystemBuid) -> Dictionary {
    dictionary([("BUID", buid.0.as_str().into())])
}

pub(super) fn pair_record(record: Vec<u8>) -> Dictionary {
    dictionary([("PairRecordData", Value::Data(record))])
}

pub(super) fn device_list(devices: impl Iterator<Item = Dictionary>) -> Dictionary {
    let devices = devices.map(Value::Dictionary).collect();
    dictionary([("DeviceList", Value::Array(devices))])
}

pub(super) fn listener_list() -> Dictionary {
    dictionary([("ListenerList", Value::Array(Vec::new()))])
}

pub(super) fn attached(id: DeviceId, udid: &Udid) -> Dictionary {
    let properties = dictionary([
        ("ConnectionSpeed", Value::from(480_000_000_u64)),
        ("ConnectionType", "USB".into()),
        ("DeviceID", Value::from(id.0)),
        ("LocationID", Value::from(0x1_0000 + id.0)),
        ("ProductID", Value::from(0x12a8_u64)),
        ("SerialNumber", udid.as_str().into()),
    ]);
    dictionary([
        ("DeviceID", Value::from(id.0)),
        ("MessageType", "Attached".into()),
        ("Properties", Value::Dictionary(properties)),
    ])
}

pub(super) fn detached(id: DeviceId) -> Dictionary {
    event("Detached", id)
}

pub(super) fn paired(id: DeviceId) -> Dictionary {
    event("Paired", id)
}

fn event(kind: &str, id: DeviceId) -> Dictionary {
    dictionary([
        ("DeviceID", Value::from(id.0)),
        ("MessageType", kind.into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_read_with_its_bytes_swapped() {
        let body = dictionary([
            ("MessageType", "Connect".into()),
            ("DeviceID", Value::from(3_u64)),
            ("PortNumber", Value::from(32_498_u64)),
        ]);
        assert_eq!(
            Request::read(&body),
            Ok(Request::Connect {
                device: DeviceId(3),
                port: DevicePort(62_078)
            })
        );
    }

    #[test]
    fn numbers_that_do_not_fit_are_a_bad_command() {
        let body = dictionary([
            ("MessageType", "Connect".into()),
            ("DeviceID", Value::from(-1_i64)),
            ("PortNumber", Value::from(70_000_u64)),
        ]);
        assert_eq!(Request::read(&body), Err(ResultCode::BadCommand));
    }
}
