//! One client of usbmuxd: requests, until the connection becomes a listener's or a tunnel.

use std::io;
use std::sync::Arc;

use tokio::io::AsyncReadExt;
use tokio::sync::broadcast;

use super::frame::{self, FrameError};
use super::hub::{AttachedDevice, Usbmuxd};
use super::{BoxStream, DeviceId, DevicePort, Service, Stream};
use crate::plist::{self, Dictionary, Value, dictionary, text};

/// Header: length with itself, version, message type, tag; all u32, little endian.
const HEADER: usize = 16;
/// Version and message type of the plist dialect.
const PLIST: [u32; 2] = [1, 8];
/// Version and message type of an answer in the old binary dialect.
const BINARY_RESULT: [u32; 2] = [0, 1];
/// What events carry, which answer no request.
const EVENT: u32 = 0;

/// The number in a `Result`. Pair record requests answer an errno instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultCode {
    Ok = 0,
    BadCommand = 1,
    /// `RESULT_BADDEV`, and `ENOENT` for pair records.
    NotThere = 2,
    ConnectionRefused = 3,
    BadVersion = 6,
    /// `EINVAL`.
    InvalidArgument = 22,
}

/// What the connection becomes after a request.
enum Next {
    Command,
    Listener(Vec<Dictionary>, broadcast::Receiver<Dictionary>),
    Tunnel(AttachedDevice, Service),
}

/// Serves one client until it leaves.
pub(super) async fn serve(hub: Arc<Usbmuxd>, stream: BoxStream) {
    if let Err(error) = converse(&hub, stream).await {
        tracing::debug!(%error, "a usbmuxd client was dropped");
    }
}

/// Reads one frame: its tag, which is echoed into the answer, and what it says.
pub(super) async fn read(
    stream: &mut (impl Stream + ?Sized),
) -> Result<Option<(u32, Dictionary)>, FrameError> {
    let frame = frame::read(stream, |header: [u8; HEADER]| {
        let [length, version, kind, tag] = words(header);
        let body = length.checked_sub(HEADER as u32);
        let body = body.filter(|body| *body <= frame::MAX_BODY);
        let body = body.ok_or(FrameError::Length(length))?;
        if [version, kind] != PLIST {
            return Err(FrameError::Dialect { tag });
        }
        Ok(body)
    });
    let frame = frame.await?;
    Ok(frame.map(|(header, body)| (words(header)[3], body)))
}

/// Writes one frame.
pub(super) async fn write(
    stream: &mut (impl Stream + ?Sized),
    tag: u32,
    body: Dictionary,
) -> io::Result<()> {
    write_bytes(stream, PLIST, tag, &plist::write_xml(body)).await
}

async fn write_bytes(
    stream: &mut (impl Stream + ?Sized),
    [version, kind]: [u32; 2],
    tag: u32,
    body: &[u8],
) -> io::Result<()> {
    let length = u32::try_from(HEADER + body.len()).map_err(io::Error::other)?;
    let header = [length, version, kind, tag].map(u32::to_le_bytes).concat();
    frame::write(stream, &header, body).await
}

fn words(header: [u8; HEADER]) -> [u32; 4] {
    let (words, _) = header.as_chunks::<4>();
    let mut words = words.iter().map(|word| u32::from_le_bytes(*word));
    [(); 4].map(|()| words.next().unwrap_or_default())
}

async fn converse(hub: &Usbmuxd, mut stream: BoxStream) -> Result<(), FrameError> {
    loop {
        let (tag, body) = match read(&mut stream).await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(FrameError::Dialect { tag }) => {
                let code = (ResultCode::BadVersion as u32).to_le_bytes();
                return Ok(write_bytes(&mut stream, BINARY_RESULT, tag, &code).await?);
            }
            Err(error) => return Err(error),
        };
        let (answer, next) = match answer(hub, &body).await {
            Ok(answer) => answer,
            Err(code) => (result(code), Next::Command),
        };
        write(&mut stream, tag, answer).await?;
        match next {
            Next::Command => {}
            Next::Listener(now, events) => return Ok(listen(stream, now, events).await?),
            Next::Tunnel(attached, service) => {
                attached.gone.run_until_cancelled(service(stream)).await;
                return Ok(());
            }
        }
    }
}

