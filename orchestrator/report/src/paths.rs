//! Paths as others find them: relative ones, for readers of the report anywhere.

use std::path::{Component, Path, PathBuf};

/// A path as seen from an absolute folder, with `/`, and with `..` where it lies elsewhere. A path
/// that is relative already stays so. Without such a folder only the path's last part is left.
pub fn relative(folder: &str, path: &str) -> String {
    let (base, wanted) = (Path::new(folder), Path::new(path));
    if !wanted.is_absolute() {
        return path.strip_prefix("./").unwrap_or(path).to_owned();
    }
    if !base.is_absolute() {
        let name = wanted.file_name().unwrap_or_default();
        return name.to_string_lossy().into_owned();
    }
    let (base, wanted) = (plain(base), plain(wanted));
    let common = base
        .components()
        .zip(wanted.components())
        .take_while(|(one, other)| one == other)
        .count();
    let up = base.components().skip(common).map(|_| "..".to_owned());
    let down = wanted.components().skip(common);
    let down = down.map(|part| part.as_os_str().to_string_lossy().into_owned());
    match up.chain(down).collect::<Vec<_>>().join("/") {
        same if same.is_empty() => ".".to_owned(),
        relative => relative,
    }
}

/// Without `.` and `..`, by the words alone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn no_path_is_absolute_afterwards() {
        for (folder, path, expected) in [
            (
                "/home/ada/shop",
                "trails/buy.trail.yaml",
                "trails/buy.trail.yaml",
            ),
            ("/home/ada/shop", "./a.yaml", "a.yaml"),
            (
                "/home/ada/shop",
                "/home/ada/shop/trails/a.yaml:3:4",
                "trails/a.yaml:3:4",
            ),
            (
                "/home/ada/shop/",
                "/home/ada/other/a.yaml",
                "../other/a.yaml",
            ),
            ("/home/ada/shop", "/home/ada/shop/../x/./a", "../x/a"),
            ("/home/ada/shop", "/home/ada/shop", "."),
            ("/home/ada/shopping", "/home/ada/shop/a", "../shop/a"),
            ("", "/tmp/a.yaml", "a.yaml"),
            ("/", "/tmp/a", "tmp/a"),
        ] {
            assert_eq!(relative(folder, path), expected, "{folder} {path}");
        }
    }
}
