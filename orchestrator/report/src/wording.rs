//! Numbers, times and foreign texts as words.

use std::borrow::Cow;
use std::time::Duration;

use packtrain_compare::headline::is_unruly;
pub(crate) use packtrain_compare::words::count;
pub use packtrain_compare::words::cut;
use packtrain_model::{CancelCause, SourceCall, StepIndex};

/// What a tool source did for a call that took this long.
pub fn via(via: &SourceCall, took: Duration) -> String {
    let replica = match via.replica {
        0 | 1 => String::new(),
        later => format!(" #{later}"),
    };
    let callbacks = match via.callbacks {
        0 => return format!("by {}{replica}", via.source),
        1 => "1 callback".to_owned(),
        several => format!("{several} callbacks"),
    };
    format!(
        "by {}{replica}: {callbacks}, {} in the tool, {} on the device",
        via.source,
        duration(took.saturating_sub(via.device_ms)),
        duration(via.device_ms)
    )
}

/// A duration as people read it: `85ms`, `0.8s`, `12.4s`, `3m 05s`, `1h 02m`.
pub fn duration(duration: Duration) -> String {
    let millis = duration.as_millis();
    let tenths = (millis + 50) / 100;
    let seconds = (millis + 500) / 1000;
    match millis {
        0..95 => format!("{millis}ms"),
        95..59_950 => format!("{}.{}s", tenths / 10, tenths % 10),
        59_950..3_599_500 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        _ => {
            let minutes = (seconds + 30) / 60;
            format!("{}h {:02}m", minutes / 60, minutes % 60)
        }
    }
}

/// `step 3`, or `trailhead`.
pub(crate) fn step(step: StepIndex) -> String {
    if step == StepIndex::TRAILHEAD {
        step.to_string()
    } else {
        format!("step {step}")
    }
}

/// `and 3 more`, where there are more than are shown.
pub(crate) fn more(all: usize, most: usize) -> Option<String> {
    (all > most).then(|| format!("and {} more", all - most))
}

/// Why a run stopped early.
pub(crate) const fn stopped(by: CancelCause) -> &'static str {
    match by {
        CancelCause::Interrupt => "Interrupted",
        CancelCause::FailFast => "Stopped after the first failure",
        CancelCause::TimeLimit => "Stopped at the run's time limit",
    }
}

/// A foreign text as one harmless line: what would move the cursor, change colours or turn the
/// reading direction becomes a space.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match spaced(text) {
        Cow::Owned(spaced) => {
            let words: Vec<&str> = spaced.split_whitespace().collect();
            Cow::Owned(words.join(" "))
        }
        harmless @ Cow::Borrowed(_) => harmless,
    }
}

/// A text with spaces for what is unruly.
fn spaced(text: &str) -> Cow<'_, str> {
    if text.contains(is_unruly) {
        return text.replace(is_unruly, " ").into();
    }
    text.into()
}

/// A foreign text as harmless lines.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    // Indentation says something in a log; other white space is kept as it is.
    text.lines().map(spaced)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{cut, duration, one_line};

    #[test]
    fn durations_round_without_a_gap_between_units() {
        for (millis, text) in [
            (0, "0ms"),
            (94, "94ms"),
            (95, "0.1s"),
            (850, "0.9s"),
            (59_949, "59.9s"),
            (59_950, "1m 00s"),
            (185_000, "3m 05s"),
            (3_599_499, "59m 59s"),
            (3_599_500, "1h 00m"),
            (7_325_000, "2h 02m"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text, "{millis}");
        }
        assert!(duration(Duration::MAX).ends_with('m'));
    }

    #[test]
    fn a_text_cannot_steer_the_terminal() {
        assert_eq!(
            one_line("\x1b[31mred\x1b[0m\r\nnext\u{202e}"),
            "[31mred [0m next"
        );
        assert_eq!(one_line("plain  text"), "plain  text");
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("größer als", 6), "größe…");
    }
}
