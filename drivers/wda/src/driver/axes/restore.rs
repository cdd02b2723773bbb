//! Putting back what axes changed.

use std::time::Instant;

use packtrain_drivers::{CommandContext, DriverError, RestoreFile, SavedSetting};

use super::setting::{Appliance, Setting};
use super::{EFFECT_POLL, EFFECT_TIMEOUT};
use crate::access::DeviceAccess;
use crate::agent::Agent;

/// What a driver has to put back.
#[derive(Debug)]
pub(crate) struct AxisRestore {
    file: Option<RestoreFile>,
    settings: Vec<SavedSetting>,
}

impl AxisRestore {
    /// Nothing yet; what comes is kept in that file.
    pub(crate) const fn new(file: Option<RestoreFile>) -> Self {
        Self {
            file,
            settings: Vec::new(),
        }
    }

    /// Writes down what settings are before they are changed. Without a file that says so, none
    /// may be.
    pub(super) async fn keep(&mut self, settings: Vec<SavedSetting>) -> Result<(), String> {
        self.settings.clone_from(&settings);
        let kept = RestoreFile::keep(self.file.as_ref(), &settings).await;
        if kept.is_err() {
            self.settings.clear();
        }
        kept
    }

    /// Puts back what this driver changed.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when something stays changed.
    pub(crate) async fn put_back(
        &mut self,
        agent: &mut Agent,
        access: &DeviceAccess,
        ctx: &CommandContext,
    ) -> Result<(), DriverError> {
        if let Some(file) = self.file.as_ref().filter(|_| !self.settings.is_empty()) {
            restore(file, &self.settings, "of this session", agent, access, ctx).await?;
            self.settings.clear();
        }
        Ok(())
    }

    /// Puts back what the last owner of the device left changed.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when something stays changed, or its owner still runs.
    pub(crate) async fn recover(
        &self,
        agent: &mut Agent,
        access: &DeviceAccess,
        ctx: &CommandContext,
    ) -> Result<(), DriverError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let left = file.read()?;
        if left.is_empty() {
            return Ok(());
        }
        restore(file, &left, "of the run before", agent, access, ctx).await
    }
}

/// Puts settings back, the last first, whatever became of the others.
async fn restore(
    file: &RestoreFile,
    settings: &[SavedSetting],
    whose: &str,
    agent: &mut Agent,
    access: &DeviceAccess,
    ctx: &CommandContext,
) -> Result<(), DriverError> {
    let mut why = Vec::new();
    for saved in settings.iter().rev() {
        let put = put(saved, &mut Appliance::new(agent, access), ctx).await;
        if let Err(reason) = put {
            tracing::warn!(
                setting = saved.setting,
                reason,
                "a setting was not put back"
            );
            why.push(format!("{}: {reason}", saved.axis));
        }
    }
    file.settle(whose, settings, why, agent.events())
}

/// Puts one setting back and looks until it is.
async fn put(
    saved: &SavedSetting,
    appliance: &mut Appliance<'_>,
    ctx: &CommandContext,
) -> Result<(), String> {
    let (Some(setting), Some(was)) = (Setting::named(&saved.setting), &saved.was) else {
        return Err("another version of Packtrain changed it".to_owned());
    };
    let said = |error: DriverError| error.to_string();
    appliance.write(setting, was, ctx).await.map_err(said)??;
    let limit = Instant::now() + ctx.remaining_up_to(EFFECT_TIMEOUT);
    loop {
        let is = appliance.read(setting, ctx).await.map_err(said)??;
        if is == *was {
            return Ok(());
        }
        if Instant::now() + EFFECT_POLL >= limit {
            return Err(format!("it is still `{is}`"));
        }
        tokio::time::sleep(EFFECT_POLL).await;
    }
}
