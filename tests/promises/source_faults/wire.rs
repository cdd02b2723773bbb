//! What a source says that is wrong, too much, or new.

use super::{Bench, MAX_MEMORY, has};

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
fn an_answer_that_is_no_json_fails_its_call_at_once() {
    let bench = ["surrogate", "nan", "large", "deep"].iter().fold(
        Bench::new().source("bad", "", "transport: stdio, scope: shared"),
        |bench, how| bench.trail(how, &[&format!("bad_unread: {{ how: {how} }}")]),
    );
    let bench = bench.trail("several", &["bad_unread: { how: several }", "bad_ok: {}"]);
    bench.run(1, 1);
    bench.ended("surrogate", "failed", &["its answer cannot be read"]);
    bench.ended("nan", "failed", &["its answer cannot be read"]);
    bench.ended(
        "large",
        "failed",
        &["its answer cannot be read", "out of range"],
    );
    bench.ended(
        "deep",
        "failed",
        &["its answer cannot be read", "recursion"],
    );
    bench.passed("several");
    has(&bench.log("bad"), &["[stdout] {\"result\":NaN,"]);
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
        bench.run(1, 0);
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
        .source("bad", "", "transport: stdio, scope: shared")
        .source("good", "", "transport: stdio, scope: shared")
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
    for report in ["report.html", "report.json", "junit.xml"] {
        let text = bench.lab.read(bench.lab.run_folder().join(report));
        has(&text, &["lists now are not registered"]);
    }
    let shown = bench
        .lab
        .run(&["sources", "--run", "latest"])
        .expect(0)
        .stderr;
    has(
        &shown,
        &["bad: last error: the tools that tool source `bad` lists now"],
    );
}

#[test]
fn a_collision_is_a_note_of_the_session_in_which_it_appears() {
    let bench = Bench::new()
        .source("bad", "", "transport: stdio, scope: shared")
        .trail(
            "a",
            &[
                "bad_take: { tool: inputText }",
                "reloadTools: {}",
                "bad_ok: {}",
                "bad_ok: {}",
            ],
        );
    let said = bench.run(1, 0).stderr;
    has(
        &said,
        &["warning: the tools that tool source `bad` lists now are not registered"],
    );
    assert!(!said.contains("ERROR"), "{said}");
    let events = bench.lab.events();
    let notes = events
        .iter()
        .filter_map(|event| event["report"]["notes"].as_array());
    let collisions = notes.flatten().filter(|note| {
        let note = note.as_str().unwrap_or_default();
        note.contains("`inputText` is defined more than once")
    });
    assert_eq!(collisions.count(), 1);
}

#[test]
fn a_list_of_tools_without_end_is_told_at_once() {
    for (list, why) in [
        ("endless", "it lists more than 10000 tools"),
        ("circle", "the cursor `again` was returned twice"),
    ] {
        let bench = Bench::new()
            .source("bad", &format!("list={list}"), "transport: stdio")
            .source("good", "", "transport: stdio")
            .trail("a", &["bad_ok: {}"])
            .trail("b", &["good_ok: {}"]);
        let ended = bench.run(1, 2);
        bench.ended("a", "infrastructure source", &[why]);
        bench.passed("b");
        has(&ended.stderr, &[why]);
    }
}

#[test]
fn a_malformed_tool_is_left_out_and_the_others_are_there() {
    for transport in ["stdio", "http"] {
        let bench = Bench::new()
            .source("bad", "list=malformed", &format!("transport: {transport}"))
            .trail("a", &["bad_ok: {}"]);
        bench.run(1, 0);
        let left_out = [
            "the tool `bad_bare` is left out: missing field `inputSchema`",
            "the tool `bad_text` is left out: ",
            "the tool `bad_meta` is left out: ",
        ];
        has(&bench.log("bad"), &left_out);
    }
}
