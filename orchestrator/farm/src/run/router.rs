//! What the farm says of a run, in its order, to each of the run's sessions.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use packtrain_model::{RunId, SessionId};
use parking_lot::Mutex;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio_util::task::AbortOnDropHandle;

use crate::follow::Followed;
use crate::link::{Link, in_one_line};
use crate::names;
use crate::store::Stored;
use crate::wire::{End, Grant, HostName, Pack};

/// What may wait for a session, which is hours of it: one that is further behind hears no more, and is lost.
const MOST_WAITING: usize = 65_536;

/// What the farm says of a session.
#[derive(Debug)]
pub(super) enum SessionUpdate {
    /// It was granted a device.
    Granted(Grant),
    /// What happened, on a host.
    Happened(HostName, Pack),
    /// How it ended, on a host.
    Ended(HostName, End),
    /// An unreadable message from a host.
    Unreadable(HostName, String),
    /// Its grant cannot be read.
    Broken(String),
}

/// The same, and when the server stored it; `None` when it did not.
pub(super) type Dated = (Option<DateTime<Utc>>, SessionUpdate);

/// Leads messages to sessions.
pub(super) struct Router {
    sessions: Arc<Sessions>,
    _reading: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Sessions(Mutex<Known>);

#[derive(Default)]
struct Known {
    sessions: HashMap<SessionId, Slot>,
    broken: Option<String>,
    /// When the first was said of any.
    first: Option<DateTime<Utc>>,
}

/// What is said of a session. One that is slow, as while it fetches a file, holds up no other.
enum Slot {
    /// Before the session was asked for: by an earlier process of the run.
    Early(mpsc::Sender<Dated>, mpsc::Receiver<Dated>),
    /// The same, and more was said than can wait.
    Overrun(mpsc::Receiver<Dated>),
    Open(mpsc::Sender<Dated>),
    /// Nothing of it is wanted any more, and a host may still tell of it.
    Left,
}

impl Router {
    /// Reads everything about a run, from its beginning.
    pub(super) fn start(link: &Link, run: &RunId) -> Self {
        let sessions = Arc::new(Sessions::default());
        let run = names::encode(&run.0);
        let mut follower = link.follow_runs(vec![
            format!("r.{run}.grant.*"),
            format!("r.{run}.ev.>"),
            format!("r.{run}.end.>"),
        ]);
        let told = Arc::clone(&sessions);
        let reading = tokio::spawn(async move {
            loop {
                match follower.next().await {
                    Ok(Followed::CaughtUp) => {}
                    Ok(Followed::Message(message)) => {
                        if let Some((session, said)) = parse(&message) {
                            told.say(session, (Some(message.at), said));
                        }
                    }
                    Err(error) => return told.break_off(&in_one_line(&error)),
                }
            }
        });
        Self {
            sessions,
            _reading: AbortOnDropHandle::new(reading),
        }
    }

    /// Everything that is and was said of a session; it ends when nothing more can be said.
    pub(super) fn listen(&self, session: &SessionId) -> mpsc::Receiver<Dated> {
        self.sessions.listen(session)
    }

    /// Why nothing more is said of any session, if so.
    pub(super) fn broken(&self) -> Option<String> {
        self.sessions.0.lock().broken.clone()
    }

    /// When the first was said of any session, by the server's clock.
    pub(super) fn first(&self) -> Option<DateTime<Utc>> {
        self.sessions.0.lock().first
    }

    /// Nothing more is wanted of a session.
    pub(super) fn leave(&self, session: &SessionId) {
        self.sessions.leave(session);
    }
}

impl Sessions {
    fn listen(&self, session: &SessionId) -> mpsc::Receiver<Dated> {
        let mut known = self.0.lock();
        let (tell, said) = match known.sessions.remove(session) {
            Some(Slot::Early(tell, said)) => (tell, said),
            Some(Slot::Overrun(said)) => {
                known.sessions.insert(session.clone(), Slot::Left);
                return said;
            }
            Some(Slot::Open(_) | Slot::Left) | None => mpsc::channel(MOST_WAITING),
        };
        if known.broken.is_none() {
            known.sessions.insert(session.clone(), Slot::Open(tell));
        }
        said
    }

    fn leave(&self, session: &SessionId) {
        self.0.lock().sessions.insert(session.clone(), Slot::Left);
    }

    fn say(&self, session: SessionId, said: Dated) {
        let mut known = self.0.lock();
        known.first = known.first.or(said.0);
        let slot = known.sessions.entry(session).or_insert_with(|| {
            let (tell, said) = mpsc::channel(MOST_WAITING);
            Slot::Early(tell, said)
        });
        match slot {
            Slot::Early(tell, _) | Slot::Open(tell) => {
                // It may have ended, too.
                if let Err(TrySendError::Full(_)) = tell.try_send(said) {
                    // What is queued is read, and then that this was all.
                    *slot = match std::mem::replace(slot, Slot::Left) {
                        Slot::Early(_, said) => Slot::Overrun(said),
                        Slot::Open(_) | Slot::Overrun(_) | Slot::Left => Slot::Left,
                    };
                }
            }
            Slot::Overrun(_) | Slot::Left => {}
        }
    }

