//! The command that runs a session again, and nothing else.

use std::borrow::Cow;

use packtrain_drivers::{DeviceId, Platform};

use crate::paths::relative;
use crate::view::{RunView, SessionView, TrailView};

/// The command line, to be pasted into a shell in the folder that the run was started in.
pub fn again(view: &RunView, trail: &TrailView, session: &SessionView) -> String {
    let path = relative(&view.options.working_directory, &trail.summary.path);
    let mut words = vec!["packtrain".to_owned(), "run".to_owned(), quoted(&path)];
    if let Some(device) = &session.device {
        words.extend(["-d".to_owned(), quoted(&chosen_by(device, view))]);
    }
    let name = view.matrix.as_ref().map_or("", |matrix| &*matrix.name);
    let values = session.cell.0.iter();
    let values: Vec<_> = values
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    match (values.as_slice(), name) {
        ([], _) => {}
        (values, "") => {
            let axes = values
                .iter()
                .flat_map(|value| ["--axis".to_owned(), quoted(value)]);
            words.extend(axes);
        }
        (values, name) => {
            let matrix = ["--matrix".to_owned(), quoted(name)];
            words.extend(matrix);
            words.extend(["--cell".to_owned(), quoted(&values.join(","))]);
        }
    }
    words.join(" ")
}

/// What `-d` takes for a device: a virtual phone is started anew, and a further context of a web
/// device is the device.
fn chosen_by(device: &DeviceId, view: &RunView) -> String {
    if let Some(number) = device.name().strip_prefix("virtual-") {
        let platform = device.platform();
        return match number {
            "1" => format!("virtual:{platform}"),
            number => format!("virtual:{platform}:{number}"),
        };
    }
    if device.platform() == Platform::Web
        && let Some((name, number)) = device.name().rsplit_once('.')
        && number.chars().all(|c| c.is_ascii_digit())
        && view.devices.iter().any(|known| known.id.name() == name)
    {
        return format!("{}/{name}", device.platform());
    }
    device.to_string()
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let word: Cow<'_, str> = crate::wording::one_line(word);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.into_owned();
    }
    let prefix = if word.starts_with('-') { "./" } else { "" };
    format!("'{prefix}{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_every_word_as_one() {
        for (word, shown) in [
            ("trails/buy.trail.yaml", "trails/buy.trail.yaml"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("-x", "'./-x'"),
            ("a\nb", "'a b'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
