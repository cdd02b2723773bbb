//! Which app is in front.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result};

/// The window that has the focus, and the app it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Focus {
    pub(crate) package: String,
    pub(crate) activity: Option<String>,
}

impl Focus {
    /// `{id, activity?}`
    pub(crate) fn to_json(&self) -> Value {
        let mut json = json!({ "id": self.package });
        if let (Some(activity), Some(object)) = (&self.activity, json.as_object_mut()) {
            object.insert("activity".to_owned(), activity.as_str().into());
        }
        json
    }
}

impl AndroidDevice {
    /// What is in front; `None` between two windows.
    pub(crate) async fn focus(&self, deadline: Instant) -> Result<Option<Focus>> {
        // Filtered on the device: the whole text is long.
        let lines = "grep -E 'mCurrentFocus|mFocusedApp'";
        // Newer systems tell it of their displays, older ones of their windows.
        let command =
            format!("dumpsys window displays | {lines} || dumpsys window windows | {lines}");
        Ok(read(&self.shell(&command, deadline).await?.out()))
    }
}

/// The focused window, or while there is none the app that is about to have it.
pub(crate) fn read(text: &str) -> Option<Focus> {
    let after = |mark: &str| {
        text.lines()
            .filter_map(|line| line.trim().strip_prefix(mark))
            .find_map(component)
    };
    after("mCurrentFocus=").or_else(|| after("mFocusedApp="))
}

/// The component in `Window{1a2b u0 com.a/com.a.Main}` or `ActivityRecord{1a2b u0 com.a/.Main t1}`;
/// a window without an activity, such as a dialog of the system, may have a plain name.
fn component(record: &str) -> Option<Focus> {
    let inside = record.split_once('{')?.1;
    let mut words = inside.trim_end().trim_end_matches('}').split_whitespace();
    let name = words.find(|word| word.contains('/') || word.contains('.'))?;
    let name = name.trim_end_matches('}');
    Some(match name.split_once('/') {
        Some((package, class)) => Focus {
            package: package.to_owned(),
            activity: Some(match class.strip_prefix('.') {
                Some(short) => format!("{package}.{short}"),
                None => class.to_owned(),
            }),
        },
        None => Focus {
            package: name.to_owned(),
            activity: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn focus(package: &str, activity: Option<&str>) -> Option<Focus> {
        Some(Focus {
            package: package.into(),
            activity: activity.map(Into::into),
        })
    }

    #[test]
    fn the_focus_is_read_from_every_form_it_takes() {
        let shop = focus("com.a", Some("com.a.Main"));
        assert_eq!(
            read("  mCurrentFocus=Window{1f u0 com.a/com.a.Main}\n"),
            shop
        );
        assert_eq!(
            read("  mCurrentFocus=null\n  mFocusedApp=ActivityRecord{5c3 u0 com.a/.Main t12}\n"),
            shop
        );
        assert_eq!(
            read(
                "mFocusedApp=AppWindowToken{9 token=Token{8 ActivityRecord{7 u0 com.a/.Main t1}}}"
            ),
            shop
        );
        assert_eq!(
            read("  mCurrentFocus=Window{2 u0 Application Not Responding: com.a}"),
            focus("com.a", None)
        );
        assert_eq!(read("  mCurrentFocus=Window{2 u0 NotificationShade}"), None);
        assert_eq!(read("mCurrentFocus=null"), None);
    }
}
