//! Tool sources that break: each is told clearly and by its name, costs nobody else anything, comes
//! back within its budget, and leaves no process behind. The server is `tests/sources/faulty.mjs`.

use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use packtrain_tests::{Ended, Lab, ended, interrupt, processes_with, repository, until};
use serde_json::Value;

use crate::lab;

/// Memory of Packtrain that no answer may make it take, in KiB.
const MAX_MEMORY: u64 = 400 * 1024;
/// How long after its end anything may still be there that it started.
const GONE_TIMEOUT: Duration = Duration::from_secs(10);

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

#[track_caller]
fn has(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part}\n{said}");
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

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

// Crashes.

#[test]
fn a_crash_is_the_source_s_fault_and_the_next_call_finds_it_started_again() {
    for transport in ["stdio", "http"] {
        let keys =
            format!("transport: {transport}, scope: per-device, restart: {{ backoff: 20ms }}");
        let bench = Bench::new()
            .source("bad", "", &keys)
            .source("good", "", "transport: stdio")
            .trail("a", &["bad_crash: { on: virtual-1 }", "good_ok: {}"])
            .trail("b", &["bad_ok: {}", "good_ok: {}"]);
        let said = bench.run(2, 2).stderr;
        let expected = [
            "tool source `bad` died while `bad_crash` was running\nexit code: 42\n",
            "last words 1\nlast words 2\nlast words 3",
            "whether the call had an effect is not known",
        ];
        bench.ended("a", "infrastructure source", &expected);
        has(&said, &["exit code: 42", "last words 3"]);
        assert_eq!(bench.results("a")[1].0, "passed", "the other phone");
        bench.passed("b");
        assert_eq!(bench.recorded("bad", "start").len(), 3, "{transport}");
        assert_eq!(bench.recorded("good", "start").len(), 1);
    }
}

#[test]
fn a_source_that_may_not_be_started_again_stays_down_and_others_go_on() {
    let keys = "transport: stdio, scope: per-run, restart: { max: 0 }";
    let bench = Bench::new()
        .source("bad", "", keys)
        .source("good", "", "transport: stdio")
        .trail("a", &["bad_crash: {}"])
        .trail("b", &["bad_ok: {}"])
        .trail("c", &["good_ok: {}"]);
    bench.run(1, 2);
    let expected = [
        "tool source `bad`: it ended (exit code: 42) and is not started again: `restart.max` is 0",
        "last words 3",
    ];
    bench.ended("b", "infrastructure source", &expected);
    bench.passed("c");
    assert_eq!(bench.recorded("bad", "start").len(), 1);
}

#[test]
fn a_source_that_dies_again_and_again_is_given_up_within_its_budget() {
    let keys = "transport: stdio, scope: per-run, restart: { max: 2, backoff: 10ms..20ms }";
    let mut bench = Bench::new().source("bad", "", keys);
    for trail in ["a", "b", "c", "d", "e"] {
        bench = bench.trail(trail, &["bad_crash: {}"]);
    }
    bench.run(1, 2);
    bench.ended(
        "c",
        "infrastructure source",
        &["died while `bad_crash`", "exit code: 42"],
    );
    let given_up = [
        "and stays down: it was started again 2 times within 300 s",
        "exit code: 42",
    ];
    for trail in ["d", "e"] {
        bench.ended(trail, "infrastructure source", &given_up);
    }
    assert_eq!(bench.recorded("bad", "start").len(), 3);
}

// Silence.

#[test]
fn a_call_that_is_silent_too_long_is_the_source_s_fault_and_its_server_is_told() {
    for transport in ["stdio", "http"] {
        let keys = format!("transport: {transport}, scope: per-run, callTimeout: 300ms");
        let bench = Bench::new()
            .source("bad", "", &keys)
            .trail("a", &["bad_hang: {}"])
            .trail("b", &["bad_ok: {}"]);
        bench.run(1, 2);
        let expected = "`bad_hang` of tool source `bad` was silent for 0.3 s";
        bench.ended("a", "infrastructure source", &[expected, "`callTimeout`"]);
        bench.passed("b");
        let cancelled = bench.recorded("bad", "cancelled");
        assert_eq!(cancelled.len(), 1, "{transport}");
        assert_eq!(cancelled[0]["id"], bench.recorded("bad", "call")[0]["id"]);
        // It is well, so it goes on.
        assert_eq!(bench.recorded("bad", "start").len(), 1);
    }
}

