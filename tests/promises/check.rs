//! `packtrain check`: mistakes are found without a device and shown where they are.

use packtrain_testing::has;
use packtrain_tests::repository;

use crate::lab;

#[test]
fn the_bundled_examples_are_without_mistakes() {
    let examples = repository().join("examples");
    let shop = examples.join("shop");
    lab()
        .run(&["check", "--strict", shop.to_str().unwrap()])
        .expect(0);
    // Which tools its sources have is known only once they run.
    let signup = examples.join("signup");
    let config = signup.join("packtrain.yaml");
    let (config, signup) = (config.to_str().unwrap(), signup.to_str().unwrap());
    let ended = lab().run(&["check", "--config", config, signup]).expect(0);
    assert!(ended.stderr.contains("0 mistakes"), "{}", ended.stderr);
}

#[test]
fn a_number_that_is_none_is_told_what_was_expected() {
    for (number, why) in [
        ("x", "expected a whole number of 0 or more"),
        ("-1", "-1 is not in 0..=4294967295"),
        ("99999999999999999999", "number too large"),
    ] {
        let given = format!("--android={number}");
        let ended = lab().run(&["virtual", "up", &given]).expect(3);
        let told = format!("invalid value '{number}' for '--android <N>': {why}");
        has(&ended.stderr, &[&told]);
    }
}

#[test]
fn an_address_that_no_device_could_open_is_refused() {
    let refused = |words: &[&str], why: &str| has(&lab().run(words).expect(3).stderr, &[why]);
    let relative = ["run", "a.trail.yaml", "--base-url", "/shop"];
    refused(&relative, "'--base-url <URL>': expected an absolute URL");
    let phone = ["snapshot", "-d", "virtual:ios", "--url", "http://x"];
    refused(&phone, "`--url` opens a page in a browser");
}

#[test]
fn a_tool_source_that_does_not_start_is_counted_beside_the_mistakes() {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "mcpServers: [{ name: nobody, command: [packtrain-nonesuch] }]\n",
    );
    lab.write("trails/a.trail.yaml", "config: { id: a }\ntrail: []\n");
    let ended = lab.run(&["check", "--tools"]).expect(2);
    has(
        &ended.stderr,
        &["0 mistakes, 1 warning, 1 tool source not started"],
    );
}

#[test]
fn a_mistake_is_shown_with_path_line_column_caret_and_hint() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config:\n  id: a\ntrail:\n  - step: \"Click\"\n    recordin:\n      web: []\n",
    );
    let ended = lab.run(&["check", "a.trail.yaml"]).expect(3);
    for part in [
        "a.trail.yaml:5:5",
        "recordin:",
        "^",
        "did you mean `recording`?",
    ] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
}

#[test]
fn a_wrong_argument_of_a_built_in_tool_is_a_mistake() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config: {}\ntrail:\n  - step: \"Click\"\n    recording:\n      web:\n        - web_click:\n            nodeSelector:\n              web:\n                ariaRol: button\n",
    );
    let ended = lab.run(&["check", "a.trail.yaml"]).expect(3);
    for part in ["a.trail.yaml:9:17", "ariaRol", "did you mean `ariaRole`?"] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
}

#[test]
fn an_unknown_tool_is_a_mistake_unless_a_tool_source_may_have_it() {
    let said = checked("web_clik: { ref: e1 }", 3);
    has(
        &said,
        &[
            "error: unknown tool `web_clik`",
            "a.trail.yaml:6:11",
            "did you mean `web_click`?",
        ],
    );
    has(&checked("acme_login: {}", 3), &["no tool source", "^"]);
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "mcpServers: [{ name: acme, command: acme }]",
    );
    lab.write("a.trail.yaml", "config: {}\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - acme_login: { user: ada }\n");
    let ended = lab.run(&["check", "a.trail.yaml"]).expect(0);
    assert!(ended.stderr.contains("acme_login"), "{}", ended.stderr);
    lab.run(&["check", "--strict", "a.trail.yaml"]).expect(3);
    let found = lab
        .run(&["check", "a.trail.yaml", "--format", "json"])
        .expect(0)
        .stdout;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["diagnostics"][0]["severity"], "warning");
}

