//! Files of a run's folder for a browser: those that reports link to, and none that a link or a `..`
//! leads to.

use std::path::{Component, Path};

use crate::run_files::regular;

/// The folders that reports link into. What devices logged
/// is not among them, nor what traces hold: no secret is taken out of those.
const FOLDERS: [&str; 5] = ["artifacts", "downloads", "pictures", "sources", "trees"];
/// A file as it is sent.
pub(super) struct Sent {
    pub(super) media_type: &'static str,
    /// Whether a browser may show it; otherwise it is saved.
    pub(super) is_shown: bool,
    pub(super) bytes: Vec<u8>,
}

/// Reads what a path of an address names, below the run's folder.
pub(super) fn read(folder: &Path, encoded: &str) -> Option<Sent> {
    let parts = encoded.split('/').map(part).collect::<Option<Vec<_>>>()?;
    let (first, rest) = parts.split_first()?;
    if rest.is_empty() || !FOLDERS.contains(&first.as_str()) {
        return None;
    }
    let (path, bytes) = regular(folder, &parts.join("/"))?;
    let (media_type, is_shown) = media_type(&path, &bytes);
    Some(Sent {
        media_type,
        is_shown,
        bytes,
    })
}

/// A part of a path without its percent signs, if it names something in a folder.
fn part(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            u8::try_from(digit()? * 16 + digit()?).ok()?
        } else {
            byte
        });
    }
    let name = String::from_utf8(bytes).ok()?;
    let mut components = Path::new(&name).components();
    let is_name =
        matches!(components.next(), Some(Component::Normal(only)) if only == name.as_str());
    (is_name && components.next().is_none() && !name.contains('\0')).then_some(name)
}

/// By what is in it for pictures, by its name for text. Nothing that can run is shown.
fn media_type(path: &Path, bytes: &[u8]) -> (&'static str, bool) {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match (bytes, ending) {
        ([0x89, b'P', b'N', b'G', ..], _) => ("image/png", true),
        ([0xff, 0xd8, 0xff, ..], _) => ("image/jpeg", true),
        ([b'R', b'I', b'F', b'F', ..], Some("webp")) => ("image/webp", true),
        (_, Some("json")) => ("application/json", true),
        (_, Some("txt" | "log")) => ("text/plain; charset=utf-8", true),
        _ => ("application/octet-stream", false),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{part, read};

    #[test]
    fn only_names_are_parts() {
        assert_eq!(part("a%20b%2Etxt").unwrap(), "a b.txt");
        for none in [
            "", ".", "..", "%2e%2e", "a%2fb", "%2f", "a%00", "%", "%4", "%zz", "%ff", "a%2f",
        ] {
            assert_eq!(part(none), None, "{none}");
        }
    }

    #[test]
    fn nothing_outside_the_folder_is_read() {
        let outside = tempfile::tempdir().unwrap();
        let (secret, run) = (
            outside.path().join("secret.txt"),
            outside.path().join("run"),
        );
        fs::create_dir_all(run.join("artifacts/s1")).unwrap();
        fs::create_dir_all(run.join("logs")).unwrap();
        fs::write(&secret, "secret").unwrap();
        for file in ["artifacts/s1/a b.txt", "logs/s1.log", "report.html"] {
            fs::write(run.join(file), "there").unwrap();
        }
        std::os::unix::fs::symlink(&secret, run.join("artifacts/link.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path(), run.join("artifacts/up")).unwrap();
        std::os::unix::fs::symlink(outside.path(), run.join("pictures")).unwrap();
        assert_eq!(
            read(&run, "artifacts/s1/a%20b.txt").unwrap().bytes,
            b"there"
        );
        for refused in [
            "artifacts/link.txt",
            "artifacts/up/secret.txt",
            "artifacts/../../secret.txt",
            "artifacts/..%2f..%2fsecret.txt",
            "artifacts/%2e%2e/%2e%2e/secret.txt",
            "pictures/secret.txt",
            "logs/s1.log",
            "report.html",
            "artifacts",
            "artifacts/s1",
            "artifacts//s1/a%20b.txt",
            "/etc/passwd",
            "",
        ] {
            assert!(read(&run, refused).is_none(), "{refused}");
        }
    }
}
