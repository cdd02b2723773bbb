//! The RSA key by which devices know this computer: the one adb itself uses, so that a device
//! which trusts one trusts the other.
//!
//! Source: `adb_auth_host.cpp` and `android_pubkey.cpp` of the Android Open Source Project.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use rsa::pkcs1::DecodeRsaPrivateKey as _;
use rsa::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _, LineEnding};
use rsa::traits::PublicKeyParts as _;
use rsa::{BigUint, Pkcs1v15Sign, RsaPrivateKey};
use tokio::sync::OnceCell;

use super::error::WireError;

/// Length of the keys adb makes, in bits. Devices know no other.
const BITS: usize = 2048;
const BYTES: usize = BITS / 8;
/// Length of the tokens that devices want signed.
const TOKEN: usize = 20;
/// What PKCS #1 puts before a SHA-1 digest, for which the token passes.
const SHA1_PREFIX: [u8; 15] = [
    0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14,
];
/// The longest key file that is read.
const MAX_FILE: u64 = 64 * 1024;

/// The key of this program, read or made when the first device asks for proof.
#[derive(Debug, Default)]
pub(crate) struct KeyRing {
    path: Option<PathBuf>,
    key: OnceCell<Arc<AdbKey>>,
}

impl KeyRing {
    /// The key in `path`; without one, a new key.
    pub(crate) fn new(path: Option<PathBuf>) -> Self {
        Self {
            path,
            key: OnceCell::new(),
        }
    }

    /// The key.
    pub(super) async fn key(&self) -> Result<Arc<AdbKey>, WireError> {
        let made = self.key.get_or_try_init(async || {
            let path = self.path.clone();
            let made = tokio::task::spawn_blocking(move || match path {
                Some(path) => AdbKey::load_or_make(&path),
                None => AdbKey::make().map_err(|error| refused(Path::new("new"), error)),
            });
            let key = made
                .await
                .map_err(|error| refused(Path::new("new"), error))??;
            Ok(Arc::new(key))
        });
        made.await.cloned()
    }
}

/// A key that progress a device's tokens.
pub(super) struct AdbKey {
    private: RsaPrivateKey,
}

impl std::fmt::Debug for AdbKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AdbKey")
    }
}

impl AdbKey {
    /// The key in `path` (`~/.android/adbkey`), made there when there is none. Blocks; making one
    /// takes a second.
    ///
    /// # Errors
    /// [`WireError::Key`].
    fn load_or_make(path: &Path) -> Result<Self, WireError> {
        if let Some(key) = Self::load(path)? {
            return Ok(key);
        }
        let key = Self::make().map_err(|reason| refused(path, reason))?;
        // The first process has made the key that is used.
        match key.store(path) {
            Ok(()) => Ok(key),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Self::load(path)?.ok_or_else(|| refused(path, "it disappeared again"))
            }
            Err(error) => Err(refused(path, error)),
        }
    }

    /// A new key that is kept nowhere.
    fn make() -> Result<Self, rsa::Error> {
        let private = RsaPrivateKey::new(&mut rsa::rand_core::OsRng, BITS)?;
        Ok(Self { private })
    }

    fn load(path: &Path) -> Result<Option<Self>, WireError> {
        use std::io::Read as _;
        let file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refused(path, error)),
        };
        let mut pem = String::new();
        file.take(MAX_FILE)
            .read_to_string(&mut pem)
            .map_err(|error| refused(path, error))?;
        let private = RsaPrivateKey::from_pkcs8_pem(&pem)
            .or_else(|error| RsaPrivateKey::from_pkcs1_pem(&pem).map_err(|_| error))
            .map_err(|error| refused(path, error))?;
        if private.size() != BYTES {
            return Err(refused(path, format!("it does not have {BITS} bits")));
        }
        Ok(Some(Self { private }))
    }

    /// Writes the key and its public half beside it, as `adb keygen` does.
    fn store(&self, path: &Path) -> std::io::Result<()> {
        let pem = self
            .private
            .to_pkcs8_pem(LineEnding::LF)
            .map_err(std::io::Error::other)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        // Readable by its owner only, and never seen half written.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(pem.as_bytes())?;
        file.persist_noclobber(path).map_err(|error| error.error)?;
        let public = path.with_extension("pub");
        std::fs::write(public, self.public_text())
    }

    /// The signature of a device's token.
    pub(super) fn sign(&self, token: &[u8]) -> Result<Vec<u8>, WireError> {
        let garbled = |reason: String| WireError::Garbled {
            doing: "prove who this computer is".to_owned(),
            reason,
        };
        if token.len() != TOKEN {
            return Err(garbled(format!("a token of {} bytes", token.len())));
        }
        let scheme = Pkcs1v15Sign {
            hash_len: Some(TOKEN),
            prefix: SHA1_PREFIX.into(),
        };
        self.private
            .sign(scheme, token)
            .map_err(|error| garbled(error.to_string()))
    }

    /// The public key as devices keep it: 524 bytes in base 64, then whose it is.
    pub(super) fn public_text(&self) -> String {
        let base64 = base64::prelude::BASE64_STANDARD.encode(self.public_bytes());
        format!("{base64} packtrain@localhost")
    }

    /// `modulus_size_words, n0inv, modulus[64], rr[64], exponent`, little-endian words.
    fn public_bytes(&self) -> Vec<u8> {
        let modulus = self.private.n();
        let word = BigUint::from(1_u64 << 32);
        // -1 / n modulo 2^32; n is odd, so there is one.
        let inverse = inverse_mod_word(low_word(modulus)).wrapping_neg();
        let rr = (BigUint::from(1_u32) << (2 * BITS)) % modulus;
        let mut bytes = Vec::with_capacity(4 + 4 + BYTES + BYTES + 4);
        bytes.extend_from_slice(&64_u32.to_le_bytes());
        bytes.extend_from_slice(&inverse.to_le_bytes());
        bytes.extend_from_slice(&padded(modulus));
        bytes.extend_from_slice(&padded(&rr));
        bytes.extend_from_slice(&low_word(&(self.private.e() % word)).to_le_bytes());
        bytes
    }
}

