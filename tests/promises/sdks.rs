//! For authors of tools: the SDKs keep their own promises, what is generated is what the definitions
//! say, scaffolds work in an empty folder, and a recording does not tell how a tool was written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab, repository};
use serde_json::{Value, json};

use crate::lab;
use crate::sources::{copy, fastmcp, installed, link_modules, nothing_runs, signup_example};

/// A copy of the SDKs in which tests may write, with what they need.
fn sdks() -> Lab {
    let lab = lab();
    copy(&repository().join("sdks"), &lab.folder().join("sdks"));
    let modules = lab.folder().join("sdks/typescript/node_modules");
    std::os::unix::fs::symlink(installed().join("node_modules"), modules).unwrap();
    lab
}

/// Runs a program of an SDK in its folder.
fn ran(lab: &Lab, sdk: &str, program: &Path, words: &[&str]) -> Ended {
    let python = |name: &str| {
        let folder = installed().parent().unwrap().join(name);
        json!(folder.join("bin/python"))
    };
    let pythons = json!({
        "fastmcp2": python("test-venv-fastmcp2"),
        "fastmcp3": python("test-venv-fastmcp3"),
        "fastmcp4": python("test-venv-fastmcp4"),
        "mcp1": python("test-venv-fastmcp3"),
        "mcp2": python("test-venv-fastmcp4"),
    });
    let output = Command::new(program)
        .args(words)
        .current_dir(lab.folder().join("sdks").join(sdk))
        .env("PACKTRAIN_TEST_PYTHONS", pythons.to_string())
        .output();
    output.unwrap().into()
}

fn node() -> PathBuf {
    PathBuf::from("node")
}

fn tsc() -> PathBuf {
    installed().join("node_modules/.bin/tsc")
}

#[test]
fn the_commands_of_both_sdks_are_generated_from_the_definitions() {
    let lab = sdks();
    let python = fastmcp().join("python3");
    for (sdk, program, script) in [
        ("typescript", node(), "scripts/generate.mjs"),
        ("python", python, "scripts/generate.py"),
    ] {
        ran(&lab, sdk, &program, &[script, "--check"]).expect(0);
        // The check can fail.
        let openapi = lab.read("sdks/openapi.json");
        lab.write("sdks/openapi.json", &openapi.replace("Goes back.", "Goes."));
        let ended = ran(&lab, sdk, &program, &[script, "--check"]);
        assert_eq!(ended.code, 1, "{ended:?}");
        lab.write("sdks/openapi.json", &openapi);
    }
}

#[test]
fn the_document_is_openapi_to_a_library_that_nobody_here_wrote() {
    let read = "import json; from openapi_pydantic import parse_obj; \
                print(len(parse_obj(json.load(open('../openapi.json'))).paths))";
    let python = fastmcp().join("python3");
    let ended = ran(&sdks(), "python", &python, &["-c", read]).expect(0);
    assert_eq!(ended.stdout.trim(), "23");
}

#[test]
fn the_sdk_for_typescript_keeps_its_promises() {
    let lab = sdks();
    let tests = std::fs::read_dir(lab.folder().join("sdks/typescript/tests")).unwrap();
    let files = tests.map(|entry| format!("tests/{}", entry.unwrap().file_name().display()));
    let files: Vec<_> = files.filter(|file| file.ends_with(".test.ts")).collect();
    let mut words = vec!["--import", "tsx", "--test"];
    words.extend(files.iter().map(String::as_str));
    let said = ran(&lab, "typescript", &node(), &words).expect(0).stdout;
    let passed = said.lines().find_map(|line| line.strip_prefix("# pass "));
    let passed = passed.and_then(|count| count.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed > 100), "{said}");
    assert!(said.contains("\n# skipped 0\n"), "{said}");
    ran(&lab, "typescript", &tsc(), &["--noEmit"]).expect(0);
    nothing_runs(&lab);
}

