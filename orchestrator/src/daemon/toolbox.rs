//! The tools of a project as its files define them: made anew when the files are others, while sessions
//! that are under way go on with what they began with.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use actix_rt::ArbiterHandle;
use packtrain_config::{Config, Loaded};
use packtrain_device_actors::Fleet;
use packtrain_model::RunId;
use packtrain_tools::{Registry, SharedRegistry};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;

use crate::exit::CliError;
use crate::mcp::catalog::Catalog;
use crate::sources::{Purpose, RunningSources};
use crate::toolsets::ToolsetStore;
use crate::{tool_files, trails};

/// The most files of a source that are looked at, and how deep below its folder.
const SOURCE_FILES: usize = 5_000;
const SOURCE_DEPTH: usize = 6;
/// Folders of what a source is made with: what is in them changes with files outside.
const MADE: [&str; 4] = ["node_modules", "target", "__pycache__", "site-packages"];

/// What programs are written in, and what says what they are made of. Anything else may be what they
/// write.
const WRITTEN_IN: [&str; 16] = [
    "cjs", "cts", "go", "js", "json", "jsx", "kt", "lua", "mjs", "mts", "py", "rb", "rs", "sh",
    "toml", "ts",
];

/// The tools of one state of a project's files.
pub(crate) struct Toolbox {
    pub(crate) catalog: Catalog,
    /// What tells this state from another.
    files: u64,
    /// The tools that need no source.
    registry: Registry,
    /// What has them all, once somebody needed them.
    sources: OnceCell<Option<RunningSources>>,
    runtime: Handle,
}

/// What sources are started with.
pub(super) struct SourceNeeds<'a> {
    pub(super) config: &'a Config,
    pub(super) root: &'a Path,
    pub(super) fleet: &'a Fleet,
    pub(super) arbiter: ArbiterHandle,
}

impl Toolbox {
    /// Reads what a project's files define, toolsets besides. Call inside a tokio runtime.
    ///
    /// # Errors
    /// The mistakes in them.
    pub(super) fn read(loaded: &Loaded, folder: &Path) -> Result<(Self, ToolsetStore), CliError> {
        // Before they are read: what is written meanwhile makes for another state.
        let files = state(&loaded.config, &loaded.root);
        let tools = tool_files::registry(&loaded.config, folder)?;
        let toolsets = ToolsetStore::of(loaded, &tools.toolsets);
        let toolbox = Self {
            catalog: Catalog::default(),
            files,
            registry: tools.registry,
            sources: OnceCell::new(),
            runtime: Handle::current(),
        };
        Ok((toolbox, toolsets))
    }

    /// Whether the files are what they were.
    pub(super) fn is_current(&self, config: &Config, root: &Path) -> bool {
        self.files == state(config, root)
    }

    /// All tools; the sources are started when this is asked for the first time.
    ///
    /// # Errors
    /// When two tools share a name, or there is no port for callbacks.
    pub(super) async fn all(&self, needs: SourceNeeds<'_>) -> Result<SharedRegistry, CliError> {
        let sources = self.sources.get_or_try_init(async || {
            if needs.config.mcp_servers.is_empty() {
                return Ok(None);
            }
            let statuses = needs.fleet.status().await;
            let purpose = Purpose {
                devices: statuses.into_iter().map(|status| status.info).collect(),
                first: None,
                run_dir: None,
                name: RunId("daemon".to_owned()).to_string(),
                secrets: &[],
                root: needs.root,
                log_listener: None,
                without: Vec::new(),
                arbiter: Some(needs.arbiter),
            };
            let started = RunningSources::start(needs.config, self.registry.clone(), purpose);
            Ok::<_, CliError>(Some(started.await?))
        });
        Ok(match sources.await? {
            Some(sources) => sources.registry(),
            None => SharedRegistry::new(self.registry.clone()),
        })
    }

    /// What sources have now, if any were started.
    pub(super) fn of_sources(&self) -> Option<Arc<Registry>> {
        let sources = self.sources.get()?.as_ref()?;
        Some(sources.registry().snapshot())
    }

    /// Ends its sources.
    pub(super) async fn close(&self) {
        if let Some(Some(sources)) = self.sources.get() {
            sources.shutdown().await;
        }
    }
}

/// One that nobody uses any more ends its sources.
impl Drop for Toolbox {
    fn drop(&mut self) {
        if let Some(Some(sources)) = self.sources.take() {
            self.runtime.spawn(async move { sources.shutdown().await });
        }
    }
}

/// What the files hold that tools are made of, in a number.
fn state(config: &Config, root: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for folder in [&config.tools_dir, &config.trails_dir.join("config")] {
        for (path, _) in trails::companions(folder).unwrap_or_default() {
            path.hash(&mut hasher);
            std::fs::read(&path).unwrap_or_default().hash(&mut hasher);
        }
    }
    for source in &config.mcp_servers {
        let folder = source.working_dir.as_deref().unwrap_or(root);
        let words = source.command.iter().chain(&source.args);
        let named = source
            .script
            .iter()
            .cloned()
            .chain(words.map(PathBuf::from));
        for path in named.map(|path| folder.join(path)) {
            if path.is_file()
                && let Some(beside) = path.parent()
            {
                let mut looking = Looking {
                    runs: &config.run.output_dir,
                    left: SOURCE_FILES,
                    hasher: &mut hasher,
                };
                looking.at(beside, SOURCE_DEPTH);
            }
        }
    }
    hasher.finish()
}

/// Takes down names, sizes and times of what is in a folder.
struct Looking<'a> {
    /// Where runs are kept, which change with every run.
    runs: &'a Path,
    left: usize,
    hasher: &'a mut DefaultHasher,
}

impl Looking<'_> {
    fn at(&mut self, folder: &Path, depth: usize) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let shown = name.to_string_lossy();
            let is_hidden = shown.starts_with('.') || path == self.runs;
            let (Ok(about), false) = (entry.metadata(), is_hidden || self.left == 0) else {
                continue;
            };
            self.left -= 1;
            let extension = path.extension().and_then(|extension| extension.to_str());
            if about.is_dir() {
                if depth > 0 && !MADE.contains(&&*shown) {
                    self.at(&path, depth - 1);
                }
            } else if about.is_file() && extension.is_some_and(|it| WRITTEN_IN.contains(&it)) {
                name.hash(self.hasher);
                about.len().hash(self.hasher);
                about.modified().ok().hash(self.hasher);
            }
        }
    }
}
