//! Phones that are plugged into a host's computer, and pulled out of it, while it serves.

use packtrain_tests::until;

use super::farm;
use crate::adb_server::AdbServer;

#[test]
fn a_host_takes_phones_that_come_and_loses_sessions_only_on_those_that_go() {
    let farm = farm();
    let _broker = farm.broker();
    let [first, second] = [farm.phones(1, None), farm.phones(1, None)];
    let address = second.addresses[0].as_str();
    let server = AdbServer::new(farm.lab().folder());
    let adb = server.address;
    let config = format!("devices: {{ android: {{ adb: \"{adb}\" }} }}\n");
    farm.lab().write("hosts/h1/packtrain.yaml", &config);
    let host = farm.host_with("h1", &["-d", "android"]);
    host.until_said("android is not connected yet; offered once it is");
    server.told(&["connect", &first.addresses[0]]);
    farm.until_devices(1);
    let until_gone = || {
        until(|| {
            let devices = farm.ask(&["farm", "devices"]);
            devices["devices"].as_array().unwrap().len() == 1
        });
    };

    server.told(&["connect", address]);
    host.until_said(&format!("android/{address} is here and offered"));
    farm.until_devices(2);
    server.told(&["disconnect", address]);
    host.until_said(&format!("android/{address} is gone"));
    until_gone();
    server.told(&["connect", address]);
    farm.until_devices(2);

    // A host takes as many sessions as it has phones now.
    let trail = farm.trail("marked", 8, 5_000);
    let run = farm.run(&[&trail, "--on", "android", "--count", "2", "--retries", "0"]);
    run.until_told("session_started", 2);
    let devices = farm.ask(&["farm", "devices"]);
    for device in devices["devices"].as_array().unwrap() {
        assert_eq!(device["busy"]["run"], run.id().as_str(), "{device}");
        assert!(device["busy"]["since"].is_string() && device["busy"]["owner"].is_string());
    }
    until(|| {
        let arrived = second.arrived();
        arrived
            .iter()
            .any(|arrived| arrived.what.contains("packtrain-step"))
    });
    second.process.kill();
    // It is lost, and waits for another device.
    run.until_told("session_will_retry", 1);
    let events = run.events();
    let lost = |event: &&serde_json::Value| event["event"] == "session_will_retry";
    let lost = events.iter().find(lost).unwrap();
    assert_eq!(lost["outcome"], "infrastructure", "{lost}");
    assert_eq!(lost["blame"], "device", "{lost}");
    until_gone();
    assert_eq!(run.told("session_finished"), 0);
    run.process.signal("-INT");
    run.expect(2);
    let devices = farm.ask(&["farm", "devices"]);
    assert_eq!(
        devices["devices"][0]["busy"],
        serde_json::Value::Null,
        "{devices}"
    );
}
