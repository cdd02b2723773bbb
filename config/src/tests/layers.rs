//! Which layer wins, and what is said about it.

use serde_json::json;

use super::project::{Project, key};
use crate::{FileLayer, Origin, ScreenshotPolicy, Sharding};

#[test]
fn without_any_file_everything_is_as_documented() {
    let loaded = Project::empty().load();
    let fresh = crate::Config::default();
    assert_eq!(loaded.config.run.timeout, fresh.run.timeout);
    assert_eq!(loaded.config.devices, fresh.devices);
    assert_eq!(loaded.origin(&key("run.timeout")), Origin::Default);
    assert!(loaded.files.is_empty() && loaded.warnings.is_empty());
}

#[test]
fn a_flag_beats_the_environment_beats_the_project_beats_the_user() {
    let retries = |project: &Project| {
        let loaded = project.load();
        (
            loaded.config.run.retries,
            loaded.origin(&key("run.retries")).to_string(),
        )
    };
    let project = Project::new("target: a.b\n").user("run:\n  retries: 1\n");
    let user = project.path("home/.config/packtrain/config.yaml");
    assert_eq!(retries(&project), (1, format!("{}:2", user.display())));
    let project = project.file("packtrain.yaml", "run:\n  retries: 2\n");
    let file = project.path("packtrain.yaml");
    assert_eq!(retries(&project), (2, format!("{}:2", file.display())));
    let project = project.variable("PACKTRAIN_RUN_RETRIES", "3");
    assert_eq!(retries(&project), (3, "PACKTRAIN_RUN_RETRIES".into()));
    let project = project.flag("--retries", "run.retries", 4);
    assert_eq!(retries(&project), (4, "--retries".into()));
}

#[test]
fn entries_are_merged_and_lists_are_replaced() {
    let project =
        Project::new("devices:\n  web:\n    phone: {locale: de-DE, args: [--a]}\n    desktop:\n")
            .user("devices: {web: {phone: {touch: true, args: [--b, --c]}}}\n");
    let web = project.load().config.devices.web;
    assert_eq!(web.keys().collect::<Vec<_>>(), ["desktop", "phone"]);
    let phone = &web["phone"];
    assert_eq!(phone.locale.as_deref(), Some("de-DE"));
    assert_eq!(phone.touch, Some(true));
    assert_eq!(phone.args, ["--a"]);
    assert!(phone.headless);
}

#[test]
fn a_key_without_a_value_changes_nothing() {
    let project = Project::new("target:\nrun:\ndevices:\n  virtual:\nmcpServers:\n")
        .user("target: a.b\nrun: {retries: 2}\n");
    let config = project.load().config;
    assert_eq!(config.target.as_deref(), Some("a.b"));
    assert_eq!(config.run.retries, 2);
    assert_eq!(config.devices.simulated, None);
}

#[test]
fn every_value_knows_its_place_even_in_lists() {
    let project = Project::new(
        "mcpServers:\n  - name: acme\n    command: python\n  - {name: web, url: 'http://x/mcp'}\n",
    )
    .user("mcpServers: [{name: a, command: a}, {name: b, command: b}, {name: c, command: c}]\n");
    let loaded = project.load();
    let place = |dotted: &str| match loaded.origin(&key(dotted)) {
        Origin::File {
            layer, position, ..
        } => (layer, position.line, position.column),
        other => panic!("{other:?}"),
    };
    assert_eq!(place("mcpServers.0.command"), (FileLayer::Project, 3, 5));
    assert_eq!(place("mcpServers.1.url"), (FileLayer::Project, 4, 17));
    assert_eq!(place("mcpServers.2"), (FileLayer::Project, 1, 1));
}

#[test]
fn all_settings_can_be_listed_with_their_origins() {
    let project = Project::new("run: {screenshots: all}\ntargets: {shop: {appIds: {ios: a.b}}}\n")
        .variable(
            "PACKTRAIN_DEVICES_ANDROID_CONNECT",
            "10.0.0.1:5555, 10.0.0.2:5555",
        );
    let loaded = project.load();
    let entries = loaded.entries();
    let find = |dotted: &str| {
        let entry = entries
            .iter()
            .find(|entry| entry.key == key(dotted))
            .unwrap();
        (
            entry.value.clone(),
            entry
                .origin
                .to_string()
                .replace(&project.path("").display().to_string(), ""),
        )
    };
    assert_eq!(
        find("run.screenshots"),
        (json!("all"), "packtrain.yaml:1".into())
    );
    assert_eq!(
        find("targets.shop.appIds.ios"),
        (json!(["a.b"]), "packtrain.yaml:2".into())
    );
    assert_eq!(find("run.retries"), (json!(0), "default".into()));
    assert_eq!(
        find("devices.android.connect"),
        (
            json!(["10.0.0.1:5555", "10.0.0.2:5555"]),
            "PACKTRAIN_DEVICES_ANDROID_CONNECT".into()
        )
    );
}

