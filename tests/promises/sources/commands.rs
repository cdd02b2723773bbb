//! Typed commands, asked for as a tool asks: over the wire, on phones and on a page.

use std::path::PathBuf;
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab, repository};
use serde_json::{Value, json};

use super::{Raw, link_modules, nothing_runs, workspace};

const PAGE: &str = r#"<!doctype html><title>Notes</title>
<button id="add" onclick="setTimeout(() => out.textContent = 'Added ' + note.value, 300)">Add (one)</button>
<input id="note" aria-label="Note">
<p id="out"></p>
<div role="menu" aria-label="All" onclick="out.textContent = 'wrong'">All</div>
<button onclick="out.textContent = 'right'">menu</button>
<ul><li data-testid="row">First</li><li data-testid="row">Second</li><li data-testid="row" hidden>Third</li></ul>
"#;

/// Has a tool do `script` on a device, and answers what it returned. In it `c(name, request, more)` is
/// a typed command.
#[track_caller]
fn does(script: &str, device: &str) -> Value {
    let tools = format!(
        "[{{ name: 'acme_do', call: async ({{ on }}) => {{
            const c = (name, asked, more) => command(on, name, asked, more);
            return JSON.stringify(await (async () => {{ {script} }})());
        }} }}]"
    );
    let lab = workspace(&[Raw::new("acme", &tools)]);
    on_screen(&lab, device)
}

fn on_screen(lab: &Lab, device: &str) -> Value {
    lab.write("notes.html", PAGE);
    let first = match device {
        "web" => ["--url", "notes.html"],
        _ => ["--app", "com.example.note"],
    };
    let mut words = vec!["tool", "acme_do", "-d", device];
    words.extend(first);
    let ended = lab.run(&words).expect(0);
    nothing_runs(lab);
    serde_json::from_str(ended.stdout.trim()).unwrap_or_else(|_| panic!("{}", ended.stdout))
}

const PHONES: [&str; 2] = ["virtual:android", "virtual:ios"];

#[test]
fn the_same_commands_fill_a_field_on_every_platform() {
    for device in ["virtual:android", "virtual:ios", "web"] {
        let said = does(
            "const tapped = [await c('Tap', { text: 'Note' }), await c('InputText', { text: 'Zoë 1' })];
             if (on.device.platform === 'web') await c('Tap', { text: 'Add (one)' });
             const shown = on.device.platform === 'web' ? 'Added Zoë 1' : '<Zoë 1>';
             const there = await c('WaitUntilVisible', { text: shown, timeoutMs: 3000 });
             const exact = await c('AssertVisible', { text: shown, exact: true });
             const part = await c('AssertVisible', { text: 'zoë 1' });
             const wrong = await c('AssertVisible', { text: 'Zoë', exact: true, timeoutMs: 10 });
             return { tapped, there, exact, part, wrong };",
            device,
        );
        let done = json!({ "status": 200, "body": {} });
        assert_eq!(said["tapped"], json!([done, done]), "{device}");
        for passed in ["there", "exact", "part"] {
            assert_eq!(said[passed]["status"], 200, "{device} {passed}: {said}");
        }
        assert_eq!(said["wrong"]["status"], 400, "{device}: {said}");
        assert_eq!(said["wrong"]["body"]["code"], "failed_precondition");
    }
}

#[test]
fn a_question_about_what_is_not_there_is_answered_and_not_refused() {
    for device in ["virtual:android", "virtual:ios", "web"] {
        let said = does(
            "return [await c('IsVisible', { text: 'Nowhere' }), await c('IsVisible', { id: 'nothing' }),
                     await c('HasText', { text: 'nowhere' }), await c('GetElementText', { id: 'nothing' }),
                     await c('GetElementCount', { text: 'Nowhere' })];",
            device,
        );
        let bodies: Vec<_> = said
            .as_array()
            .unwrap()
            .iter()
            .map(|a| &a["body"])
            .collect();
        assert_eq!(
            bodies,
            [
                &json!({ "visible": false }),
                &json!({ "visible": false }),
                &json!({ "found": false }),
                &json!({}),
                &json!({ "count": 0 })
            ],
            "{device}"
        );
    }
}