#[test]
fn a_server_that_answers_nothing_any_more_is_started_again_before_the_next_call() {
    let fixed = free_port();
    let wires = [
        "transport: stdio".to_owned(),
        format!("transport: http, port: {fixed}"),
    ];
    for (wire, arguments) in wires.iter().zip([String::new(), format!("port={fixed}")]) {
        let keys = format!(
            "{wire}, scope: per-run, callTimeout: 200ms, cancelGrace: 200ms, \
             restart: {{ max: 1, backoff: 10ms }}, stop: {{ stdinGrace: 200ms, termGrace: 200ms }}"
        );
        let bench = Bench::new()
            .source("bad", &arguments, &keys)
            .trail("a", &["bad_block: {}"])
            .trail("b", &["bad_ok: {}"]);
        bench.run(1, 2);
        bench.ended("a", "infrastructure source", &["was silent for 0.2 s"]);
        bench.passed("b");
        assert_eq!(bench.recorded("bad", "start").len(), 2, "{wire}");
    }
}

#[test]
fn progress_keeps_a_call_alive_and_the_longest_time_bounds_it() {
    let slow = "bad_slow: { ms: 900, every: 100 }";
    for (keys, why) in [
        ("callTimeout: 400ms", None),
        (
            "callTimeout: 400ms, resetOnProgress: false",
            Some("was silent for 0.4 s"),
        ),
        ("callTimeout: 400ms, maxTotal: 500ms", Some("took 0.5 s")),
    ] {
        for transport in ["stdio", "http"] {
            let keys = format!("transport: {transport}, {keys}");
            let bench = Bench::new().source("bad", "", &keys).trail("a", &[slow]);
            bench.run(1, if why.is_some() { 2 } else { 0 });
            match why {
                None => bench.passed("a"),
                Some(why) => bench.ended("a", "infrastructure source", &[why, "`maxTotal`"]),
            }
        }
    }
}

#[test]
fn callbacks_keep_a_call_alive_however_long_they_take() {
    let bench = Bench::new()
        .source("bad", "", "transport: stdio, callTimeout: 400ms")
        .trail(
            "a",
            &["bad_back: { tool: dumpMemory, times: 4, pause: 200 }"],
        )
        .trail(
            "b",
            &["bad_back: { tool: wait, args: { timeToWaitInSeconds: 1 } }"],
        );
    bench.run(1, 0);
}

#[test]
fn a_server_that_reads_nothing_any_more_holds_nobody_up() {
    // More than a pipe holds.
    let long = format!("bad_ok: {{ long: \"{}\" }}", "x".repeat(300_000));
    let keys = "transport: stdio, scope: per-run, callTimeout: 300ms, cancelGrace: 200ms, \
                stop: { stdinGrace: 200ms, termGrace: 200ms }, restart: { backoff: 10ms }";
    let bench = Bench::new()
        .source("bad", "", keys)
        .trail("a", &["bad_deaf: {}", &long])
        .trail("b", &["bad_ok: {}"]);
    let began = Instant::now();
    bench.run(1, 2);
    bench.ended("a", "infrastructure source", &["was silent for 0.3 s"]);
    bench.passed("b");
    assert!(began.elapsed() < Duration::from_secs(10));
}

// Starts.

#[test]
fn what_does_not_start_is_told_with_its_reason_and_costs_only_those_who_need_it() {
    let bench = Bench::new()
        .source(
            "silent",
            "start=silent",
            "transport: stdio, readyTimeout: 800ms",
        )
        .source(
            "slow",
            "start=slow ms=60000",
            "transport: stdio, readyTimeout: 1s",
        )
        .source("gone", "start=exit", "transport: stdio")
        .source("lost", "", "workingDir: nowhere, transport: stdio")
        .other("nobody", "command: [packtrain-nonesuch], transport: stdio")
        .other("script", "script: nothere.mjs, transport: stdio")
        .source("good", "", "transport: stdio")
        .trail("a", &["good_ok: {}"])
        .trail("b", &["gone_ok: {}"]);
    let said = bench.run(1, 2).stderr;
    has(
        &said,
        &[
            "tool source `silent`: it did not answer within 0.8 s",
            "tool source `slow`: it did not answer within 1.0 s",
            "tool source `gone`: it ended before it answered (exit code: 3)",
            "reason 1\n  reason 2\n  reason 3",
            "tool source `lost`: its folder ",
            "nowhere is not there",
            "tool source `nobody`: there is no program `packtrain-nonesuch`",
            "tool source `script`: the script ",
            "nothere.mjs is not there",
        ],
    );
    bench.passed("a");
    let expected = [
        "unknown tool `gone_ok`",
        "tool source `gone`: it ended before it answered",
    ];
    bench.ended("b", "infrastructure source", &expected);
}

