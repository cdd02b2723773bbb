use packtrain_config::McpServer;
use packtrain_drivers::{DeviceId, DeviceInfo, Platform, Size};

use super::*;
use crate::settings::{Launch, LaunchProgram};

/// A machine whose processes are numbers.
struct Machine(SourceLifecycle<u32>);

impl Machine {
    fn new(replicas: u32, max: u32) -> Self {
        let mut server = McpServer {
            replicas,
            ..McpServer::default()
        };
        server.restart.max = max;
        let launch = Launch {
            program: LaunchProgram::Command(String::new()),
            args: Vec::new(),
            env: BTreeMap::new(),
            without: Vec::new(),
            folder: None,
        };
        let launch = Some(launch);
        let settings = SourceSettings { server, launch };
        Self(SourceLifecycle::new(&settings, Vec::new()))
    }

    /// What it says is to be done, in short.
    fn handle(&mut self, event: Event<u32>) -> Vec<String> {
        let effects = self.0.handle(event, Instant::now());
        let shown = effects.into_iter().map(|effect| match effect {
            Effect::Start(start) => format!("start {}", start.slot.0),
            Effect::Stop(process) => format!("stop {process}"),
            Effect::Replace { running, again } => {
                let again = again.map(|(slot, wait)| (slot.0, wait.as_millis()));
                format!("replace {running:?}, again {again:?}")
            }
            Effect::List(process, _) => format!("list {process}"),
            Effect::Tell(told, _) => format!("tell {}", told.is_ok()),
        });
        shown.collect()
    }

    fn wanted(&mut self, by: Option<&str>) -> Vec<String> {
        self.handle(Event::Wanted(ScopeKey::Shared, by.map(device)))
    }

    fn started(&mut self, slot: u64, process: u32) -> Vec<String> {
        self.handle(Event::Started(
            SlotId(slot),
            Ok((process, Ok(Listing::default()))),
        ))
    }

    fn failed(&mut self, slot: u64) -> Vec<String> {
        self.handle(Event::Started(SlotId(slot), Err(died())))
    }

    fn lost(&mut self, slot: u64) -> Vec<String> {
        self.handle(Event::Lost(SlotId(slot), died()))
    }

    /// Why the process that serves a device stays down, or where it is.
    fn serving(&self, by: &str) -> Result<Replica, String> {
        match self.0.serving(&ScopeKey::Shared, &device(by).id).unwrap() {
            (
                Slot {
                    life: Life::Down(error),
                    ..
                },
                _,
            ) => Err(error.message.clone()),
            (_, replica) => Ok(replica),
        }
    }
}

fn device(name: &str) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(Platform::Android, name),
        driver: String::new(),
        classifiers: Vec::new(),
        model: String::new(),
        system: String::new(),
        screen: Size::new(1.0, 1.0),
    }
}

fn died() -> StartError {
    StartError {
        message: "it ended (exit code: 42)".to_owned(),
        tail: Vec::new(),
    }
}

#[test]
fn a_source_that_dies_again_and_again_is_given_up_within_its_budget() {
    let mut source = Machine::new(1, 2);
    assert_eq!(source.wanted(Some("a")), ["start 0"]);
    assert_eq!(source.started(0, 7), ["tell true"]);
    assert_eq!(source.lost(0), ["replace Some(7), again Some((1, 250))"]);
    assert_eq!(source.lost(0), [""; 0], "it is known");
    assert_eq!(source.handle(Event::Again(SlotId(1))), ["start 1"]);
    assert_eq!(source.started(1, 8), [""; 0]);
    assert_eq!(source.lost(1), ["replace Some(8), again Some((2, 500))"]);
    assert_eq!(source.handle(Event::Again(SlotId(2))), ["start 2"]);
    assert_eq!(source.started(2, 9), [""; 0]);
    assert_eq!(source.lost(2), ["replace Some(9), again None"]);
    let why = "it ended (exit code: 42) and stays down: it was started again 2 times within 300 s";
    assert_eq!(source.serving("a"), Err(why.to_owned()));
    assert_eq!(source.0.restarts, 2);
}

#[test]
fn it_is_told_that_a_source_has_nothing_once_none_of_its_processes_may_come_up() {
    let mut source = Machine::new(2, 2);
    assert_eq!(source.wanted(None), ["start 0", "start 1"]);
    assert_eq!(source.failed(0), [""; 0]);
    assert_eq!(source.failed(1), ["tell false"]);
}

#[test]
fn what_did_not_start_is_started_again_once_another_did_and_its_devices_move_meanwhile() {
    let mut source = Machine::new(2, 1);
    source.wanted(Some("a"));
    source.wanted(Some("b"));
    assert_eq!([source.serving("a"), source.serving("b")], [Ok(0), Ok(1)]);
    source.failed(0);
    assert_eq!(source.serving("a"), Ok(1));
    let again = "replace None, again Some((2, 250))";
    assert_eq!(source.started(1, 8), [again, "tell true"]);
    assert_eq!(source.serving("a"), Ok(1), "it stays where it is");
}

#[test]
fn what_nobody_finds_any_more_is_ended_and_nothing_is_started_after_the_end() {
    let mut source = Machine::new(1, 2);
    source.wanted(None);
    assert_eq!(source.handle(Event::Retired(ScopeKey::Shared)), [""; 0]);
    assert_eq!(source.started(0, 7), ["stop 7"]);
    assert_eq!(source.wanted(None), ["start 1"]);
    source.started(1, 8);
    assert_eq!(source.handle(Event::Ended), ["stop 8"]);
    assert_eq!(source.lost(1), [""; 0]);
    assert_eq!(source.wanted(None), [""; 0]);
}
