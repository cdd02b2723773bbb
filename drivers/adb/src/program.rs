//! The program `adb`: finding it, and having it start a server. Commands never go through it.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use packtrain_program::Program;
use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::error::AdbError;

/// How long a server may take to start.
const SERVER_START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// How much of what it says is read.
const MAX_WORDS: u64 = 16 * 1024;

/// The program `adb`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdbProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Variables it is started with, beside this process's own.
    pub environment: Vec<(OsString, OsString)>,
}

/// Looks for `adb` in folders, first match wins.
pub fn find_adb(folders: &[PathBuf]) -> Option<PathBuf> {
    let name = format!("adb{}", std::env::consts::EXE_SUFFIX);
    let mut programs = folders.iter().map(|folder| folder.join(&name));
    programs.find(|path| path.is_file())
}

impl AdbProgram {
    /// The number behind `1.0.` in `Android Debug Bridge version 1.0.41`: it has to be that of the
    /// server, or this program ends the server as soon as someone runs it.
    ///
    /// # Errors
    /// [`AdbError::Program`].
    pub async fn version(&self) -> Result<u32, AdbError> {
        let output = self.run(&["version"], VERSION_TIMEOUT).await?;
        read_version(&output)
            .ok_or_else(|| self.failed(format!("`adb version` printed {output:?}")))
    }

    /// Starts a server on a port of this computer; one that runs already is left alone.
    ///
    /// # Errors
    /// [`AdbError::Program`] with adb's own words.
    pub async fn start_server(&self, address: SocketAddr) -> Result<(), AdbError> {
        let port = address.port().to_string();
        self.run(&["-P", &port, "start-server"], SERVER_START_TIMEOUT)
            .await?;
        Ok(())
    }

    async fn run(&self, arguments: &[&str], limit: Duration) -> Result<String, AdbError> {
        // What the server inherits stays open for as long as it lives, so that is a file and not
        // a pipe whose end is waited for.
        let words = tempfile::tempfile().map_err(|error| self.failed(error.to_string()))?;
        let also = || {
            words
                .try_clone()
                .map_err(|error| self.failed(error.to_string()))
        };
        let path =
            std::path::absolute(&self.path).map_err(|error| self.failed(error.to_string()))?;
        let mut command = Command::new(path);
        command
            .args(arguments)
            // A server stays, and would keep the folder that it was started in.
            .current_dir("/")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(also()?)
            .stderr(also()?);
        // A server that it has started leads a session of its own by then.
        let mut child = Program::spawn(command).map_err(|error| self.failed(error.to_string()))?;
        let status = tokio::time::timeout(limit, child.wait())
            .await
            .map_err(|_| self.failed(format!("it did not end within {limit:?}")))?
            .map_err(|error| self.failed(error.to_string()))?;
        let said = read_from_start(words)
            .await
            .map_err(|error| self.failed(error.to_string()))?;
        if status.success() {
            return Ok(said);
        }
        Err(self.failed(said.trim().to_owned()))
    }

    fn failed(&self, reason: String) -> AdbError {
        AdbError::Program {
            path: self.path.clone(),
            reason,
        }
    }
}

async fn read_from_start(file: std::fs::File) -> std::io::Result<String> {
    use tokio::io::AsyncSeekExt as _;
    let mut file = tokio::fs::File::from_std(file);
    file.rewind().await?;
    let mut said = Vec::new();
    file.take(MAX_WORDS).read_to_end(&mut said).await?;
    Ok(String::from_utf8_lossy(&said).into_owned())
}

fn read_version(output: &str) -> Option<u32> {
    let (_, version) = output.split_once("version 1.0.")?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Where Android's own tools keep `adb`, given the folder of an SDK.
pub fn in_sdk(sdk: &Path) -> PathBuf {
    sdk.join("platform-tools")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_number_the_server_compares() {
        let output = "Android Debug Bridge version 1.0.41\nVersion 29.0.6-debian\n";
        assert_eq!(read_version(output), Some(41));
        assert_eq!(read_version("command not found"), None);
    }

    #[test]
    fn the_first_folder_with_an_adb_wins() {
        let folder = tempfile::tempdir().unwrap();
        let (empty, full) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::create_dir_all(&empty).unwrap();
        std::fs::create_dir_all(&full).unwrap();
        let name = format!("adb{}", std::env::consts::EXE_SUFFIX);
        std::fs::write(full.join(&name), "").unwrap();
        assert_eq!(find_adb(&[empty, full.clone()]), Some(full.join(name)));
        assert_eq!(find_adb(&[]), None);
    }
}
