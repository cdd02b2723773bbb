//! A project that the daemon serves: its configuration, its devices, its tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use actix_rt::ArbiterHandle;
use packtrain_config::{Config, ConfigError, Flags, Loaded, Sources};
use packtrain_device_actors::{DeviceState, DeviceStatus, Fleet, FleetError, SharedDevices};
use packtrain_drivers::{Connector, DeviceId, Reach};
use packtrain_engine::Here;
use packtrain_terminal::exit::CliError;
use packtrain_tools::{AgentPermissions, Caller, Registry, SharedRegistry, Targets};
use packtrain_toolsets::store::ToolsetStore;
use packtrain_wiring::watch::{AWAY_GRACE, Change, Watch};
use packtrain_wiring::{DeviceSelection, Wiring};
use packtrain_workplace::Tools;
use packtrain_workplace::{refused, targets};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::files::Files;
use super::hub::UnderWay;
use super::toolbox::{Toolbox, own};
use super::wire::{DeviceSummary, ProjectKey};

/// How long devices may take to let go at the end.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(15);

/// What refuses a configuration that has mistakes, with what only the program knows of values.
pub type Checks = fn(Loaded) -> Result<Loaded, ConfigError>;

/// A project, as long as the daemon lives.
pub struct Project {
    /// What tells it from others.
    pub key: ProjectKey,
    /// The configuration.
    pub config: Config,
    /// The folder of the configuration.
    pub root: PathBuf,
    /// The apps under test.
    pub targets: Targets,
    /// The toolsets, as they were defined when it was opened and as agents build them.
    pub toolsets: Arc<ToolsetStore>,
    /// Agents, with what they may do.
    pub agent: Caller,
    /// The devices.
    pub fleet: Fleet,
    /// What devices are made of.
    pub wiring: Wiring,
    loaded: Arc<Loaded>,
    checks: Checks,
    /// What it was made of; `None` once that is not what there is. Locked, too, while the tools' files are
    /// read again.
    files: Mutex<Option<Files>>,
    /// Told of, too, when its tools are known.
    toolbox: watch::Sender<Arc<Toolbox>>,
    pub(crate) arbiter: ArbiterHandle,
    /// Cancelled when it is closed.
    pub closing: CancellationToken,
}

/// A project that stays open as long as this is kept.
pub struct ProjectGuard {
    pub(crate) project: Arc<Project>,
    pub(crate) _using: UnderWay,
}

impl std::ops::Deref for ProjectGuard {
    type Target = Arc<Project>;

    fn deref(&self) -> &Arc<Project> {
        &self.project
    }
}

impl Project {
    /// Reads the configuration and looks for devices; nothing is connected. Phones that were found are
    /// shared with other projects.
    ///
    /// # Errors
    /// When the configuration or a tool file has a mistake.
    pub async fn open(
        key: ProjectKey,
        checks: Checks,
        phones: &SharedDevices,
        arbiter: ArbiterHandle,
    ) -> Result<Self, CliError> {
        let of = key.clone();
        // A disk may be slow, and folders large.
        let reading = tokio::task::spawn_blocking(move || {
            let read = load(&of, checks).map_err(refused)?;
            // Before it is read for good: what is written meanwhile makes for another state.
            let files = Files::take(made_of(&read), own(&read.config));
            let loaded = load(&of, checks).map_err(refused)?;
            let tools = Toolbox::read(&loaded, &of.folder)?;
            Ok::<_, CliError>((loaded, files, tools))
        });
        let read = reading.await.map_err(|error| {
            CliError::infrastructure("the project cannot be read").because(&error)
        })?;
        let (loaded, files, (toolbox, toolsets)) = read?;
        let (config, root) = (loaded.config.clone(), loaded.root.clone());
        let wanted = DeviceSelection {
            words: &[],
            all: true,
        };
        let wiring = Wiring::new(&config, wanted, false).await?;
        let fleet = Fleet::with_lease_idle(phones, config.devices.idle_timeout.get());
        for connector in wiring.connectors() {
            let (id, connector) = (connector.id(), Arc::clone(connector));
            let taken = match wiring.is_real(id) {
                true => fleet.add_shared(connector, &wiring.phone(id)),
                false => fleet.add(connector),
            };
            taken.map_err(|error| CliError::misuse(error.to_string()))?;
        }
        let targets = targets(&config);
        Ok(Self {
            key,
            agent: Caller::Agent(Arc::new(confines(&config, &targets, &root))),
            targets,
            toolsets: Arc::new(toolsets),
            loaded: Arc::new(loaded),
            checks,
            files: Mutex::new(Some(files)),
            toolbox: watch::Sender::new(Arc::new(toolbox)),
            config,
            root,
            fleet,
            wiring,
            arbiter,
            closing: CancellationToken::new(),
        })
    }

