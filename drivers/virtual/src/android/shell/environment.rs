//! What a shell remembers between commands.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use crate::android::Android;
use crate::android::files::FileUser;

/// The most variables of one shell.
const MAX_VARIABLES: usize = 4096;
/// The most bytes of one variable.
const MAX_VALUE: usize = 1024 * 1024;

/// What the commands of one client's session share.
#[derive(Debug)]
pub struct Session {
    /// The terminal, if there is one, so that `/dev/tty` can be opened. Not an owner: what only
    /// could open it does not keep it open.
    pub terminal: Weak<super::io::Client>,
    /// Cancelled when the client hangs up.
    pub hangup: CancellationToken,
}

/// Whether hanging up ends what runs.
#[derive(Debug, Clone, Default)]
pub struct Immunity(Arc<AtomicBool>);

impl Immunity {
    /// From now on hanging up does nothing.
    pub fn grant(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether hanging up does nothing.
    pub fn is_granted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// One shell, or a copy of it in brackets.
#[derive(Debug, Clone)]
pub struct Shell {
    pub android: Arc<Android>,
    pub session: Arc<Session>,
    pub who: FileUser,
    pub pid: u32,
    pub cwd: String,
    /// What was set; other variables have the values that adbd gives them.
    variables: BTreeMap<String, String>,
    /// `$1` and on.
    pub arguments: Vec<String>,
    /// `$?`
    pub status: i32,
    /// How deep brackets and scripts are nested.
    pub depth: u32,
    pub immunity: Immunity,
}

impl Shell {
    /// A fresh shell as adbd starts it.
    pub fn new(android: Arc<Android>, session: Arc<Session>, pid: u32) -> Self {
        Self {
            who: android.who(),
            session,
            pid,
            cwd: "/".to_owned(),
            variables: BTreeMap::new(),
            arguments: Vec::new(),
            status: 0,
            depth: 0,
            immunity: Immunity::default(),
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
        Some(String::from(match name {
            "PWD" => &self.cwd,
            "PATH" => {
                "/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin:/vendor/bin"
            }
            "HOME" => "/",
            "SHELL" => "/bin/sh",
            "USER" | "LOGNAME" => self.who.name(),
            "HOSTNAME" => self.android.device().shape().product,
            "ANDROID_ROOT" => "/system",
            "ANDROID_DATA" => "/data",
            "ANDROID_STORAGE" => "/storage",
            "EXTERNAL_STORAGE" => "/sdcard",
            "TMPDIR" => "/data/local/tmp",
            "TERM" => "xterm-256color",
            _ => return None,
        }))
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
