//! Tool sources: their forms, their defaults and their rules.

use serde_json::json;

use super::project::{Project, key};
use crate::{
    Backoff, Config, McpServer, Origin, Port, Protocol, Scope, ToolNames, Transport,
    fill_placeholders,
};

fn complaint(yaml: &str) -> String {
    Project::new(yaml).complaint()
}

fn servers(yaml: &str) -> Vec<McpServer> {
    Project::new(yaml).load().config.mcp_servers
}

/// The only source of a file with these keys.
fn server(keys: &str) -> McpServer {
    let [server] = servers(&format!("mcpServers: {{a: {{{keys}}}}}\n"))
        .try_into()
        .unwrap();
    server
}

/// Each of these keys is refused with these words.
fn refused<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (keys, words) in cases {
        let complaint = complaint(&format!("mcpServers:\n  a: {{{keys}}}\n"));
        assert!(complaint.starts_with("packtrain.yaml:2:"), "{complaint}");
        assert!(complaint.contains(words), "{keys}: {complaint}");
    }
}

#[test]
fn a_list_and_entries_by_name_say_the_same_in_both_spellings() {
    let list = servers("mcpServers:\n  - {name: b, command: x}\n  - {name: a, url: 'http://x'}\n");
    assert_eq!(list.len(), 2);
    for spelling in ["mcpServers", "mcp_servers"] {
        let by_name =
            format!("{spelling}:\n  b: {{command: x}}\n  a: {{name: a, url: 'http://x'}}\n");
        assert_eq!(servers(&by_name), list);
    }
    assert_eq!(servers("mcp_servers:\n"), []);
    let parsed = crate::parse("mcp_servers: {a: {command: x}}\n", "x").unwrap();
    assert_eq!(parsed.mcp_servers[0].name, "a");
}

#[test]
fn both_spellings_in_one_file_are_refused() {
    assert_eq!(
        complaint("mcpServers: []\nmcp_servers:\n  a: {command: x}\n"),
        "packtrain.yaml:2:1: mcp_servers: `mcpServers` and `mcp_servers` are two spellings of one key\n\
         hint: merge them into one"
    );
    let twice = complaint("mcp_servers: []\nmcp_servers: []\n");
    assert!(twice.contains("packtrain.yaml:2:1: "), "{twice}");
}

#[test]
fn a_script_gives_its_source_a_name_and_nothing_else_does() {
    let named = servers("mcpServers:\n  - script: ./mcp/tools.ts\n");
    assert_eq!(named[0].name, "tools");
    let nameless = complaint("mcpServers:\n  - command: x\n");
    assert!(
        nameless.starts_with("packtrain.yaml:2:5: mcpServers.0: `name` is missing"),
        "{nameless}"
    );
    let other = complaint("mcpServers:\n  a:\n    name: b\n    command: x\n");
    assert!(
        other.starts_with("packtrain.yaml:3:5: mcpServers.a: `name` is `b`, but the key is `a`"),
        "{other}"
    );
    let same = complaint("mcpServers:\n  - {name: a, command: x}\n  - {name: a, script: y.ts}\n");
    assert!(
        same.starts_with("packtrain.yaml:3:6: mcpServers.1.name: duplicate tool source name `a`"),
        "{same}"
    );
    let empty = complaint("mcpServers:\n  '': {command: x}\n");
    assert!(
        empty.starts_with("packtrain.yaml:2:7: mcpServers.\"\": `name` must not be empty"),
        "{empty}"
    );
    let blank = complaint("mcpServers: [{name: ' ', command: x}]\n");
    assert!(
        blank.contains("mcpServers.0: `name` must not be empty"),
        "{blank}"
    );
}

