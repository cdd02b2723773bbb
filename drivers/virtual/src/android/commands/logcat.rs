//! `logcat` and `log`.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, Ran};
use crate::android::logs::Line;
use crate::android::shell::pattern_matches;
use crate::world::Happening;

/// The process of the system's own services.
const SYSTEM: u32 = 1180;
/// The levels from the least to the gravest.
const LEVELS: &str = "VDIWEFS";

pub(super) async fn run(call: &mut Call<'_>) -> Ran {
    if call.name() == "log" {
        return log(call).await;
    }
    let with_value = [
        "v", "b", "t", "T", "n", "r", "f", "e", "m", "--pid", "--regex", "-d ",
    ];
    let options = Options::of(call.rest(), &with_value);
    let android = call.android();
    if options.has("c") {
        android.logs.clear();
        return Ok(0);
    }
    if options.any("gG") {
        call.out("main: ring buffer is 256 KiB (12 KiB consumed), max entry is 5120 B, max payload is 4068 B\n").await?;
        return Ok(0);
    }
    let format = match options.value("v") {
        Some(format) => format.to_owned(),
        None => "threadtime".to_owned(),
    };
    let filters = Filters::of(&options);
    let (kept, mut lines) = android.logs.follow();
    let newest: usize = (options.number("t"))
        .or(options.number("T"))
        .unwrap_or(usize::MAX);
    let kept: Vec<&Line> = kept
        .iter()
        .filter(|line| filters.let_through(line))
        .collect();
    let skipped = kept.len().saturating_sub(newest);
    call.out("--------- beginning of main\n").await?;
    for line in kept.into_iter().skip(skipped) {
        call.out(line.shown(&format) + "\n").await?;
    }
    if options.any("dt") {
        return Ok(0);
    }
    loop {
        match lines.recv().await {
            Ok(line) if filters.let_through(&line) => {
                call.out(line.shown(&format) + "\n").await?;
            }
            // A reader that is too slow misses lines, as on a phone.
            Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
            Err(tokio::sync::broadcast::error::RecvError::Closed) => return Ok(0),
        }
    }
}

/// `TAG:LEVEL …`
struct Filters {
    tags: Vec<(String, usize)>,
    otherwise: usize,
    pid: Option<u32>,
    regex: Option<regex::Regex>,
}

impl Filters {
    fn of(options: &Options) -> Self {
        let mut filters = Self {
            tags: Vec::new(),
            otherwise: 0,
            pid: options.number("--pid"),
            regex: options
                .value("e")
                .or(options.value("--regex"))
                .and_then(|text| regex::Regex::new(text).ok()),
        };
        for rule in &options.rest {
            let (tag, level) = rule.split_once(':').unwrap_or((rule, "V"));
            let level = LEVELS.find(level.get(..1).unwrap_or("V")).unwrap_or(0);
            if tag == "*" || tag.is_empty() {
                filters.otherwise = level;
            } else {
                filters.tags.push((tag.to_owned(), level));
            }
        }
        if options.has("s") && !options.rest.iter().any(|rule| rule.starts_with("*:")) {
            filters.otherwise = LEVELS.len();
        }
        filters
    }

    fn let_through(&self, line: &Line) -> bool {
        let least = (self.tags.iter())
            .find(|(tag, _)| pattern_matches(tag, &line.tag))
            .map_or(self.otherwise, |(_, level)| *level);
        LEVELS.find(line.level).unwrap_or(0) >= least
            && self.pid.is_none_or(|pid| pid == line.pid)
            && self
                .regex
                .as_ref()
                .is_none_or(|regex| regex.is_match(&line.text))
    }
}

async fn log(call: &mut Call<'_>) -> Ran {
    let options = Options::of(call.rest(), &["p", "t"]);
    let level = options
        .value("p")
        .and_then(|p| p.chars().next())
        .unwrap_or('i');
    let android = call.android();
    android.logs.write(Line {
        at: android.device().clock(),
        pid: call.shell.pid,
        level: level.to_ascii_uppercase(),
        tag: options.value("t").unwrap_or("log").to_owned(),
        text: options.rest.join(" "),
    });
    Ok(0)
}

impl crate::android::Android {
    /// The system writes a line to the log.
    pub(in crate::android) fn log(&self, level: char, tag: &str, text: String) {
        self.logs.write(Line {
            at: self.device().clock(),
            pid: SYSTEM,
            level,
            tag: tag.to_owned(),
            text,
        });
    }

    /// The system writes to the log what happened to an app.
    pub(in crate::android) fn log_happening(&self, happening: &Happening) {
        let (pid, tag, texts) = match happening {
            Happening::Crashed { app, pid } => (
                *pid,
                "AndroidRuntime",
                vec![
                    "FATAL EXCEPTION: main".to_owned(),
                    format!("Process: {app}, PID: {pid}"),
                    "java.lang.RuntimeException: the app crashed".to_owned(),
                    format!("\tat {app}.MainActivity.onClick(MainActivity.java:1)"),
                ],
            ),
            Happening::Hung { app } => (
                SYSTEM,
                "ActivityManager",
                vec![
                    format!("ANR in {app}"),
                    "Reason: Input dispatching timed out".to_owned(),
                ],
            ),
        };
        for text in texts {
            self.logs.write(Line {
                at: self.device().clock(),
                pid,
                level: 'E',
                tag: tag.to_owned(),
                text,
            });
        }
    }
}