#[test]
fn a_tool_that_a_platform_cannot_run_is_a_mistake() {
    let lab = lab();
    let text = "config: {}\ntrail:\n  - step: \"x\"\n    recording:\n      android-phone:\n        - web_click: { ref: e1 }\n";
    lab.write("a.trail.yaml", text);
    let said = lab.run(&["check", "a.trail.yaml"]).expect(3).stderr;
    has(
        &said,
        &[
            "a.trail.yaml:6:11",
            "`web_click` does not work on android devices",
            "^",
            "hint:",
        ],
    );
}

#[test]
fn a_trail_that_runs_one_that_does_not_exist_is_a_mistake() {
    let said = checked("runTrail: { path: gone.trail.yaml }", 3);
    has(
        &said,
        &[
            "a.trail.yaml:6:29",
            "no trail gone.trail.yaml",
            "^",
            "hint:",
        ],
    );
    checked("runTrail: { path: a.trail.yaml }", 0);
    checked("runTrail: { path: \"{{memory.name}}.trail.yaml\" }", 3);
}

#[test]
fn an_unknown_argument_of_a_built_in_tool_is_a_warning() {
    let said = checked("web_click: { ref: e1, reasonning: e2 }", 0);
    has(
        &said,
        &[
            "warning: unknown argument `reasonning` of `web_click`",
            "a.trail.yaml:6:33",
            "^",
            "did you mean `reasoning`?",
        ],
    );
}

#[test]
fn files_beside_trails_are_checked_as_what_they_are() {
    let lab = lab();
    lab.write("packtrain.yaml", "run: { retries: 1 }\n")
        .write("trails/config/trailblaze.yaml", "targets: [acme]\n")
        .write(
            "trails/config/toolsets/core.yaml",
            "id: core\ntools: [tap]\n",
        )
        .write("trails/home.waypoint.yaml", "id: home\nrequired: []\n")
        .write(
            "trails/login.tool.yaml",
            "id: login\ntools:\n  - pressBack: {}\n",
        )
        .write("trails/a.trail.yaml", "config: {}\ntrail:\n  - step: x\n");
    let said = lab.run(&["check", "--strict", "."]).expect(0).stderr;
    let files =
        "6 files checked (1 trail, 1 configuration, 1 workspace, 1 toolset, 1 waypoint, 1 tool)";
    has(&said, &[files]);
    lab.run(&["check", "packtrain.yaml"]).expect(0);
    lab.run(&["check", "trails/login.tool.yaml"]).expect(0);

    lab.write("other/packtrain.yaml", "run:\n  retrys: 1\n")
        .write("other/home.waypoint.yaml", "id: [home\n");
    let said = lab.run(&["check", "other"]).expect(3).stderr;
    has(
        &said,
        &[
            "other/packtrain.yaml:2:3",
            "did you mean `retries`?",
            "other/home.waypoint.yaml:",
            "2 mistakes",
        ],
    );
    let said = lab.run(&["run", "other/packtrain.yaml"]).expect(3).stderr;
    has(
        &said,
        &["other/packtrain.yaml is a configuration, not a trail"],
    );
}

/// A trail of one call, and what checking it says.
fn checked(call: &str, code: i32) -> String {
    let lab = lab();
    let text = format!(
        "config: {{}}\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - {call}\n"
    );
    lab.write("a.trail.yaml", &text);
    lab.run(&["check", "a.trail.yaml"]).expect(code).stderr
}

