//! What a server answers, and what that means for the step.

use packtrain_tests::{Lab, repository};
use serde_json::{Value, json};

use super::{Raw, calls, has, run, shows, trail, typed, workspace};

const ENDINGS: &str = r#"[
  { name: 'acme_two', call: () => ({ content: [{ type: 'image', data: '', mimeType: 'image/png' }, { type: 'text', text: 'one' }, { type: 'text', text: 'two' }] }) },
  { name: 'acme_error', call: () => ({ content: [{ type: 'text', text: 'no such user' }], isError: true }) },
  { name: 'acme_silent', call: () => ({ content: [], isError: true }) },
  { name: 'acme_throw', call: () => { throw new Error('kaboom'); } },
  { name: 'acme_rpc', call: () => { throw Object.assign(new Error('bad params'), { code: -32602 }); } },
  { name: 'acme_die', call: () => { console.error('last words'); process.exit(42); } },
  { name: 'acme_fatal', call: () => ({ content: [{ type: 'text', text: 'account locked' }], isError: true, _meta: { trailblaze: { variant: 'FatalError' } } }) },
  { name: 'acme_missing', call: () => ({ content: [{ type: 'text', text: 'who?' }], isError: true,
      _meta: { trailblaze: { variant: 'MissingRequiredArgs', missing: ['user', 'password'] } } }) },
  { name: 'acme_asks', call: async () => JSON.stringify(await ask('elicitation/create', { message: 'Really?', requestedSchema: { type: 'object', properties: {} } })) },
  { name: 'acme_swallow', inputSchema: { type: 'object', properties: { what: { type: 'string' }, args: { type: 'object' } } },
    call: async ({ args, on }) => { const seen = await call(on, args.what, args.args ?? {}); return JSON.stringify({ seen }); } },
]"#;

fn endings(call: &str) -> Lab {
    let lab = workspace(&[Raw::new("acme", ENDINGS)]);
    trail(&lab, "{}", &[call]);
    lab
}

fn attempts(lab: &Lab) -> usize {
    let events = lab.events();
    events
        .iter()
        .filter(|event| event["event"] == "session_started")
        .count()
}

fn last(lab: &Lab, tool: &str) -> Value {
    let events = lab.events();
    let finished = |event: &&Value| event["event"] == "tool_finished" && event["tool"] == tool;
    events.iter().rfind(finished).unwrap().clone()
}

#[test]
fn the_first_text_is_the_message_whatever_the_ending() {
    let lab = endings("acme_two: {}");
    run(&lab, "virtual:android", 0);
    assert_eq!(last(&lab, "acme_two")["answer"], "one");
    for (tool, message) in [
        ("acme_error", "no such user"),
        ("acme_silent", "`acme_silent` failed without a message"),
        ("acme_throw", "kaboom"),
        ("acme_rpc", "bad params"),
    ] {
        let lab = endings(&format!("{tool}: {{}}"));
        has(&run(&lab, "virtual:android", 1), &[message]);
        assert_eq!(last(&lab, tool)["outcome"], "failed");
    }
}

#[test]
fn a_server_that_dies_is_infrastructure_with_its_exit_code_and_last_words() {
    let lab = endings("acme_die: {}");
    let said = run(&lab, "virtual:android", 2);
    has(
        &said,
        &[
            "tool source `acme` died while `acme_die` was running",
            "exit code: 42",
            "last words",
        ],
    );
    let ended = last(&lab, "acme_die");
    assert_eq!(
        (&ended["outcome"], &ended["blame"]),
        (&json!("infrastructure"), &json!("source"))
    );
}

#[test]
fn a_failure_is_tried_again_and_a_fatal_one_is_not() {
    for (tool, expected) in [("acme_error", 3), ("acme_fatal", 1)] {
        let lab = endings(&format!("{tool}: {{}}"));
        let flags = [
            "run",
            "a.trail.yaml",
            "-d",
            "virtual:android",
            "--screenshots=none",
            "--retries",
            "2",
        ];
        lab.run(&flags).expect(1);
        assert_eq!(attempts(&lab), expected, "{tool}");
    }
}

#[test]
fn a_fatal_error_in_a_callback_ends_the_trail_though_the_tool_goes_on() {
    let lab = endings("acme_swallow: { what: acme_fatal }");
    let flags = [
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
        "--retries",
        "2",
    ];
    has(&lab.run(&flags).expect(1).stderr, &["account locked"]);
    assert_eq!(attempts(&lab), 1);
    // A failure that is none of that is the tool's to judge.
    run(
        &endings("acme_swallow: { what: acme_error }"),
        "virtual:android",
        0,
    );
}

