//! What `logcat` shows.

use std::collections::VecDeque;
use std::time::Duration;

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
    /// As `logcat -B` writes it. Source: AOSP `log/log_read.h`, `logger_entry`.
    pub fn binary(&self) -> Vec<u8> {
        let level = "VDIWEF".find(self.level).unwrap_or(2) + 2;
        let level = u8::try_from(level).unwrap_or(4);
        let mut payload = vec![level];
        for text in [&self.tag, &self.text] {
            // The longest payload Android takes.
            payload.extend(text.bytes().take(2000));
            payload.push(0);
        }
        let length = u16::try_from(payload.len()).unwrap_or(u16::MAX);
        let seconds = u32::try_from(self.at.as_secs()).unwrap_or(u32::MAX);
        let mut entry = length.to_le_bytes().to_vec();
        entry.extend(28_u16.to_le_bytes());
        // Process, thread, time, buffer and user.
        for word in [self.pid, self.pid, seconds, self.at.subsec_nanos(), 0, 1000] {
            entry.extend(word.to_le_bytes());
        }
        entry.extend(payload);
        entry
    }

    /// As `logcat -v format` prints it, without the line's end.
    pub fn shown(&self, format: &str) -> String {
        let Self {
            level,
            tag,
            text,
            pid,
            ..
        } = self;
        let at = stamp(self.at);
        match format {
            "brief" => format!("{level}/{tag}({pid:5}): {text}"),
            "raw" => text.clone(),
            "tag" => format!("{level}/{tag}: {text}"),
            "process" => format!("{level}({pid:5}) {text}  ({tag})"),
            "thread" => format!("{level}({pid:5}:{pid:5}) {text}"),
            "long" => format!("[ {at} {pid:5}:{pid:5} {level}/{tag} ]\n{text}\n"),
            "time" => format!("{at} {level}/{tag}({pid:5}): {text}"),
            _ => format!("{at} {pid:5} {pid:5} {level} {tag}: {text}"),
        }
    }
}

/// `MM-DD hh:mm:ss.mmm` in UTC.
fn stamp(at: Duration) -> String {
    let date = civil(at.as_secs());
    let rest = at.as_secs() % 86_400;
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!(
        "{:02}-{:02} {h:02}:{m:02}:{s:02}.{:03}",
        date.1,
        date.2,
        at.subsec_millis()
    )
}

/// Year, month and day of a time in seconds since 1970. (Howard Hinnant's `civil_from_days`)
pub fn civil(seconds: u64) -> (u64, u64, u64) {
    let z = seconds / 86_400 + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + u64::from(month <= 2), month, day)
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
        assert_eq!(line.shown("brief"), "I/ActivityManager(   77): Start proc");
    }
}
