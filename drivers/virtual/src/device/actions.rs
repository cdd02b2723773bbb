//! Touching a device, whatever wire the wish came over, so that faults strike alike on all.

use crate::app::AppId;
use crate::device::Device;
use crate::faults::{Event, Fault};
use crate::geometry::Point;
use crate::world::{Gesture, Key, Launched, NotInstalled, Pointer, Snapshot, WindowKind};

impl Device {
    /// Touches the screen; points are dp or pt as the device is held.
    pub async fn touch(&self, gesture: Gesture) {
        let (kind, at) = match gesture {
            Gesture::Tap(at) => ("tap", at),
            Gesture::LongPress(at) => ("long_press", at),
            Gesture::Swipe { from, .. } => ("swipe", from),
            Gesture::Pinch { at, .. } => ("pinch", at),
        };
        let words = || format!("{kind} {}", what_is_at(&self.snapshot(), at));
        if self.swallows(words).await {
            return;
        }
        self.world(|world| world.gesture(gesture))
    }

    /// Follows one movement of a finger.
    pub async fn pointer(&self, movement: Pointer) {
        let words = || match movement {
            Pointer::Down(at) => format!("tap {}", what_is_at(&self.snapshot(), at)),
            Pointer::Move(_) | Pointer::Up | Pointer::Cancel => "move".to_owned(),
        };
        if self.swallows(words).await {
            return;
        }
        self.world(|world| world.pointer(movement));
    }

    /// Types into the field with the focus; false when there is none.
    pub async fn type_text(&self, text: &str) -> bool {
        if self.swallows(|| format!("text {text}")).await {
            return true;
        }
        self.world(|world| world.type_text(text))
    }

    /// Presses a key.
    pub async fn press(&self, key: Key) {
        let words = || format!("key {key:?}").to_lowercase();
        if !self.swallows(words).await {
            self.world(|world| world.key(key));
        }
    }

    /// Brings an app to the front.
    ///
    /// # Errors
    /// When it is not on the device.
    pub async fn launch(&self, id: &AppId) -> Result<Launched, NotInstalled> {
        let mut ignored = false;
        for fault in self.fire_faults(Event::Launch(id.as_str())) {
            match fault {
                Fault::Delay(time) => self.sleep(time.0).await,
                Fault::IgnoreLaunch => ignored = true,
                _ => {}
            }
        }
        if ignored {
            return self.world(|world| {
                world
                    .installed_app(id)
                    .ok_or_else(|| NotInstalled(id.clone()))?;
                Ok(Launched {
                    kind: crate::world::LaunchKind::Cold,
                    ready_at: world.now(),
                })
            });
        }
        self.world(|world| world.launch(id))
    }

    /// Whether a fault keeps a touch or key from having an effect.
    pub(crate) async fn swallows(&self, words: impl FnOnce() -> String) -> bool {
        if self.ignores_events() {
            return false;
        }
        let mut swallows = false;
        for fault in self.fire_faults(Event::Touch(&words())) {
            match fault {
                Fault::Delay(time) => self.sleep(time.0).await,
                Fault::Swallow => swallows = true,
                _ => {}
            }
        }
        swallows
    }
}

/// The id or text of what lies topmost at a point; its coordinates when nothing has either.
fn what_is_at(snapshot: &Snapshot, at: Point) -> String {
    let window = (snapshot.windows.iter().rev())
        .find(|w| w.bounds.contains(at) || w.kind != WindowKind::Keyboard);
    let named = window.and_then(|w| {
        let mut nodes = w.nodes.iter().rev();
        nodes.find(|n| n.visible.contains(at) && !(n.id.is_empty() && n.text.is_empty()))
    });
    match named {
        Some(node) if node.id.is_empty() => node.text.clone(),
        Some(node) => node.id.clone(),
        None => format!("{:.0},{:.0}", at.x, at.y),
    }
}
