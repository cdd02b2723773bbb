//! Promises of the server, on a real one.

mod joining;
mod roles;
mod running;

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::link::{FarmError, Link, Trust};
use crate::wire::HostName;

/// The nats-server that tests run on.
pub(crate) async fn nats_server() -> NatsServer {
    let program = std::env::var_os("PACKTRAIN_TEST_NATS").expect(
        "PACKTRAIN_TEST_NATS is not set: it must name a nats-server of 2.12 or later; \
         tests/run.sh installs one",
    );
    let places = Places {
        setting: Some(PathBuf::from(program)),
        ..Places::default()
    };
    find(&places).await.unwrap()
}

pub(crate) fn name(text: &str) -> HostName {
    text.parse().unwrap()
}

/// A farm's server that is up, in a folder of its own.
pub(crate) struct Farm {
    pub(crate) folder: FarmFolder,
    pub(crate) server: Embedded,
    _place: TempDir,
}

impl Farm {
    pub(crate) async fn up() -> Self {
        Self::with(Listen::default(), &[]).await
    }

    /// With these users, and a broker.
    pub(crate) async fn with(listen: Listen, users: &[(Role, &str)]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let folder = FarmFolder::open(&place.path().join("farm")).unwrap();
        folder.identity(Role::Broker, &name("farm")).unwrap();
        for (role, user) in users {
            folder.identity(*role, &name(user)).unwrap();
        }
        let server = Embedded::start(&nats_server().await, &folder, listen, "here").await;
        Self {
            folder,
            server: server.unwrap(),
            _place: place,
        }
    }

    pub(crate) fn access(&self, role: Role, user: &str) -> Access {
        let identity = self.folder.identity(role, &name(user)).unwrap();
        self.server.access(identity)
    }

    pub(crate) async fn connect(&self, role: Role, user: &str) -> Link {
        connect(&self.access(role, user)).await.unwrap()
    }
}

pub(crate) async fn connect(access: &Access) -> Result<Link, FarmError> {
    Link::connect(&access.address(), &access.identity.user()).await
}
