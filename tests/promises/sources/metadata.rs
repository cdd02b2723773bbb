//! What is said of tools, by their server, its registry and the configuration, and who counts first.

use packtrain_tests::Lab;

use super::{Raw, has, nothing_runs, run, said, trail, workspace};

/// Calls a tool on an Android phone; `Err` is the message of a refusal.
#[track_caller]
fn called(lab: &Lab, tool: &str) -> Result<String, String> {
    let ended = lab.run(&["tool", tool, "-d", "virtual:android"]);
    nothing_runs(lab);
    match ended.code {
        0 => Ok(ended.stdout.trim_end().to_owned()),
        1 => Err(ended.stderr),
        _ => panic!("{ended:?}"),
    }
}

#[test]
fn a_tool_for_another_platform_or_driver_is_refused_before_its_server_hears_of_it() {
    let tools = r#"(() => {
      const ran = [];
      const tool = (name, meta) => ({ name, _meta: meta, call: () => { ran.push(name); return name; } });
      return [
        tool('acme_ios', { 'trailblaze/supportedPlatforms': ['IOS'] }),
        tool('acme_web', { 'trailblaze/supportedDrivers': ['playwright-native'] }),
        tool('acme_desktop', { 'trailblaze/supportedPlatforms': ['DESKTOP'] }),
        tool('acme_both', { 'trailblaze/supportedPlatforms': ['ANDROID'], 'trailblaze/supportedDrivers': ['ios-host'] }),
        tool('acme_here', { 'trailblaze/supportedPlatforms': ['Android', 'web'], 'trailblaze/supportedDrivers': ['playwright-native', 'android-ondevice-accessibility'] }),
        { name: 'acme_try', async call({ on }) {
            const seen = {};
            for (const name of ['acme_ios', 'acme_web', 'acme_desktop', 'acme_both', 'acme_here']) {
              const result = await call(on, name);
              seen[name] = result.text_content ?? result.error_message;
            }
            return JSON.stringify({ seen, ran });
        } },
      ];
    })()"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    let tried = super::answer(&lab, "acme_try");
    assert_eq!(tried["ran"], serde_json::json!(["acme_here"]));
    for (tool, why) in [
        ("acme_ios", "`acme_ios` does not work on android devices"),
        (
            "acme_web",
            "`acme_web` works with the driver playwright-native only, not with android-ondevice-accessibility",
        ),
        ("acme_desktop", "`acme_desktop` works with"),
        (
            "acme_both",
            "`acme_both` works with the driver ios-host only, not with android-ondevice-accessibility",
        ),
    ] {
        has(tried["seen"][tool].as_str().unwrap(), &[why]);
    }
    // A step is told the same.
    trail(&lab, "{}", &["acme_ios: {}"]);
    has(
        &run(&lab, "virtual:android", 1),
        &["`acme_ios` does not work on android devices"],
    );
    run(&lab, "virtual:ios", 0);
}

#[test]
fn tools_hidden_from_agents_are_there_for_steps_and_callbacks() {
    let tools = r#"[
      { name: 'acme_old', _meta: { 'trailblaze/isForLlm': false }, call: () => 'old' },
      { name: 'acme_new', _meta: { 'trailblaze/surfaceToLlm': false, 'trailblaze/isRecordable': false }, call: () => 'new' },
      { name: 'acme_both', async call({ on }) { return `${await must(on, 'acme_old')} ${await must(on, 'acme_new')}`; } },
    ]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    assert_eq!(said(&lab, "acme_both"), "old new");
    trail(&lab, "{}", &["acme_old: {}", "acme_new: {}"]);
    run(&lab, "virtual:android", 0);
}

#[test]
fn metadata_of_another_type_is_none() {
    let tools = r#"[
      { name: 'acme_a', _meta: { 'trailblaze/supportedPlatforms': 'ios', 'trailblaze/supportedDrivers': [1], 'trailblaze/isForLlm': 'no' }, call: () => 'a' },
      { name: 'acme_b', _meta: { supportedPlatforms: ['ios'], 'trailblaze/toolset': 7 }, call: () => 'b' },
    ]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(&lab, "{}", &["acme_a: {}", "acme_b: {}"]);
    run(&lab, "virtual:android", 0);
}

