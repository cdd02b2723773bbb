//! What pages offer for download: each is kept under a name of its own, and reported when it is
//! there or has failed.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_drivers::selector::contains_plain;
use packtrain_drivers::{DeviceEvent, DriverError, EventSink, Observation, WantedDownload};
use parking_lot::Mutex;
use playwright_rs::protocol::Download;
use tokio::sync::watch;
use tokio::time::Instant;

/// Bytes of a suggested name that are kept, and of its extension. File systems take 255, of which the
/// reports' own part and a number need some.
const NAME_BYTES: usize = 160;
const EXTENSION_BYTES: usize = 16;

/// The most downloads of a session that are known when one is asked for.
const MAX_ENDED: usize = 1000;
/// The largest file in which a text is looked for.
const MAX_READ: u64 = 64 << 20;

/// The downloads of a session.
pub(crate) struct Downloads {
    /// Where they go; without a folder they are discarded.
    folder: Option<PathBuf>,
    /// Names in use, in lower case: some file systems tell no case apart.
    names: Mutex<HashSet<String>>,
    under_way: watch::Sender<usize>,
    /// Those that are complete or have failed.
    ended: watch::Sender<Vec<EndedDownload>>,
    events: EventSink,
}

/// A download that is complete, and where, or does not count, and why.
#[derive(Debug, Clone)]
struct EndedDownload {
    file: String,
    content: Result<PathBuf, String>,
}

impl Downloads {
    pub(crate) fn new(folder: Option<PathBuf>, events: EventSink) -> Self {
        Self {
            folder,
            names: Mutex::default(),
            under_way: watch::Sender::new(0),
            ended: watch::Sender::default(),
            events,
        }
    }

    /// Waits for a download to be complete, and reports it.
    pub(crate) async fn keep(&self, download: Download) {
        self.under_way.send_modify(|count| *count += 1);
        let file = safe_name(download.suggested_filename());
        let saved = match &self.folder {
            Some(folder) => {
                let path = folder.join(self.reserve(&file));
                let kept = Some(path.display().to_string());
                download.save_as(&path).await.map(|()| Some((path, kept)))
            }
            // The browser's own copy, which goes with the session.
            None => download
                .path()
                .await
                .map(|path| path.map(|path| (path, None))),
        };
        let saved = saved.map_err(|error| error.to_string());
        let (path, error) = match &saved {
            Ok(path) => (path.clone().and_then(|(_, kept)| kept), None),
            Err(error) => (None, Some(error.clone())),
        };
        if self.ended.borrow().len() < MAX_ENDED {
            let content = saved
                .and_then(|path| path.ok_or_else(|| "it was not kept".to_owned()))
                .map(|(path, _)| path)
                .map_err(|error| format!("failed: {error}"));
            let file = file.clone();
            self.ended
                .send_modify(|ended| ended.push(EndedDownload { file, content }));
        }
        self.events
            .report(DeviceEvent::Downloaded { file, path, error });
        self.under_way.send_modify(|count| *count -= 1);
    }

    /// Waits for a download that is as wanted and was not asserted before; answers its name and size.
    pub(crate) async fn expect(
        &self,
        wanted: &WantedDownload,
        limit: Duration,
    ) -> Result<Observation, DriverError> {
        let pattern = wanted.name_regex.as_ref();
        let pattern = pattern.map(|pattern| regex::Regex::new(&format!(r"\A(?:{pattern})\z")));
        let pattern = pattern
            .transpose()
            .map_err(|error| DriverError::Invalid(format!("nameRegex: {error}")))?;
        let is_named = |file: &str| {
            wanted.name.as_deref().is_none_or(|name| name == file)
                && pattern
                    .as_ref()
                    .is_none_or(|pattern| pattern.is_match(file))
        };
        let end = Instant::now() + limit;
        let mut ended = self.ended.subscribe();
        let (mut seen, mut log) = (0, Vec::new());
        loop {
            let all = ended.borrow_and_update().clone();
            let old = std::mem::replace(&mut seen, all.len());
            for (at, EndedDownload { file, content }) in all.into_iter().enumerate().skip(old) {
                let lack = match content {
                    _ if !is_named(&file) => Some("another name".to_owned()),
                    Err(error) => Some(error),
                    Ok(path) => match lack(wanted, &path).await {
                        Ok(bytes) => {
                            let asserted = Err("asserted before".to_owned());
                            self.ended.send_modify(|ended| ended[at].content = asserted);
                            return Ok(Observation::Text(format!("{file}, {bytes} bytes")));
                        }
                        Err(lack) => Some(lack),
                    },
                };
                log.extend(lack.map(|lack| format!("{file}: {lack}")));
            }
            if tokio::time::timeout_at(end, ended.changed()).await.is_err() {
                let what = format!(
                    "none of {seen} downloads matches after {:.1} s{}{}",
                    limit.as_secs_f64(),
                    if log.is_empty() { "" } else { ": " },
                    log.iter().take(3).cloned().collect::<Vec<_>>().join("; ")
                );
                return Err(DriverError::Unmet { what, log });
            }
        }
    }

