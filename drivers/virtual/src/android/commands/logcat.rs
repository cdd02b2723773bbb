//! `logcat` and `log`.

use tokio::sync::broadcast::error::RecvError;

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::logs::Line;
use crate::world::AppEvent;

/// The process of the system's own services.
const SYSTEM: u32 = 1180;
/// Who writes of crashes.
const CRASHES: &str = "AndroidRuntime";
/// The levels from the least to the gravest.
const LEVELS: &str = "VDIWEFS";

const FORMATS: [&str; 4] = ["brief", "threadtime", "time", "year"];

/// Options with a value. Source: AOSP `logcat.cpp`.
const WITH_VALUE: &[&str] = &["v", "b", "t", "T"];

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("cds", WITH_VALUE).await?;
    let android = call.android();
    if options.has("c") {
        android.logs.clear();
        return Ok(0);
    }
    let format = options.value("v").unwrap_or("threadtime");
    if !FORMATS.contains(&format) {
        call.unhandled();
        return call
            .fail(format!("Invalid parameter \"{format}\" to -v"), 1)
            .await;
    }
    let shown = |line: &Line| line.shown(format) + "\n";
    let filters = Filters::of(&options);
    let (mut kept, mut lines) = android.logs.follow();
    kept.retain(|line| filters.let_through(line));
    // `-t` is `-d` and `-T` in one.
    if let Some(newest) = options.number::<usize>("t").or(options.number("T")) {
        kept.drain(..kept.len().saturating_sub(newest));
    }
    let buffer = if filters.crashes { "crash" } else { "main" };
    call.out(format!("--------- beginning of {buffer}\n"))
        .await?;
    for line in kept {
        call.out(shown(&line)).await?;
    }
    if options.any("dt") {
        return Ok(0);
    }
    loop {
        match lines.recv().await {
            Ok(line) if filters.let_through(&line) => call.out(shown(&line)).await?,
            // A reader that is too slow misses lines, as on a phone.
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return Ok(0),
        }
    }
}

/// `TAG:LEVEL …`
struct Filters {
    tags: Vec<(String, usize)>,
    otherwise: usize,
    /// Only what is in the buffer of crashes.
    crashes: bool,
}

impl Filters {
    fn of(options: &Options) -> Self {
        let mut filters = Self {
            tags: Vec::new(),
            otherwise: 0,
            crashes: options.value("b") == Some("crash"),
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
            .find(|(tag, _)| *tag == line.tag)
            .map_or(self.otherwise, |(_, level)| *level);
        (!self.crashes || line.tag == CRASHES) && LEVELS.find(line.level).unwrap_or(0) >= least
    }
}

pub(super) async fn log(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("", &["p", "t"]).await?;
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
                CRASHES,
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
