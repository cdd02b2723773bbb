//! What settings of a device were before a matrix changed them, in a file: it outlives this
//! process, so that the next process to connect to the device can restore them.
//!
//! Knows no setting: a driver gives them names and puts them back.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::device::DeviceId;
use crate::error::DriverError;
use crate::event::{DeviceEvent, EventSink};

/// The longest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// A setting that an axis changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedSetting {
    /// The axis.
    pub axis: String,
    /// The driver's name of the setting.
    pub setting: String,
    /// What it was; `None` when it was not set.
    pub was: Option<String>,
}

/// Who holds a device whose settings are changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Owner {
    pid: u32,
    started: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    device: String,
    owner: Owner,
    /// In the order in which they were changed.
    settings: Vec<SavedSetting>,
}

/// The file of one device.
#[derive(Debug, Clone)]
pub struct RestoreFile {
    path: PathBuf,
    device: String,
    /// When the process of that number was started.
    started: fn(u32) -> Option<String>,
}

impl RestoreFile {
    /// The file of a device in that folder. `started` tells when the process of a number was
    /// started, if there is one.
    pub fn new(folder: &Path, device: &DeviceId, started: fn(u32) -> Option<String>) -> Self {
        let device = device.to_string();
        Self {
            path: folder.join(format!("{}.json", file_name(&device))),
            device,
            started,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The settings that are still to be put back; none when there is no file.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when another process, which still runs, changed them, or when the file
    /// cannot be read.
    pub fn read(&self) -> Result<Vec<SavedSetting>, DriverError> {
        let text = match self.text() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(|error| self.unreadable(&error.to_string()))?,
        };
        let record: Record =
            serde_json::from_slice(&text).map_err(|error| self.unreadable(&error.to_string()))?;
        let Owner { pid, started } = record.owner;
        let lives = started.is_some() && (self.started)(pid) == started;
        if lives && pid != std::process::id() {
            return Err(DriverError::Lost {
                cause: format!("in use by process {pid}, which has changed its settings"),
                hint: Some(format!(
                    "wait until process {pid} has ended; what the settings were is in {}",
                    self.path.display()
                )),
            });
        }
        Ok(record.settings)
    }

    fn text(&self) -> std::io::Result<Vec<u8>> {
        let file = std::fs::File::open(&self.path)?;
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_FILE), &mut text)?;
        Ok(text)
    }

    fn unreadable(&self, why: &str) -> DriverError {
        DriverError::Lost {
            cause: format!("settings of the run before could not be put back: {why}"),
            hint: Some(format!(
                "{} should record what they were; check the device's settings, then remove the file",
                self.path.display()
            )),
        }
    }

    /// Writes down what settings were. When this returns, they outlive a loss of power.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, settings: &[SavedSetting]) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let pid = std::process::id();
        let record = Record {
            device: self.device.clone(),
            owner: Owner {
                pid,
                started: (self.started)(pid),
            },
            settings: settings.to_vec(),
        };
        // Complete under another name first: a file that is there is whole.
        let draft = self.path.with_extension(format!("{pid}.tmp"));
        let mut file = std::fs::File::create(&draft)?;
        file.write_all(&serde_json::to_vec_pretty(&record)?)?;
        file.sync_all()?;
        std::fs::rename(&draft, &self.path)?;
        std::fs::File::open(folder)?.sync_all()
    }

    /// Removes the file; it is not an error when there is none.
    ///
    /// # Errors
    /// When it is there and stays.
    pub fn remove(&self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// A device whose settings are put back.
pub trait PutBack: Send {
    /// Puts one setting back; answers why it could not.
    fn put_back(&mut self, saved: &SavedSetting)
    -> impl Future<Output = Result<(), String>> + Send;
}

/// What a driver has to put back.
#[derive(Debug)]
pub struct AxisRestore {
    file: Option<RestoreFile>,
    settings: Vec<SavedSetting>,
}

impl AxisRestore {
    /// Nothing yet; what comes is kept in that file.
    pub const fn new(file: Option<RestoreFile>) -> Self {
        let settings = Vec::new();
        Self { file, settings }
    }

    /// Writes down settings before they are changed, off the async workers.
    ///
    /// # Errors
    /// Why none may be changed, for people: without a file that says what they were, none may be.
    pub async fn keep(&mut self, settings: Vec<SavedSetting>) -> Result<(), String> {
        let file =
            (self.file.clone()).ok_or("no folder is configured for saving the original values")?;
        let kept = settings.clone();
        let written = tokio::task::spawn_blocking(move || file.write(&kept)).await;
        let written = written.map_err(std::io::Error::other).and_then(|done| done);
        written.map_err(|error| format!("the original values cannot be saved: {error}"))?;
        self.settings = settings;
        Ok(())
    }

    /// Puts back what this driver changed.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when something stays changed.
    pub async fn put_back(
        &mut self,
        events: &EventSink,
        device: impl PutBack,
    ) -> Result<(), DriverError> {
        if let Some(file) = self.file.as_ref().filter(|_| !self.settings.is_empty()) {
            restore(file, &self.settings, "of this session", events, device).await?;
            self.settings.clear();
        }
        Ok(())
    }

    /// Puts back what the last owner of the device left changed.
    ///
    /// # Errors
    /// [`DriverError::Lost`] when something stays changed, or its owner still runs.
    pub async fn recover(
        &self,
        events: &EventSink,
        device: impl PutBack,
    ) -> Result<(), DriverError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let left = file.read()?;
        if left.is_empty() {
            return Ok(());
        }
        restore(file, &left, "of the run before", events, device).await
    }
}

