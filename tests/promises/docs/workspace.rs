//! A workspace in which the examples of one page are tried, in the order in which they are read.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use packtrain_tests::{Ended, Lab, repository};
use tokio::time::Instant;

use crate::lab;
use crate::snippets::{Block, ShellLine, blocks, calls, misunderstood, shell_lines, shown};

/// What runs the tests. It cannot be one of them, but it must be what CI runs.
const TEST_COMMAND: &str = "sh tests/run.sh";

/// What newcomers run before they have installed anything is the program under test here.
const CARGO: &str = r#"#!/bin/sh
if [ "$1 $2" = "run --" ]; then shift 2; exec packtrain "$@"; fi
echo "only \`cargo run -- ...\` is tried; put the rest into a console block" >&2
exit 101
"#;

/// What pages install is what the test command has installed: packages are linked, environments too.
/// Everything else is npm's and Python's own; programs in Python find the program under test.
const NPM: &str = r#"#!/bin/sh
if [ "$1 $2" = "install --prefix" ]; then exec ln -s "$PACKTRAIN_TEST_SOURCES/node_modules" "$3/node_modules"; fi
PATH=${PATH#*:} exec npm "$@"
"#;
const PYTHON: &str = r#"#!/bin/sh
if [ "$1 $2" = "-m venv" ]; then exec ln -s "$PACKTRAIN_TEST_SOURCES/../test-venv-fastmcp3" "$3"; fi
PATH=${PATH#*:}:${PATH%%:*} exec python3 "$@"
"#;

/// How long processes of a page may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(20);
/// How often it is looked.
const END_POLL: Duration = Duration::from_millis(50);

/// Tries every block of a page; what is wrong, one text each.
pub fn try_page(page: &Path) -> Vec<String> {
    let blocks = blocks(&std::fs::read_to_string(page).unwrap());
    if blocks.is_empty() {
        return Vec::new();
    }
    let workspace = Workspace::new();
    let tried = blocks.iter().enumerate();
    let tried = tried.flat_map(|(number, block)| workspace.try_block(block, number));
    let mut wrong: Vec<_> = tried
        .map(|wrong| format!("{}:{wrong}", shown(page)))
        .collect();
    wrong.extend(
        workspace
            .left()
            .map(|left| format!("{}: {left}", shown(page))),
    );
    wrong
}

struct Workspace {
    lab: Lab,
}

impl Workspace {
    /// A fresh workspace with the examples in it and the program on its search path.
    fn new() -> Self {
        let lab = lab();
        copy(
            &repository().join("examples"),
            &lab.folder().join("examples"),
        );
        let bin = lab.folder().join("bin");
        std::fs::create_dir(&bin).unwrap();
        let program = env!("CARGO_BIN_EXE_packtrain-under-test");
        std::os::unix::fs::symlink(program, bin.join("packtrain")).unwrap();
        if let Some(server) = std::env::var_os("PACKTRAIN_TEST_NATS") {
            std::os::unix::fs::symlink(server, bin.join("nats-server")).unwrap();
        }
        for (name, script) in [("cargo", CARGO), ("npm", NPM), ("python3", PYTHON)] {
            std::fs::write(bin.join(name), script).unwrap();
            std::fs::set_permissions(bin.join(name), Permissions::from_mode(0o755)).unwrap();
        }
        Self { lab }
    }

    /// Ends what a page started in the background and did not end, and says so. What belongs to a process
    /// that was killed, such as its browser, has a while to notice.
    fn left(&self) -> Option<String> {
        let begun = Instant::now();
        let mut left = self.processes();
        while !left.is_empty() && begun.elapsed() < END_TIMEOUT {
            // Nobody tells of the end of somebody else's process.
            std::thread::park_timeout(END_POLL);
            left = self.processes();
        }
        for process in &left {
            let _ = Command::new("kill").arg("-9").arg(process).status();
        }
        (!left.is_empty()).then(|| format!("{} processes are left", left.len()))
    }

    /// The processes that work in this workspace.
    fn processes(&self) -> Vec<String> {
        let ours = packtrain_testing::processes_of(self.lab.folder()).into_iter();
        ours.map(|one| one.pid.to_string()).collect()
    }

    fn try_block(&self, block: &Block, number: usize) -> Vec<String> {
        match block.language() {
            "sh" => {
                let lines = shell_lines(&block.text, block.line);
                lines.iter().filter_map(|line| self.run(line)).collect()
            }
            "console" | "" => calls(&block.text)
                .iter()
                .filter_map(|call| misunderstood(&self.lab, call))
                .map(|wrong| format!("{}: {wrong}", block.line))
                .collect(),
            "yaml" => self.check(block, number).into_iter().collect(),
            "json" => (!is_json(&block.text))
                .then(|| format!("{}: the block is no JSON", block.line))
                .into_iter()
                .collect(),
            _ => Vec::new(),
        }
    }

    fn run(&self, line: &ShellLine) -> Option<String> {
        if line.command == TEST_COMMAND {
            let ci = std::fs::read_to_string(repository().join(".ci/run")).unwrap();
            let is_run = ci.ends_with(&format!("exec {TEST_COMMAND}\n"));
            return (!is_run).then(|| format!("{}: CI runs something else", line.line));
        }
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = self.lab.folder().join("bin");
        let output = Command::new("sh")
            .args(["-c", &line.command])
            .current_dir(self.lab.folder())
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("XDG_CONFIG_HOME", self.lab.folder().join(".config"))
            .env("XDG_STATE_HOME", self.lab.folder().join(".state"))
            .env("XDG_CACHE_HOME", self.lab.folder().join(".cache"))
            // Not where the daemon of the user who runs the tests is.
            .env("XDG_RUNTIME_DIR", self.lab.folder().join(".run"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let ended = Ended::from(output);
        (ended.code != line.exit).then(|| {
            format!(
                "{}: `{}` ended with {}, not {}\nstdout:\n{}\nstderr:\n{}",
                line.line, line.command, ended.code, line.exit, ended.stdout, ended.stderr
            )
        })
    }

    /// Checks YAML as what it begins like. A first line `# path/file.yaml` says where it is kept for
    /// the commands that follow.
    fn check(&self, block: &Block, number: usize) -> Option<String> {
        let named = block
            .text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# "));
        let path = named.filter(|name| name.ends_with(".yaml") && !name.contains(' '));
        let begins = block
            .text
            .lines()
            .find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let key = begins
            .trim_start_matches("- ")
            .split(':')
            .next()
            .unwrap_or_default();
        let is_item = begins.starts_with("- ");
        let checked = path.map_or_else(|| format!("checked/{number}.trail.yaml"), str::to_owned);
        let flags = block
            .info
            .iter()
            .skip(1)
            .flat_map(|word| match word.split_once('=') {
                Some(("secret", name)) => vec!["--secret", name],
                _ => Vec::new(),
            });
        let is_loose = block.info.iter().any(|word| word == "loose");
        let strict = (!is_loose).then_some("--strict");
        let flags: Vec<&str> = flags.chain(strict).collect();
        let below = |indent: &str| {
            block
                .text
                .lines()
                .map(|line| format!("{indent}{line}\n"))
                .collect::<String>()
        };
        let trail = match (key, is_item) {
            ("id", false) => {
                // The name says whether it is a tool or a toolset.
                self.lab.write(&checked, &block.text);
                let arguments = [&["check", &checked], &flags[..]].concat();
                return fault(block.line, "has mistakes", &self.lab.run(&arguments));
            }
            ("config" | "trail" | "trailhead", false) => block.text.clone(),
            ("step" | "verify", true) => format!("config: {{}}\ntrail:\n{}", below("  ")),
            (_, true) => format!(
                "config: {{}}\ntrail:\n  - step: x\n    recording:\n      web:\n{}",
                below("        ")
            ),
            ("nodeSelector", false) if block.text.contains("android") => format!(
                "config: {{}}\ntrail:\n  - step: x\n    recording:\n      android:\n        - tapOnElementBySelector:\n{}",
                below("            ")
            ),
            ("nodeSelector", false) => format!(
                "config: {{}}\ntrail:\n  - step: x\n    recording:\n      web:\n        - web_click:\n{}",
                below("            ")
            ),
            ("seed" | "rules", false) => {
                self.lab.write(&checked, &block.text).write(
                    "faulty.yaml",
                    &format!("devices: {{ virtual: {{ profile: fast, faults: {checked} }} }}\n"),
                );
                let arguments = [
                    "snapshot",
                    "-d",
                    "virtual:android",
                    "--config",
                    "faulty.yaml",
                ];
                return fault(
                    block.line,
                    "is no file of faults",
                    &self.lab.run(&arguments),
                );
            }
            _ => {
                self.lab.write(&checked, &block.text);
                let ended = self.lab.run(&["config", "--config", &checked]);
                return fault(block.line, "is no configuration", &ended);
            }
        };
        self.lab.write(&checked, &trail);
        let ended = self
            .lab
            .run(&[["check"].as_slice(), &flags, &[&checked]].concat());
        fault(block.line, "is no trail", &ended)
    }
}

fn fault(line: usize, what: &str, ended: &Ended) -> Option<String> {
    let warned = ended.stderr.contains("warning:") && what.contains("configuration");
    (ended.code != 0 || warned).then(|| format!("{line}: the block {what}:\n{}", ended.stderr))
}

/// One document, or one on each line.
fn is_json(text: &str) -> bool {
    let parses = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    parses(text) || text.lines().all(parses)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            if !path.ends_with(".packtrain") {
                copy(&path, &target);
            }
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}
