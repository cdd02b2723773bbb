//! Tool sources in the daemon: their tools are tools of every agent, and what they call back reaches
//! the device of their caller.

use packtrain_testing::has;
use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::{repository, until};
use serde_json::json;

use super::{configured, opens, phone, phones, refused, sees};

/// A lab with phones and a source whose program this is.
fn with_source(count: usize, script: &str) -> AgentLab {
    let source = "mcpServers:\n  - { name: acme, command: [node, acme.mjs], transport: stdio }\n";
    let lab = configured(&(phones(count) + source));
    let raw = repository().join("tests/sources/raw.mjs");
    let opening = format!("import {{ must, serve }} from {raw:?};\n");
    lab.lab().write("acme.mjs", &(opening + script));
    lab
}

const TYPES: &str = "
  const word = { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] };
  serve([
    { name: 'acme_type', inputSchema: word, async call({ args, on }) {
        for (let n = 0; n < 10; n += 1) await must(on, 'inputText', { text: args.word });
        return `typed by ${process.pid}`;
      } },
    { name: 'acme_leases', inputSchema: { type: 'object', properties: { lease: { type: 'string' } } }, call: () => 'no' },
    { name: 'snapshot', call: () => 'not mine to answer' },
    { name: 'acme_exec', async call({ on }) { await must(on, 'exec', { argv: ['touch', 'was-here'] }); return 'ran'; } },
  ]);";

#[test]
fn what_a_source_calls_back_reaches_the_device_of_the_agent_that_called_it() {
    let lab = with_source(6, TYPES);
    let agents = [
        lab.stdio("a"),
        lab.stdio("b"),
        lab.http("c"),
        lab.http("d"),
        lab.requests("e"),
        lab.requests("f"),
    ];
    for agent in &agents {
        assert!(agent.tools().contains(&"acme_type".to_owned()));
    }
    let leases: Vec<_> = (agents.iter().zip(1..))
        .map(|(agent, number)| {
            let lease = agent.acquires(&phone(number));
            opens(agent, &lease);
            lease
        })
        .collect();
    let called: Vec<_> = (agents.iter().zip(&leases).zip(1..))
        .map(|((agent, lease), number)| {
            let word = json!({ "lease": lease, "word": format!("w{number};") });
            agent.start("acme_type", word)
        })
        .collect();
    let said: Vec<_> = called.into_iter().map(|call| call.called().text).collect();
    assert!(
        said.iter().all(|one| *one == said[0]),
        "one process serves all: {said:?}"
    );
    for ((agent, lease), number) in agents.iter().zip(&leases).zip(1..) {
        let seen = sees(agent, lease);
        let typed = format!("<{}>", format!("w{number};").repeat(10));
        assert!(seen.contains(&typed), "{seen}");
    }
}

#[test]
fn what_a_source_may_not_offer_is_not_offered_and_told_why() {
    let lab = with_source(1, TYPES);
    for agent in [lab.stdio("a"), lab.http("b"), lab.requests("c")] {
        let tools = agent.tools();
        assert!(!tools.contains(&"acme_leases".to_owned()));
        assert_eq!(tools.iter().filter(|tool| *tool == "snapshot").count(), 1);
        let available = agent
            .does("list-available-tools", json!({}))
            .data
            .to_string();
        has(
            &available,
            &[
                "it already has an argument `lease`",
                "one of Packtrain's own",
            ],
        );
        let lease = agent.acquires(&phone(1));
        let told = refused(agent.call("acme_leases", json!({ "lease": lease })));
        assert!(told.contains("is not offered"), "{told}");
        assert!(!sees(&agent, &lease).contains("not mine to answer"));
        // A source runs no commands for an agent either.
        let told = refused(agent.call("acme_exec", json!({ "lease": lease })));
        assert!(!told.is_empty());
        agent.does("device_release", json!({ "lease": lease }));
    }
    assert!(!lab.lab().folder().join("was-here").exists());
}

const GROWS: &str = "
  const tools = [{ name: 'acme_grow', call: () => {
    tools.push({ name: `acme_new_${tools.length}`, call: () => 'new' });
    const told = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
    process.stdout.write(`${JSON.stringify(told)}\\n`);
    return 'grown';
  } }];
  serve(tools);";

