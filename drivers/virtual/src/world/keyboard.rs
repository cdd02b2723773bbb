//! The keyboard: where its keys are and what they type.

use crate::geometry::Rect;
use crate::shape::Platform;
use crate::world::World;
use crate::world::typing::Key;

const ROWS: [&str; 4] = ["1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// What a key of the keyboard does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cap {
    Types(char),
    Presses(Key),
    Hides,
}

/// One key: its label and its place.
#[derive(Debug, Clone)]
pub(super) struct KeyCap {
    pub label: String,
    pub cap: Cap,
    pub bounds: Rect,
}

impl World {
    /// Where the keyboard is when it is up.
    pub(super) fn keyboard_bounds(&self) -> Rect {
        let (width, height) = (self.width(), self.height());
        let wanted = match self.shape.platform {
            Platform::Android => 260.0 + self.shape.bottom_bar,
            // Without the bar of suggestions. Phones without a home button have a row of their own
            // below the keys, for the home indicator, the globe and dictation.
            Platform::Ios if self.shape.bottom_bar > 0.0 => 291.0,
            Platform::Ios => 216.0,
        };
        let tall = f64::min(wanted, height * 0.5);
        Rect::new(0.0, height - tall, width, tall)
    }

    /// The keys of the keyboard.
    pub(super) fn keys(&self) -> Vec<KeyCap> {
        let area = self.keyboard_bounds();
        let tall = (area.h - self.shape.bottom_bar) / 5.0;
        let mut keys = Vec::new();
        for (r, row) in ROWS.iter().enumerate() {
            let width = area.w / 10.0;
            let count = row.chars().count() as f64;
            let left = area.x + (area.w - count * width) / 2.0;
            for (i, c) in row.chars().enumerate() {
                keys.push(KeyCap {
                    label: c.to_string(),
                    cap: Cap::Types(c),
                    bounds: Rect::new(
                        left + i as f64 * width,
                        area.y + r as f64 * tall,
                        width,
                        tall,
                    ),
                });
            }
        }
        let enter = match self.shape.platform {
            Platform::Android => "Enter",
            Platform::Ios => "return",
        };
        let last = [
            ("Hide", Cap::Hides, 0.15),
            (",", Cap::Types(','), 0.1),
            ("@", Cap::Types('@'), 0.1),
            ("space", Cap::Types(' '), 0.25),
            (".", Cap::Types('.'), 0.1),
            ("delete", Cap::Presses(Key::Backspace), 0.15),
            (enter, Cap::Presses(Key::Enter), 0.15),
        ];
        let mut x = area.x;
        for (label, cap, share) in last {
            let width = area.w * share;
            keys.push(KeyCap {
                label: label.to_owned(),
                cap,
                bounds: Rect::new(x, area.y + 4.0 * tall, width, tall),
            });
            x += width;
        }
        keys
    }
}
