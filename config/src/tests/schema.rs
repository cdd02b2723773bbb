//! The schema that editors use.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::project::Project;
use crate::{Config, environment_variables, schema};

/// Every property anywhere in the schema, with the type it belongs to.
fn properties(schema: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let types = schema["$defs"].as_object().unwrap().iter();
    for (name, node) in types.chain([(&String::from("Config"), schema)]) {
        for (property, node) in node["properties"].as_object().into_iter().flatten() {
            found.push((format!("{name}.{property}"), node.clone()));
        }
    }
    found
}

#[test]
fn every_key_and_every_word_is_described() {
    let schema = schema();
    let properties = properties(&schema);
    assert!(properties.len() > 60);
    for (name, node) in properties {
        assert!(
            node["description"]
                .as_str()
                .is_some_and(|words| words.len() > 5),
            "{name}"
        );
    }
    for (name, node) in schema["$defs"].as_object().unwrap() {
        assert!(node["description"].is_string(), "{name}");
        for word in node["oneOf"].as_array().into_iter().flatten() {
            assert!(word["description"].is_string(), "{name} {word}");
        }
    }
}

#[test]
fn every_object_refuses_unknown_keys() {
    for (name, node) in schema()["$defs"].as_object().unwrap() {
        if node["properties"].is_object() {
            assert_eq!(node["additionalProperties"], false, "{name}");
        }
    }
}

#[test]
fn every_key_that_is_not_required_has_a_default_or_may_be_left_out() {
    let schema = schema();
    let defaults = serde_json::to_value(Config::default()).unwrap();
    for (name, node) in schema["properties"].as_object().unwrap() {
        assert_eq!(node["default"], defaults[name], "{name}");
    }
    assert!(schema["required"].is_null());
}

#[test]
fn every_form_of_tool_sources_is_described() {
    let schema = schema();
    let sources = &schema["properties"]["mcpServers"];
    assert_eq!(sources["items"], sources["additionalProperties"]);
    assert_eq!(
        schema["patternProperties"]["^mcp_servers$"]["$ref"],
        "#/properties/mcpServers"
    );
    let words: Vec<_> = schema["$defs"]["Transport"]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word["const"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["stdio", "http", "streamable-http"]);
    let source = &schema["$defs"]["McpServer"]["properties"];
    assert_eq!(source["readyTimeout"]["default"], "30s");
    assert_eq!(source["concurrency"]["maximum"], 4096);
}

#[test]
fn every_variable_is_named_once_and_sets_its_key() {
    let variables: BTreeMap<_, _> = environment_variables().into_iter().collect();
    assert_eq!(variables.len(), environment_variables().len());
    assert_eq!(
        variables["PACKTRAIN_RUN_FAIL_FAST"].to_string(),
        "run.failFast"
    );
    assert_eq!(variables["PACKTRAIN_TRAILS_DIR"].to_string(), "trailsDir");
    let value = |key: &str| match key {
        "run.timeout" | "run.timeLimit" | "run.stepTimeout" | "run.retryDelay" => "30s",
        "devices.idleTimeout" => "2m",
        "run.screenshots" | "run.observe" | "run.trace" => "all",
        "run.parallel" => "2",
        "run.shard" => "split",
        "toolNames" => "off",
        "devices.android.agent" => "shell",
        "agents.port" => "1",
        "devices.android.adb" | "devices.android.connect" => "localhost:1",
        "devices.virtual.profile" => "fast",
        "target" => "a.b",
        _ if key.starts_with("devices.virtual.") || key == "run.retries" => "1",
        _ => "true",
    };
    for (variable, key) in &variables {
        let project = Project::new("devices: {virtual: {app: x}}\n")
            .variable(variable, value(&key.to_string()));
        let origin = project.load().origin(key).to_string();
        assert_eq!(&origin, variable);
    }
    let keys: HashSet<_> = variables.values().map(ToString::to_string).collect();
    assert!(keys.contains("playwright.cli") && keys.contains("devices.virtual.seed"));
}

#[test]
fn a_configuration_written_out_can_be_read_again() {
    let mut config = Project::new(EVERYTHING).load().config;
    // Where the file lay is not a part of what it says.
    for phone in config.devices.ios.values_mut() {
        assert!(phone.start_in.take().unwrap().is_absolute());
    }
    let written = serde_json::to_value(&config).unwrap();
    assert_eq!(serde_json::from_value::<Config>(written).unwrap(), config);
}

/// Every key there is.
const EVERYTHING: &str = r#"
target: shop
trailsDir: trails
targets:
  shop: { appIds: { android: com.example.shop, ios: [com.example.shop, com.example.beta] }, baseUrl: "http://localhost:8080" }
