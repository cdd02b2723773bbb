//! `act`: several things in one call, on phones and on pages, and what an agent is told of the screen then.

use packtrain_testing::has;
use packtrain_tests::agent_lab::{Agent, AgentLab};
use serde_json::{Value, json};

use super::{configured, lab, phone, refused};

/// Phones of both kinds that show the app of one field, and a browser.
fn all_kinds() -> AgentLab {
    configured(
        "devices:\n  web: { desktop: { viewport: 1280x800 } }\n  \
         virtual: { android: 1, ios: 1, app: app.yaml, profile: fast }\n",
    )
}

const KINDS: [&str; 3] = ["android/virtual-1", "ios/virtual-1", "web/desktop"];

/// The same as the app, as a page.
const PAGE: &str = "data:text/html,<title>Note</title><input aria-label=Note \
    oninput=\"shown.textContent='<'+this.value+'>'\"><p id=shown></p>";

/// The action that opens the app, or the page.
fn opening(device: &str) -> Value {
    match device.starts_with("web/") {
        true => json!({ "tool": "web_navigate", "args": { "url": PAGE } }),
        false => json!({ "tool": "launchApp", "args": { "appId": "com.example.note" } }),
    }
}

/// The reference of the field in what an agent was told.
#[track_caller]
fn field(seen: &str) -> String {
    // An iPhone's app has that name, too.
    let line = seen.lines().rfind(|line| line.contains(" \"Note"));
    let line = line.unwrap_or_else(|| panic!("{seen}"));
    line.split(['[', ']']).nth(1).unwrap().to_owned()
}

fn acting(lease: &str, actions: Value) -> Value {
    json!({ "lease": lease, "actions": actions })
}

#[track_caller]
fn acts(agent: &Agent, lease: &str, actions: Value) -> String {
    agent.does("act", acting(lease, actions)).text
}

/// The tools that were called in a run, without looks.
fn called(lab: &AgentLab, run: &str) -> Vec<String> {
    let events = lab.events(run);
    let calls = events
        .iter()
        .filter(|event| event["event"] == "tool_finished" && event["depth"] == 0);
    let tools = calls.map(|event| event["tool"].as_str().unwrap().to_owned());
    tools.filter(|tool| tool != "readScreen").collect()
}

#[test]
fn several_actions_are_one_call_and_one_answer_on_every_kind_of_device() {
    let lab = all_kinds();
    for (agent, device) in [lab.stdio("a"), lab.http("b"), lab.requests("c")]
        .iter()
        .zip(KINDS)
    {
        let taken = agent
            .does("device_acquire", json!({ "device": device }))
            .data;
        let lease = taken["lease"].as_str().unwrap();
        let whole = acts(agent, lease, json!([opening(device)]));
        assert!(whole.starts_with("1 of 1 done\n"), "{whole}");
        let typing = json!([
            { "action": "type", "ref": field(&whole), "value": "one" },
            { "action": "wait_for", "text": "<one>" },
            // By what is on the screen now, in place of what is there.
            { "action": "type", "text": "Note", "value": "two" },
            { "action": "expect", "text": "<TWO>" },
            { "action": "expect", "text": "<one>", "gone": true },
        ]);
        let told = acts(agent, lease, typing);
        assert!(told.starts_with("5 of 5 done\n"), "{told}");
        assert!(told.contains("<two>") && !told.contains("<one>"), "{told}");
        assert_eq!(told.matches("mark: ").count(), 1, "{told}");
        agent.does("device_release", json!({ "lease": lease }));
        let tools = match device.starts_with("web/") {
            true => vec!["web_navigate", "web_type", "web_type"],
            false => [
                &["launchApp"][..],
                &["tap", "clearText", "inputText"].repeat(2),
            ]
            .concat(),
        };
        assert_eq!(called(&lab, taken["run"].as_str().unwrap()), tools);
    }
}