#[test]
fn agents_are_told_when_a_source_has_other_tools() {
    let lab = with_source(1, GROWS);
    let (grows, session) = (lab.stdio("grows"), lab.http("session"));
    let request = lab.requests("request");
    session.listen();
    let asked = json!({ "notifications": { "toolsListChanged": true } });
    let _listening = request.send("subscriptions/listen", asked);
    request.is_told("notifications/subscriptions/acknowledged");
    let lease = grows.acquires(&phone(1));
    assert!(!grows.tools().contains(&"acme_new_1".to_owned()));
    grows.does("acme_grow", json!({ "lease": lease }));
    for agent in [&grows, &session, &request] {
        // The first list of a daemon's tools is a change too.
        while !agent.tools().contains(&"acme_new_1".to_owned()) {
            agent.is_told("notifications/tools/list_changed");
        }
    }
    grows.does("acme_new_1", json!({ "lease": lease }));
}

const COUNTS: &str = "
  import { appendFileSync } from 'node:fs';
  appendFileSync('starts.log', 'started ');
  serve([{ name: 'acme_one', call: () => 'one' }]);";

#[test]
fn however_often_its_tools_are_listed_a_source_is_started_once() {
    let lab = with_source(2, COUNTS);
    for agent in [lab.stdio("a"), lab.http("b"), lab.requests("c")] {
        for _ in 0..2 {
            assert!(agent.tools().contains(&"acme_one".to_owned()));
        }
    }
    assert_eq!(lab.lab().read("starts.log"), "started ");
}

/// Its tools have the words in their names that stand in files when it starts.
const READS: &str = "
  import { readFileSync } from 'node:fs';
  const names = ['greeting.txt', 'data/a/b/c/d/e/f/g/selectors.yaml', '.env', '.hidden/noending', 'linked/words'];
  serve(names.map((name) => ({ name: `acme_${readFileSync(name, 'utf8')}`, call: () => 'read' })));";

#[test]
fn what_a_source_has_read_is_what_the_disk_says_now_whatever_it_is_called() {
    let lab = with_source(1, READS);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), lab.lab().folder().join("linked")).unwrap();
    let files = [
        "greeting.txt",
        "data/a/b/c/d/e/f/g/selectors.yaml",
        ".env",
        ".hidden/noending",
        "linked/words",
    ];
    for (number, file) in files.iter().enumerate() {
        lab.lab().write(file, &format!("old{number}"));
    }
    let agent = lab.stdio("first");
    for (number, file) in files.iter().enumerate() {
        assert!(agent.tools().contains(&format!("acme_old{number}")));
        let path = lab.lab().folder().join(file);
        let before = path.metadata().unwrap().modified().unwrap();
        // As long as before, and as old as before.
        lab.lab().write(file, &format!("new{number}"));
        let written = std::fs::File::open(&path).unwrap();
        written.set_modified(before).unwrap();
        let tools = agent.tools();
        assert!(
            tools.contains(&format!("acme_new{number}")),
            "{file}: {tools:?}"
        );
    }
}

/// Writes beside its program when it starts, a file of its own and one that was there, and in each call.
const WRITES: &str = "
  import { appendFileSync, writeFileSync } from 'node:fs';
  appendFileSync('starts.txt', 's');
  writeFileSync('state.json', `${process.pid}`);
  serve([{ name: 'acme_one', inputSchema: { type: 'object', properties: {} }, call() {
    appendFileSync('calls.txt', 'c');
    return 'one';
  } }]);";

#[test]
fn a_source_that_writes_beside_its_program_is_not_started_in_a_loop() {
    let lab = with_source(1, WRITES);
    lab.lab()
        .write("state.json", "none")
        .write("calls.txt", "c");
    let agent = lab.stdio("first");
    let starts = || lab.lab().read("starts.txt").len();
    let uses_it = || {
        let lease = agent.acquires(&phone(1));
        agent.does("acme_one", json!({ "lease": lease }));
        agent.does("device_release", json!({ "lease": lease }));
        agent.tools();
    };
    for _ in 0..4 {
        uses_it();
    }
    let before = starts();
    assert!(before <= 4, "{before}");
    for _ in 0..4 {
        uses_it();
    }
    assert_eq!(starts(), before, "what it writes is known");
    // What it has read is not taken for its own.
    lab.lab()
        .write("acme.mjs", &format!("{}\n", lab.lab().read("acme.mjs")));
    agent.tools();
    assert_eq!(starts(), before + 1);
}

