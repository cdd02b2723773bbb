//! Tools that call tools: of their own source, of another one, built-in ones, deep and at once.

use serde_json::Value;

use super::{Raw, answer, calls, has, run, said, shows, trail, typed, workspace};

/// Calls itself, or its counterpart in another source, until it is `deep` enough; answers what the
/// innermost saw.
fn ping(name: &str, next: &str) -> String {
    format!(
        "[{{ name: '{name}', inputSchema: {{ type: 'object', properties: {{ more: {{ type: 'integer' }} }} }},
           async call({{ args, on }}) {{
             const more = args.more ?? 0;
             if (more === 0) return 'bottom';
             const result = await call(on, '{next}', {{ more: more - 1 }});
             return result.success ? result.text_content : `refused: ${{result.error_message}}`;
           }} }}]"
    )
}

#[test]
fn sixteen_deep_is_served_and_the_seventeenth_is_refused() {
    let (one, two) = (ping("one_ping", "two_pong"), ping("two_pong", "one_ping"));
    let lab = workspace(&[Raw::new("one", &one), Raw::new("two", &two)]);
    for (more, text) in [
        (16, "bottom"),
        (
            17,
            "refused: Callback reentrance depth 16 reached max 16; refusing further dispatch.",
        ),
    ] {
        trail(&lab, "{}", &[&format!("one_ping: {{ more: {more} }}")]);
        run(&lab, "virtual:android", 0);
        let pings: Vec<_> = calls(&lab).into_iter().skip(2).collect();
        // 0 is the trail's own call.
        assert_eq!(pings.len(), 17, "{pings:?}");
        assert_eq!(pings[0], (0, "one_ping".to_owned()));
        assert_eq!(pings[1], (1, "two_pong".to_owned()));
        assert_eq!(pings[16], (16, "one_ping".to_owned()));
        let events = lab.events();
        let last = events
            .iter()
            .rfind(|event| event["event"] == "tool_finished")
            .unwrap();
        assert_eq!(last["answer"], text, "{last}");
    }
}

#[test]
fn a_tool_calls_one_of_its_own_process_while_it_waits() {
    let itself = ping("one_ping", "one_ping");
    let lab = workspace(&[Raw::new("one", &itself)]);
    trail(&lab, "{}", &["one_ping: { more: 3 }"]);
    run(&lab, "virtual:android", 0);
    let depths: Vec<_> = calls(&lab)
        .into_iter()
        .skip(2)
        .map(|(depth, _)| depth)
        .collect();
    assert_eq!(depths, [0, 1, 2, 3]);
}

#[test]
fn callbacks_at_once_are_served_one_after_another_and_each_gets_its_own_answer() {
    let tools = r#"[
      { name: 'acme_burst', async call({ on }) {
          const texts = Array.from({ length: 12 }, (_, n) => `${n};`);
          await Promise.all(texts.map((text) => must(on, 'inputText', { text, hideKeyboardAfter: false })));
          const by = on.device.platform === 'android' ? { androidAccessibility: { textRegex: '<.*>' } } : { iosMaestro: { textRegex: '<.*>' } };
          const [shown] = await must(on, 'findMatches', { selector: by });
          return shown.matchedText;
      } },
      { name: 'acme_alone', inputSchema: { type: 'object', properties: { n: { type: 'integer' } } }, async call({ args, on }) {
          globalThis.now = (globalThis.now ?? 0) + 1;
          globalThis.most = Math.max(globalThis.most ?? 0, now);
          await must(on, 'dumpMemory');
          now -= 1;
          return `${args.n}`;
      } },
      { name: 'acme_many', async call({ on }) {
          const all = Array.from({ length: 12 }, (_, n) => must(on, 'acme_alone', { n }));
          return JSON.stringify({ all: await Promise.all(all), most });
      } },
    ]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    trail(&lab, "{}", &["acme_burst: {}", "acme_many: {}"]);
    run(&lab, "virtual:android", 0);
    let events = lab.events();
    let answer = |tool: &str| {
        let finished = |event: &&Value| event["event"] == "tool_finished" && event["tool"] == tool;
        let event = events.iter().find(finished).unwrap();
        event["answer"].as_str().unwrap().to_owned()
    };
    // The device shows all of it, in the order of the calls.
    let mut did = typed(&lab);
    assert_eq!(answer("acme_burst"), format!("<{}>", did.concat()));
    did.sort();
    did.dedup();
    assert_eq!(did.len(), 12);
    let many: Value = serde_json::from_str(&answer("acme_many")).unwrap();
    let own: Vec<String> = (0..12).map(|n: u32| n.to_string()).collect();
    assert_eq!(many["all"], serde_json::json!(own));
    assert_eq!(many["most"], 1, "one at a time");
    // None began before the one before it had ended.
    let inner: Vec<_> = (events.iter())
        .filter(|event| event["depth"] == 1)
        .filter_map(|event| event["event"].as_str())
        .collect();
    assert!(
        inner
            .chunks(2)
            .all(|both| both == ["tool_started", "tool_finished"]),
        "{inner:?}"
    );
}