devices:
  idleTimeout: 20m
  web:
    desktop: { viewport: 1280x800 }
    phone:
      emulate: "iPhone 15"
      locale: de-DE
      timezone: Europe/Berlin
      colorScheme: dark
      userAgent: test
      geolocation: { latitude: 52.5, longitude: 13.4, accuracy: 10 }
      permissions: [geolocation]
      reducedMotion: reduce
      offline: false
      storageState: login.json
      headless: true
      isolation: process
      engine: firefox
      executable: /usr/bin/firefox
      args: [--lang=de]
      classifiers: [web, phone]
      dialogs: accept
      baseUrl: "http://localhost:8081"
      deviceScaleFactor: 2
      touch: true
      extraHeaders: { X-Test: "1" }
  android: { adb: "127.0.0.1:5037", agent: auto, connect: ["192.168.1.20:5555"] }
  ios:
    bench: { wda: "http://127.0.0.1:8100" }
    desk: { udid: 00008110-000A, bundleId: com.example.wda, start: [./wda.sh, --fast], classifiers: [ios, iphone] }
  virtual: { app: examples/shop/app.yaml, android: 2, ios: 1, faults: faults.yaml, profile: fast, seed: 7 }
mcpServers:
  - { name: acme, command: python, args: [acme_tools.py], env: { A: b }, workingDir: tools }
  - { name: web-team, script: ./tools.ts, transport: stdio }
  - { name: upstream, trailmap: trails/config/trailmaps/shop/trailmap.yaml }
  - { name: shared, transport: http, url: "http://127.0.0.1:9000/mcp" }
  - name: everything
    command: [npx, -y, server]
    args: [--port, "0"]
    url: "http://localhost:{port}/mcp"
    headers: { Authorization: "Bearer {token}" }
    port: { stdoutRegex: ":([0-9]+)" }
    protocol: auto
    readyTimeout: 1m
    concurrency: 1
    replicas: 2
    scope: per-device
    callTimeout: 2m
    maxTotal: 1h
    resetOnProgress: false
    restart: { max: 1, window: 1m, backoff: 1s..5s }
    stop: { stdinGrace: 1s, termGrace: 1s }
    cancelGrace: 1s
    hostCommands: true
    defaultMeta: { isForLlm: false, surfaceToLlm: false, toolset: auth }
    toolMeta:
      login: { isRecordable: false, successIsData: true, requiresHost: true, supportedDrivers: [a], supportedPlatforms: [WEB] }
toolsets: { auth: { description: Signing in, tools: [acme_login], platforms: [web], drivers: [a], alwaysEnabled: true } }
toolsDir: more-tools
toolNames: error
run: { retries: 1, timeout: 5m, timeLimit: 1h, screenshots: all, outputDir: out, shard: split, failFast: true, strict: true, observe: all, trace: none, stepTimeout: 1m, retryDelay: 1s, parallel: 2, masks: [{ css: '#clock' }, { text: 'x' }, { rect: '0,0,1,1' }] }
matrices:
  release:
    devices: [web]
    axes:
      locale: [en-US, de-DE]
      build:
        old: { baseUrl: 'http://localhost:1', appFile: old.apk, headers: { X-A: b }, launchArguments: [-x], memory: { a: b }, texts: { Sign in: Anmelden } }
        new:
    exclude: [{ build: old, locale: de-DE }]
    add: [{ locale: de-DE }]
    reference: { locale: en-US }
    cover: pairs
    limit: 60
    expect: [{ when: { locale: de-DE }, step: 3, kind: missing, role: text, name: 'Hint' }]
playwright: { node: /opt/node/bin/node, cli: node_modules/playwright-core/cli.js }
farm: { include: ['builds/*.apk'], labels: { lab: berlin }, servers: ['tls://nats-1:4222'], on: android & phone, credentials: ci.json, natsServer: /opt/nats-server }
agents: { hostCommands: true, deviceShell: true, schemes: [shop], port: 7331 }
"#;

#[test]
fn the_example_with_every_key_is_accepted_and_leaves_none_out() {
    let loaded = Project::new(EVERYTHING).load();
    let written = serde_json::to_string(&serde_json::to_value(&loaded.config).unwrap()).unwrap();
    for (name, _) in properties(&schema()) {
        let key = name.rsplit('.').next().unwrap();
        assert!(
            EVERYTHING.contains(&format!("{key}:")),
            "{key} is missing in the example"
        );
        assert!(written.contains(&format!("\"{key}\":")), "{key} was lost");
    }
}