#[test]
fn a_question_about_what_is_there_says_so() {
    for device in PHONES {
        let said = does(
            "await c('Tap', { id: 'note' });
             await c('InputText', { text: 'a.b' });
             return [await c('IsVisible', { text: 'A.B' }), await c('IsVisible', { text: 'axb' }),
                     await c('IsVisible', { id: 'shown' }), await c('GetElementText', { id: 'shown' }),
                     await c('GetElementCount', { id: 'shown' }), await c('HasText', { text: '<a.b>' }),
                     await c('IsVisible', { text: '<A.B>', exact: true })];",
            device,
        );
        let bodies: Vec<_> = said
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["body"].clone())
            .collect();
        assert_eq!(
            bodies,
            [
                json!({ "visible": true }),
                json!({ "visible": false }),
                json!({ "visible": true }),
                json!({ "text": "<a.b>" }),
                json!({ "count": 1 }),
                json!({ "found": true }),
                json!({ "visible": false })
            ],
            "{device}"
        );
    }
}

#[test]
fn a_page_is_asked_by_id_test_id_and_text() {
    let said = does(
        "await c('Fill', { selector: '#note', value: 'x' });
         await c('Tap', { id: 'add' });
         const waited = await c('IsVisible', { text: 'Added x', timeoutMs: 3000 });
         const now = [await c('GetElementCount', { id: 'row' }), await c('GetElementCount', { id: 'row', text: 'sec' }),
                      await c('GetElementText', { id: 'row' }), await c('GetElementText', { id: 'note' }),
                      await c('IsVisible', { text: 'Third' }), await c('IsVisible', { id: 'out', text: 'added', exact: true })];
         await c('Tap', { text: 'menu' });
         now.push(await c('GetElementText', { id: 'out' }));
         await c('Fill', { selector: '#note', value: 'x' });
         await c('Tap', { id: 'add' });
         await c('WaitUntilVisible', { text: 'Added x' });
         await c('Fill', { selector: '#note', value: '' });
         const page = [await c('GetElementText', { id: 'note' }), await c('EvaluateJs', { script: '1 + 1' }),
                       await c('EvaluateJs', { script: '\"2\"' }), await c('EvaluateJs', { script: 'null' }),
                       await c('WaitForSelector', { selector: '#out:has-text(\"Added\")' }),
                       await c('Click', { selector: '#nowhere >' })];
         return { waited, now, page };",
        "web",
    );
    let bodies = |of: &Value| -> Vec<Value> {
        let all = of.as_array().unwrap().iter();
        all.map(|answer| answer["body"].clone()).collect()
    };
    assert_eq!(said["waited"]["body"], json!({ "visible": true }));
    assert_eq!(
        bodies(&said["now"]),
        [
            json!({ "count": 2 }),
            json!({ "count": 1 }),
            json!({ "text": "First" }),
            json!({ "text": "x" }),
            json!({ "visible": false }),
            json!({ "visible": false }),
            json!({ "text": "right" })
        ]
    );
    let page = bodies(&said["page"]);
    assert_eq!(
        page[..5],
        [
            json!({}),
            json!({ "result": 2 }),
            json!({ "result": "2" }),
            json!({ "result": null }),
            json!({})
        ]
    );
    assert_eq!(page[5]["code"], "failed_precondition", "{page:?}");
}

#[test]
fn phones_scroll_go_back_and_run_commands() {
    let said = does(
        "return [await c('Swipe', { direction: 'DIRECTION_UP', durationMs: 200 }), await c('Scroll', { direction: 'DIRECTION_DOWN', amount: 2 }),
                 await c('AdbShell', { command: 'echo a && echo b' }), await c('AdbShell', { command: 'exit 3' }),
                 await c('GrantPermission', { packageId: 'com.example.note', permission: 'android.permission.CAMERA' }),
                 await c('Pinch', { scale: 2 }), await c('PressBack'), await c('PressHome'), await c('ClearAppData', { packageId: 'com.example.note' }),
                 await c('LaunchApp', { packageId: 'com.example.note', mode: 'LAUNCH_MODE_FORCE_RESTART' })];",
        "virtual:android",
    );
    let said = said.as_array().unwrap();
    assert_eq!(said[2]["body"], json!({ "output": "a\nb" }));
    assert_eq!(said[3]["body"]["code"], "failed_precondition");
    for (index, answer) in said.iter().enumerate().filter(|(index, _)| *index != 3) {
        assert_eq!(answer["status"], 200, "{index}: {answer}");
    }
}

