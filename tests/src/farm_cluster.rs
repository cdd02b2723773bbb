//! A farm on three servers with the configuration that is written for servers of one's own: encrypted,
//! with a user for each role. Only the ports are the test's.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use serde_json::Value;

use crate::farm_lab::{FarmLab, FarmSettings};
use crate::nats_server::{NatsServer, free_addresses};
use crate::{Lab, until};

/// How many servers.
const NODES: usize = 3;
/// The streams and buckets of a farm.
const STREAMS: [&str; 6] = [
    "RUNS",
    "BLOBS",
    "KV_live",
    "KV_lease",
    "KV_device",
    "KV_manifest",
];

/// The servers, and the farm on them. Dropped, all is gone.
pub struct FarmCluster {
    /// The farm.
    pub farm: FarmLab,
    /// Where each server tells how it is.
    monitors: Vec<SocketAddr>,
}

impl FarmCluster {
    /// Servers that take clients and have a leader, with users for these hosts.
    pub fn start(program: &str, hosts: &[&str]) -> Self {
        let lab = Lab::new(program);
        let out = lab.folder().join("config");
        let mut words = vec!["farm", "config", "--nodes", "3", "--out", "config"];
        words.extend(["--user", "operator:me"]);
        let hosts: Vec<String> = hosts.iter().map(|host| format!("host:{host}")).collect();
        for host in &hosts {
            words.extend(["--user", host]);
        }
        lab.run(&words).expect(0);
        let addresses = free_addresses(3 * NODES);
        let (clients, others) = addresses.split_at(NODES);
        let (routes, monitors) = others.split_at(NODES);
        let mut servers: Vec<NatsServer> = (0..NODES)
            .map(|at| {
                let name = name(at);
                let written = lab.read(out.join(&name).join("nats-server.conf"));
                let config = here(&written, &out.join(&name), clients[at], routes, at);
                let config = format!("{config}http: \"{}\"\n", monitors[at]);
                NatsServer::configured(lab.folder(), &name, clients[at], &config)
            })
            .collect();
        servers.iter_mut().for_each(NatsServer::launch);
        servers.iter().for_each(NatsServer::wait);
        let urls: Vec<String> = clients.iter().map(|at| format!("tls://{at}")).collect();
        let settings = FarmSettings {
            ttl_seconds: None,
            replicas: NODES,
            credentials: Some(out.join("credentials")),
        };
        let cluster = Self {
            farm: FarmLab::on(lab, servers, &urls.join(","), settings),
            monitors: monitors.to_vec(),
        };
        until(|| cluster.leader("meta").is_some());
        cluster
    }

    /// Who leads a stream, or all of them (`meta`); `None` while nobody does.
    pub fn leader(&self, of: &str) -> Option<usize> {
        let told = self.monitors.iter().filter_map(|at| state(*at));
        let mut leaders = told.filter_map(|state| leader(&state, of));
        let leader = leaders.next()?;
        // A server that was away tells what was.
        leaders
            .all(|other| other == leader)
            .then(|| (0..NODES).find(|at| name(*at) == leader))?
    }

    /// Whether each stream has a leader and all servers have all of it.
    pub fn is_whole(&self) -> bool {
        STREAMS.iter().all(|stream| {
            let leader = self.leader(stream);
            let told = leader.and_then(|leader| state(self.monitors[leader]));
            let told = told.and_then(|state| stream_of(&state, stream).cloned());
            let replicas = told.and_then(|told| told["cluster"]["replicas"].as_array().cloned());
            replicas.is_some_and(|replicas| {
                let current = replicas
                    .iter()
                    .filter(|replica| replica["current"] == true && replica["offline"] != true);
                current.count() == NODES - 1
            })
        })
    }
}

/// The written configuration with this computer's ports and folders.
fn here(
    written: &str,
    folder: &Path,
    client: SocketAddr,
    routes: &[SocketAddr],
    own: usize,
) -> String {
    let replacements = [
        ("0.0.0.0:4222".to_owned(), client.to_string()),
        ("0.0.0.0:6222".to_owned(), routes[own].to_string()),
        ("/etc/nats".to_owned(), folder.display().to_string()),
        (
            "\"/data\"".to_owned(),
            format!("{:?}", folder.join("store").display().to_string()),
        ),
    ];
    let others = (0..NODES).filter(|at| *at != own);
    let others = others.map(|at| (format!("@{}:6222", name(at)), format!("@{}", routes[at])));
    replacements
        .into_iter()
        .chain(others)
        .fold(written.to_owned(), |text, (from, to)| {
            assert!(text.contains(&from), "{from} is not in\n{text}");
            text.replace(&from, &to)
        })
}

fn name(at: usize) -> String {
    format!("nats-{}", at + 1)
}

/// What a server says of itself; `None` when it is away.
fn state(at: SocketAddr) -> Option<Value> {
    let mut stream = TcpStream::connect(at).ok()?;
    let ask = "GET /jsz?accounts=true&streams=true HTTP/1.0\r\n\r\n";
    stream.write_all(ask.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

fn leader(state: &Value, of: &str) -> Option<String> {
    let cluster = if of == "meta" {
        &state["meta_cluster"]
    } else {
        &stream_of(state, of)?["cluster"]
    };
    let leader = cluster["leader"].as_str()?;
    (!leader.is_empty()).then(|| leader.to_owned())
}

fn stream_of<'a>(state: &'a Value, name: &str) -> Option<&'a Value> {
    let accounts = state["account_details"].as_array()?;
    let streams = accounts
        .iter()
        .filter_map(|account| account["stream_detail"].as_array());
    streams.flatten().find(|stream| stream["name"] == name)
}
