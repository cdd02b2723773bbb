//! What pages offer for download: each is kept under a name of its own, and reported when it is
//! there or has failed.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use packtrain_drivers::{DeviceEvent, EventSink};
use playwright_rs::protocol::Download;
use tokio::sync::watch;

/// Bytes of a suggested name that are kept, and of its extension. File systems take 255, of which the
/// reports' own part and a number need some.
const NAME_BYTES: usize = 160;
const EXTENSION_BYTES: usize = 16;

/// The downloads of a session.
pub(crate) struct Downloads {
    /// Where they go; without a folder they are discarded.
    folder: Option<PathBuf>,
    /// Names in use, in lower case: some file systems tell no case apart.
    names: Mutex<HashSet<String>>,
    under_way: watch::Sender<usize>,
    events: EventSink,
}

impl Downloads {
    pub(crate) fn new(folder: Option<PathBuf>, events: EventSink) -> Self {
        Self {
            folder,
            names: Mutex::default(),
            under_way: watch::Sender::new(0),
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
                download.save_as(&path).await.map(|()| Some(path))
            }
            None => download.failure().await.map(|_| None),
        };
        let (path, error) = match saved {
            Ok(path) => (path.map(|path| path.display().to_string()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        self.events
            .report(DeviceEvent::Downloaded { file, path, error });
        self.under_way.send_modify(|count| *count -= 1);
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
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
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