#[test]
fn a_captured_screen_is_fetched_by_the_call_that_captured_it_and_by_nobody_else() {
    for device in ["virtual:ios", "web"] {
        let said = does(
            "const { body: screen } = await c('CaptureScreen');
             const picture = await fetched(on, screen.screenshotUrl);
             const tree = await fetched(on, screen.treeUrl);
             const stranger = await fetched({ invocationId: 'someone' }, screen.screenshotUrl);
             for (let i = 0; i < 3; i++) await c('CaptureScreen');
             const late = await fetched(on, screen.screenshotUrl);
             return { screen, magic: picture.bytes.toString('latin1', 1, 4), type: picture.type,
                      tree: JSON.parse(tree.bytes), stranger: stranger.status, late: late.status };",
            device,
        );
        assert_eq!(said["magic"], "PNG");
        assert_eq!(said["type"], "image/png");
        assert_eq!(
            (&said["stranger"], &said["late"]),
            (&json!(401), &json!(404))
        );
        let screen = &said["screen"];
        assert!(screen["width"].as_f64().unwrap() > 100.0, "{screen}");
        has(screen["text"].as_str().unwrap(), &["Note"]);
        assert_eq!(said["tree"]["width"], screen["width"]);
        assert!(!said["tree"]["refs"].as_array().unwrap().is_empty());
    }
}

#[test]
fn what_a_tool_does_wrong_is_refused_with_what_to_do() {
    let said = does(
        "return [await c('Click', { selector: '#a' }), await c('Tap', { txt: 'a' }), await c('Tapp', {}),
                 await c('Tap', {}, { headers: { authorization: '' } }), await c('Tap', {}, { headers: { authorization: 'Bearer gone' } }),
                 await c('WaitUntilVisible', { text: 'Nowhere' }, { headers: { 'connect-timeout-ms': '80' } }),
                 await c('Tap', {}, { headers: { 'connect-timeout-ms': 'soon' } }), await c('Tap', {}, { body: '{' }),
                 await c('Tap', {}, { headers: { origin: 'http://evil.example' } }),
                 await c('Tap', { text: 'x'.repeat(2 << 20) }), await c('Tap', {}, { headers: { 'content-type': 'application/proto' } })];",
        "virtual:android",
    );
    let expected = [
        (
            501,
            "unimplemented",
            "works on web, and this device is android",
        ),
        (400, "invalid_argument", "unknown field `txt`"),
        (404, "not_found", "did you mean `Tap`"),
        (401, "unauthenticated", "Authorization: Bearer"),
        (401, "unauthenticated", "or its tool call has ended"),
        (504, "deadline_exceeded", "0.1 s that the caller allowed"),
        (400, "invalid_argument", "Connect-Timeout-Ms"),
        (400, "invalid_argument", "not JSON"),
        (403, "permission_denied", "web pages"),
        (429, "resource_exhausted", "too large"),
    ];
    for (answer, (status, code, part)) in said.as_array().unwrap().iter().zip(expected) {
        let message = answer["body"]["message"].as_str().unwrap_or_default();
        assert_eq!(answer["status"], status, "{answer}");
        assert_eq!(answer["body"]["code"], code, "{answer}");
        assert!(message.contains(part), "{part}: {answer}");
    }
    assert_eq!(said[10]["status"], 415, "{}", said[10]);
}

#[test]
fn a_command_of_a_call_that_has_ended_does_nothing() {
    let tools = "[{ name: 'acme_do', call: async ({ on }) => {
        globalThis.ended ??= on;
        return JSON.stringify(globalThis.ended === on ? [] : await command(globalThis.ended, 'InputText', { text: 'late' }));
    } }, { name: 'acme_both', call: async ({ on }) => {
        await call(on, 'acme_do');
        return (await call(on, 'acme_do')).text_content;
    } }]";
    let lab = workspace(&[Raw::new("acme", tools)]);
    let said = super::answer(&lab, "acme_both");
    assert_eq!(said["status"], 401);
    assert_eq!(said["body"]["code"], "unauthenticated");
}