#[test]
fn a_mistake_in_an_entry_by_name_is_told_by_its_name_and_place() {
    let unknown = complaint("mcp_servers:\n  acme:\n    command: x\n    comand: y\n");
    assert!(
        unknown.starts_with("packtrain.yaml:4:5: mcpServers.acme.comand: unknown key `comand`"),
        "{unknown}"
    );
    let rule = complaint(
        "mcpServers:\n  ok: {command: x}\n  acme:\n    env:\n      A: '{prt}'\n    command: x\n",
    );
    assert_eq!(
        rule,
        "packtrain.yaml:5:7: mcpServers.acme.env.A: `{prt}` is not a placeholder\n\
         hint: did you mean `{port}`?"
    );
    let item = complaint(
        "mcpServers:\n  - name: acme\n    command: [x]\n    args:\n      - a\n      - '{prt}'\n",
    );
    assert!(
        item.starts_with("packtrain.yaml:6:9: mcpServers.0.args.1: "),
        "{item}"
    );
}

#[test]
fn sources_by_name_replace_those_of_weaker_files_whole() {
    let project = Project::new("mcpServers:\n  a: {command: x}\n")
        .user("mcpServers:\n  b: {command: y}\n  c: {command: z, restart: {max: 1}}\n");
    let loaded = project.load();
    let names: Vec<_> = loaded
        .config
        .mcp_servers
        .iter()
        .map(|one| &*one.name)
        .collect();
    assert_eq!(names, ["a"]);
    let Origin::File { position, path, .. } = loaded.origin(&key("mcpServers.0.command")) else {
        panic!("no file");
    };
    assert_eq!((position.line, path), (2, project.path("packtrain.yaml")));
    let Origin::File { path, .. } = loaded.origin(&key("mcpServers.1.restart.max")) else {
        panic!("no file");
    };
    assert_eq!(path, project.path("packtrain.yaml"));
}

#[test]
fn what_is_not_set_has_its_default_and_is_not_written() {
    let plain = server("command: x");
    let expected = McpServer {
        name: "a".into(),
        command: vec!["x".into()],
        ..McpServer::default()
    };
    assert_eq!(plain, expected);
    let seconds = |time: crate::HumanDuration| time.get().as_secs();
    assert_eq!(plain.port, Port::Auto);
    assert_eq!(plain.protocol, Protocol::Legacy);
    assert_eq!(
        (plain.concurrency, plain.replicas, plain.scope),
        (256, 1, None)
    );
    assert_eq!(seconds(plain.ready_timeout), 30);
    assert_eq!(
        (seconds(plain.call_timeout), seconds(plain.max_total)),
        (60, 1800)
    );
    assert_eq!((plain.restart.max, seconds(plain.restart.window)), (3, 300));
    assert_eq!(plain.restart.backoff.to_string(), "250ms..10s");
    assert_eq!(
        (
            seconds(plain.stop.stdin_grace),
            seconds(plain.stop.term_grace)
        ),
        (5, 2)
    );
    assert_eq!(seconds(plain.cancel_grace), 2);
    assert!(plain.reset_on_progress && !plain.host_commands);
    let config = Config {
        mcp_servers: vec![plain],
        ..Config::default()
    };
    assert_eq!(
        serde_json::to_value(config).unwrap()["mcpServers"],
        json!([{"name": "a", "command": ["x"]}])
    );
}

#[test]
fn what_is_set_is_read() {
    assert_eq!(server("command: x, port: 8080").port, Port::Fixed(8080));
    assert_eq!(server("command: x, port: auto").port, Port::Auto);
    assert_eq!(
        server(r"command: x, port: {stdoutRegex: 'on (?:\[|\() (\d+)'}").port,
        Port::Printed(r"on (?:\[|\() (\d+)".into())
    );
    let http = server("url: 'http://x', transport: streamable-http, protocol: modern");
    assert_eq!(
        (http.transport, http.protocol),
        (Some(Transport::Http), Protocol::Modern)
    );
    let scope = server("command: x, scope: per-session, restart: {max: 0, backoff: 1s}");
    assert_eq!(
        (scope.scope, scope.restart.max),
        (Some(Scope::PerSession), 0)
    );
    assert_eq!(scope.restart.backoff, "1s".parse::<Backoff>().unwrap());
    let meta = server(
        "command: x, defaultMeta: {isForLlm: no, successIsData: yes}, toolMeta: {t: {supportedPlatforms: [WEB], toolset: s}}",
    );
    assert_eq!(
        json!(meta.default_meta),
        json!({"isForLlm": false, "successIsData": true})
    );
    assert_eq!(
        json!(meta.tool_meta),
        json!({"t": {"supportedPlatforms": ["WEB"], "toolset": "s"}})
    );
}

