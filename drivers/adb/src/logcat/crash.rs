//! Crashes and hangs in a log, as `logcat -v threadtime` prints them:
//! `11-21 02:51:00.123  1234  1234 E AndroidRuntime: FATAL EXCEPTION: main`.

/// The longest name or message that is passed on.
const MAX_TEXT: usize = 300;

/// Puts together what several lines tell of a crash.
#[derive(Debug, Default)]
pub(super) struct Crashes {
    /// The process of the crash that is being told, once it is named.
    telling: Option<Telling>,
}

#[derive(Debug)]
enum Telling {
    Process,
    Exception { process: String },
}

impl Crashes {
    /// Takes a line; answers what crashed when the line completes it.
    pub(super) fn feed(&mut self, line: &str) -> Option<String> {
        let (tag, text) = split(line)?;
        if tag == "ActivityManager" {
            let app = text.strip_prefix("ANR in ")?;
            return Some(cut(&format!("{app} does not respond")));
        }
        if tag != "AndroidRuntime" {
            return None;
        }
        if text.starts_with("FATAL EXCEPTION") {
            self.telling = Some(Telling::Process);
            return None;
        }
        match self.telling.take()? {
            Telling::Process => {
                let process = text.strip_prefix("Process: ")?;
                let process = process.split(',').next()?.to_owned();
                self.telling = Some(Telling::Exception { process });
                None
            }
            Telling::Exception { process } => Some(cut(&format!("{process}: {text}"))),
        }
    }
}

/// Tag and text of a line.
fn split(line: &str) -> Option<(&str, &str)> {
    // Date, time, process, thread and level stand before the tag.
    let mut rest = line;
    for _ in 0..5 {
        let (_, after) = rest.trim_start().split_once(' ')?;
        rest = after;
    }
    let (tag, text) = rest.split_once(": ").or_else(|| rest.split_once(':'))?;
    Some((tag.trim(), text.trim()))
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(log: &str) -> Vec<String> {
        let mut crashes = Crashes::default();
        log.lines().filter_map(|line| crashes.feed(line)).collect()
    }

    #[test]
    fn a_crash_is_told_with_its_app_and_exception() {
        let log = "\
--------- beginning of crash
11-21 02:51:00.123  4321  4321 E AndroidRuntime: FATAL EXCEPTION: main
11-21 02:51:00.123  4321  4321 E AndroidRuntime: Process: com.example.shop, PID: 4321
11-21 02:51:00.123  4321  4321 E AndroidRuntime: java.lang.IllegalStateException: no cart
11-21 02:51:00.123  4321  4321 E AndroidRuntime: \tat com.example.shop.Cart.open(Cart.kt:12)
11-21 02:51:01.000  1000  1010 I ActivityTaskManager: START u0 {}
";
        assert_eq!(
            told(log),
            ["com.example.shop: java.lang.IllegalStateException: no cart"]
        );
    }

    #[test]
    fn an_app_that_hangs_is_told() {
        let log = "11-21 02:51:00.123  1000  1200 E ActivityManager: ANR in com.example.shop";
        assert_eq!(told(log), ["com.example.shop does not respond"]);
    }

    #[test]
    fn other_lines_tell_nothing() {
        assert!(told("\n-----\nE\n11-21 02:51:00.123 1 1 E Shop: FATAL EXCEPTION\n").is_empty());
    }
}
