//! Servers that others published, as tool sources: started, listed and called with exactly what
//! docs/tool-sources.md says of them. Where the page shows one transport and describes the other, both.
//!
//! What npx and pip would fetch is installed already, in the versions that the page names.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use packtrain_tests::{Lab, repository};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::lab;
use crate::snippets::blocks;

/// How many are tried at once.
const AT_ONCE: usize = 3;

/// `npx -y PACKAGE@VERSION ARGUMENT...` for what is installed. Like npx it is a parent of the server and
/// does not tell it of signals.
const NPX: &str = r#"#!/usr/bin/env node
const { join } = require("node:path");
const [wanted, ...args] = process.argv.slice(3);
const at = wanted.lastIndexOf("@");
const folder = join(process.env.PACKTRAIN_TEST_SOURCES, "node_modules", wanted.slice(0, at));
const { version, bin } = require(join(folder, "package.json"));
if (version !== wanted.slice(at + 1)) throw new Error(`${wanted} is asked for, ${version} is installed`);
const program = join(folder, Object.values(bin)[0]);
require("node:child_process").spawn(process.execPath, [program, ...args], { stdio: "inherit" })
  .on("exit", (code) => process.exit(code ?? 1));
"#;

/// One way to start a server.
struct Way {
    /// The heading above its configuration.
    heading: &'static str,
    /// What is other than on the page.
    changes: &'static [(&'static str, &'static str)],
    /// The Python that has what it imports, and its script.
    python: Option<(&'static str, &'static str)>,
    asked: Asked,
}