#[test]
fn the_first_action_that_fails_ends_it_and_says_what_was_done() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    for device in KINDS {
        let lease = agent.acquires(device);
        let seen = acts(&agent, &lease, json!([opening(device)]));
        let missing =
            json!({ "action": "tap", "role": "Button", "name": "Nowhere", "timeout_ms": 1 });
        let typing = |text: &str| json!({ "action": "type", "ref": field(&seen), "value": text });
        let actions = json!([typing("one"), missing, typing("two")]);
        let told = refused(agent.call("act", acting(&lease, actions)));
        let words = "action 2 of 3 failed: Button \"Nowhere\" was not found within 0.0 s\n";
        assert!(told.starts_with(words), "{told}");
        has(&told, &["1 of 3 done\n", "<one>"]);
        let seen = agent.does("snapshot", json!({ "lease": lease })).text;
        assert!(!seen.contains("<two>"), "{seen}");
    }
}

#[test]
fn a_text_is_on_a_page_though_its_list_breaks_it_or_leaves_it_out() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    let lease = agent.acquires("web/desktop");
    let page = "data:text/html,<p>Your payment <a href=%23x>has</a> <b>failed</b></p>\
        <div aria-hidden=true>Try once <i>more</i></div><p hidden>All is paid</p><p>Unpaid</p>";
    let open = json!({ "tool": "web_navigate", "args": { "url": page } });
    acts(&agent, &lease, json!([open]));
    let expect = |text: &str, gone: bool| json!([{ "action": "expect", "text": text, "gone": gone, "timeout_ms": 1 }]);
    for (text, is_there, is_gone) in [
        ("payment HAS failed", true, false),
        // Of what the list leaves out nothing is said.
        ("try once more", false, false),
        ("once", false, false),
        ("All is paid", false, true),
        ("paid", false, true),
    ] {
        for (is_so, gone) in [(is_there, false), (is_gone, true)] {
            let told = agent.call("act", acting(&lease, expect(text, gone)));
            assert_eq!(!told.is_error, is_so, "{text}, gone: {gone}: {told:?}");
        }
    }
}

#[test]
fn the_actions_of_two_calls_are_not_mixed() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    let lease = agent.acquires("web/desktop");
    let page = "data:text/html,<p id=shown></p><script>add=of=>shown.append(of)</script>\
        <button onclick=add(1)>One</button><button onclick=add(2)>Two</button>";
    let open = json!({ "tool": "web_navigate", "args": { "url": page } });
    acts(&agent, &lease, json!([open]));
    let taps = |name: &str| {
        json!(vec![
            json!({ "action": "tap", "role": "button", "name": name });
            4
        ])
    };
    std::thread::scope(|scope| {
        for name in ["One", "Two"] {
            let (agent, lease) = (&agent, &lease);
            scope.spawn(move || acts(agent, lease, taps(name)));
        }
    });
    let seen = agent.does("snapshot", json!({ "lease": lease })).text;
    assert!(
        seen.contains("11112222") || seen.contains("22221111"),
        "{seen}"
    );
}

#[test]
fn what_can_mean_several_elements_touches_none() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    let lease = agent.acquires("web/desktop");
    let page = "data:text/html,<button onclick=\"this.textContent='hit'\">Add</button>\
        <button onclick=\"this.textContent='hit'\">Add</button>";
    let open = json!({ "tool": "web_navigate", "args": { "url": page } });
    acts(&agent, &lease, json!([open]));
    let tap = json!([{ "action": "tap", "role": "button", "name": "Add" }]);
    let told = refused(agent.call("act", acting(&lease, tap)));
    has(&told, &["2 elements match; name one by its `ref`:"]);
    let named: Vec<_> = told
        .lines()
        .filter(|line| line.starts_with("  [e"))
        .collect();
    assert_eq!(named.len(), 2, "{told}");
    assert!(told.ends_with("nothing has changed"), "{told}");
}