fn refused(path: &Path, reason: impl std::fmt::Display) -> WireError {
    WireError::Key {
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}

fn low_word(number: &BigUint) -> u32 {
    let bytes = number.to_bytes_le();
    let mut word = [0; 4];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = from;
    }
    u32::from_le_bytes(word)
}

/// Newton's iteration: each round doubles the bits that are right, from 3 to 96.
const fn inverse_mod_word(odd: u32) -> u32 {
    let mut inverse = odd;
    let mut round = 0;
    while round < 5 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

fn padded(number: &BigUint) -> Vec<u8> {
    let mut bytes = number.to_bytes_le();
    bytes.resize(BYTES, 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_known_again_by_its_signature() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".android/adbkey");
        let made = AdbKey::load_or_make(&path).unwrap();
        let loaded = AdbKey::load_or_make(&path).unwrap();
        let token = [7; TOKEN];
        assert_eq!(made.sign(&token).unwrap(), loaded.sign(&token).unwrap());

        let public = std::fs::read_to_string(path.with_extension("pub")).unwrap();
        assert_eq!(public, loaded.public_text());
        let (base64, owner) = public.split_once(' ').unwrap();
        let bytes = base64::prelude::BASE64_STANDARD.decode(base64).unwrap();
        assert_eq!((bytes.len(), owner), (524, "packtrain@localhost"));

        // The numbers devices use to check signatures fit each other.
        let modulus = BigUint::from_bytes_le(&bytes[8..8 + BYTES]);
        let inverse = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        assert_eq!(low_word(&modulus).wrapping_mul(inverse), u32::MAX);
        let rr = BigUint::from_bytes_le(&bytes[8 + BYTES..8 + 2 * BYTES]);
        assert_eq!(rr, (BigUint::from(1_u32) << (2 * BITS)) % &modulus);
        assert_eq!(bytes[520..], 65537_u32.to_le_bytes());
    }

    #[test]
    fn what_is_no_key_is_told_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("adbkey");
        std::fs::write(&path, "not a key").unwrap();
        let error = AdbKey::load_or_make(&path).unwrap_err();
        assert!(matches!(error, WireError::Key { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "not a key");
    }

    #[test]
    fn the_inverse_of_an_odd_word_is_found() {
        let inverse = inverse_mod_word(0x1234_5677);
        assert_eq!(inverse.wrapping_mul(0x1234_5677), 1);
    }
}
