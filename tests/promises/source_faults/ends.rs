//! How runs end while sources are at work, and who shares which process.

use packtrain_tests::{ended, interrupt, processes_with, until};
use serde_json::Value;
use tokio::time::Instant;

use super::{Bench, GONE_TIMEOUT, pids};

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
