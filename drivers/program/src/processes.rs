//! Which processes there are, in whose session, and with what words and variables: by `/proc` where it is
//! readable, elsewhere by `getsid` and `ps`.

use std::path::Path;
use std::process::Command;

use nix::unistd::{Pid, getsid};

use crate::run;

/// The largest number of a process: `PID_MAX` of macOS (xnu, `bsd/sys/proc_internal.h`), elsewhere
/// `PID_MAX_LIMIT` of Linux.
const MAX_PID: i32 = if cfg!(target_vendor = "apple") {
    99_999
} else {
    4 * 1024 * 1024
};

/// Whether there is a `/proc` to look into.
pub fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// The living processes of sessions.
pub(crate) fn members(leaders: &[Pid]) -> Vec<Pid> {
    let is_member = |pid: &Pid| session(*pid).is_some_and(|leader| leaders.contains(&leader));
    numbers()
        .filter(|pid| is_member(pid) && !is_zombie(*pid))
        .collect()
}

/// The session of a process.
pub(crate) fn session(pid: Pid) -> Option<Pid> {
    getsid(Some(pid)).ok()
}

/// The processes that have this among their variables, `NAME=VALUE`.
pub(crate) fn marked(mark: &str) -> Vec<Pid> {
    if !has_proc() {
        return marked_in(&ps(&["-A", "-E", "-ww", "-o", "pid=,command="]), mark);
    }
    numbers()
        .filter(|pid| lists(pid.as_raw(), "environ", mark))
        .collect()
}

/// Those of which `ps` tells the number, the words and then the variables.
fn marked_in(told: &str, mark: &str) -> Vec<Pid> {
    let lines = told.lines().map(str::split_ascii_whitespace);
    lines
        .filter_map(|mut words| {
            let pid = words.next()?.parse().ok()?;
            words.any(|word| word == mark).then(|| Pid::from_raw(pid))
        })
        .collect()
}

/// Whether a process was started with this among its words.
pub(crate) fn has_word(pid: i32, word: &str) -> bool {
    if has_proc() {
        return lists(pid, "cmdline", word);
    }
    let told = ps(&["-ww", "-o", "command=", "-p", &pid.to_string()]);
    told.split_ascii_whitespace().any(|one| one == word)
}

/// Whether this is in a list that `/proc` has of a process.
fn lists(pid: i32, list: &str, wanted: &str) -> bool {
    let list = std::fs::read(format!("/proc/{pid}/{list}")).unwrap_or_default();
    list.split(|byte| *byte == 0)
        .any(|one| one == wanted.as_bytes())
}

/// What `ps` tells, in the same words whatever the language and the time zone of the caller.
pub fn ps(arguments: &[&str]) -> String {
    let mut ps = Command::new("ps");
    ps.args(arguments).env("LC_ALL", "C").env("TZ", "UTC0");
    let told = run(&mut ps).map(|told| told.stdout).unwrap_or_default();
    String::from_utf8_lossy(&told).into_owned()
}

/// The numbers that processes have, or may have where nothing lists them.
fn numbers() -> Box<dyn Iterator<Item = Pid>> {
    if !has_proc() {
        return Box::new((1..=MAX_PID).map(Pid::from_raw));
    }
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Box::new(numbers.map(Pid::from_raw))
}

/// Whether a process has ended and only waits to be noticed. macOS' `getsid` knows no such.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    // The name before it may hold anything.
    let behind = stat.rsplit_once(')').map(|(_, behind)| behind.trim_start());
    behind.is_some_and(|behind| behind.starts_with('Z'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_found_behind_the_words_and_only_whole() {
        let told = "  12 node cli.js A=1 MARK=7-0 HOME=/root\n 13 node MARK=7-01\n14 x XMARK=7-0\nMARK=7-0\n";
        assert_eq!(marked_in(told, "MARK=7-0"), [Pid::from_raw(12)]);
        assert_eq!(marked_in("", "MARK=7-0"), []);
    }
}
