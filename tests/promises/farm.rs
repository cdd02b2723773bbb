//! The farm: whatever dies, no verdict is lost and none is there twice.

mod audit;
mod cluster;
mod kills;
mod plugging;
mod proxy;
mod scene;
mod told;
mod unreachable;
mod waiting;
mod witness;
mod zombies;

use packtrain_farm::audit::{self as judge, Arrival, Finding, attempts, devices, journal, marked};
use packtrain_model::Entry;
use packtrain_tests::farm_lab::{FarmLab, FarmRun, Phones};
use serde_json::Value;

/// A farm with one server.
fn farm() -> FarmLab {
    FarmLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"))
}

/// Tells a figure, which `--nocapture` shows.
#[expect(clippy::print_stdout, reason = "a test tells what it measured")]
fn tell(figure: &str) {
    println!("{figure}");
}

/// A journal's lines as the program knows them.
fn entries(events: &[Value]) -> Vec<Entry> {
    let parse = |event: &Value| serde_json::from_value(event.clone());
    events.iter().map(|event| parse(event).unwrap()).collect()
}

/// The marked commands that reached the phones of a host, by the names that runs have for them.
fn arrivals(host: &str, phones: &Phones) -> Vec<Arrival> {
    let arrived = phones.arrived();
    let commands = arrived.iter().filter(|arrived| arrived.kind == "command");
    commands
        .filter_map(|arrived| {
            let at = host_suffix(host);
            Some(Arrival {
                device: format!("android/{}{at}", arrived.address).parse().unwrap(),
                at: chrono::DateTime::from_timestamp_micros(arrived.at_us)?,
                step: marked(&arrived.what)?,
            })
        })
        .collect()
}

fn host_suffix(host: &str) -> String {
    if host.is_empty() {
        String::new()
    } else {
        format!("@{host}")
    }
}

/// What is wrong with these runs and with what reached the phones of these hosts meanwhile.
fn findings(runs: &[&FarmRun], hosts: &[(&str, &Phones)]) -> Vec<Finding> {
    let journals: Vec<Vec<Entry>> = runs.iter().map(|run| entries(&run.events())).collect();
    let mut findings: Vec<Finding> = journals
        .iter()
        .flat_map(|entries| journal(entries))
        .collect();
    let all: Vec<judge::Attempt> = journals
        .iter()
        .flat_map(|entries| attempts(entries))
        .collect();
    let arrived: Vec<Arrival> = hosts
        .iter()
        .flat_map(|(host, phones)| arrivals(host, phones))
        .collect();
    assert!(!arrived.is_empty(), "the phones were never asked anything");
    findings.extend(devices(&all, &arrived));
    findings
}
