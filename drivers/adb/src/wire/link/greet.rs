//! The first packets of a connection: who is there, and may it.

use std::time::Duration;

use bytes::BytesMut;
use tokio::time::Instant;

use crate::state::DeviceState;
use crate::wire::error::WireError;
use crate::wire::key::KeyRing;
use crate::wire::outbox::Outbox;
use crate::wire::packet::{Kind, MAX_GREETING, MAX_PAYLOAD, Packet, VERSION};
use crate::wire::socket::Socket;
use crate::wire::stream::within;

/// What this side can do, of what a device needs to know.
const BANNER: &str = "host::features=shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,apex";
/// `AUTH` that carries a token to sign.
const TOKEN: u32 = 1;
/// `AUTH` that carries the signature.
const SIGNATURE: u32 = 2;
/// `AUTH` that carries the public key, for the user to accept.
const PUBLIC_KEY: u32 = 3;

/// How long the user may take to accept this computer's key.
pub(crate) const KEY_ACCEPT_TIMEOUT: Duration = Duration::from_secs(5);

/// What a device says about itself when it greets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Banner {
    /// `shell_v2`, `cmd` ...
    pub(crate) features: Vec<String>,
}

/// Exchanges greetings. Answers the device's banner and the most data it takes in a packet.
pub(super) async fn greet(
    socket: &Socket,
    outbox: &Outbox,
    arrived: &mut BytesMut,
    keys: &KeyRing,
    deadline: Instant,
) -> Result<(Banner, usize), WireError> {
    let hello = Packet::new(Kind::Connect, VERSION, MAX_PAYLOAD, BANNER);
    outbox.send(socket, &[hello]);
    let mut proofs = Proofs::None;
    let mut limit = deadline;
    loop {
        let doing = "the greeting of the device";
        let next = within(limit, doing, next(socket, arrived)).await;
        let packet = match next {
            // The dialog on the phone is still open.
            Err(WireError::Timeout { .. }) if proofs == Proofs::PublicKey => {
                return Err(WireError::NotReady(DeviceState::Unauthorized));
            }
            Err(WireError::Timeout { .. }) => {
                return Err(WireError::NotReady(DeviceState::Offline));
            }
            next => next?,
        };
        match packet.kind {
            Kind::Connect => return greeted(&packet),
            Kind::Auth if packet.arg0 == TOKEN => {
                let key = keys.key().await?;
                let answer = match proofs {
                    Proofs::None => {
                        proofs = Proofs::Signature;
                        Packet::new(Kind::Auth, SIGNATURE, 0, key.sign(&packet.payload)?)
                    }
                    Proofs::Signature => {
                        proofs = Proofs::PublicKey;
                        limit = deadline.min(Instant::now() + KEY_ACCEPT_TIMEOUT);
                        let mut text = key.public_text().into_bytes();
                        text.push(0);
                        Packet::new(Kind::Auth, PUBLIC_KEY, 0, text)
                    }
                    // Another token after that is a refusal: the user said no.
                    Proofs::PublicKey => {
                        return Err(WireError::NotReady(DeviceState::Unauthorized));
                    }
                };
                outbox.send(socket, &[answer]);
            }
            Kind::StartTls => return Err(WireError::WantsTls),
            Kind::Auth | Kind::Open | Kind::Okay | Kind::Close | Kind::Write => {
                return Err(WireError::Garbled {
                    doing: doing.to_owned(),
                    reason: format!("got {:?} instead", packet.kind),
                });
            }
        }
    }
}

/// What has been shown to the device.
#[derive(PartialEq)]
enum Proofs {
    None,
    Signature,
    PublicKey,
}

async fn next(socket: &Socket, arrived: &mut BytesMut) -> Result<Packet, WireError> {
    loop {
        let decoded =
            Packet::decode(arrived, MAX_GREETING).map_err(|error| WireError::Garbled {
                doing: "the greeting of the device".to_owned(),
                reason: error.to_string(),
            })?;
        if let Some(packet) = decoded {
            return Ok(packet);
        }
        arrived.reserve(1024);
        // A device that hangs up instead of greeting is rebooting, or does not want us.
        if !matches!(socket.read(arrived).await, Ok(1..)) {
            return Err(WireError::NotReady(DeviceState::Offline));
        }
    }
}

fn greeted(packet: &Packet) -> Result<(Banner, usize), WireError> {
    let text = String::from_utf8_lossy(&packet.payload);
    let (state, banner) = read_banner(text.trim_end_matches('\0'));
    if !state.is_ready() {
        return Err(WireError::NotReady(state));
    }
    Ok((banner, packet.arg1.clamp(256, MAX_PAYLOAD) as usize))
}

/// `device::ro.product.name=N;ro.product.model=M;features=F,F`
fn read_banner(text: &str) -> (DeviceState, Banner) {
    let (state, rest) = text.split_once(':').unwrap_or((text, ""));
    let properties = rest.rsplit_once(':').map_or(rest, |(_, last)| last);
    let features = properties
        .split(';')
        .find_map(|property| property.strip_prefix("features="))
        .map(|features| features.split(',').map(str::to_owned).collect())
        .unwrap_or_default();
    (DeviceState::named(state), Banner { features })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banner_tells_state_and_features() {
        let (state, banner) = read_banner(
            "device::ro.product.name=vdev;ro.product.model=Pixel 9;features=shell_v2,cmd",
        );
        assert_eq!(state, DeviceState::Device);
        assert_eq!(banner.features, ["shell_v2", "cmd"]);

        let (state, banner) = read_banner("recovery::");
        assert_eq!(state, DeviceState::Recovery);
        assert_eq!(banner, Banner::default());
    }
}
