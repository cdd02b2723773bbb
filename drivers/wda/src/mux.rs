//! usbmuxd: which iPhones hang on this computer, and connections to their ports.
//!
//! Wire: <https://github.com/libimobiledevice/usbmuxd> (`src/usbmuxd-proto.h`), spoken by the
//! `idevice` crate. That crate allocates any length it receives, so it is given a stream that
//! hands out only messages that were checked: [`checked`].

mod address;
mod checked;

use std::future::Future;
use std::time::Duration;

use idevice::usbmuxd::errors::UsbmuxdError;
use idevice::usbmuxd::{Connection, UsbmuxdConnection, UsbmuxdDevice};
use idevice::{IdeviceError, pairing_file::PairingFile};

pub use self::address::{MuxAddress, MuxAddressError};
use self::checked::{Checked, Following};
use crate::stream::BoxStream;

/// How long a usbmuxd may take for anything: it answers from memory, and a phone connects in
/// milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Names this program in the muxer's log; the number is echoed and of no meaning.
const TAG: u32 = 1;

/// Why a usbmuxd was of no help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MuxError {
    /// Nothing listens at its address.
    #[error("no usbmuxd at {address}: {message}")]
    Absent { address: String, message: String },
    /// No such device is plugged in.
    #[error("usbmuxd at {address} has no device {udid}")]
    NoDevice { address: String, udid: String },
    /// Nothing listens on the device's port.
    #[error("nothing listens on port {port} of {udid}")]
    Refused { udid: String, port: u16 },
    /// It answered something else.
    #[error("usbmuxd at {address}: {message}")]
    Failed { address: String, message: String },
}

/// A device as usbmuxd lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MuxDevice {
    pub(crate) udid: String,
    /// Its number until it is pulled out.
    number: u32,
}

/// What is handed on of the bytes a muxer sends, up to the first that make no message; those
/// behind the first message are a tunnel's, if so.
#[cfg(feature = "fuzzing")]
pub(crate) async fn handed_on(bytes: Vec<u8>, tunnel: bool) -> Vec<u8> {
    let inner = Box::new(tokio::io::join(
        std::io::Cursor::new(bytes),
        tokio::io::sink(),
    ));
    let following = if tunnel {
        Following::Tunnel
    } else {
        Following::Messages
    };
    let mut handed_on = Vec::new();
    // What makes no message ends the stream; those before it were handed on.
    let _ =
        tokio::io::AsyncReadExt::read_to_end(&mut Checked::new(inner, following), &mut handed_on)
            .await;
    handed_on
}

/// The devices that are plugged in; each once, however many ways lead to it.
pub(crate) async fn devices(address: &MuxAddress) -> Result<Vec<MuxDevice>, MuxError> {
    let mut muxer = talk(address, Following::Messages).await?;
    let listed = in_time(address, muxer.get_devices()).await?;
    Ok(sorted(listed))
}

/// A connection to a port of a device.
pub(crate) async fn connect(
    address: &MuxAddress,
    udid: &str,
    port: u16,
) -> Result<BoxStream, MuxError> {
    let device = devices(address).await?;
    let device = device.into_iter().find(|device| device.udid == udid);
    let no_device = || MuxError::NoDevice {
        address: address.to_string(),
        udid: udid.to_owned(),
    };
    let device = device.ok_or_else(no_device)?;
    let muxer = talk(address, Following::Tunnel).await?;
    let connected = muxer.connect_to_device(device.number, port, "packtrain");
    let connected = tokio::time::timeout(ANSWER_TIMEOUT, connected)
        .await
        .map_err(|_| slow(address))?;
    let tunnel = match connected {
        Ok(tunnel) => tunnel.get_socket(),
        Err(IdeviceError::Usbmuxd(UsbmuxdError::ConnectionRefused)) => {
            return Err(MuxError::Refused {
                udid: udid.to_owned(),
                port,
            });
        }
        // Pulled out since it was listed.
        Err(IdeviceError::Usbmuxd(UsbmuxdError::BadDevice)) => return Err(no_device()),
        Err(error) => return Err(failed(address, &error)),
    };
    let tunnel = tunnel.ok_or_else(|| MuxError::Failed {
        address: address.to_string(),
        message: "connected, but got no connection".to_owned(),
    })?;
    Ok(Box::new(tunnel))
}

/// The certificates this computer and a device have exchanged.
pub(crate) async fn pair_record(address: &MuxAddress, udid: &str) -> Result<PairingFile, MuxError> {
    let mut muxer = talk(address, Following::Messages).await?;
    in_time(address, muxer.get_pair_record(udid)).await
}

async fn talk(address: &MuxAddress, following: Following) -> Result<UsbmuxdConnection, MuxError> {
    let opened = tokio::time::timeout(ANSWER_TIMEOUT, address.open())
        .await
        .map_err(|_| slow(address))?;
    let stream = opened.map_err(|error| MuxError::Absent {
        address: address.to_string(),
        message: error.to_string(),
    })?;
    Ok(UsbmuxdConnection::new(
        Box::new(Checked::new(stream, following)),
        TAG,
    ))
}

async fn in_time<T>(
    address: &MuxAddress,
    asked: impl Future<Output = Result<T, IdeviceError>>,
) -> Result<T, MuxError> {
    match tokio::time::timeout(ANSWER_TIMEOUT, asked).await {
        Ok(answer) => answer.map_err(|error| failed(address, &error)),
        Err(_) => Err(slow(address)),
    }
}

fn slow(address: &MuxAddress) -> MuxError {
    MuxError::Failed {
        address: address.to_string(),
        message: format!("no answer within {} s", ANSWER_TIMEOUT.as_secs()),
    }
}

fn failed(address: &MuxAddress, error: &IdeviceError) -> MuxError {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !message.contains(&inner_text) {
            message = format!("{message}: {inner_text}");
        }
        cause = inner.source();
    }
    MuxError::Failed {
        address: address.to_string(),
        message,
    }
}

/// A cable before the air, and then in the order of their names.
fn sorted(mut listed: Vec<UsbmuxdDevice>) -> Vec<MuxDevice> {
    listed.sort_by_key(|device| {
        (
            device.udid.clone(),
            device.connection_type != Connection::Usb,
        )
    });
    listed.dedup_by(|later, first| later.udid == first.udid);
    listed
        .into_iter()
        .map(|device| MuxDevice {
            udid: device.udid,
            number: device.device_id,
        })
        .collect()
}

#[cfg(test)]
mod tests;