#[test]
fn the_sdk_for_python_keeps_its_promises_on_every_framework() {
    let lab = sdks();
    let python = fastmcp().join("python3");
    let ended = ran(&lab, "python", &python, &["-m", "pytest", "-q", "-rs"]).expect(0);
    let last = ended.stdout.trim_end().lines().next_back();
    let last = last.unwrap_or_default();
    let passed = last
        .split_once(" passed")
        .and_then(|(count, _)| count.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed > 200), "{last}");
    assert!(!last.contains("skipped"), "{last}");
    nothing_runs(&lab);
}

/// What the package managers of a scaffold would install is there already: what it asks for must be
/// what that is.
fn install(lab: &Lab, folder: &str) {
    let folder = lab.folder().join(folder);
    if folder.join("package.json").exists() {
        let modules = installed().join("node_modules");
        std::os::unix::fs::symlink(modules, folder.join("node_modules")).unwrap();
        let listed = Command::new("npm")
            .args(["ls", "--depth=0"])
            .current_dir(&folder)
            .output();
        let ended = Ended::from(listed.unwrap());
        let wanted: Value =
            serde_json::from_str(&std::fs::read_to_string(folder.join("package.json")).unwrap())
                .unwrap();
        for (name, _) in wanted["dependencies"].as_object().unwrap() {
            let line = ended
                .stdout
                .lines()
                .find(|line| line.contains(&format!(" {name}@")));
            let line = line.unwrap_or_else(|| panic!("{name}\n{ended:?}"));
            assert!(!line.contains("invalid"), "{line}");
        }
    } else {
        let environment = fastmcp().parent().unwrap().to_owned();
        std::os::unix::fs::symlink(environment, folder.join(".venv")).unwrap();
        // Installs nothing when everything is there, and asks nobody.
        let pip = Command::new(folder.join(".venv/bin/python"))
            .args([
                "-m",
                "pip",
                "install",
                "--no-index",
                "--quiet",
                "-r",
                "requirements.txt",
            ])
            .current_dir(&folder)
            .output();
        Ended::from(pip.unwrap()).expect(0);
    }
}

#[test]
fn a_scaffold_of_each_language_passes_its_tests_and_a_trail_from_an_empty_folder() {
    for (language, test) in [
        ("ts", "npm test"),
        ("py", ".venv/bin/python -m pytest -q -p no:cacheprovider"),
    ] {
        let lab = lab();
        let flags = ["tool", "new", "--lang", language, "acme_openForm"];
        let said = lab.run(&flags).expect(0).stdout;
        has(
            &said,
            &["packtrain run tools/acme_openForm/example.trail.yaml"],
        );
        let folder = "tools/acme_openForm";
        install(&lab, folder);
        let mut words = test.split(' ');
        let program = lab.folder().join(folder).join(words.next().unwrap());
        let program = if program.exists() {
            program
        } else {
            "npm".into()
        };
        let tested = Command::new(program)
            .args(words)
            .current_dir(lab.folder().join(folder))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output();
        let tested = Ended::from(tested.unwrap()).expect(0).stdout;
        assert!(
            tested.contains("3 passed") || tested.contains("# pass 3"),
            "{tested}"
        );
        if language == "ts" {
            let checked = Command::new(tsc())
                .arg("--noEmit")
                .current_dir(lab.folder().join(folder))
                .output();
            Ended::from(checked.unwrap()).expect(0);
        }
        lab.run(&[
            "check",
            "--strict",
            "--tools",
            "tools/acme_openForm/example.trail.yaml",
        ])
        .expect(0);
        let trail = "tools/acme_openForm/example.trail.yaml";
        let devices = "virtual:android,virtual:ios,web";
        lab.run(&["run", trail, "--screenshots=none", "-d", devices])
            .expect(0);
        let outcomes = lab.outcomes();
        assert_eq!(outcomes.len(), 3, "{outcomes:?}");
        assert!(
            outcomes.values().all(|outcome| outcome == "passed"),
            "{outcomes:?}"
        );
        nothing_runs(&lab);
    }
}

