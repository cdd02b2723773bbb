//! All layers together: defaults < user < Trailblaze < project < environment < flags.

use std::path::{Path, PathBuf};

use packtrain_yaml::diagnostic::Diagnostic;
use packtrain_yaml::suggest::did_you_mean;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::document::Document;
use crate::error::ConfigError;
use crate::find::{Found, find, user_file};
use crate::key::KeyPath;
use crate::layer::{Layer, Origins, settings, to_json};
use crate::origin::{FileLayer, Origin};
use crate::settings::Config;
use crate::{check, environment, trailblaze};

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The folder to look for a project from; relative paths in flags and variables start here.
    pub start: PathBuf,
    /// A packtrain.yaml to use instead of looking for one.
    pub project: Option<PathBuf>,
    /// The environment. `PACKTRAIN_*` are settings; `HOME` and `XDG_CONFIG_HOME` lead to the
    /// user's file, `TRAILBLAZE_CONFIG_DIR` to a trailblaze.yaml.
    pub environment: Vec<(String, String)>,
    /// Settings of the command line.
    pub flags: Flags,
}

/// Settings of the command line; the last word.
#[derive(Debug, Clone, Default)]
pub struct Flags(Vec<(String, KeyPath, Value)>);

impl Flags {
    /// Sets `key` (`run.retries`, `devices.web.phone.locale`) to a value, or to a text that is
    /// read as the setting needs it. Items of lists cannot be set, lists of texts can.
    /// `flag` is what the person typed, for messages: `--retries`.
    #[must_use]
    pub fn set(mut self, flag: impl Into<String>, key: &str, value: impl Into<Value>) -> Self {
        let key = KeyPath::from_dotted(key);
        self.0.push((flag.into(), key, value.into()));
        self
    }
}

/// A configuration and how it came about.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings, all paths absolute (unless `start` was relative).
    pub config: Config,
    /// The project's folder; where the search began, when there is no project.
    pub root: PathBuf,
    /// The files that were read, the weakest first.
    pub files: Vec<PathBuf>,
    /// What was ignored but may not have been meant to be.
    pub warnings: Vec<Diagnostic>,
    /// What is wrong with it all; the settings that have a mistake are left out.
    pub mistakes: Vec<Diagnostic>,
    origins: Origins,
    documents: Vec<Document>,
}

/// A setting, its value and where that comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The setting.
    pub key: KeyPath,
    /// Its value.
    pub value: Value,
    /// Where the value comes from.
    pub origin: Origin,
}

impl Loaded {
    /// Where a value comes from.
    pub fn origin(&self, key: &KeyPath) -> Origin {
        self.origins.get(key)
    }

    /// What is wrong with a setting that only others can judge, with the place where it is set.
    pub fn mistake(&self, key: KeyPath, message: String, hint: Option<String>) -> Diagnostic {
        let violation = check::Violation {
            hint,
            ..check::Violation::new(key, message)
        };
        check::locate(violation, &self.origins, &self.documents)
    }

    /// Whether settings at or below a key may have been left out because of mistakes.
    pub fn lacks(&self, key: &KeyPath) -> bool {
        is_left_out(key, &self.documents)
    }

    /// The configuration, when nothing is wrong with it.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] with all its mistakes.
    pub fn whole(self) -> Result<Self, ConfigError> {
        match self.mistakes.is_empty() {
            true => Ok(self),
            false => Err(ConfigError::Invalid(self.mistakes)),
        }
    }

    /// Every setting that has a value, sorted by name; lists are one entry.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if let Ok(values) = to_json(&self.config) {
            self.flatten(values, &KeyPath::default(), &mut entries);
        }
        entries
    }

    fn flatten(&self, value: Value, key: &KeyPath, entries: &mut Vec<Entry>) {
        match value {
            Value::Null => {}
            Value::Object(map) if !map.is_empty() => {
                for (name, value) in map {
                    self.flatten(value, &key.child(name), entries);
                }
            }
            value => entries.push(Entry {
                key: key.clone(),
                value,
                origin: self.origin(key),
            }),
        }
    }
}

/// Whether what was left out of documents is at or below a key, or around it.
fn is_left_out(key: &KeyPath, documents: &[Document]) -> bool {
    let mut all = documents.iter().flat_map(|document| &document.left_out);
    all.any(|left_out| key.contains(left_out) || left_out.contains(key))
}

/// Reads all layers, checks them and lays them over each other.
///
/// # Errors
/// [`ConfigError`] with all mistakes.
pub fn load(sources: &Sources) -> Result<Loaded, ConfigError> {
    read(sources)?.whole()
}

