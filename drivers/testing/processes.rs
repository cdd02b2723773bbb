//! What runs on this computer: by `/proc` where that is, elsewhere by `ps` and `lsof`. A test fails where
//! neither tells, for who cannot look sees nobody.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A process that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    /// Its number.
    pub pid: u32,
    /// Who has started it, or has it from who did.
    pub parent: u32,
    /// Its group.
    pub group: u32,
    /// When it began, in words that no later process of its number has.
    pub began: String,
    /// The program and its words, with spaces between them.
    pub line: String,
}

/// Every process that has not ended.
#[track_caller]
pub fn processes() -> Vec<Running> {
    let all: Vec<_> = match has_proc() {
        true => numbers().filter_map(by_proc).collect(),
        false => {
            let columns = "pid=,ppid=,pgid=,stat=,lstart=,command=";
            let told = said("ps", &["-A", "-ww", "-o", columns]);
            told.lines().filter_map(by_ps).collect()
        }
    };
    let own = std::process::id();
    assert!(
        all.iter().any(|one| one.pid == own),
        "neither /proc nor ps tells what runs"
    );
    all
}

/// The processes that work in a folder, or name it in their words.
#[track_caller]
pub fn processes_of(folder: &Path) -> Vec<Running> {
    let folder = folder.canonicalize().unwrap();
    let name = folder.to_str().unwrap();
    let at_work = at_work();
    let is_ours = |one: &Running| {
        let place = at_work.iter().find(|(pid, _)| *pid == one.pid);
        one.line.contains(name) || place.is_some_and(|(_, place)| place.starts_with(&folder))
    };
    processes().into_iter().filter(is_ours).collect()
}

/// How many files and sockets a process has open.
#[track_caller]
pub fn open_files(pid: u32) -> usize {
    let count = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(files) => files.count(),
        Err(_) => said("lsof", &["-w", "-p", &pid.to_string()])
            .lines()
            .count(),
    };
    assert!(count > 0, "neither /proc nor lsof tells what is open");
    count
}

fn has_proc() -> bool {
    Path::new("/proc/self/stat").exists()
}

fn numbers() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn by_proc(pid: u32) -> Option<Running> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The second is a name in parentheses, with anything in it.
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    (fields[0] != "Z").then(|| Running {
        pid,
        parent: fields[1].parse().unwrap(),
        group: fields[2].parse().unwrap(),
        began: fields[19].to_owned(),
        line: String::from_utf8_lossy(&line).replace('\0', " "),
    })
}

fn by_ps(line: &str) -> Option<Running> {
    let mut words = line.split_whitespace();
    let mut number = || words.next()?.parse().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    let state = words.next()?;
    let began: Vec<_> = words.by_ref().take(5).collect();
    (!state.starts_with('Z')).then(|| Running {
        pid,
        parent,
        group,
        began: began.join(" "),
        line: words.collect::<Vec<_>>().join(" "),
    })
}

/// In which folder each process works, as far as that may be known.
fn at_work() -> Vec<(u32, PathBuf)> {
    if has_proc() {
        let place = |pid| Some((pid, fs::read_link(format!("/proc/{pid}/cwd")).ok()?));
        return numbers().filter_map(place).collect();
    }
    let told = said("lsof", &["-w", "-d", "cwd", "-Fpn"]);
    let mut pid = 0;
    let mut found = Vec::new();
    for line in told.lines() {
        match line.split_at(1) {
            ("p", number) => pid = number.parse().unwrap(),
            ("n", place) => found.push((pid, place.into())),
            _ => {}
        }
    }
    assert!(
        !found.is_empty(),
        "neither /proc nor lsof tells who works where"
    );
    found
}

fn said(program: &str, words: &[&str]) -> String {
    let mut command = Command::new(program);
    let told = command.args(words).env("LC_ALL", "C").output();
    let told = told.unwrap_or_else(|error| panic!("{program} cannot be run: {error}"));
    String::from_utf8_lossy(&told.stdout).into_owned()
}