#[test]
fn a_script_that_nothing_can_run_says_what_would_run_it() {
    let bench = Bench::new()
        .other("typed", "script: typed.ts")
        .trail("a", &["typed_ok: {}"]);
    bench.lab.write("typed.ts", "");
    let mut command = bench.command(1, &[]);
    command.env("PATH", bench.lab.folder());
    let said = Ended::from(command.output().unwrap()).expect(2).stderr;
    let expected = [
        "no TypeScript runtime to run ",
        "typed.ts",
        "install bun (https://bun.sh), or node and tsx",
    ];
    has(&said, &expected);
}

// HTTP.

#[test]
fn a_server_that_cannot_do_http_is_called_by_its_standard_input_and_output() {
    for (how, note) in [
        ("http=ignore", "it ignores `--transport http`"),
        (
            "http=refuse",
            "it does not take `--transport http` (exit code: 2)",
        ),
    ] {
        let bench = Bench::new()
            .source("bad", how, "transport: http")
            .trail("a", &["bad_meet: { of: 2 }"]);
        bench.run(2, 0);
        let log = bench.log("bad");
        has(
            &log,
            &[note, "all calls share its standard input and output"],
        );
    }
}

#[test]
fn a_server_that_listens_late_is_waited_for() {
    let bench = Bench::new()
        .source("bad", "http=late", "transport: http")
        .trail("a", &["bad_ok: {}"]);
    bench.run(2, 0);
    assert_eq!(bench.recorded("bad", "start").len(), 1);
}

#[test]
fn nobody_else_on_a_port_is_ever_talked_to() {
    // On another address of loopback the port is still free.
    for host in ["127.0.0.1", "::1"] {
        let (squatter, port) = squatter();
        let keys = format!("transport: http, port: {port}, readyTimeout: 5s");
        let bench = Bench::new()
            .source("bad", &format!("port={port} host={host}"), &keys)
            .source("good", "", "transport: http")
            .trail("a", &["bad_ok: {}"])
            .trail("b", &["good_ok: {}"]);
        let said = bench.run(2, 2).stderr;
        has(&said, &["tool source `bad`: ", "taken by another program"]);
        bench.passed("b");
        nobody_came(&squatter);
    }
}

#[test]
fn a_chosen_port_that_was_taken_meanwhile_is_chosen_anew() {
    let bench = Bench::new()
        .source("bad", "http=taken", "transport: http")
        .trail("a", &["bad_ok: {}"]);
    bench.run(2, 0);
    assert_eq!(bench.recorded("bad", "start").len(), 2);
    has(
        &bench.log("bad"),
        &["its port was taken by another program"],
    );
}

#[test]
fn a_port_that_a_server_prints_is_found_at_the_beginning_of_a_line() {
    for pattern in ["listening on ([0-9]+)", "^listening on ([0-9]+)$"] {
        let keys = format!("transport: http, port: {{ stdoutRegex: \"{pattern}\" }}");
        let bench = Bench::new()
            .source("bad", "port=print", &keys)
            .trail("a", &["bad_ok: {}"]);
        bench.run(2, 0);
    }
}

#[test]
fn a_server_that_wants_to_know_who_calls_is_told_in_its_own_words() {
    for status in ["401", "403"] {
        let bench = Bench::new()
            .source(
                "bad",
                &format!("http=unauthorized status={status}"),
                "transport: http, readyTimeout: 5s",
            )
            .trail("a", &["bad_ok: {}"]);
        let said = bench.run(2, 2).stderr;
        has(
            &said,
            &[
                "tool source `bad`: http://",
                status,
                "bring the key of the house",
            ],
        );
    }
}

#[test]
fn an_address_of_nobody_is_told_with_what_was_tried() {
    let port = free_port();
    let bench = Bench::new()
        .other(
            "far",
            &format!("url: \"http://127.0.0.1:{port}/mcp\", readyTimeout: 700ms"),
        )
        .source("good", "", "transport: stdio")
        .trail("a", &["far_ok: {}"])
        .trail("b", &["good_ok: {}"]);
    let said = bench.run(1, 2).stderr;
    has(
        &said,
        &[
            "tool source `far`: it did not answer within 0.7 s",
            "http://127.0.0.1:",
            "onnection refused",
        ],
    );
    bench.passed("b");
}

