//! Invitations to a farm: they say for what, until when, and by whom, and go from hand to hand as one
//! word.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

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

/// Why a token is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It is cut off or no token.
    #[error("invalid farm token; was it copied completely?")]
    Malformed,
    /// Another farm's, or forged.
    #[error("the token was not made by this farm")]
    Forged,
    /// It is too late.
    #[error("the token has expired")]
    Expired,
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
    /// [`TokenError::Malformed`].
    pub fn read(token: &str) -> Result<Self, TokenError> {
        let (words, _) = parts(token)?;
        serde_json::from_slice(&words).map_err(|_| TokenError::Malformed)
    }

    /// What a token says, when this farm made it and it holds now.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn verify(token: &str, secret: &Secret, now: DateTime<Utc>) -> Result<Self, TokenError> {
        let (words, signature) = parts(token)?;
        if !secret.has_signed(&words, &signature) {
            return Err(TokenError::Forged);
        }
        let invitation: Self = serde_json::from_slice(&words).map_err(|_| TokenError::Malformed)?;
        if invitation.expires <= now {
            return Err(TokenError::Expired);
        }
        Ok(invitation)
    }
}

fn parts(token: &str) -> Result<(Vec<u8>, Vec<u8>), TokenError> {
    let token = token.trim();
    let (words, signature) = token
        .split_once('.')
        .filter(|_| token.len() <= MAX_TOKEN)
        .ok_or(TokenError::Malformed)?;
    let bytes = |text: &str| {
        URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| TokenError::Malformed)
    };
    Ok((bytes(words)?, bytes(signature)?))
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
        assert_eq!(Invitation::read(&token).as_ref(), Ok(&invitation));
        let at = |now| Invitation::verify(&token, &secret, now);
        assert_eq!(at(noon()).as_ref(), Ok(&invitation));
        assert_eq!(at(invitation.expires), Err(TokenError::Expired));
    }

    #[test]
    fn a_token_of_another_farm_or_with_other_words_is_forged() {
        let (secret, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        let token = invitation(noon()).token(&other);
        let verdict = Invitation::verify(&token, &secret, noon());
        assert_eq!(verdict, Err(TokenError::Forged));

        let own = invitation(noon()).token(&secret);
        let (_, signature) = own.split_once('.').unwrap();
        let mut wish = invitation(noon());
        wish.role = Role::Broker;
        let wish = serde_json::to_vec(&wish).unwrap();
        let changed = format!("{}.{signature}", URL_SAFE_NO_PAD.encode(wish));
        let verdict = Invitation::verify(&changed, &secret, noon());
        assert_eq!(verdict, Err(TokenError::Forged));
    }

    proptest! {
        #[test]
        fn hostile_tokens_are_no_panic(token in ".*") {
            let secret = Secret::new().unwrap();
            prop_assert!(Invitation::verify(&token, &secret, noon()).is_err());
        }
    }
}
