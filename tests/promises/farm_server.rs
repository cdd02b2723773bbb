//! A farm of one computer comes up, lets others in, and leaves nothing behind.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use packtrain_model::source::Source;
use packtrain_model::yaml;
use packtrain_testing::has;
use packtrain_tests::{Ended, Lab, ended, interrupt, processes_with, repository, until};
use serde_json::Value;

use crate::lab;
use crate::snippets::misunderstood;

/// The program in the lab, with the nats-server of the tests.
fn command(lab: &Lab, arguments: &[&str]) -> Command {
    let server = std::env::var_os("PACKTRAIN_TEST_NATS")
        .expect("PACKTRAIN_TEST_NATS leads to a nats-server; `sh tests/run.sh` installs one");
    let mut command = lab.command(arguments);
    command.env("PACKTRAIN_FARM_NATS_SERVER", server);
    command
}

fn run(lab: &Lab, arguments: &[&str]) -> Ended {
    command(lab, arguments).output().unwrap().into()
}

/// A farm that is up.
struct Farm<'a> {
    lab: &'a Lab,
    child: Child,
    told: Value,
}

impl<'a> Farm<'a> {
    fn up(lab: &'a Lab, more: &[&str]) -> Self {
        use std::os::unix::process::CommandExt as _;
        let arguments = ["farm", "up", "--no-devices", "--format", "json"];
        let mut command = command(lab, &[&arguments[..], more].concat());
        command.process_group(0);
        command.stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        child.stdout = Some(out.into_inner());
        if line.is_empty() {
            panic!("{}", ended(child).stderr);
        }
        let told = serde_json::from_str(&line).unwrap();
        Self { lab, child, told }
    }

    /// What another computer reaches it by.
    fn address(&self) -> String {
        self.told["servers"][0].as_str().unwrap().to_owned()
    }

    fn token(&self, more: &[&str]) -> String {
        let token = run(self.lab, &[&["farm", "token"], more].concat()).expect(0);
        token.stdout.trim().to_owned()
    }

