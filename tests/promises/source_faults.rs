//! Tool sources that break: each is told clearly and by its name, costs nobody else anything, comes
//! back within its budget, and leaves no process behind. The server is `tests/sources/faulty.mjs`.

mod broken;
mod ends;
mod starts;
mod wire;

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab, processes_with, repository};
use serde_json::Value;

use crate::lab;

/// Memory of Packtrain that no answer may make it take, in KiB.
const MAX_MEMORY: u64 = 400 * 1024;
/// How long after its end anything may still be there that it started.
const GONE_TIMEOUT: Duration = Duration::from_secs(30);

/// A workspace with virtual phones and faulty sources.
struct Bench {
    lab: Lab,
    sources: String,
}

impl Bench {
    fn new() -> Self {
        Self {
            lab: lab(),
            sources: String::new(),
        }
    }

    /// The words that start a faulty server.
    fn words(&self, name: &str, arguments: &str) -> Vec<String> {
        let folder = self.lab.folder().display();
        let script = repository().join("tests/sources/faulty.mjs");
        let mut words = vec!["node".to_owned(), script.display().to_string()];
        words.push(format!("name={name}"));
        words.push(format!("record={folder}/record"));
        words.push(format!("mark={folder}"));
        words.extend(arguments.split_ascii_whitespace().map(str::to_owned));
        words
    }

    /// A source that is a faulty server with these arguments and these keys.
    fn source(self, name: &str, arguments: &str, keys: &str) -> Self {
        let command = self.words(name, arguments).join(", ");
        self.other(name, &format!("command: [{command}], {keys}"))
    }

    /// A source with these keys.
    fn other(mut self, name: &str, keys: &str) -> Self {
        self.sources.push_str(&format!("  {name}: {{ {keys} }}\n"));
        let config = format!(
            "devices: {{ virtual: {{ profile: fast }} }}\nmcpServers:\n{}",
            self.sources
        );
        self.lab.write("packtrain.yaml", &config);
        self
    }

    /// A trail with a step for each call.
    fn trail(self, name: &str, calls: &[&str]) -> Self {
        let steps: String = calls
            .iter()
            .map(|call| format!("  - step: x\n    recording: {{ android: [ {call} ] }}\n"))
            .collect();
        let text = format!("config: {{ id: {name} }}\ntrail:\n{steps}");
        self.lab.write(&format!("trails/{name}.trail.yaml"), &text);
        self
    }

    fn command(&self, phones: usize, more: &[&str]) -> Command {
        let devices = format!("virtual:android:{phones}");
        let run = ["run", "trails", "-d", &devices, "--screenshots=none"];
        self.lab.command(&[&run, more].concat())
    }

    /// Runs all trails on so many phones; nothing that was started is there afterwards.
    #[track_caller]
    fn run(&self, phones: usize, code: i32) -> Ended {
        self.run_with(phones, &[], code)
    }

    #[track_caller]
    fn run_with(&self, phones: usize, more: &[&str], code: i32) -> Ended {
        let ended = Ended::from(self.command(phones, more).output().unwrap());
        let ended = ended.expect(code);
        self.is_empty();
        ended
    }

    fn start(&self, phones: usize, more: &[&str]) -> Child {
        let mut command = self.command(phones, more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Nothing that was started is there.
    #[track_caller]
    fn is_empty(&self) {
        let folder = self.lab.folder().display().to_string();
        assert_eq!(processes_with(&folder), Vec::<u32>::new());
    }

    /// What a source recorded of one kind, in order.
    fn recorded(&self, source: &str, what: &str) -> Vec<Value> {
        let file = self.lab.folder().join("record");
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let lines = text
            .lines()
            .map_while(|line| serde_json::from_str(line).ok());
        lines
            .filter(|line: &Value| line["source"] == source && line["what"] == what)
            .collect()
    }

    /// Calls of a tool of `bad` that have arrived.
    fn arrived(&self, tool: &str) -> usize {
        let calls = self.recorded("bad", "call");
        calls.iter().filter(|call| call["tool"] == tool).count()
    }

    /// How the sessions of a trail ended, by the phone's number: outcome, blame and cause.
    fn results(&self, trail: &str) -> Vec<(String, String)> {
        let events = self.lab.events();
        let trails = events[0]["trails"].as_array().unwrap();
        let number = trails.iter().position(|one| one["name"] == trail).unwrap();
        let mut results: Vec<_> = events
            .iter()
            .filter(|event| {
                event["event"] == "session_started" && event["planned"]["trail"] == number
            })
            .map(|started| {
                let end = events.iter().find(|event| {
                    event["event"] == "session_finished" && event["session"] == started["session"]
                });
                let end = end.unwrap();
                let told = |key: &str| end[key].as_str().unwrap_or_default();
                let why = format!("{}{}{}", told("cause"), told("message"), told("hint"));
                let outcome = format!("{} {}", told("outcome"), told("blame"));
                let device = started["device"]["id"].as_str().unwrap().to_owned();
                (device, (outcome.trim().to_owned(), why))
            })
            .collect();
        results.sort();
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// The only session of a trail passed.
    #[track_caller]
    fn passed(&self, trail: &str) {
        for (outcome, why) in self.results(trail) {
            assert_eq!(outcome, "passed", "{trail}: {why}");
        }
    }

    /// The first session of a trail ended this way and says so.
    #[track_caller]
    fn ended(&self, trail: &str, outcome: &str, parts: &[&str]) {
        let (how, why) = &self.results(trail)[0];
        assert_eq!(how, outcome, "{trail}: {why}");
        has(why, parts);
    }

    /// Answers of the calls of a tool, in the order in which they came.
    fn answers(&self, tool: &str) -> Vec<String> {
        let events = self.lab.events();
        let ended = events
            .iter()
            .filter(|event| event["event"] == "tool_finished" && event["tool"] == tool);
        ended
            .map(|event| event["answer"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// What a source's process wrote, and what there was to tell of it.
    fn log(&self, name: &str) -> String {
        let file = self.lab.run_folder().join(format!("sources/{name}.log"));
        String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()
    }
}

fn pids(lines: &[Value]) -> Vec<u64> {
    lines
        .iter()
        .map(|line| line["pid"].as_u64().unwrap())
        .collect()
}

/// A port that somebody else listens on, who notices everybody who comes.
fn squatter() -> (TcpListener, u16) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[track_caller]
fn nobody_came(squatter: &TcpListener) {
    let came = squatter.accept().map(|(_, from)| from);
    let kind = came.as_ref().err().map(std::io::Error::kind);
    assert_eq!(kind, Some(std::io::ErrorKind::WouldBlock), "{came:?}");
}