#[test]
fn a_server_of_somebody_else_that_dies_costs_its_calls_only() {
    let bench = Bench::new().source("good", "", "transport: stdio");
    let words = bench.words("bad", "port=print");
    let mut server = Command::new(&words[0])
        .args(&words[1..])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(server.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let port = line.trim().rsplit(' ').next().unwrap();
    let bench = bench
        .other("bad", &format!("url: \"http://127.0.0.1:{port}/mcp\""))
        .trail("a", &["bad_ok: {}", "bad_crash: {}"])
        .trail("b", &["bad_ok: {}"])
        .trail("c", &["good_ok: {}"]);
    bench.run(1, 2);
    assert_eq!(server.wait().unwrap().code(), Some(42));
    let expected = "the connection to tool source `bad` broke while `bad_crash` was running";
    bench.ended("a", "infrastructure source", &[expected]);
    bench.ended("b", "infrastructure source", &["tool source `bad`"]);
    bench.passed("c");
}

// What comes over the wire.

#[test]
fn what_is_no_message_is_logged_and_costs_nothing() {
    let bench = Bench::new()
        .source("bad", "start=noisy", "transport: stdio")
        .trail("a", &["bad_noisy: {}", "bad_ok: {}"]);
    bench.run(1, 0);
    assert_eq!(bench.answers("bad_noisy"), ["in pieces: äöü"]);
    let log = bench.log("bad");
    has(
        &log,
        &[
            "[stdout] Welcome to the server!",
            "[stdout] {\"level\":\"info\",\"half\":",
            "[stdout] \u{fffd}\u{fffd}A",
            "[stdout] garbage before",
            "[stdout] {\"no\":\"rpc\"}",
            "[stdout] half a line",
            "[stdout] garbage behind",
        ],
    );
}

#[test]
fn an_answer_that_is_none_fails_its_call_at_once() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "", &format!("transport: {transport}"))
            .trail("a", &["bad_malformed: {}"])
            .trail("b", &["bad_ok: {}"]);
        bench.run(1, 1);
        bench.ended("a", "failed", &["it answered something else"]);
        bench.passed("b");
    }
}

#[test]
fn an_answer_of_fifty_megabytes_fails_its_call_and_nothing_else() {
    for (keys, arguments) in [
        ("transport: stdio, scope: per-run", ""),
        ("transport: http", ""),
        ("transport: http", "answers=json"),
    ] {
        let bench = Bench::new()
            .source("bad", arguments, keys)
            .trail("a", &["bad_big: { mb: 50 }"])
            .trail("b", &["bad_ok: {}"]);
        let said = bench.run(1, 1).stderr;
        bench.ended("a", "failed", &["16777216"]);
        bench.passed("b");
        assert_eq!(bench.recorded("bad", "start").len(), 1, "{said}");
        is_modest(&bench);
    }
}

#[test]
fn a_call_that_tells_its_progress_a_hundred_thousand_times_passes() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "", &format!("transport: {transport}"))
            .trail("a", &["bad_flood: { count: 100000 }"])
            .trail("b", &["bad_ok: {}"]);
        let began = Instant::now();
        bench.run(1, 0);
        assert!(began.elapsed() < Duration::from_secs(20));
        is_modest(&bench);
    }
}

/// The most memory that Packtrain has taken, as the servers that it started saw it.
#[track_caller]
fn is_modest(bench: &Bench) {
    let calls = bench.recorded("bad", "call");
    let peaks = calls.iter().filter_map(|call| call["peak"].as_u64());
    let peak = peaks.max().unwrap();
    assert!(peak < MAX_MEMORY, "{peak} KiB");
}

#[test]
fn an_answer_reaches_the_call_that_it_is_for_and_no_other() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "", &format!("transport: {transport}"))
            .trail(
                "a",
                &["bad_swap: {}", "bad_twice: { word: a }", "bad_swap: {}"],
            );
        bench.run(2, 0);
        let events = bench.lab.events();
        let devices = events
            .iter()
            .filter(|event| event["event"] == "session_started");
        for started in devices {
            let device = started["device"]["id"].as_str().unwrap();
            let answers: Vec<_> = events
                .iter()
                .filter(|event| {
                    event["event"] == "tool_finished" && event["session"] == started["session"]
                })
                .map(|event| event["answer"].as_str().unwrap())
                .collect();
            let own = format!("for {}", device.trim_start_matches("android/"));
            assert_eq!(answers, [&own, "twice for a", &own], "{transport}");
        }
    }
}

