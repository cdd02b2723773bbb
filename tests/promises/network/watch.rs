//! Devices that come and go, as `packtrain devices --watch` tells of them.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use packtrain_testing::has;
use packtrain_tests::interrupt;
use serde_json::Value;

use super::Bench;
use crate::lab;

/// The program, watching.
struct Watching {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, said }
    }

    /// The next line that is so.
    fn line(&mut self, is: impl Fn(&str) -> bool) -> String {
        let mut said = self.said.by_ref().map(Result::unwrap);
        said.find(|line| is(line)).expect("it goes on")
    }

    /// The next line about a device.
    fn change(&mut self, change: &str, id: &str) -> Value {
        let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        let line = self.line(|line| {
            let told = read(line);
            assert_eq!(told["schema_version"], 1, "{told}");
            told["at"]
                .as_str()
                .unwrap()
                .parse::<chrono::DateTime<chrono::Utc>>()
                .unwrap();
            told["change"] == change && told["id"] == id
        });
        read(&line)
    }

    /// Ctrl-C is how it ends.
    fn end(mut self) {
        interrupt(&self.child);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // It has ended unless the test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_phone_that_is_plugged_in_and_pulled_out_is_told_as_a_line_each() {
    let bench = Bench::new();
    let json = ["devices", "--watch", "--format", "json"];
    // There is no adb server yet: it is found when there is.
    let mut lines = Watching::start(&mut bench.command(&json));
    let connect = ["devices", "connect", bench.address.as_str()];
    let disconnect = ["devices", "disconnect", bench.address.as_str()];
    let device = bench.device();
    for _ in 0..2 {
        bench.run(&connect).expect(0);
        let told = lines.change("appeared", &device);
        assert_eq!(told["device"]["id"], device.as_str());
        assert!(told["device"]["model"].is_string(), "{told}");
        bench.run(&disconnect).expect(0);
        lines.change("vanished", &device);
    }
    lines.end();

    bench.run(&connect).expect(0);
    let mut words = Watching::start(&mut bench.command(&["devices", "--watch"]));
    words.line(|line| line.starts_with(&device));
    bench.run(&disconnect).expect(0);
    let gone = words.line(|line| line.ends_with(&format!("{device} vanished")));
    assert_eq!(gone.split(' ').next().unwrap().len(), "12:00:00".len());
    bench.run(&connect).expect(0);
    words.line(|line| line.contains(&format!("{device} appeared: Pixel")));
    words.end();
}

#[test]
fn a_phone_that_does_not_trust_this_computer_is_told_with_the_reason() {
    let bench = Bench::with_faults(Some(
        "rules: [{ match: { connect: '' }, do: unauthorized }]",
    ));
    bench.run(&["devices", "connect", &bench.address]).expect(2);
    let json = ["devices", "--watch", "--format", "json"];
    let mut lines = Watching::start(&mut bench.command(&json));
    let told = lines.change("unusable", &bench.device());
    assert_eq!(told["unusable"]["state"], "unauthorized");
    has(told["unusable"]["hint"].as_str().unwrap(), &["accept"]);
    bench
        .run(&["devices", "disconnect", &bench.address])
        .expect(0);
    lines.change("vanished", &bench.device());
    lines.end();
}

#[test]
fn iphones_are_watched_where_usbmuxd_says() {
    let lab = lab();
    let up = [
        "virtual",
        "up",
        "--android",
        "0",
        "--ios",
        "1",
        "--format",
        "json",
    ];
    let mut phones = lab.start(&up);
    let mut line = String::new();
    let mut out = BufReader::new(phones.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let shown: Value = serde_json::from_str(&line).unwrap();
    let mut watch = lab.command(&["devices", "--watch", "--format", "json"]);
    watch.env("USBMUXD_SOCKET_ADDRESS", shown["usbmuxd"].as_str().unwrap());
    let mut lines = Watching::start(&mut watch);
    let id = format!("ios/{}", shown["ios"][0]["udid"].as_str().unwrap());
    lines.change("present", &id);
    interrupt(&phones);
    phones.wait().unwrap();
    lines.change("vanished", &id);
    lines.end();
}

#[test]
fn only_the_list_is_watched() {
    let wrong = ["devices", "--watch", "disconnect"];
    let told = lab().run(&wrong).expect(3).stderr;
    assert!(told.contains("--watch"), "{told}");
}
