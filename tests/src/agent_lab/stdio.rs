//! `packtrain mcp` and its pipes.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio as Pipe};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use parking_lot::Mutex;
use serde_json::Value;

/// Those who wait for answers, by the ids of what they asked; none once nobody is answered any more.
type Waiting = Arc<Mutex<Option<HashMap<String, Sender<Value>>>>>;

/// A process that serves one agent.
pub(super) struct Stdio {
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    waiting: Waiting,
}

impl Stdio {
    /// Starts it; what it says unasked is told to `tell`.
    pub(super) fn start(mut command: Command, tell: Sender<Value>) -> Self {
        let command = command.stdin(Pipe::piped()).stdout(Pipe::piped());
        let mut child = command.stderr(Pipe::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let of_it = Arc::clone(&waiting);
        std::thread::spawn(move || {
            let lines = output.lines().map_while(Result::ok);
            // What is not a message ends it: nothing else may stand there.
            for message in lines.map_while(|line| serde_json::from_str(&line).ok()) {
                pass_on(message, &of_it, &tell);
            }
            of_it.lock().take();
        });
        Self {
            input: Mutex::new(child.stdin.take()),
            child: Mutex::new(child),
            waiting,
        }
    }

    pub(super) fn say(&self, message: &Value, to: Option<Sender<Value>>) {
        if let Some(to) = to {
            let id = message["id"].to_string();
            if let Some(waiting) = &mut *self.waiting.lock() {
                waiting.insert(id, to);
            }
        }
        let line = format!("{message}\n");
        let mut input = self.input.lock();
        // A killed process does not read.
        let _ = input.as_mut().unwrap().write_all(line.as_bytes());
    }

    /// `kill -9`.
    pub(super) fn kill(&self) {
        let mut child = self.child.lock();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// What it said on standard error, once it has ended after nothing more was asked.
    pub(super) fn ended(self) -> String {
        drop(self.input.lock().take());
        let mut child = self.child.lock();
        let mut said = String::new();
        let mut errors = child.stderr.take().unwrap();
        errors.read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        said
    }
}

fn pass_on(message: Value, waiting: &Waiting, tell: &Sender<Value>) {
    let mut waiting = waiting.lock();
    let Some(waiting) = &mut *waiting else {
        return;
    };
    let to = match message.get("method") {
        None => waiting.remove(&message["id"].to_string()),
        Some(_) => {
            let token = message["params"]["progressToken"].to_string();
            waiting.get(&token).cloned()
        }
    };
    // A listener that has stopped does not mind.
    let _ = to.as_ref().unwrap_or(tell).send(message);
}

impl Drop for Stdio {
    fn drop(&mut self) {
        drop(self.input.lock().take());
        let mut child = self.child.lock();
        if std::thread::panicking() {
            let _ = child.kill();
        }
        let _ = child.wait();
    }
}