#[test]
fn missing_arguments_are_named() {
    let said = run(&endings("acme_missing: {}"), "virtual:android", 1);
    has(
        &said,
        &["who?", "arguments that are missing: user, password"],
    );
}

#[test]
fn a_device_lost_in_a_callback_is_never_a_pass() {
    let lab = endings("acme_swallow: { what: launchApp, args: { appId: com.example.note } }");
    lab.write(
        "faults.yaml",
        "rules:\n  - match: { launch: com.example.note }\n    when: { nth: 2 }\n    do: drop\n",
    );
    let configuration = lab.read("packtrain.yaml");
    let faulty = configuration.replace("virtual: {", "virtual: { faults: faults.yaml,");
    lab.write("packtrain.yaml", &faulty);
    let said = run(&lab, "virtual:android", 2);
    let ended = last(&lab, "acme_swallow");
    assert_eq!(
        (&ended["outcome"], &ended["blame"]),
        (&json!("infrastructure"), &json!("device")),
        "{said}"
    );
}

const DELEGATING: &str = r#"(() => {
  const data = (...delegates) => ({ content: [{ type: 'text', text: 'see the data' }], structuredContent: { success: true, _trailblaze_delegates: delegates } });
  const text = (...delegates) => JSON.stringify({ success: true, _trailblaze_delegates: delegates });
  const type = (text) => ({ tool: 'inputText', args: { text } });
  const fails = { tool: 'assertEquals', args: { actual: 'a', expected: 'b' } };
  return [
    { name: 'acme_data', call: () => data(type('a'), type('b')) },
    { name: 'acme_text', call: () => text(type('c')) },
    { name: 'acme_meta', call: () => ({ content: [], _meta: { _trailblaze_delegates: [type('d')] } }) },
    { name: 'acme_none', call: () => data() },
    { name: 'acme_one', call: () => data({ tool: 'acme_two' }, type('3')) },
    { name: 'acme_two', call: () => text({ tool: 'acme_three', args: {} }, type('2')) },
    { name: 'acme_three', call: () => data(type('1')) },
    { name: 'acme_unknown', call: () => data(type('x'), { tool: 'acme_nowhere', args: {} }, type('y')) },
    { name: 'acme_wrong', call: () => data(type('x'), { args: {} }) },
    { name: 'acme_stops', call: () => data(type('x'), fails, type('y')) },
    { name: 'acme_error', call: () => ({ ...data(type('x')), isError: true }) },
    { name: 'acme_refused', call: () => ({ content: [], structuredContent: { success: false, error: 'invalid_credentials', _trailblaze_delegates: [type('z')] } }) },
    { name: 'acme_told', call: () => JSON.stringify({ success: false, error: 'invalid_credentials', _trailblaze_delegates: [type('z')] }) },
    { name: 'acme_handsOn', _meta: { 'trailblaze/successIsData': true }, call: () => JSON.stringify({ success: false, error: 'invalid_credentials' }) },
    { name: 'acme_loop', call: () => data({ tool: 'acme_loop' }) },
    { name: 'acme_exec', call: () => data({ tool: 'exec', args: { argv: ['touch', 'made'] } }) },
    { name: 'acme_try', inputSchema: { type: 'object', properties: { what: { type: 'string' } } },
      call: async ({ args, on }) => JSON.stringify({ result: await call(on, args.what) }) },
  ];
})()"#;

fn delegating(steps: &[&str]) -> Lab {
    let lab = workspace(&[Raw::new("acme", DELEGATING)]);
    trail(&lab, "{}", steps);
    lab
}

#[test]
fn delegates_are_called_in_order_wherever_they_stand() {
    let lab = delegating(&[
        "acme_data: {}",
        "acme_text: {}",
        "acme_meta: {}",
        "acme_none: {}",
        &shows("abcd"),
    ]);
    run(&lab, "virtual:android,virtual:ios", 0);
}

#[test]
fn delegates_of_delegates_of_delegates_are_called() {
    let lab = delegating(&["acme_one: {}", &shows("123")]);
    run(&lab, "virtual:android", 0);
    let made: Vec<_> = calls(&lab).into_iter().skip(2).collect();
    let expected = [
        (0, "acme_one"),
        (1, "acme_two"),
        (2, "acme_three"),
        (3, "inputText"),
        (2, "inputText"),
        (1, "inputText"),
        (0, "assertVisibleWithText"),
    ];
    assert_eq!(made, expected.map(|(depth, tool)| (depth, tool.to_owned())));
    // A callback's delegates are called too, before it is answered.
    let lab = delegating(&["acme_try: { what: acme_one }", &shows("123")]);
    run(&lab, "virtual:android", 0);
}