#[test]
fn two_blocks_in_one_selector_are_a_mistake() {
    let said = checked(
        "web_click: { nodeSelector: { web: { ariaRole: button }, iosMaestro: { textRegex: Save } } }",
        3,
    );
    has(
        &said,
        &[
            "a.trail.yaml:6:",
            "are mutually exclusive",
            "^",
            "hint:",
            "keep one of them",
        ],
    );
    let below = checked(
        "web_click: { nodeSelector: { web: { ariaRole: button }, below: { web: { ariaRole: link }, iosAxe: { uniqueId: a } } } }",
        3,
    );
    has(&below, &["a.trail.yaml:6:", "in `below`", "^"]);
}

#[test]
fn a_call_that_lacks_what_its_tool_needs_is_a_mistake() {
    for (call, says) in [
        ("web_click: {}", "missing `nodeSelector` or `ref`"),
        ("web_pressKey: { key: Control+ }", "unknown key"),
        ("web_navigate: {}", "missing `url`"),
        ("web_navigate: { url: \"\" }", "missing `url`"),
        (
            "web_selectOption: { values: [], ref: e1 }",
            "`values` is empty",
        ),
        (
            "web_verifyValue: { expected: a, type: ATTRIBUTE, ref: e1 }",
            "`attribute` is empty",
        ),
        (
            "scrollUntilTextIsVisible: { text: \"\" }",
            "missing `text`, `textRegex` or `id`",
        ),
    ] {
        has(&checked(call, 3), &["a.trail.yaml:6:", says, "^", "hint:"]);
    }
    checked("web_navigate: { action: BACK }", 0);
    // Into the field that has the focus.
    checked("web_type: { text: Ada }", 0);
}

#[test]
fn what_devices_of_a_farm_have_to_be_is_checked_where_it_stands() {
    let lab = lab();
    lab.write("packtrain.yaml", "farm:\n  on: android & (api>=\n");
    lab.write("a.trail.yaml", "trail:\n  - step: x\n");
    let said = lab.run(&["check", "a.trail.yaml"]).expect(3).stderr;
    has(
        &said,
        &["packtrain.yaml:2:3", "column", "^", "hint:", "farm why"],
    );
    lab.write("packtrain.yaml", "farm:\n  on: android & api>=33\n");
    lab.run(&["check", "a.trail.yaml"]).expect(0);
    let on = [("PACKTRAIN_FARM_ON", "!")];
    let refused = lab.command(&["check", "a.trail.yaml"]).envs(on).output();
    let said = packtrain_tests::Ended::from(refused.unwrap())
        .expect(3)
        .stderr;
    has(&said, &["PACKTRAIN_FARM_ON"]);
}

#[test]
fn a_broken_pattern_is_shown_where_it_stands() {
    let said = checked("web_waitForUrl: { pattern: \"product(\" }", 3);
    has(
        &said,
        &[
            "a.trail.yaml:6:38",
            "not a regular expression",
            "^",
            "hint:",
        ],
    );
    // What a template fills in is not known yet.
    let text = "config: { memory: { n: \"1)\" } }\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - web_waitForUrl: { pattern: \"product({{n}}\" }\n";
    let lab = lab();
    lab.write("a.trail.yaml", text);
    lab.run(&["check", "a.trail.yaml"]).expect(0);
    // In a selector it works, but as plain text.
    let call =
        "web_click: { nodeSelector: { web: { ariaRole: link, ariaNameRegex: \"Cart (2\" } } }";
    has(
        &checked(call, 0),
        &[
            "warning:",
            "a.trail.yaml:6:78",
            "compared as plain text",
            "^",
            "hint:",
        ],
    );
}

#[test]
fn a_pin_to_a_driver_that_nobody_knows_is_a_mistake() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config:\n  devices:\n    web: PLAYWRIGHT_NATVE\ntrail:\n  - step: \"x\"\n",
    );
    let said = lab.run(&["check", "a.trail.yaml"]).expect(3).stderr;
    has(
        &said,
        &["a.trail.yaml:3:", "^", "did you mean `PLAYWRIGHT_NATIVE`?"],
    );
}

