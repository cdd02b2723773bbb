//! What a session remembers: texts by name, secrets among them, and the trail's arguments.
//!
//! A secret stays one: its name for the session, its value in everything that is shown. Knows
//! nothing of where things are shown.

mod args;
mod redact;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use redact::Redactor;

use crate::template::{TemplateError, Undefined};

/// The memory of one session.
#[derive(Clone, Default)]
pub struct Memory {
    values: BTreeMap<String, String>,
    secret_names: BTreeSet<String>,
    args: BTreeMap<String, serde_json::Value>,
    redactor: Redactor,
}

impl Memory {
    /// A memory with something in it from the start. Where a name is given more than once, a
    /// secret counts before what was given for the run, and that before what the trail says.
    pub fn seeded(
        trail: &[(String, String)],
        given: &[(String, String)],
        secrets: &[(String, String)],
    ) -> Self {
        let mut memory = Self::default();
        for (name, value) in trail.iter().chain(given) {
            memory.remember(name, value);
        }
        for (name, value) in secrets {
            memory.remember_secret(name, value);
        }
        memory
    }

    /// Remembers a text. Under the name of a secret it is one.
    pub fn remember(&mut self, name: &str, value: &str) {
        if self.secret_names.contains(name) {
            self.redactor.hide(name, value);
        }
        self.values.insert(name.to_owned(), value.to_owned());
    }

    /// Remembers a text that must not be shown, now or later.
    pub fn remember_secret(&mut self, name: &str, value: &str) {
        // What was remembered under this name before becomes secret with it.
        if let Some(former) = self.values.get(name) {
            self.redactor.hide(name, former);
        }
        self.secret_names.insert(name.to_owned());
        self.remember(name, value);
    }

    /// Forgets a text. The name of a secret stays one, and its value stays hidden.
    pub fn forget(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// What is remembered under a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// Every name a template can use, sorted, arguments last.
    pub fn defined(&self) -> impl Iterator<Item = String> {
        let arguments = self.args.keys().map(|name| format!("args.{name}"));
        self.values.keys().cloned().chain(arguments)
    }

    /// Whether what is remembered under a name must not be shown.
    pub fn is_secret(&self, name: &str) -> bool {
        self.secret_names.contains(name)
    }

    /// The names of the secrets, which may be shown.
    pub fn secret_names(&self) -> impl Iterator<Item = &str> {
        self.secret_names.iter().map(String::as_str)
    }

    /// Sets the trail's arguments, as bound by
    /// [`Config::bind_args`](crate::trail::Config::bind_args). Templates in texts among them are
    /// filled in from this memory and from each other.
    pub fn set_args(
        &mut self,
        args: BTreeMap<String, serde_json::Value>,
        undefined: Undefined,
    ) -> Result<(), TemplateError> {
        self.args = args::resolve(args, self, undefined)?;
        Ok(())
    }

    /// The trail's arguments.
    pub const fn args(&self) -> &BTreeMap<String, serde_json::Value> {
        &self.args
    }

    /// What may be shown, to an agent or in a report, by the name a template would use: secrets
    /// are left out, and what contains one has it replaced by its template.
    pub fn shown(&self) -> BTreeMap<String, String> {
        let texts = self
            .values
            .iter()
            .filter(|(name, _)| !self.is_secret(name))
            .map(|(name, value)| (name.clone(), self.redactor.redact(value).into_owned()));
        let args = self.args.iter().map(|(name, value)| {
            let value = match self.redactor.redact_json(value) {
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            (format!("args.{name}"), value)
        });
        texts.chain(args).collect()
    }

    /// Hides a value that is remembered under no name.
    pub fn hide(&mut self, name: &str, value: &str) {
        self.redactor.hide(name, value);
    }

    /// Takes secrets out of whatever is shown.
    pub const fn redactor(&self) -> &Redactor {
        &self.redactor
    }
}

/// Names only: a memory in a log must not give anything away.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("names", &self.values.keys())
            .field("secret_names", &self.secret_names)
            .field("args", &self.args.keys())
            .finish_non_exhaustive()
    }
}
