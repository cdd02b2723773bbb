//! The kinds of element XCTest tells apart, by their names.

use std::sync::LazyLock;

/// A kind of element; its number is XCTest's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ElementType(u8);

/// What the long names begin with.
const PREFIX: &str = "XCUIElementType";

/// The names without their prefix, by number. (`XCUIElementTypes.h`)
static NAMES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("element-types.txt").lines().collect());

impl ElementType {
    pub(crate) const ANY: Self = Self(0);
    pub(crate) const OTHER: Self = Self(1);
    pub(crate) const APPLICATION: Self = Self(2);
    pub(crate) const WINDOW: Self = Self(4);
    pub(crate) const ALERT: Self = Self(7);
    pub(crate) const BUTTON: Self = Self(9);
    pub(crate) const KEYBOARD: Self = Self(19);
    pub(crate) const KEY: Self = Self(20);
    pub(crate) const NAVIGATION_BAR: Self = Self(21);
    pub(crate) const STATUS_BAR: Self = Self(25);
    pub(crate) const TABLE: Self = Self(26);
    pub(crate) const ACTIVITY_INDICATOR: Self = Self(36);
    pub(crate) const SWITCH: Self = Self(40);
    pub(crate) const LINK: Self = Self(42);
    pub(crate) const IMAGE: Self = Self(43);
    pub(crate) const ICON: Self = Self(44);
    pub(crate) const SEARCH_FIELD: Self = Self(45);
    pub(crate) const SCROLL_VIEW: Self = Self(46);
    pub(crate) const STATIC_TEXT: Self = Self(48);
    pub(crate) const TEXT_FIELD: Self = Self(49);
    pub(crate) const SECURE_TEXT_FIELD: Self = Self(50);
    pub(crate) const WEB_VIEW: Self = Self(58);
    pub(crate) const CELL: Self = Self(75);

    /// The name without prefix: `Button`.
    pub(crate) fn short_name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or("Other")
    }

    /// The whole name: `XCUIElementTypeButton`.
    pub(crate) fn name(self) -> String {
        format!("{PREFIX}{}", self.short_name())
    }

    /// The kind of that whole name. A name that only begins right stands for something newer than
    /// this list and is `Other`; anything else is none.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let short = name
            .strip_prefix(PREFIX)
            .filter(|short| !short.is_empty())?;
        let number = NAMES.iter().position(|known| *known == short);
        Some(
            number
                .and_then(|number| u8::try_from(number).ok())
                .map_or(Self::OTHER, Self),
        )
    }

    /// Whether elements of this kind hold text somebody types.
    pub(crate) const fn takes_text(self) -> bool {
        // Text field, secure text field, search field and text view.
        matches!(self.0, 49 | 50 | 45 | 52)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree_with_xctest() {
        for (kind, name) in [
            (ElementType::BUTTON, "Button"),
            (ElementType::TABLE, "Table"),
            (ElementType::SWITCH, "Switch"),
            (ElementType::STATIC_TEXT, "StaticText"),
            (ElementType::SECURE_TEXT_FIELD, "SecureTextField"),
            (ElementType::WEB_VIEW, "WebView"),
            (ElementType::CELL, "Cell"),
        ] {
            assert_eq!(kind.short_name(), name);
            assert_eq!(ElementType::named(&kind.name()), Some(kind));
        }
    }

    #[test]
    fn a_newer_kind_is_other_and_a_bare_name_is_none() {
        let newer = ElementType::named("XCUIElementTypeHologram");
        assert_eq!(newer, Some(ElementType::OTHER));
        assert_eq!(ElementType::named("Button"), None);
        assert_eq!(ElementType::named("XCUIElementType"), None);
    }
}