#[test]
fn a_misspelled_axis_is_a_mistake_of_check_and_ends_a_run_before_anything_starts() {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "matrices:\n  m:\n    axes: { viewprt: [390x844, 1280x800], lokale: [de-DE] }\n",
    );
    let trail = "trail:\n  - step: \"Look\"\n    recording:\n      web: []\n";
    lab.write(
        "trails/a.trail.yaml",
        &format!("config: {{ matrix: m }}\n{trail}"),
    );
    let inline = "config: { matrix: { axes: { colorShceme: [dark] } } }\n";
    lab.write("trails/b.trail.yaml", &format!("{inline}{trail}"));
    let checked = lab.run(&["check"]).expect(3).stderr;
    let ran = lab.run(&["run", "-d", "web"]).expect(3).stderr;
    for (axis, meant) in [
        ("viewprt", "viewport"),
        ("lokale", "locale"),
        ("colorShceme", "colorScheme"),
    ] {
        for shown in [&checked, &ran] {
            has(shown, &[&format!("unknown axis `{axis}`")]);
            has(shown, &[&format!("did you mean `{meant}`?")]);
        }
    }
    has(
        &checked,
        &["packtrain.yaml:3:13", "b.trail.yaml:1:29", "3 mistakes"],
    );
    // One that a trail names is its own.
    lab.write(
        "trails/b.trail.yaml",
        "trail:\n  - step: \"Type\"\n    recording:\n      web:\n        - web_type: { ref: 'textbox \"Name\"', text: '{{axis.viewprt}}{{axis.lokale}}' }\n",
    );
    let checked = lab.run(&["check"]).expect(0).stderr;
    has(&checked, &["0 mistakes"]);
}

#[test]
fn a_run_with_a_matrix_of_its_own_does_not_ask_for_that_of_a_trail() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config: { matrix: nowhere }\ntrail:\n  - step: \"Look\"\n    recording: { android: [] }\n",
    );
    let run = ["run", "a.trail.yaml", "-d", "virtual:android", "--list"];
    let said = lab.run(&run).expect(3).stderr;
    has(&said, &["a.trail.yaml:1:11", "unknown matrix `nowhere`"]);
    let axis = ["--axis", "colorScheme=dark"];
    lab.run(&[run.as_slice(), &axis].concat()).expect(0);
    // What is wrong with its axes is told at once.
    let axes = ["locale=de-DEE", "engine=chromum", "lokale=de"];
    let axes = axes.iter().flat_map(|axis| ["--axis", axis]);
    let words: Vec<_> = run.into_iter().chain(axes).collect();
    let said = lab.run(&words).expect(3).stderr;
    has(
        &said,
        &[
            "`de-DEE` is not",
            "`chromum` is not",
            "unknown axis `lokale`",
        ],
    );
}