/// The same, when there are mistakes too: what is left without them.
///
/// # Errors
/// When a file cannot be read at all.
pub fn read(sources: &Sources) -> Result<Loaded, ConfigError> {
    let found = project(sources);
    let mut documents = Vec::new();
    let mut layers = Vec::new();
    let mut warnings = Vec::new();
    if let Some(path) = user_file(&sources.environment).filter(|path| path.is_file()) {
        let mut document = Document::read(&path)?;
        layers.push(Layer::from_document(&mut document, FileLayer::User)?);
        documents.push(document);
    }
    if let Some(path) = &found.trailblaze {
        let users = layers.last().and_then(|user| user.values.get("mcpServers"));
        let workspace = trailblaze::read(path, &found.root, users);
        layers.push(workspace.layer);
        warnings.extend(workspace.warnings);
        documents.extend(workspace.documents);
    }
    if let Some(path) = &found.project {
        let mut document = Document::read(path)?;
        layers.push(Layer::from_document(&mut document, FileLayer::Project)?);
        documents.push(document);
    }
    let (set, ignored) = environment::layers(&sources.environment, &sources.start);
    warnings.extend(ignored);
    let told = documents.iter().flat_map(|document| &document.mistakes);
    let mut mistakes: Vec<_> = told.cloned().collect();
    for layer in set
        .into_iter()
        .chain(flag_layers(&sources.flags, &sources.start))
    {
        match layer {
            Ok(layer) => layers.push(layer),
            Err(error) => mistakes.extend(error.into_diagnostics()),
        }
    }

    let mut values = Map::new();
    let mut origins = Origins::default();
    for layer in layers {
        layer.lay_over(&mut values, &mut origins);
    }
    let mut config: Config = packtrain_yaml::Value::from(&Value::Object(values))
        .decode()
        .map_err(|mistake| ConfigError::Inconsistent(mistake.to_string()))?;
    config.resolve_paths(&found.root);
    // What breaks a rule may do so only for want of what was left out.
    let broken = check::rules(&config).into_iter();
    let broken = broken.filter(|broken| {
        let targets = KeyPath::new(["targets"]);
        let is_target = broken.key == KeyPath::new(["target"]);
        !(is_left_out(&broken.key, &documents) || is_target && is_left_out(&targets, &documents))
    });
    mistakes.extend(broken.map(|broken| check::locate(broken, &origins, &documents)));
    Ok(Loaded {
        config,
        root: found.root,
        files: documents
            .iter()
            .map(|document| document.path.clone())
            .collect(),
        warnings,
        mistakes,
        origins,
        documents,
    })
}

fn project(sources: &Sources) -> Found {
    let mut found = match &sources.project {
        Some(path) => {
            let path = sources.start.join(path);
            let root = path
                .parent()
                .map_or_else(|| sources.start.clone(), Path::to_owned);
            let beside = find(&root).filter(|beside| beside.root == root);
            Found {
                root,
                project: Some(path),
                trailblaze: beside.and_then(|beside| beside.trailblaze),
            }
        }
        None => find(&sources.start).unwrap_or_else(|| Found {
            root: sources.start.clone(),
            project: None,
            trailblaze: None,
        }),
    };
    let elsewhere = sources
        .environment
        .iter()
        .find(|(name, _)| name == "TRAILBLAZE_CONFIG_DIR");
    if let Some((_, folder)) = elsewhere {
        let path = sources.start.join(folder).join("trailblaze.yaml");
        found.trailblaze = Some(path)
            .filter(|path| path.is_file())
            .or(found.trailblaze);
    }
    found
}

fn flag_layers(flags: &Flags, base: &Path) -> Vec<Result<Layer, ConfigError>> {
    let settings = settings();
    let layers = flags.0.iter().map(|(flag, key, value)| {
        let origin = Origin::Flag { name: flag.clone() };
        let setting = settings.iter().find(|setting| setting.covers(key));
        let Some(setting) = setting else {
            let names: Vec<String> = settings
                .iter()
                .map(|setting| setting.key.to_string())
                .collect();
            let hint = did_you_mean(&key.to_string(), names.iter().map(String::as_str));
            let unknown = origin.mistake(format!("unknown setting `{key}`"), hint);
            return Err(ConfigError::Invalid(vec![unknown]));
        };
        Layer::from_value(setting.kind, key, value.clone(), origin, base)
    });
    layers.collect()
}
