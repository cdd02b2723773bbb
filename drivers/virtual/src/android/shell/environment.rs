//! What a shell remembers between commands.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use crate::android::Android;
use crate::android::files::FileUser;
use crate::android::shell::syntax::Command;

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
    /// Shared until one is changed: most shells run one command and end.
    variables: Arc<Variables>,
    pub functions: BTreeMap<String, Command>,
    /// `$1` and on.
    pub arguments: Vec<String>,
    /// `$?`
    pub status: i32,
    /// `$!`
    pub last_background: Option<u32>,
    /// Whether a failing command ends the shell. (`set -e`)
    pub exit_on_error: bool,
    /// How deep calls of functions, brackets and `eval` are nested.
    pub depth: u32,
    pub immunity: Immunity,
    /// What runs when the shell ends. (`trap … EXIT`)
    pub exit_trap: Option<String>,
}

/// The variables of a shell.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    values: BTreeMap<String, String>,
    exported: BTreeSet<String>,
}

impl Variables {
    fn preset(user: &str, host: &str) -> Self {
        let preset = [
            (
                "PATH",
                "/product/bin:/apex/com.android.runtime/bin:/system/bin:/system/xbin:/vendor/bin",
            ),
            ("HOME", "/"),
            ("SHELL", "/bin/sh"),
            ("USER", user),
            ("LOGNAME", user),
            ("HOSTNAME", host),
            ("ANDROID_ROOT", "/system"),
            ("ANDROID_DATA", "/data"),
            ("ANDROID_STORAGE", "/storage"),
            ("EXTERNAL_STORAGE", "/sdcard"),
            ("TMPDIR", "/data/local/tmp"),
            ("TERM", "xterm-256color"),
        ];
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            values: preset.map(own).into(),
            exported: preset.map(|(name, _)| name.to_owned()).into(),
        }
    }
}

impl Android {
    /// What adbd gives to a fresh shell.
    fn preset_variables(&self, who: &FileUser) -> Arc<Variables> {
        let (user, slot) = match who {
            FileUser::Root => ("root", 1),
            _ => ("shell", 0),
        };
        let host = self.device.shape().product;
        let preset = || Arc::new(Variables::preset(user, host));
        Arc::clone(self.variables[slot].get_or_init(preset))
    }
}

impl Shell {
    /// A fresh shell as adbd starts it.
    pub fn new(android: Arc<Android>, session: Arc<Session>, pid: u32) -> Self {
        let who = android.who();
        Self {
            variables: android.preset_variables(&who),
            who,
            session,
            pid,
            cwd: "/".to_owned(),
            functions: BTreeMap::new(),
            arguments: Vec::new(),
            status: 0,
            last_background: None,
            exit_on_error: false,
            depth: 0,
            immunity: Immunity::default(),
            exit_trap: None,
            android,
        }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        if name == "PWD" {
            return Some(self.cwd.clone());
        }
        self.variables.values.get(name).cloned()
    }

    /// Sets a variable; nothing when there are too many or it is too long.
    pub fn set(&mut self, name: &str, value: &str) {
        let values = &self.variables.values;
        let fits = values.contains_key(name) || values.len() < MAX_VARIABLES;
        if fits && value.len() <= MAX_VALUE {
            let values = &mut Arc::make_mut(&mut self.variables).values;
            values.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Removes a variable.
    pub fn unset(&mut self, name: &str) {
        let variables = Arc::make_mut(&mut self.variables);
        variables.values.remove(name);
        variables.exported.remove(name);
        self.functions.remove(name);
    }

    /// Commands see this variable from now on.
    pub fn export(&mut self, name: &str) {
        let variables = Arc::make_mut(&mut self.variables);
        variables.exported.insert(name.to_owned());
    }

    /// Whether commands see this variable.
    pub fn is_exported(&self, name: &str) -> bool {
        self.variables.exported.contains(name)
    }

    /// The variables commands see, by name.
    pub fn exported(&self) -> impl Iterator<Item = (&str, &str)> {
        let Variables { values, exported } = &*self.variables;
        (exported.iter()).filter_map(|name| Some((name.as_str(), values.get(name)?.as_str())))
    }

    /// All variables by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        (self.variables.values.iter()).map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