#[test]
fn values_that_make_no_sense_are_refused() {
    refused([
        (
            "command: x, port: 0",
            "mcpServers.a.port: `0` is not `auto`, a port from 1 to 65535",
        ),
        ("command: x, port: 65536", "`65536` is not `auto`"),
        ("command: x, port: any", "`any` is not `auto`"),
        ("command: x, port: [1]", "expected `auto`, a port"),
        (
            "command: x, port: {regex: x}",
            "mcpServers.a.port.regex: unknown key `regex`",
        ),
        (
            "command: x, port: {}",
            "mcpServers.a.port: `stdoutRegex` is missing",
        ),
        (
            "command: x, port: {stdoutRegex: 'x'}",
            "mcpServers.a.port.stdoutRegex: must have exactly one capture group, has 0",
        ),
        (r"command: x, port: {stdoutRegex: '\((?:x)[(]'}", "has 0"),
        (
            "command: x, port: {stdoutRegex: '(?P<a>x)(?<b>y)'}",
            "has 2",
        ),
        (
            "command: x, port: {stdoutRegex: '(x'}",
            "brackets do not match up",
        ),
        (
            "command: x, port: {stdoutRegex: 'x)'}",
            "brackets do not match up",
        ),
        (
            "command: x, port: {stdoutRegex: '[(]('}",
            "brackets do not match up",
        ),
        (
            r"command: x, port: {stdoutRegex: '(x)\'}",
            "brackets do not match up",
        ),
        (
            "command: x, protocol: new",
            "mcpServers.a.protocol: unknown value `new`",
        ),
        (
            "command: x, scope: per-trail",
            "hint: expected one of: per-session, per-device, per-run, shared",
        ),
        (
            "command: x, transport: sse",
            "mcpServers.a.transport: unknown value `sse`",
        ),
        (
            "command: x, concurrency: 0",
            "mcpServers.a.concurrency: must be between 1 and 4096",
        ),
        (
            "command: x, concurrency: 4097",
            "must be between 1 and 4096",
        ),
        (
            "command: x, replicas: 65",
            "mcpServers.a.replicas: must be between 1 and 64",
        ),
        (
            "command: x, replicas: 2, port: 80",
            "mcpServers.a.replicas: several servers cannot listen on one `port`",
        ),
        (
            "command: x, readyTimeout: 0s",
            "mcpServers.a.readyTimeout: must be longer than 0s",
        ),
        (
            "command: x, callTimeout: 0s",
            "mcpServers.a.callTimeout: must be longer than 0s",
        ),
        (
            "command: x, maxTotal: 0s",
            "mcpServers.a.maxTotal: must be longer than 0s",
        ),
        (
            "command: x, restart: {window: 0s}",
            "mcpServers.a.restart.window: must be longer than 0s",
        ),
        (
            "command: x, restart: {backoff: 9s..1s}",
            "mcpServers.a.restart.backoff: `9s..1s` is not a duration or a range",
        ),
        (
            "command: x, stop: {killGrace: 1s}",
            "mcpServers.a.stop.killGrace: unknown key",
        ),
        ("command: x, cancelGrace: 2", "`2` is not a duration"),
        (
            "url: 'http://x', headers: {'A b': c}",
            "mcpServers.a.headers.\"A b\": invalid header name",
        ),
        (
            r#"url: 'http://x', headers: {A: "b\nc"}"#,
            "must not contain control characters",
        ),
        (
            "command: x, defaultMeta: {isForLLM: false}",
            "hint: did you mean `isForLlm`?",
        ),
        (
            "command: x, defaultMeta: [x]",
            "mcpServers.a.defaultMeta: expected a mapping",
        ),
        (
            "command: x, toolMeta: {t: {isRecordable: 3}}",
            "mcpServers.a.toolMeta.t.isRecordable: expected true or false",
        ),
        (
            "command: x, call_timeout: 1s",
            "hint: did you mean `callTimeout`?",
        ),
    ]);
}

