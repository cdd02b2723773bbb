//! Whether a selector is for the platform it is used on. Pure.
//!
//! A selector for another platform matches nothing, so "is not visible" would pass by accident.

use packtrain_drivers::Platform;
use packtrain_drivers::selector::NodeSelector;

use crate::tool::ToolError;

/// Refuses what can only match nothing, and what would match anything.
pub(super) fn check(selector: &NodeSelector, on: Platform) -> Result<(), ToolError> {
    if let Some((block, for_what)) = foreign(selector, on) {
        let device = name(on);
        return Err(ToolError::failed(format!(
            "`{block}` selectors are for {for_what}, and this is {device}"
        )));
    }
    if is_blank(selector) {
        return Err(ToolError::failed(
            "the selector is empty, so it would match anything",
        ));
    }
    Ok(())
}

const fn name(platform: Platform) -> &'static str {
    match platform {
        Platform::Android => "an Android device",
        Platform::Ios => "an iOS device",
        Platform::Web => "a page",
    }
}

/// A block that is for another platform, and what that is.
pub(crate) fn foreign(
    selector: &NodeSelector,
    on: Platform,
) -> Option<(&'static str, &'static str)> {
    let blocks = [
        (
            selector.android_accessibility.is_some(),
            "androidAccessibility",
            Some(Platform::Android),
        ),
        (
            selector.android_maestro.is_some(),
            "androidMaestro",
            Some(Platform::Android),
        ),
        (
            selector.ios_maestro.is_some(),
            "iosMaestro",
            Some(Platform::Ios),
        ),
        (selector.ios_axe.is_some(), "iosAxe", Some(Platform::Ios)),
        (selector.web.is_some(), "web", Some(Platform::Web)),
        (selector.compose.is_some(), "compose", None),
    ];
    let own = blocks
        .into_iter()
        .find(|(present, _, platform)| *present && *platform != Some(on))
        .map(|(_, block, platform)| (block, platform.map_or("desktop windows", name)));
    own.or_else(|| nested(selector).find_map(|nested| foreign(nested, on)))
}

/// Whether no part of it says anything about an element.
fn is_blank(selector: &NodeSelector) -> bool {
    fn says_nothing<T: Default + PartialEq>(block: Option<&T>) -> bool {
        block.is_none_or(|block| *block == T::default())
    }
    says_nothing(selector.android_accessibility.as_deref())
        && says_nothing(selector.android_maestro.as_deref())
        && says_nothing(selector.ios_maestro.as_deref())
        && says_nothing(selector.ios_axe.as_deref())
        && says_nothing(selector.web.as_ref())
        && says_nothing(selector.compose.as_deref())
        && nested(selector).all(is_blank)
}

fn nested(selector: &NodeSelector) -> impl Iterator<Item = &NodeSelector> {
    [
        &selector.below,
        &selector.above,
        &selector.left_of,
        &selector.right_of,
        &selector.child_of,
        &selector.contains_child,
    ]
    .into_iter()
    .filter_map(|nested| nested.as_deref())
    .chain(&selector.contains_descendants)
}