#[test]
fn every_misspelled_name_is_told_at_once_by_check_and_by_a_run_that_starts_nothing() {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "target: shp\ntargets: { shop: { baseUrl: 'http://127.0.0.1:1' } }\ndevices:\n  web:\n    desktop: { engine: chromum }\n    phone: { emulate: iPhone 55, locale: de_DE, timezone: Europe/Berln }\nrun:\n  masks: [{ ccs: header }, { text: 'Total (' }]\nmatrices:\n  m: { devices: [web/dekstop], axes: { locale: [en-US, dd-DE] } }\n",
    );
    lab.write(
        "trails/a.trail.yaml",
        "config: { target: shpo }\ntrail:\n  - step: \"Buy\"\n    recording:\n      web:\n        - web_click: { nodeSelector: { web: { ariaRole: buton } } }\n        - web_click: { ref: 'lnik \"Cart\"' }\n        - web_pressKey: { key: Control+Entr }\n      android:\n        - pressKey: { keyCode: ENTR }\n      ios:\n        - mobile_maestro: { commands: [{ pressKey: entr }] }\n",
    );
    lab.write("trails/b.trail.yaml", "trail: [\n");
    let checked = lab.run(&["check"]).expect(3).stderr;
    let ran = lab.run(&["run", "-d", "phone"]).expect(3).stderr;
    for (place, message, meant) in [
        ("packtrain.yaml:1:1", "unknown target `shp`", "shop"),
        ("packtrain.yaml:5:24", "unknown value `chromum`", "chromium"),
        ("packtrain.yaml:6:14", "device `iPhone 55`", "iPhone 15"),
        ("packtrain.yaml:6:34", "`de_DE` is not a language", "de-DE"),
        (
            "packtrain.yaml:6:49",
            "`Europe/Berln` is not a time zone",
            "Europe/Berlin",
        ),
        ("packtrain.yaml:8:13", "unknown key `ccs`", "css"),
        ("packtrain.yaml:8:30", "not a regular expression", ""),
        (
            "packtrain.yaml:10:18",
            "unknown device `web/dekstop`",
            "web/desktop",
        ),
        ("packtrain.yaml:10:", "`dd-DE` is not a language", "de-DE"),
        ("a.trail.yaml:1:11", "unknown target `shpo`", "shop"),
        ("a.trail.yaml:6:57", "unknown role `buton`", "button"),
        ("a.trail.yaml:7:29", "unknown role `lnik`", "link"),
        ("a.trail.yaml:8:32", "unknown key `Entr`", "Enter"),
        ("a.trail.yaml:10:32", "unknown value `ENTR`", "ENTER"),
        ("a.trail.yaml:12:52", "unknown value `Entr`", "Enter"),
        ("b.trail.yaml:", "", ""),
    ] {
        for said in [&checked, &ran] {
            has(said, &[place, message]);
            if !meant.is_empty() {
                has(said, &[&format!("did you mean `{meant}`?")]);
            }
        }
    }
    let mistakes = |said: &str| {
        let lines = said.lines().filter(|line| line.starts_with("error: "));
        let told = lines
            .map(str::to_owned)
            .filter(|line| !line.ends_with("in the project"));
        told.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(mistakes(&checked), mistakes(&ran), "{checked}\n{ran}");
    assert!(!lab.folder().join(".packtrain").exists(), "{ran}");
    let words = ["run", "-d", "web/dekstop", "trails/a.trail.yaml"];
    has(
        &lab.run(&words).expect(3).stderr,
        &["--device", "unknown device `web/dekstop`"],
    );
}

#[test]
fn a_syntax_error_in_the_configuration_hides_no_mistake_of_a_trail() {
    let lab = lab();
    lab.write("packtrain.yaml", "run: { retries: 1\n  timeout: ]\n");
    lab.write(
        "trails/a.trail.yaml",
        "trail:\n  - step: \"Buy\"\n    recording:\n      web:\n        - web_pressKey: { key: Entr }\n        - acme_login: {}\n",
    );
    let said = lab.run(&["check"]).expect(3).stderr;
    has(
        &said,
        &[
            "packtrain.yaml:",
            "a.trail.yaml:5:32",
            "did you mean `Enter`?",
        ],
    );
    // The configuration may have named who has it.
    has(&said, &["warning: unknown tool `acme_login`"]);
}

#[test]
fn a_selector_for_another_platform_is_a_mistake() {
    let selector = "nodeSelector: { androidAccessibility: { textRegex: Buy } }";
    let said = checked(&format!("web_click: {{ {selector} }}"), 3);
    has(
        &said,
        &[
            "a.trail.yaml:6:",
            "selectors are for an Android device",
            "^",
            "hint:",
        ],
    );
    // The reference finds it.
    checked(&format!("web_click: {{ ref: e1, {selector} }}"), 0);
}

#[test]
fn a_text_that_only_begins_like_an_element_has_no_misspelled_role() {
    checked(r#"web_click: { ref: 'Mail "Inbox" opened' }"#, 0);
    checked(r#"web_click: { ref: 'Line "1" total' }"#, 0);
    checked(r#"web_click: { ref: 'lnik "1" [disabled]' }"#, 3);
}
