//! Sources that do not start, or not as they are asked to.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use packtrain_testing::free_port;
use packtrain_tests::Ended;

use super::{Bench, has, nobody_came, squatter};

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
            "nowhere does not exist",
            "tool source `nobody`: program `packtrain-nonesuch` not found",
            "tool source `script`: the script ",
            "nothere.mjs does not exist",
        ],
    );
    bench.passed("a");
    let expected = [
        "unknown tool `gone_ok`",
        "tool source `gone`: it ended before it answered",
    ];
    bench.ended("b", "infrastructure source", &expected);
    let events = bench.lab.events();
    let unstarted = events.iter().find_map(|event| event.get("unstarted"));
    let names = unstarted.and_then(serde_json::Value::as_array).unwrap();
    assert!(names.contains(&"gone".into()) && !names.contains(&"good".into()));
    for report in ["report.html", "report.json", "junit.xml"] {
        let text = bench.lab.read(bench.lab.run_folder().join(report));
        has(&text, &["exit code: 3", "reason 1", "reason 3"]);
    }
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

#[test]
fn a_server_that_cannot_do_http_is_called_by_its_standard_input_and_output() {
    for (how, note) in [
        ("http=ignore", "it ignores `--transport http`"),
        (
            "http=refuse",
            "it does not accept `--transport http` (exit code: 2)",
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
