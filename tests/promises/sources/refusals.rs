//! A callback that is late, forged, replayed or of another session gets nowhere near a device.

use packtrain_tests::Lab;
use serde_json::{Value, json};

use super::{Raw, answer, failed, has, run, shows, trail, typed, unknown, workspace};

/// Keeps the context of a call, and calls back with what it should not.
const THIEF: &str = r#"[
  { name: 'acme_keep', async call({ on }) {
      globalThis.late = on;
      globalThis.served = body(on, 'inputText', { text: 'a' });
      return JSON.stringify(await post(on, served));
  } },
  { name: 'acme_misuse', async call({ on }) {
      const text = { text: 'stolen' };
      const forged = '00000000-0000-4000-8000-000000000000';
      const nearly = on.invocationId.slice(0, -1) + (on.invocationId.endsWith('0') ? '1' : '0');
      const bodies = [
        served,
        body(on, 'inputText', text, { invocation_id: late.invocationId }),
        body(late, 'inputText', text),
        body(on, 'inputText', text, { invocation_id: forged }),
        body(on, 'inputText', text, { invocation_id: nearly }),
        body(on, 'inputText', text, { invocation_id: on.invocationId.toUpperCase() }),
        body(on, 'inputText', text, { invocation_id: ` ${on.invocationId}` }),
        body(on, 'inputText', text, { session_id: 'foreign' }),
        body(on, 'inputText', text, { session_id: '' }),
      ];
      const seen = [];
      for (const body of bodies) seen.push({ asked: body.invocation_id, session: body.session_id, answer: await post(on, body) });
      return JSON.stringify({ own: on.invocationId, seen });
  } },
]"#;

fn answered(lab: &Lab, tool: &str) -> Vec<String> {
    let events = lab.events();
    let finished = events
        .iter()
        .filter(|event| event["event"] == "tool_finished" && event["tool"] == tool);
    finished
        .map(|event| event["answer"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn late_forged_foreign_and_replayed_callbacks_touch_no_device() {
    let lab = workspace(&[Raw::new("acme", THIEF)]);
    trail(
        &lab,
        "{}",
        &["acme_keep: {}", "acme_misuse: {}", &shows("a")],
    );
    run(&lab, "virtual:android", 0);
    let told: Value = serde_json::from_str(&answered(&lab, "acme_misuse")[0]).unwrap();
    let seen = told["seen"].as_array().unwrap();
    assert_eq!(seen.len(), 9);
    for one in &seen[..7] {
        assert_eq!(one["answer"], unknown(one["asked"].as_str().unwrap()));
    }
    for one in &seen[7..] {
        let (id, session) = (
            told["own"].as_str().unwrap(),
            one["session"].as_str().unwrap(),
        );
        let message = format!(
            "Session mismatch: invocation {id} belongs to a different session than '{session}'"
        );
        assert_eq!(
            one["answer"]["result"],
            json!({ "type": "error", "message": message })
        );
    }
    assert_eq!(typed(&lab), ["a"], "nothing else was even tried");
}

/// Two devices meet in one process: each keeps its context, and calls back with the other's id.
const MEETING: &str = r#"[
  { name: 'acme_meet', async call({ on }) {
      const here = (globalThis.here ??= []);
      here.push(on);
      if (here.length === 1) await new Promise((met) => (globalThis.met = met)); else met();
      const other = here.find((one) => one !== on);
      const crossed = [
        await post(on, body(on, 'inputText', { text: 'stolen' }, { invocation_id: other.invocationId })),
        await post(on, body(on, 'inputText', { text: 'stolen' }, { session_id: other.sessionId })),
        await post(on, body(on, 'inputText', { text: 'stolen' }, { invocation_id: undefined })),
        await post(on, body(on, 'inputText', { text: 'stolen' }, { invocation_id: undefined, session_id: undefined })),
        await post(on, body(on, 'inputText', { text: 'stolen' }, { invocation_id: '' })),
      ];
      await must(on, 'inputText', { text: on.device.platform });
      const left = (globalThis.left ??= []);
      // The first stays until the second has asked too.
      left.push(on);
      if (left.length === 1) await new Promise((all) => (globalThis.all = all)); else all();
      return JSON.stringify(crossed);
  } },
]"#;

#[test]
fn an_id_is_worth_nothing_in_another_session_and_two_devices_need_one() {
    let lab = workspace(&[Raw::new("acme", MEETING)]);
    trail(&lab, "{}", &["acme_meet: {}", "dumpMemory: {}"]);
    let text = lab.read("a.trail.yaml");
    let own = |text: String, platform: &str| {
        let (before, after) = text
            .rsplit_once(&format!("      {platform}:\n        - dumpMemory: {{}}\n"))
            .unwrap();
        format!(
            "{before}      {platform}:\n        - {}\n{after}",
            shows(platform)
        )
    };
    lab.write("a.trail.yaml", &own(own(text, "ios"), "android"));
    run(&lab, "virtual:android,virtual:ios", 0);
    let answers = answered(&lab, "acme_meet");
    assert_eq!(answers.len(), 2);
    for answer in answers {
        let answer: Value = serde_json::from_str(&answer).unwrap();
        for crossed in 0..2 {
            let message = answer[crossed]["result"]["message"].as_str().unwrap();
            has(message, &["Session mismatch: invocation "]);
        }
        // The session is never left out.
        assert_eq!(answer[3]["status"], 400, "{answer}");
        for missing in [2, 4] {
            let message = answer[missing]["result"]["message"].as_str().unwrap();
            has(
                message,
                &[
                    "An invocation ID is required",
                    "devices: 2, calls: 2",
                    "`_meta.trailblaze.invocationId`",
                ],
            );
            assert_eq!(answer[missing]["error"]["code"], -32602, "{answer}");
        }
    }
    let mut typed = typed(&lab);
    typed.sort();
    assert_eq!(typed, ["android", "ios"]);
}

#[test]
fn one_device_and_one_call_need_no_id() {
    let tools = r#"[
      { name: 'acme_probe', async call({ on }) {
          const without = (changes) => post(on, body(on, 'acme_inner', {}, { invocation_id: undefined, ...changes }));
          return JSON.stringify([
            await post(on, body(on, 'assertEquals', { actual: 'a', expected: 'b' }, { invocation_id: undefined })),
            await post(on, body(on, 'assertEquals', { actual: 'a', expected: 'b' }, { invocation_id: '' })),
            await post(on, body(on, 'dumpMemory', {}, { invocation_id: undefined, session_id: 'foreign' })),
            await without({}),
          ]);
      } },
      { name: 'acme_inner', call: async ({ on }) => JSON.stringify(await post(on, body(on, 'dumpMemory', {}, { invocation_id: undefined }))) },
    ]"#;
    let seen = answer(&workspace(&[Raw::new("acme", tools)]), "acme_probe");
    let served = failed("`assertEquals`: expected \"b\", got \"a\"");
    assert_eq!((&seen[0], &seen[1]), (&served, &served));
    let foreign = seen[2]["result"]["message"].as_str().unwrap();
    has(foreign, &["Session mismatch", "'foreign'"]);
    // A call within a call makes two.
    let inner = seen[3]["result"]["text_content"].as_str().unwrap();
    has(
        inner,
        &["An invocation ID is required", "devices: 1, calls: 2"],
    );
    // One that has ended does not count.
    let tools = r#"[{ name: 'acme_type', call: async ({ on }) =>
      JSON.stringify(await post(on, body(on, 'inputText', { text: 'a' }, { invocation_id: undefined }))) }]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(
        &lab,
        "{}",
        &["acme_type: {}", "acme_type: {}", &shows("aa")],
    );
    run(&lab, "virtual:android", 0);
}