/// What is asked of a server.
enum Asked {
    /// A call and a part of its answer.
    Call(&'static str, Value, &'static str),
    /// Only whether it lists this tool, which needs the internet.
    Lists(&'static str),
    /// `add` and `echo_meta`, in this generation of the protocol.
    Python(Era),
}

#[derive(Clone, Copy, PartialEq)]
enum Era {
    Legacy,
    Modern,
}

const fn way(
    heading: &'static str,
    changes: &'static [(&'static str, &'static str)],
    asked: Asked,
) -> Way {
    Way {
        heading,
        changes,
        python: None,
        asked,
    }
}

const fn python(
    heading: &'static str,
    changes: &'static [(&'static str, &'static str)],
    (venv, script): (&'static str, &'static str),
    era: Era,
) -> Way {
    Way {
        heading,
        changes,
        python: Some((venv, script)),
        asked: Asked::Python(era),
    }
}

fn everything(heading: &'static str) -> Way {
    let call = Asked::Call("echo", json!({ "message": "hello" }), "Echo: hello");
    way(heading, &[], call)
}

fn ways() -> Vec<Way> {
    let files = || {
        Asked::Call(
            "read_text_file",
            json!({ "path": "a.txt" }),
            "of the fixture",
        )
    };
    let mobile = || Asked::Call("mobile_list_available_devices", json!({}), "devices");
    let browser = || {
        let blank = json!({ "url": "about:blank" });
        Asked::Call("browser_navigate", blank, "about:blank")
    };
    let (two, three, four) = ("fastmcp2", "fastmcp3", "fastmcp4");
    const STDIO: (&str, &str) = ("transport: http", "transport: stdio");
    const EITHER: (&str, &str) = ("transport: stdio", "transport: stdio\n    protocol: auto");
    const EITHER_ON_PORT: (&str, &str) = ("transport: http", "transport: http\n    protocol: auto");
    const NEWER: (&str, &str) = ("transport: stdio", "transport: stdio\n    protocol: modern");
    const MODERN: (&str, &str) = ("protocol: auto", "protocol: modern");
    const ON_PORT: (&str, &str) = ("server.py]", r#"server.py, --port, "{port}"]"#);
    const NO_STDIO: (&str, &str) = ("    transport: stdio\n", "");
    vec![
        everything("### server-everything"),
        everything("## HTTP"),
        way("### server-filesystem", &[], files()),
        way("### mobile-mcp", &[], mobile()),
        way(
            "### mobile-mcp",
            &[
                (r#", --listen, "{host}:{port}""#, ""),
                (r#"MOBILEMCP_AUTH: "{token}", "#, ""),
                ("    headers: { Authorization: \"Bearer {token}\" }\n", ""),
            ],
            mobile(),
        ),
        way("### @playwright/mcp", &[], browser()),
        way(
            "### @playwright/mcp",
            &[
                (r#", --port, "{port}""#, ""),
                ("    url: \"http://localhost:{port}/mcp\"\n", ""),
            ],
            browser(),
        ),
        way("### context7", &[], Asked::Lists("resolve-library-id")),
        way("### context7", &[NEWER], Asked::Lists("resolve-library-id")),
        way("### server-filesystem", &[EITHER], files()),
        python("### mcp 1", &[EITHER], (three, "mcp1.py"), Era::Legacy),
        python(
            "### FastMCP 3",
            &[EITHER_ON_PORT],
            (three, "fastmcp3.py"),
            Era::Legacy,
        ),
        python("### FastMCP 2", &[], (two, "fastmcp2.py"), Era::Legacy),
        python(
            "### FastMCP 2",
            &[(r#", --transport, http, --port, "{port}""#, "")],
            (two, "fastmcp2.py"),
            Era::Legacy,
        ),
        python("### FastMCP 3", &[], (three, "fastmcp3.py"), Era::Legacy),
        python(
            "### FastMCP 3",
            &[STDIO],
            (three, "fastmcp3.py"),
            Era::Legacy,
        ),
        python("### FastMCP 4", &[], (four, "fastmcp4.py"), Era::Modern),
        python(
            "### FastMCP 4",
            &[MODERN],
            (four, "fastmcp4.py"),
            Era::Modern,
        ),
        python(
            "### FastMCP 4",
            &[(
                r#"    env: { FASTMCP_TRANSPORT: http, FASTMCP_PORT: "{port}", FASTMCP_HOST: "{host}" }"#,
                "    transport: stdio",
            )],
            (four, "fastmcp4.py"),
            Era::Modern,
        ),
        python("### mcp 1", &[], (three, "mcp1.py"), Era::Legacy),
        python(
            "### mcp 1",
            &[NO_STDIO, ON_PORT],
            (three, "mcp1.py"),
            Era::Legacy,
        ),
        python("### mcp 2", &[], (four, "mcp2.py"), Era::Modern),
        python("### mcp 2", &[MODERN], (four, "mcp2.py"), Era::Modern),
        python(
            "### mcp 2",
            &[NO_STDIO, ON_PORT],
            (four, "mcp2.py"),
            Era::Modern,
        ),
    ]
}

/// The configurations of a section of the page.
fn configurations(page: &str, heading: &str) -> Vec<String> {
    let after = page.split_once(&format!("\n{heading}\n")).unwrap().1;
    let section = after.split("\n#").next().unwrap();
    let yaml = blocks(section).into_iter();
    let yaml = yaml.filter(|block| block.language() == "yaml");
    yaml.map(|block| block.text).collect()
}

/// The program's search path, with what stands in for npx and a Python before everything else.
fn search_path(lab: &Lab, installed: &Path, python: Option<&str>) -> OsString {
    let npx = lab.folder().join("bin/npx");
    lab.write("bin/npx", NPX);
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    let venv = python.map(|name| installed.with_file_name(format!("test-venv-{name}/bin")));
    let usual = std::env::var_os("PATH").unwrap();
    let folders = [npx.parent().unwrap().to_owned()].into_iter().chain(venv);
    std::env::join_paths(folders.chain(std::env::split_paths(&usual))).unwrap()
}

/// Starts a server in one way, and answers what is wrong.
fn tried(way: &Way, page: &str, installed: &Path) -> Result<(), String> {
    let lab = lab();
    let mut config = configurations(page, way.heading).concat();
    if way.heading == "## HTTP" {
        // The section has other servers beside it.
        let start = config.find("  - name: everything").unwrap();
        let end = config.find("  - name: running-already").unwrap();
        config = format!("mcpServers:\n{}", &config[start..end]);
    }
    for (from, to) in way.changes {
        if !config.contains(from) {
            return Err(format!("the page has no {from}"));
        }
        config = config.replacen(from, to, 1);
    }
    // As the page says of a Chromium that is there and of root.
    if let Some(chromium) = chromium().filter(|_| way.heading.contains("playwright")) {
        let flags = format!("--headless, --no-sandbox, --executable-path, {chromium}");
        config = config.replacen("--headless", &flags, 1);
    }
    lab.write(
        "packtrain.yaml",
        &format!("devices: {{ virtual: {{ profile: fast }} }}\n{config}"),
    );
    lab.write("fixtures/a.txt", "of the fixture");
    if let Some((_, script)) = way.python {
        let from = repository().join("tests/sources/python").join(script);
        std::fs::copy(from, lab.folder().join("server.py")).unwrap();
    }
    let calls = match &way.asked {
        Asked::Call(tool, arguments, _) => vec![json!({ *tool: arguments })],
        // What nobody lists is refused, with the name that was meant.
        Asked::Lists(tool) => vec![json!({ &tool[1..]: {} })],
        Asked::Python(_) => vec![
            json!({ "add": { "a": 2, "b": 3 } }),
            json!({ "echo_meta": {} }),
        ],
    };
    // JSON is YAML.
    let trail = json!({
        "config": { "memory": { "who": "Ada ✓" } },
        "trail": [{ "step": "Call", "recording": { "android": calls } }],
    });
    lab.write("a.trail.yaml", &trail.to_string());
    let arguments = [
        "run",
        "a.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots=none",
    ];
    let path = search_path(&lab, installed, way.python.map(|(venv, _)| venv));
    let output = lab.command(&arguments).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let wrong = |what: &str| Err(format!("{what}\n{config}\n{said}"));
    if let Asked::Lists(tool) = &way.asked {
        return match said.contains(&format!("did you mean `{tool}`?")) {
            true => Ok(()),
            false => wrong("it is not listed"),
        };
    }
    if !output.status.success() || said.contains("warning") {
        return wrong("it did not work");
    }
    if falls_back(&lab) {
        return wrong("it was called over another transport");
    }
    let answers = answers(&lab);
    match &way.asked {
        Asked::Call(_, _, part) if answers[0].contains(part) => Ok(()),
        Asked::Python(era) if answers[0] == "5" => match meta_fault(&answers[1], *era) {
            None => Ok(()),
            Some(fault) => wrong(&format!("{fault}: {}", answers[1])),
        },
        _ => wrong(&format!("it answered {answers:?}")),
    }
}

/// A browser on the search path; elsewhere Playwright looks itself.
fn chromium() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut found = std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .filter(|program| program.is_file());
    found.next().map(|program| program.display().to_string())
}

/// Whether a source that was to listen on a port did not, as its log says.
fn falls_back(lab: &Lab) -> bool {
    let logs = std::fs::read_dir(lab.run_folder().join("sources")).unwrap();
    logs.into_iter().any(|log| {
        let text = std::fs::read_to_string(log.unwrap().path()).unwrap();
        text.contains("all calls share its standard input")
    })
}

fn answers(lab: &Lab) -> Vec<String> {
    let events = lab.events();
    let ended = events
        .iter()
        .filter(|event| event["event"] == "tool_finished");
    ended
        .map(|event| event["answer"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// What of the `_meta` of a call did not arrive.
fn meta_fault(echoed: &str, era: Era) -> Option<&'static str> {
    let meta: Value = serde_json::from_str(echoed).unwrap_or_default();
    let on = &meta["trailblaze"];
    let device = &on["device"];
    let version = &meta["io.modelcontextprotocol/protocolVersion"];
    let is_number = |value: &Value| value.as_u64().is_some_and(|pixels| pixels > 0);
    let expected = [
        (
            "base address",
            on["baseUrl"]
                .as_str()
                .is_some_and(|url| url.starts_with("http://127.0.0.1:")),
        ),
        ("session", on["sessionId"].is_string()),
        (
            "invocation",
            on["invocationId"].is_string() && on["invocationId"] == meta["trailblazeInvocationId"],
        ),
        (
            "platform",
            device["platform"] == "android" && device["driverType"].is_string(),
        ),
        (
            "screen",
            is_number(&device["widthPixels"]) && is_number(&device["heightPixels"]),
        ),
        ("memory", on["memory"] == json!({ "who": "Ada ✓" })),
        (
            "capabilities",
            on["capabilities"] == json!({ "sampling": false }),
        ),
        ("era", (version == "2026-07-28") == (era == Era::Modern)),
    ];
    expected
        .into_iter()
        .find_map(|(what, holds)| (!holds).then_some(what))
}

#[test]
fn published_servers_work_with_what_the_page_says() {
    let installed = PathBuf::from(
        std::env::var_os("PACKTRAIN_TEST_SOURCES")
            .expect("PACKTRAIN_TEST_SOURCES is not set: `sh tests/run.sh` installs tool sources"),
    );
    let page = std::fs::read_to_string(repository().join("docs/tool-sources.md")).unwrap();
    let ways = ways();
    let published = page.split_once("\n## Published servers\n").unwrap().1;
    for heading in published.lines().filter(|line| line.starts_with("### ")) {
        assert!(
            ways.iter().any(|way| way.heading == heading),
            "{heading} is not tried"
        );
    }
    let (left, wrong) = (Mutex::new(ways.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(way) = left.lock().next() else {
                        return;
                    };
                    if let Err(fault) = tried(way, &page, &installed) {
                        wrong.lock().push(format!("{}: {fault}", way.heading));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
