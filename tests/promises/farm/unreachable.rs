//! A server that cannot be a farm's is told in one line each, with what to do about it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use packtrain_farm::link::{Credentials, FarmAddress, Link, Trust};
use packtrain_farm::names;
use packtrain_testing::{free_port, has};
use packtrain_tests::nats_server::NatsServer;
use packtrain_tests::process::Process;
use packtrain_tests::{Ended, Lab};
use tokio::time::Instant;

use crate::lab;

/// Commands of each role that need a server.
const COMMANDS: [&[&str]; 3] = [
    &["farm", "devices"],
    &["farm", "broker"],
    &["host", "--name", "h1", "-d", "virtual:android:1"],
];

/// A server that says of itself what it is told to, and takes anybody.
struct Impostor {
    address: SocketAddr,
    serving: Option<JoinHandle<()>>,
}

impl Impostor {
    fn start(info: &'static str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if serve(&client, info).is_err() {
                    return;
                }
            }
        });
        Self {
            address,
            serving: Some(serving),
        }
    }
}

/// Answers a client until it goes; an error when it was none, which ends the serving.
fn serve(mut client: &TcpStream, info: &str) -> std::io::Result<()> {
    client.write_all(format!("INFO {info}\r\n").as_bytes())?;
    let mut was_client = false;
    for line in BufReader::new(client).lines() {
        let Ok(line) = line else { break };
        was_client |= line.starts_with("CONNECT");
        if line.starts_with("PING") && client.write_all(b"PONG\r\n").is_err() {
            break;
        }
    }
    was_client
        .then_some(())
        .ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

impl Drop for Impostor {
    fn drop(&mut self) {
        // Somebody who says nothing ends it.
        drop(TcpStream::connect(self.address));
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

/// What commands of each role say of a server: one line and what to do, and what they end with.
#[track_caller]
fn told(lab: &Lab, address: SocketAddr, error: &str, hint: &str) {
    for command in COMMANDS {
        let url = format!("nats://{address}");
        let mut command = lab.command(&[command, &["--farm", &url]].concat());
        // Hosts of one name, below one cache, keep each other out.
        let command = command.env("XDG_CACHE_HOME", lab.folder().join(".cache"));
        let ended = Ended::from(command.output().unwrap());
        assert_one_line(&ended.expect(2), error, hint);
    }
}

#[track_caller]
fn assert_one_line(ended: &Ended, error: &str, hint: &str) {
    let lines: Vec<&str> = ended.stderr.lines().collect();
    let [first, second] = lines.as_slice() else {
        panic!("it says more than that: {lines:?}");
    };
    assert!(
        first.starts_with("error: ") && first.contains(error),
        "{first}"
    );
    assert!(
        second.starts_with("hint: ") && second.contains(hint),
        "{second}"
    );
}

/// A real server with this configuration.
fn server(lab: &Lab, config: &str) -> NatsServer {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let config = format!("listen: \"{address}\"\n{config}");
    let mut server = NatsServer::configured(lab.folder(), "server", address, &config);
    server.restart();
    server
}

#[test]
fn a_server_that_is_too_old_is_told_by_its_version() {
    let lab = lab();
    // What Debian 12 has.
    let old = Impostor::start(
        "{\"server_id\":\"A\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,\
         \"max_payload\":1048576,\"jetstream\":true}",
    );
    let error = format!(
        "the nats-server at nats://{} is 2.9.10: Packtrain's farm needs 2.12 or later",
        old.address
    );
    told(&lab, old.address, &error, "packtrain doctor --fix");
}

#[test]
fn a_server_that_is_not_there_is_told_so() {
    let lab = lab();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free_port()));
    let error = format!("no farm answers at nats://{address}: ");
    told(&lab, address, &error, "packtrain farm up");
}

#[test]
fn a_server_that_keeps_nothing_is_told_so() {
    let lab = lab();
    let server = server(&lab, "");
    told(
        &lab,
        server.address,
        "the nats-server has no JetStream",
        "packtrain farm config",
    );
}

#[test]
fn a_server_that_does_not_know_us_is_told_so() {
    let lab = lab();
    let store = lab.folder().join("store").display().to_string();
    let config =
        format!("jetstream {{ store_dir: {store:?} }}\nauthorization {{ user: a, password: b }}\n");
    let server = server(&lab, &config);
    let error = format!("the farm at nats://{} refused access: ", server.address);
    told(&lab, server.address, &error, "packtrain farm token");
}

#[test]
fn a_computer_without_a_server_is_told_how_to_get_one() {
    let lab = lab();
    let mut command = lab.command(&["farm", "up", "--no-devices"]);
    command.env_remove("PACKTRAIN_FARM_NATS_SERVER");
    command.env("PATH", lab.folder());
    command.env("XDG_CACHE_HOME", lab.folder());
    command.env("XDG_DATA_HOME", lab.folder());
    let ended = Ended::from(command.output().unwrap()).expect(2);
    assert_one_line(&ended, "no nats-server was found", "packtrain doctor --fix");

    let mut command = lab.command(&["farm", "up", "--no-devices"]);
    let nowhere = lab.folder().join("nowhere");
    command.env("PACKTRAIN_FARM_NATS_SERVER", &nowhere);
    let ended = Ended::from(command.output().unwrap()).expect(2);
    let error = format!("no nats-server at {}", nowhere.display());
    assert_one_line(&ended, &error, "packtrain doctor --fix");
}

/// Sets a farm up on a server, and does something with it.
fn set_up(url: &str, then: impl AsyncFnOnce(Link)) {
    let address = FarmAddress {
        servers: vec![url.to_owned()],
        credentials: Credentials::None,
        trust: Trust::System,
    };
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(async {
        let link = Link::connect(&address, "test").await.unwrap();
        link.set_up(1).await.unwrap();
        then(link).await;
    });
}

/// A server that keeps as much as this, in the lab's folder.
fn storing(lab: &Lab, most: &str) -> NatsServer {
    let store = lab.folder().join("store").display().to_string();
    server(
        lab,
        &format!("jetstream {{ store_dir: {store:?}, max_file_store: {most} }}\n"),
    )
}

#[test]
fn a_broker_of_the_last_version_is_not_asked_what_it_does_not_know() {
    let lab = lab();
    let server = storing(&lab, "64MB");
    let url = format!("nats://{}", server.address);
    lab.write("t.trail.yaml", "- prompts:\n    - step: Look\n");
    let words = ["run", "t.trail.yaml", "--farm", &url, "--time-limit", "1s"];
    let asked = |on: &str| lab.run(&[&words[..], &["--on", on]].concat());
    let led_by = |broker: &'static str| {
        set_up(&url, async |link| {
            let put = link.put_key(names::LIVE, names::BROKER, broker.into());
            put.await.unwrap();
        });
    };
    led_by(r#"{"incarnation":"i","name":"broker@old"}"#);
    let refused = asked("android & !(ios | has=python3)").expect(3);
    let told = "the farm's broker does not support `has`: it has version 1 of the farm's protocol";
    assert_one_line(&refused, told, "update the broker");
    asked("has-python3").expect(2);
    // Nor while it waits for devices, which it does for as long as it may take.
    let words = [&words[..], &["--min-devices", "2", "--on"]].concat();
    let waiting = |on: &str| lab.run(&[&words[..], &[on]].concat());
    waiting("has=python3").expect(3);
    let over = waiting("android").expect(2).stderr;
    has(&over, &["timed out before enough devices were available"]);
    led_by(r#"{"incarnation":"i","name":"broker@new","protocol":2}"#);
    asked("has=python3").expect(2);
}

#[test]
fn a_server_that_is_full_is_told_within_5_s_by_hosts_doctor_and_run() {
    let lab = lab();
    let server = storing(&lab, "2MB");
    let url = format!("nats://{}", server.address);
    set_up(&url, async |link| while link.check_store().await.is_ok() {});
    let words = "the farm's server cannot store anything: ";
    let within = |begun: Instant| {
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
    };

    let begun = Instant::now();
    let hosts = lab.run(&["farm", "hosts", "--farm", &url]).expect(0);
    within(begun);
    assert!(hosts.stderr.contains(words), "{}", hosts.stderr);

    let begun = Instant::now();
    let doctor = lab.run(&["farm", "doctor", "--farm", &url]).expect(2);
    within(begun);
    has(&doctor.stdout, &[words, "insufficient resources"]);

    lab.write("t.trail.yaml", "- prompts:\n    - step: Look\n");
    let begun = Instant::now();
    let words = [
        "run",
        "--farm",
        &url,
        "t.trail.yaml",
        "--on",
        "android",
        "--count",
        "1",
    ];
    let log = lab.folder().join("log");
    let run = Process::start("run", &mut lab.command(&words), &log);
    run.until_said("farm: the farm's server cannot store anything: ");
    within(begun);
    run.kill();
}

#[test]
fn what_is_no_expression_no_token_and_no_farm_is_told_before_anything_is_asked() {
    let lab = lab();
    lab.write("t.trail.yaml", "- prompts:\n    - step: Look\n");
    let none = "nats://127.0.0.1:1";
    for words in [
        ["farm", "why", "", "--farm", none].as_slice(),
        &["run", "t.trail.yaml", "--farm", none, "--on", " "],
    ] {
        let ended = lab.run(words).expect(3);
        has(&ended.stderr, &["it is empty; `*` matches any device"]);
    }
    let ended = lab.run(&["farm", "token"]).expect(3);
    assert!(ended.stderr.contains("no farm in "), "{}", ended.stderr);
    let ended = lab.run(&["farm", "token", "--ttl", "0s"]).expect(3);
    has(&ended.stderr, &["expected more than 0 and at most a week"]);
}

#[test]
fn a_server_that_is_not_encrypted_is_told_so() {
    let lab = lab();
    let server = server(&lab, "");
    let url = format!("tls://{}", server.address);
    let ended = lab.run(&["farm", "devices", "--farm", &url]).expect(2);
    has(&ended.stderr, &["it is not encrypted; write `nats://`"]);
}