#[test]
fn what_a_tool_says_itself_counts_first_then_its_registry_then_the_configuration() {
    let tools = r#"['own', 'registered', 'given', 'default'].map((name) => ({
      name: `acme_${name}`,
      _meta: name === 'own' ? { 'trailblaze/supportedPlatforms': ['android'] } : {},
      call: () => name,
    })), { 'trailblaze://registry': { tools: {
      acme_own: { platforms: ['ios'] }, acme_registered: { platforms: ['android'] }, acme_elsewhere: { platforms: ['android'] },
    } } }"#;
    let keys = ", defaultMeta: { supportedPlatforms: [ios] }, toolMeta: { \
                acme_own: { supportedPlatforms: [ios] }, acme_registered: { supportedPlatforms: [ios] }, \
                acme_given: { supportedPlatforms: [ANDROID] } }";
    let lab = workspace(&[Raw {
        name: "acme",
        tools,
        keys,
    }]);
    for name in ["own", "registered", "given"] {
        assert_eq!(called(&lab, &format!("acme_{name}")), Ok(name.to_owned()));
    }
    let refused = called(&lab, "acme_default").unwrap_err();
    has(
        &refused,
        &["`acme_default` does not work on android devices"],
    );
}

#[test]
fn a_registry_limits_platforms_and_tells_which_tools_need_a_model() {
    let tools = r#"['ios', 'here', 'model', 'wrapper'].map((name) => ({ name: `acme_${name}`, call: () => name })), {
      'trailblaze://registry': {
        tools: {
          acme_ios: { platforms: ['ios', 'desktop'], groups: ['auth'], exposedToLlm: true, isRecordable: true, isDelegating: false },
          acme_here: { platforms: ['android'] },
          acme_model: { exposedToLlm: true, isRecordable: false, isDelegating: false },
          acme_wrapper: { exposedToLlm: true, isRecordable: false, isDelegating: true },
          acme_broken: 7,
        },
        groups: { auth: { description: 'Sign in', defaultEnabled: true } },
        serverInfo: { name: 'acme', version: '1' },
      } }"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    assert_eq!(called(&lab, "acme_here"), Ok("here".to_owned()));
    assert_eq!(called(&lab, "acme_wrapper"), Ok("wrapper".to_owned()));
    let refused = called(&lab, "acme_ios").unwrap_err();
    has(&refused, &["`acme_ios` does not work on android devices"]);
    trail(&lab, "{}", &["acme_model: {}"]);
    let said = lab.run(&["run", "a.trail.yaml", "-d", "virtual:android"]);
    has(
        &said.stderr,
        &["acme_model needs a model that looks at the screen"],
    );
    assert_ne!(said.code, 0);
}

#[test]
fn two_tools_of_one_name_end_the_run_before_it_begins() {
    let same =
        r#"[{ name: 'acme_same', call: () => 'same' }, { name: 'acme_own', call: () => 'own' }]"#;
    let other =
        r#"[{ name: 'acme_same', call: () => 'same' }, { name: 'tap', call: () => 'tap' }]"#;
    let lab = workspace(&[Raw::new("one", same), Raw::new("two", other)]);
    trail(&lab, "{}", &["acme_own: {}"]);
    let told = [
        "`acme_same` is defined more than once: tool source `one` and tool source `two`",
        "`tap` is defined more than once: packtrain itself and tool source `two`",
    ];
    has(&run(&lab, "virtual:android", 3), &told);
    assert!(lab.events_so_far().is_empty(), "nothing was run");
    let ended = lab
        .run(&["tool", "acme_own", "-d", "virtual:android"])
        .expect(3);
    has(&ended.stderr, &told);
    assert!(ended.stdout.is_empty(), "{}", ended.stdout);
    nothing_runs(&lab);
}

#[test]
fn tools_are_asked_for_again_on_request() {
    let tools = r#"(() => {
      const all = [{ name: 'acme_grow', call: async ({ on }) => {
        all.push({ name: 'acme_new', call: async () => 'new' });
        return JSON.stringify(await call(on, 'reloadTools'));
      } }];
      return all;
    })()"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    let reloaded: serde_json::Value = serde_json::from_str(&said(&lab, "acme_grow")).unwrap();
    let expected = serde_json::json!({ "added": 1, "removed": 0, "total": 2 });
    assert_eq!(reloaded["structured_content"], expected, "{reloaded}");
}
