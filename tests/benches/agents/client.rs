//! A client of a server on standard input and output, and what it may talk to.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use packtrain_tests::Lab;
use serde_json::{Value, json};
use tokio::time::Instant;

/// A server on standard input and output, and its client.
pub(super) struct Agent {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    pub(super) begun: Instant,
    next: u64,
    pub(super) folder: PathBuf,
}

impl Agent {
    pub(super) fn ours(lab: &Lab) -> Self {
        Self::of(lab.command(&["mcp"]), lab.folder().to_owned())
    }

    pub(super) fn published(script: &str, flags: &[&str]) -> Self {
        let installed = std::env::var_os("PACKTRAIN_TEST_SOURCES").unwrap();
        let modules = PathBuf::from(installed).join("node_modules");
        let mut command = Command::new("node");
        // They write where they are.
        let elsewhere = std::env::temp_dir();
        let words = command.arg(modules.join(script)).args(flags);
        words.current_dir(elsewhere);
        Self::of(command, PathBuf::new())
    }

    /// What the source says without anybody between.
    pub(super) fn source(folder: &Path) -> Self {
        let mut command = Command::new(python());
        command.arg("twenty.py").current_dir(folder);
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

    pub(super) fn begin(&mut self) {
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

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
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

    pub(super) fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.ask(
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
    }

    pub(super) fn acquire(&mut self, device: &str) -> String {
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

/// What runs the source: a shim in front of Python takes longer to start than all else.
pub(super) fn python() -> PathBuf {
    let given = std::env::var_os("PACKTRAIN_TEST_PYTHON");
    given.map_or_else(|| "python3".into(), PathBuf::from)
}

/// A source of twenty tools, on standard input and output, without any library.
pub(super) const TWENTY: &str = r#"
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
