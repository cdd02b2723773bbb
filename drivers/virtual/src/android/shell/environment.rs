//! What a shell remembers between commands.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use crate::android::files::FileUser;
use crate::android::shell::io::Client;
use crate::android::{Android, recorded};

/// The most variables of one shell.
const MAX_VARIABLES: usize = 4096;
/// The most bytes of one variable.
const MAX_VALUE: usize = 1024 * 1024;

/// One shell, or a copy of it in brackets.
#[derive(Debug, Clone)]
pub struct Shell {
    pub android: Arc<Android>,
    /// The terminal, if there is one, so that `/dev/tty` can be opened.
    pub terminal: Weak<Client>,
    pub who: FileUser,
    pub pid: u32,
    pub cwd: String,
    /// What was set; other variables have the values that adbd gives them.
    variables: BTreeMap<String, String>,
    /// `$?`
    pub status: i32,
    /// How deep brackets and scripts are nested.
    pub depth: u32,
}

impl Shell {
    /// A fresh shell as adbd starts it.
    pub fn new(android: Arc<Android>, terminal: Weak<Client>, pid: u32) -> Self {
        Self {
            who: android.who(),
            terminal,
            pid,
            cwd: "/".to_owned(),
            variables: BTreeMap::new(),
            status: 0,
            depth: 0,
            android,
        }
    }

    /// A copy that nothing outside of it sees.
    pub fn copy(&self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self.clone()
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        if let Some(value) = self.variables.get(name) {
            return Some(value.clone());
        }
        let mut recorded = recorded::table("environment").filter_map(|line| line.split_once(' '));
        let value = match name {
            "PWD" => Some(self.cwd.as_str()),
            "USER" | "LOGNAME" => Some(self.who.name()),
            "HOSTNAME" => Some(self.android.device().shape().product),
            _ => recorded
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value),
        };
        value.map(str::to_owned)
    }

    /// Sets a variable, or has it as it was in a fresh shell; nothing when there are too many or
    /// it is too long.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        let fits = self.variables.contains_key(name) || self.variables.len() < MAX_VARIABLES;
        match value {
            None => drop(self.variables.remove(name)),
            Some(value) if fits && value.len() <= MAX_VALUE => {
                self.variables.insert(name.to_owned(), value);
            }
            Some(_) => {}
        }
    }

    /// The value that was set.
    pub fn was_set(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
}
