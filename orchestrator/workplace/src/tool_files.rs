//! Files that define tools and toolsets: found, read, put into a registry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use packtrain_config::Config;
use packtrain_model::diagnostic::Diagnostic;
use packtrain_model::discover::Companion;
use packtrain_model::source::Source;
use packtrain_terminal::exit::CliError;
use packtrain_tools::{
    Collisions, Composed, Origin, Registry, Tool, Toolset, ToolsetFile, ToolsetProblem, Toolsets,
};

use crate::trails;

/// How many files that were left out a note lists.
const LISTED_FILES: usize = 3;

/// All tools that can be called.
pub struct Loaded {
    /// The built-in tools and those of files.
    pub registry: Registry,
    /// Named selections of them.
    pub toolsets: Toolsets,
    /// Worth a look; never errors.
    pub warnings: Vec<Diagnostic>,
    /// The files that hold tools which Packtrain cannot call.
    pub note: Option<String>,
}

/// What the files of a workspace define.
#[derive(Default)]
pub struct ToolFiles {
    /// The tools.
    pub tools: Vec<Arc<Composed>>,
    /// The toolsets.
    pub toolsets: Vec<ToolsetFile>,
    /// What keeps files from being used.
    pub mistakes: Vec<Diagnostic>,
    /// Worth a look; never errors.
    pub warnings: Vec<Diagnostic>,
    /// All files that were read.
    pub paths: Vec<(PathBuf, Companion)>,
    /// Those of tools that Packtrain cannot call.
    left_out: Vec<String>,
}

/// The tools that are built in and those of the workspace's files. Paths are shown from
/// `working_directory` on.
///
/// # Errors
/// All mistakes in the files; then all names that several tools have.
pub fn registry(config: &Config, working_directory: &Path) -> Result<Loaded, CliError> {
    let files = ToolFiles::read(config, working_directory)?;
    if !files.mistakes.is_empty() {
        return Err(CliError::mistakes("the tool files", files.mistakes));
    }
    let registry = files.registry().map_err(|collisions| {
        CliError::files("tools have the same name", files.told(&collisions))
    })?;
    let (toolsets, _) = Toolsets::of(&registry, files.defined(config));
    Ok(Loaded {
        registry,
        toolsets,
        note: files.note(),
        warnings: files.warnings,
    })
}

impl ToolFiles {
    /// Reads the tools and toolsets below `toolsDir`, and those that a Trailblaze workspace keeps
    /// in `config` beside its trails.
    ///
    /// # Errors
    /// When a file cannot be read at all; mistakes in files are reported in the answer.
    pub fn read(config: &Config, working_directory: &Path) -> Result<Self, CliError> {
        let (mut files, mut seen) = (Self::default(), BTreeSet::new());
        for folder in [&config.tools_dir, &config.trails_dir.join("config")] {
            for (path, kind) in trails::companions(folder)? {
                if seen.insert(canonical(&path)) {
                    files.read_one(path, kind, working_directory)?;
                }
            }
        }
        Ok(files)
    }

    fn read_one(
        &mut self,
        path: PathBuf,
        kind: Companion,
        working_directory: &Path,
    ) -> Result<(), CliError> {
        let shown = path.strip_prefix(working_directory).unwrap_or(&path);
        let name = shown.display().to_string();
        match kind {
            Companion::Tool => match Composed::parse(&trails::text(&path)?, &name) {
                Ok(file) => {
                    if file.tool.is_none() {
                        self.left_out.push(name);
                    }
                    self.tools.extend(file.tool.map(Arc::new));
                    self.warnings.extend(file.warnings);
                }
                Err(mistakes) => self.mistakes.extend(mistakes),
            },
            Companion::Toolset => match Toolset::parse(&trails::text(&path)?, &name) {
                Ok(mut file) => {
                    self.warnings.append(&mut file.warnings);
                    self.toolsets.push(file);
                }
                Err(mistakes) => self.mistakes.extend(mistakes),
            },
            Companion::Configuration
            | Companion::Workspace
            | Companion::Trailmap
            | Companion::Waypoint => return Ok(()),
        }
        self.paths.push((path, kind));
        Ok(())
    }

