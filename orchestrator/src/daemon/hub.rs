//! What a daemon has: projects, and those who use their devices.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_rt::ArbiterHandle;
use tokio::sync::{Mutex, OnceCell};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::agents::{Agents, Present, Transport};
use super::project::Project;
use super::wire::ProjectKey;
use crate::exit::CliError;

/// Projects, agents, and what goes on.
pub(crate) struct Hub {
    pub(crate) agents: Agents,
    projects: Mutex<BTreeMap<ProjectKey, Arc<OnceCell<Arc<Project>>>>>,
    arbiters: Vec<ArbiterHandle>,
    /// Connections, sessions and runs that go on.
    pub(crate) work: TaskTracker,
    /// Cancelled when it shall end.
    pub(crate) ending: CancellationToken,
}

impl Hub {
    /// A hub whose actors live on these arbiters.
    pub(crate) fn new(arbiters: Vec<ArbiterHandle>, ending: CancellationToken) -> Arc<Self> {
        Arc::new(Self {
            agents: Agents::default(),
            projects: Mutex::default(),
            arbiters,
            work: TaskTracker::new(),
            ending,
        })
    }

    /// A project, opened when nobody has yet.
    ///
    /// # Errors
    /// As [`Project::open`]; the next one who asks tries again.
    pub(crate) async fn project(&self, key: ProjectKey) -> Result<Arc<Project>, CliError> {
        let cell = {
            let mut projects = self.projects.lock().await;
            Arc::clone(projects.entry(key.clone()).or_default())
        };
        let opened = cell.get_or_try_init(async || {
            let project = Project::open(key, &self.arbiters).await?;
            Ok::<_, CliError>(Arc::new(project))
        });
        opened.await.map(Arc::clone)
    }

    /// Takes in an agent.
    pub(crate) fn join(&self, transport: Transport, project: Arc<Project>) -> Present {
        self.agents.join(transport, project)
    }

    /// Whether nobody uses it.
    pub(crate) fn is_idle(&self) -> bool {
        self.agents.is_empty() && self.work.is_empty()
    }

    /// Ends all projects.
    pub(crate) async fn close(&self) {
        let projects = std::mem::take(&mut *self.projects.lock().await);
        let open = projects.values().filter_map(|cell| cell.get());
        futures::future::join_all(open.map(|project| project.close())).await;
    }
}
