//! Installing and removing apps.

use std::path::Path;

use bytes::Bytes;
use packtrain_drivers::DriverError;
use tokio::io::AsyncReadExt as _;
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};
use crate::wire::shell::quote;
use crate::wire::{WireError, within};

/// Bytes of a file that are read at once.
const CHUNK: usize = 256 * 1024;
/// The longest answer to an installation.
const MAX_ANSWER: usize = 64 * 1024;
/// Where an APK lies on devices that cannot take it as a stream.
const STAGED: &str = "/data/local/tmp/packtrain.apk";

impl AndroidDevice {
    /// Installs an APK from this computer over whatever version is there; test-only ones too.
    pub(super) async fn install(&self, path: &Path, deadline: Instant) -> Result<()> {
        let shown = path.display();
        let invalid = |reason: String| {
            let message = format!("install {shown}: {reason}");
            crate::command_error::CommandError::from(DriverError::Invalid(message))
        };
        if !is_apk(path) {
            return Err(invalid("only an .apk can be installed".to_owned()));
        }
        let file = tokio::fs::File::open(path)
            .await
            .map_err(|error| invalid(error.to_string()))?;
        let size = file
            .metadata()
            .await
            .map_err(|error| invalid(error.to_string()))?
            .len();
        let abilities = self.phone.abilities(deadline).await?;
        let answer = if abilities.cmd {
            self.stream_apk(file, size, deadline).await?
        } else {
            self.stage_apk(path, deadline).await?
        };
        match answer.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some("Success") => Ok(()),
            other => {
                let line = answer
                    .lines()
                    .find(|line| line.contains("Failure"))
                    .or(other)
                    .unwrap_or("the device gave no answer");
                Err(unmet(format!(
                    "install {shown}: {}",
                    explained(line.trim())
                )))
            }
        }
    }

    /// Sends the file to the package manager itself: nothing is stored in between.
    async fn stream_apk(
        &self,
        mut file: tokio::fs::File,
        size: u64,
        deadline: Instant,
    ) -> Result<String> {
        let doing = "the installation";
        let service = format!("exec:cmd package install -r -t -S {size}");
        let mut stream = self.phone.open(&service, doing, deadline).await?;
        let work = async {
            let mut chunk = vec![0; CHUNK];
            loop {
                let read = file.read(&mut chunk).await;
                let read = read.map_err(|error| WireError::File {
                    path: "the package".to_owned(),
                    reason: error.to_string(),
                })?;
                let Some(bytes) = chunk.get(..read).filter(|bytes| !bytes.is_empty()) else {
                    break;
                };
                // A manager that has seen enough hangs up; its answer says why.
                if stream
                    .write_all(Bytes::copy_from_slice(bytes))
                    .await
                    .is_err()
                {
                    break;
                }
            }
            let answer = stream.read_to_end(MAX_ANSWER).await?;
            if answer.is_empty() {
                return Err(stream.lost());
            }
            Ok(String::from_utf8_lossy(&answer).into_owned())
        };
        Ok(within(deadline, doing, work).await?)
    }

    async fn stage_apk(&self, path: &Path, deadline: Instant) -> Result<String> {
        let open = || tokio::fs::File::open(path);
        self.phone.push(STAGED, 0o644, open, deadline).await?;
        let command = format!("pm install -r -t {STAGED}; rm -f {STAGED}");
        Ok(self.shell(&command, deadline).await?.said())
    }

    /// Removes an app.
    pub(super) async fn uninstall(&self, id: &str, deadline: Instant) -> Result<()> {
        let command = format!("pm uninstall {}", quote(id));
        let output = self.shell_once(&command, deadline).await?;
        if output.out().lines().any(|line| line.trim() == "Success") {
            return Ok(());
        }
        if !self.is_installed(id, deadline).await? {
            return Err(self.not_installed(id, deadline).await);
        }
        Err(unmet(format!("uninstall {id}: {}", reason(&output))))
    }
}

fn is_apk(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("apk"))
}

/// A failure and what to do about it, where that is known.
fn explained(failure: &str) -> String {
    let advice = [
        ("INSUFFICIENT_STORAGE", "free some of the device's storage"),
        (
            "UPDATE_INCOMPATIBLE",
            "another build with another signature is installed; uninstall it first",
        ),
        (
            "VERSION_DOWNGRADE",
            "a newer version is installed; uninstall it first",
        ),
        (
            "USER_RESTRICTED",
            "turn on \"Install via USB\" in the device's developer options",
        ),
        (
            "NO_MATCHING_ABIS",
            "the app has no native code for this device's processor",
        ),
        ("OLDER_SDK", "the app needs a newer Android"),
    ]
    .into_iter()
    .find(|(code, _)| failure.contains(code));
    match advice {
        Some((_, advice)) => format!("{failure}; {advice}"),
        None => failure.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_comes_with_advice_where_there_is_some() {
        let full = explained("Failure [INSTALL_FAILED_INSUFFICIENT_STORAGE]");
        assert!(
            full.ends_with("free some of the device's storage"),
            "{full}"
        );
        assert_eq!(
            explained("Failure [SOMETHING_NEW]"),
            "Failure [SOMETHING_NEW]"
        );
        assert!(is_apk(Path::new("/a/b.APK")));
        assert!(!is_apk(Path::new("/a/b.aab")));
    }
}
