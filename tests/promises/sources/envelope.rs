//! What a call tells its server of the session: in `_meta`, in the older argument, in the environment.

use serde_json::{Value, json};

use super::{Raw, answer, run, shows, trail, workspace};

/// Answers what it was called with.
const MIRROR: &str = r#"[
  { name: 'acme_see', call: ({ args, meta }) => JSON.stringify({ args, meta }) },
  { name: 'acme_closed', inputSchema: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
    call: ({ args }) => JSON.stringify(args) },
  { name: 'acme_declared', inputSchema: { type: 'object', additionalProperties: false, required: ['_trailblazeContext'],
      properties: { _trailblazeContext: { type: 'object' } } },
    call: ({ args }) => JSON.stringify(args) },
  { name: 'acme_passthrough', inputSchema: { type: 'object', properties: {}, additionalProperties: {} },
    call: ({ args }) => JSON.stringify(args) },
  { name: 'acme_all', call: async ({ on }) => {
      const tools = ['acme_closed', 'acme_declared', 'acme_passthrough'];
      return JSON.stringify(await Promise.all(tools.map(async (tool) => JSON.parse(await must(on, tool, {})))));
  } },
  { name: 'acme_env', call: () => JSON.stringify(process.env) },
]"#;

/// What a tool answered on the device of this platform.
fn told(lab: &packtrain_tests::Lab, tool: &str, platform: &str) -> Value {
    let events = lab.events();
    let started = events.iter().find(|event| {
        event["device"]["id"]
            .as_str()
            .is_some_and(|id| id.starts_with(platform))
    });
    let session = &started.unwrap()["session"];
    let finished = events.iter().find(|event| {
        event["event"] == "tool_finished" && event["tool"] == tool && event["session"] == *session
    });
    serde_json::from_str(finished.unwrap()["answer"].as_str().unwrap()).unwrap()
}

#[test]
fn a_call_carries_the_fields_of_both_generations() {
    let lab = workspace(&[Raw::new("acme", MIRROR)]);
    let configuration = lab.read("packtrain.yaml");
    let target = "target: note\ntargets: { note: { baseUrl: \"http://note.example\", appIds: { android: com.example.note, ios: com.example.note } } }\n";
    lab.write("packtrain.yaml", &format!("{target}{configuration}"));
    trail(
        &lab,
        "{ memory: { who: Ada, n: 5 } }",
        &["acme_see: { a: x }"],
    );
    run(&lab, "virtual:android,virtual:ios", 0);
    let mut ids = Vec::new();
    for platform in ["android", "ios"] {
        let seen = told(&lab, "acme_see", platform);
        let (args, meta) = (&seen["args"], &seen["meta"]);
        let on = &meta["trailblaze"];
        let url = on["baseUrl"].as_str().unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "{url}");
        let id = on["invocationId"].as_str().unwrap().to_owned();
        assert_eq!(id.len(), 36, "{id}");
        assert_eq!(meta["trailblazeInvocationId"], id);
        assert!(!on["sessionId"].as_str().unwrap().is_empty());
        ids.push((id, on["sessionId"].clone()));
        let device = &on["device"];
        assert_eq!(device["platform"], platform);
        assert_eq!(device["id"], "virtual-1");
        assert_eq!(device["instanceId"], device["id"]);
        assert!(device["widthPixels"].as_u64().unwrap() > 0, "{device}");
        assert!(device["heightPixels"].as_u64().unwrap() > 0, "{device}");
        assert_eq!(device["width"], device["widthPixels"]);
        assert_eq!(device["height"], device["heightPixels"]);
        let driver = match platform {
            "android" => "android-ondevice-accessibility",
            _ => "ios-host",
        };
        assert_eq!(device["driverType"], driver);
        assert_eq!(on["memory"], json!({ "who": "Ada", "n": "5" }));
        assert_eq!(on["capabilities"], json!({ "sampling": false }));
        assert_eq!(
            on["target"],
            json!({
                "id": "note", "displayName": "note",
                "appIds": ["com.example.note"], "appId": "com.example.note",
                "baseUrls": ["http://note.example"], "resolvedBaseUrl": "http://note.example",
            })
        );
        // The older argument has two keys, and the device's four.
        let older = json!({
            "memory": on["memory"],
            "device": {
                "platform": platform, "driverType": driver,
                "widthPixels": device["widthPixels"], "heightPixels": device["heightPixels"],
            },
        });
        assert_eq!(*args, json!({ "a": "x", "_trailblazeContext": older }));
    }
    assert_ne!(ids[0].0, ids[1].0);
    assert_ne!(ids[0].1, ids[1].1);
}

#[test]
fn the_older_argument_goes_to_open_schemas_and_to_those_that_name_it() {
    let seen = answer(&workspace(&[Raw::new("acme", MIRROR)]), "acme_all");
    assert_eq!(seen[0], json!({}));
    for taken in [&seen[1], &seen[2]] {
        let keys: Vec<_> = taken.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["_trailblazeContext"]);
        let keys: Vec<_> = taken["_trailblazeContext"]
            .as_object()
            .unwrap()
            .keys()
            .collect();
        assert_eq!(keys, ["device", "memory"]);
    }
}

