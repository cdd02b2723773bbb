//! A screen as it is compared: what a person can see or use of it, in one notation for all platforms.

use packtrain_drivers::{Defect, Hidden};
use serde::{Deserialize, Serialize};

/// The version of the notation that screens are written in today. Whatever makes the same screen
/// another tree raises it: trees of different notations differ without a change of the app.
pub const NOTATION: u32 = 2;

/// The version of trees that do not say theirs.
const fn first_notation() -> u32 {
    1
}

/// A screen's tree: unnamed wrappers dropped, roles mapped to a few, keyboard and status bars left
/// out, secrets taken out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScreenTree {
    /// The version of the notation it is written in, from 1; [`NOTATION`] is today's.
    #[serde(default = "first_notation")]
    pub notation: u32,
    /// Width of the screen, in the units of the bounds.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// The page's title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The page's address, or the app in the foreground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// What is there and cannot be seen. It is not compared, and no baseline has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Hidden>,
    /// The nodes in document order.
    pub nodes: Vec<ScreenNode>,
}

impl Default for ScreenTree {
    fn default() -> Self {
        Self {
            notation: NOTATION,
            width: 0.0,
            height: 0.0,
            title: None,
            location: None,
            hidden: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

/// A node of a [`ScreenTree`]. Short keys: a run stores thousands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScreenNode {
    /// How deep it is, from 0.
    #[serde(rename = "d")]
    pub depth: u32,
    /// `button`, `link`, `textbox`, `heading`, `text` ...
    #[serde(rename = "r")]
    pub role: String,
    /// What it says or is called.
    #[serde(rename = "n", default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What a field holds; nothing for passwords.
    #[serde(rename = "v", default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The app's own id for it.
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `checked`, `disabled`, `selected`, `expanded`, in alphabetical order.
    #[serde(rename = "s", default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Left, top, right, bottom, in whole units; absent when not known.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<[i32; 4]>,
}

/// What was seen at the end of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The screen as a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<ObservedTree>,
    /// The screen as a picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<ObservedPicture>,
    /// Layout defects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<Defect>,
    /// How many errors and warnings the page or app logged in the step.
    #[serde(default)]
    pub console: u32,
    /// How many requests failed in it.
    #[serde(default)]
    pub failed_requests: u32,
    /// How long the screen took to be still, in milliseconds.
    #[serde(default)]
    pub settled_ms: u32,
    /// Whether it never was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsettled: bool,
    /// Masks that matched nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_masks: Vec<String>,
}

/// A tree that is stored once however often it is seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedTree {
    /// The first 16 hex digits of the SHA-256 of the tree's JSON.
    pub digest: String,
    /// The same of the tree without what is hidden, where it tells of something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// How many nodes it has.
    pub nodes: u32,
    /// Its file below the run's folder, with `/`: `trees/<digest>.json`.
    pub artifact: String,
}

impl ObservedTree {
    /// Equal where the screens are, whatever they hide.
    pub fn shown(&self) -> &str {
        self.shown.as_ref().unwrap_or(&self.digest)
    }
}

/// A picture of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ObservedPicture {
    /// The first 16 hex digits of the SHA-256 of its file.
    pub digest: String,
    /// Its file below the run's folder, with `/`: `pictures/<digest>.png`.
    pub artifact: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Pixels for each unit of the tree's bounds.
    pub scale: f64,
    /// What is left out of comparisons: left, top, right, bottom, in pixels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<[i32; 4]>,
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::HiddenBecause;

    use super::*;

    #[test]
    fn a_tree_that_does_not_say_its_notation_is_of_the_first_and_hides_nothing() {
        let old = r#"{"width":1.0,"height":2.0,"nodes":[{"d":0,"r":"text"}]}"#;
        let tree: ScreenTree = serde_json::from_str(old).unwrap();
        assert_eq!((tree.notation, tree.hidden.len()), (1, 0));
        let today = serde_json::to_string(&ScreenTree::default()).unwrap();
        assert_eq!(
            today,
            r#"{"notation":2,"width":0.0,"height":0.0,"nodes":[]}"#
        );
    }

    #[test]
    fn what_hides_an_element_is_one_word_and_a_later_one_is_read_as_other() {
        let hidden = |why: &str| format!(r#"{{"element":"link \"Basket\"","why":"{why}"}}"#);
        let closed: Hidden = serde_json::from_str(&hidden("closed")).unwrap();
        assert_eq!(closed.why, HiddenBecause::Closed);
        assert_eq!(serde_json::to_string(&closed).unwrap(), hidden("closed"));
        let later: Hidden = serde_json::from_str(&hidden("behind_the_moon")).unwrap();
        assert_eq!(later.why, HiddenBecause::Other);
        assert_eq!(serde_json::to_string(&later).unwrap(), hidden("other"));
    }
}
