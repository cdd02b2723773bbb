//! Simulators, through Apple's `xcrun simctl`.
//!
//! Its answers are those of a program on this computer; still they are bounded in size and time,
//! for a simulator that hangs makes it hang.

mod list;

use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_program::output;
use tokio::process::Command;

pub(crate) use self::list::Simulator;
use crate::lockdown::{self, DeviceApp};
use crate::plist;

/// How long most commands may take.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a simulator may take to boot, or an app to be installed.
const INSTALL_TIMEOUT: Duration = Duration::from_secs(300);
/// Longest output: a list with every runtime has some hundred KB.
const MAX_OUTPUT: usize = 32 * 1024 * 1024;

/// Why `simctl` failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("xcrun simctl {command}: {message}")]
pub(crate) struct SimctlError {
    /// The first word.
    command: String,
    /// Its last words.
    pub(crate) message: String,
}

/// `xcrun simctl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Simctl {
    xcrun: PathBuf,
}

impl Simctl {
    pub(crate) const fn new(xcrun: PathBuf) -> Self {
        Self { xcrun }
    }

    /// The iPhones and iPads among the simulators.
    pub(crate) async fn list(&self) -> Result<Vec<Simulator>, SimctlError> {
        let json = self.run(&["list", "-j"], &[], COMMAND_TIMEOUT).await?;
        list::read(&json).map_err(|error| failed("list", &error))
    }

    /// Boots a simulator and waits until it is up; no error when it is.
    pub(crate) async fn boot(&self, udid: &str) -> Result<(), SimctlError> {
        // It boots what is shut down, and waits in either case.
        self.run(&["bootstatus", udid, "-b"], &[], INSTALL_TIMEOUT)
            .await
            .map(drop)
    }

    pub(crate) async fn install(&self, udid: &str, app: &Path) -> Result<(), SimctlError> {
        let app = app.to_string_lossy();
        self.run(&["install", udid, &app], &[], INSTALL_TIMEOUT)
            .await
            .map(drop)
    }

    pub(crate) async fn uninstall(&self, udid: &str, id: &str) -> Result<(), SimctlError> {
        self.run(&["uninstall", udid, id], &[], COMMAND_TIMEOUT)
            .await
            .map(drop)
    }

    /// Starts an app afresh, with these variables in its environment; answers its process on this
    /// computer, where `simctl` tells it: `com.example.app: 4711`.
    pub(crate) async fn launch(
        &self,
        udid: &str,
        id: &str,
        environment: &[(&str, String)],
    ) -> Result<Option<u32>, SimctlError> {
        let arguments = ["launch", "--terminate-running-process", udid, id];
        let printed = self.run(&arguments, environment, COMMAND_TIMEOUT).await?;
        let printed = String::from_utf8_lossy(&printed);
        let last = printed.trim().rsplit(':').next().unwrap_or_default();
        Ok(last.trim().parse().ok())
    }

    pub(crate) async fn open_url(&self, udid: &str, url: &str) -> Result<(), SimctlError> {
        self.run(&["openurl", udid, url], &[], COMMAND_TIMEOUT)
            .await
            .map(drop)
    }

    /// Grants a permission, by `simctl`'s name for it.
    pub(crate) async fn grant(
        &self,
        udid: &str,
        service: &str,
        id: &str,
    ) -> Result<(), SimctlError> {
        self.run(
            &["privacy", udid, "grant", service, id],
            &[],
            COMMAND_TIMEOUT,
        )
        .await
        .map(drop)
    }

    /// The apps on a simulator, in the order of their ids.
    pub(crate) async fn apps(&self, udid: &str) -> Result<Vec<DeviceApp>, SimctlError> {
        let printed = self.run(&["listapps", udid], &[], COMMAND_TIMEOUT).await?;
        let all = plist::ascii_dictionary(&printed)
            .map_err(|error| failed("listapps", &error.to_string()))?;
        let mut apps: Vec<_> = all
            .iter()
            .filter_map(|(id, facts)| Some(lockdown::app(id, facts.as_dictionary()?)))
            .collect();
        apps.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(apps)
    }

    /// Reinstalls an app from what is installed, so that its data is gone.
    pub(crate) async fn reinstall(&self, udid: &str, id: &str) -> Result<(), SimctlError> {
        // Uninstalling deletes the folder, so the app is put aside first.
        let aside = tempfile::tempdir();
        let aside = aside.map_err(|error| failed("get_app_container", &error.to_string()))?;
        let copy = self.copy(udid, id, aside.path()).await?;
        self.uninstall(udid, id).await?;
        self.install(udid, &copy).await
    }

    /// Where an app is installed.
    pub(crate) async fn container(&self, udid: &str, id: &str) -> Result<PathBuf, SimctlError> {
        let arguments = ["get_app_container", udid, id, "app"];
        let printed = self.run(&arguments, &[], COMMAND_TIMEOUT).await?;
        let printed = String::from_utf8_lossy(&printed);
        let installed = Path::new(printed.trim());
        let is_folder = installed.is_absolute() && installed.file_name().is_some();
        is_folder
            .then(|| installed.to_owned())
            .ok_or_else(|| failed("get_app_container", "it names no folder"))
    }

    /// Copies an installed app into a folder; answers where it is there.
    pub(crate) async fn copy(
        &self,
        udid: &str,
        id: &str,
        into: &Path,
    ) -> Result<PathBuf, SimctlError> {
        let installed = self.container(udid, id).await?;
        let copy = into.join(installed.file_name().unwrap_or_default());
        let mut copying = Command::new("/bin/cp");
        copying.arg("-R").arg(&installed).arg(&copy);
        let copied = run_to_end(copying, INSTALL_TIMEOUT).await;
        copied.map_err(|message| failed("get_app_container", &message))?;
        Ok(copy)
    }

    /// What an option of a simulator's looks is, after it was set to `value` if there is one.
    pub(crate) async fn ui(
        &self,
        udid: &str,
        option: &str,
        value: Option<&str>,
    ) -> Result<String, SimctlError> {
        let arguments = ["ui", udid, option].into_iter().chain(value);
        let arguments: Vec<&str> = arguments.collect();
        let printed = self.run(&arguments, &[], COMMAND_TIMEOUT).await?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    /// Runs `simctl`; what it starts has these variables.
    async fn run(
        &self,
        arguments: &[&str],
        environment: &[(&str, String)],
        limit: Duration,
    ) -> Result<Vec<u8>, SimctlError> {
        let mut command = Command::new(&self.xcrun);
        command.arg("simctl").args(arguments);
        for (name, value) in environment {
            command.env(format!("SIMCTL_CHILD_{name}"), value);
        }
        run_to_end(command, limit)
            .await
            .map_err(|message| failed(arguments.first().copied().unwrap_or_default(), &message))
    }
}

fn failed(command: &str, message: &str) -> SimctlError {
    SimctlError {
        command: command.to_owned(),
        message: message.to_owned(),
    }
}

/// What a program prints, when it ends well and in time.
async fn run_to_end(command: Command, limit: Duration) -> Result<Vec<u8>, String> {
    let output = tokio::time::timeout(limit, output(command, MAX_OUTPUT))
        .await
        .map_err(|_| format!("did not finish within {} s", limit.as_secs()))?
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().rfind(|line| !line.trim().is_empty());
    Err(said.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned()))
}
