//! Secrets on their way to one host. They are sealed to its key, for one run, by a key that is used
//! once; neither the server nor another host can open them.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nkeys::XKey;
use packtrain_model::RunId;
use serde::{Deserialize, Serialize};

/// Values that must not be shown, by name.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secrets(pub Vec<(String, String)>);

/// Names only.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

/// A host's key for what is sealed to it. It lives as long as the host's process, in memory.
pub struct SealKey(XKey);

/// Nothing of it.
impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SealKey")
    }
}

/// Why secrets could not be sealed or opened. It holds nothing of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The key is not of type `X`.
    #[error("the host's key for secrets is malformed")]
    Key,
    /// What came is not sealed secrets.
    #[error("the sealed secrets are malformed")]
    Malformed,
    /// They were sealed to another host, or somebody changed them.
    #[error("the secrets are not sealed to this host")]
    NotOurs,
    /// They are another run's.
    #[error("the secrets are sealed for another run")]
    AnotherRun,
}

/// As it is written to the server.
#[derive(Serialize, Deserialize)]
struct Sealed {
    /// The public key that was used once.
    from: String,
    /// The sealed text, in base64.
    sealed: String,
}

/// What is sealed.
#[derive(Serialize, Deserialize)]
struct Letter {
    run: RunId,
    secrets: Secrets,
}

/// Seals secrets of a run to a host by its public key.
///
/// # Errors
/// When the key is none.
pub fn seal(run: &RunId, secrets: &Secrets, host: &str) -> Result<Vec<u8>, SealError> {
    let host = XKey::from_public_key(host).map_err(|_| SealError::Key)?;
    let sender = XKey::new();
    let letter = Letter {
        run: run.clone(),
        secrets: secrets.clone(),
    };
    let letter = serde_json::to_vec(&letter).map_err(|_| SealError::Malformed)?;
    let sealed = sender.seal(&letter, &host).map_err(|_| SealError::Key)?;
    let sealed = Sealed {
        from: sender.public_key(),
        sealed: STANDARD.encode(sealed),
    };
    serde_json::to_vec(&sealed).map_err(|_| SealError::Malformed)
}

impl SealKey {
    /// A new key.
    pub fn generate() -> Self {
        Self(XKey::new())
    }

    /// What others seal to.
    pub fn public(&self) -> String {
        self.0.public_key()
    }

    /// Opens what was sealed to this key for a run.
    ///
    /// # Errors
    /// When it was not.
    pub fn open(&self, run: &RunId, sealed: &[u8]) -> Result<Secrets, SealError> {
        let sealed: Sealed = serde_json::from_slice(sealed).map_err(|_| SealError::Malformed)?;
        let sender = XKey::from_public_key(&sealed.from).map_err(|_| SealError::Malformed)?;
        let letter = STANDARD
            .decode(sealed.sealed)
            .map_err(|_| SealError::Malformed)?;
        let letter = self.0.open(&letter, &sender);
        let letter = letter.map_err(|_| SealError::NotOurs)?;
        let letter: Letter = serde_json::from_slice(&letter).map_err(|_| SealError::Malformed)?;
        if letter.run != *run {
            return Err(SealError::AnotherRun);
        }
        Ok(letter.secrets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets(vec![("password".to_owned(), "hunter2-\u{fc}".to_owned())])
    }

    #[test]
    fn only_the_host_and_the_run_they_are_for_can_open_secrets() {
        let (host, other) = (SealKey::generate(), SealKey::generate());
        let (run, another) = (RunId("r1".to_owned()), RunId("r2".to_owned()));
        let sealed = seal(&run, &secrets(), &host.public()).unwrap();
        assert_eq!(host.open(&run, &sealed), Ok(secrets()));
        assert_eq!(other.open(&run, &sealed), Err(SealError::NotOurs));
        assert_eq!(host.open(&another, &sealed), Err(SealError::AnotherRun));
    }

    #[test]
    fn what_travels_differs_each_time_and_shows_nothing() {
        let (host, run) = (SealKey::generate(), RunId("r1".to_owned()));
        let first = seal(&run, &secrets(), &host.public()).unwrap();
        let second = seal(&run, &secrets(), &host.public()).unwrap();
        assert_ne!(first, second);
        let text = String::from_utf8(first).unwrap();
        assert!(
            !text.contains("hunter2") && !text.contains("password"),
            "{text}"
        );
        assert_eq!(
            format!("{:?} {host:?}", secrets()),
            r#"{"password"} SealKey"#
        );
    }

    #[test]
    fn what_is_not_sealed_is_no_panic() {
        let (host, run) = (SealKey::generate(), RunId("r1".to_owned()));
        assert_eq!(seal(&run, &secrets(), "nobody"), Err(SealError::Key));
        for malformed in ["", "{}", r#"{"from":"X","sealed":"%"}"#, "[1]"] {
            assert_eq!(
                host.open(&run, malformed.as_bytes()),
                Err(SealError::Malformed)
            );
        }
        let mut sealed: serde_json::Value =
            serde_json::from_slice(&seal(&run, &secrets(), &host.public()).unwrap()).unwrap();
        sealed["sealed"] = STANDARD.encode([0; 80]).into();
        let sealed = serde_json::to_vec(&sealed).unwrap();
        assert_eq!(host.open(&run, &sealed), Err(SealError::NotOurs));
    }
}