#[test]
fn a_source_is_in_one_place_and_has_only_what_applies_there() {
    refused([
        (
            "args: [x]",
            "mcpServers.a: `a` has no `command`, `script`, `trailmap` or `url`",
        ),
        (
            "command: x, script: y.ts",
            "mcpServers.a.script: `command` and `script` are mutually exclusive",
        ),
        ("url: x", "mcpServers.a.url: `x` is not an absolute URL"),
        (
            "url: 'http://x', transport: stdio",
            "mcpServers.a.transport: a source with a `url` uses http",
        ),
        (
            "command: x, url: 'http://x', transport: stdio",
            "a source with a `url` uses http",
        ),
        (
            "url: 'http://x', args: [y]",
            "mcpServers.a.args: `args` does not apply to a source with only a `url`",
        ),
        ("url: 'http://x', env: {A: b}", "`env` does not apply"),
        (
            "url: 'http://x', workingDir: y",
            "`workingDir` does not apply",
        ),
        ("url: 'http://x', port: 80", "`port` does not apply"),
        ("url: 'http://x', replicas: 2", "`replicas` does not apply"),
        (
            "url: 'http://x', restart: {max: 0}",
            "`restart` does not apply",
        ),
        (
            "url: 'http://x', stop: {termGrace: 9s}",
            "`stop` does not apply",
        ),
        (
            "command: x, transport: stdio, port: 80",
            "mcpServers.a.port: `port` does not apply to a source over stdio",
        ),
        (
            "command: x, transport: stdio, headers: {A: b}",
            "`headers` does not apply to a source over stdio",
        ),
    ]);
    let started = server("command: x, url: 'http://localhost:{port}/sse'");
    assert!(started.is_started());
    assert_eq!(started.settled_transport(), Some(Transport::Http));
    assert_eq!(server("script: x.ts, url: 'http://x'").transport, None);
}

#[test]
fn what_only_http_has_settles_the_transport() {
    assert_eq!(server("command: x").settled_transport(), None);
    assert_eq!(
        server("command: x, env: {A: '{token}'}").settled_transport(),
        None
    );
    for keys in [
        "command: x, transport: http",
        "command: x, args: ['{host}:{port}']",
        "command: x, port: 80",
        "command: x, headers: {A: b}",
        "url: 'http://x'",
    ] {
        assert_eq!(
            server(keys).settled_transport(),
            Some(Transport::Http),
            "{keys}"
        );
    }
}

#[test]
fn a_line_for_a_shell_is_refused_and_a_path_with_spaces_is_not() {
    assert_eq!(
        complaint("mcpServers:\n  - name: a\n    command: python ./server.py\n"),
        "packtrain.yaml:3:5: mcpServers.0.command: program `python ./server.py` not found\n\
         hint: use a list: [python, ./server.py]"
    );
    refused([
        (
            "command: npx -y x, args: [y]",
            "hint: use a list: [npx, -y, x]",
        ),
        ("command: /bin/sh -c x", "program `/bin/sh -c x` not found"),
        ("command: ''", "mcpServers.a.command: must not be empty"),
        (
            "command: []",
            "`a` has no `command`, `script`, `trailmap` or `url`",
        ),
        (
            "command: {a: b}",
            "mcpServers.a.command: expected text or a list of texts",
        ),
    ]);
    let project = Project::new("mcpServers: {a: {command: ./my tool}}\n").file("my tool", "");
    let program = project.path("./my tool").display().to_string();
    assert_eq!(project.load().config.mcp_servers[0].command, [program]);
    let list = server("command: [python, -m, my tools]");
    assert_eq!(list.command, ["python", "-m", "my tools"]);
}

