//! Sources that die, and sources that say nothing any more.

use std::time::Duration;

use packtrain_testing::free_port;
use tokio::time::Instant;

use super::{Bench, has};

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
            "the call may have taken effect",
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
    let slow = "bad_slow: { ms: 2000, every: 100 }";
    for (keys, why) in [
        ("callTimeout: 1s", None),
        (
            "callTimeout: 400ms, resetOnProgress: false",
            Some("was silent for 0.4 s"),
        ),
        ("callTimeout: 1s, maxTotal: 1200ms", Some("took 1.2 s")),
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
    assert!(began.elapsed() < Duration::from_secs(30));
}
