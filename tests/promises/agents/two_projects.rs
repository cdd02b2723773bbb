//! Two projects and one phone behind an adb server: its holder in one has it before everybody in the
//! other, and each connects it by its own settings.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use packtrain_tests::agent_lab::{Agent, AgentLab};
use packtrain_tests::{Ended, ended, until, until_said};
use serde_json::json;

use super::crowd::{Phones, phones};
use super::{configured, listed, sees, types, typing_trail};
use crate::adb_server::AdbServer;

/// The project of the lab, another one in a folder of its own, and a phone that both have.
struct ProjectLab {
    phone: String,
    _phones: Phones,
    _server: AdbServer,
    // Last: nothing of what is in its folder runs then.
    lab: AgentLab,
}

impl ProjectLab {
    fn new() -> Self {
        let lab = configured("{}\n");
        let (phones, _) = phones(&lab, 1);
        let server = AdbServer::new(lab.lab().folder());
        let address = phones.addresses[0].as_str();
        server.told(&["connect", address]);
        let found = format!("adb: \"{}\"", server.address);
        let config = |more| format!("devices: {{ android: {{ {found}{more} }} }}\n");
        lab.lab()
            .write("packtrain.yaml", &config(""))
            .write("other/packtrain.yaml", &config(", agent: shell"));
        Self {
            phone: format!("android/{address}"),
            _phones: phones,
            _server: server,
            lab,
        }
    }

    fn other(&self) -> PathBuf {
        self.lab.lab().folder().join("other")
    }

    /// The program in the other project.
    fn there(&self, words: &[&str]) -> Command {
        let mut command = self.lab.command(words);
        command.current_dir(self.other());
        command
    }

    /// An agent in the other project.
    fn agent_there(&self, name: &str) -> Agent {
        self.lab.stdio_in(&self.other(), name)
    }

    /// Who has an agent's name, as others are told it.
    fn id(&self, name: &str) -> String {
        let agent = self.lab.agent(name).unwrap();
        format!("{name} ({})", agent["id"].as_str().unwrap())
    }
}

#[test]
fn a_phone_of_two_projects_has_one_holder_and_one_queue() {
    let desk = ProjectLab::new();
    let phone = desk.phone.as_str();
    let here = desk.lab.stdio("here");
    let lease = here.acquires(phone);
    types(&here, &lease, "of-here");
    let there = desk.agent_there("there");
    let has = format!("in use by {}", desk.id("here"));
    let seen = listed(&there, phone);
    assert_eq!(
        (&seen["state"], &seen["free"]),
        (&json!(has), &json!(false))
    );
    let hasty = json!({ "device": phone, "wait_ms": 2_000 });
    let told = there.call("device_acquire", hasty);
    assert!(
        told.is_error && told.text.starts_with("device_busy: ") && told.text.contains(&has),
        "{told:?}"
    );

    let wants = json!({ "device": phone, "wait_ms": 120_000 });
    let second = there.start("device_acquire", wants.clone());
    second.until_told(&has);
    let again = desk.lab.stdio("again");
    let third = again.start("device_acquire", wants);
    third.until_told(&format!("{has}; 1 ahead in the queue"));
    let queue = json!([desk.id("there"), desk.id("again")]);
    for agent in [&here, &there] {
        assert_eq!(listed(agent, phone)["queue"], queue);
    }
    // The waiter has done nothing on the phone.
    assert!(sees(&here, &lease).contains("<of-here>"));

    here.does("device_release", json!({ "lease": lease }));
    let lease = second.called().data["lease"].as_str().unwrap().to_owned();
    types(&there, &lease, "of-there");
    third.until_told(&format!("in use by {}", desk.id("there")));
    there.does("device_release", json!({ "lease": lease }));
    let lease = third.called().data["lease"].as_str().unwrap().to_owned();
    types(&again, &lease, "of-again");
    assert_eq!(listed(&there, phone)["queue"], json!([]));
}

#[test]
fn a_holder_that_is_killed_frees_the_phone_for_the_other_project() {
    let desk = ProjectLab::new();
    let (going, waiting) = (desk.lab.stdio("going"), desk.agent_there("waiting"));
    let lost = going.acquires(&desk.phone);
    types(&going, &lost, "lost");
    let gives_up = desk.agent_there("gives-up");
    let wants = json!({ "device": desk.phone, "wait_ms": 120_000 });
    let given_up = gives_up.start("device_acquire", wants.clone());
    given_up.until_told("in use by going");
    let taken = waiting.start("device_acquire", wants);
    taken.until_told("1 ahead in the queue");
    gives_up.kill();
    taken.until_told(&format!("in use by {}", desk.id("going")));
    going.kill();
    let taken = taken.called();
    assert!(!taken.is_error, "{taken:?}");
    let lease = taken.data["lease"].as_str().unwrap();
    types(&waiting, lease, "of-waiting");
    assert!(sees(&waiting, lease).contains("<of-waiting>"));
}

#[test]
fn runs_of_one_project_wait_for_agents_of_the_other_and_the_other_way_round() {
    let desk = ProjectLab::new();
    let phone = desk.phone.as_str();
    let (here, there) = (desk.lab.stdio("here"), desk.agent_there("there"));
    let lease = here.acquires(phone);
    let short = typing_trail(&desk.lab, "short", 0);
    let short = desk.lab.lab().folder().join(short);
    let words = ["run", short.to_str().unwrap(), "--screenshots=none", "-d"];
    let mut run = desk.there(&[&words[..], &[phone]].concat());
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = run.spawn().unwrap();
    let line = until_said(&mut run, "in use by here");
    assert!(line.contains(phone), "{line}");
    here.does("device_release", json!({ "lease": lease }));
    ended(run).expect(0);

    let long = typing_trail(&desk.lab, "long", 2);
    let run = desk
        .lab
        .start(&["run", &long, "--screenshots=none", "-d", phone]);
    until(|| {
        listed(&there, phone)["state"]
            .as_str()
            .unwrap()
            .contains("of run ")
    });
    let wants = json!({ "device": phone, "wait_ms": 120_000 });
    let taken = there.start("device_acquire", wants).called();
    assert!(!taken.is_error, "{taken:?}");
    // It is over, not robbed.
    ended(run).expect(0);
}

#[test]
fn who_connects_by_itself_keeps_off_a_phone_that_the_daemon_has_given_to_another_project() {
    let desk = ProjectLab::new();
    let here = desk.lab.stdio("here");
    let lease = here.acquires(&desk.phone);
    let looks = |words: &[&str]| Ended::from(desk.there(words).output().unwrap());
    let look = ["snapshot", "--no-daemon", "-d", &desk.phone];
    let told = looks(&look).expect(2);
    assert!(told.stderr.contains("in use by here"), "{told:?}");
    let trail = typing_trail(&desk.lab, "short", 0);
    let trail = desk.lab.lab().folder().join(trail);
    let run = [
        "run",
        trail.to_str().unwrap(),
        "--no-daemon",
        "-d",
        &desk.phone,
    ];
    let told = looks(&run).expect(2);
    assert!(told.stderr.contains("in use by here"), "{told:?}");
    let devices = looks(&["devices"]).expect(0);
    assert!(devices.stdout.contains("in use by here"), "{devices:?}");
    here.does("device_release", json!({ "lease": lease }));
}
