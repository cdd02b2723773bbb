//! One trail on an Android phone, an iPhone and browsers at once; phones for anybody's client.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use packtrain_testing::has;
use packtrain_tests::{Lab, failed_steps};
use serde_json::Value;

use crate::lab;
use crate::shop::{shop, trail};

const FOUR: &str = "virtual:android,virtual:ios,web/d0,web/d1";
const NAMES: [&str; 4] = ["android/virtual-1", "ios/virtual-1", "web/d0", "web/d1"];

/// The shop with two browsers and phones that do not dawdle.
fn bench() -> Lab {
    let shop = shop(2);
    let configuration = shop.read("packtrain.yaml");
    shop.write(
        "packtrain.yaml",
        &format!("{configuration}  virtual: {{ profile: fast, seed: 7 }}\n"),
    );
    shop
}

/// The tools that each device was given in a step.
fn tools(events: &[Value], step: u64) -> BTreeMap<String, BTreeSet<String>> {
    let mut devices = BTreeMap::new();
    let mut tools: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for event in events {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("session_started") => {
                let id = event["device"]["id"].as_str().unwrap();
                devices.insert(text("session"), id.to_owned());
            }
            Some("tool_started") if event["step"] == step => {
                let called = format!("{} {}", text("tool"), event["arguments"]);
                let device = devices[&text("session")].clone();
                tools.entry(device).or_default().insert(called);
            }
            _ => {}
        }
    }
    tools
}

#[test]
fn one_trail_passes_on_an_android_phone_an_iphone_and_two_browsers_at_once() {
    let bench = bench();
    bench.run(&["run", "trails", "-d", FOUR]).expect(0);
    let passed = NAMES.map(|name| (name.to_owned(), "passed".to_owned()));
    assert_eq!(bench.outcomes(), passed.into());

    // Every device is given the recording of its own kind.
    let tools = tools(&bench.events(), 2);
    for (name, tool, words) in [
        (NAMES[0], "tapOnElementBySelector", "androidAccessibility"),
        (NAMES[1], "tapOnElementBySelector", "iosMaestro"),
        (NAMES[2], "web_click", "ariaRole"),
        (NAMES[3], "web_click", "ariaRole"),
    ] {
        let called: Vec<_> = tools[name].iter().collect();
        assert!(
            matches!(&called[..], [one] if one.starts_with(tool) && one.contains(words)),
            "{name}: {called:?}"
        );
    }

    let folder = bench.run_folder();
    for report in ["report.html", "junit.xml", "report.json"] {
        let written = bench.read(folder.join(report));
        for name in NAMES {
            assert!(written.contains(name), "{report} tells of {name}");
        }
    }
}

#[test]
fn the_example_passes_on_every_model_of_iphone_and_twice_on_each() {
    let bench = bench();
    bench.write(
        "trails/again.trail.yaml",
        &trail().replace("id: shop/buy", "id: shop/again"),
    );
    bench
        .run(&["run", "trails", "-d", "virtual:ios:3"])
        .expect(0);
    let events = bench.events();
    let passed = events
        .iter()
        .filter(|event| event["event"] == "session_finished" && event["outcome"] == "passed");
    assert_eq!(passed.count(), 6);
    // They are known for what they are before they are connected.
    let models = ["iPhone 14 Pro", "iPhone 13", "iPhone SE"];
    let sizes = [[393.0, 852.0], [390.0, 844.0], [375.0, 667.0]];
    for (device, (model, size)) in (0..3)
        .map(|at| &events[0]["devices"][at])
        .zip(models.iter().zip(sizes))
    {
        let screen = ["width", "height"].map(|side| device["screen"][side].as_f64().unwrap());
        assert_eq!((device["model"].as_str(), screen), (Some(*model), size));
    }
}

#[test]
fn one_wrong_text_fails_on_exactly_that_step_on_phones_and_browsers_alike() {
    let bench = bench();
    let wrong = trail()
        .replace("Total $15.30", "Total $15.31")
        .replace(r"Total \$15\.30", r"Total \$15\.31");
    bench.write("trails/buy.trail.yaml", &wrong);
    let ended = bench.run(&["run", "trails", "-d", FOUR]).expect(1);
    let failed = NAMES.map(|name| (name.to_owned(), vec![19]));
    assert_eq!(failed_steps(&bench.events()), failed.into());
    has(&ended.stderr, &["15.31", "All 4 failed: "]);
}

#[test]
fn phones_that_are_kept_up_answer_anybody_and_tell_at_the_end_what_they_lacked() {
    let lab = lab();
    let up = ["virtual", "up", "--android", "0", "--ios", "1"];
    let mut program = lab.start(&[&up[..], &["--format", "json"]].concat());
    let mut out = BufReader::new(program.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(told["ios"][0]["name"], "ios/virtual-1");

    let address = told["ios"][0]["wda"].as_str().unwrap();
    let mut client = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
    let ask = |path: &str| format!("GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n");
    client.write_all(ask("/moon").as_bytes()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("unknown command"), "{answer}");

    let pid = program.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let ended = program.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    let said = String::from_utf8(ended.stderr).unwrap();
    let lacked = "ios/virtual-1 does not support a request made 1×: \"GET /moon\"";
    assert!(said.contains(lacked), "{said}");
}