#[test]
fn a_scaffold_takes_nothing_that_is_there() {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "# Ours.\nmcpServers:\n  - name: b\n    url: http://127.0.0.1:9/mcp\n",
    );
    let new = |name: &str, code: i32| {
        let flags = ["tool", "new", "--lang", "py", name];
        lab.run(&flags).expect(code).stderr
    };
    new("acme_openForm", 0);
    let config = lab.read("packtrain.yaml");
    assert!(config.starts_with("# Ours.\nmcpServers:\n  - name: acme_openForm\n    script: tools/acme_openForm/server.py\n"), "{config}");
    assert!(config.contains("  - name: b\n"), "{config}");
    for (name, why) in [
        ("acme_openForm", "already"),
        ("web_click", "reserved"),
        ("Acme Tool", "letters, digits"),
        ("inputText", "expected `app_verbNoun`"),
        ("server", "expected `app_verbNoun`"),
        ("test_it", "expected `app_verbNoun`"),
    ] {
        let said = new(name, 3);
        assert!(said.contains(why) || said.contains("already"), "{said}");
    }
    assert_eq!(lab.read("packtrain.yaml"), config);
    // A list that cannot be extended line by line is left as it is, and what to add is said.
    let flow = "mcpServers: [{ name: b, url: \"http://127.0.0.1:9/mcp\" }]\n";
    lab.write("packtrain.yaml", flow);
    let said = new("acme_other", 2);
    has(&said, &["script: tools/acme_other/server.py"]);
    assert_eq!(lab.read("packtrain.yaml"), flow);
    assert!(lab.folder().join("tools/acme_other/server.py").exists());
}

/// What of each sign-up tool belongs into a recording, by the tool, then by the device.
fn recordings(report: &Value) -> BTreeMap<String, BTreeMap<String, Vec<Value>>> {
    let mut found: BTreeMap<String, BTreeMap<String, Vec<Value>>> = BTreeMap::new();
    for session in report["trails"][0]["sessions"].as_array().unwrap() {
        let device = session["device"].as_str().unwrap().to_owned();
        for step in session["attempts"][0]["steps"].as_array().unwrap() {
            let calls = step["calls"].as_array().unwrap();
            let tool = calls[0]["tool"].as_str().unwrap();
            if !tool.starts_with("shop_signUp") {
                continue;
            }
            let recorded = calls.iter().filter(|call| call["recorded"] == true);
            let recorded = recorded.map(|call| json!([call["tool"], call["arguments"]]));
            found
                .entry(tool.to_owned())
                .or_default()
                .insert(device.clone(), recorded.collect());
        }
    }
    found
}

#[test]
fn a_recording_does_not_tell_which_sdk_a_tool_was_written_with_if_any() {
    let (lab, path) = signup_example();
    // Their calls are recorded in their place; and all three sign up the same person.
    let config = lab.read("signup/packtrain.yaml");
    let config = config.replace(
        "\n  - name: ",
        "\n  - defaultMeta: { isRecordable: false }\n    name: ",
    );
    lab.write("signup/packtrain.yaml", &config);
    let mut trail = lab.read("signup/trails/signup.trail.yaml");
    for (name, email) in [("Ada Lovelace", "ada@"), ("Grace Hopper", "grace@")] {
        trail = trail.replace(name, "Alan Turing").replace(email, "alan@");
    }
    lab.write("signup/trails/signup.trail.yaml", &trail);
    let flags = [
        "run",
        "--screenshots=none",
        "-d",
        "virtual:android,virtual:ios,web/desktop",
    ];
    let ended = lab
        .command(&flags)
        .current_dir(lab.folder().join("signup"))
        .env("PATH", path)
        .output();
    Ended::from(ended.unwrap()).expect(0);
    let runs = lab.folder().join("signup/.packtrain/runs");
    let run = std::fs::read_dir(runs)
        .unwrap()
        .map(|run| run.unwrap().path());
    let run = run
        .into_iter()
        .find(|run| run.join("report.json").exists())
        .unwrap();
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(run.join("report.json")).unwrap()).unwrap();
    let recordings = recordings(&report);
    let tools: Vec<_> = recordings.keys().map(String::as_str).collect();
    assert_eq!(tools, ["shop_signUpNode", "shop_signUpPy", "shop_signUpTs"]);
    let plain = &recordings["shop_signUpNode"];
    assert_eq!(plain.len(), 3, "{plain:?}");
    for calls in plain.values() {
        assert_eq!(calls.len(), 7, "{calls:?}");
    }
    assert_eq!(&recordings["shop_signUpPy"], plain);
    assert_eq!(&recordings["shop_signUpTs"], plain);
}