    /// The built-in tools and these.
    ///
    /// # Errors
    /// All names that several tools have.
    pub fn registry(&self) -> Result<Registry, Collisions> {
        let tools = self.tools.iter().map(Arc::clone);
        Registry::assemble(tools.map(|tool| tool as Arc<dyn Tool>))
    }

    /// Names that several tools have, each at the last file that takes part.
    pub fn told(&self, collisions: &Collisions) -> Vec<Diagnostic> {
        let told = collisions.all().filter_map(|(name, origins)| {
            let mut tools = self.tools.iter();
            let last = tools.rfind(|tool| origins.contains(&tool.spec().origin))?;
            let origins: Vec<String> = origins.iter().map(Origin::to_string).collect();
            let message = format!(
                "tool `{name}` is defined more than once: {}",
                origins.join(" and ")
            );
            let hint = "tool names must be unique".to_owned();
            Some(Diagnostic::error(last.source(), last.span(), message).hint(hint))
        });
        told.collect()
    }

    /// The toolsets that are defined: those of the configuration, then those of files.
    pub fn defined(&self, config: &Config) -> Vec<Toolset> {
        let configured = config.toolsets.iter().map(|(id, set)| Toolset {
            id: id.clone(),
            description: set.description.clone(),
            tools: set.tools.clone(),
            platforms: set
                .platforms
                .iter()
                .filter_map(|word| word.parse().ok())
                .collect(),
            drivers: set.drivers.clone(),
            always_enabled: set.always_enabled,
        });
        let files = self.toolsets.iter().filter_map(|file| file.toolset.clone());
        configured.chain(files).collect()
    }

    /// What is odd about toolsets, each at its place.
    pub fn odd_toolsets(&self, registry: &Registry, config: &Config) -> Vec<Diagnostic> {
        let (_, problems) = Toolsets::of(registry, self.defined(config));
        let configured = Source::new(packtrain_config::PROJECT_FILE, "");
        let told = problems.into_iter().filter_map(|problem| {
            let message = problem.to_string();
            let (toolset, tool, hint) = match problem {
                // A tool source may have it.
                ToolsetProblem::UnknownTool { .. } if !config.mcp_servers.is_empty() => {
                    return None;
                }
                ToolsetProblem::UnknownTool {
                    toolset,
                    tool,
                    hint,
                } => (toolset, Some(tool), hint),
                ToolsetProblem::Repeated { toolset } => (toolset, None, None),
            };
            let is_it = |file: &&ToolsetFile| {
                let set = file.toolset.as_ref();
                let has = |tool: &String| file.places.contains_key(tool);
                set.is_some_and(|set| set.id == toolset) && tool.as_ref().is_none_or(has)
            };
            let file = self.toolsets.iter().rfind(is_it);
            let span = file.zip(tool).and_then(|(file, tool)| file.places[&tool]);
            let source = file.map_or(&configured, |file| &file.source);
            Some(Diagnostic::warning(source, span, message).hint(hint))
        });
        told.collect()
    }

    /// One sentence on the tools that were left out.
    pub fn note(&self) -> Option<String> {
        let listed: Vec<_> = self.left_out.iter().take(LISTED_FILES).cloned().collect();
        let more = if self.left_out.len() > LISTED_FILES {
            ", ..."
        } else {
            ""
        };
        let count = match self.left_out.len() {
            0 => return None,
            1 => "1 tool file is".to_owned(),
            several => format!("{several} tool files are"),
        };
        let listed = listed.join(", ");
        Some(format!(
            "{count} left out, made for Trailblaze's own runtime: {listed}{more}"
        ))
    }
}

/// One name for one file, however it is reached.
pub fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