// Tools that change.

#[test]
fn a_tool_that_comes_meanwhile_is_there_for_the_next_step() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "", &format!("transport: {transport}"))
            .trail("a", &["bad_add: { tool: new }", "bad_new: {}"]);
        bench.run(1, 0);
    }
}

#[test]
fn a_tool_that_goes_meanwhile_is_unknown_to_the_next_step() {
    let bench = Bench::new().source("bad", "", "transport: stdio").trail(
        "a",
        &["bad_ok: {}", "bad_remove: { tool: ok }", "bad_ok: {}"],
    );
    bench.run(1, 1);
    bench.ended("a", "failed", &["nknown tool", "bad_ok"]);
}

#[test]
fn a_name_that_is_taken_meanwhile_is_told_and_all_tools_stay_as_they_were() {
    let bench = Bench::new()
        .source("bad", "", "transport: stdio")
        .source("good", "", "transport: stdio")
        .trail(
            "a",
            &[
                "bad_take: { tool: good_ok, with: bad_extra }",
                "good_ok: {}",
                "bad_ok: {}",
            ],
        )
        .trail("b", &["bad_extra: {}"]);
    let said = bench.run(1, 2).stderr;
    bench.passed("a");
    bench.ended(
        "b",
        "infrastructure source",
        &["unknown tool `bad_extra`", "lists now are not registered"],
    );
    has(
        &said,
        &[
            "tool `good_ok` is defined more than once",
            "lists now are not registered",
        ],
    );
    assert!(bench.answers("good_ok")[0].starts_with("good_ok by "));
}

// Ends.

#[test]
fn a_server_that_does_not_want_to_end_is_killed_with_what_it_started() {
    let keys = "transport: stdio, stop: { stdinGrace: 200ms, termGrace: 200ms }";
    let bench = Bench::new()
        .source("bad", "start=stubborn", keys)
        .source("other", "start=child", "transport: stdio")
        .trail("a", &["bad_ok: {}", "other_ok: {}"]);
    let began = Instant::now();
    bench.run(1, 0);
    assert!(began.elapsed() < GONE_TIMEOUT);
    assert_eq!(bench.recorded("bad", "eof").len(), 1);
    assert_eq!(bench.recorded("bad", "term").len(), 1);
}

#[test]
fn a_killed_run_leaves_neither_source_nor_what_it_started() {
    for transport in ["stdio", "http"] {
        let keys = format!("transport: {transport}");
        let bench = Bench::new()
            .source("bad", "start=stubborn", &keys)
            .trail("a", &["bad_hang: {}"]);
        let mut child = bench.start(1, &[]);
        until(|| bench.arrived("hang") == 1);
        let folder = bench.lab.folder().display().to_string();
        assert!(processes_with(&folder).len() >= 2);
        child.kill().unwrap();
        let killed = Instant::now();
        child.wait().unwrap();
        until(|| processes_with(&folder).is_empty());
        assert!(killed.elapsed() < GONE_TIMEOUT);
    }
}

#[test]
fn an_interrupted_run_calls_its_calls_off_and_writes_its_reports() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "start=child", &format!("transport: {transport}"))
            .trail("a", &["bad_hang: {}"]);
        let child = bench.start(2, &[]);
        until(|| bench.arrived("hang") == 2);
        interrupt(&child);
        ended(child).expect(2);
        bench.is_empty();
        let cancelled = bench.recorded("bad", "cancelled");
        assert_eq!(cancelled.len(), 2, "{transport}");
        let outcomes: Vec<_> = bench.lab.outcomes().into_values().collect();
        assert_eq!(outcomes, ["cancelled", "cancelled"]);
        for report in ["report.html", "report.json", "junit.xml"] {
            assert!(bench.lab.run_folder().join(report).is_file(), "{report}");
        }
    }
}

#[test]
fn a_run_can_be_interrupted_while_its_sources_start() {
    let bench = Bench::new()
        .source("bad", "start=silent", "transport: stdio")
        .trail("a", &["bad_ok: {}"]);
    let child = bench.start(1, &[]);
    until(|| bench.recorded("bad", "start").len() == 1);
    interrupt(&child);
    ended(child).expect(2);
    bench.is_empty();
}

