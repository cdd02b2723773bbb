//! What `logcat` shows.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use chrono::DateTime;
use parking_lot::Mutex;
use tokio::sync::broadcast;

/// Lines that are kept.
const KEPT: usize = 256;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// When, by the device's clock.
    pub at: Duration,
    /// The process.
    pub pid: u32,
    /// One letter: V D I W E F.
    pub level: char,
    /// Who wrote it.
    pub tag: String,
    /// What.
    pub text: String,
}

impl Line {
    /// As `logcat -v format` prints it, without the line's end.
    pub fn shown(&self, format: &str) -> String {
        let Self {
            level,
            tag,
            text,
            pid,
            ..
        } = self;
        let at = clock_text(self.at, "%m-%d %T.%N");
        let year = clock_text(self.at, "%Y");
        match format {
            "brief" => format!("{level}/{tag}({pid:5}): {text}"),
            "time" => format!("{at} {level}/{tag}({pid:5}): {text}"),
            "year" => format!("{year}-{at} {pid:5} {pid:5} {level} {tag}: {text}"),
            _ => format!("{at} {pid:5} {pid:5} {level} {tag}: {text}"),
        }
    }
}

/// A time in UTC as `date +format` shows it; a format that it does not know, as it stands.
pub fn clock_text(at: Duration, format: &str) -> String {
    let seconds = i64::try_from(at.as_secs()).unwrap_or(i64::MAX);
    let time = DateTime::from_timestamp(seconds, at.subsec_nanos()).unwrap_or_default();
    // Thousandths of a second, with or without saying so.
    let format = format.replace("%3N", "%3f").replace("%N", "%3f");
    let mut text = String::new();
    match write!(text, "{}", time.format(&format)) {
        Ok(()) => text,
        Err(_) => format,
    }
}

/// The log of one device.
#[derive(Debug, Default)]
pub struct Logs {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    lines: VecDeque<Line>,
    /// Made when somebody first follows the log.
    followers: Option<broadcast::Sender<Line>>,
}

impl Logs {
    /// Writes a line.
    pub fn write(&self, line: Line) {
        let mut inner = self.inner.lock();
        if let Some(followers) = &inner.followers {
            // Nobody may follow at the moment.
            let _ = followers.send(line.clone());
        }
        if inner.lines.len() == KEPT {
            inner.lines.pop_front();
        }
        inner.lines.push_back(line);
    }

    /// The lines that are kept, and those to come.
    pub fn follow(&self) -> (Vec<Line>, broadcast::Receiver<Line>) {
        let mut inner = self.inner.lock();
        let kept = inner.lines.iter().cloned().collect();
        let followers = inner
            .followers
            .get_or_insert_with(|| broadcast::Sender::new(KEPT));
        (kept, followers.subscribe())
    }

    /// Forgets what is kept.
    pub fn clear(&self) {
        self.inner.lock().lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_as_logcat_shows_it() {
        let line = Line {
            at: Duration::from_millis(1_709_210_096_789),
            pid: 77,
            level: 'I',
            tag: "ActivityManager".to_owned(),
            text: "Start proc".to_owned(),
        };
        assert_eq!(
            line.shown("threadtime"),
            "02-29 12:34:56.789    77    77 I ActivityManager: Start proc"
        );
        assert_eq!(
            line.shown("time"),
            "02-29 12:34:56.789 I/ActivityManager(   77): Start proc"
        );
    }
}