/// Puts settings back, the last first, whatever became of the others; when all are, the file goes.
async fn restore(
    file: &RestoreFile,
    settings: &[SavedSetting],
    whose: &str,
    events: &EventSink,
    mut device: impl PutBack,
) -> Result<(), DriverError> {
    let mut why = Vec::new();
    for saved in settings.iter().rev() {
        if let Err(reason) = device.put_back(saved).await {
            why.push(format!("{}: {reason}", saved.axis));
        }
    }
    if why.is_empty()
        && let Err(error) = file.remove()
    {
        why.push(error.to_string());
    }
    if !why.is_empty() {
        let were: Vec<_> = settings.iter().map(SavedSetting::told).collect();
        return Err(DriverError::Lost {
            cause: format!("settings {whose} could not be put back: {}", why.join("; ")),
            hint: Some(format!(
                "put them back by hand and remove {}: {}",
                file.path.display(),
                were.join(", ")
            )),
        });
    }
    let axes = axes_of(settings);
    events.report(DeviceEvent::Restored { axes });
    Ok(())
}

impl SavedSetting {
    /// For people: ``uimode night was `no` ``.
    fn told(&self) -> String {
        match &self.was {
            Some(was) => format!("{} was `{was}`", self.setting),
            None => format!("{} was not set", self.setting),
        }
    }
}

/// The axes of settings, each once, in order.
fn axes_of(settings: &[SavedSetting]) -> Vec<String> {
    let mut axes: Vec<String> = Vec::new();
    for saved in settings {
        if !axes.contains(&saved.axis) {
            axes.push(saved.axis.clone());
        }
    }
    axes
}

/// A device's id as a file name; two devices never share one.
fn file_name(device: &str) -> String {
    let mut name = String::new();
    for byte in device.bytes() {
        match byte {
            b'/' => name.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => {
                name.push(char::from(byte));
            }
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Platform;

    fn now(_: u32) -> Option<String> {
        Some("now".to_owned())
    }

    fn gone(_: u32) -> Option<String> {
        None
    }

    fn night() -> SavedSetting {
        SavedSetting {
            axis: "colorScheme".to_owned(),
            setting: "uimode night".to_owned(),
            was: Some("no".to_owned()),
        }
    }

    fn folder() -> PathBuf {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::env::temp_dir().join(format!("packtrain-restore-{}-{number}", std::process::id()))
    }

    fn file(folder: &Path, started: fn(u32) -> Option<String>) -> RestoreFile {
        let device = DeviceId::new(Platform::Android, "10.0.0.1:5555");
        RestoreFile::new(folder, &device, started)
    }

    #[test]
    fn what_was_written_is_read_and_gone_once_it_is_removed() {
        let folder = folder();
        let file = file(&folder, now);
        assert_eq!(file.read().unwrap(), []);
        file.write(&[night()]).unwrap();
        assert_eq!(file.read().unwrap(), [night()]);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no drafts");
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(file.read().unwrap(), []);
        std::fs::remove_dir(&folder).unwrap();
    }

    #[test]
    fn the_file_of_a_process_that_runs_is_left_alone_and_that_of_one_that_is_gone_is_not() {
        let folder = folder();
        let here = file(&folder, now);
        here.write(&[night()]).unwrap();
        let text = std::fs::read_to_string(here.path()).unwrap();
        let own = format!("\"pid\": {}", std::process::id());
        assert!(text.contains(&own), "{text}");
        std::fs::write(here.path(), text.replace(&own, "\"pid\": 7")).unwrap();
        let error = here.read().unwrap_err();
        assert_eq!(
            error.to_string(),
            "lost the device: in use by process 7, which has changed its settings"
        );
        assert_eq!(file(&folder, gone).read().unwrap(), [night()]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_says_nothing_keeps_the_device_out_of_service() {
        let folder = folder();
        let file = file(&folder, now);
        file.write(&[]).unwrap();
        std::fs::write(file.path(), "{").unwrap();
        let error = file.read().unwrap_err();
        assert!(
            error.to_string().contains("could not be put back"),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("remove the file"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn two_devices_have_two_files() {
        assert_eq!(file_name("android/R3CN"), "android+R3CN");
        assert_eq!(file_name("android/a:b"), "android+a%3ab");
        assert_ne!(file_name("android/a:b"), file_name("android/a%3ab"));
        assert_ne!(file_name("android/a/b"), file_name("android/a+b"));
    }
}