#[test]
fn a_text_is_touched_where_it_alone_stands_and_not_within_other_words() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    let lease = agent.acquires("web/desktop");
    let page = "data:text/html,<main><p onclick=\"this.textContent='wrong'\">Repay in full now</p>\
        <p onclick=\"this.textContent='hit'\">Pay in full</p><p>Delete</p><p>Delete</p></main>";
    let open = json!({ "tool": "web_navigate", "args": { "url": page } });
    acts(&agent, &lease, json!([open]));
    let told = acts(&agent, &lease, json!([{ "action": "tap", "text": "pay" }]));
    assert!(told.contains(r#"paragraph "hit""#), "{told}");
    assert!(!told.contains(r#"paragraph "wrong""#), "{told}");
    let delete = json!([{ "action": "tap", "text": "delete" }]);
    let told = refused(agent.call("act", acting(&lease, delete)));
    assert!(told.contains("2 elements match"), "{told}");
}

#[test]
fn an_agent_may_do_by_act_what_it_may_do_without() {
    let lab = lab(1);
    let agent = lab.stdio("agent");
    let lease = agent.acquires(&phone(1));
    let tools = [json!({ "namespacedName": "packtrain.launchApp" })];
    let built = json!({ "name": "looking", "tools": tools, "autoEquip": true });
    agent.does("build-toolset", built);
    let open = opening(&phone(1));
    acts(
        &agent,
        &lease,
        json!([open, { "action": "wait_for", "text": "Note" }]),
    );
    for (action, words) in [
        (
            json!({ "action": "tap", "text": "Note" }),
            "`tap` is not in the toolset `looking`",
        ),
        (
            json!({ "tool": "inputText", "args": { "text": "x" } }),
            "not in the toolset",
        ),
        (
            json!({ "tool": "exec", "args": { "argv": ["touch", "was-here"] } }),
            "not offered",
        ),
        (json!({ "tool": "readScreen", "args": {} }), "not offered"),
        (
            json!({ "tool": "device_release", "args": {} }),
            "by itself, not through `act`",
        ),
        (
            json!({ "tool": "act", "args": {} }),
            "by itself, not through `act`",
        ),
    ] {
        // What may be done is not done either.
        let stop = json!({ "tool": "launchApp", "args": { "appId": "com.example.none" } });
        let told = refused(agent.call("act", acting(&lease, json!([stop, action]))));
        assert!(
            told.starts_with("action 2: ") && told.contains(words),
            "{told}"
        );
        assert!(told.ends_with("; nothing was done"), "{told}");
    }
    assert!(!lab.lab().folder().join("was-here").exists());
    let other = lab.stdio("other");
    let told = refused(other.call("act", acting(&lease, json!([open]))));
    assert!(told.starts_with("unknown_lease: "), "{told}");
}

#[test]
fn whatever_is_sent_as_actions_is_answered() {
    let lab = lab(1);
    let agent = lab.stdio("agent");
    let lease = agent.acquires(&phone(1));
    let press = json!({ "action": "press", "value": "Home" });
    for actions in [
        json!([]),
        json!(vec![press; 51]),
        json!("tap"),
        json!([[]]),
        json!([{}]),
        json!([{ "action": "fly" }]),
        json!([{ "action": "tap", "ref": 4 }]),
        json!([{ "action": "tap", "ref": "x".repeat(30_000) }]),
        json!([{ "action": "wait_for", "text": "x", "timeout_ms": -1 }]),
        json!([{ "action": "tap", "ref": "a1", "unknown": 1 }]),
        json!([{ "tool": "x".repeat(300) }]),
        json!([{ "tool": "tap", "args": [] }]),
        json!([{ "action": "press", "value": "\u{0}\u{202e}" }]),
    ] {
        let told = refused(agent.call("act", acting(&lease, actions)));
        assert!(told.len() < 1000, "{told}");
    }
    let far =
        json!([{ "action": "expect", "text": "Nowhere", "gone": true, "timeout_ms": u64::MAX }]);
    acts(&agent, &lease, far);
}

#[test]
fn act_says_that_it_acts() {
    let lab = lab(0);
    for agent in [lab.stdio("a"), lab.http("b"), lab.requests("c")] {
        let listed = agent.request("tools/list", json!({})).unwrap();
        let mut tools = listed["tools"].as_array().unwrap().iter();
        let act = tools.find(|tool| tool["name"] == "act").unwrap();
        assert_eq!(act["annotations"]["readOnlyHint"], false);
        assert_eq!(act["annotations"]["destructiveHint"], true);
    }
}

#[test]
fn the_keys_of_a_keyboard_are_one_line() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    let lease = agent.acquires("ios/virtual-1");
    let seen = acts(&agent, &lease, json!([opening("ios/virtual-1")]));
    let told = acts(
        &agent,
        &lease,
        json!([{ "action": "tap", "ref": field(&seen) }]),
    );
    assert!(
        told.contains("(keyboard, ") && !told.contains("Key \"q\""),
        "{told}"
    );
    let whole = agent.does("snapshot", json!({ "lease": lease, "offscreen": true }));
    assert!(whole.text.contains("Key \"q\""), "{whole:?}");
}

#[test]
fn what_has_changed_is_never_longer_than_the_screen() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    for device in KINDS {
        let lease = agent.acquires(device);
        let mut mark = agent.does("snapshot", json!({ "lease": lease })).data["mark"].clone();
        let typing = |text: &str| json!({ "action": "type", "text": "Note", "value": text });
        for action in [
            opening(device),
            typing("one"),
            typing("two words"),
            typing("x"),
        ] {
            acts(&agent, &lease, json!([action]));
            let since = json!({ "lease": lease, "since": mark });
            let delta = agent.does("snapshot", since);
            let whole = agent.does("snapshot", json!({ "lease": lease }));
            assert!(delta.text.len() <= whole.text.len(), "{delta:?} {whole:?}");
            assert_eq!(delta.data["mark"], whole.data["mark"]);
            mark = delta.data["mark"].clone();
        }
    }
}

#[test]
fn a_look_waits_is_of_a_part_and_is_bounded() {
    let lab = all_kinds();
    let agent = lab.stdio("agent");
    let lease = agent.acquires("web/desktop");
    let late = "data:text/html,<main><button>Save</button></main><ul aria-label=Rows></ul><script>\
        const add = (to, is, text) => { const it = document.createElement(is); it.textContent = text; \
        to.append(it); }; const rows = document.querySelector('ul'); \
        for (let n = 0; n < 30; n++) add(rows, 'li', 'row ' + n); \
        setTimeout(() => add(document.body, 'p', 'Ready'), 400)</script>";
    agent.does("web_navigate", json!({ "lease": lease, "url": late }));
    let looks = |more: Value| {
        let mut asked = more;
        asked["lease"] = json!(lease);
        agent.call("snapshot", asked)
    };
    let seen = looks(json!({ "wait_for": "ready" }));
    // Its address has all that the page says.
    let (_, shown) = seen.text.split_once("\nmark: ").unwrap();
    assert!(shown.contains("Ready"), "{seen:?}");
    let seen = looks(json!({ "wait_for": "Never", "wait_ms": 50 })).text;
    assert!(
        seen.starts_with("\"Never\" did not appear within "),
        "{seen}"
    );
    assert!(seen.contains("row 29"), "{seen}");
    let seen = looks(json!({ "role": "list", "name": "Rows", "max_lines": 10 })).text;
    assert!(
        seen.contains("\"row 3") && !seen.contains("button \"Save"),
        "{seen}"
    );
    assert_eq!(seen.lines().count(), 11, "{seen}");
    has(&seen, &[" more lines: `max_lines` shows more"]);
    // It waits for what was done to have an effect.
    let later = "data:text/html,<button onclick=\"setTimeout(() => this.textContent = 'Bye', 300)\">Hi</button>";
    agent.does("web_navigate", json!({ "lease": lease, "url": later }));
    let seen = looks(json!({})).text;
    let button = seen.split(['[', ']']).nth(1).unwrap();
    agent.does("web_click", json!({ "lease": lease, "ref": button }));
    let seen = looks(json!({ "wait_ms": 20_000 })).text;
    assert!(seen.contains("Bye"), "{seen}");
    refused(looks(json!({ "ref": "e999" })));
}
