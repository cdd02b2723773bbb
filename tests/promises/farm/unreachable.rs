//! A server that cannot be a farm's is told in one line each, with what to do about it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;

use packtrain_tests::nats_server::NatsServer;
use packtrain_tests::{Ended, Lab};

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
        let ended = lab.run(&[command, &["--farm", &url]].concat());
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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
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
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
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
    let error = format!("the farm at nats://{} does not let us in: ", server.address);
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
    let error = format!("there is no nats-server at {}", nowhere.display());
    assert_one_line(&ended, &error, "packtrain doctor --fix");
}
