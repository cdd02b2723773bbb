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
        self.try_load().unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) fn try_load(&self) -> Result<Loaded, ConfigError> {
        load(&self.sources())
    }

    pub(super) fn error(&self) -> ConfigError {
        self.try_load()
            .expect_err("the configuration should be refused")
    }

    /// Each mistake in its place, with its hint, without the folder's changing name.
    pub(super) fn complaint(&self) -> String {
        let told = self.error().into_diagnostics().into_iter().map(|mistake| {
            let hint = mistake.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
            let place = mistake.location();
            format!("{place}: {}{}", mistake.message, hint.unwrap_or_default())
        });
        let text = told.collect::<Vec<_>>().join("\n");
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

pub(super) fn key(dotted: &str) -> KeyPath {
    KeyPath::from_dotted(dotted)
}
