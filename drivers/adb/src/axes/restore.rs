//! Putting back what axes changed: at the end of a session, or when a device is connected whose
//! last owner did not get that far.

use std::time::Instant;

use packtrain_drivers::{DriverError, EventSink, RestoreFile, SavedSetting, Size};

use super::setting::Setting;
use super::{EFFECT_POLL, EFFECT_TIMEOUT};
use crate::device::reason;
use crate::phone::{Phone, Repeat};
use crate::wire::WireError;

/// What a driver has to put back.
#[derive(Debug)]
pub(crate) struct AxisRestore {
    file: Option<RestoreFile>,
    settings: Vec<SavedSetting>,
    /// The screen before its size was changed.
    pub(super) screen: Option<Size>,
}

impl AxisRestore {
    /// Nothing yet; what comes is kept in that file.
    pub(crate) const fn new(file: Option<RestoreFile>) -> Self {
        Self {
            file,
            settings: Vec::new(),
            screen: None,
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

    /// Puts back what this driver changed; answers the screen's size before, when that was
    /// changed.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when something stays changed.
    pub(crate) async fn put_back(
        &mut self,
        phone: &Phone,
        events: &EventSink,
        deadline: Instant,
    ) -> Result<Option<Size>, DriverError> {
        if let Some(file) = self.file.as_ref().filter(|_| !self.settings.is_empty()) {
            restore(
                file,
                &self.settings,
                "of this session",
                phone,
                events,
                deadline,
            )
            .await?;
            self.settings.clear();
        }
        Ok(self.screen.take())
    }

    /// Puts back what the last owner of the device left changed.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when something stays changed, or its owner still runs.
    pub(crate) async fn recover(
        &self,
        phone: &Phone,
        events: &EventSink,
        deadline: Instant,
    ) -> Result<(), DriverError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let left = file.read()?;
        if left.is_empty() {
            return Ok(());
        }
        restore(file, &left, "of the run before", phone, events, deadline).await
    }
}

/// Puts settings back, the last first, whatever became of the others.
async fn restore(
    file: &RestoreFile,
    settings: &[SavedSetting],
    whose: &str,
    phone: &Phone,
    events: &EventSink,
    deadline: Instant,
) -> Result<(), DriverError> {
    let mut why = Vec::new();
    for saved in settings.iter().rev() {
        if let Err(reason) = put(saved, phone, deadline).await {
            tracing::warn!(
                setting = saved.setting,
                reason,
                "a setting was not put back"
            );
            why.push(format!("{}: {reason}", saved.axis));
        }
    }
    file.settle(whose, settings, why, events)
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