    /// Whether what it was opened with is what there is now, besides the files that the new client has read.
    /// Blocks.
    pub(crate) fn is_current(&self) -> bool {
        let mut made_of = self.files.blocking_lock();
        let differences = made_of.as_mut().and_then(Files::differences);
        let is_current = differences.is_some_and(|differences| {
            let is_shown = |path: &PathBuf| phones(&self.loaded).any(|file| file == path);
            // Trailmaps have tools, which are rebuilt separately.
            differences.is_empty()
                || !differences.iter().any(|it| is_shown(&it.path))
                    && load(&self.key, self.checks).is_ok_and(|now| now.config == self.config)
        });
        if !is_current {
            *made_of = None;
        }
        is_current
    }

    /// The tools as the project's files define them now.
    ///
    /// # Errors
    /// The mistakes in the files, when they are others than before.
    pub async fn toolbox(&self) -> Result<Arc<Toolbox>, CliError> {
        let _reading = self.files.lock().await;
        let (loaded, folder) = (Arc::clone(&self.loaded), self.key.folder.clone());
        let known = self.known_toolbox();
        let looking = tokio::task::spawn_blocking(move || {
            (!known.is_current()).then(|| Toolbox::read(&loaded, &folder))
        });
        let made = looking.await.map_err(|error| {
            CliError::infrastructure("the project's tools cannot be read").because(&error)
        })?;
        if let Some(made) = made {
            let (made, toolsets) = made?;
            // Only now, for who asked may have gone meanwhile, and what was made with it.
            made.inherit(&self.known_toolbox());
            self.toolsets.redefine(&toolsets);
            // What was there ends with the last session that uses it.
            self.toolbox.send_replace(Arc::new(made));
        }
        Ok(self.known_toolbox())
    }

    fn known_toolbox(&self) -> Arc<Toolbox> {
        Arc::clone(&self.toolbox.borrow())
    }

    /// All tools, sources' too, which are started for it.
    ///
    /// # Errors
    /// As [`Project::toolbox`]; when two tools share a name, or there is no port for callbacks.
    pub async fn tools(&self) -> Result<(Arc<Toolbox>, SharedRegistry), CliError> {
        let toolbox = self.toolbox().await?;
        self.of(toolbox).await
    }

    /// All tools as they were at the last request for the current ones.
    ///
    /// # Errors
    /// As [`Project::tools`].
    pub async fn known_tools(&self) -> Result<(Arc<Toolbox>, SharedRegistry), CliError> {
        self.of(self.known_toolbox()).await
    }

    async fn of(&self, toolbox: Arc<Toolbox>) -> Result<(Arc<Toolbox>, SharedRegistry), CliError> {
        let registry = self.all(&toolbox).await?.registry().clone();
        Ok((toolbox, registry))
    }

    async fn all<'a>(&self, toolbox: &'a Toolbox) -> Result<&'a Tools, CliError> {
        let were_known = toolbox.known().is_some();
        let tools = toolbox.all(self).await;
        self.toolbox.send_if_modified(|_| !were_known);
        tools
    }

    /// Where sessions are carried out, for any caller; with the tools that they need to stay.
    ///
    /// # Errors
    /// As [`Project::tools`].
    pub async fn here(
        &self,
        caller: Caller,
        working_directory: PathBuf,
        scratch: Option<PathBuf>,
    ) -> Result<(Here, Arc<Toolbox>), CliError> {
        let toolbox = self.toolbox().await?;
        let tools = self.all(&toolbox).await?;
        let here = tools.here(&self.fleet, caller, working_directory, scratch);
        Ok((here, toolbox))
    }

    /// The devices, with who has them.
    pub async fn devices(&self) -> Vec<DeviceSummary> {
        let statuses = self.fleet.status().await;
        statuses.into_iter().map(news).collect()
    }

    /// Takes devices that appear, and lets go of those that vanish, until it is dropped.
    pub async fn follow_devices(&self) {
        let mut watch = Watch::start(&self.wiring, AWAY_GRACE);
        while let Some(change) = watch.next().await {
            // Letting go may take long, and others come and go meanwhile.
            match change {
                Change::Appeared { connector, .. } => {
                    let phone = self.wiring.phone(connector.id());
                    let taken = self.fleet.add_shared(Arc::clone(&connector), &phone);
                    if matches!(taken, Err(FleetError::Duplicate(_))) {
                        tokio::spawn(replace(self.fleet.clone(), connector, phone));
                    }
                }
                Change::Vanished(id) => {
                    let fleet = self.fleet.clone();
                    tokio::spawn(async move {
                        // One that is unknown is gone.
                        let _ = fleet.remove(&id, DEVICES_TIMEOUT).await;
                    });
                }
                Change::Unusable(device) => {
                    tracing::info!(serial = device.serial, "a device cannot be used");
                }
            }
        }
    }

    /// Waits until the list of tools is another one than `known`.
    pub async fn tools_changed(&self, known: &Arc<Registry>) -> Arc<Registry> {
        let mut toolbox = self.toolbox.subscribe();
        loop {
            let registry = toolbox.borrow_and_update().known();
            let changed = async {
                let mut registry = registry?;
                let other = registry.wait_for(|now| !Arc::ptr_eq(now, known)).await;
                other.ok().map(|now| Arc::clone(&now))
            };
            tokio::select! {
                // One without a holder stays as it is.
                Some(now) = changed => return now,
                // The project has its sender.
                _ = toolbox.changed() => {}
            }
        }
    }

    /// Ends its devices and sources.
    pub async fn close(&self) {
        self.closing.cancel();
        self.fleet.shutdown(DEVICES_TIMEOUT).await;
        // A reader of the changed files may replace it.
        let _reading = self.files.lock().await;
        self.known_toolbox().close().await;
        self.wiring.close().await;
    }
}

