//! What an agent pays for the way through the daemon: from its start to the first list of tools, against
//! a published server for phones, with a daemon and without; a snapshot by the protocol, against the
//! driver's own on such a phone and against the tool's; the tokens of a snapshot of the example's list,
//! against a published server for browsers; the example bought in with one action a call and with several,
//! and a look, against the same; and the memory of many agents.
//!
//! `cargo bench -p packtrain-tests --bench agents -- [start|snapshot|text|hands|memory]`
//!
//! What is compared is measured in turns.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "agents/client.rs"]
mod client;
#[path = "agents/driver.rs"]
mod driver;
#[path = "agents/hands.rs"]
mod hands;
#[path = "agents/memory.rs"]
mod memory;

use packtrain_tests::{Lab, repository};
use serde_json::{Value, json};
use tokio::time::Instant;

use self::client::{Agent, TWENTY, python};

/// From the start to the list, against that of the published server.
const MOST_OF_START: f64 = 0.06;
/// A snapshot by the protocol against one on the other side of the daemon.
const MOST_OF_SNAPSHOT: f64 = 1.2;
/// The characters of a snapshot against the published server's.
const MOST_OF_TEXT: f64 = 1.0 / 3.0;
/// The example bought in on a page against the published server: with one action a call, with several; and
/// one look.
const MOST_OF_SINGLE: f64 = 1.0 / 3.0;
const MOST_OF_BATCH: f64 = 1.0 / 5.0;
const MOST_OF_LOOK: f64 = 1.0 / 1.5;
const ROUNDS: usize = 15;
const LOOKS: usize = 100;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        return;
    }
    let chosen: Vec<_> = words.iter().filter(|word| *word != "--bench").collect();
    let parts: [(&str, fn()); 5] = [
        ("start", start),
        ("snapshot", snapshot),
        ("text", text),
        ("hands", hands),
        ("memory", memory::tell),
    ];
    for (name, part) in parts {
        if chosen.is_empty() || chosen.iter().any(|word| *word == name) {
            part();
        }
    }
}

/// A workspace with a source of twenty tools, and with these devices besides a browser.
fn workspace(devices: &str) -> Lab {
    let lab = Lab::new(env!("CARGO_BIN_EXE_packtrain-under-test"));
    let python = python();
    let configuration = format!(
        "devices:\n  web:\n    desktop: {{ viewport: 1280x800 }}\n{devices}\
         mcpServers:\n  - {{ name: twenty, command: {python:?}, args: [twenty.py] }}\n"
    );
    lab.write("packtrain.yaml", &configuration);
    lab.write("twenty.py", TWENTY);
    lab
}

fn start() {
    let phone = "  virtual: { android: 1 }\n";
    let (warm, cold) = (workspace(phone), workspace(phone));
    // The daemon, and what an agent needs of it, is warm from here on.
    let mut agent = Agent::ours(&warm);
    agent.begin();
    let listed = agent.ask("tools/list", json!({}));
    let named = listed["tools"].as_array().unwrap();
    let of_source = |tool: &&Value| tool["name"].as_str().unwrap().starts_with("twenty_");
    assert_eq!(named.iter().filter(of_source).count(), 20);

    let mut times = [const { Vec::new() }; 4];
    let [warms, colds, sources, theirs] = &mut times;
    for _ in 0..ROUNDS {
        warms.push(to_list(Agent::ours(&warm)));
        colds.push(to_list(Agent::ours(&cold)));
        cold.run(&["daemon", "stop"]).expect(0);
        sources.push(to_list(Agent::source(warm.folder())));
        let script = "@mobilenext/mobile-mcp/lib/index.js";
        theirs.push(to_list(Agent::published(script, &[])));
    }
    drop(agent);
    warm.run(&["daemon", "stop"]).expect(0);
    told("start to list, warm", warms, theirs, MOST_OF_START);
    told("start to list, no daemon yet", colds, theirs, MOST_OF_START);
    told("  the source alone", sources, theirs, MOST_OF_START);
}

fn to_list(mut agent: Agent) -> f64 {
    agent.begin();
    agent.ask("tools/list", json!({}));
    agent.begun.elapsed().as_secs_f64() * 1e3
}

/// The tool's own is what the journal says that the call took on the device.
fn snapshot() {
    const SETTINGS: &str = "com.android.settings";
    let phones = driver::Pair::start(env!("CARGO_BIN_EXE_packtrain-under-test"));
    let mut driver = phones.driver_of_second(SETTINGS);
    let lab = workspace(&format!(
        "  android: {{ connect: [{:?}] }}\n",
        phones.first()
    ));
    let mut agent = Agent::ours(&lab);
    agent.begin();
    let lease = agent.acquire(&format!("android/{}", phones.first()));
    agent.call("launchApp", json!({ "lease": lease, "appId": SETTINGS }));
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..LOOKS {
        let begun = Instant::now();
        let answer = agent.call("snapshot", json!({ "lease": lease }));
        ours.push(begun.elapsed().as_secs_f64() * 1e3);
        let begun = Instant::now();
        let text = driver.snapshot();
        bare.push(begun.elapsed().as_secs_f64() * 1e3);
        let seen = answer["content"][0]["text"]
            .as_str()
            .unwrap()
            .lines()
            .count();
        // Its place and its mark stand before it.
        assert_eq!(seen, text.lines().count() + 2, "it is the same screen");
    }
    driver.close();
    let released = agent.call("device_release", json!({ "lease": lease }));
    let run = released["structuredContent"]["run"].as_str().unwrap();
    let runs = agent.folder.join(".packtrain/runs");
    let journal = std::fs::read_to_string(runs.join(run).join("events.ndjson")).unwrap();
    let events = journal
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let looks =
        events.filter(|event| event["event"] == "tool_finished" && event["tool"] == "readScreen");
    let tool: Vec<_> = looks
        .map(|event| event["duration_ms"].as_f64().unwrap())
        .collect();
    assert_eq!(tool.len(), LOOKS);
    drop(agent);
    lab.run(&["daemon", "stop"]).expect(0);
    told(
        "snapshot, against the driver's own",
        &ours,
        &bare,
        MOST_OF_SNAPSHOT,
    );
    told(
        "snapshot, against the tool's own",
        &ours,
        &tool,
        MOST_OF_SNAPSHOT,
    );
}

