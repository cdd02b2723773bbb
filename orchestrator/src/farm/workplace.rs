//! Places for other people's runs: a bundle's configuration, tools and tool sources, on the devices of
//! this computer.

use std::path::Path;
use std::sync::Arc;

use actix_rt::ArbiterHandle;
use packtrain_config::{Config, Sources};
use packtrain_device_actors::Fleet;
use packtrain_drivers::BoxFuture;
use packtrain_farm::bundle::{Bundle, inside};
use packtrain_farm::host::devices::HostDevices;
use packtrain_farm::host::workplace::{OpenRun, Opening, Workplace};
use packtrain_tools::{Caller, Registry};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use super::scratch::{HostFolder, RunFolder};
use crate::exit::CliError;
use crate::sources::SourceStartOptions;
use crate::tool_files;
use crate::workplace::Tools;
use crate::workplace::{Workspace, refused};

/// What the names of this program's variables begin with.
const OWN_VARIABLES: &str = "PACKTRAIN_";

/// Makes places to work in on this computer. Cheap to clone.
#[derive(Clone)]
pub(crate) struct HostWorkplace {
    /// The devices, shared by all runs.
    pub(crate) fleet: Fleet,
    /// What is reported of them to the farm.
    pub(crate) devices: HostDevices,
    /// Where files of runs are written.
    pub(crate) folder: Arc<HostFolder>,
    /// Whether trails may run commands of this computer.
    pub(crate) allows_commands: bool,
    /// Where actors of tool sources live.
    pub(crate) arbiter: ArbiterHandle,
    /// Runs that are being closed.
    pub(crate) closing: TaskTracker,
}

impl Workplace for HostWorkplace {
    fn open(&self, opening: Opening) -> BoxFuture<'static, Result<OpenRun, String>> {
        let place = self.clone();
        Box::pin(async move {
            place
                .open_run(opening)
                .await
                .map_err(|error| sentence(&error))
        })
    }
}

impl HostWorkplace {
    async fn open_run(self, opening: Opening) -> Result<OpenRun, CliError> {
        let Opening {
            run,
            manifest,
            bundle,
            secrets,
        } = opening;
        let hostile = |error| CliError::infrastructure("the run's bundle").because(&error);
        let root = inside(bundle.path(), &manifest.root).map_err(hostile)?;
        let file = manifest.config.as_deref();
        let file = file.map(|file| inside(&root, file)).transpose();
        let file = file.map_err(hostile)?;
        let loading = tokio::task::spawn_blocking(move || workspace(&root, file.as_deref()));
        let workspace = loading
            .await
            .map_err(|_| CliError::infrastructure("reading the bundle was interrupted"))??;
        let folder = self.folder.for_run()?;
        let adverts = self.devices.adverts().into_values();
        let purpose = manifest.sources.then(|| SourceStartOptions {
            devices: adverts.map(|advert| advert.info).collect(),
            run_dir: Some(folder.path().to_owned()),
            secrets: &secrets.0,
            without: own_variables(),
            arbiter: Some(self.arbiter.clone()),
            ..SourceStartOptions::of(&run.to_string(), &workspace.root)
        });
        let tools = Tools::start(&workspace.config, workspace.registry, purpose).await?;
        let caller = Caller::Farm {
            host_commands: self.allows_commands,
        };
        let scratch = Some(folder.path().to_owned());
        let host = tools.here(&self.fleet, caller, workspace.root, scratch);
        Ok(OpenRun {
            host: Arc::new(host),
            resources: Box::new(RunResources {
                there: Some((tools, folder, bundle)),
                closing: self.closing,
                runtime: Handle::current(),
            }),
        })
    }
}

/// What is there for a run as long as it is open.
struct RunResources {
    there: Option<(Tools, RunFolder, Bundle)>,
    closing: TaskTracker,
    runtime: Handle,
}

impl Drop for RunResources {
    fn drop(&mut self) {
        if let Some((tools, folder, bundle)) = self.there.take() {
            let close = async move {
                tools.shutdown().await;
                drop((folder, bundle));
            };
            self.closing.spawn_on(close, &self.runtime);
        }
    }
}

/// Variables for this program that its owner has set, among them what lets this computer into a farm.
/// Sources of other people's runs do not get them.
fn own_variables() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names
        .filter(|name| name.starts_with(OWN_VARIABLES))
        .collect()
}

/// What is in a bundle. Nothing that the owner of this computer has configured is in it: neither their
/// own file nor their variables are read.
pub(super) fn workspace(root: &Path, file: Option<&Path>) -> Result<Workspace, CliError> {
    let is_project = file.is_some()
        || packtrain_config::find(root).is_some_and(|found| found.root.as_path() == root);
    let config = if is_project {
        let sources = Sources {
            start: root.to_owned(),
            project: file.map(Path::to_owned),
            ..Sources::default()
        };
        packtrain_config::load(&sources).map_err(refused)?.config
    } else {
        let usual = Config::default();
        Config {
            trails_dir: root.join(&usual.trails_dir),
            tools_dir: root.join(&usual.tools_dir),
            ..usual
        }
    };
    let registry: Registry = tool_files::registry(&config, root)?.registry;
    Ok(Workspace {
        config,
        root: root.to_owned(),
        registry,
    })
}

/// An error for somebody on another computer, in one text.
fn sentence(error: &CliError) -> String {
    let told = &error.explanation;
    let mistakes = told.diagnostics.iter().map(|mistake| mistake.render(false));
    let first = [told.message.clone()].into_iter();
    let parts: Vec<_> = first.chain(told.causes.clone()).collect();
    let mut text = parts.join(": ");
    for part in mistakes {
        text.push('\n');
        text.push_str(&part);
    }
    text
}
