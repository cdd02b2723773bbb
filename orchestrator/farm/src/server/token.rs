//! Invitations to a farm: they say for what, until when, and by whom, and go from hand to hand as one
//! word.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::join::{JoinError, Refusal};
use super::role::Role;
use super::secret::Secret;

/// Characters of a token that are read at all.
const MAX_TOKEN: usize = 4096;

/// An invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// Its own id: an invitation lets one in.
    pub id: String,
    /// What the invited may be.
    pub role: Role,
    /// When it ends.
    #[serde(with = "chrono::serde::ts_seconds")]
    pub expires: DateTime<Utc>,
    /// The password that joiners connect with.
    pub password: String,
    /// The SHA-256 of the farm's certificate authority, when it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
}

impl Invitation {
    /// As one word, signed.
    pub fn token(&self, secret: &Secret) -> String {
        let words = serde_json::to_vec(self).unwrap_or_default();
        let signature = secret.sign(&words);
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        format!("{}.{}", text(&words), text(&signature))
    }

    /// What a token says, without checking its signature: for the invited, who cannot check it.
    ///
    /// # Errors
    /// [`JoinError::Token`].
    pub fn read(token: &str) -> Result<Self, JoinError> {
        let words = parts(token).map(|(words, _)| words);
        let read = words.and_then(|words| serde_json::from_slice(&words).ok());
        read.ok_or(JoinError::Token)
    }

    /// What a token says, when this farm made it and it holds now.
    ///
    /// # Errors
    /// Why it does not.
    pub fn verify(token: &str, secret: &Secret, now: DateTime<Utc>) -> Result<Self, Refusal> {
        let (words, signature) = parts(token).ok_or(Refusal::Malformed)?;
        if !secret.has_signed(&words, &signature) {
            return Err(Refusal::Forged);
        }
        let invitation: Self = serde_json::from_slice(&words).map_err(|_| Refusal::Malformed)?;
        if invitation.expires <= now {
            return Err(Refusal::Expired);
        }
        Ok(invitation)
    }
}

fn parts(token: &str) -> Option<(Vec<u8>, Vec<u8>)> {
    let token = Some(token.trim()).filter(|token| token.len() <= MAX_TOKEN);
    let (words, signature) = token?.split_once('.')?;
    let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
    Some((bytes(words)?, bytes(signature)?))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use proptest::prelude::*;

    use super::*;

    fn invitation(now: DateTime<Utc>) -> Invitation {
        Invitation {
            id: "a".to_owned(),
            role: Role::Host,
            expires: now + TimeDelta::hours(1),
            password: "p".to_owned(),
            pin: None,
        }
    }

    fn noon() -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000, 0).unwrap()
    }

    #[test]
    fn a_token_holds_until_it_expires() {
        let secret = Secret::new().unwrap();
        let invitation = invitation(noon());
        let token = invitation.token(&secret);
        assert_eq!(Invitation::read(&token).unwrap(), invitation);
        let at = |now| Invitation::verify(&token, &secret, now);
        assert_eq!(at(noon()).as_ref(), Ok(&invitation));
        assert_eq!(at(invitation.expires), Err(Refusal::Expired));
    }

    #[test]
    fn a_token_of_another_farm_or_with_other_words_is_forged() {
        let (secret, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        let token = invitation(noon()).token(&other);
        let verdict = Invitation::verify(&token, &secret, noon());
        assert_eq!(verdict, Err(Refusal::Forged));

        let own = invitation(noon()).token(&secret);
        let (_, signature) = own.split_once('.').unwrap();
        let mut wish = invitation(noon());
        wish.role = Role::Broker;
        let wish = serde_json::to_vec(&wish).unwrap();
        let changed = format!("{}.{signature}", URL_SAFE_NO_PAD.encode(wish));
        let verdict = Invitation::verify(&changed, &secret, noon());
        assert_eq!(verdict, Err(Refusal::Forged));
    }

    proptest! {
        #[test]
        fn hostile_tokens_are_no_panic(token in ".*") {
            let secret = Secret::new().unwrap();
            prop_assert!(Invitation::verify(&token, &secret, noon()).is_err());
        }
    }
}
