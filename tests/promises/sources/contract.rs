//! `POST /scripting/callback`: every answer that it can give, asked for by a tool under way.

use serde_json::{Value, json};

use super::{Raw, answer, failed, unknown, workspace};

/// What a tool sees that asks these questions: JavaScript of an object of promises, with `on` the
/// context, and `ask` for a callback with what is given changed.
#[track_caller]
fn asked(questions: &str) -> Value {
    let probe = format!(
        "[{{ name: 'acme_probe', async call({{ on }}) {{
           const ask = (tool, args, changes) => post(on, body(on, tool, args, changes));
           const raw = (what) => request(on, what);
           const asked = {questions};
           const seen = {{}};
           for (const [name, question] of Object.entries(asked)) seen[name] = await question();
           return JSON.stringify(seen);
         }} }}, {{ name: 'acme_args', inputSchema: {{ type: 'object',
           properties: {{ a: {{ type: 'string' }}, b: {{ type: 'number' }} }}, required: ['a'] }},
           call: () => 'took it' }},
         {{ name: 'acme_any', call: ({{ args }}) => JSON.stringify(Object.keys(args).sort()) }},
         {{ name: 'acme_fails', call: () => ({{ content: [{{ type: 'text', text: 'no such user' }}],
           structuredContent: {{ lost: 1 }}, isError: true }}) }},
         {{ name: 'acme_mute', call: () => ({{ content: [] }}) }},
         {{ name: 'acme_data', call: () => ({{ content: [{{ type: 'text', text: 'four' }}],
           structuredContent: {{ n: 4, deep: [1, {{ x: null }}] }} }}) }}]"
    );
    answer(&workspace(&[Raw::new("acme", &probe)]), "acme_probe")
}

fn refused(status: u16, text: &str) -> Value {
    json!({ "status": status, "text": text })
}

fn error(message: &str) -> Value {
    json!({ "status": 200, "result": { "type": "error", "message": message } })
}

#[test]
fn pages_and_bodies_over_a_mebibyte_are_refused() {
    let seen = asked(
        "{
          origin: () => raw({ headers: { origin: 'http://evil.example' }, body: JSON.stringify(body(on, 'dumpMemory')) }),
          empty_origin: () => raw({ headers: { origin: 'null' }, body: JSON.stringify(body(on, 'dumpMemory')) }),
          declared: () => raw({ body: 'x'.repeat(1048577) }),
          chunked: () => raw({ body: 'x'.repeat(1048577), chunks: true }),
          just: () => raw({ body: JSON.stringify(body(on, 'dumpMemory')).padEnd(1048576) }),
          just_chunked: () => raw({ body: JSON.stringify(body(on, 'dumpMemory')).padEnd(1048576), chunks: true }),
        }",
    );
    let page = refused(
        403,
        "Scripting callback is not available to pages of a browser",
    );
    assert_eq!(seen["origin"], page);
    assert_eq!(seen["empty_origin"], page);
    let over = |size: &str| {
        let text = format!("JsScriptingCallbackRequest body size {size} exceeds max 1048576 bytes");
        refused(413, &text)
    };
    assert_eq!(seen["declared"], over("1048577"));
    assert_eq!(seen["chunked"], over("over 1048576"));
    assert_eq!(seen["just"]["status"], 200, "{seen}");
    assert_eq!(seen["just_chunked"]["status"], 200, "{seen}");
}

#[test]
fn what_is_no_callback_is_a_bad_request() {
    let seen = asked(
        "{
          no_json: () => raw({ body: 'hello' }),
          empty: () => raw({ body: '' }),
          list: () => raw({ body: '[]' }),
          no_action: () => ask('dumpMemory', {}, { action: undefined }),
          other_action: () => ask('dumpMemory', {}, { action: { type: 'tap_on', x: 1 } }),
          no_type: () => ask('dumpMemory', {}, { action: { tool_name: 'dumpMemory', arguments_json: '{}' } }),
          no_tool: () => ask('dumpMemory', {}, { action: { type: 'call_tool', arguments_json: '{}' } }),
          no_arguments: () => ask('dumpMemory', {}, { action: { type: 'call_tool', tool_name: 'dumpMemory' } }),
          arguments_object: () => ask('dumpMemory', {}, { action: { type: 'call_tool', tool_name: 'dumpMemory', arguments_json: {} } }),
        }",
    );
    for (name, seen) in seen.as_object().unwrap() {
        assert_eq!(seen["status"], 400, "{name}: {seen}");
        let text = seen["text"].as_str().unwrap();
        let begins = "Malformed JsScriptingCallbackRequest JSON: ";
        assert!(text.starts_with(begins), "{name}: {seen}");
    }
}