/// The example's pages in a workspace, and where they are.
fn pages() -> (Lab, String) {
    let lab = Lab::new(env!("CARGO_BIN_EXE_packtrain-under-test"));
    // Agents open files of the project only.
    for file in std::fs::read_dir(repository().join("examples/shop/web")).unwrap() {
        let file = file.unwrap();
        let text = std::fs::read_to_string(file.path()).unwrap();
        lab.write(
            &format!("web/{}", file.file_name().to_str().unwrap()),
            &text,
        );
    }
    let folder = lab.folder().canonicalize().unwrap();
    let base = format!("file://{}/web/", folder.display());
    let slot = format!("desktop: {{ viewport: 1280x800, baseUrl: {base:?} }}");
    lab.write("packtrain.yaml", &format!("devices:\n  web:\n    {slot}\n"));
    (lab, base)
}

/// The published server for browsers.
fn browsers() -> Agent {
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
    Agent::published("@playwright/mcp/cli.js", &flags)
}

fn text() {
    let (lab, base) = pages();
    let url = format!("{base}products.html");
    let mut agent = Agent::ours(&lab);
    agent.begin();
    let lease = agent.acquire("web/desktop");
    let opened = agent.call("web_navigate", json!({ "lease": lease, "url": url }));
    assert!(opened["isError"] == false, "{opened}");
    let ours = agent.call("snapshot", json!({ "lease": lease }));
    agent.call("device_release", json!({ "lease": lease }));
    drop(agent);
    lab.run(&["daemon", "stop"]).expect(0);
    let mut theirs = browsers();
    theirs.begin();
    let navigated = theirs.call("browser_navigate", json!({ "url": url }));
    assert!(navigated["isError"] != true, "{navigated}");
    let theirs = theirs.call("browser_snapshot", json!({}));
    let length = |answer: &Value| answer["content"][0]["text"].as_str().unwrap().len() as f64;
    told(
        "characters of the list's snapshot",
        &[length(&ours)],
        &[length(&theirs)],
        MOST_OF_TEXT,
    );
}

fn hands() {
    let (lab, base) = pages();
    let url = format!("{base}index.html");
    let mut ours = Agent::ours(&lab);
    ours.begin();
    let list = ours.ask("tools/list", json!({}))["tools"].to_string().len();
    let lease = ours.acquire("web/desktop");
    let mut theirs = browsers();
    theirs.begin();
    let mut times = [const { Vec::new() }; 5];
    let [single, batch, published, looks, their_looks] = &mut times;
    for round in 0..=ROUNDS {
        let mut hands = hands::Hands::of(&mut ours);
        let (one, several) = (
            hands.ours(&lease, &url, false),
            hands.ours(&lease, &url, true),
        );
        let other = hands::Hands::of(&mut theirs).theirs(&url);
        // Browsers start in the first.
        if round > 0 {
            single.push(one);
            batch.push(several);
            published.push(other);
        }
    }
    ours.call(
        "web_navigate",
        json!({ "lease": lease, "url": format!("{base}products.html") }),
    );
    theirs.call(
        "browser_navigate",
        json!({ "url": format!("{base}products.html") }),
    );
    let timed = |agent: &mut Agent, tool: &str, arguments: Value| {
        let begun = Instant::now();
        agent.call(tool, arguments);
        begun.elapsed().as_secs_f64() * 1e3
    };
    for _ in 0..LOOKS {
        looks.push(timed(&mut ours, "snapshot", json!({ "lease": lease })));
        their_looks.push(timed(&mut theirs, "browser_snapshot", json!({})));
    }
    let mut hands = hands::Hands::of(&mut ours);
    hands.ours(&lease, &url, true);
    println!(
        "  the shop on a page: {} calls, {} characters, and {list} of tools/list",
        hands.calls, hands.characters
    );
    drop(ours);
    lab.run(&["daemon", "stop"]).expect(0);
    told(
        "buying, one action a call",
        single,
        published,
        MOST_OF_SINGLE,
    );
    told("buying, several a call", batch, published, MOST_OF_BATCH);
    told("one look", looks, their_looks, MOST_OF_LOOK);
}

/// Medians of both and their ratio, with where eight of ten ratios of neighbours are.
fn told(what: &str, ours: &[f64], theirs: &[f64], most: f64) {
    let ratios: Vec<_> = ours
        .iter()
        .zip(theirs)
        .map(|(ours, theirs)| ours / theirs)
        .collect();
    let (ours, theirs) = (quantile(ours, 0.5), quantile(theirs, 0.5));
    let ratio = ours / theirs;
    let verdict = if ratio <= most { "met" } else { "MISSED" };
    println!(
        "  {what:36} {ours:9.1} / {theirs:9.1} = {ratio:6.3} ({:.3} to {:.3}; at most {most:.2}: {verdict})",
        quantile(&ratios, 0.1),
        quantile(&ratios, 0.9),
    );
}

fn quantile(all: &[f64], part: f64) -> f64 {
    let mut all = all.to_vec();
    all.sort_by(f64::total_cmp);
    all[((all.len() - 1) as f64 * part).round() as usize]
}