/// Slow is not gone: what was being done is given up, and the next command finds the device.
#[test]
fn a_slow_device_costs_the_command_its_time_and_no_more() {
    for device in ["virtual:android", "virtual:ios", "web"] {
        let said = does(
            "const hurry = { headers: { 'connect-timeout-ms': '100' } };
             const slow = [await c('IsVisible', { id: 'nothing', timeoutMs: 60000 }, hurry),
                           await c('AssertVisible', { text: 'Nowhere', timeoutMs: 60000 }, hurry)];
             const after = await c('HasText', { text: on.device.platform === 'web' ? 'First' : 'Note' });
             return { slow, after };",
            device,
        );
        for slow in said["slow"].as_array().unwrap() {
            assert_eq!(
                slow["body"]["code"], "deadline_exceeded",
                "{device}: {said}"
            );
        }
        assert_eq!(
            said["after"]["body"],
            json!({ "found": true }),
            "{device}: {said}"
        );
    }
}

/// An action that nobody waits for is done all the same, and what comes after it finds it done.
#[test]
fn an_action_that_was_given_up_is_finished_first() {
    let said = does(
        "await c('EvaluateJs', { script: \"setTimeout(() => { late.hidden = false }, 700), document.body.insertAdjacentHTML('beforeend', '<button id=late hidden onclick=out.textContent=1>Late</button>'), 0\" });
         const slow = await c('Click', { selector: '#late' }, { headers: { 'connect-timeout-ms': '100' } });
         return [slow, await c('GetElementText', { id: 'out' })];",
        "web",
    );
    assert_eq!(said[0]["body"]["code"], "deadline_exceeded", "{said}");
    assert_eq!(said[1]["body"], json!({ "text": "1" }), "{said}");
}

/// A tool that does not wait for its last action has it done before the next step all the same.
#[test]
fn an_action_under_way_when_its_tool_ends_is_finished_before_the_next_step() {
    let tools = r#"[{ name: 'acme_leave', call: async ({ on }) => {
        const script = `setTimeout(() => { late.hidden = false }, 700), document.body.insertAdjacentHTML('beforeend', '<button id=late hidden onclick="out.textContent = 1 + 41">Late</button>'), 0`;
        await command(on, 'EvaluateJs', { script });
        const slow = await command(on, 'Click', { selector: '#late' }, { headers: { 'connect-timeout-ms': '100' } });
        return slow.body.code;
    } }]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    lab.write("notes.html", PAGE);
    lab.write(
        "a.trail.yaml",
        "config: {}\ntrail:\n  - step: x\n    recording:\n      web:\n        - web_navigate: { url: notes.html }\n        - acme_leave: {}\n        - web_verifyTextVisible: { text: \"42\", timeoutMs: 1 }\n",
    );
    super::run(&lab, "web", 0);
    nothing_runs(&lab);
}

