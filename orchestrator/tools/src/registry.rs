//! All tools by name.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use packtrain_drivers::Platform;

use crate::builtin;
use crate::tool::Tool;

/// All tools by name. Names are unique.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// The tools that are built in.
    pub fn builtin() -> Self {
        let mut registry = Self::default();
        for tool in builtin::all() {
            let earlier = registry.tools.insert(tool.spec().name.clone(), tool);
            debug_assert!(earlier.is_none(), "two built-in tools share a name");
        }
        registry
    }

    /// The same with one more tool, which takes the place of one of its name.
    #[must_use]
    pub fn with(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.insert(tool.spec().name.clone(), tool);
        self
    }

    /// The same with more tools.
    ///
    /// # Errors
    /// All names that two contributors want.
    pub fn joined(&self, tools: Vec<Arc<dyn Tool>>) -> Result<Self, Collisions> {
        let mut registry = self.clone();
        let mut collisions = Vec::new();
        for tool in tools {
            let spec = tool.spec();
            if let Some(earlier) = registry.tools.get(&spec.name) {
                collisions.push((
                    spec.name.clone(),
                    earlier.spec().origin.clone(),
                    spec.origin.clone(),
                ));
            } else {
                registry.tools.insert(spec.name.clone(), tool);
            }
        }
        if collisions.is_empty() {
            Ok(registry)
        } else {
            Err(Collisions(collisions))
        }
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

/// The registry that runs look tools up in. It can be replaced while they go on: a call keeps the
/// tool that it found. Cheap to clone.
#[derive(Clone)]
pub struct SharedRegistry(Arc<RwLock<Arc<Registry>>>);

impl SharedRegistry {
    /// Shares a registry.
    pub fn new(registry: Registry) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(registry))))
    }

    /// The registry as it is now.
    pub fn snapshot(&self) -> Arc<Registry> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets calls from now on find other tools.
    pub fn replace(&self, registry: Registry) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(registry);
    }
}

/// Names that two contributors want.
#[derive(Debug)]
pub struct Collisions(Vec<(String, crate::tool::Origin, crate::tool::Origin)>);
impl std::fmt::Display for Collisions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, first, second) in &self.0 {
            writeln!(f, "`{name}` comes from {first} and from {second}")?;
        }
        Ok(())
    }
}