    fn break_off(&self, why: &str) {
        let mut known = self.0.lock();
        known.broken = Some(why.to_owned());
        // Without a sender each session reads what is queued, and then that this was all.
        known.sessions.clear();
    }
}

/// What a message says, and of which session. What cannot be read is never the end of anything.
fn parse(message: &Stored) -> Option<(SessionId, SessionUpdate)> {
    let tokens = message.tokens();
    let session = SessionId(names::decode(tokens.get(3)?)?);
    let host = tokens.get(4).and_then(|host| host.parse::<HostName>().ok());
    let said = match (*tokens.get(2)?, host) {
        ("grant", None) => message
            .read()
            .map_or_else(SessionUpdate::Broken, SessionUpdate::Granted),
        // The server copied that here for somebody: it is no word of the host's, and takes no other's
        // place.
        ("ev", Some(_)) if message.value.is_none() => return None,
        ("ev", Some(host)) => match message.read() {
            Ok(pack) => SessionUpdate::Happened(host, pack),
            Err(error) => SessionUpdate::Unreadable(host, error),
        },
        // That which was copied has taken the place of the real one.
        ("end", Some(host)) => match message.read() {
            Ok(end) => SessionUpdate::Ended(host, end),
            Err(error) => SessionUpdate::Unreadable(host, error),
        },
        _ => return None,
    };
    if let SessionUpdate::Unreadable(_, error) | SessionUpdate::Broken(error) = &said {
        tracing::warn!(error, "unknown message from the farm");
    }
    Some((session, said))
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use packtrain_model::Outcome;

    use super::*;

    fn stored(subject: &str, value: Option<&str>) -> Stored {
        Stored {
            subject: subject.to_owned(),
            sequence: 1,
            value: value.map(|value| value.to_owned().into()),
            at: Utc::now(),
            nonce: None,
        }
    }

    fn word(number: usize) -> Dated {
        let host = "mac-1".parse().unwrap();
        (None, SessionUpdate::Unreadable(host, number.to_string()))
    }

    #[tokio::test]
    async fn what_is_said_of_a_session_that_was_left_is_not_kept() {
        let sessions = Sessions::default();
        let session = SessionId("s1".to_owned());
        let mut said = sessions.listen(&session);
        sessions.say(session.clone(), word(1));
        assert!(said.recv().await.is_some());
        sessions.leave(&session);
        for number in 0..1_000 {
            sessions.say(session.clone(), word(number));
        }
        assert!(matches!(sessions.0.lock().sessions[&session], Slot::Left));
        assert!(said.recv().await.is_none());
    }

    #[tokio::test]
    async fn a_session_hears_that_the_farm_broke_off_however_much_it_has_to_read_before() {
        let sessions = Sessions::default();
        let session = SessionId("s1".to_owned());
        let mut said = sessions.listen(&session);
        for number in 0..1_000 {
            sessions.say(session.clone(), word(number));
        }
        sessions.break_off("forbidden");
        for _ in 0..1_000 {
            assert!(said.recv().await.is_some());
        }
        assert!(said.recv().await.is_none());
        assert_eq!(sessions.0.lock().broken.as_deref(), Some("forbidden"));
        let mut late = sessions.listen(&SessionId("s2".to_owned()));
        assert!(late.recv().await.is_none());
    }

    #[tokio::test]
    async fn a_session_that_is_too_far_behind_hears_what_came_first_and_no_more() {
        for is_early in [true, false] {
            let sessions = Sessions::default();
            let session = SessionId("s1".to_owned());
            let asked = (!is_early).then(|| sessions.listen(&session));
            for number in 0..=MOST_WAITING {
                sessions.say(session.clone(), word(number));
            }
            let mut said = asked.unwrap_or_else(|| sessions.listen(&session));
            sessions.say(session.clone(), word(0));
            for expected in 0..MOST_WAITING {
                let (_, said) = said.recv().await.unwrap();
                assert!(
                    matches!(said, SessionUpdate::Unreadable(_, it) if it == expected.to_string())
                );
            }
            assert!(said.recv().await.is_none());
        }
    }

    #[test]
    fn an_end_that_cannot_be_read_is_told_as_that() {
        let end = End::Settled {
            outcome: Outcome::Passed,
            items: 3,
        };
        let end = serde_json::to_string(&end).unwrap();
        let subject = "r.run.end.s1.mac-1";
        let (session, said) = parse(&stored(subject, Some(&end))).unwrap();
        assert_eq!(session.0, "s1");
        assert!(matches!(said, SessionUpdate::Ended(..)), "{said:?}");
        let acknowledgement = "{\"stream\":\"RUNS\",\"seq\":7}";
        for other in [None, Some(""), Some("{}"), Some(acknowledgement)] {
            let (_, said) = parse(&stored(subject, other)).unwrap();
            assert!(
                matches!(said, SessionUpdate::Unreadable(..)),
                "{other:?}: {said:?}"
            );
        }
    }

    #[test]
    fn what_was_copied_among_a_sessions_events_is_nothing() {
        let subject = "r.run.ev.s1.mac-1";
        assert!(parse(&stored(subject, None)).is_none());
        let (_, said) = parse(&stored(subject, Some("{}"))).unwrap();
        assert!(matches!(said, SessionUpdate::Unreadable(..)), "{said:?}");
    }

    #[test]
    fn what_no_host_says_is_no_host_s_word() {
        for subject in [
            "r.run.end.s1",
            "r.run.end.s1.Mac_1",
            "r.run.ev.s1",
            "r.run.grant.s1.mac-1",
        ] {
            assert!(parse(&stored(subject, Some("{}"))).is_none(), "{subject}");
        }
    }
}
