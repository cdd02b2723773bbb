//! Where sessions are carried out on this computer, whoever asks for them: the tools that are defined, the
//! sources that run for them, and the devices.

use std::path::PathBuf;
use std::sync::Arc;

use packtrain_config::Config;
use packtrain_device_actors::Fleet;
use packtrain_engine::Here;
use packtrain_tools::{Caller, Registry, SharedRegistry};

use crate::exit::CliError;
use crate::sources::{Purpose, RunningSources};
use crate::trails;

/// The tools that sessions may call.
pub(crate) struct Tools {
    registry: SharedRegistry,
    sources: Option<RunningSources>,
}

impl Tools {
    /// Starts the sources, if there is something to start them for.
    ///
    /// # Errors
    /// As [`RunningSources::start`].
    pub(crate) async fn start(
        config: &Config,
        registry: Registry,
        purpose: Option<Purpose<'_>>,
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

    pub(crate) const fn registry(&self) -> &SharedRegistry {
        &self.registry
    }

    pub(crate) const fn has_sources(&self) -> bool {
        self.sources.is_some()
    }

    /// Where sessions on these devices call them.
    pub(crate) fn here(
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
    pub(crate) async fn shutdown(&self) {
        if let Some(sources) = &self.sources {
            sources.shutdown().await;
        }
    }
}
