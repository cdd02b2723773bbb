//! Who may do what, as subjects.
//!
//! What is not allowed is forbidden. A role's own inbox is private to its user.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::checkup::USER_INFO;
use crate::names::{
    BLOBS, DEVICES, LEASES, LIVE, MANIFESTS, RUNS, bucket_stream as bucket, key_subject as keys,
};
use crate::wire::HostName;

/// What a user of the farm is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Grants devices, declares the dead, makes the streams: everything of the farm.
    Broker,
    /// Offers its devices and carries sessions out.
    Host,
    /// Runs trails.
    Run,
    /// Looks.
    Viewer,
    /// Runs trails, and drains hosts and quarantines devices.
    Operator,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Broker,
        Self::Host,
        Self::Run,
        Self::Viewer,
        Self::Operator,
    ];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Broker => "broker",
            Self::Host => "host",
            Self::Run => "run",
            Self::Viewer => "viewer",
            Self::Operator => "operator",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.word() == text);
        found.ok_or_else(|| {
            format!("invalid role `{text}`: expected host, run, viewer, operator or broker")
        })
    }
}

/// What a user may do. Wildcards as the server reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Subjects it may publish to.
    pub publish: Vec<String>,
    /// Subjects it may subscribe to.
    pub subscribe: Vec<String>,
    /// Whether it may answer requests that it receives.
    pub answers: bool,
}

/// The prefix of a user's replies, which no other user may read.
pub fn inbox_prefix(user: &str) -> String {
    format!("_INBOX_{user}")
}

impl Permissions {
    /// What a role's user of that name may do.
    pub fn of(role: Role, name: &HostName) -> Self {
        let mut permissions = match role {
            Role::Broker => broker(),
            Role::Host => host(name),
            Role::Run => run(),
            Role::Viewer => viewer(),
            Role::Operator => operator(),
        };
        let inbox = inbox_prefix(&format!("{role}_{name}"));
        permissions.subscribe.push(format!("{inbox}.>"));
        permissions.publishing(&[USER_INFO])
    }

    /// What somebody who wants to join may do: ask.
    pub fn of_joiners() -> Self {
        Self {
            publish: vec![crate::names::JOIN.to_owned()],
            subscribe: vec![format!("{JOINERS_INBOX}.>")],
            answers: false,
        }
    }

    fn publishing(mut self, subjects: &[&str]) -> Self {
        self.publish
            .extend(subjects.iter().map(|&subject| subject.to_owned()));
        self
    }

    fn subscribing(mut self, subjects: &[&str]) -> Self {
        self.subscribe
            .extend(subjects.iter().map(|&subject| subject.to_owned()));
        self
    }

    /// Reads single messages of streams.
    fn reading(self, streams: &[String]) -> Self {
        streams.iter().fold(self, |permissions, stream| {
            permissions.publishing(&[
                &format!("$JS.API.STREAM.INFO.{stream}"),
                &format!("$JS.API.STREAM.MSG.GET.{stream}"),
                &format!("$JS.API.DIRECT.GET.{stream}"),
                &format!("$JS.API.DIRECT.GET.{stream}.>"),
            ])
        })
    }

    /// Follows what a stream has on some subjects. A consumer's name is random and known to its owner
    /// alone.
    fn following(self, stream: &str, filter: &str) -> Self {
        self.publishing(&[
            &format!("$JS.API.CONSUMER.CREATE.{stream}.*.{filter}"),
            &format!("$JS.API.CONSUMER.INFO.{stream}.*"),
            &format!("$JS.API.CONSUMER.DELETE.{stream}.*"),
            &format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.*"),
            "$JS.FC.>",
        ])
    }

    /// Follows any subjects of streams.
    fn following_all(self, streams: &[String]) -> Self {
        streams.iter().fold(self, |permissions, stream| {
            permissions
                .publishing(&[&format!("$JS.API.CONSUMER.CREATE.{stream}.*")])
                .following(stream, ">")
        })
    }
}

/// The name that joiners connect by.
pub const JOINER: &str = "join";
/// The prefix of joiners' replies, which hold nothing secret.
const JOINERS_INBOX: &str = "_INBOX";

fn broker() -> Permissions {
    let all = ["r.>", "blob.*", "cancel.*", "place.*", "ctl.>", "$KV.>"];
    Permissions {
        answers: true,
        ..Permissions::default()
    }
    .publishing(&all)
    .publishing(&["$JS.API.>", "$JS.ACK.>", "$JS.FC.>"])
    // Who joins is answered after the server has read its configuration again, and by then it has
    // forgotten whose requests may be answered.
    .publishing(&[&format!("{JOINERS_INBOX}.>")])
    .subscribing(&all)
    .subscribing(&[crate::names::JOIN])
}

/// A host follows only what is for it and nothing that it writes itself: a consumer may have the server
/// deliver to any subject of the account, whatever its permissions.
fn host(name: &HostName) -> Permissions {
    Permissions {
        answers: true,
        ..Permissions::default()
    }
    .publishing(&[
        &format!("r.*.ev.*.{name}"),
        &format!("r.*.end.*.{name}"),
        &keys(LIVE, &format!("host.{name}")),
        &keys(DEVICES, &format!("{name}.>")),
        "blob.*",
        "ctl.broker",
        "$JS.API.INFO",
    ])
    .subscribing(&["cancel.*", &format!("ctl.host.{name}")])
    .reading(&looked_at())
    .reading(&[BLOBS.to_owned(), bucket(MANIFESTS)])
    .following(&bucket(LEASES), &keys(LEASES, &format!("{name}.>")))
    .following(&bucket(LIVE), &keys(LIVE, "run.>"))
    .following(&bucket(LIVE), &keys(LIVE, "broker"))
    .following(RUNS, "r.*.demand.*")
    .following(&bucket(MANIFESTS), &keys(MANIFESTS, &format!("*.{name}")))
}

fn viewer() -> Permissions {
    Permissions::default()
        .publishing(&["ctl.broker", "$JS.API.INFO"])
        .subscribing(&["place.*"])
        .reading(&looked_at())
        .following_all(&looked_at())
}

/// The streams of what is on the farm.
pub(super) fn looked_at() -> [String; 4] {
    [
        RUNS.to_owned(),
        bucket(LIVE),
        bucket(LEASES),
        bucket(DEVICES),
    ]
}

fn run() -> Permissions {
    viewer()
        .publishing(&[
            "r.*.demand.*",
            &keys(LIVE, "run.*"),
            &keys(MANIFESTS, ">"),
            "blob.*",
            "cancel.*",
        ])
        .reading(&[BLOBS.to_owned(), bucket(MANIFESTS)])
}

fn operator() -> Permissions {
    run().publishing(&["ctl.host.*"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_read_as_they_are_written() {
        for role in Role::ALL {
            assert_eq!(role.word().parse(), Ok(role));
        }
        assert!("root".parse::<Role>().is_err());
    }

    #[test]
    fn nobody_but_the_broker_may_use_the_whole_api() {
        let name: HostName = "mac-1".parse().unwrap();
        for role in Role::ALL {
            let all = Permissions::of(role, &name);
            let wide = all.publish.iter().any(|subject| subject == "$JS.API.>");
            assert_eq!(wide, role == Role::Broker, "{role}");
        }
    }
}
