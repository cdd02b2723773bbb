//! Proof of a host's key: RSA-2048, PKCS#1 v1.5, the token itself as the SHA-1 digest.
//! Source: adb's `protocol.txt` and Android's key format (`libcrypto_utils`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use num_bigint::BigUint;

/// AUTH: a token to be signed.
pub const TOKEN: u32 = 1;
/// AUTH: a signature.
pub const SIGNATURE: u32 = 2;
/// AUTH: a public key.
pub const PUBLIC_KEY: u32 = 3;

/// Bytes of a token.
pub const TOKEN_LENGTH: usize = 20;
/// Bytes of a modulus and of a signature.
const KEY_LENGTH: usize = 256;
/// Bytes of an Android key: two words, modulus, R squared, exponent.
const ENCODED: usize = 4 + 4 + KEY_LENGTH + KEY_LENGTH + 4;
/// The head of a PKCS#1 v1.5 block for a SHA-1 digest.
const SHA1_HEAD: [u8; 15] = [
    0x30, 0x21, 0x30, 0x09, 0x06, 0x05, 0x2b, 0x0e, 0x03, 0x02, 0x1a, 0x05, 0x00, 0x04, 0x14,
];

/// Whom a device lets in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuthPolicy {
    /// Everybody, unasked, as an emulator does.
    #[default]
    None,
    /// Who proves a key the user has accepted; a new key is accepted at once.
    Trust,
    /// As [`AuthPolicy::Trust`], but a new key is accepted after this time.
    AcceptAfter(std::time::Duration),
    /// Who proves a key the user has accepted; the user never answers for a new one.
    Pending,
}

/// A host's public key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PublicKey {
    modulus: BigUint,
    exponent: BigUint,
}

impl PublicKey {
    /// Reads what a host sends: base64 of the key, then maybe ` user@host`, then zeros.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(payload).ok()?.trim_end_matches('\0');
        let key = STANDARD.decode(text.split_whitespace().next()?).ok()?;
        if key.len() != ENCODED {
            return None;
        }
        let words = u32::from_le_bytes(key[..4].try_into().ok()?);
        if words as usize * 4 != KEY_LENGTH {
            return None;
        }
        Some(Self {
            modulus: BigUint::from_bytes_le(&key[8..8 + KEY_LENGTH]),
            exponent: BigUint::from_bytes_le(&key[ENCODED - 4..]),
        })
    }

    /// Whether `signature` is this key's over `token`.
    pub fn verifies(&self, token: &[u8; TOKEN_LENGTH], signature: &[u8]) -> bool {
        // A modulus of zero would divide by zero below.
        if signature.len() != KEY_LENGTH || self.modulus.bits() < 2040 {
            return false;
        }
        let block = BigUint::from_bytes_be(signature).modpow(&self.exponent, &self.modulus);
        let mut expected = vec![0xff; KEY_LENGTH];
        expected[0] = 0;
        expected[1] = 1;
        let digest = KEY_LENGTH - TOKEN_LENGTH;
        expected[digest..].copy_from_slice(token);
        expected[digest - SHA1_HEAD.len()..digest].copy_from_slice(&SHA1_HEAD);
        expected[digest - SHA1_HEAD.len() - 1] = 0;
        block == BigUint::from_bytes_be(&expected)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A key small enough to compute with in a test would not be RSA-2048, so a modulus with a
    /// known exponent of 1 stands in: its signature is the padded block itself.
    fn transparent() -> PublicKey {
        PublicKey {
            modulus: (BigUint::from(1_u8) << 2048_u32) - 1_u8,
            exponent: BigUint::from(1_u8),
        }
    }

    fn signed(token: &[u8; TOKEN_LENGTH]) -> Vec<u8> {
        let mut block = vec![0xff; KEY_LENGTH];
        block[0] = 0;
        block[1] = 1;
        block[220] = 0;
        block[221..236].copy_from_slice(&SHA1_HEAD);
        block[236..].copy_from_slice(token);
        block
    }

    #[test]
    fn a_signature_over_the_token_verifies_and_one_over_another_does_not() {
        let key = transparent();
        assert!(key.verifies(&[7; 20], &signed(&[7; 20])));
        assert!(!key.verifies(&[8; 20], &signed(&[7; 20])));
        assert!(!key.verifies(&[7; 20], &signed(&[7; 20])[1..]));
    }

    proptest! {
        #[test]
        fn no_key_and_no_signature_make_it_panic(
            key in proptest::collection::vec(any::<u8>(), ENCODED),
            signature in proptest::collection::vec(any::<u8>(), 250..260),
            junk in proptest::collection::vec(any::<u8>(), 0..800),
        ) {
            let _ = PublicKey::parse(&junk);
            let mut key = key;
            key[..4].copy_from_slice(&64_u32.to_le_bytes());
            let text = format!("{} me@here\0", STANDARD.encode(&key));
            let parsed = PublicKey::parse(text.as_bytes()).expect("well formed");
            let _ = parsed.verifies(&[1; 20], &signature);
        }
    }
}
