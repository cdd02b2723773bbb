//! The tools of a project as its files define them: rebuilt when the files change, while sessions
//! that are under way go on with what they began with.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use packtrain_config::{Config, Loaded};
use packtrain_terminal::exit::CliError;
use packtrain_tools::Registry;
use packtrain_toolsets::catalog::Catalog;
use packtrain_toolsets::store::ToolsetStore;
use packtrain_workplace::Tools;
use packtrain_workplace::{sources::SourceStartOptions, tool_files};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, watch};
use tokio_util::task::TaskTracker;

use super::files::Files;
use super::place::Place;
use super::project::Project;
use super::source_writes::SourceWrites;

/// What the names of scripts end with.
const SCRIPTS: [&str; 10] = [
    "js", "mjs", "cjs", "ts", "mts", "cts", "py", "rb", "sh", "jar",
];

/// The tools of one state of a project's files.
pub struct Toolbox {
    /// The tools as agents are shown them.
    pub catalog: Catalog,
    made_of: Arc<Mutex<MadeOf>>,
    /// The tools that need no source.
    registry: Registry,
    /// What has them all, once needed.
    tools: OnceCell<Tools>,
    /// Those who are starting them.
    starting: TaskTracker,
    runtime: Handle,
}

/// What tools were made of.
struct MadeOf {
    /// `None` once that is not what there is.
    files: Option<Files>,
    /// What the sources write themselves.
    writes: SourceWrites,
}

impl MadeOf {
    /// Whether the files are what they were, but for what the sources write themselves, `is_start` while
    /// they start. Blocks.
    fn is_current(&mut self, is_start: bool) -> bool {
        let is_current = self.files.as_mut().is_some_and(|files| {
            let differences = files.differences();
            differences.is_some_and(|it| self.writes.explain(it, is_start, files.reads()))
        });
        if !is_current {
            self.files = None;
        }
        is_current
    }
}

impl Toolbox {
    /// Reads what a project's files define, toolsets besides. Call inside a tokio runtime.
    ///
    /// # Errors
    /// The mistakes in them.
    pub(crate) fn read(loaded: &Loaded, folder: &Path) -> Result<(Self, ToolsetStore), CliError> {
        // Before they are read: what is written meanwhile makes for another state.
        let made_of = made_of(&loaded.config, &loaded.root);
        let made_of = MadeOf {
            files: Some(Files::take(made_of, own(&loaded.config))),
            writes: SourceWrites::default(),
        };
        let tools = tool_files::registry(&loaded.config, folder)?;
        let toolsets = ToolsetStore::of(loaded, &tools.toolsets);
        let toolbox = Self {
            catalog: Catalog::default(),
            made_of: Arc::new(Mutex::new(made_of)),
            registry: tools.registry,
            tools: OnceCell::new(),
            starting: TaskTracker::new(),
            runtime: Handle::current(),
        };
        Ok((toolbox, toolsets))
    }

    /// Whether the files are what they were, but for what the sources write themselves. Blocks.
    pub(crate) fn is_current(&self) -> bool {
        let is_starting = !self.starting.is_empty();
        self.made_of.lock().is_current(is_starting)
    }

    /// Knows what the sources of another write.
    pub(crate) fn inherit(&self, other: &Self) {
        let writes = mem::take(&mut other.made_of.lock().writes);
        self.made_of.lock().writes = writes;
    }

    /// All tools; the sources are started when this is asked for the first time.
    ///
    /// # Errors
    /// When two tools share a name, or there is no port for callbacks.
    pub(crate) async fn all(&self, project: &Project) -> Result<&Tools, CliError> {
        let starting = self.tools.get_or_try_init(async || {
            let statuses = project.fleet.status().await;
            let purpose = SourceStartOptions {
                devices: statuses.into_iter().map(|status| status.info).collect(),
                arbiter: Some(project.arbiter.clone()),
                ..SourceStartOptions::of("daemon", &project.root)
            };
            let _starting = self.starting.token();
            let started = Tools::start(&project.config, self.registry.clone(), Some(purpose)).await;
            if started.as_ref().is_ok_and(|tools| !tools.has_sources()) {
                return started;
            }
            // Before anybody is answered: what is different now they have written while they started.
            let made_of = Arc::clone(&self.made_of);
            let looking = tokio::task::spawn_blocking(move || made_of.lock().is_current(true));
            // What is not explained is left to the next caller.
            let _ = looking.await;
            started
        });
        starting.await
    }

    /// What there is now and will be, if it was asked for.
    pub(crate) fn known(&self) -> Option<watch::Receiver<Arc<Registry>>> {
        Some(self.tools.get()?.registry().watch())
    }