const HIDDEN: &str = r#"document.body.innerHTML = `
  <div id=box>Shown <span style="display:none">secret</span></div>
  <textarea id=area>begun</textarea>
  <div id=dup hidden>Twin</div><div id=dup onclick="hit.textContent = 'second'">Twin</div>
  <p hidden>Row 1</p><p onclick="hit.textContent = 'two'">Row 2</p><p onclick="hit.textContent = 'three'">Row 3</p>
  <b id=b><span>Save</span></b><i id=hit></i>`, area.value = 'changed', 0"#;

/// What a question says and what an assertion says is the same, and a tap counts what is visible.
#[test]
fn only_what_a_person_sees_of_a_page_counts() {
    let script = format!(
        "await c('EvaluateJs', {{ script: {HIDDEN:?} }});
         const both = async (asked) => [(await c('IsVisible', asked)).body.visible,
                                        (await c('AssertVisible', {{ ...asked, timeoutMs: 10 }})).status === 200];
         const seen = {{}};
         for (const asked of [{{ id: 'box', text: 'secret' }}, {{ id: 'box', text: 'SHOWN' }}, {{ id: 'area', text: 'begun' }},
                              {{ id: 'area', text: 'changed' }}, {{ id: 'dup' }}, {{ id: 'b', text: 'Save', exact: true }},
                              {{ id: 'b', text: 'Sav', exact: true }}, {{ text: 'secret' }}, {{ text: 'Row 1' }}])
           seen[JSON.stringify(asked)] = await both(asked);
         const hits = [];
         for (const asked of [{{ text: 'Row', index: 1 }}, {{ text: 'Twin' }}, {{ id: 'dup' }}, {{ text: 'Row 2', exact: true }}]) {{
           await c('Tap', asked);
           hits.push((await c('GetElementText', {{ id: 'hit' }})).body.text);
         }}
         return {{ seen, hits, typed: (await c('InputText', {{ text: 'x' }}, {{ headers: {{ 'connect-timeout-ms': '300' }} }})).status }};"
    );
    let said = does(&script, "web");
    let yes = json!([true, true]);
    let no = json!([false, false]);
    assert_eq!(
        said["seen"],
        json!({
            r#"{"id":"box","text":"secret"}"#: no,
            r#"{"id":"box","text":"SHOWN"}"#: yes,
            r#"{"id":"area","text":"begun"}"#: no,
            r#"{"id":"area","text":"changed"}"#: yes,
            r#"{"id":"dup"}"#: yes,
            r#"{"id":"b","text":"Save","exact":true}"#: yes,
            r#"{"id":"b","text":"Sav","exact":true}"#: no,
            r#"{"text":"secret"}"#: no,
            r#"{"text":"Row 1"}"#: no,
        })
    );
    assert_eq!(said["hits"], json!(["three", "second", "second", "two"]));
    // Nothing has the focus that could be typed into.
    assert_eq!(said["typed"], 504, "{said}");
}

/// Nothing of ours is between this client and the wire: Buf compiles the schema, and Connect's own
/// library speaks by it.
#[test]
fn a_connect_client_that_knows_only_the_schema_is_answered() {
    let tools = r#"[{ name: 'acme_do', call: async ({ on }) => {
        const { readFileSync } = await import("node:fs");
        const { createFileRegistry, fromBinary, toJson } = await import("@bufbuild/protobuf");
        const { FileDescriptorSetSchema } = await import("@bufbuild/protobuf/wkt");
        const { Code, createClient } = await import("@connectrpc/connect");
        const { createConnectTransport } = await import("@connectrpc/connect-node");
        const files = fromBinary(FileDescriptorSetSchema, readFileSync("schema.binpb"));
        const service = createFileRegistry(files).getService("packtrain.v1.Commands");
        const transport = createConnectTransport({ baseUrl: on.baseUrl, httpVersion: "1.1", useBinaryFormat: false });
        const client = createClient(service, transport);
        const headers = { authorization: `Bearer ${on.invocationId}` };
        const asked = async (method, request, options = {}) => {
            try {
                const answer = await client[method](request, { headers, ...options });
                return toJson(service.method[method].output, answer);
            } catch (error) {
                return Code[error.code];
            }
        };
        return JSON.stringify([
            await asked("tap", { text: "Note" }),
            await asked("inputText", { text: "a" }),
            await asked("getElementText", { id: "shown" }),
            await asked("getElementText", { id: "nothing" }),
            await asked("getElementCount", { id: "shown" }),
            await asked("swipe", { direction: 1 }),
            Object.keys(await asked("captureScreen", {})).length >= 5,
            await asked("click", { selector: ".a" }),
            await asked("tap", {}),
            await asked("assertVisible", { text: "Nowhere", timeoutMs: 10 }),
            await asked("isVisible", { text: "Nowhere", timeoutMs: 60000 }, { timeoutMs: 150 }),
            await asked("tap", { text: "a" }, { headers: {} }),
        ]);
    } }]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    link_modules(&lab);
    let buf = lab.folder().join("node_modules/.bin/buf");
    let schema: PathBuf = repository().join("sdks/commands.proto");
    let compiled = Command::new(buf)
        .arg("build")
        .arg(schema)
        .args(["-o", "schema.binpb"])
        .env("HOME", lab.folder())
        .current_dir(lab.folder())
        .output();
    Ended::from(compiled.unwrap()).expect(0);
    assert_eq!(
        on_screen(&lab, "virtual:android"),
        json!([
            {},
            {},
            { "text": "<a>" },
            {},
            { "count": 1 },
            {},
            true,
            "Unimplemented",
            "InvalidArgument",
            "FailedPrecondition",
            "DeadlineExceeded",
            "Unauthenticated"
        ])
    );
}
