//! Captured screens, by reference: a picture is fetched, not carried in JSON.

use std::collections::VecDeque;
use std::sync::Arc;

use packtrain_tools::CapturedScreen;
use serde_json::json;

/// Captures of a call that are kept.
const KEPT: usize = 3;

/// The captured screens of one call, by their ids.
#[derive(Default)]
pub(crate) struct Screens(VecDeque<(String, Arc<CapturedScreen>)>);

/// A file made of a captured screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenFile {
    /// Its media type.
    pub media_type: &'static str,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl Screens {
    /// Keeps a screen, letting the oldest go; its id.
    pub(crate) fn keep(&mut self, screen: Arc<CapturedScreen>) -> String {
        let id = uuid::Uuid::new_v4().simple().to_string();
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((id.clone(), screen));
        id
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<CapturedScreen>> {
        let found = self.0.iter().find(|(kept, _)| kept == id)?;
        Some(Arc::clone(&found.1))
    }
}

impl ScreenFile {
    /// The file of a screen that ends so.
    pub(super) fn of(screen: &CapturedScreen, ending: &str) -> Option<Self> {
        match ending {
            "png" => Some(Self {
                media_type: "image/png",
                bytes: screen.screenshot.png.clone(),
            }),
            "json" => {
                let snapshot = &screen.snapshot;
                let tree = json!({
                    "width": snapshot.screen.width,
                    "height": snapshot.screen.height,
                    "location": snapshot.location,
                    "title": snapshot.title,
                    "refs": snapshot.refs,
                    "tree": snapshot.tree,
                });
                Some(Self {
                    media_type: "application/json",
                    bytes: tree.to_string().into_bytes(),
                })
            }
            _ => None,
        }
    }
}
