//! What the farm says of a run, in its order, to each of the run's sessions.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use packtrain_model::{RunId, SessionId};
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{oneshot, watch};
use tokio_util::task::AbortOnDropHandle;

use crate::follow::{Followed, Follower};
use crate::link::{FarmError, Link, in_one_line};
use crate::names;
use crate::store::Stored;
use crate::wire::{End, Grant, HostName, Pack};

/// What may wait for a session, which is hours of it: one that is further behind hears no more, and is lost.
const MOST_WAITING: usize = 65_536;

/// How many requests to the router may wait; who has more waits, too.
const REQUESTS: usize = 64;

/// What the farm says of a session.
#[derive(Debug)]
pub(super) enum SessionUpdate {
    /// It was granted a device.
    Granted(Grant),
    /// Its grant cannot be read.
    Broken(String),
    /// What a host says of it.
    Host(HostName, HostUpdate),
}

/// What a host says of a session.
#[derive(Debug)]
pub(super) enum HostUpdate {
    /// What happened.
    Happened(Pack),
    /// How it ended.
    Ended(End),
    /// An unreadable message.
    Unreadable(String),
}

/// The same, and when the server stored it; `None` when it did not.
pub(super) type Dated = (Option<DateTime<Utc>>, SessionUpdate);

/// Leads messages to sessions.
pub(super) struct Router {
    requests: mpsc::Sender<Request>,
    /// When the first was said of any session, by the server's clock; and why nothing more is, if so.
    state: watch::Receiver<(Option<DateTime<Utc>>, Option<String>)>,
    _reading: AbortOnDropHandle<()>,
}

enum Request {
    Listen(SessionId, oneshot::Sender<mpsc::Receiver<Dated>>),
    Leave(SessionId),
}

#[derive(Default)]
struct Sessions(HashMap<SessionId, Slot>);

/// What is said of a session. One that is slow, as while it fetches a file, holds up no other.
enum Slot {
    /// Before the session was asked for: by an earlier process of the run. Without a sender, more was
    /// said than can wait.
    Early(Option<mpsc::Sender<Dated>>, mpsc::Receiver<Dated>),
    Open(mpsc::Sender<Dated>),
    /// Nothing of it is wanted any more, and a host may still tell of it.
    Left,
}

impl Router {
    /// Reads everything about a run, from its beginning.
    pub(super) fn start(link: &Link, run: &RunId) -> Self {
        let run = names::encode(&run.0);
        let follower = link.follow_runs(vec![
            format!("r.{run}.grant.*"),
            format!("r.{run}.ev.>"),
            format!("r.{run}.end.>"),
        ]);
        let (requests, asked) = mpsc::channel(REQUESTS);
        let (tell, state) = watch::channel((None, None));
        let reading = tokio::spawn(async move {
            let (mut asked, mut sessions) = (asked, Sessions::default());
            let error = read(follower, &mut asked, &mut sessions, &tell).await;
            // Before they hear that this was all, for then they ask why.
            tell.send_modify(|(_, broken)| *broken = Some(in_one_line(&error)));
        });
        Self {
            requests,
            state,
            _reading: AbortOnDropHandle::new(reading),
        }
    }

    /// Everything that is and was said of a session; it ends when nothing more can be said.
    pub(super) async fn listen(&self, session: &SessionId) -> mpsc::Receiver<Dated> {
        let (reply, said) = oneshot::channel();
        let request = Request::Listen(session.clone(), reply);
        // There is no router any more when nothing more can be said.
        let _ = self.requests.send(request).await;
        said.await.unwrap_or_else(|_| mpsc::channel(1).1)
    }

    /// Why nothing more is said of any session, if so.
    pub(super) fn broken(&self) -> Option<String> {
        self.state.borrow().1.clone()
    }

    /// When the first was said of any session, by the server's clock.
    pub(super) fn first(&self) -> Option<DateTime<Utc>> {
        self.state.borrow().0
    }

    /// Nothing more is wanted of a session.
    pub(super) async fn leave(&self, session: &SessionId) {
        let _ = self.requests.send(Request::Leave(session.clone())).await;
    }
}

/// Leads messages to sessions until there are no more, and says why. Once they are dropped, each session
/// reads what is queued, and then that this was all.
async fn read(
    mut follower: Follower,
    asked: &mut mpsc::Receiver<Request>,
    sessions: &mut Sessions,
    tell: &watch::Sender<(Option<DateTime<Utc>>, Option<String>)>,
) -> FarmError {
    loop {
        tokio::select! {
            next = follower.next() => match next {
                Ok(Followed::CaughtUp) => {}
                Ok(Followed::Message(message)) => {
                    if let Some((session, said)) = parse(&message) {
                        tell.send_if_modified(|(first, _)| {
                            let is_first = first.is_none();
                            *first = first.or(Some(message.at));
                            is_first
                        });
                        sessions.say(session, (Some(message.at), said));
                    }
                }
                Err(error) => return error,
            },
            Some(request) = asked.recv() => match request {
                // The session may be over by now.
                Request::Listen(session, reply) => drop(reply.send(sessions.listen(session))),
                Request::Leave(session) => drop(sessions.0.insert(session, Slot::Left)),
            },
        }
    }
}

