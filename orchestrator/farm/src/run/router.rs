//! What the farm says of a run, in its order, to each of the run's sessions.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use packtrain_model::{RunId, SessionId};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::follow::Followed;
use crate::link::Link;
use crate::names;
use crate::wire::{End, Grant, HostName, Pack};

/// What may wait for a session; the reading waits when it is full, for one journal takes it all.
const QUEUED: usize = 256;

/// What the farm says of a session.
#[derive(Debug)]
pub(super) enum Said {
    /// It was granted a device.
    Granted(Grant),
    /// What happened, on a host.
    Happened(HostName, Pack),
    /// How it ended, on a host.
    Ended(HostName, End),
    /// Nothing more will be said.
    Broken(String),
}

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
}

enum Slot {
    /// What was said before the session was asked for: by an earlier process of the run.
    Early(Vec<Said>),
    Open(mpsc::Sender<Said>),
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
                            told.say(session, said).await;
                        }
                    }
                    Err(error) => return told.break_off(&error.to_string()),
                }
            }
        });
        Self {
            sessions,
            _reading: AbortOnDropHandle::new(reading),
        }
    }

    /// Everything that is and was said of a session.
    pub(super) fn listen(&self, session: &SessionId) -> mpsc::Receiver<Said> {
        let mut known = self.sessions.known();
        let early = match known.sessions.remove(session) {
            Some(Slot::Early(early)) => early,
            Some(Slot::Open(_)) | None => Vec::new(),
        };
        let (tell, said) = mpsc::channel(QUEUED.max(early.len() + 1));
        for message in early {
            // There is room for all of them.
            let _ = tell.try_send(message);
        }
        if let Some(why) = &known.broken {
            let _ = tell.try_send(Said::Broken(why.clone()));
        }
        known.sessions.insert(session.clone(), Slot::Open(tell));
        said
    }

    /// Nothing more is wanted of a session.
    pub(super) fn leave(&self, session: &SessionId) {
        self.sessions.known().sessions.remove(session);
    }
}

impl Sessions {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn say(&self, session: SessionId, said: Said) {
        let tell = {
            let mut known = self.known();
            let slot = known
                .sessions
                .entry(session)
                .or_insert_with(|| Slot::Early(Vec::new()));
            match slot {
                Slot::Early(early) => {
                    early.push(said);
                    return;
                }
                Slot::Open(tell) => tell.clone(),
            }
        };
        // The session may have ended.
        let _ = tell.send(said).await;
    }

    fn break_off(&self, why: &str) {
        let mut known = self.known();
        known.broken = Some(why.to_owned());
        for slot in known.sessions.values() {
            if let Slot::Open(tell) = slot {
                let _ = tell.try_send(Said::Broken(why.to_owned()));
            }
        }
    }
}

/// What a message says, and of which session.
fn parse(message: &crate::store::Stored) -> Option<(SessionId, Said)> {
    let tokens = message.tokens();
    let session = SessionId(names::decode(tokens.get(3)?)?);
    let host = || tokens.get(4)?.parse::<HostName>().ok();
    let said = match *tokens.get(2)? {
        "grant" => message.read().map(Said::Granted),
        "ev" => message
            .read()
            .map(|pack| (host(), pack))
            .and_then(named_pack),
        "end" => message.read().map(|end| (host(), end)).and_then(named_end),
        _ => return None,
    };
    match said {
        Ok(said) => Some((session, said)),
        Err(error) => {
            tracing::warn!(%error, "the farm says what nobody understands");
            Some((session, Said::Broken(error)))
        }
    }
}

fn named_pack((host, pack): (Option<HostName>, Pack)) -> Result<Said, String> {
    let host = host.ok_or("events of no host")?;
    Ok(Said::Happened(host, pack))
}

fn named_end((host, end): (Option<HostName>, End)) -> Result<Said, String> {
    let host = host.ok_or("an end of no host")?;
    Ok(Said::Ended(host, end))
}
