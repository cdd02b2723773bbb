//! A configured browser program: whether it is one, and of which engine. Playwright
//! would wait half a minute for any other program to answer as a browser does.

use std::path::Path;
use std::time::Duration;

use packtrain_program::output;
use tokio::process::Command;

use crate::configuration::Engine;
use crate::host::HostError;

/// How long a browser may take to tell its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of what it says that are kept.
const MAX_WORDS: usize = 4096;
/// What browsers with Chromium in them call themselves.
const CHROMIUMS: [&str; 6] = ["Chrom", "Edge", "Brave", "Vivaldi", "Opera", "Yandex"];
const FIREFOXES: [&str; 2] = ["Firefox", "Mozilla"];

/// # Errors
/// [`HostError::NotTheBrowser`] when it is not there, no browser, or one of another engine.
pub(crate) async fn check(program: &Path, engine: Engine) -> Result<(), HostError> {
    let wrong = |reason: String| HostError::NotTheBrowser {
        program: program.display().to_string(),
        reason,
    };
    let mut command = Command::new(program);
    command.arg("--version");
    let said = match tokio::time::timeout(VERSION_TIMEOUT, output(command, MAX_WORDS)).await {
        Ok(Ok(output)) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(Err(error)) => return Err(wrong(error.to_string())),
        Err(_) => {
            let seconds = VERSION_TIMEOUT.as_secs();
            return Err(wrong(format!("no version within {seconds} s")));
        }
    };
    let is = |names: &[&str]| names.iter().any(|name| said.contains(name));
    let found = if is(&FIREFOXES) {
        Engine::Firefox
    } else if is(&CHROMIUMS) {
        Engine::Chromium
    } else {
        let line = said.lines().next().unwrap_or_default();
        let line: String = line.chars().take(100).collect();
        return Err(wrong(format!(
            "not a browser: `--version` answers {line:?}"
        )));
    };
    if found == engine {
        return Ok(());
    }
    Err(wrong(format!(
        "it is {}, and the device has `engine: {}`",
        found.name(),
        engine.name().to_lowercase()
    )))
}
