//! Android's key codes. Source: `android.view.KeyEvent`.

use packtrain_drivers::Key;

/// A key by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keycode(pub(crate) u16);

impl Keycode {
    pub(crate) const HOME: Self = Self(3);
    pub(crate) const BACK: Self = Self(4);
    pub(crate) const VOLUME_UP: Self = Self(24);
    pub(crate) const VOLUME_DOWN: Self = Self(25);
    pub(crate) const TAB: Self = Self(61);
    pub(crate) const ENTER: Self = Self(66);
    /// Backspace.
    pub(crate) const DEL: Self = Self(67);
    pub(crate) const ESCAPE: Self = Self(111);
    pub(crate) const MOVE_END: Self = Self(123);
    /// Turns the screen off, never on.
    pub(crate) const SLEEP: Self = Self(223);
    /// Turns the screen on, never off.
    pub(crate) const WAKEUP: Self = Self(224);
    pub(crate) const PASTE: Self = Self(279);

    /// The key of Packtrain's name.
    pub(crate) const fn of(key: Key) -> Self {
        match key {
            Key::Back => Self::BACK,
            Key::Enter => Self::ENTER,
            Key::Home => Self::HOME,
            Key::Backspace => Self::DEL,
            Key::Tab => Self::TAB,
            Key::Escape => Self::ESCAPE,
            Key::VolumeUp => Self::VOLUME_UP,
            Key::VolumeDown => Self::VOLUME_DOWN,
            Key::Lock => Self::SLEEP,
        }
    }
}

impl std::fmt::Display for Keycode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
