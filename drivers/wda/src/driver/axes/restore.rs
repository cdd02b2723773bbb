//! Putting back what axes changed.

use packtrain_drivers::{CommandContext, DriverError, PutBack, SavedSetting};
use tokio::time::Instant;

use super::setting::{Appliance, Setting};
use super::{EFFECT_POLL, EFFECT_TIMEOUT};
use crate::access::DeviceAccess;
use crate::agent::Agent;

/// A device whose settings are put back.
pub(crate) struct Restoring<'d> {
    appliance: Appliance<'d>,
    ctx: &'d CommandContext,
}

impl<'d> Restoring<'d> {
    pub(crate) const fn new(
        agent: &'d mut Agent,
        access: &'d DeviceAccess,
        ctx: &'d CommandContext,
    ) -> Self {
        let appliance = Appliance::new(agent, access);
        Self { appliance, ctx }
    }
}

impl PutBack for Restoring<'_> {
    async fn put_back(&mut self, saved: &SavedSetting) -> Result<(), String> {
        put(saved, &mut self.appliance, self.ctx).await
    }
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
