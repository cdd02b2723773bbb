//! Tool sources in the daemon: their tools are tools of every agent, and what they call back reaches
//! the device of whoever called them.

use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::repository;
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
        assert!(
            available.contains("it has an argument `lease` of its own"),
            "{available}"
        );
        assert!(available.contains("one of Packtrain's own"), "{available}");
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
