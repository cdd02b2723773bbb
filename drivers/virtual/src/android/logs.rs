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
        match format {
            "brief" => format!("{level}/{tag}({pid:5}): {text}"),
            "raw" => text.clone(),
            "tag" => format!("{level}/{tag}: {text}"),
            "long" => format!("[ {at} {pid:5}:{pid:5} {level}/{tag} ]\n{text}\n"),
            "time" => format!("{at} {level}/{tag}({pid:5}): {text}"),
            _ => format!("{at} {pid:5} {pid:5} {level} {tag}: {text}"),
        }
    }
}

/// A time in UTC as `date +format` shows it.
pub fn clock_text(at: Duration, format: &str) -> String {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const DAYS: &str = "ThuFriSatSunMonTueWed";
    let seconds = at.as_secs();
    let (year, month, day) = civil(seconds);
    let rest = seconds % 86_400;
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    let named = |names: &str, place: u64| {
        let start = usize::try_from(place * 3).unwrap_or(0);
        names.get(start..start + 3).unwrap_or("").to_owned()
    };
    let mut out = String::new();
    let mut parts = format.split('%');
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let mut rest = part.chars();
        out.push_str(&match rest.next() {
            Some('s') => seconds.to_string(),
            // Thousandths of a second, with or without saying so.
            Some('N') => format!("{:03}", at.subsec_millis()),
            Some('3') if rest.next() == Some('N') => format!("{:03}", at.subsec_millis()),
            Some('Y') => year.to_string(),
            Some('m') => format!("{month:02}"),
            Some('d') => format!("{day:02}"),
            Some('e') => format!("{day:2}"),
            Some('H') => format!("{h:02}"),
            Some('M') => format!("{m:02}"),
            Some('S') => format!("{s:02}"),
            Some('T') => format!("{h:02}:{m:02}:{s:02}"),
            Some('R') => format!("{h:02}:{m:02}"),
            Some('F') => format!("{year}-{month:02}-{day:02}"),
            Some('a') => named(DAYS, seconds / 86_400 % 7),
            Some('b') => named(MONTHS, month - 1),
            Some(other) => format!("%{other}"),
            None => "%".to_owned(),
        });
        out.push_str(rest.as_str());
    }
    out
}

/// Year, month and day of a time in seconds since 1970. (Howard Hinnant's `civil_from_days`)
fn civil(seconds: u64) -> (u64, u64, u64) {
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
