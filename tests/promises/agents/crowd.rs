//! Many agents at once, each on a phone of its own: what one does is done on its phone and no other's,
//! as the phones tell it themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Instant;

use packtrain_tests::agent_lab::{Agent, AgentLab, Era};
use packtrain_tests::process::Process;
use serde_json::{Value, json};

use super::{configured, note, opens, sees};

/// Agents by pipes, with sessions over HTTP, and by single requests.
const AGENTS: [usize; 3] = [100, 60, 40];

/// Phones that are a process of their own, and tell what has reached them.
struct Phones {
    addresses: Vec<String>,
    _process: Process,
}

fn phones(lab: &AgentLab, count: usize) -> (Phones, String) {
    let folder = lab.lab().folder();
    let count = count.to_string();
    let words = ["virtual", "up", "--android", &count, "--ios", "0"];
    let more = ["--profile", "fast", "--format", "json", "--app", "app.yaml"];
    let log = ["--log", "phones.ndjson"];
    let mut command: Command = lab.command(&[&words[..], &more, &log].concat());
    let process = Process::start("phones", &mut command, &folder.join("phones.log"));
    process.until_said("\"adb_server\"");
    let told: Value = serde_json::from_str(&process.stdout()).unwrap();
    let addresses = told["android"].as_array().unwrap().iter();
    let addresses = addresses.map(|phone| phone["adb"].as_str().unwrap().to_owned());
    let phones = Phones {
        addresses: addresses.collect(),
        _process: process,
    };
    (phones, told["adb_server"].as_str().unwrap().to_owned())
}

/// The words of agents that reached each phone, by its address.
fn reached(lab: &AgentLab, phones: &Phones) -> BTreeMap<String, BTreeSet<String>> {
    let mut reached: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for line in lab.lab().read("phones.ndjson").lines() {
        let told: Value = serde_json::from_str(line).unwrap();
        let name = told["device"].as_str().unwrap();
        let number: usize = name.rsplit('-').next().unwrap().parse().unwrap();
        let what = told["what"].as_str().unwrap_or_default();
        let words = what.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words = words.filter(|word| word.starts_with("word0"));
        reached
            .entry(phones.addresses[number - 1].clone())
            .or_default()
            .extend(words.map(str::to_owned));
    }
    reached
}

/// What an agent types.
fn word(number: usize) -> String {
    format!("word0{number:03}")
}

#[test]
fn what_two_hundred_agents_do_reaches_their_own_phones_and_nobody_elses() {
    let lab = configured("");
    let count = AGENTS.iter().sum();
    let (phones, server) = phones(&lab, count);
    let connect = phones.addresses.join("\", \"");
    let config =
        format!("devices:\n  android:\n    adb: \"{server}\"\n    connect: [\"{connect}\"]\n");
    lab.lab().write("packtrain.yaml", &config);
    let begun = Instant::now();
    let daemon = lab.daemon();
    let [pipes, sessions, _] = AGENTS;
    let connect = |number: usize| {
        let name = format!("agent-{number}");
        match number {
            number if number < pipes => lab.stdio(&name),
            number if number < pipes + sessions => {
                Agent::http(&daemon.url, &daemon.token, &name, Era::Sessions)
            }
            _ => Agent::http(&daemon.url, &daemon.token, &name, Era::Requests),
        }
    };
    let agents: Vec<Agent> = std::thread::scope(|scope| {
        let connecting: Vec<_> = (0..count)
            .map(|number| {
                scope.spawn({
                    let connect = &connect;
                    move || connect(number)
                })
            })
            .collect();
        let connected = connecting.into_iter();
        connected.map(|agent| agent.join().unwrap()).collect()
    });
    note(&format!("connected after {:?}", begun.elapsed()));
    std::thread::scope(|scope| {
        for (number, agent) in agents.iter().enumerate() {
            let device = format!("android/{}", phones.addresses[number]);
            scope.spawn(move || {
                let lease = agent.acquires(&device);
                opens(agent, &lease);
                let text = json!({ "lease": lease, "text": word(number) });
                agent.does("inputText", text);
                let seen = sees(agent, &lease);
                assert!(seen.contains(&format!("<{}>", word(number))), "{seen}");
            });
        }
    });
    note(&format!("typed after {:?}", begun.elapsed()));
    // Each has its own device, and is who it says it is.
    let told = lab.agents();
    assert_eq!(told.len(), count);
    for agent in &told {
        let name = agent["name"].as_str().unwrap();
        let number: usize = name.strip_prefix("agent-").unwrap().parse().unwrap();
        let device = format!("android/{}", phones.addresses[number]);
        assert_eq!(agent["devices"], json!([device]), "{agent}");
    }
    drop(agents);
    lab.run(&["daemon", "stop"]).expect(0);
    note(&format!("over after {:?}", begun.elapsed()));
    let reached = reached(&lab, &phones);
    for (number, address) in phones.addresses.iter().enumerate() {
        assert_eq!(
            reached[address],
            BTreeSet::from([word(number)]),
            "{address}"
        );
    }
}