#[test]
fn a_session_that_ends_early_calls_its_call_off() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "", &format!("transport: {transport}"))
            .trail("a", &["bad_hang: {}"]);
        bench.run_with(1, &["--timeout", "2s"], 1);
        bench.ended("a", "failed", &["`bad_hang` was still running"]);
        let cancelled = bench.recorded("bad", "cancelled");
        assert_eq!(cancelled.len(), 1, "{transport}");
    }
    let bench = Bench::new().source("bad", "", "transport: stdio").trail(
        "a",
        &[
            "bad_wait: { what: call, count: 2, on: virtual-1 }",
            "bad_hang: { on: virtual-2 }",
            "nonesuch: {}",
        ],
    );
    bench.run_with(2, &["--fail-fast"], 1);
    assert_eq!(bench.recorded("bad", "cancelled").len(), 1);
}

#[test]
fn a_call_inside_of_a_call_that_ends_is_called_off_too() {
    // The outer server dies while its callback is served by the inner one.
    let bench = Bench::new()
        .source(
            "bad",
            "",
            "transport: stdio, callTimeout: 500ms, maxTotal: 600ms",
        )
        .source("inner", "", "transport: stdio")
        .trail("a", &["bad_back: { tool: inner_hang }"]);
    bench.run(1, 2);
    bench.ended(
        "a",
        "infrastructure source",
        &["`bad_back` of tool source `bad` took 0.6 s"],
    );
    assert_eq!(bench.recorded("inner", "cancelled").len(), 1);
}

// Who shares what.

#[test]
fn with_one_device_each_session_has_a_process_of_its_own() {
    let bench = Bench::new()
        .source("bad", "", "")
        .trail("a", &["bad_ok: {}", "bad_ok: {}"])
        .trail("b", &["bad_ok: {}", "bad_ok: {}"]);
    bench.run(1, 0);
    let calls = pids(&bench.recorded("bad", "call"));
    assert_eq!(calls[0], calls[1]);
    assert_eq!(calls[2], calls[3]);
    assert_ne!(calls[0], calls[2]);
    let starts = bench.recorded("bad", "start");
    let session = |pid: u64| {
        let start = starts.iter().find(|start| start["pid"] == pid);
        start.unwrap()["session"].as_str().unwrap().to_owned()
    };
    assert_ne!(session(calls[0]), session(calls[2]));
    assert_eq!(starts.len(), 2);
}

#[test]
fn calls_of_several_devices_are_under_way_on_one_server_at_the_same_time() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "", &format!("transport: {transport}"))
            .trail("a", &["bad_meet: { of: 3 }"]);
        bench.run(3, 0);
        let calls = bench.recorded("bad", "call");
        let answers = bench.recorded("bad", "answer");
        let first = answers
            .iter()
            .map(|answer| &answer["at"])
            .map(Value::as_u64)
            .min();
        assert!(
            calls
                .iter()
                .all(|call| call["at"].as_u64() <= first.unwrap())
        );
        assert_eq!(bench.recorded("bad", "start").len(), 1);
    }
}

#[test]
fn a_source_that_takes_one_call_at_a_time_gets_one_at_a_time() {
    let bench = Bench::new()
        .source("bad", "", "transport: http, concurrency: 1")
        .trail("a", &["bad_ok: { ms: 100 }", "bad_ok: { ms: 100 }"]);
    bench.run(3, 0);
    let text = bench.lab.read("record");
    let kinds: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["what"].clone())
        .filter(|what| what == "call" || what == "answer")
        .collect();
    assert_eq!(kinds.len(), 12);
    for pair in kinds.chunks(2) {
        assert_eq!(pair, ["call", "answer"]);
    }
}

#[test]
fn a_device_stays_with_its_replica() {
    let bench = Bench::new()
        .source("bad", "", "transport: http, replicas: 2")
        .trail("a", &["bad_ok: {}", "bad_meet: { of: 1 }", "bad_ok: {}"]);
    bench.run(2, 0);
    let calls = bench.recorded("bad", "call");
    let of = |device: &str| {
        let calls: Vec<_> = calls
            .iter()
            .filter(|call| call["device"] == device)
            .cloned()
            .collect();
        let mut pids = pids(&calls);
        assert_eq!(pids.len(), 3);
        pids.dedup();
        pids
    };
    let (one, other) = (of("virtual-1"), of("virtual-2"));
    assert_eq!((one.len(), other.len()), (1, 1));
    assert_ne!(one, other);
}