/// The calls of the newest run that belong into a recording.
fn recorded(lab: &Lab) -> Vec<String> {
    let report = lab.run_folder().join("report.json");
    let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
    let mut found = Vec::new();
    let mut left = vec![&report];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(map) if map.get("recorded") == Some(&Value::Bool(true)) => {
                found.push(map["tool"].as_str().unwrap().to_owned());
            }
            Value::Object(map) => left.extend(map.values().rev()),
            Value::Array(items) => left.extend(items.iter().rev()),
            _ => {}
        }
    }
    found
}

#[test]
fn the_outermost_recorded_calls_belong_into_a_recording_and_delegates_for_their_tool() {
    let lab = delegating(&["acme_one: {}", &shows("123")]);
    run(&lab, "virtual:android", 0);
    let opening = ["launchApp", "tapOnElementWithText"];
    let typed = [
        "inputText",
        "inputText",
        "inputText",
        "assertVisibleWithText",
    ];
    assert_eq!(recorded(&lab), [&opening[..], &typed].concat());

    let tools = r#"[
      { name: 'acme_whole', call: async ({ on }) => { await must(on, 'inputText', { text: 'a' }); return 'ok'; } },
      { name: 'acme_wrapper', _meta: { 'trailblaze/isRecordable': false },
        call: async ({ on }) => { await must(on, 'acme_whole'); await must(on, 'inputText', { text: 'b' }); return 'ok'; } },
    ]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(&lab, "{}", &["acme_whole: {}", "acme_wrapper: {}"]);
    run(&lab, "virtual:android", 0);
    let calls = ["acme_whole", "acme_whole", "inputText"];
    assert_eq!(recorded(&lab), [&opening[..], &calls].concat());
}

#[test]
fn a_list_with_an_unknown_or_wrong_delegate_is_not_begun() {
    for (tool, told) in [
        (
            "acme_unknown",
            "`acme_unknown` delegates to the unknown tool `acme_nowhere`; none of its calls was made",
        ),
        ("acme_wrong", "`_trailblaze_delegates` is a list of"),
    ] {
        let lab = delegating(&[&format!("{tool}: {{}}")]);
        has(&run(&lab, "virtual:android", 1), &[told]);
        assert!(typed(&lab).is_empty(), "{tool}");
        // Nothing is in the field either.
        let lab = delegating(&[&format!("acme_try: {{ what: {tool} }}"), &shows("")]);
        run(&lab, "virtual:android", 0);
    }
}

#[test]
fn the_first_delegate_that_fails_ends_the_list_and_those_of_an_error_are_none() {
    let lab = delegating(&[
        "acme_try: { what: acme_stops }",
        "acme_try: { what: acme_error }",
        &shows("x"),
    ]);
    run(&lab, "virtual:android", 0);
    assert_eq!(typed(&lab), ["x"]);
    let lab = delegating(&["acme_stops: {}"]);
    has(
        &run(&lab, "virtual:android", 1),
        &["expected \"b\", got \"a\""],
    );
}

#[test]
fn delegates_have_the_bounds_of_callbacks() {
    let lab = delegating(&["acme_loop: {}"]);
    has(&run(&lab, "virtual:android", 1), &["more than 16 deep"]);
    let loops = calls(&lab)
        .into_iter()
        .filter(|(_, tool)| tool == "acme_loop");
    assert_eq!(loops.count(), 18, "the last is refused");
    let lab = delegating(&["acme_exec: {}"]);
    has(
        &run(&lab, "virtual:android", 1),
        &["runs commands of this computer"],
    );
    assert!(!lab.folder().join("made").exists());
}

#[test]
fn a_callback_to_a_source_that_is_not_there_is_nobodys_failure() {
    let tools = "[{ name: 'acme_ask', call: ({ on }) => must(on, 'gone_tool') }]";
    let lab = workspace(&[Raw::new("acme", tools)]);
    let configured = lab.read("packtrain.yaml");
    let gone = "  - { name: gone, command: [node, nowhere.mjs], transport: stdio }\n";
    lab.write("packtrain.yaml", &format!("{configured}{gone}"));
    trail(&lab, "{}", &["acme_ask: {}"]);
    let said = run(&lab, "virtual:android", 2);
    has(&said, &["unknown tool `gone_tool`", "tool source `gone`"]);
}

