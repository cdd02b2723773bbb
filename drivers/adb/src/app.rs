//! Apps: starting, stopping, installing, and what they may do.

mod address;
mod grant;
mod install;
mod launch;
mod list;

use std::time::Duration;

use packtrain_drivers::{AppCommand, DriverError, Observation, Reach};
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};
use crate::session::Restore;
use crate::wire::shell::quote;

/// How long a stopped app's process may take to be gone.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to look for it.
const STOP_POLL: Duration = Duration::from_millis(100);

/// What an app command needs beside the device.
pub(crate) struct AppContext<'a> {
    /// Where relative addresses lead.
    pub(crate) base_url: Option<&'a str>,
    /// Which addresses may be opened.
    pub(crate) reach: Option<&'a Reach>,
    /// What has to be undone at the end of the session.
    pub(crate) restore: &'a mut Restore,
}

impl AndroidDevice {
    /// Carries out an app command.
    pub(crate) async fn app(
        &self,
        command: AppCommand,
        ctx: AppContext<'_>,
        deadline: Instant,
    ) -> Result<Observation> {
        let mut notes = Vec::new();
        match command {
            AppCommand::Launch { id, mode } => {
                notes = self.launch(package(&id)?, mode, deadline).await?;
            }
            AppCommand::Stop(id) => self.stop_app(package(&id)?, deadline).await?,
            AppCommand::Clear(id) => self.clear_app(package(&id)?, deadline).await?,
            AppCommand::Install(path) => self.install(&path, deadline).await?,
            AppCommand::Uninstall(id) => self.uninstall(package(&id)?, deadline).await?,
            AppCommand::List { system } => {
                return Ok(Observation::Json(self.list_apps(system, deadline).await?));
            }
            AppCommand::Foreground => {
                return Ok(Observation::Json(self.foreground(deadline).await?));
            }
            AppCommand::OpenUrl(url) => self.open_url(&url, &ctx, deadline).await?,
            AppCommand::Grant { id, permissions } => {
                self.grant(package(&id)?, &permissions, deadline).await?;
            }
            AppCommand::Network { connected } => {
                self.network(connected, ctx.restore, deadline).await?;
            }
            AppCommand::Rotate { landscape } => {
                notes = self.rotate(landscape, ctx.restore, deadline).await?;
            }
            AppCommand::Alert => return Ok(Observation::Json(self.alert(deadline).await?)),
            AppCommand::AnswerAlert { accept, button } => {
                self.answer_alert(accept, button.as_deref(), deadline)
                    .await?;
            }
        }
        Ok(Observation::Done(packtrain_drivers::ActionReport {
            located: None,
            notes,
        }))
    }

    async fn stop_app(&self, id: &str, deadline: Instant) -> Result<()> {
        let limit = deadline.min(Instant::now() + STOP_TIMEOUT);
        // The second command has the last word: the first succeeds whatever it is given.
        let stop = format!("am force-stop {id} && ! pidof {id}");
        let mut output = self.shell(&stop, deadline).await?;
        loop {
            if output.exit == 0 {
                return Ok(());
            }
            let Some(pid) = pid_in(&output.out()).map(str::to_owned) else {
                return Err(unmet(format!("stop {id}: {}", reason(&output))));
            };
            let there = || unmet(format!("stop {id}: process {pid} is still there"));
            // Android has killed it, and the kernel takes it down.
            if Instant::now() + STOP_POLL >= limit {
                return Err(there());
            }
            tokio::time::sleep(STOP_POLL).await;
            output = match self.shell(&format!("! pidof {id}"), deadline).await {
                // The last look was cut short; what the one before saw says more.
                Err(_) if Instant::now() >= deadline => return Err(there()),
                output => output?,
            };
        }
    }

    pub(crate) async fn clear_app(&self, id: &str, deadline: Instant) -> Result<()> {
        let output = self.shell(&format!("pm clear {id}"), deadline).await?;
        if output.exit == 0 && output.out().trim() == "Success" {
            return Ok(());
        }
        if !self.is_installed(id, deadline).await? {
            return Err(self.not_installed(id, deadline).await);
        }
        Err(unmet(format!(
            "clear the data of {id}: {}",
            reason(&output)
        )))
    }

    pub(crate) async fn is_installed(&self, id: &str, deadline: Instant) -> Result<bool> {
        let output = self.shell(&format!("pm path {id}"), deadline).await?;
        Ok(output.out().contains("package:"))
    }

    async fn foreground(&self, deadline: Instant) -> Result<serde_json::Value> {
        let mut focus = self.focus(deadline).await?;
        let limit = deadline.min(Instant::now() + launch::LAUNCH_TIMEOUT);
        while focus.is_none() && Instant::now() + launch::LAUNCH_POLL < limit {
            tokio::time::sleep(launch::LAUNCH_POLL).await;
            focus = self.focus(deadline).await?;
        }
        focus
            .map(|focus| focus.to_json())
            .ok_or_else(|| unmet("no app is in front"))
    }

    async fn open_url(&self, url: &str, ctx: &AppContext<'_>, deadline: Instant) -> Result<()> {
        let url = Reach::confine(ctx.reach, url, || address::absolute(url, ctx.base_url))?;
        let command = format!(
            "am start -W -a android.intent.action.VIEW -d {}",
            quote(&url)
        );
        let output = self.shell_once(&command, deadline).await?;
        let said = output.said();
        // `am` says what failed and may exit with 0 anyway.
        if output.exit != 0 || said.contains("Error:") {
            return Err(unmet(format!("open {url}: {}", reason(&output))));
        }
        Ok(())
    }
}

/// What `pidof` printed, if that is all there is.
fn pid_in(out: &str) -> Option<&str> {
    let pid = out.trim();
    let is_pid = !pid.is_empty() && pid.chars().all(|c| c.is_ascii_digit() || c == ' ');
    is_pid.then_some(pid)
}

/// A package name. Nothing else gets into a command line unquoted.
fn package(id: &str) -> Result<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    if !id.is_empty() && id.len() < 256 && id.chars().all(is_name) {
        return Ok(id);
    }
    Err(DriverError::Invalid(format!("invalid package name `{id}`")).into())
}