#[test]
fn relative_paths_start_at_the_file_and_programs_in_their_folder() {
    let project = Project::new(
        "toolsDir: x\nmcpServers:\n  a: {command: ./run, workingDir: sub}\n  b: {command: bin/run}\n  \
         c: {command: run, workingDir: '{run_dir}/c'}\n  d: {script: d.py}\n  e: {command: ./run, workingDir: '{run_dir}'}\n",
    );
    let loaded = project.load().config;
    let command = |index: usize| loaded.mcp_servers[index].command[0].clone();
    let path = |name: &str| project.path(name).display().to_string();
    assert_eq!(command(0), path("sub/./run"));
    assert_eq!(loaded.mcp_servers[0].working_dir, Some(project.path("sub")));
    assert_eq!(command(1), path("bin/run"));
    assert_eq!(command(2), "run");
    assert_eq!(
        loaded.mcp_servers[2].working_dir,
        Some("{run_dir}/c".into())
    );
    assert_eq!(loaded.mcp_servers[3].script, Some(project.path("d.py")));
    assert_eq!(command(4), "{run_dir}/./run");
    assert_eq!(loaded.tools_dir, project.path("x"));
    assert_eq!(
        Project::new("")
            .load()
            .config
            .tools_dir
            .file_name()
            .unwrap(),
        "tools"
    );
}

#[test]
fn placeholders_are_known_and_have_a_value() {
    refused([
        (
            "command: '{prot}'",
            "mcpServers.a.command: `{prot}` is not a placeholder",
        ),
        (
            "command: x, workingDir: '{rundir}'",
            "hint: did you mean `{run_dir}`?",
        ),
        (
            "command: x, args: ['{zzzz}']",
            "hint: available: {host}, {port}, {token}, {device}, {run_dir}",
        ),
        (
            "command: x, headers: {A: '{tokn}'}",
            "mcpServers.a.headers.A: `{tokn}`",
        ),
        (
            "command: x, url: 'http://{host}:{ports}'",
            "mcpServers.a.url: `{ports}`",
        ),
        (
            "command: x, transport: stdio, args: ['{port}']",
            "mcpServers.a.args.0: `{port}` has no value over stdio",
        ),
        (
            "command: x, port: {stdoutRegex: '(x)'}, args: ['{port}']",
            "`{port}` has no value before the server prints its port",
        ),
        (
            "url: 'http://{host}/'",
            "mcpServers.a.url: `{host}` has no value for a source that is already running",
        ),
        (
            "url: 'http://x', headers: {A: '{token}'}",
            "mcpServers.a.headers.A: `{token}` has no value",
        ),
    ]);
    server("url: 'http://x/{device}', headers: {A: '{device}'}");
    server(
        r#"command: x, args: ['{"a": 1}', '${port_x}', '{{name}}', '{}', '{A}', '{a1}', '{', '{host', '{"a":{"b":"{token}"}}', '{"a": {"b": 1}}']"#,
    );
    server("command: x, url: 'http://localhost:{port}/mcp', port: {stdoutRegex: '(x)'}");
}

#[test]
fn placeholders_are_filled_once() {
    let value = |name: &str| match name {
        "host" => Some("{port}".to_owned()),
        "port" => Some("80".to_owned()),
        _ => None,
    };
    for (text, filled) in [
        ("http://{host}:{port}/", "http://{port}:80/"),
        (
            "${port} {{port}} {token} {Port} {",
            "${port} {{port}} {token} {Port} {",
        ),
        (r#"{"p":{port}}"#, r#"{"p":80}"#),
        ("{{{port}}}", "{{{port}}}"),
        ("{port{port}", "{port80"),
    ] {
        assert_eq!(fill_placeholders(text, value), filled);
    }
}

#[test]
fn toolsets_say_where_they_are_offered_and_names_what_is_done() {
    let config = Project::new(
        "toolNames: off\ntoolsets: {s: {platforms: [web], drivers: [playwright-native], alwaysEnabled: true}}\n",
    )
    .load()
    .config;
    let toolset = &config.toolsets["s"];
    assert_eq!(
        (&*toolset.platforms[0], &*toolset.drivers[0]),
        ("web", "playwright-native")
    );
    assert!(toolset.always_enabled);
    assert_eq!(config.tool_names, ToolNames::Off);
    assert_eq!(Config::default().tool_names, ToolNames::Warn);
    let wrong = complaint("toolNames: wran\n");
    assert!(
        wrong.starts_with("packtrain.yaml:1:12: toolNames: unknown value `wran`"),
        "{wrong}"
    );
}