    /// Waits until all are reported, or for `limit`.
    pub(crate) async fn reported(&self, limit: Duration) {
        let mut under_way = self.under_way.subscribe();
        let none = under_way.wait_for(|count| *count == 0);
        if tokio::time::timeout(limit, none).await.is_err() {
            tracing::debug!("downloads that did not end in time are given up");
        }
    }

    /// A name that no other download of the session has: `report.txt`, `report (2).txt`.
    fn reserve(&self, name: &str) -> String {
        let mut names = self.names.lock();
        let (stem, extension) = match name.rfind('.') {
            Some(at) if at > 0 => name.split_at(at),
            _ => (name, ""),
        };
        let numbered = (2..).map(|n: u32| format!("{stem} ({n}){extension}"));
        std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|candidate| names.insert(candidate.to_lowercase()))
            .unwrap_or_default()
    }
}

/// How many bytes a file has; or what it lacks of what is wanted.
async fn lack(wanted: &WantedDownload, path: &Path) -> Result<u64, String> {
    let unreadable = |error: std::io::Error| error.to_string();
    let bytes = tokio::fs::metadata(path).await.map_err(unreadable)?.len();
    if let Some(least) = wanted.min_bytes
        && bytes < least
    {
        return Err(format!("{bytes} bytes, expected {least} or more"));
    }
    if let Some(text) = &wanted.contains {
        if bytes > MAX_READ {
            return Err(format!("{bytes} bytes are too many to search for text"));
        }
        let content = tokio::fs::read(path).await.map_err(unreadable)?;
        if !contains_plain(&String::from_utf8_lossy(&content), text) {
            return Err(format!("it does not contain {text:?}"));
        }
    }
    Ok(bytes)
}

/// The last part of a suggested file name, without anything that leads elsewhere.
fn safe_name(suggested: &str) -> String {
    let name: String = suggested
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .collect();
    let name = shortened(&name);
    match name.trim_matches('.') {
        "" => "download".to_owned(),
        _ => name,
    }
}

/// A name that file systems take, with its extension.
fn shortened(name: &str) -> String {
    let at = name
        .rfind('.')
        .filter(|at| name.len() - at <= EXTENSION_BYTES);
    let (stem, extension) = name.split_at(at.unwrap_or(name.len()));
    let end = stem.floor_char_boundary(NAME_BYTES);
    format!("{}{extension}", &stem[..end])
}

#[cfg(test)]
mod tests {
    use packtrain_drivers::event_channel;

    use super::*;

    #[test]
    fn no_two_downloads_have_one_name() {
        let downloads = Downloads::new(None, event_channel().0);
        let names = [
            "a.txt",
            "A.txt",
            "a.txt",
            "a (2).txt",
            ".env",
            ".env",
            "x",
            "x",
        ];
        let kept = names.map(|name| downloads.reserve(name));
        assert_eq!(
            kept,
            [
                "a.txt",
                "A (2).txt",
                "a (3).txt",
                "a (2) (2).txt",
                ".env",
                ".env (2)",
                "x",
                "x (2)"
            ]
        );
    }

    #[test]
    fn no_name_leads_elsewhere() {
        for (suggested, safe) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\autoexec.bat", "autoexec.bat"),
            ("..", "download"),
            ("a\nb", "ab"),
        ] {
            assert_eq!(safe_name(suggested), safe);
        }
        let long = safe_name(&("報".repeat(110) + ".txt"));
        assert_eq!(long, "報".repeat(53) + ".txt");
    }
}