#[test]
fn another_version_another_session_and_an_unknown_id_are_told_apart() {
    let seen = asked(
        "{
          version: () => ask('dumpMemory', {}, { version: 99 }),
          version_first: () => ask('dumpMemory', {}, { version: 0, invocation_id: 'nobody' }),
          no_version: () => ask('dumpMemory', {}, { version: undefined, more: 'is ignored' }),
          id: () => ask('dumpMemory', {}, { invocation_id: 'inv-xyz' }),
          id_first: () => ask('dumpMemory', {}, { invocation_id: 'inv-xyz', session_id: 'foreign' }),
          session: () => ask('dumpMemory', {}, { session_id: 'foreign', invocation_id: on.invocationId }),
          no_session: () => ask('dumpMemory', {}, { session_id: undefined }),
          id_of: () => on.invocationId,
        }",
    );
    let version = |n: i32| {
        error(&format!(
            "Unsupported callback version {n}; this runtime speaks v1"
        ))
    };
    assert_eq!(seen["version"], version(99));
    assert_eq!(seen["version_first"], version(0));
    assert_eq!(seen["no_version"]["result"]["success"], true, "{seen}");
    assert_eq!(seen["id"], unknown("inv-xyz"));
    assert_eq!(seen["id_first"], unknown("inv-xyz"));
    let id = seen["id_of"].as_str().unwrap();
    let session = |given: &str| {
        error(&format!(
            "Session mismatch: invocation {id} belongs to a different session than '{given}'"
        ))
    };
    assert_eq!(seen["session"], session("foreign"));
    assert_eq!(seen["no_session"]["status"], 400, "{seen}");
}

#[test]
fn arguments_that_a_tool_does_not_take_are_named() {
    let seen = asked(
        "{
          unknown: () => ask('acme_args', { a: 'x', c: 1, d: 2 }),
          unknown_first: () => ask('acme_args', { c: 1 }),
          missing: () => ask('acme_args', { b: 1 }),
          none: () => ask('dumpMemory', { a: 1 }),
          any: () => ask('acme_any', { q: 1, r: 2 }),
          built_in: () => ask('inputText', {}),
          no_object: () => ask('acme_args', [1]),
          no_json: () => ask('acme_args', {}, { action: { type: 'call_tool', tool_name: 'acme_args', arguments_json: '{' } }),
          tool: () => ask('acme_nothing', {}),
        }",
    );
    let canonical = "(See client.tools.acme_args for the canonical typed shape.)";
    let unknown_keys = |keys: &str| {
        failed(&format!(
            "Tool 'acme_args' was called with unknown argument keys: {keys}. Expected one of: a, b. {canonical}"
        ))
    };
    assert_eq!(seen["unknown"], unknown_keys("[\"c\",\"d\"]"));
    assert_eq!(seen["unknown_first"], unknown_keys("[\"c\"]"));
    assert_eq!(
        seen["missing"],
        failed(&format!(
            "Tool 'acme_args' was called without required argument keys: [\"a\"]. Required: a. {canonical}"
        ))
    );
    assert_eq!(
        seen["none"],
        failed(
            "Tool 'dumpMemory' was called with unknown argument keys: [\"a\"]. This tool accepts no arguments."
        )
    );
    // A schema that names nothing refuses nothing.
    assert_eq!(
        seen["any"]["result"]["text_content"],
        "[\"_trailblazeContext\",\"q\",\"r\"]"
    );
    let message = |name: &str| {
        assert_eq!(seen[name]["result"]["success"], false, "{seen}");
        seen[name]["result"]["error_message"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        message("built_in").contains("without required argument keys: [\"text\"]"),
        "{seen}"
    );
    for name in ["no_object", "no_json"] {
        let begins = "Failed to deserialize tool call 'acme_args': ";
        assert!(message(name).starts_with(begins), "{seen}");
    }
    let begins = "Failed to deserialize tool call 'acme_nothing': ";
    assert!(message("tool").starts_with(begins), "{seen}");
}

#[test]
fn an_answer_has_what_the_tool_answered_and_nothing_else() {
    let seen = asked(
        "{
          args: () => ask('acme_args', { a: 'x', b: 1 }),
          mute: () => ask('acme_mute', {}),
          data: () => ask('acme_data', {}),
          fails: () => ask('acme_fails', {}),
          built_in: () => ask('assertEquals', { actual: 'a', expected: 'a' }),
          built_in_fails: () => ask('assertEquals', { actual: 'a', expected: 'b' }),
          found: () => ask('findMatches', { selector: { androidAccessibility: { textRegex: 'never there' } } }),
        }",
    );
    let ok = |more: Value| {
        let mut result = json!({ "type": "call_tool_result", "success": true });
        for (key, value) in more.as_object().unwrap() {
            result[key] = value.clone();
        }
        json!({ "status": 200, "result": result })
    };
    assert_eq!(seen["args"], ok(json!({ "text_content": "took it" })));
    assert_eq!(seen["mute"], ok(json!({})));
    let data = json!({ "n": 4, "deep": [1, { "x": null }] });
    assert_eq!(
        seen["data"],
        ok(json!({ "text_content": "four", "structured_content": data }))
    );
    assert_eq!(seen["fails"], failed("`acme_fails`: no such user"));
    assert_eq!(seen["built_in"], ok(json!({})));
    assert_eq!(
        seen["built_in_fails"],
        failed("`assertEquals`: expected \"b\", got \"a\"")
    );
    // What is not there is an answer too.
    assert_eq!(
        seen["found"]["result"]["structured_content"],
        json!([]),
        "{seen}"
    );
}