#[test]
fn what_a_tool_leaves_behind_is_refused_once_it_has_answered() {
    let tools = r#"[
      { name: 'acme_leave', call: ({ on }) => {
          const asked = Array.from({ length: 8 }, () => post(on, body(on, 'acme_slow', { text: 'late' })));
          globalThis.left = Promise.all(asked);
          globalThis.first = new Promise((go) => (globalThis.go = go));
          return first.then(() => 'left');
      } },
      { name: 'acme_slow', inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
        call: ({ signal }) => new Promise((done) => { go(); signal.onabort = () => done('gone'); }) },
      { name: 'acme_collect', call: async () => JSON.stringify(await left) },
    ]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(
        &lab,
        "{}",
        &["acme_leave: {}", "acme_collect: {}", &shows("")],
    );
    run(&lab, "virtual:android", 0);
    let left: Value = serde_json::from_str(&answered(&lab, "acme_collect")[0]).unwrap();
    for answer in left.as_array().unwrap() {
        let message = answer["result"]["message"].as_str().unwrap();
        has(message, &["not found or no longer in flight"]);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    // One had begun; the others waited for it, and never did.
    let begun = super::calls(&lab)
        .into_iter()
        .filter(|(_, tool)| tool == "acme_slow");
    assert_eq!(begun.count(), 1);
}

#[test]
fn a_callback_of_an_earlier_session_reaches_no_later_one_without_its_id_either() {
    let tools = r#"[
      { name: 'acme_keep', call: async ({ on }) => { globalThis.kept = on; return 'kept'; } },
      { name: 'acme_late', call: async ({ on }) =>
        JSON.stringify(await post(on, body(kept, 'inputText', { text: 'late' }, { invocation_id: undefined }))) },
    ]"#;
    let keys = ", scope: shared";
    let name = "acme";
    let lab = workspace(&[Raw { name, tools, keys }]);
    trail(&lab, "{}", &["acme_late: {}", &shows("")]);
    let second = lab.read("a.trail.yaml");
    trail(&lab, "{}", &["acme_keep: {}"]);
    lab.write("b.trail.yaml", &second);
    let flags = [
        "run",
        "a.trail.yaml",
        "b.trail.yaml",
        "--screenshots=none",
        "-d",
        "virtual:android",
    ];
    lab.run(&flags).expect(0);
    let late: Value = serde_json::from_str(&answered(&lab, "acme_late")[0]).unwrap();
    let message = late["result"]["message"].as_str().unwrap();
    has(message, &["Session mismatch"]);
    assert!(typed(&lab).is_empty());
}
