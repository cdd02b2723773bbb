//! Ports from the host into the phone, and back.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::lab::{Adb, Lab, one_phone};

/// Pushes something in the place of the agent and starts it; returns when it answers.
async fn start_agent(lab: &Lab) -> tokio::process::Child {
    let jar = lab.dir().join("u2.jar");
    std::fs::write(&jar, "stands in for the agent").expect("written");
    lab.on_phone(["push", &jar.display().to_string(), "/data/local/tmp/u2.jar"])
        .await
        .ok();
    let line = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008";
    let agent = lab.follow(["-s", &lab.serial(), "shell", line]);
    lab.shell("until nc -z 127.0.0.1 9008; do :; done")
        .await
        .ok();
    agent
}

async fn get(port: &str, path: &str) -> String {
    let mut socket = TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .expect("connected");
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await.expect("written");
    let mut all = String::new();
    socket.read_to_string(&mut all).await.expect("read");
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forward_reaches_the_agent_and_ends_with_it() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let mut agent = start_agent(&lab).await;
        let port = lab
            .on_phone(["forward", "tcp:0", "tcp:9008"])
            .await
            .ok()
            .trim()
            .to_owned();
        let answer = get(&port, "/ping").await;
        assert!(
            answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("pong"),
            "{answer}"
        );
        let second = lab
            .shell("CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main")
            .await;
        assert!(second.stdout.contains("already registered"), "{second:?}");
        agent.kill().await.expect("killed");
        lab.shell("while nc -z 127.0.0.1 9008; do :; done")
            .await
            .ok();
        assert_eq!(get(&port, "/ping").await, "", "nobody listens any more");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reverse_forward_carries_data_both_ways() {
    for (adb, burst) in [(Adb::Old, false), (Adb::New, false), (Adb::New, true)] {
        let lab = Lab::with_burst(adb, one_phone(), burst).await;
        lab.adb(["connect", &lab.serial()]).await.ok();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let port = listener.local_addr().expect("an address").port();
        let host = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("accepted");
            let mut asked = [0; 5];
            socket.read_exact(&mut asked).await.expect("read");
            socket
                .write_all(&[b"host-echo:", &asked[..]].concat())
                .await
                .expect("written");
        });
        lab.on_phone(["reverse", "tcp:7777", &format!("tcp:{port}")])
            .await
            .ok();
        let listed = lab.on_phone(["reverse", "--list"]).await.ok();
        assert!(listed.contains(&format!("tcp:7777 tcp:{port}")), "{listed}");
        let said = lab.shell("echo ping | nc 127.0.0.1 7777").await.ok();
        assert_eq!(said, "host-echo:ping\n");
        host.await.expect("the host's half");
        lab.on_phone(["reverse", "--remove", "tcp:7777"]).await.ok();
        let said = lab.shell("nc 127.0.0.1 7777").await;
        assert!(
            said.code == 1 && said.stderr.contains("Connection refused"),
            "{said:?}"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reverse_forward_of_any_port_says_which() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let port = lab.on_phone(["reverse", "tcp:0", "tcp:1"]).await.ok();
    assert!(
        port.trim().parse::<u16>().is_ok_and(|port| port > 0),
        "{port}"
    );
    let twice = lab
        .on_phone([
            "reverse",
            "--no-rebind",
            &format!("tcp:{}", port.trim()),
            "tcp:2",
        ])
        .await;
    assert!(
        twice.code == 1 && twice.stderr.contains("cannot rebind"),
        "{twice:?}"
    );
    lab.on_phone(["reverse", "--remove-all"]).await.ok();
    assert_eq!(lab.on_phone(["reverse", "--list"]).await.ok().trim(), "");
    lab.end().await;
}