#[test]
fn success_false_fails_the_step_and_its_callback_and_none_of_its_delegates_is_called() {
    for tool in ["acme_refused", "acme_told"] {
        let lab = delegating(&["acme_handsOn: {}", &format!("{tool}: {{}}")]);
        let said = run(&lab, "virtual:android", 1);
        has(&said, &["invalid_credentials", "trailblaze/successIsData"]);
        assert!(typed(&lab).is_empty(), "{tool}");
        assert_eq!(last(&lab, tool)["outcome"], "failed");
        assert_eq!(last(&lab, "acme_handsOn")["outcome"], "passed");
    }
    let lab = delegating(&["acme_try: { what: acme_refused }", &shows("")]);
    run(&lab, "virtual:android", 0);
    let seen: Value =
        serde_json::from_str(last(&lab, "acme_try")["answer"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&seen["result"]["success"], &seen["result"]["error_message"]),
        (&json!(false), &json!("`acme_refused`: invalid_credentials"))
    );
}

#[test]
fn a_question_that_nobody_answers_is_declined_and_the_journal_notes_it() {
    let lab = endings("acme_asks: {}");
    run(&lab, "virtual:android", 0);
    let ended = last(&lab, "acme_asks");
    assert_eq!(ended["answer"], r#"{"action":"decline"}"#);
    let notes = ended["report"]["notes"].to_string();
    has(&notes, &["Really?", "declined"]);
    let log = std::fs::read_to_string(lab.run_folder().join("sources/acme.log")).unwrap();
    assert!(log.contains("declined"), "{log}");
}

/// The same cases are what the helpers of both SDKs are held to.
#[test]
fn a_result_means_to_the_run_what_the_helpers_of_the_sdks_say() {
    let fixtures = repository().join("sdks/fixtures/results.json");
    let tools = format!(
        "JSON.parse(readFileSync({fixtures:?})).map(({{ result }}, n) => ({{ name: `acme_r${{n}}`, call: () => result }})).concat([
           {{ name: 'acme_all', inputSchema: {{ type: 'object', properties: {{ cases: {{ type: 'array' }} }} }},
              call: async ({{ args, on }}) => {{
                const all = {{}};
                for (const n of args.cases) all[n] = await call(on, `acme_r${{n}}`);
                return JSON.stringify(all);
              }} }},
        ])"
    );
    let lab = workspace(&[Raw::new("acme", &tools)]);
    let source = lab.read("acme.mjs");
    lab.write(
        "acme.mjs",
        &format!("import {{ readFileSync }} from 'node:fs';\n{source}"),
    );
    let cases: Vec<Value> =
        serde_json::from_str(&std::fs::read_to_string(&fixtures).unwrap()).unwrap();
    let is_fatal = |case: &Value| case["helper"] == "fatalError";
    let numbers: Vec<_> = (0..cases.len()).filter(|n| !is_fatal(&cases[*n])).collect();
    let argument = format!("cases={numbers:?}");
    let flags = ["tool", "acme_all", &argument, "-d", "virtual:android"];
    let said = lab.run(&flags).expect(0).stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    for n in numbers {
        let (case, got) = (&cases[n], &said[n.to_string()]);
        let text = &case["result"]["content"][0]["text"];
        let error = got["error_message"].as_str().unwrap_or_default();
        match case["helper"].as_str().unwrap() {
            "success" => {
                assert_eq!(got["success"], true, "{case}: {got}");
                let shown = got["text_content"].as_str().unwrap_or_default();
                assert_eq!(shown, text.as_str().unwrap_or_default(), "{case}");
                assert_eq!(
                    got["structured_content"],
                    case["result"]["structuredContent"]
                );
            }
            "error" | "missingRequiredArgs" => {
                assert_eq!(got["success"], false, "{case}: {got}");
                assert!(error.ends_with(text.as_str().unwrap()), "{got}");
            }
            "delegate" => {
                let first = case["arguments"][0][0]["tool"].as_str().unwrap();
                assert!(error.contains(&format!("`{first}`")), "{got}");
            }
            other => panic!("{other}"),
        }
    }
    let fatal = cases.iter().position(is_fatal).unwrap();
    trail(&lab, "{}", &[&format!("acme_r{fatal}: {{}}")]);
    run(&lab, "virtual:android", 1);
    let ended = last(&lab, &format!("acme_r{fatal}"));
    assert_eq!(ended["failed_for_good"], true, "{ended}");
}
