//! A project that the daemon serves: its configuration, its devices, its tools.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_rt::ArbiterHandle;
use packtrain_config::{Config, Flags, Loaded, Sources};
use packtrain_device_actors::{DeviceState, DeviceStatus, Fleet};
use packtrain_drivers::DeviceInfo;
use packtrain_engine::Here;
use packtrain_model::RunId;
use packtrain_tools::{Caller, Registry, SharedRegistry, Targets};
use tokio::sync::OnceCell;

use super::wire::{DeviceNews, ProjectKey};
use crate::cli::{checked, refused, targets};
use crate::exit::CliError;
use crate::sources::{Purpose, RunningSources};
use crate::wiring::{DeviceSelection, Wiring};
use crate::{tool_files, trails};

/// How long devices may take to let go at the end.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(15);

/// A project, as long as the daemon lives.
pub(crate) struct Project {
    pub(crate) key: ProjectKey,
    pub(crate) config: Config,
    /// The folder of the configuration.
    pub(crate) root: PathBuf,
    pub(crate) targets: Targets,
    fleet: Fleet,
    wiring: Wiring,
    /// The tools that need no source.
    registry: Registry,
    /// What has them all, once somebody needed them.
    sources: OnceCell<Option<RunningSources>>,
    arbiter: ArbiterHandle,
}

impl Project {
    /// Reads the configuration and looks for devices; nothing is connected.
    ///
    /// # Errors
    /// When the configuration or a tool file has a mistake.
    pub(crate) async fn open(
        key: ProjectKey,
        arbiters: &[ArbiterHandle],
    ) -> Result<Self, CliError> {
        let loaded = packtrain_config::load(&Sources {
            start: key.folder.clone(),
            project: key.config.clone(),
            environment: key.environment.clone().into_iter().collect(),
            flags: Flags::default(),
        });
        let Loaded { config, root, .. } = loaded
            .and_then(checked)
            .map_err(|error| refused(&error))?;
        let registry = tool_files::registry(&config, &key.folder)?.registry;
        let wanted = DeviceSelection {
            words: &[],
            all: true,
        };
        let wiring = Wiring::new(&config, wanted, false).await?;
        let fleet = Fleet::start(wiring.connectors().to_vec(), arbiters)
            .map_err(|error| CliError::misuse(error.to_string()))?;
        Ok(Self {
            key,
            targets: targets(&config),
            config,
            root,
            fleet,
            wiring,
            registry,
            sources: OnceCell::new(),
            arbiter: arbiters[0].clone(),
        })
    }

    /// The devices.
    pub(crate) const fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// What devices are made of.
    pub(crate) const fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    /// All tools; the tool sources are started when this is asked for the first time.
    ///
    /// # Errors
    /// When two tools share a name, or there is no port for callbacks.
    pub(crate) async fn tools(&self) -> Result<SharedRegistry, CliError> {
        let sources = self.sources.get_or_try_init(async || {
            if self.config.mcp_servers.is_empty() {
                return Ok(None);
            }
            let statuses = self.fleet.status().await;
            let purpose = Purpose {
                devices: statuses.into_iter().map(|status| status.info).collect(),
                first: None,
                run_dir: None,
                name: RunId("daemon".to_owned()).to_string(),
                secrets: &[],
                root: &self.root,
                log_listener: None,
                without: Vec::new(),
                arbiter: Some(self.arbiter.clone()),
            };
            let started = RunningSources::start(&self.config, self.registry.clone(), purpose);
            Ok::<_, CliError>(Some(started.await?))
        });
        Ok(match sources.await? {
            Some(sources) => sources.registry(),
            None => SharedRegistry::new(self.registry.clone()),
        })
    }

    /// Where sessions are carried out, for whoever asks for them.
    ///
    /// # Errors
    /// As [`Project::tools`].
    pub(crate) async fn here(
        &self,
        caller: Caller,
        working_directory: PathBuf,
        scratch: Option<PathBuf>,
    ) -> Result<Here, CliError> {
        Ok(Here {
            fleet: self.fleet.clone(),
            registry: self.tools().await?,
            loader: Arc::new(trails::Disk),
            caller,
            working_directory,
            scratch,
        })
    }

    /// The devices, with who has them.
    pub(crate) async fn devices(&self) -> Vec<DeviceNews> {
        let statuses = self.fleet.status().await;
        statuses.into_iter().map(news).collect()
    }

    /// The devices as they are known.
    pub(crate) async fn known(&self) -> Vec<DeviceInfo> {
        let statuses = self.fleet.status().await;
        statuses.into_iter().map(|status| status.info).collect()
    }

    /// Ends its devices and sources.
    pub(crate) async fn close(&self) {
        self.fleet.shutdown(DEVICES_TIMEOUT).await;
        if let Some(Some(sources)) = self.sources.get() {
            sources.shutdown().await;
        }
        self.wiring.close().await;
    }
}

fn news(status: DeviceStatus) -> DeviceNews {
    let is_free = matches!(status.state, DeviceState::Absent | DeviceState::Ready);
    let state = match &status.state {
        DeviceState::Absent | DeviceState::Ready => "free".to_owned(),
        DeviceState::Connecting => "being connected".to_owned(),
        DeviceState::Leased(holder) => format!("in use by {}", holder.name),
        DeviceState::Closing(_) => "being let go of".to_owned(),
        DeviceState::Dead { cause, .. } => format!("restarting after: {cause}"),
    };
    DeviceNews {
        info: status.info,
        state,
        is_free,
        queue: status.queue,
    }
}
