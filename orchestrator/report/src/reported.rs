//! What a device reported unprompted, as a line a person reads.

use std::borrow::Cow;

use packtrain_drivers::DeviceEvent;

/// A device's report, in words.
pub(crate) struct Reported<'a> {
    /// `error`, `network`, `dialog` ...
    pub(crate) level: Cow<'a, str>,
    /// What happened.
    pub(crate) text: String,
    /// Where it came from.
    pub(crate) source: Option<&'a str>,
    /// Whether it hints at a fault of the app: an error, a failed request, a crash.
    pub(crate) is_trouble: bool,
}

impl<'a> Reported<'a> {
    /// Words for an event. Kinds that a later driver adds are shown as they are.
    pub(crate) fn of(event: &'a DeviceEvent) -> Self {
        let line = |level: &'a str, is_trouble, text| Self {
            level: Cow::Borrowed(level),
            text,
            source: None,
            is_trouble,
        };
        match event {
            DeviceEvent::Logged {
                level,
                text,
                source,
            } => Self {
                level: Cow::Borrowed(level),
                text: text.clone(),
                source: source.as_deref(),
                is_trouble: level.eq_ignore_ascii_case("error"),
            },
            DeviceEvent::PageFailed { error } => line("exception", true, error.clone()),
            DeviceEvent::RequestFailed {
                method,
                url,
                status,
                error,
            } => {
                let answer = match (status, error) {
                    (Some(status), _) => &format!("status {status}"),
                    (None, Some(error)) => error,
                    (None, None) => "no answer",
                };
                line("network", true, format!("{method} {url}: {answer}"))
            }
            DeviceEvent::DialogOpened {
                dialog,
                message,
                answer,
            } => line(
                "dialog",
                false,
                format!("{dialog} \"{message}\" was {answer}"),
            ),
            DeviceEvent::PageOpened { url } => line("page", false, format!("opened {url}")),
            DeviceEvent::PageClosed { url } => line("page", false, format!("closed {url}")),
            DeviceEvent::Downloaded { file, path, error } => match (path, error) {
                (Some(path), _) => line("download", false, format!("{file} saved to {path}")),
                (None, Some(error)) => line("download", true, format!("{file}: {error}")),
                (None, None) => line("download", true, format!("{file} failed")),
            },
            DeviceEvent::Crashed { what } => line("crash", true, what.clone()),
            DeviceEvent::Reconnected { what } => {
                line("device", false, format!("reconnected: {what}"))
            }
            DeviceEvent::Restored { axes } => {
                line("device", false, format!("put back {}", axes.join(", ")))
            }
            DeviceEvent::EventsDropped { count } => {
                line("device", false, format!("{count} reports were dropped"))
            }
            // The enum is another crate's and may grow.
            other => line("device", false, format!("{other:?}")),
        }
    }
}