#[test]
fn variables_are_read_as_their_setting_needs_them() {
    let config = Project::empty()
        .variable("PACKTRAIN_TARGET", "com.example.shop")
        .variable("PACKTRAIN_RUN_FAIL_FAST", "yes")
        .variable("PACKTRAIN_RUN_TIMEOUT", "90s")
        .variable("PACKTRAIN_RUN_SCREENSHOTS", "none")
        .variable("PACKTRAIN_RUN_SHARD", "split")
        .variable("PACKTRAIN_DEVICES_ANDROID_ADB", "[::1]:5038")
        .load()
        .config;
    assert_eq!(config.target.as_deref(), Some("com.example.shop"));
    assert!(config.run.fail_fast);
    assert_eq!(config.run.timeout.get().as_secs(), 90);
    assert_eq!(config.run.screenshots, ScreenshotPolicy::None);
    assert_eq!(config.run.shard, Sharding::Split);
    assert_eq!(config.devices.android.adb.host(), "::1");
}

#[test]
fn flags_reach_into_named_entries_but_not_into_lists() {
    let project = Project::new("devices: {web: {phone: {touch: true}}}\n")
        .flag("-c", "devices.web.phone.locale", "fr-FR")
        .flag("-c", "devices.web.new.viewport", "640x480")
        .flag("-c", "devices.web.phone.headless", "off");
    let web = project.load().config.devices.web;
    assert_eq!(web["phone"].locale.as_deref(), Some("fr-FR"));
    assert_eq!(web["phone"].touch, Some(true));
    assert!(!web["phone"].headless);
    assert_eq!(
        web["new"].viewport.map(|v| v.to_string()).as_deref(),
        Some("640x480")
    );
    let into_list = Project::empty()
        .flag("-c", "mcpServers.0.name", "x")
        .complaint();
    assert!(
        into_list.starts_with("-c: unknown setting `mcpServers.0.name`"),
        "{into_list}"
    );
}

#[test]
fn a_wrong_variable_or_flag_is_named() {
    let with = |name: &str, value: &str| Project::empty().variable(name, value).complaint();
    assert_eq!(
        with("PACKTRAIN_RUN_RETRIES", "few"),
        "PACKTRAIN_RUN_RETRIES: expected a whole number, found `few`"
    );
    assert_eq!(
        with("PACKTRAIN_RUN_FAIL_FAST", "maybe"),
        "PACKTRAIN_RUN_FAIL_FAST: `maybe` is not true or false"
    );
    let words = with("PACKTRAIN_RUN_SCREENSHOTS", "some");
    assert!(
        words.starts_with("PACKTRAIN_RUN_SCREENSHOTS: ") && words.contains("unknown value `some`"),
        "{words}"
    );
    let flagged = Project::empty()
        .flag("--timeout", "run.timeout", "soon")
        .complaint();
    assert!(
        flagged.starts_with("--timeout: `soon` is not a duration"),
        "{flagged}"
    );
    let unknown = Project::empty().flag("--set", "run.retires", 1).complaint();
    assert_eq!(
        unknown,
        "--set: unknown setting `run.retires`\nhint: did you mean `run.retries`?"
    );
}

#[test]
fn a_variable_that_is_nearly_a_setting_is_warned_about_and_others_are_not() {
    let loaded = Project::empty()
        .variable("PACKTRAIN_RUN_RETRYS", "3")
        .variable("PACKTRAIN_LOG", "debug")
        .variable("HTTP_PROXY", "x")
        .load();
    let messages: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        ["PACKTRAIN_RUN_RETRYS: warning: PACKTRAIN_RUN_RETRYS is not a setting"]
    );
}

#[test]
fn relative_paths_start_at_the_file_that_has_them() {
    let project = Project::new("devices: {virtual: {app: app.yaml}}\n")
        .user("devices: {web: {phone: {storageState: login.json, executable: chromium}}}\n")
        .flag("--output", "run.outputDir", "out");
    let loaded = project.load();
    assert_eq!(loaded.config.trails_dir, project.path("trails"));
    assert_eq!(loaded.config.run.output_dir, project.path("out"));
    assert_eq!(
        loaded.config.devices.simulated.unwrap().app,
        Some(project.path("app.yaml"))
    );
    let phone = &loaded.config.devices.web["phone"];
    assert_eq!(
        phone.storage_state,
        Some(project.path("home/.config/packtrain/login.json"))
    );
    assert_eq!(phone.executable, Some("chromium".into()));
}

#[test]
fn numbers_and_words_in_lists_of_texts_stay_as_written() {
    let project = Project::new("devices: {web: {a: {args: [8080, 1.50, yes, 007]}}}\n");
    assert_eq!(
        project.load().config.devices.web["a"].args,
        ["8080", "1.50", "yes", "007"]
    );
}

#[test]
fn words_that_look_like_other_values_stay_as_written_behind_an_alias_too() {
    let project = Project::new(
        "\u{feff}devices:\n  web:\n    a: {locale: &no no, userAgent: &v 1.50}\n    b: {locale: *no, userAgent: *v}\n",
    );
    let web = project.load().config.devices.web;
    for name in ["a", "b"] {
        let slot = &web[name];
        assert_eq!(slot.locale.as_deref(), Some("no"), "{name}");
        assert_eq!(slot.user_agent.as_deref(), Some("1.50"), "{name}");
    }
}

#[test]
fn anchors_and_merge_keys_work() {
    let project = Project::new(
        "devices:\n  web:\n    a: &base {locale: de-DE, touch: true}\n    b: {<<: *base, touch: false}\n",
    );
    let web = project.load().config.devices.web;
    assert_eq!(web["b"].locale.as_deref(), Some("de-DE"));
    assert_eq!(web["b"].touch, Some(false));
}
