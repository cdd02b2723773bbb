//! What many agents cost the daemon in memory. Linux only.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use packtrain_tests::agent_lab::{Agent, AgentLab, Daemon, Era};
use serde_json::json;

use super::driver::phones;

/// As many sessions as one token tries to open.
const INITIALISES: usize = 420;
/// Agents with a phone each.
const AGENTS: usize = 200;

pub(super) fn tell() {
    sessions();
    agents();
}

/// A client that opens sessions and goes away.
fn sessions() {
    let lab = AgentLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"), "{}\n");
    let daemon = lab.daemon();
    let status = initialise(&daemon);
    assert_eq!(status, "200");
    let before = resident(&daemon);
    let (mut taken, mut refused) = (1, 0);
    for _ in 1..INITIALISES {
        match initialise(&daemon).as_str() {
            "200" => taken += 1,
            "429" => refused += 1,
            other => panic!("{other}"),
        }
    }
    println!(
        "  memory of the daemon: {before:.0} MiB; after {INITIALISES} initialises, {taken} taken and \
         {refused} refused: {:.0} MiB",
        resident(&daemon)
    );
    lab.run(&["daemon", "stop"]).expect(0);
}

fn initialise(daemon: &Daemon) -> String {
    let address = daemon.url.strip_prefix("http://").unwrap();
    let (address, path) = address.split_once('/').unwrap();
    let client = json!({ "name": "bench", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let body = body.to_string();
    let mut connection = TcpStream::connect(address).unwrap();
    write!(
        connection,
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        daemon.token,
        body.len(),
    )
    .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap().to_owned()
}

/// Agents that each have a phone and look at it. The phones are a process of their own.
fn agents() {
    let lab = AgentLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"), "{}\n");
    let count = AGENTS.to_string();
    let (_phones, told) = phones(lab.lab(), &["--android", &count, "--profile", "fast"]);
    let all = told["android"].as_array().unwrap().iter();
    let addresses: Vec<_> = all.map(|phone| phone["adb"].as_str().unwrap()).collect();
    let connect = addresses.join("\", \"");
    let configuration =
        format!("devices: {{ android: {{ agent: shell, connect: [\"{connect}\"] }} }}\n");
    lab.lab().write("packtrain.yaml", &configuration);
    let daemon = lab.daemon();
    let before = resident(&daemon);
    let names = (0..AGENTS).map(|number| format!("agent-{number}"));
    let agents: Vec<_> = names
        .map(|name| Agent::http(&daemon.url, &daemon.token, &name, Era::Sessions))
        .collect();
    let connected = resident(&daemon);
    for (agent, address) in agents.iter().zip(&addresses) {
        let lease = agent.acquires(&format!("android/{address}"));
        agent.does("snapshot", json!({ "lease": lease }));
    }
    println!(
        "  memory of the daemon: {before:.0} MiB; {AGENTS} agents: {connected:.0} MiB; each with a \
         phone that it has looked at: {:.0} MiB",
        resident(&daemon)
    );
    drop(agents);
    lab.run(&["daemon", "stop"]).expect(0);
}

/// MiB.
fn resident(daemon: &Daemon) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid)).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap();
    kib.parse::<f64>().unwrap() / 1024.0
}
