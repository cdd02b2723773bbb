//! Captured screens, by reference: a picture is fetched, not carried in JSON.

use std::collections::VecDeque;
use std::sync::Arc;

use packtrain_tools::CapturedScreen;
use parking_lot::Mutex;
use serde_json::json;

/// Captures of a call that are kept.
const KEPT: usize = 3;

/// The captured screens of one call. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Screens(Arc<Mutex<VecDeque<Kept>>>);

struct Kept {
    id: String,
    screen: Arc<CapturedScreen>,
}

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
    pub(super) fn keep(&self, screen: Arc<CapturedScreen>) -> String {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let mut kept = self.0.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Kept {
            id: id.clone(),
            screen,
        });
        id
    }

    /// A file of a screen: `ID.png` or `ID.json`.
    pub(super) fn file(&self, name: &str) -> Option<ScreenFile> {
        let (id, kind) = name.split_once('.')?;
        let screen = {
            let kept = self.0.lock();
            let found = kept.iter().find(|kept| kept.id == id)?;
            Arc::clone(&found.screen)
        };
        match kind {
            "png" => Some(ScreenFile {
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
                Some(ScreenFile {
                    media_type: "application/json",
                    bytes: tree.to_string().into_bytes(),
                })
            }
            _ => None,
        }
    }
}