/// The answer to a request and what follows, or the code when it is refused.
async fn answer(hub: &Usbmuxd, body: &Dictionary) -> Result<(Dictionary, Next), ResultCode> {
    let id = || text(body, "PairRecordID").ok_or(ResultCode::InvalidArgument);
    let list = |name: &str, list| dictionary([(name, Value::Array(list))]);
    let answer = match text(body, "MessageType").unwrap_or_default() {
        "ListDevices" => {
            let devices = hub.list().into_iter().map(Value::Dictionary);
            list("DeviceList", devices.collect())
        }
        "ListListeners" => list("ListenerList", Vec::new()),
        "Listen" => {
            let (now, events) = hub.listen();
            return Ok((result(ResultCode::Ok), Next::Listener(now, events)));
        }
        "Connect" => {
            let device = number(body, "DeviceID").ok_or(ResultCode::BadCommand)?;
            let port = port(body).ok_or(ResultCode::BadCommand)?;
            let attached = hub.find(DeviceId(device)).ok_or(ResultCode::NotThere)?;
            let opened = attached.device.open(port);
            let opened = attached.gone.run_until_cancelled(opened).await;
            let service = opened.ok_or(ResultCode::NotThere)?;
            let service = service.ok_or(ResultCode::ConnectionRefused)?;
            return Ok((result(ResultCode::Ok), Next::Tunnel(attached, service)));
        }
        "ReadBUID" => dictionary([("BUID", hub.system_buid().0.as_str().into())]),
        "ReadPairRecord" => {
            let record = hub.pair_record(id()?).ok_or(ResultCode::NotThere)?;
            dictionary([("PairRecordData", Value::Data(record))])
        }
        "SavePairRecord" => {
            let record = body.get("PairRecordData").and_then(Value::as_data);
            let record = record.ok_or(ResultCode::InvalidArgument)?;
            let saved = hub.save_pair_record(id()?, record.to_vec());
            saved.then_some(()).ok_or(ResultCode::InvalidArgument)?;
            result(ResultCode::Ok)
        }
        "DeletePairRecord" => {
            let deleted = hub.delete_pair_record(id()?);
            deleted.then_some(()).ok_or(ResultCode::NotThere)?;
            result(ResultCode::Ok)
        }
        _ => return Err(ResultCode::BadCommand),
    };
    Ok((answer, Next::Command))
}

fn result(code: ResultCode) -> Dictionary {
    dictionary([
        ("MessageType", "Result".into()),
        ("Number", Value::from(code as u64)),
    ])
}

/// The port lies in the list with its two bytes swapped: network order, read as a host number.
fn port(body: &Dictionary) -> Option<DevicePort> {
    let swapped: u16 = number(body, "PortNumber")?;
    Some(DevicePort(swapped.swap_bytes()))
}

fn number<N: TryFrom<u64>>(body: &Dictionary, key: &str) -> Option<N> {
    body.get(key)?.as_unsigned_integer()?.try_into().ok()
}

async fn listen(
    mut stream: BoxStream,
    now: Vec<Dictionary>,
    mut events: broadcast::Receiver<Dictionary>,
) -> io::Result<()> {
    for attached in now {
        write(&mut stream, EVENT, attached).await?;
    }
    let mut byte = [0];
    loop {
        tokio::select! {
            // A listener has nothing more to say: a byte is misuse, the end is the end.
            _ = stream.read(&mut byte) => return Ok(()),
            event = events.recv() => match event {
                Ok(event) => write(&mut stream, EVENT, event).await?,
                Err(_) => return Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_read_with_its_bytes_swapped_and_what_does_not_fit_is_none() {
        let told = |port: u64| dictionary([("PortNumber", Value::from(port))]);
        assert_eq!(port(&told(32_498)), Some(DevicePort(62_078)));
        assert_eq!(port(&told(70_000)), None);
        let below = dictionary([("DeviceID", Value::from(-1_i64))]);
        assert_eq!(number::<u32>(&below, "DeviceID"), None);
    }
}
