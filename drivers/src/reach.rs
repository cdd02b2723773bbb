//! Which addresses a session may open, and which files of this computer it may touch, for callers
//! whose rights are limited. Knows nothing of who they are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use url::{ParseError, Url};

use crate::error::DriverError;

/// What everybody may open, besides `about:blank`.
const OPEN_TO_ALL: [&str; 3] = ["data", "http", "https"];

/// How far a session reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Schemes besides `http`, `https` and `data`, in lower case.
    pub schemes: BTreeSet<String>,
    /// Where files have to lie, links followed.
    pub folder: PathBuf,
}

impl Reach {
    /// The whole address that `given` stands for, when it may be opened. Both are read as browsers
    /// read them.
    ///
    /// # Errors
    /// What `whole` fails with, and [`DriverError::Invalid`] that says why it may not be opened.
    pub fn confine<E: From<DriverError>>(
        reach: Option<&Self>,
        given: &str,
        whole: impl FnOnce() -> Result<String, E>,
    ) -> Result<String, E> {
        let Some(reach) = reach else {
            return whole();
        };
        reach.admits_given(given)?;
        let opened = whole()?;
        reach.admits_url(&Url::parse(&opened).map_err(unreadable)?)?;
        Ok(opened)
    }

    fn admits_given(&self, given: &str) -> Result<(), DriverError> {
        if given.chars().any(char::is_control) {
            return Err(refused("a URL with control characters"));
        }
        match Url::parse(given) {
            Ok(url) => self.admits_url(&url),
            Err(ParseError::RelativeUrlWithoutBase) => Ok(()),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Whether files of this computer may be opened at all.
    ///
    /// # Errors
    /// [`DriverError::Invalid`] that says why not.
    pub fn admits_files(&self) -> Result<(), DriverError> {
        self.admits_scheme("file")
    }

    /// Where a file or a folder really lies, when that is where files have to lie: nothing that is hidden
    /// there, as the secrets and the history of a project are.
    pub fn held(&self, file: &Path) -> Option<PathBuf> {
        let (folder, file) = (self.folder.canonicalize().ok()?, file.canonicalize().ok()?);
        let mut below = file.strip_prefix(&folder).ok()?.components();
        let is_hidden = below.any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
        (!is_hidden).then_some(file)
    }

    fn admits_url(&self, url: &Url) -> Result<(), DriverError> {
        match url.scheme() {
            "about" if url.path() == "blank" => Ok(()),
            "file" => {
                self.admits_files()?;
                let is_held = url
                    .to_file_path()
                    .is_ok_and(|file| self.held(&file).is_some());
                is_held
                    .then_some(())
                    .ok_or_else(|| refused("files outside the project"))
            }
            scheme => self.admits_scheme(scheme),
        }
    }

    fn admits_scheme(&self, scheme: &str) -> Result<(), DriverError> {
        if OPEN_TO_ALL.contains(&scheme) || self.schemes.contains(scheme) {
            return Ok(());
        }
        let own = self.schemes.iter().map(String::as_str);
        let known: Vec<_> = OPEN_TO_ALL.into_iter().chain(own).collect();
        Err(DriverError::Invalid(format!(
            "agents may not open `{scheme}:` addresses, only about:blank and {}; `agents.schemes` in \
             the configuration allows more",
            known.join(", ")
        )))
    }
}

fn refused(what: &str) -> DriverError {
    DriverError::Invalid(format!("agents may not open {what}"))
}

fn unreadable(error: ParseError) -> DriverError {
    refused(&format!("an invalid URL: {error}"))
}

#[cfg(test)]
mod tests;