#[test]
fn what_several_sources_type_at_once_arrives_whole() {
    let one = r#"[{ name: 'one_all', async call({ on }) {
        await must(on, 'inputText', { text: 'a' });
        await must(on, 'two_b');
        await must(on, 'inputText', { text: 'd' });
        return 'done';
    } }]"#;
    let two = r#"[{ name: 'two_b', async call({ on }) { await must(on, 'inputText', { text: 'b' }); return await must(on, 'three_c'); } }]"#;
    let three = r#"[{ name: 'three_c', async call({ on }) { await must(on, 'inputText', { text: 'c' }); return 'c'; } }]"#;
    let sources = [
        Raw::new("one", one),
        Raw::new("two", two),
        Raw::new("three", three),
    ];
    let lab = workspace(&sources);
    trail(&lab, "{}", &["one_all: {}", &shows("abcd")]);
    run(&lab, "virtual:android,virtual:ios", 0);
}

#[test]
fn commands_of_this_computer_are_for_sources_that_may() {
    let tools = r#"[{ name: 'acme_exec', async call({ on }) {
        const seen = [await call(on, 'exec', { argv: ['touch', 'made'] }), await call(on, 'runCommand', { command: 'touch made' })];
        return JSON.stringify(seen);
    } }]"#;
    let lab = workspace(&[Raw::new("acme", tools)]);
    for result in answer(&lab, "acme_exec").as_array().unwrap() {
        assert_eq!(result["success"], false, "{result}");
        has(
            result["error_message"].as_str().unwrap(),
            &["runs commands of this computer", "not allowed"],
        );
    }
    assert!(!lab.folder().join("made").exists());

    let keys = ", hostCommands: true";
    let lab = workspace(&[Raw {
        name: "acme",
        tools,
        keys,
    }]);
    for result in answer(&lab, "acme_exec").as_array().unwrap() {
        assert_eq!(result["success"], true, "{result}");
    }
    assert!(lab.folder().join("made").is_file());
}

#[test]
fn a_source_that_may_not_run_commands_may_not_have_another_do_it() {
    let may = r#"[{ name: 'may_touch', async call({ on }) { await must(on, 'exec', { argv: ['touch', 'made'] }); return 'done'; } }]"#;
    let not = r#"[{ name: 'not_touch', async call({ on }) {
      const { error_message } = await call(on, 'may_touch');
      return error_message;
    } }]"#;
    let keys = ", hostCommands: true";
    let lab = workspace(&[
        Raw {
            name: "may",
            tools: may,
            keys,
        },
        Raw::new("not", not),
    ]);
    has(
        &said(&lab, "not_touch"),
        &["not allowed for remote callers"],
    );
    assert!(!lab.folder().join("made").is_file());
    assert_eq!(said(&lab, "may_touch"), "done");
    assert!(lab.folder().join("made").is_file());
}

#[test]
fn a_callback_into_a_source_that_is_full_is_served() {
    let tools = r#"[
      { name: 'acme_outer', call: ({ on }) => must(on, 'acme_inner') },
      { name: 'acme_inner', call: async () => 'inner' },
    ]"#;
    let keys = ", concurrency: 1";
    let name = "acme";
    let lab = workspace(&[Raw { name, tools, keys }]);
    assert_eq!(said(&lab, "acme_outer"), "inner");
}
