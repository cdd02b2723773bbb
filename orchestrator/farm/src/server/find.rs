//! nats-server on this computer, and its version.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_program::output;
use tokio::process::Command;

use super::error::ServerError;
use super::install;
use super::version::{OLDEST, Version};

/// The program's name.
const PROGRAM: &str = "nats-server";
/// How long it may take to tell its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of its answer that are read.
const MAX_ANSWER: usize = 1024;

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The program that is configured: it, and no other.
    pub setting: Option<PathBuf>,
    /// The search path, as `PATH` has it.
    pub path: Option<OsString>,
    /// Packtrain's own folder for this user.
    pub home: Option<PathBuf>,
}

/// A nats-server that will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NatsServer {
    /// The program.
    pub program: PathBuf,
    /// Its version.
    pub version: Version,
}

/// The first nats-server that will do: the configured one, those on the search path, the installed one.
///
/// # Errors
/// [`ServerError::Missing`], [`NotThere`](ServerError::NotThere), or, when none will do, why the first
/// of them does not.
pub async fn find(places: &Places) -> Result<NatsServer, ServerError> {
    if let Some(program) = &places.setting {
        let program = located(program, places).ok_or(ServerError::NotThere(program.clone()))?;
        return checked(program).await;
    }
    let mut first = None;
    let installed = places.home.as_deref().and_then(install::installed);
    for program in on_path(Path::new(PROGRAM), places)
        .into_iter()
        .chain(installed)
    {
        match checked(program).await {
            Ok(found) => return Ok(found),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or(ServerError::Missing))
}

async fn checked(program: PathBuf) -> Result<NatsServer, ServerError> {
    let version = version_of(&program)
        .await
        .ok_or_else(|| ServerError::Unknown(program.clone()))?;
    if version < OLDEST {
        let place = program.display().to_string();
        return Err(ServerError::TooOld { version, place });
    }
    Ok(NatsServer { program, version })
}

/// What `nats-server --version` says; `None` when that is not a version.
pub async fn version_of(program: &Path) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version");
    let told = tokio::time::timeout(VERSION_TIMEOUT, output(command, MAX_ANSWER)).await;
    let told = told.ok()?.ok()?;
    // `nats-server: v2.15.1`
    let words = String::from_utf8_lossy(&told.stdout).into_owned();
    words.split_ascii_whitespace().last()?.parse().ok()
}

/// A program without a slash is looked for on the search path.
fn located(program: &Path, places: &Places) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_owned()).filter(|program| program.is_file());
    }
    on_path(program, places).into_iter().next()
}

fn on_path(program: &Path, places: &Places) -> Vec<PathBuf> {
    let folders = places.path.iter().flat_map(std::env::split_paths);
    let programs = folders.map(|folder| folder.join(program));
    programs.filter(|program| program.is_file()).collect()
}
