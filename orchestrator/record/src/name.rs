//! Names that may become files: whatever a page, an app or a caller suggests, made harmless.

use std::path::{Component, Path};

use crate::error::RecordError;

/// Longest file name kept, in bytes; what is longer loses its middle, not its extension.
const LONGEST: usize = 96;

/// A suggested name as one harmless file name: no folder, no leading dot, no control character,
/// nothing a shell or Windows would trip over.
pub(crate) fn file_name(suggested: &str) -> String {
    let last = suggested
        .rsplit(['/', '\\'])
        .find(|part| !part.trim().is_empty())
        .unwrap_or_default();
    let clean: String = last
        .chars()
        .map(|c| match c {
            '.' | '-' | '_' => c,
            c if c.is_alphanumeric() => c,
            _ => '_',
        })
        .collect();
    let clean = clean.trim_matches(['.', '_']);
    if clean.is_empty() {
        return "file".to_owned();
    }
    let (stem, extension) = split_extension(clean);
    let room = LONGEST.saturating_sub(extension.len());
    format!("{}{extension}", cut(stem, room))
}

/// `name`, then `name-2`, `name-3` ... with the extension at the end.
pub(crate) fn numbered(name: &str, number: u32) -> String {
    if number < 2 {
        return name.to_owned();
    }
    let (stem, extension) = split_extension(name);
    format!("{stem}-{number}{extension}")
}

/// A run id as a folder's name; an error when it is anything but a plain name.
pub(crate) fn run_folder(run: &str) -> Result<&str, RecordError> {
    let plain = !run.is_empty()
        && run.len() <= LONGEST
        && run != crate::LATEST
        && !run.starts_with('.')
        && run
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let mut parts = Path::new(run).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) if plain => Ok(run),
        _ => Err(RecordError::RunName(run.to_owned())),
    }
}

fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && name.len() - dot <= 16 => name.split_at(dot),
        _ => (name, ""),
    }
}

fn cut(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::{file_name, numbered, run_folder};

    #[test]
    fn a_suggested_name_never_leaves_its_folder() {
        for (suggested, name) in [
            ("report.pdf", "report.pdf"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("C:\\x\\y.txt", "y.txt"),
            ("/", "file"),
            ("..", "file"),
            ("", "file"),
            (".bashrc", "bashrc"),
            ("a\0b\nc.png", "a_b_c.png"),
            ("Rechnung März.pdf", "Rechnung_März.pdf"),
            ("$(rm -rf ~).sh", "rm_-rf___.sh"),
            ("folder/", "folder"),
        ] {
            assert_eq!(file_name(suggested), name, "{suggested:?}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_extension() {
        let name = file_name(&format!("{}.tar.gz", "ä".repeat(500)));
        assert!(name.len() <= 96);
        assert!(name.ends_with("ä.gz"), "{name}");
    }

    #[test]
    fn a_number_goes_before_the_extension() {
        assert_eq!(numbered("a.png", 1), "a.png");
        assert_eq!(numbered("a.png", 2), "a-2.png");
        assert_eq!(numbered("a", 3), "a-3");
    }

    #[test]
    fn a_run_id_that_is_no_plain_name_is_refused() {
        assert!(run_folder("20261121-093015-k3f9").is_ok());
        for bad in [
            "", ".", "..", "a/b", "..\\a", "latest", ".hidden", "a b", "ä",
        ] {
            assert!(run_folder(bad).is_err(), "{bad:?}");
        }
    }
}