impl Sessions {
    fn listen(&mut self, session: SessionId) -> mpsc::Receiver<Dated> {
        let (slot, said) = match self.0.remove(&session) {
            Some(Slot::Early(Some(tell), said)) => (Slot::Open(tell), said),
            Some(Slot::Early(None, said)) => (Slot::Left, said),
            Some(Slot::Open(_) | Slot::Left) | None => {
                let (tell, said) = mpsc::channel(MOST_WAITING);
                (Slot::Open(tell), said)
            }
        };
        self.0.insert(session, slot);
        said
    }

    fn say(&mut self, session: SessionId, said: Dated) {
        let slot = self.0.entry(session).or_insert_with(|| {
            let (tell, said) = mpsc::channel(MOST_WAITING);
            Slot::Early(Some(tell), said)
        });
        let (Slot::Early(Some(tell), _) | Slot::Open(tell)) = &slot else {
            return;
        };
        // The session may have ended, too.
        if let Err(TrySendError::Full(_)) = tell.try_send(said) {
            // What is queued is read, and then that this was all.
            match slot {
                Slot::Early(tell, _) => *tell = None,
                Slot::Open(_) | Slot::Left => *slot = Slot::Left,
            }
        }
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
        ("ev", Some(host)) => {
            let said = message.read().map(HostUpdate::Happened);
            SessionUpdate::Host(host, said.unwrap_or_else(HostUpdate::Unreadable))
        }
        // That which was copied has taken the place of the real one.
        ("end", Some(host)) => {
            let said = message.read().map(HostUpdate::Ended);
            SessionUpdate::Host(host, said.unwrap_or_else(HostUpdate::Unreadable))
        }
        _ => return None,
    };
    if let SessionUpdate::Host(_, HostUpdate::Unreadable(error)) | SessionUpdate::Broken(error) =
        &said
    {
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
        let said = HostUpdate::Unreadable(number.to_string());
        (None, SessionUpdate::Host(host, said))
    }

    fn is_unreadable(said: &SessionUpdate) -> bool {
        matches!(said, SessionUpdate::Host(_, HostUpdate::Unreadable(_)))
    }

    #[tokio::test]
    async fn what_is_said_of_a_session_that_was_left_is_not_kept() {
        let mut sessions = Sessions::default();
        let session = SessionId("s1".to_owned());
        let mut said = sessions.listen(session.clone());
        sessions.say(session.clone(), word(1));
        assert!(said.recv().await.is_some());
        sessions.0.insert(session.clone(), Slot::Left);
        for number in 0..1_000 {
            sessions.say(session.clone(), word(number));
        }
        assert!(matches!(sessions.0[&session], Slot::Left));
        assert!(said.recv().await.is_none());
    }

    #[tokio::test]
    async fn a_session_hears_that_the_farm_broke_off_however_much_it_has_to_read_before() {
        let mut sessions = Sessions::default();
        let session = SessionId("s1".to_owned());
        let mut said = sessions.listen(session.clone());
        for number in 0..1_000 {
            sessions.say(session.clone(), word(number));
        }
        // As when reading ends.
        drop(sessions);
        for _ in 0..1_000 {
            assert!(said.recv().await.is_some());
        }
        assert!(said.recv().await.is_none());
        let router = Router {
            requests: mpsc::channel(1).0,
            state: watch::channel((None, Some("forbidden".to_owned()))).1,
            _reading: AbortOnDropHandle::new(tokio::spawn(async {})),
        };
        let mut late = router.listen(&session).await;
        assert!(late.recv().await.is_none());
        assert_eq!(router.broken().as_deref(), Some("forbidden"));
    }

    #[tokio::test]
    async fn a_session_that_is_too_far_behind_hears_what_came_first_and_no_more() {
        for is_early in [true, false] {
            let mut sessions = Sessions::default();
            let session = SessionId("s1".to_owned());
            let asked = (!is_early).then(|| sessions.listen(session.clone()));
            for number in 0..=MOST_WAITING {
                sessions.say(session.clone(), word(number));
            }
            let mut said = asked.unwrap_or_else(|| sessions.listen(session.clone()));
            sessions.say(session.clone(), word(0));
            for expected in 0..MOST_WAITING {
                let (_, said) = said.recv().await.unwrap();
                let expected = expected.to_string();
                assert!(
                    matches!(said, SessionUpdate::Host(_, HostUpdate::Unreadable(it)) if it == expected)
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
        assert!(
            matches!(said, SessionUpdate::Host(_, HostUpdate::Ended(_))),
            "{said:?}"
        );
        let acknowledgement = "{\"stream\":\"RUNS\",\"seq\":7}";
        for other in [None, Some(""), Some("{}"), Some(acknowledgement)] {
            let (_, said) = parse(&stored(subject, other)).unwrap();
            assert!(is_unreadable(&said), "{other:?}: {said:?}");
        }
    }

    #[test]
    fn what_was_copied_among_a_sessions_events_is_nothing() {
        let subject = "r.run.ev.s1.mac-1";
        assert!(parse(&stored(subject, None)).is_none());
        let (_, said) = parse(&stored(subject, Some("{}"))).unwrap();
        assert!(is_unreadable(&said), "{said:?}");
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
