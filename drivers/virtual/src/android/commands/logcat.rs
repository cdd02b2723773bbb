//! `logcat` and `log`.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::logs::Line;
use crate::android::shell::pattern_matches;
use crate::world::AppEvent;

/// The process of the system's own services.
const SYSTEM: u32 = 1180;
/// The levels from the least to the gravest.
const LEVELS: &str = "VDIWEFS";

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    if call.name() == "log" {
        return log(call).await;
    }
    let options = Options::of(call.rest(), WITH_VALUE);
    let has = |short: &str, long: &str| options.has(short) || options.has(long);
    let value = |short: &str, long: &str| options.value(short).or(options.value(long));
    let android = call.android();
    if has("h", "--help") {
        call.out(HELP).await?;
        return Ok(0);
    }
    let format = value("v", "--format").unwrap_or("threadtime").to_owned();
    if !FORMATS.contains(&format.as_str()) {
        return call
            .fail(format!("Invalid parameter '{format}' to -v."), 1)
            .await;
    }
    if has("c", "--clear") {
        android.logs.clear();
        return Ok(0);
    }
    if options.any("gG") || options.has("--buffer-size") {
        let sizes = ["main", "system", "crash"].map(|name| {
            format!("{name}: ring buffer is 256 KiB (12 KiB consumed), max entry is 5120 B, max payload is 4068 B\n")
        });
        call.out(sizes.concat()).await?;
        return Ok(0);
    }
    let binary = has("B", "--binary");
    let shown = |line: &Line| {
        if binary {
            line.binary()
        } else {
            (line.shown(&format) + "\n").into_bytes()
        }
    };
    let filters = Filters::of(&options);
    let (kept, mut lines) = android.logs.follow();
    let newest = value("t", "--t").or(options.value("T")).unwrap_or("");
    // Not a number of lines but a time, as the lines show it.
    let since = newest.contains([':', '.']).then_some(newest);
    let kept: Vec<&Line> = (kept.iter())
        .filter(|line| filters.let_through(line))
        .filter(|line| since.is_none_or(|since| line.shown("time").as_str() >= since))
        .collect();
    let skipped = kept
        .len()
        .saturating_sub(newest.parse().unwrap_or(usize::MAX));
    let mut left: usize = value("m", "--max-count")
        .and_then(|count| count.parse().ok())
        .filter(|count| *count > 0)
        .unwrap_or(usize::MAX);
    if !binary {
        call.out("--------- beginning of main\n").await?;
    }
    for line in kept.into_iter().skip(skipped) {
        call.out(shown(line)).await?;
        left -= 1;
        if left == 0 {
            return Ok(0);
        }
    }
    if options.any("dtL") || options.has("--last") {
        return Ok(0);
    }
    while left > 0 {
        match lines.recv().await {
            Ok(line) if filters.let_through(&line) => {
                call.out(shown(&line)).await?;
                left -= 1;
            }
            // A reader that is too slow misses lines, as on a phone.
            Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {}
            Err(tokio::sync::broadcast::error::RecvError::Closed) => return Ok(0),
        }
    }
    Ok(0)
}

/// Options with a value. Source: AOSP `logcat.cpp`.
const WITH_VALUE: &[&str] = &[
    "v",
    "b",
    "t",
    "T",
    "n",
    "r",
    "f",
    "e",
    "m",
    "G",
    "P",
    "--pid",
    "--uid",
    "--regex",
    "--buffer",
    "--format",
    "--file",
    "--max-count",
    "--rotate-count",
    "--rotate-kbytes",
    "--prune",
];

/// What `-v` takes: formats, and what changes a little about them.
const FORMATS: &[&str] = &[
    "brief",
    "long",
    "process",
    "raw",
    "tag",
    "thread",
    "threadtime",
    "time",
    "color",
    "descriptive",
    "epoch",
    "monotonic",
    "printable",
    "uid",
    "usec",
    "UTC",
    "year",
    "zone",
];

const HELP: &str = "Usage: logcat [options] [filterspecs]\n\nGeneral options:\n  -b, --buffer=<buffer>       Request alternate ring buffer(s)\n  -c, --clear                 Clear (flush) the entire log and exit\n  -d                          Dump the log and then exit (don't block)\n  -v, --format=<format>       Sets log print format\n  -B, --binary                Output the log in binary\n  -m, --max-count=<count>     Quit after print <count> lines\n  -t <count>                  Print only the most recent <count> lines (implies -d)\n  -T <count>                  Print only the most recent <count> lines (does not imply -d)\n";

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

async fn log(call: &mut Call<'_>) -> CommandResult {
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
    pub(in crate::android) fn log_app_event(&self, app_event: &AppEvent) {
        let (pid, tag, texts) = match app_event {
            AppEvent::Crashed { app, pid } => (
                *pid,
                "AndroidRuntime",
                vec![
                    "FATAL EXCEPTION: main".to_owned(),
                    format!("Process: {app}, PID: {pid}"),
                    "java.lang.RuntimeException: the app crashed".to_owned(),
                    format!("\tat {app}.MainActivity.onClick(MainActivity.java:1)"),
                ],
            ),
            AppEvent::Hung { app } => (
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