/// Has in its list what stood in files when it started. Each call writes a log and a file elsewhere, and
/// goes on until there is another one.
const LOGS: &str = "
  import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
  const soon = () => new Promise((done) => setTimeout(done, 5));
  const place = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
  const files = ['greeting.txt', '.hidden/noending', 'linked/words.yaml'];
  const tools = files.map((file) => ({ name: `acme_${readFileSync(file, 'utf8')}`, call: () => 'read' }));
  serve([...tools, { name: 'acme_wait', inputSchema: place, async call({ args }) {
    appendFileSync('calls.log', 'c');
    writeFileSync(`${args.place}/begun`, '');
    while (!existsSync(`${args.place}/edited`)) await soon();
    return 'waited';
  } }]);";

#[test]
fn what_is_edited_during_calls_and_between_is_seen_each_time() {
    let lab = with_source(1, LOGS);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), lab.lab().folder().join("linked")).unwrap();
    let files = ["greeting.txt", ".hidden/noending", "linked/words.yaml"];
    for (number, file) in files.iter().enumerate() {
        lab.lab().write(file, &format!("old{number}"));
    }
    let agent = lab.stdio("first");
    let lease = agent.acquires(&phone(1));
    for (number, file) in files.iter().enumerate() {
        for round in 0..4 {
            let place = tempfile::tempdir().unwrap();
            let call = json!({ "lease": lease, "place": place.path() });
            let call = agent.start("acme_wait", call);
            until(|| place.path().join("begun").exists());
            lab.lab().write(file, &format!("r{round}n{number}"));
            std::fs::write(place.path().join("edited"), "").unwrap();
            assert!(!call.called().is_error);
            let tools = agent.tools();
            let seen = tools.contains(&format!("acme_r{round}n{number}"));
            assert!(seen, "{file}, round {round}: {tools:?}");
            lab.lab().write(file, &format!("after{round}n{number}"));
            let seen = agent
                .tools()
                .contains(&format!("acme_after{round}n{number}"));
            assert!(seen, "{file}, after the list of round {round}");
        }
    }
}

/// Below a trailmap: a server of its own, with one tool.
fn trailmap_server(tool: &str) -> String {
    let raw = repository().join("tests/sources/raw.mjs");
    let like_one = "// What tells that it is one: new StdioServerTransport(";
    format!(
        "{like_one}\nimport {{ serve }} from {raw:?};\nserve([{{ name: '{tool}', call: () => 'one' }}]);\n"
    )
}

#[test]
fn an_edited_tool_of_a_trailmap_is_seen_beside_an_agent_and_another_configuration_shuts_out() {
    let lab = configured(&phones(1));
    let map = "trails/config/trailmaps/shop";
    let tool = format!("{map}/tools/server.mjs");
    let app = |id: &str| format!("target: {{ platforms: {{ android: {{ app_ids: [{id}] }} }} }}\n");
    (lab.lab())
        .write("trails/config/trailblaze.yaml", "targets: [shop]\n")
        .write(&format!("{map}/trailmap.yaml"), &app("com.example.shop"))
        .write(&tool, &trailmap_server("shop_one"));
    let agent = lab.stdio("first");
    assert!(agent.tools().contains(&"shop_one".to_owned()));
    lab.lab().write(&tool, &trailmap_server("shop_two"));
    let second = lab.stdio("second");
    for agent in [&agent, &second] {
        assert!(agent.tools().contains(&"shop_two".to_owned()));
    }
    lab.lab()
        .write(&format!("{map}/trailmap.yaml"), &app("com.example.other"));
    let told = lab.run(&["mcp"]).expect(2).stderr;
    assert!(told.contains("the configuration has changed"), "{told}");
}
