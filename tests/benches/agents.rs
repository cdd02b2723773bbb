//! What an agent pays for the way through the daemon: from its start to the first list of tools, against
//! a published server for phones; a snapshot by the protocol, against the driver's own; and the tokens
//! of a snapshot of the example's list, against a published server for browsers.
//!
//! `cargo bench -p packtrain-tests --bench agents`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use packtrain_tests::{Lab, repository};
use serde_json::{Value, json};

/// From the start to the list of a warm daemon, against that of the published server.
const MOST_OF_START: f64 = 0.06;
/// A snapshot by the protocol against one on the other side of the daemon.
const MOST_OF_SNAPSHOT: f64 = 1.2;
/// The characters of a snapshot against the published server's.
const MOST_OF_TEXT: f64 = 1.0 / 3.0;
const ROUNDS: usize = 15;
const LOOKS: usize = 60;

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let lab = Lab::new(env!("CARGO_BIN_EXE_packtrain-under-test"));
    let site = repository().join("examples/shop/web");
    // Agents open files of the project only.
    for file in std::fs::read_dir(site).unwrap() {
        let file = file.unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        lab.write(
            &format!("web/{}", file.file_name().to_str().unwrap()),
            &text,
        );
    }
    let folder = lab.folder().canonicalize().unwrap();
    let base = format!("file://{}/web/", folder.display());
    let configuration = format!(
        "devices:\n  virtual: {{ android: 1 }}\n  web:\n    desktop: {{ viewport: 1280x800, baseUrl: {base:?} }}\n\
         mcpServers:\n  - {{ name: twenty, command: python3, args: [twenty.py] }}\n"
    );
    lab.write("packtrain.yaml", &configuration);
    lab.write("twenty.py", TWENTY);
    // The daemon, and what an agent needs of it, is warm from here on.
    let mut agent = Agent::ours(&lab);
    agent.begin();
    let listed = agent.ask("tools/list", json!({}));
    let named = listed["tools"].as_array().unwrap();
    assert!(
        named
            .iter()
            .filter(|tool| tool["name"].as_str().unwrap().starts_with("twenty_"))
            .count()
            == 20
    );

    start(&lab);
    snapshot(&mut agent);
    text(&mut agent, &format!("{base}products.html"));
    drop(agent);
    lab.run(&["daemon", "stop"]).expect(0);
}

fn start(lab: &Lab) {
    let mut ours = Vec::new();
    let mut theirs = Vec::new();
    for _ in 0..ROUNDS {
        ours.push(to_list(Agent::ours(lab)));
        theirs.push(to_list(Agent::published(
            "@mobilenext/mobile-mcp/lib/index.js",
            &[],
        )));
    }
    told(
        "start to list, warm",
        median(ours),
        median(theirs),
        MOST_OF_START,
    );
}

fn to_list(mut agent: Agent) -> f64 {
    agent.begin();
    agent.ask("tools/list", json!({}));
    agent.begun.elapsed().as_secs_f64() * 1e3
}

/// The driver's own is what the journal says that the call took on the device.
fn snapshot(agent: &mut Agent) {
    let lease = agent.acquire("android");
    agent.call(
        "launchApp",
        json!({ "lease": lease, "appId": "com.android.settings" }),
    );
    let mut ours = Vec::new();
    for _ in 0..LOOKS {
        let begun = Instant::now();
        agent.call("snapshot", json!({ "lease": lease }));
        ours.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let released = agent.call("device_release", json!({ "lease": lease }));
    let run = released["structuredContent"]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let journal = agent
        .folder
        .join(".packtrain/runs")
        .join(run)
        .join("events.ndjson");
    let journal = std::fs::read_to_string(journal).unwrap();
    let events = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let looks =
        events.filter(|event| event["event"] == "tool_finished" && event["tool"] == "readScreen");
    let theirs: Vec<_> = looks
        .map(|event| event["duration_ms"].as_f64().unwrap())
        .collect();
    assert_eq!(theirs.len(), LOOKS);
    told(
        "snapshot, against the tool's own",
        median(ours),
        median(theirs),
        MOST_OF_SNAPSHOT,
    );
}

fn text(agent: &mut Agent, url: &str) {
    let lease = agent.acquire("web/desktop");
    let opened = agent.call("web_navigate", json!({ "lease": lease, "url": url }));
    assert!(opened["isError"] == false, "{opened}");
    let ours = agent.call("snapshot", json!({ "lease": lease }));
    agent.call("device_release", json!({ "lease": lease }));
    let browser = ["chromium", "chromium-browser", "google-chrome"];
    let paths = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&paths)
        .flat_map(|folder| browser.map(|name| folder.join(name)))
        .find(|path| path.is_file())
        .unwrap();
    let found = found.to_str().unwrap();
    let flags = [
        "--headless",
        "--isolated",
        "--no-sandbox",
        "--allow-unrestricted-file-access",
        "--executable-path",
        found,
    ];
    let mut theirs = Agent::published("@playwright/mcp/cli.js", &flags);
    theirs.begin();
    let navigated = theirs.call("browser_navigate", json!({ "url": url }));
    assert!(navigated["isError"] != true, "{navigated}");
    let theirs = theirs.call("browser_snapshot", json!({}));
    let length = |answer: &Value| answer["content"][0]["text"].as_str().unwrap().len() as f64;
    told(
        "characters of the list's snapshot",
        length(&ours),
        length(&theirs),
        MOST_OF_TEXT,
    );
}

fn told(what: &str, ours: f64, theirs: f64, most: f64) {
    let ratio = ours / theirs;
    let verdict = if ratio <= most { "met" } else { "MISSED" };
    println!("  {what:40} {ours:9.1} / {theirs:9.1} = {ratio:6.3}  (at most {most:.2}: {verdict})");
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// A server on standard input and output, and its client.
struct Agent {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    begun: Instant,
    next: u64,
    folder: PathBuf,
}

impl Agent {
    fn ours(lab: &Lab) -> Self {
        Self::of(lab.command(&["mcp"]), lab.folder().to_owned())
    }

    fn published(script: &str, flags: &[&str]) -> Self {
        let installed = std::env::var_os("PACKTRAIN_TEST_SOURCES").unwrap();
        let modules = PathBuf::from(installed).join("node_modules");
        let mut command = Command::new("node");
        command.arg(modules.join(script)).args(flags);
        Self::of(command, PathBuf::new())
    }

    fn of(mut command: Command, folder: PathBuf) -> Self {
        let begun = Instant::now();
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.stderr(Stdio::null()).spawn().unwrap();
        Self {
            to: child.stdin.take().unwrap(),
            from: BufReader::new(child.stdout.take().unwrap()),
            child,
            begun,
            next: 0,
            folder,
        }
    }

    fn begin(&mut self) {
        let client = json!({ "name": "bench", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.ask("initialize", hello);
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
        self.to.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "it hung up");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{answer}");
                return answer["result"].clone();
            }
        }
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
    }

    fn acquire(&mut self, device: &str) -> String {
        let taken = self.call(
            "device_acquire",
            json!({ "device": device, "wait_ms": 120_000 }),
        );
        let lease = taken["structuredContent"]["lease"].as_str();
        lease.unwrap_or_else(|| panic!("{taken}")).to_owned()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A source of twenty tools, on standard input and output, without any library.
const TWENTY: &str = r#"
import json, sys
tools = [{"name": f"twenty_tool{n}", "description": f"Does the {n}th thing.", "inputSchema": {"type": "object",
    "properties": {"text": {"type": "string", "description": "What to do it with."}}}} for n in range(20)]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "twenty", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": tools}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;
