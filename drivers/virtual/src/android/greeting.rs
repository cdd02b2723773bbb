//! The device's half of a greeting: its banner, and whether it lets the host in.

use std::sync::Arc;

use tokio::io::AsyncRead;

use crate::android::Android;
use crate::android::auth::{AuthPolicy, PUBLIC_KEY, PublicKey, SIGNATURE, TOKEN, TOKEN_LENGTH};
use crate::android::outgoing::Outgoing;
use crate::android::packet::{
    AUTH, CNXN, ChecksumMode, Limits, MAX_GREETING, MAX_PAYLOAD, Packet, VERSION,
};

/// Lets the host in, by the device's policy or by `instead`; false when it does not.
pub(super) async fn greet<R: AsyncRead + Unpin>(
    android: &Arc<Android>,
    reader: &mut R,
    out: &Outgoing,
    instead: Option<AuthPolicy>,
) -> bool {
    let policy = instead.unwrap_or(*android.auth.lock());
    if policy != AuthPolicy::None && !prove(android, reader, out, policy).await {
        return false;
    }
    let banner = banner(android);
    out.push(&Packet::new(CNXN, VERSION, MAX_PAYLOAD as u32, banner));
    true
}

fn banner(android: &Android) -> String {
    let shape = android.device.shape();
    format!(
        "{}::ro.product.name={};ro.product.model={};ro.product.device={};features={}",
        android.state.lock().mode.unwrap_or("device"),
        shape.product,
        shape.model,
        shape.product,
        android.generation.features()
    )
}

/// Asks for proof until there is one; false when the host hangs up.
async fn prove<R: AsyncRead + Unpin>(
    android: &Arc<Android>,
    reader: &mut R,
    out: &Outgoing,
    policy: AuthPolicy,
) -> bool {
    let limits = Limits {
        payload: MAX_GREETING,
        sums: ChecksumMode::Skipped,
    };
    let mut token = token_of(android);
    out.push(&Packet::new(AUTH, TOKEN, 0, token.to_vec()));
    loop {
        let Ok(packet) = Packet::read(reader, limits).await else {
            return false;
        };
        match (packet.command, packet.arg0) {
            (AUTH, SIGNATURE) => {
                let keys = android.keys.lock();
                if keys.iter().any(|key| key.verifies(&token, &packet.payload)) {
                    return true;
                }
                token = token_of(android);
                out.push(&Packet::new(AUTH, TOKEN, 0, token.to_vec()));
            }
            (AUTH, PUBLIC_KEY) => {
                let Some(key) = PublicKey::parse(&packet.payload) else {
                    continue;
                };
                match policy {
                    AuthPolicy::None | AuthPolicy::Trust => {}
                    AuthPolicy::AcceptAfter(time) => {
                        // The host may lose patience and hang up while the user thinks.
                        tokio::select! {
                            () = tokio::time::sleep(time) => {}
                            _ = Packet::read(reader, limits) => return false,
                        }
                    }
                    AuthPolicy::Pending => {
                        // Nothing the host sends changes the user's mind.
                        while Packet::read(reader, limits).await.is_ok() {}
                        return false;
                    }
                }
                android.accept_key(key);
                return true;
            }
            _ => {}
        }
    }
}

/// Random bytes for one proof.
fn token_of(android: &Android) -> [u8; TOKEN_LENGTH] {
    let mut token = [0; TOKEN_LENGTH];
    for chunk in token.chunks_mut(8) {
        chunk.copy_from_slice(&android.device.roll(u64::MAX).to_le_bytes()[..chunk.len()]);
    }
    token
}
