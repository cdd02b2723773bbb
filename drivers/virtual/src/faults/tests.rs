use super::*;

fn names(index: usize) -> [String; 2] {
    [
        format!("android/virtual-{index}"),
        format!("VIRTUAL{index:05}"),
    ]
}

fn state(rules: &str, index: usize) -> FaultState {
    let faults = Faults::parse(rules, "faults.yaml").unwrap_or_else(|e| panic!("{e}"));
    FaultState::new(&faults, names(index), (index, 1000), 0)
}

fn hits(state: &mut FaultState, event: Event<'_>, count: usize) -> Vec<bool> {
    let at = Duration::from_secs(1);
    (0..count)
        .map(|_| !state.fire(event, at).is_empty())
        .collect()
}

#[test]
fn nth_every_and_times_count_the_events_a_rule_matches() {
    let tap = Event::Touch("tap sign_in");
    let nth = "rules: [{match: {touch: tap}, when: {nth: 2}, do: swallow}]";
    assert_eq!(
        hits(&mut state(nth, 0), tap, 4),
        [false, true, false, false]
    );
    let every = "rules: [{match: {touch: tap}, when: {every: 2, times: 1}, do: swallow}]";
    assert_eq!(
        hits(&mut state(every, 0), tap, 4),
        [false, true, false, false]
    );
    let other = "rules: [{match: {touch: ^swipe}, do: swallow}]";
    assert_eq!(hits(&mut state(other, 0), tap, 1), [false]);
}

#[test]
fn chance_is_the_same_in_every_run_and_differs_between_devices() {
    let rules = "{seed: 5, rules: [{match: {touch: ''}, when: {probability: 0.5}, do: swallow}]}";
    let run = |index| hits(&mut state(rules, index), Event::Touch("tap"), 64);
    assert_eq!(run(0), run(0));
    assert_ne!(run(0), run(1));
    let happened = run(0).into_iter().filter(|hit| *hit).count();
    assert!((16..48).contains(&happened), "{happened} of 64");
}

#[test]
fn a_rule_has_a_time_window_and_devices() {
    let rules = "rules: [{match: {command: '', device: android/.*-1$}, when: {from: 2s, until: 3000}, do: {reboot: 500ms}}]";
    let mut state = state(rules, 1);
    let at = |s: &mut FaultState, ms| s.fire(Event::Command("ls"), Duration::from_millis(ms));
    assert_eq!(at(&mut state, 1999), []);
    let half_a_second = Millis(Duration::from_millis(500));
    assert_eq!(at(&mut state, 2000), [Fault::Reboot(half_a_second)]);
    assert_eq!(at(&mut state, 3000), []);
    let faults = Faults::parse(rules, "f").expect("valid");
    let mut other = FaultState::new(&faults, names(2), (2, 1000), 0);
    assert_eq!(other.fire(Event::Command("ls"), Duration::from_secs(2)), []);
}

#[test]
fn every_fault_can_be_written() {
    let all = [
        "delay: 1s",
        "fail: nope",
        "answer: {stderr: x, exit: 2}",
        "refuse",
        "reset",
        "never_cnxn",
        "unauthorized",
        "accept_after: 100",
        "drop",
        "drop_after: {bytes: 10}",
        "half_open",
        "slow: {bytes_per_second: 1000}",
        "flap: 1s",
        "reboot: 1s",
        "boot_loop: 1s",
        "serial: x",
        "storage_full",
        "clock_skew: -5000",
        "battery: 3",
        "not_idle",
        "null_root",
        "empty_tree",
        "truncate: 100",
        "stale: 2",
        "dialog: {text: Update now?}",
        "keyboard",
        "crash",
        "anr",
        "ignore",
        "ignore_launch",
        "swallow",
        "no_focus: 1s",
        "agent_dies",
        "port_busy",
        "ui_automation_taken",
        "no_answer",
        "stale_element",
        "session_killed",
        "wda_crash: 1s",
        "detach: 1s",
        "password_protected",
        "invalid_host_id",
    ];
    for fault in all {
        let read = |kind: &str| {
            let text = if fault.contains(':') {
                format!("rules:\n  - match: {{{kind}: ''}}\n    do:\n      {fault}\n")
            } else {
                format!("rules: [{{match: {{{kind}: ''}}, do: {fault}}}]")
            };
            Faults::parse(&text, "f.yaml")
        };
        let kinds = Matches::default().kinds();
        let fits = kinds.map(|kind| read(kind).is_ok());
        assert!(fits.contains(&true), "{fault}");
        for (kind, fits) in kinds.into_iter().zip(fits) {
            if !fits {
                let told = read(kind).unwrap_err().to_string();
                let expected = format!("this never strikes at a {kind}");
                assert!(told.contains(&expected), "{told}");
            }
        }
    }
}

#[test]
fn a_rule_that_cannot_work_is_shown_where_it_stands() {
    let fault = |text: &str| {
        let error = Faults::parse(text, "f.yaml").expect_err("broken");
        format!("{error}; {:?}", error.0.hint)
    };
    let two = fault("rules:\n  - match: {tree: a, touch: b}\n    do: swallow\n");
    assert!(
        two.starts_with("f.yaml:2:12: a rule matches exactly one"),
        "{two}"
    );
    let never = fault("rules:\n  - match: {launch: ''}\n    do: swallow\n");
    assert!(
        never.starts_with("f.yaml:3:9: this never strikes at a launch"),
        "{never}"
    );
    assert!(never.contains("match touch instead"), "{never}");
    let regex = fault("rules:\n  - match: {tree: '['}\n    do: swallow\n");
    assert!(regex.starts_with("f.yaml:2:"), "{regex}");
    assert!(regex.contains("unclosed character class"), "{regex}");
    let unknown = fault("rules:\n  - match: {tree: ''}\n    do: explode\n");
    assert!(unknown.starts_with("f.yaml:3:9:"), "{unknown}");
}

#[test]
fn so_many_devices_of_a_fleet_are_chosen_by_its_seed() {
    let rules = "rules: [{match: {devices: 20, launch: ''}, do: drop}]";
    let faults = Faults::parse(rules, "faults").unwrap();
    let chosen = |seed| -> Vec<usize> {
        let all = 0..200_usize;
        all.filter(|index| !FaultState::new(&faults, names(*index), (*index, 200), seed).is_empty())
            .collect()
    };
    assert_eq!(chosen(7).len(), 20);
    assert_eq!(chosen(7), chosen(7));
    assert_ne!(chosen(7), chosen(8));
}

#[test]
fn a_fault_without_its_value_says_how_it_is_written_and_each_form_of_value_is_read() {
    let rule = |fault: &str| format!("rules:\n- match: {{connect: .}}\n  do: {fault}\n");
    let refused = Faults::parse(&rule("reboot"), "f.yaml").unwrap_err();
    assert_eq!(refused.to_string(), "f.yaml:3:7: `reboot` needs a value");
    let hint = refused.0.hint.as_deref();
    assert_eq!(hint, Some("write it as a key: reboot: ..."));
    for fault in [
        "drop",
        "{ reboot: 20s }",
        "{ serial: other }",
        "{ battery: 5 }",
        "{ clock_skew: -500 }",
        "{ drop_after: { bytes: 10 } }",
        "{ dialog: { title: T, text: Update?, buttons: [Later] } }",
    ] {
        Faults::parse(&rule(fault), "f.yaml").unwrap();
    }
}
