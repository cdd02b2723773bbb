//! What a phone answers without a look at its state, or with no more than a few facts filled in:
//! recorded in `recorded.txt`, read once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::android::{Android, Build};
use crate::world::Display;

/// An answer to a command line.
#[derive(Debug)]
pub struct Answer {
    words: Vec<&'static str>,
    /// Whether more words may follow.
    open: bool,
    /// The exit code.
    pub code: i32,
    /// What is printed, with `@{fact}` for what differs.
    pub text: &'static str,
}

static ANSWERS: LazyLock<Vec<Answer>> = LazyLock::new(|| {
    let (_, all) = include_str!("recorded.txt")
        .split_once("\n$ ")
        .unwrap_or_default();
    all.split("\n$ ").map(Answer::of).collect()
});

impl Answer {
    fn of(section: &'static str) -> Self {
        let (head, text) = section.split_once('\n').unwrap_or((section, ""));
        let (line, code) = head.split_once(" -> ").unwrap_or((head, "0"));
        let mut words: Vec<&str> = line.split(' ').collect();
        let open = words.pop_if(|last| *last == "*").is_some();
        Self {
            words,
            open,
            code: code.parse().unwrap_or(1),
            text,
        }
    }

    fn answers(&self, args: &[String]) -> bool {
        let fits = self.words.len() == args.len() || self.open && self.words.len() < args.len();
        fits && self.words.iter().zip(args).all(|(word, arg)| word == arg)
    }
}

/// The answer to a command line, if one is recorded: the one with the most words.
pub fn answer(args: &[String]) -> Option<&'static Answer> {
    let fitting = ANSWERS.iter().filter(|answer| answer.answers(args));
    fitting.max_by_key(|answer| answer.words.len())
}

/// Whether answers of this program are recorded.
pub fn is_program(name: &str) -> bool {
    let is_command = !matches!(name, "file" | "table");
    is_command && ANSWERS.iter().any(|answer| answer.words[0] == name)
}

fn text(kind: &str, name: &str) -> &'static str {
    let found = ANSWERS.iter().find(|answer| answer.words == [kind, name]);
    found.map_or("", |answer| answer.text)
}

/// The lines of a table.
pub fn table(name: &str) -> std::str::Lines<'static> {
    text("table", name).lines()
}

/// The names of the files that the device makes up when they are read.
pub fn files() -> impl Iterator<Item = &'static str> {
    let files = ANSWERS.iter().filter(|answer| answer.words[0] == "file");
    files.map(|answer| answer.words[1])
}

impl Android {
    /// The content of a file the device makes up when it is read.
    pub(super) fn made_up(&self, path: &str) -> Vec<u8> {
        self.fill(text("file", path)).into_bytes()
    }

    /// Puts facts into a text; a line without an end gets one.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut known = BTreeMap::new();
        let mut parts = text.split("@{");
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let (fact, rest) = part.split_once('}').unwrap_or((part, ""));
            out.push_str(known.entry(fact).or_insert_with(|| self.fact(fact)));
            out.push_str(rest);
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out
    }

    fn fact(&self, name: &str) -> String {
        let device = self.device();
        let shape = device.shape();
        let rotation = || device.world(|world| world.rotation());
        let lit = || device.world(|world| world.display()) == Display::On;
        let pick = |first: bool, a: &str, b: &str| String::from(if first { a } else { b });
        let size = || {
            let screen = device.screen();
            rotation().turn(screen.width_px, screen.height_px)
        };
        let of_build =
            |user: &str, developers: &str| pick(self.build == Build::User, user, developers);
        let ticks = || device.now().as_millis() / 10;
        let index = device.index();
        match name {
            "product" => shape.product.to_owned(),
            "model" => shape.model.to_owned(),
            "maker" => shape.maker.to_owned(),
            "brand" => shape.maker.to_lowercase(),
            "release" => shape.os_version.to_owned(),
            "api" => shape.api_level.to_string(),
            "serial" => device.serial(),
            "build id" => format!("VP{}A.251105.001", shape.api_level),
            "build type" => of_build("user", "userdebug"),
            "build keys" => of_build("release-keys", "dev-keys"),
            "debuggable" => of_build("0", "1"),
            "boot id" => device.boot_id(),
            "width px" => shape.screen.width_px.to_string(),
            "height px" => shape.screen.height_px.to_string(),
            "density" => shape.screen.density().to_string(),
            "width" => size().0.to_string(),
            "height" => size().1.to_string(),
            "rotation" => rotation().number().to_string(),
            "degrees" => (u32::from(rotation().number()) * 90).to_string(),
            "lit" => lit().to_string(),
            "on" => pick(lit(), "ON", "OFF"),
            "awake" => pick(lit(), "Awake", "Asleep"),
            "focus" => self.focused_window().unwrap_or_else(|| "null".to_owned()),
            "app" => self.shown_activity().0.0,
            "class" => self.shown_activity().1,
            "activity" => {
                let (app, class) = self.shown_activity();
                crate::android::commands::short(&app, &class)
            }
            "pid" => {
                let (app, _) = self.shown_activity();
                let shown = device.world(|world| world.installed_app(&app));
                shown.and_then(|app| app.pid).unwrap_or(1833).to_string()
            }
            "keyboard" => device.world(|world| world.keyboard_shown()).to_string(),
            "battery" => device.battery().to_string(),
            "address" => format!("10.0.{}.{}", index / 250 % 256, index % 250 + 2),
            "mac" => format!("02:00:00:00:01:{:02x}", index % 256),
            "uptime" => format!("{:.2}", device.now().as_secs_f64()),
            "busy" => (ticks() / 50).to_string(),
            "idle" => (ticks() - 2 * (ticks() / 50)).to_string(),
            "all busy" => (ticks() * 8 / 50).to_string(),
            "all idle" => (ticks() * 8 - 2 * (ticks() * 8 / 50)).to_string(),
            "activities" => self.fill(text("table", "activities")),
            "properties" => {
                let all = self.all_properties().into_iter();
                let fixed = all.filter(|(name, _)| name.starts_with("ro."));
                fixed
                    .map(|(name, value)| format!("{name}={value}\n"))
                    .collect()
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_with_the_most_words_is_given() {
        let text = |line: &str| {
            let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
            answer(&args).map(|answer| answer.text)
        };
        assert!(text("dumpsys window displays").is_some_and(|text| text.contains("cur=")));
        assert!(text("dumpsys window").is_some_and(|text| text.contains("policy")));
        assert_eq!(text("wm dismiss-keyguard"), Some(""));
        assert_eq!(text("wm size"), None);
        assert!(table("directories").any(|line| line == "/data/local/tmp"));
    }
}