/// Takes a device that came back before its namesake was gone.
async fn replace(fleet: Fleet, connector: Arc<dyn Connector>, phone: DeviceId) {
    let id = connector.id().clone();
    // One that is unknown is gone.
    let _ = fleet.remove(&id, DEVICES_TIMEOUT).await;
    if let Err(error) = fleet.add_shared(connector, &phone) {
        tracing::warn!(%id, %error, "a device that came back is not taken");
    }
}

/// The configuration as its files are now.
fn load(key: &ProjectKey, checks: Checks) -> Result<Loaded, ConfigError> {
    let sources = Sources {
        start: key.folder.clone(),
        project: key.config.clone(),
        environment: key.environment.clone().into_iter().collect(),
        flags: Flags::default(),
    };
    packtrain_config::read(&sources).and_then(checks)
}

/// What virtual phones show.
fn phones(loaded: &Loaded) -> impl Iterator<Item = &PathBuf> {
    let simulated = loaded.config.devices.simulated.iter();
    simulated.flat_map(|phones| phones.app.iter().chain(&phones.faults))
}

/// What a project is opened with: the files of its configuration, and those that virtual phones show.
fn made_of(loaded: &Loaded) -> Vec<PathBuf> {
    let trailmaps = loaded.files.iter().filter_map(|file| {
        let folder = file.parent()?.join("trailmaps");
        (file.file_name()? == "trailblaze.yaml").then_some(folder)
    });
    let files = loaded.files.iter().chain(phones(loaded)).cloned();
    files.chain(trailmaps).collect()
}

/// What agents may do in a project.
fn confines(config: &Config, targets: &Targets, root: &Path) -> AgentPermissions {
    let slots = config.devices.web.values().map(|slot| &slot.base_url);
    let apps = targets.named.values().chain([&targets.default]);
    let bases = slots.chain(apps.map(|target| &target.base_url)).flatten();
    let declared = bases.filter_map(|base| base.split_once(':'));
    let declared = declared.map(|(scheme, _)| scheme.trim().to_ascii_lowercase());
    AgentPermissions {
        host_commands: config.agents.host_commands,
        device_shell: config.agents.device_shell,
        reach: Reach {
            schemes: declared.chain(config.agents.schemes.clone()).collect(),
            folder: root.to_owned(),
        },
    }
}

/// A device, with who has it.
pub(crate) fn news(status: DeviceStatus) -> DeviceSummary {
    let is_free = matches!(status.state, DeviceState::Absent | DeviceState::Ready);
    let state = match &status.state {
        DeviceState::Absent | DeviceState::Ready => "free".to_owned(),
        DeviceState::Connecting => "being connected".to_owned(),
        DeviceState::Leased(holder) => format!("in use by {}", holder.name),
        DeviceState::Closing(_) => "being released".to_owned(),
        DeviceState::Dead { cause, .. } => format!("restarting after: {cause}"),
    };
    DeviceSummary {
        info: status.info,
        state,
        is_free,
        queue: status.queue,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(yaml: &str) -> AgentPermissions {
        let config = packtrain_config::parse(yaml, "packtrain.yaml").unwrap();
        confines(&config, &targets(&config), Path::new("/project"))
    }

    #[test]
    fn agents_may_do_what_the_configuration_says_and_no_more() {
        let nothing = AgentPermissions {
            reach: Reach {
                folder: "/project".into(),
                ..Reach::default()
            },
            ..AgentPermissions::default()
        };
        assert_eq!(of("{}"), nothing);
        let host = of("agents: {hostCommands: true}");
        assert!(host.host_commands && !host.device_shell);
        let shell = of("agents: {deviceShell: true}");
        assert!(!shell.host_commands && shell.device_shell);
        let schemes = of("agents: {schemes: [shop]}\n\
             targets: {a: {baseUrl: 'HTTPS://a.b'}, b: {baseUrl: 'file:///x'}}\n\
             devices: {web: {d: {baseUrl: 'http://c'}, e: {}}}\n\
             target: own://app");
        let schemes: Vec<_> = schemes.reach.schemes.into_iter().collect();
        assert_eq!(schemes, ["file", "http", "https", "own", "shop"]);
    }
}