#[test]
fn a_server_for_one_device_finds_it_in_its_environment() {
    let keys = ", env: { ACME: \"for {device}\" }";
    let one = workspace(&[Raw {
        name: "acme",
        tools: MIRROR,
        keys,
    }]);
    trail(&one, "{}", &["acme_see: {}", "acme_env: {}"]);
    run(&one, "virtual:ios", 0);
    let (seen, env) = (told(&one, "acme_see", "ios"), told(&one, "acme_env", "ios"));
    let on = &seen["meta"]["trailblaze"];
    let device = &on["device"];
    assert_eq!(env["TRAILBLAZE_DEVICE_PLATFORM"], "IOS");
    assert_eq!(env["TRAILBLAZE_DEVICE_DRIVER"], device["driverType"]);
    let width = device["widthPixels"].to_string();
    assert_eq!(env["TRAILBLAZE_DEVICE_WIDTH_PX"], width);
    let height = device["heightPixels"].to_string();
    assert_eq!(env["TRAILBLAZE_DEVICE_HEIGHT_PX"], height);
    assert_eq!(env["TRAILBLAZE_BASE_URL"], on["baseUrl"]);
    assert_eq!(env["TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS"], "122000");
    assert_eq!(env["TRAILBLAZE_SESSION_ID"], on["sessionId"]);
    let file = one.folder().join("acme.mjs").canonicalize().unwrap();
    assert_eq!(env["TRAILBLAZE_TOOLSET_FILE"], file.to_str().unwrap());
    assert_eq!(env["ACME"], "for ios/virtual-1");
    assert_eq!(env["NO_COLOR"], "1", "the rest is inherited");
    let ours = env.as_object().unwrap().keys();
    assert_eq!(
        ours.filter(|name| name.starts_with("TRAILBLAZE_")).count(),
        8
    );

    // One that several devices share is told in each call, for what it says would be wrong.
    run(&one, "virtual:android,virtual:ios", 0);
    let env = told(&one, "acme_env", "ios");
    assert_eq!(env["TRAILBLAZE_DEVICE_PLATFORM"], Value::Null);
    assert_eq!(env["TRAILBLAZE_DEVICE_DRIVER"], Value::Null);
    assert_eq!(
        env["TRAILBLAZE_BASE_URL"],
        told(&one, "acme_see", "ios")["meta"]["trailblaze"]["baseUrl"]
    );
}

#[test]
fn secrets_are_in_no_envelope() {
    let tools = r#"[{ name: 'acme_look', inputSchema: { type: 'object', properties: { pin: { type: 'string' } } },
      call: ({ args, meta }) => {
        const { pin, ...others } = args;
        const leaks = JSON.stringify([others, meta]).includes('4711x');
        const names = [others._trailblazeContext.memory, meta.trailblaze.memory].map((memory) => Object.keys(memory).sort());
        return JSON.stringify({ given: pin === '4711x', leaks, names });
      } }]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(
        &lab,
        "{ memory: { who: Ada, note: \"the pin is {{pin}}\" } }",
        &["acme_look: { pin: \"{{pin}}\" }"],
    );
    let flags = [
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
        "--secret",
        "pin=4711x",
    ];
    lab.run(&flags).expect(0);
    let names = json!(["note", "who"]);
    assert_eq!(
        told(&lab, "acme_look", "android"),
        json!({ "given": true, "leaks": false, "names": [names, names] })
    );
}

#[test]
fn what_a_tool_remembers_is_set_then_deleted_and_only_if_it_passed() {
    let tools = r#"[
      { name: 'acme_set', call: () => ({ content: [], _meta: { trailblaze: {
          memoryDelta: { a: '1', b: '2', who: 'Grace', n: 5, o: { x: 1 } }, memoryDeletions: ['b', 'gone', 'never', 7] } } }) },
      { name: 'acme_fail', call: () => ({ content: [{ type: 'text', text: 'no' }], isError: true,
          _meta: { trailblaze: { memoryDelta: { a: 'wrong' }, memoryDeletions: ['who'] } } }) },
      { name: 'acme_try', call: async ({ on }) => {
          const { success: passed } = await call(on, 'acme_fail');
          return JSON.stringify({ passed, dump: (await call(on, 'dumpMemory')).text_content });
      } },
      { name: 'acme_see', call: ({ on }) => JSON.stringify(on.memory) },
    ]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(
        &lab,
        "{ memory: { who: Ada, gone: soon } }",
        &[
            "acme_set: {}",
            "assertEquals: { actual: \"{{a}} {{who}}\", expected: 1 Grace }",
            "acme_try: {}",
            "acme_see: {}",
            "inputText: { text: \"{{who}}\" }",
            &shows("Grace"),
        ],
    );
    run(&lab, "virtual:android", 0);
    let tried = told(&lab, "acme_try", "android");
    assert_eq!(
        tried,
        json!({ "passed": false, "dump": "a = 1\nwho = Grace" })
    );
    assert_eq!(
        told(&lab, "acme_see", "android"),
        json!({ "a": "1", "who": "Grace" })
    );
}
