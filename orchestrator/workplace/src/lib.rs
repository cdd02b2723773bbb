//! Where sessions are carried out on this computer, for every caller: the tools that are defined, the
//! sources that run for them, and the devices.

pub mod disk;
pub mod sources;
pub mod tool_files;
pub mod trails;

use std::path::PathBuf;
use std::sync::Arc;

use actix_rt::{Arbiter, ArbiterHandle};
use packtrain_config::{Config, ConfigError, Loaded};
use packtrain_device_actors::Fleet;
use packtrain_drivers::Platform;
use packtrain_engine::Here;
use packtrain_terminal::exit::CliError;
use packtrain_tools::{Caller, Registry, SharedRegistry, Target, Targets};

use self::sources::{RunningSources, SourceStartOptions};

/// The configuration, and the tools that need no source.
pub struct Workspace {
    /// The configuration.
    pub config: Config,
    /// The folder of the configuration.
    pub root: PathBuf,
    /// The tools that need no source.
    pub registry: Registry,
}

impl Workspace {
    /// What was read, with these tools.
    pub fn of(loaded: Loaded, registry: Registry) -> Self {
        Self {
            config: loaded.config,
            root: loaded.root,
            registry,
        }
    }
}

/// A configuration with mistakes, as people see it.
pub fn refused(error: ConfigError) -> CliError {
    match error {
        ConfigError::Invalid(mistakes) => CliError::mistakes("the configuration", mistakes),
        ConfigError::Unreadable { ref source, .. } => {
            CliError::misuse(error.to_string()).because(source)
        }
        ConfigError::TooLarge { .. } | ConfigError::Inconsistent(_) => {
            CliError::misuse(error.to_string())
        }
    }
}

/// The apps under test, as the configuration has them.
pub fn targets(config: &Config) -> Targets {
    let named = config.targets.iter();
    let mut targets = Targets {
        named: named
            .map(|(name, configured)| (name.clone(), target(name, configured)))
            .collect(),
        ..Targets::default()
    };
    if let Some(word) = &config.target {
        targets.default = targets.called(word);
    }
    targets
}

fn target(name: &str, configured: &packtrain_config::Target) -> Target {
    let ids = &configured.app_ids;
    Target {
        name: Some(name.to_owned()),
        app_ids: [
            (Platform::Android, ids.android.clone()),
            (Platform::Ios, ids.ios.clone()),
        ]
        .into(),
        base_url: configured.base_url.clone(),
    }
}

/// Threads for actors. Their handlers are short, so a few serve any number of devices. Call from
/// inside an actix system.
pub fn arbiters(devices: usize) -> Vec<ArbiterHandle> {
    (0..devices.div_ceil(200).clamp(1, 4))
        .map(|_| Arbiter::new().handle())
        .collect()
}

/// The tools that sessions may call.
pub struct Tools {
    registry: SharedRegistry,
    sources: Option<RunningSources>,
}

impl Tools {
    /// Starts the sources, if there is something to start them for.
    ///
    /// # Errors
    /// As [`RunningSources::start`].
    pub async fn start(
        config: &Config,
        registry: Registry,
        purpose: Option<SourceStartOptions<'_>>,
    ) -> Result<Self, CliError> {
        let Some(purpose) = purpose.filter(|_| !config.mcp_servers.is_empty()) else {
            return Ok(Self {
                registry: SharedRegistry::new(registry),
                sources: None,
            });
        };
        let sources = RunningSources::start(config, registry, purpose).await?;
        Ok(Self {
            registry: sources.registry(),
            sources: Some(sources),
        })
    }

    /// The registry, which changes when the sources' tools do.
    pub const fn registry(&self) -> &SharedRegistry {
        &self.registry
    }

    /// Whether sources were started.
    pub const fn has_sources(&self) -> bool {
        self.sources.is_some()
    }

    /// Where sessions on these devices call them.
    pub fn here(
        &self,
        fleet: &Fleet,
        caller: Caller,
        working_directory: PathBuf,
        scratch: Option<PathBuf>,
    ) -> Here {
        Here {
            fleet: fleet.clone(),
            registry: self.registry.clone(),
            loader: Arc::new(trails::Disk),
            caller,
            working_directory,
            environment: None,
            scratch,
        }
    }

    /// Ends the sources.
    pub async fn shutdown(&self) {
        if let Some(sources) = &self.sources {
            sources.shutdown().await;
        }
    }
}
