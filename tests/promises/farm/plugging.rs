//! Phones that are plugged into a host's computer, and pulled out of it, while it serves.

use std::process::Command;

use packtrain_tests::until;

use super::farm;
use crate::adb_server::AdbServer;

impl AdbServer {
    fn told(&self, words: &[&str]) {
        let port = self.address.port().to_string();
        let told = Command::new("adb")
            .envs(self.environment.iter().cloned())
            .args([&["-P", &port], words].concat())
            .output();
        assert!(told.unwrap().status.success(), "{words:?}");
    }
}

#[test]
fn a_host_takes_phones_that_come_and_loses_sessions_only_on_those_that_go() {
    let farm = farm();
    let _broker = farm.broker();
    let phones = farm.phones(2, None);
    let [first, second] = [0, 1].map(|index: usize| phones.addresses[index].as_str());
    let server = AdbServer::new(farm.lab().folder());
    server.told(&["connect", first]);
    let config = format!(
        "devices: {{ android: {{ adb: \"{}\" }} }}\n",
        server.address
    );
    farm.lab().write("hosts/h1/packtrain.yaml", &config);
    let host = farm.host_with("h1", &["-d", "android"]);
    farm.until_devices(1);

    server.told(&["connect", second]);
    host.until_said(&format!("android/{second} is here and offered"));
    farm.until_devices(2);
    // A host takes as many sessions as it has phones now.
    let trail = farm.trail("marked", 9, 5_000);
    let words = [&trail, "--on", "android", "--count", "2", "--retries", "0"];
    let run = farm.run(&words.map(|word: &str| word));
    run.until_told("tool_started", 2);
    until(|| run.told("session_started") == 2);

    server.told(&["disconnect", second]);
    run.until_told("session_finished", 1);
    let events = run.events();
    let lost = events
        .iter()
        .find(|event| event["event"] == "session_finished");
    let lost = lost.unwrap();
    assert_eq!(lost["outcome"], "infrastructure_error", "{lost}");
    assert_eq!(lost["blame"], "device", "{lost}");
    host.until_said(&format!("android/{second} is gone"));
    until(|| {
        let devices = farm.ask(&["farm", "devices"]);
        devices["devices"].as_array().unwrap().len() == 1
    });

    server.told(&["connect", second]);
    farm.until_devices(2);
    run.process.signal("-INT");
    run.expect(2);
}
