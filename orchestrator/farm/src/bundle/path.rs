//! Paths within a bundle. They come from elsewhere, so each is looked at before a file is made of it.

use std::path::{Path, PathBuf};

/// The longest path, in bytes; systems take no longer ones.
const PATH_BYTES: usize = 1024;
/// The longest name of a file or a folder, in bytes.
const NAME_BYTES: usize = 255;

/// A path that a bundle cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid path in a bundle {path:?}: {why}")]
pub struct BundlePathError {
    /// The path.
    pub path: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// Looks at a path with `/`, from the bundle's folder on.
///
/// # Errors
/// When it leads out of the folder, or is not written in the one way in which it can be.
pub fn check_path(path: &str) -> Result<(), BundlePathError> {
    let wrong = |why| {
        let path = path.chars().take(200).collect();
        Err(BundlePathError { path, why })
    };
    if path.is_empty() {
        return wrong("it is empty");
    }
    if path.len() > PATH_BYTES {
        return wrong("it is too long");
    }
    if path.starts_with('/') {
        return wrong("it is absolute");
    }
    for name in path.split('/') {
        match name {
            "" => return wrong("it has an empty name"),
            "." | ".." => return wrong("it contains `..`"),
            _ if name.len() > NAME_BYTES => return wrong("it has a name that is too long"),
            _ if name.contains('\\') => return wrong("it has a backslash"),
            _ if name.chars().any(char::is_control) => return wrong("it has a control character"),
            _ => {}
        }
    }
    Ok(())
}

/// The place of a path of the bundle that lies in `folder`; the empty path is the folder itself.
///
/// # Errors
/// As [`check_path`].
pub fn inside(folder: &Path, path: &str) -> Result<PathBuf, BundlePathError> {
    if path.is_empty() {
        return Ok(folder.to_owned());
    }
    check_path(path)?;
    Ok(folder.join(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_are_refused() {
        for hostile in [
            "",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "./a",
            "a/./b",
            "/etc/passwd",
            "a//b",
            "a/",
            "a\\..\\b",
            "C:\\x",
            "a\0b",
            "a\nb",
        ] {
            assert!(check_path(hostile).is_err(), "{hostile:?}");
        }
        assert!(check_path(&"x".repeat(256)).is_err());
        assert!(check_path(&"x/".repeat(600)).is_err());
        for good in ["a", "a/b.trail.yaml", "ünï/…", "..a/b..", "a b"] {
            assert!(check_path(good).is_ok(), "{good:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_stays_in_the_folder(path in ".*") {
            let folder = Path::new("/cache/bundle");
            if let Ok(place) = inside(folder, &path) {
                prop_assert!(place.starts_with(folder));
                prop_assert!(place.components().all(|part| part != std::path::Component::ParentDir));
            }
        }
    }
}
