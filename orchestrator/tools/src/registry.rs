//! All tools by name.

use std::collections::BTreeMap;
use std::sync::Arc;

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
