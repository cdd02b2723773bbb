//! Where programs are found: on `PATH`, and on macOS in folders that apps of the Dock do not have on
//! theirs. Knows no program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Homebrew and installers put programs: on Apple silicon, on Intel.
const BESIDES: [&str; 2] = ["/opt/homebrew/bin", "/usr/local/bin"];
/// What a `PATH` has that is not meant to lead to some programs only.
const OF_SYSTEM: &str = "/usr/bin";

/// Restarts the program where its `PATH` lacks folders. What it starts has to find programs there
/// too, as `npx` does `node`, and so does whatever that starts.
pub(crate) fn complete() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(path) = completed(std::env::consts::OS, &path, Path::is_dir) {
        // Without them is better than not at all.
        let _ = start_anew(&path);
    }
}

/// A `PATH` with the folders that it lacks behind its own; `None` when it lacks none.
fn completed(system: &str, path: &OsStr, is_there: impl Fn(&Path) -> bool) -> Option<OsString> {
    let folders: Vec<_> = std::env::split_paths(path).collect();
    if system != "macos" || !folders.iter().any(|folder| folder.as_os_str() == OF_SYSTEM) {
        return None;
    }
    let mut lacking = BESIDES.map(PathBuf::from).to_vec();
    lacking.retain(|folder| !folders.contains(folder) && is_there(folder));
    if lacking.is_empty() {
        return None;
    }
    std::env::join_paths(folders.into_iter().chain(lacking)).ok()
}

/// Becomes the same program with the same arguments and another `PATH`; returns only why not.
fn start_anew(path: &OsStr) -> io::Error {
    match std::env::current_exe() {
        Ok(program) => Command::new(program)
            .args(std::env::args_os().skip(1))
            .env("PATH", path)
            .exec(),
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn programs_of_homebrew_are_found_behind_those_of_an_app_of_the_dock() {
        let of_dock = "/usr/bin:/bin:/usr/sbin:/sbin";
        let all = |_: &Path| true;
        let whole = format!("{of_dock}:/opt/homebrew/bin:/usr/local/bin");
        for (system, path, is_completed) in [
            ("macos", of_dock, true),
            ("macos", &whole, false),
            ("macos", "/made/for/a/purpose", false),
            ("linux", of_dock, false),
        ] {
            let expected = is_completed.then(|| OsString::from(&whole));
            assert_eq!(completed(system, path.as_ref(), all), expected, "{path}");
        }
        assert_eq!(completed("macos", of_dock.as_ref(), |_| false), None);
    }

    #[test]
    fn what_is_started_anew_is_the_same_process_with_the_same_arguments() {
        // This test is the program, and starts it.
        const IS_PROGRAM: &str = "PACKTRAIN_TEST_STARTS_ANEW";
        const NAME: &str =
            "search_path::tests::what_is_started_anew_is_the_same_process_with_the_same_arguments";
        if std::env::var_os(IS_PROGRAM).is_some() {
            if std::env::var_os("PATH").unwrap() == "/before" {
                panic!("{}", start_anew("/after".as_ref()));
            }
            let arguments: Vec<_> = std::env::args().skip(1).collect();
            return println!("{} {}", std::process::id(), arguments.join(" "));
        }
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", NAME, "--nocapture"]);
        program.env(IS_PROGRAM, "yes").env("PATH", "/before");
        let program = program.stdout(Stdio::piped()).spawn().unwrap();
        let expected = format!("{} --exact {NAME} --nocapture", program.id());
        let said = String::from_utf8(program.wait_with_output().unwrap().stdout).unwrap();
        assert!(said.contains(&expected), "{expected}\n{said}");
    }
}
