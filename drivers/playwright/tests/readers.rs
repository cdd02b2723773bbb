//! The same page read by several: Packtrain on an engine, and Playwright by itself.
//!
//! What each says is lines, one a node: two blanks for each level, role, name, states, value.

use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::Arc;

use packtrain_driver_playwright::{Engine, WebPool, WebSlot, install::Found};
use packtrain_drivers::{
    Command, NodeDetail, Observation, SessionOptions, Snapshot, SnapshotDetail, Tree,
};
use packtrain_testing::TestDevice as _;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::browser::Device;

/// A device of that engine with a session.
pub(crate) async fn device(pool: &Arc<WebPool>, engine: Engine) -> Device {
    let slot = WebSlot {
        engine,
        ..WebSlot::default()
    };
    let mut device = Device::connect_in(pool, slot).await;
    device.begin(SessionOptions::default()).await;
    device
}

/// The page that is open.
pub(crate) async fn snapshot(device: &mut Device) -> Snapshot {
    let detail = SnapshotDetail {
        bounds: true,
        lasting: true,
        ..SnapshotDetail::default()
    };
    match device.ok(Command::Snapshot(detail)).await {
        Observation::Snapshot(snapshot) => *snapshot,
        other => panic!("{other:?}"),
    }
}

/// What the device says of a page.
pub(crate) async fn read(device: &mut Device, url: &str) -> Vec<String> {
    device.go(url).await;
    lines(&snapshot(device).await.tree)
}

/// Without what only Packtrain tells of: hosts of shadow trees that are closed.
fn lines(tree: &Tree) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, node) in tree.iter() {
        let NodeDetail::Web(web) = &node.detail else {
            panic!("{node:?} on a page");
        };
        let role = web.role.as_deref().unwrap_or("no role");
        let mut states = web.states.clone();
        if role == "generic" && states == ["unread"] {
            continue;
        }
        let mut line = format!("{:1$}{role}", "", 2 * tree.ancestors(id).count());
        if let Some(name) = &web.name {
            let _ = write!(line, " {}", serde_json::json!(name));
        }
        states.extend(web.level.map(|level| format!("level={level}")));
        states.sort();
        for state in states {
            let _ = write!(line, " [{state}]");
        }
        if let Some(value) = &web.value {
            let _ = write!(line, ": {}", serde_json::json!(value));
        }
        lines.push(line);
    }
    lines
}

/// Lines that only one of two has, in their order. Two that have the same lines in another order
/// differ by the first that is out of place.
pub(crate) fn differences(one: &[String], other: &[String]) -> (Vec<String>, Vec<String>) {
    let without = |all: &[String], known: &[String]| {
        let mut known = known.to_vec();
        let mut left = Vec::new();
        for line in all {
            match known.iter().position(|have| have == line) {
                Some(at) => drop(known.swap_remove(at)),
                None => left.push(line.clone()),
            }
        }
        left
    };
    let (ones, others) = (without(one, other), without(other, one));
    if ones.is_empty() && others.is_empty() {
        let out_of_place = one.iter().zip(other).find(|(one, other)| one != other);
        let sides = out_of_place.map(|(one, other)| (vec![one.clone()], vec![other.clone()]));
        return sides.unwrap_or_default();
    }
    (ones, others)
}

/// Playwright on an engine, without Packtrain: a process that answers an address with what
/// `ariaSnapshot` says. It ends its browser and itself when it is asked no more.
pub(crate) struct AriaSnapshots {
    process: Child,
    asked: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl AriaSnapshots {
    pub(crate) fn start(found: &Found, engine: Engine) -> Self {
        let installation = found.installation().unwrap();
        let (kind, executable) = match engine {
            Engine::Chromium => ("chromium", found.browser.as_ref()),
            Engine::Firefox => ("firefox", found.firefox.as_ref()),
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/aria_snapshot.mjs");
        let mut process = tokio::process::Command::new(&installation.node)
            .arg(script)
            .arg(&installation.cli)
            .arg(kind)
            .arg(executable.unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap()).lines();
        Self {
            asked: process.stdin.take().unwrap(),
            process,
            answers,
        }
    }

    pub(crate) async fn read(&mut self, url: &str) -> Vec<String> {
        let line = format!("{url}\n");
        self.asked.write_all(line.as_bytes()).await.unwrap();
        let answer = self.answers.next_line().await.unwrap();
        serde_json::from_str(&answer.expect("Playwright is still there")).unwrap()
    }

    /// Closes the browser.
    pub(crate) async fn close(self) {
        let Self {
            mut process, asked, ..
        } = self;
        drop(asked);
        assert!(process.wait().await.unwrap().success());
    }
}