    /// Ends its sources.
    pub(crate) async fn close(&self) {
        if let Some(tools) = self.tools.get() {
            tools.shutdown().await;
        }
    }
}

/// One that nobody uses any more ends its sources.
impl Drop for Toolbox {
    fn drop(&mut self) {
        if let Some(tools) = self.tools.take() {
            self.runtime.spawn(async move { tools.shutdown().await });
        }
    }
}

/// What a project's tools are made of: its tool files; and of each source the folder that it works in, what
/// is beside its program and its script, without which a source is a program that is installed, and the
/// other files that its command names.
fn made_of(config: &Config, root: &Path) -> Vec<PathBuf> {
    let mut made_of = vec![config.tools_dir.clone(), config.trails_dir.join("config")];
    for source in &config.mcp_servers {
        let folder = source.working_dir.as_deref().unwrap_or(root);
        if !source.command.is_empty() {
            made_of.push(folder.to_owned());
        }
        let program = source.command.first().map(|program| {
            let is_path = program.contains('/');
            let found = (!is_path).then(|| on_search_path(program)).flatten();
            found.unwrap_or_else(|| folder.join(program))
        });
        let words = source.command.iter().skip(1).chain(&source.args);
        let words = words.map(|word| folder.join(word));
        let mut words: Vec<_> = words.filter(|word| word.is_file()).collect();
        let script = words.iter().position(|word| is_script(word)).unwrap_or(0);
        let script = (script < words.len()).then(|| words.remove(script));
        let files = program
            .into_iter()
            .chain(source.script.clone())
            .chain(source.trailmap.clone())
            .chain(script);
        for file in files.filter(|file| file.is_file()) {
            let real = file.canonicalize();
            made_of.extend([file].into_iter().chain(real).map(beside));
        }
        made_of.extend(words);
    }
    made_of
}

/// Whether it is a script by its name, and no setting or data.
fn is_script(file: &Path) -> bool {
    let ending = file.extension();
    ending.is_some_and(|ending| SCRIPTS.iter().any(|one| ending == *one))
}

/// Where Packtrain writes: runs, and what it keeps for the user.
pub(crate) fn own(config: &Config) -> Vec<PathBuf> {
    let place = Place::of_user().map(|place| place.folder().to_owned());
    let kept = packtrain_wiring::state_folder();
    let runs = config.run.output_dir.clone();
    [runs].into_iter().chain(place).chain(kept).collect()
}

/// The folder of a program, or the program alone where others are installed.
fn beside(file: PathBuf) -> PathBuf {
    let folder = file.parent();
    let is_installed =
        folder.is_none_or(|folder| folder.ends_with("bin") || folder.ends_with("sbin"));
    match folder {
        Some(folder) if !is_installed => folder.to_owned(),
        Some(_) | None => file,
    }
}

fn on_search_path(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&folders).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_command_names_does_not_bring_the_folder_it_lies_in() {
        let (place, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, home) = (place.path().canonicalize(), home.path().canonicalize());
        let (root, home) = (root.unwrap(), home.unwrap());
        for file in [root.join("server.py"), home.join("data.txt")] {
            std::fs::write(file, "").unwrap();
        }
        let data = home.join("data.txt");
        let config =
            format!("mcpServers: [{{ name: a, command: [python3, server.py, {data:?}] }}]");
        let config = packtrain_config::parse(&config, "packtrain.yaml").unwrap();
        let made_of = made_of(&config, &root);
        assert!(
            made_of.contains(&root) && made_of.contains(&data),
            "{made_of:?}"
        );
        assert!(!made_of.contains(&home), "{made_of:?}");
    }

    #[test]
    fn the_script_that_a_command_names_brings_its_folder_and_no_file_before_it() {
        let (place, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (env, server) = (home.path().join(".env"), place.path().join("server.js"));
        for file in [&env, &server] {
            std::fs::write(file, "").unwrap();
        }
        let config = format!(
            "mcpServers: [{{ name: a, command: [node, --env-file, {env:?}, {server:?}] }}]"
        );
        let config = packtrain_config::parse(&config, "packtrain.yaml").unwrap();
        let made_of = made_of(&config, Path::new("/project"));
        for (path, is_looked_at) in [
            (place.path(), true),
            (env.as_path(), true),
            (home.path(), false),
        ] {
            let is_there = made_of.iter().any(|one| one == path);
            assert_eq!(is_there, is_looked_at, "{path:?}: {made_of:?}");
        }
    }
}