    fn end(self) {
        interrupt(&self.child);
        ended(self.child).expect(0);
        let folder = self.lab.folder().to_str().unwrap();
        let left = processes_with(folder);
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Waits until everything is well: a broker sets the farm up once it is elected.
fn well(lab: &Lab) -> Value {
    let mut last = Value::Null;
    until(|| {
        let told = run(lab, &["farm", "doctor", "--format", "json"]);
        last = serde_json::from_str(&told.stdout).unwrap_or_default();
        last["well"] == true
    });
    last
}

#[test]
fn a_farm_comes_up_is_well_and_leaves_nothing_behind() {
    let lab = lab();
    let farm = Farm::up(&lab, &[]);
    let told = well(&lab);
    assert_eq!(told["role"], "operator");
    assert_eq!(told["lacking"], serde_json::json!([]));
    assert!(told["streams"].as_array().unwrap().len() >= 6);
    farm.end();
    let after = run(&lab, &["farm", "doctor"]).expect(2);
    has(&after.stderr, &["this computer's farm is not running"]);
}

#[test]
fn a_farm_that_was_ended_comes_back_where_it_was() {
    let lab = lab();
    let farm = Farm::up(&lab, &[]);
    let address = farm.address();
    farm.end();
    let after = run(&lab, &["farm", "token"]).expect(0);
    has(&after.stderr, &["the farm is not up"]);
    let farm = Farm::up(&lab, &[]);
    assert_eq!(farm.address(), address);
    farm.end();
}

#[test]
fn who_has_joined_joins_again_by_the_same_token_however_the_server_is_spelt() {
    let (here, there) = (lab(), lab());
    let farm = Farm::up(&here, &["--name", "here"]);
    let address = farm.address();
    let token = farm.token(&["--role", "viewer"]);
    let join = |address: &str, name: &str| {
        let words = ["farm", "join", address, &token, "--name", name];
        run(&there, &words)
    };
    join(&address, "eve").expect(0);
    let spelt = address.replace("127.0.0.1", "localhost");
    assert_ne!(spelt, address);
    join(&spelt, "eve").expect(0);
    let other = join(&address, "mallory").expect(3);
    has(&other.stderr, &["the token was already used by `eve`"]);
    assert_eq!(well(&there)["role"], "viewer");
    let left = files_with(there.folder(), ".joining");
    assert!(left.is_empty(), "{left:?}");
    farm.end();
}

/// The files below a folder whose names end so.
fn files_with(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_with(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_second_farm_in_the_same_folder_is_refused() {
    let lab = lab();
    let farm = Farm::up(&lab, &[]);
    let second = run(&lab, &["farm", "up", "--no-devices"]).expect(2);
    has(&second.stderr, &["a farm is already running in"]);
    well(&lab);
    farm.end();
}

#[test]
fn another_computer_joins_with_a_token_over_tls_and_sees_the_farm() {
    let (here, there) = (lab(), lab());
    let farm = Farm::up(&here, &["--listen", "0.0.0.0:0", "--name", "here"]);
    let address = farm.address();
    assert!(address.starts_with("tls://"), "{address}");
    let token = farm.token(&["--role", "viewer"]);
    let joined = run(&there, &["farm", "join", &address, &token, "--name", "eve"]).expect(0);
    has(&joined.stderr, &["joined the farm as viewer `eve`"]);
    assert_eq!(well(&there)["role"], "viewer");

    let again = run(
        &here,
        &["farm", "join", &address, &token, "--name", "mallory"],
    )
    .expect(3);
    has(&again.stderr, &["the token was already used by `eve`"]);
    farm.end();
}

#[test]
fn where_there_is_no_farm_each_command_says_so_in_one_line() {
    let lab = lab();
    lab.write("a.trail.yaml", "trail:\n  - step: x\n");
    let commands: [&[&str]; 8] = [
        &["farm", "devices"],
        &["farm", "hosts"],
        &["farm", "queue"],
        &["farm", "why", "android"],
        &["farm", "drain", "mac-1"],
        &["farm", "quarantine", "android/1@mac-1"],
        &["farm", "doctor"],
        &["resume", "20261122-093015-k3f9"],
    ];
    let nobody = "nats://127.0.0.1:9";
    for command in commands {
        let said = run(&lab, command).expect(3).stderr;
        let hint = "hint: `packtrain farm up` starts one here; `packtrain farm join URL TOKEN` joins an existing one\n";
        assert_eq!(
            said,
            format!("error: no farm is configured for this user\n{hint}")
        );
        let elsewhere = [command, &["--farm", nobody]].concat();
        let said = run(&lab, &elsewhere).expect(2).stderr;
        assert!(
            said.starts_with(&format!("error: no farm answers at {nobody}: "))
                && said.contains("hint: is the farm up?"),
            "{command:?}: {said}"
        );
        assert_eq!(said.lines().count(), 2, "{command:?}: {said}");
    }
    // An address without its scheme is not a trail.
    let said = run(&lab, &["run", "a.trail.yaml", "--farm", "farm:4222"])
        .expect(3)
        .stderr;
    has(&said, &["invalid server address", "nats://host:4222"]);
}

#[test]
fn a_token_that_is_cut_off_is_told_so() {
    let lab = lab();
    let words = run(&lab, &["farm", "join", "nats://127.0.0.1:1", "abc"])
        .expect(3)
        .stderr;
    has(&words, &["invalid farm token; was it copied completely?"]);
}

#[test]
fn a_server_that_is_too_old_is_told_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt as _;
    let lab = lab();
    lab.write(
        "old/nats-server",
        "#!/bin/sh\necho 'nats-server: v2.9.10'\n",
    );
    let old = lab.folder().join("old/nats-server");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = lab.command(&["farm", "up", "--no-devices"]);
    command.env("PACKTRAIN_FARM_NATS_SERVER", &old);
    let words = Ended::from(command.output().unwrap()).expect(2).stderr;
    has(
        &words,
        &[
            "is too old: a farm needs 2.12.0 or later",
            "packtrain doctor --fix",
        ],
    );
}

#[test]
fn doctor_needs_a_server_only_where_a_farm_is_wanted() {
    let lab = lab();
    let finding = |lab: &Lab| {
        let told = run(lab, &["doctor", "--format", "json"]);
        let told: Value = serde_json::from_str(&told.stdout).unwrap();
        let findings = told["findings"].as_array().unwrap().clone();
        let mut found = findings
            .into_iter()
            .filter(|it| it["what"] == "nats-server");
        found.next().unwrap()
    };
    // The setting of these tests is one of a farm's.
    assert_eq!(finding(&lab)["needed"], true);
    assert!(finding(&lab)["found"].is_string());
    lab.write(
        "packtrain.yaml",
        "farm: { servers: ['tls://farm.example:4222'] }\n",
    );
    assert_eq!(finding(&lab)["needed"], false);
}

#[test]
fn the_configuration_of_three_servers_is_accepted_by_nats_server() {
    let lab = lab();
    let users = [
        "--user",
        "host:mac-1",
        "--user",
        "run:ci",
        "--user",
        "viewer:eve",
    ];
    let written = ["farm", "config", "--nodes", "3", "--out", "farm"];
    run(&lab, &[&written[..], &users[..]].concat()).expect(0);
    for name in ["nats-1", "nats-2", "nats-3"] {
        let folder = lab.folder().join("farm").join(name);
        let text = lab.read(folder.join("nats-server.conf"));
        let here = text.replace("/etc/nats", folder.to_str().unwrap());
        let here = here.replace("/data", lab.folder().join("data").to_str().unwrap());
        lab.write(&format!("{name}.conf"), &here);
        let server = std::env::var_os("PACKTRAIN_TEST_NATS").unwrap();
        let config = lab.folder().join(format!("{name}.conf"));
        let tried = Command::new(server)
            .arg("-t")
            .arg("-c")
            .arg(config)
            .output();
        Ended::from(tried.unwrap()).expect(0);
        assert_eq!(text.matches("nats-route://").count(), 2, "{text}");
    }
    let before = lab.read("farm/credentials/host-mac-1.json");
    run(&lab, &[&written[..], &["--user", "host:mac-2"]].concat()).expect(0);
    assert_eq!(lab.read("farm/credentials/host-mac-1.json"), before);
    let config = lab.read("farm/nats-1/nats-server.conf");
    has(&config, &["# host mac-1", "# host mac-2"]);
}

#[test]
fn the_recipe_of_a_farm_calls_what_exists() {
    let text = std::fs::read_to_string(repository().join("deploy/farm/compose.yaml")).unwrap();
    let read = yaml::read(&Source::new("deploy/farm/compose.yaml", text));
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    let services = read.value.unwrap().to_json()["services"].clone();
    for service in ["broker-1", "broker-2", "host"] {
        let words = services[service]["command"].as_array().unwrap().iter();
        let words: Vec<_> = words
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(misunderstood(&lab(), &words), None);
    }
}
