//! What a farm's server says of itself and of who asks: for people who look for what is wrong.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::jetstream::stream::Info;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::identity::Identity;
use super::role::{Permissions, Role, looked_at};
use crate::link::{FarmError, Link};
use crate::names::{BLOBS, LIVE, MANIFESTS, bucket_stream as bucket};
use crate::query;
use crate::wire::{HostAdvert, HostName};

/// How long an answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Who one is, in the server's words.
pub(super) const USER_INFO: &str = "$SYS.REQ.USER.INFO";

/// What is known of a farm.
#[derive(Debug, Clone)]
pub struct CheckUp {
    /// The version of the server that answers.
    pub version: String,
    /// The streams that should be there.
    pub streams: Vec<StreamState>,
    /// Why the server stores nothing, if so; `None` too when the role may not write.
    pub not_storing: Option<String>,
    /// How far the server's clock is ahead of this computer's; `None` when it does not tell.
    pub clock_ahead: Option<TimeDelta>,
    /// What the role should be allowed and is not; `None` when the server does not tell.
    pub lacking: Option<Vec<String>>,
    /// The hosts that are alive; `None` when the role may not look.
    pub hosts: Option<Vec<(HostName, HostAdvert)>>,
}

/// A stream as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StreamState {
    /// Its name.
    pub name: String,
    /// What it is; `None` when it is not there.
    pub found: Option<StreamFound>,
}

/// A stream that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StreamFound {
    /// On how many servers it is.
    pub replicas: usize,
    /// Of these, how many have all of it.
    pub current: usize,
    /// Messages in it.
    pub messages: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// Looks at everything that one's role may see.
///
/// # Errors
/// When the server does not answer. What is wrong with the farm is not an error.
pub async fn check_up(link: &Link, identity: Option<&Identity>) -> Result<CheckUp, FarmError> {
    let role = identity.map_or(Role::Broker, |identity| identity.role);
    let mut clock_ahead = None;
    let mut streams = Vec::new();
    for name in streams_of(role) {
        let before = Utc::now();
        let answer: Answer = ask(link, &format!("$JS.API.STREAM.INFO.{name}")).await?;
        let after = Utc::now();
        clock_ahead = clock_ahead.or(answer.ts.map(|ts| ts - (before + (after - before) / 2)));
        let found = answer.found();
        streams.push(StreamState { name, found });
    }
    let has_live = streams
        .iter()
        .any(|stream| stream.name == bucket(LIVE) && stream.found.is_some());
    let lacking = match identity {
        Some(identity) => lacking(link, identity).await,
        None => None,
    };
    let mut not_storing = None;
    if has_live && role != Role::Viewer {
        not_storing = link.check_store().await.err();
    }
    let mut hosts = (role != Role::Host).then(Vec::new);
    if let Some(hosts) = hosts.as_mut().filter(|_| has_live) {
        *hosts = query::alive(link).await?.hosts;
    }
    Ok(CheckUp {
        version: link.server_version(),
        not_storing,
        hosts,
        streams,
        clock_ahead,
        lacking,
    })
}

/// On how many servers the farm keeps everything; `None` when that is not known, as while servers elect
/// a leader.
pub async fn replicas(link: &Link) -> Option<usize> {
    let subject = format!("$JS.API.STREAM.INFO.{}", bucket(LIVE));
    match ask::<Answer>(link, &subject).await {
        Ok(answer) => answer.found().map(|found| found.replicas),
        Err(error) => {
            tracing::debug!(%error, "it is not known on how many servers the farm is");
            None
        }
    }
}

fn streams_of(role: Role) -> Vec<String> {
    let mut streams = looked_at().to_vec();
    if role != Role::Viewer {
        streams.extend([BLOBS.to_owned(), bucket(MANIFESTS)]);
    }
    streams
}

/// What the server does not allow of what the role should have.
async fn lacking(link: &Link, identity: &Identity) -> Option<Vec<String>> {
    let answer: Value = ask(link, USER_INFO).await.ok()?;
    let allowed = answer.get("data")?.get("permissions");
    let Some(allowed) = allowed.filter(|allowed| !allowed.is_null()) else {
        return Some(Vec::new());
    };
    let wanted = Permissions::of(identity.role, &identity.name);
    let missing = |wanted: Vec<String>, doing: &str| {
        let allowed = allowed[doing]["allow"].as_array().into_iter().flatten();
        let allowed: BTreeSet<_> = allowed.filter_map(Value::as_str).collect();
        let missing = (wanted.into_iter()).filter(|subject| !allowed.contains(subject.as_str()));
        missing
            .map(|subject| format!("{doing} {subject}"))
            .collect::<Vec<_>>()
    };
    let mut lacking = missing(wanted.publish, "publish");
    lacking.extend(missing(wanted.subscribe, "subscribe"));
    Some(lacking)
}

async fn ask<T: serde::de::DeserializeOwned>(link: &Link, subject: &str) -> Result<T, FarmError> {
    let answer = link
        .ask(subject.to_owned(), Vec::new(), ANSWER_TIMEOUT)
        .await?;
    serde_json::from_slice(&answer)
        .map_err(|error| FarmError::server(format!("read the answer to {subject}"), &error))
}

/// What is read of a stream's description; the one is there with the stream.
#[derive(Deserialize)]
struct Answer {
    #[serde(flatten)]
    info: Option<Info>,
    ts: Option<DateTime<Utc>>,
}

impl Answer {
    fn found(&self) -> Option<StreamFound> {
        let Info {
            config,
            state,
            cluster,
            ..
        } = self.info.as_ref()?;
        let others = cluster.iter().flat_map(|cluster| &cluster.replicas);
        Some(StreamFound {
            replicas: config.num_replicas.max(1),
            // The leader, which answers, has all of it.
            current: 1 + others.filter(|replica| replica.current).count(),
            messages: state.messages,
            bytes: state.bytes,
        })
    }
}
