//! All tools by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{BoxFuture, Platform};
use tokio::sync::watch;

use crate::builtin;
use crate::tool::{Origin, Tool};

/// How long contributors may take to tell what they have now.
const RENEW_TIMEOUT: Duration = Duration::from_secs(2);

/// All tools by name. Names are unique.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// Contributors whose tools are not known.
    missing: Vec<Missing>,
}

/// A contributor whose tools are not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The tool source, when it could not start on this computer.
    pub unstarted: Option<String>,
    /// The reason, and behind it the last lines that the source wrote.
    pub why: String,
}

impl Registry {
    /// The tools that are built in.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        let named = builtin::all()
            .into_iter()
            .map(|tool| (tool.spec().name.clone(), tool));
        registry.tools.extend(named);
        registry
    }

    /// The built-in tools and what others contribute.
    ///
    /// # Errors
    /// All names that more than one contributor gives a tool.
    pub fn assemble(
        contributions: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Result<Self, Collisions> {
        Self::builtin().joined(contributions)
    }

    /// The same with what others contribute.
    ///
    /// # Errors
    /// All names that more than one contributor gives a tool.
    pub fn joined(
        mut self,
        contributions: impl IntoIterator<Item = Arc<dyn Tool>>,
    ) -> Result<Self, Collisions> {
        let registry = &mut self;
        let mut collisions: BTreeMap<String, Vec<Origin>> = BTreeMap::new();
        for tool in contributions {
            let spec = tool.spec();
            match registry.tools.get(&spec.name) {
                Some(earlier) => collisions
                    .entry(spec.name.clone())
                    .or_insert_with(|| vec![earlier.spec().origin.clone()])
                    .push(spec.origin.clone()),
                None => {
                    registry.tools.insert(spec.name.clone(), tool);
                }
            }
        }
        if collisions.is_empty() {
            Ok(self)
        } else {
            Err(Collisions(collisions))
        }
    }

    /// The same with one more tool, which takes the place of one of its name.
    #[must_use]
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.insert(tool.spec().name.clone(), tool);
        self
    }

    /// The same without the tools of somebody who should have contributed some.
    #[must_use]
    pub fn without(mut self, whose: impl IntoIterator<Item = Missing>) -> Self {
        self.missing.extend(whose);
        self
    }

    /// Whose tools are not known.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All tools, by name.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// The tools that work on a platform, by name.
    pub fn on(&self, platform: Platform) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.all()
            .filter(move |tool| tool.spec().works_on(platform))
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }
}

/// Tools that cannot be told apart, with those who contribute them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collisions(BTreeMap<String, Vec<Origin>>);

impl Collisions {
    /// Each name with all contributors of a tool of that name, at least two.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[Origin])> {
        let all = self.0.iter();
        all.map(|(name, origins)| (name.as_str(), origins.as_slice()))
    }
}

/// One line for each name.
impl fmt::Display for Collisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, origins)) in self.all().enumerate() {
            let origins: Vec<String> = origins.iter().map(Origin::to_string).collect();
            let separator = if number > 0 { "\n" } else { "" };
            let origins = origins.join(" and ");
            write!(
                f,
                "{separator}tool `{name}` is defined more than once: {origins}"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Collisions {}

/// The registry that runs look tools up in. It can be replaced while they go on: a call keeps the
/// tool that it found. Cheap to clone.
#[derive(Clone)]
pub struct SharedRegistry {
    current: Arc<watch::Sender<Arc<Registry>>>,
    renew: Option<Arc<Renew>>,
}

/// Asks all who contribute what they have now, and replaces the registry when that is new.
type Renew = dyn Fn() -> BoxFuture<'static, ()> + Send + Sync;

impl SharedRegistry {
    /// Shares a registry.
    pub fn new(registry: Registry) -> Self {
        Self {
            current: Arc::new(watch::Sender::new(Arc::new(registry))),
            renew: None,
        }
    }

    /// The same, for those who look up tools that may have come meanwhile.
    #[must_use]
    pub fn renewed_by(
        mut self,
        renew: impl Fn() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) -> Self {
        self.renew = Some(Arc::new(renew));
        self
    }

    /// The registry as it is now, reloaded when it lacks a tool.
    pub async fn with(&self, tool: &str) -> Arc<Registry> {
        let now = self.snapshot();
        match &self.renew {
            Some(renew) if now.get(tool).is_none() => {
                // What does not answer in time has nothing new.
                let _ = tokio::time::timeout(RENEW_TIMEOUT, renew()).await;
                self.snapshot()
            }
            Some(_) | None => now,
        }
    }

    /// The registry as it is now.
    pub fn snapshot(&self) -> Arc<Registry> {
        Arc::clone(&self.current.borrow())
    }

    /// The registry as it is now and as it will be.
    pub fn watch(&self) -> watch::Receiver<Arc<Registry>> {
        self.current.subscribe()
    }

    /// Lets calls from now on find other tools.
    pub fn replace(&self, registry: Registry) {
        self.current.send_replace(Arc::new(registry));
    }
}

#[cfg(test)]
mod tests;
