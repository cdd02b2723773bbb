//! A project in a temporary folder.

use std::path::PathBuf;

use crate::{ConfigError, Flags, KeyPath, Loaded, Sources, load};

pub(super) struct Project {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
    flags: Flags,
}

impl Project {
    /// An empty folder.
    pub(super) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
            flags: Flags::default(),
        }
    }

    /// A folder with a packtrain.yaml.
    pub(super) fn new(yaml: &str) -> Self {
        Self::empty().file("packtrain.yaml", yaml)
    }

    pub(super) fn file(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    /// The user's own file.
    pub(super) fn user(self, yaml: &str) -> Self {
        let home = self.path("home").display().to_string();
        self.file("home/.config/packtrain/config.yaml", yaml)
            .variable("HOME", &home)
    }

    pub(super) fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(super) fn flag(
        mut self,
        flag: &str,
        key: &str,
        value: impl Into<serde_json::Value>,
    ) -> Self {
        self.flags = self.flags.set(flag, key, value);
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn sources(&self) -> Sources {
        Sources {
            start: self.folder.path().to_owned(),
            project: None,
            environment: self.environment.clone(),
            flags: self.flags.clone(),
        }
    }

    pub(super) fn load(&self) -> Loaded {
        self.try_load()
            .unwrap_or_else(|error| panic!("{error}\n{:?}", error.snippet()))
    }

    pub(super) fn try_load(&self) -> Result<Loaded, ConfigError> {
        load(&self.sources())
    }

    pub(super) fn error(&self) -> ConfigError {
        self.try_load()
            .expect_err("the configuration should be refused")
    }

    /// The error as a person sees it, without the folder's changing name.
    pub(super) fn complaint(&self) -> String {
        let error = self.error();
        let mut text = error.to_string();
        for part in [
            error.snippet(),
            error.hint().map(|hint| format!("hint: {hint}")),
        ] {
            text.extend(part.map(|part| format!("\n{part}")));
        }
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

pub(super) fn key(dotted: &str) -> KeyPath {
    KeyPath::from_dotted(dotted)
}
