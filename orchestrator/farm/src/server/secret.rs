//! The farm's secret: what its invitations are signed with, and what only it and they know.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::error::ServerError;

/// Bytes of a secret.
const LENGTH: usize = 32;

/// The farm's secret. It never leaves the farm's folder.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret([u8; LENGTH]);

impl Secret {
    /// A new one.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new() -> Result<Self, ServerError> {
        let mut bytes = [0; LENGTH];
        SystemRandom::new()
            .fill(&mut bytes)
            .map_err(|error| ServerError::keys("a secret", &error))?;
        Ok(Self(bytes))
    }

    /// One that was [written](Self::to_text); `None` when it is none.
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// As text, for its file.
    pub fn to_text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// The password that joiners connect with. It opens one door: to ask.
    pub fn join_password(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.sign(b"packtrain join password"))
    }

    /// Signs with HMAC-SHA256.
    pub(super) fn sign(&self, words: &[u8]) -> Vec<u8> {
        hmac::sign(&self.key(), words).as_ref().to_vec()
    }

    /// Whether that is our signature; takes as long for any answer.
    pub(super) fn has_signed(&self, words: &[u8], signature: &[u8]) -> bool {
        hmac::verify(&self.key(), words, signature).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
