//! One client of lockdownd: requests in, answers out, and TLS in between.

use std::io;
use std::sync::Arc;

use super::channel::Channel;
use super::pairing::{HostId, Pairing, Pairings, host_id};
use super::{Lockdown, Refusal, pairing, service, values};
use crate::plist::{Dictionary, Value, dictionary, text};
use crate::usbmux::BoxStream;
use crate::usbmux::frame::FrameError;

/// What to do with the channel once the answer is out.
enum AfterAnswer {
    GoOn,
    Secure(Pairing),
    OpenUp,
    HangUp,
}

/// A failed request: the word in `Error`.
struct Failed(&'static str);

/// Serves one client until it leaves.
pub(super) async fn serve(phone: Arc<Lockdown>, refusal: Option<Refusal>, stream: BoxStream) {
    let client = Client {
        phone,
        refusal,
        session: None,
    };
    if let Err(error) = client.converse(Channel::Plain(stream)).await {
        tracing::debug!(%error, "a lockdownd client was dropped");
    }
}

struct Client {
    phone: Arc<Lockdown>,
    refusal: Option<Refusal>,
    session: Option<HostId>,
}

impl Client {
    async fn converse(mut self, mut channel: Channel) -> Result<(), FrameError> {
        while let Some(request) = channel.read().await? {
            let name = text(&request, "Request").unwrap_or_default().to_owned();
            let (mut answer, then) = match self.answer(&name, &request) {
                Ok(answered) => answered,
                Err(Failed(word)) => (dictionary([("Error", word.into())]), AfterAnswer::GoOn),
            };
            answer.insert("Request".to_owned(), name.into());
            channel.write(answer).await?;
            channel = match self.proceed(channel, then).await? {
                Some(channel) => channel,
                None => return Ok(()),
            };
        }
        Ok(())
    }

    async fn proceed(&self, channel: Channel, then: AfterAnswer) -> io::Result<Option<Channel>> {
        match then {
            AfterAnswer::GoOn => Ok(Some(channel)),
            AfterAnswer::Secure(pairing) => {
                let tls = pairing::tls(&pairing);
                channel.secure(tls).await.map(Some)
            }
            AfterAnswer::OpenUp => channel.open_up().await.map(Some),
            AfterAnswer::HangUp => Ok(None),
        }
    }

    fn answer(
        &mut self,
        name: &str,
        request: &Dictionary,
    ) -> Result<(Dictionary, AfterAnswer), Failed> {
        if let Some(Refusal(word, _)) = self.refusal.filter(|refusal| refusal.1.contains(&name)) {
            return Err(Failed(word));
        }
        let answer = match name {
            "QueryType" => dictionary([("Type", "com.apple.mobile.lockdown".into())]),
            "GetValue" => self.get_value(request)?,
            "SetValue" => self.set_value(request)?,
            "RemoveValue" => return Err(Failed("RemoveProhibited")),
            "Pair" => self.pair(request)?,
            "ValidatePair" => self.known(request, Pairings::get)?,
            "Unpair" => self.known(request, Pairings::remove)?,
            "StartSession" => return self.start_session(request),
            "StopSession" => return self.stop_session(request),
            "StartService" => self.start_service(request)?,
            "Goodbye" => return Ok((Dictionary::new(), AfterAnswer::HangUp)),
            _ => return Err(Failed("InvalidRequest")),
        };
        Ok((answer, AfterAnswer::GoOn))
    }

    fn get_value(&self, request: &Dictionary) -> Result<Dictionary, Failed> {
        let (domain, key) = (text(request, "Domain"), text(request, "Key"));
        let visibility = match self.session {
            Some(_) => values::Visibility::Everything,
            None => values::Visibility::Public,
        };
        let value =
            values::get(&self.phone, visibility, domain, key).ok_or(Failed("MissingValue"))?;
        let mut answer = dictionary([("Value", value)]);
        for (name, asked) in [("Domain", domain), ("Key", key)] {
            if let Some(asked) = asked {
                answer.insert(name.to_owned(), asked.into());
            }
        }
        Ok(answer)
    }

    fn set_value(&self, request: &Dictionary) -> Result<Dictionary, Failed> {
        let (domain, key) = (text(request, "Domain"), text(request, "Key"));
        let key = key.ok_or(Failed("MissingKey"))?;
        let value = request.get("Value").ok_or(Failed("MissingValue"))?;
        if self.session.is_none() || !values::set(&self.phone, domain, key, value) {
            return Err(Failed("SetProhibited"));
        }
        let mut answer = dictionary([("Key", key.into()), ("Value", value.clone())]);
        if let Some(domain) = domain {
            answer.insert("Domain".to_owned(), domain.into());
        }
        Ok(answer)
    }

    fn pair(&self, request: &Dictionary) -> Result<Dictionary, Failed> {
        let (host, pairing) = pair_record(request)
            .ok_or(Failed("MissingPairRecord"))
            .and_then(|record| Pairing::read(record).ok_or(Failed("InvalidPairRecord")))?;
        self.phone.pairings.add(host, pairing);
        Ok(dictionary([("EscrowBag", Value::Data(vec![0x5a; 32]))]))
    }

    /// Done when the host of a pair record is known, by what is looked up or removed.
    fn known<T>(
        &self,
        request: &Dictionary,
        look: impl FnOnce(&Pairings, &HostId) -> Option<T>,
    ) -> Result<Dictionary, Failed> {
        let host = pair_record(request).and_then(host_id);
        let known = look(
            &self.phone.pairings,
            &host.ok_or(Failed("MissingPairRecord"))?,
        );
        known
            .map(|_| Dictionary::new())
            .ok_or(Failed("InvalidHostID"))
    }

    fn start_session(&mut self, request: &Dictionary) -> Result<(Dictionary, AfterAnswer), Failed> {
        if self.session.is_some() {
            return Err(Failed("SessionActive"));
        }
        let host = host_id(request).ok_or(Failed("MissingHostID"))?;
        let pairing = self.phone.pairings.get(&host);
        let pairing = pairing.ok_or(Failed("InvalidHostID"))?;
        self.session = Some(host.clone());
        let answer = dictionary([
            ("EnableSessionSSL", true.into()),
            // One connection has one session at most, so the host's own name serves for its name.
            ("SessionID", host.0.as_str().into()),
        ]);
        Ok((answer, AfterAnswer::Secure(pairing)))
    }

    fn stop_session(&mut self, request: &Dictionary) -> Result<(Dictionary, AfterAnswer), Failed> {
        let host = self.session.as_ref().ok_or(Failed("SessionInactive"))?;
        let named = text(request, "SessionID").ok_or(Failed("MissingSessionID"))?;
        if named != host.0 {
            return Err(Failed("InvalidSessionID"));
        }
        self.session = None;
        Ok((Dictionary::new(), AfterAnswer::OpenUp))
    }

    fn start_service(&self, request: &Dictionary) -> Result<Dictionary, Failed> {
        let name = text(request, "Service").ok_or(Failed("MissingService"))?;
        let host = self.session.as_ref().ok_or(Failed("SessionInactive"))?;
        let Some(serve) = service::named(name) else {
            (self.phone.device).note_unhandled(&format!("lockdown service {name}"));
            return Err(Failed("InvalidService"));
        };
        let port = self.phone.ports.start(serve, host.clone());
        Ok(dictionary([
            ("EnableServiceSSL", true.into()),
            ("Port", Value::from(port.0)),
            ("Service", name.into()),
        ]))
    }
}

fn pair_record(request: &Dictionary) -> Option<&Dictionary> {
    request.get("PairRecord").and_then(Value::as_dictionary)
}

#[cfg(test)]
mod tests;