const TRY_TS: &str = r#"
import { trailblaze } from "@packtrain/sdk";
let first;
trailblaze.tool("acme_try", { description: "Does all wrong." }, async (_args, _ctx, client) => {
  first ??= client;
  const tried = async (work) => {
    try { await work(); return ["passed"]; } catch (error) { return [error.constructor.name, error.code, error.message]; }
  };
  return { tried: [
    await tried(() => client.tap({})),
    await tried(() => client.web.click(".a")),
    await tried(() => client.assertVisible({ text: "Nowhere", timeoutMs: 10 })),
    await tried(() => client.isVisible({ text: "Nowhere", timeoutMs: 30000 })),
    await tried(() => client.tools.acme_missing({})),
    first === client ? [] : await tried(() => first.tap({ text: "Shop" })),
  ] };
});
await trailblaze.run();
"#;

const TRY_PY: &str = r#"
from fastmcp import Context, FastMCP
from packtrain import TrailblazeClient, run

mcp = FastMCP("acme")
first = None


async def tried(work):
    try:
        await work
        return ["passed"]
    except Exception as error:
        return [type(error).__name__, error.code, str(error)]


@mcp.tool
async def acme_try(ctx: Context) -> dict:
    global first
    client = TrailblazeClient.from_context(ctx)
    former, first = first, client
    return {"tried": [
        await tried(client.tap()),
        await tried(client.web.click(".a")),
        await tried(client.assert_visible(text="Nowhere", timeout_ms=10)),
        await tried(client.is_visible(text="Nowhere", timeout_ms=30000)),
        await tried(client.tools.acme_missing()),
        [] if former is None else await tried(former.tap(text="Shop")),
    ]}


run(mcp)
"#;

#[test]
fn what_goes_wrong_is_a_typed_error_whose_message_says_what_to_do() {
    let expected = [
        ("InvalidArgumentError", "invalid_argument", "`text` or `id`"),
        (
            "WrongPlatformError",
            "unimplemented",
            "`device.platform` is \"web\"",
        ),
        (
            "CommandFailedError",
            "failed_precondition",
            "was not visible within",
        ),
        ("DeadlineError", "deadline_exceeded", "no answer from"),
        (
            "ToolCallError",
            "failed_precondition",
            "unknown tool `acme_missing`",
        ),
        (
            "InvocationEndedError",
            "unauthenticated",
            "wait for every command",
        ),
    ];
    for (file, text) in [("acme.mts", TRY_TS), ("acme.py", TRY_PY)] {
        let lab = lab();
        link_modules(&lab);
        std::os::unix::fs::symlink(fastmcp().parent().unwrap(), lab.folder().join(".venv"))
            .unwrap();
        lab.write(file, text);
        lab.write(
            "packtrain.yaml",
            &format!(
                "devices: {{ virtual: {{ profile: fast }} }}\nmcpServers:\n  - name: acme\n    script: {file}\n    env: {{ TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS: \"700\" }}\n"
            ),
        );
        // Called twice in one session: the second call still has the client of the first.
        lab.write(
            "tools/acme_twice.tool.yaml",
            "id: acme_twice\ntools:\n  - acme_try: {}\n  - acme_try: {}\n",
        );
        let ended = lab
            .run(&["tool", "acme_twice", "-d", "virtual:android"])
            .expect(0);
        nothing_runs(&lab);
        let said: Value =
            serde_json::from_str(ended.stdout.trim()).unwrap_or_else(|_| panic!("{ended:?}"));
        let tried = said["tried"].as_array().unwrap();
        for (tried, (class, code, part)) in tried.iter().zip(expected) {
            assert_eq!(tried[0], class, "{file}: {tried}");
            assert_eq!(tried[1], code, "{file}: {tried}");
            assert!(tried[2].as_str().unwrap().contains(part), "{file}: {tried}");
        }
    }
}
