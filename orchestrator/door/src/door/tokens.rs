//! Who calls: bearer tokens made of one secret, so that many callers are distinguished without storing anything.

use std::fmt;
use std::io;
use std::sync::Arc;

use ring::hmac;
use ring::rand::SystemRandom;

/// Characters of a caller's name.
const MAX_NAME: usize = 64;
/// The holder of the secret itself.
const OWNER: &str = "owner";

/// Whom a token belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl Principal {
    /// A name, as from a token that was made for it.
    pub fn named(name: &str) -> Self {
        Self(name.into())
    }

    /// Whether it is the holder of the secret itself.
    pub fn is_owner(&self) -> bool {
        &*self.0 == OWNER
    }

    /// The name; `owner` for the holder of the secret itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What makes tokens and knows its own again.
#[derive(Clone)]
pub struct Tokens(Arc<Secret>);

struct Secret {
    owner: String,
    key: hmac::Key,
    principal: Principal,
}

impl Tokens {
    /// Of a new secret of 256 bits.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn generate() -> io::Result<Self> {
        let secret = ring::rand::generate::<[u8; 32]>(&SystemRandom::new())
            .map_err(|_| io::Error::other("the system has no random bytes"))?;
        Ok(Self::of_secret(hex(&secret.expose())))
    }

    /// Of a secret that was made before.
    pub fn of_secret(secret: String) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        Self(Arc::new(Secret {
            owner: secret,
            key,
            principal: Principal::named(OWNER),
        }))
    }

    /// The secret, which is the owner's token.
    pub fn owner(&self) -> &str {
        &self.0.owner
    }

    /// The token of a caller: `NAME.HMAC`. `None` for what is not a name: 1 to 64 of `A-Z a-z 0-9 _ -`,
    /// and not `owner`.
    pub fn of(&self, name: &str) -> Option<String> {
        is_name(name).then(|| {
            let signature = hmac::sign(&self.0.key, name.as_bytes());
            format!("{name}.{}", hex(signature.as_ref()))
        })
    }

    /// Whose token this is.
    pub(crate) fn principal(&self, token: &str) -> Option<Principal> {
        let Some((name, signature)) = token.split_once('.') else {
            let is_owner = is_same(token.as_bytes(), self.0.owner.as_bytes());
            return is_owner.then(|| self.0.principal.clone());
        };
        let signature = from_hex(signature).filter(|_| is_name(name))?;
        hmac::verify(&self.0.key, name.as_bytes(), &signature).ok()?;
        Some(Principal::named(name))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Tokens(..)")
    }
}

/// Compares without telling by the time it takes how much is right.
pub(crate) fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    let differing = given.iter().zip(wanted);
    given.len() == wanted.len() && differing.fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_NAME).contains(&name.len()) && name != OWNER && name.bytes().all(is_allowed)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    if digits.len() != 64 || !digits.iter().all(is_digit) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}
