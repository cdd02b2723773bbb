//! Many agents at once, each on a phone of its own: what one does is done on its phone and no other's,
//! as the phones tell it themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use packtrain_tests::agent_lab::{Agent, AgentLab, Era};
use packtrain_tests::process::Process;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{configured, note, opens, sees};

/// Agents by pipes, with sessions over HTTP, and by single requests.
const AGENTS: [usize; 3] = [100, 60, 40];

/// How many of them act at once: two processors serve two hundred phones no faster.
const LANES: usize = 24;

/// Phones that are a process of their own, and tell what has reached them.
pub(super) struct Phones {
    pub(super) addresses: Vec<String>,
    _process: Process,
}

pub(super) fn phones(lab: &AgentLab, count: usize) -> (Phones, String) {
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

/// Does something for each number, so many at once; answers what came of it, in order.
fn in_lanes<T: Send>(count: usize, act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let (next, act) = (AtomicUsize::new(0), &act);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|_| {
                let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
                let own = numbers.take_while(|number| *number < count);
                scope.spawn(move || own.map(|number| (number, act(number))).collect::<Vec<_>>())
            })
            .collect();
        let done = lanes.into_iter().flat_map(|lane| lane.join().unwrap());
        done.collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, came)| came).collect()
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
    let agents: Vec<Agent> = in_lanes(count, connect);
    note(&format!("connected after {:?}", begun.elapsed()));
    let leases: Vec<String> = in_lanes(count, |number| {
        let device = format!("android/{}", phones.addresses[number]);
        agents[number].acquires(&device)
    });
    note(&format!("all phones taken after {:?}", begun.elapsed()));
    in_lanes(count, |number| {
        let (agent, lease) = (&agents[number], &leases[number]);
        opens(agent, lease);
        let text = json!({ "lease": lease, "text": word(number) });
        agent.does("inputText", text);
    });
    in_lanes(count, |number| {
        let seen = sees(&agents[number], &leases[number]);
        assert!(seen.contains(&format!("<{}>", word(number))), "{seen}");
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
