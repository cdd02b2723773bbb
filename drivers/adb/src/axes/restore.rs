//! Putting back what axes changed.

use packtrain_drivers::{PutBack, SavedSetting};
use tokio::time::Instant;

use super::setting::Setting;
use super::{EFFECT_POLL, EFFECT_TIMEOUT};
use crate::device::reason;
use crate::phone::{Phone, Repeat};
use crate::wire::WireError;

/// A phone whose settings are put back.
pub(crate) struct Restoring<'p> {
    pub(crate) phone: &'p Phone,
    pub(crate) deadline: Instant,
}

impl PutBack for Restoring<'_> {
    async fn put_back(&mut self, saved: &SavedSetting) -> Result<(), String> {
        put(saved, self.phone, self.deadline).await
    }
}

/// Puts one setting back and looks until it is.
async fn put(saved: &SavedSetting, phone: &Phone, deadline: Instant) -> Result<(), String> {
    let setting = Setting::named(&saved.setting)
        .ok_or_else(|| "another version of Packtrain changed it".to_owned())?;
    let said = |error: WireError| error.to_string();
    let was = saved.was.as_deref();
    let write = setting.writes(was);
    let written = phone.shell(&write, Repeat::Freely, deadline).await;
    let written = written.map_err(said)?;
    let limit = deadline.min(Instant::now() + EFFECT_TIMEOUT);
    loop {
        let read = phone
            .shell(&setting.reads(), Repeat::Freely, deadline)
            .await;
        let read = read.map_err(said)?;
        let reading = setting.read(&read.out());
        let is = reading.as_ref().map(|reading| reading.value.as_deref());
        if is == Some(was) {
            return Ok(());
        }
        if written.exit != 0 {
            return Err(reason(&written));
        }
        if Instant::now() + EFFECT_POLL >= limit {
            return Err(match is {
                Some(is) => format!("it is still `{}`", is.unwrap_or("null")),
                None => reason(&read),
            });
        }
        tokio::time::sleep(EFFECT_POLL).await;
    }
}
