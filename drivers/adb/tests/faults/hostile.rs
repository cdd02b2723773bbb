//! Whatever answers in a phone's or a server's place.

use std::net::SocketAddr;

use packtrain_driver_adb::{AdbError, AdbOptions, AdbPool, DirectAddress, StartServer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Says this to everyone who connects and has said something, then hangs up.
async fn says(bytes: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = listener.accept().await.unwrap();
            let bytes = bytes.clone();
            tokio::spawn(async move {
                let _ = socket.read(&mut [0; 4096]).await;
                let _ = socket.write_all(&bytes).await;
            });
        }
    });
    address
}

/// The most this process has held at any time, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The first packet of a phone, claiming this much to follow.
fn packet(command: &[u8; 4], length: u32) -> Vec<u8> {
    let word = u32::from_le_bytes(*command);
    let mut bytes = Vec::new();
    for field in [word, 0x0100_0001, 1 << 20, length, 0, word ^ u32::MAX] {
        bytes.extend_from_slice(&field.to_le_bytes());
    }
    bytes
}

async fn direct(bytes: Vec<u8>) -> AdbError {
    let address = DirectAddress::Tcp(says(bytes).await);
    let options = AdbOptions {
        server: None,
        ..AdbOptions::default()
    };
    let pool = AdbPool::new(options);
    match pool.direct("bench", address).await {
        Ok(_) => panic!("that was no device"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn a_phone_that_claims_a_huge_packet_gets_no_memory_for_it() {
    let before = peak();
    for length in [u32::MAX, 1 << 30, (1 << 20) + 1] {
        let error = direct(packet(b"CNXN", length)).await;
        assert!(error.to_string().contains("greeting"), "{error}");
    }
    assert!(peak() - before < 200 * 1024, "KiB: {before} to {}", peak());
}

#[tokio::test]
async fn what_is_no_phone_is_told_apart() {
    for (bytes, told) in [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "greeting"),
        (packet(b"WRTE", 0), "greeting"),
        (Vec::new(), "the device is offline"),
        (packet(b"CNXN", 100), "the device is offline"),
    ] {
        let error = direct(bytes).await;
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_adb_server_is_told_apart() {
    for (bytes, told) in [
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
            "not an adb server",
        ),
        (b"OKAYzzzz".to_vec(), "invalid length"),
        (b"OKAYffff00".to_vec(), "ended"),
        (b"OKAY00040001".to_vec(), "is too old"),
        (b"FAIL0004nope".to_vec(), "nope"),
        (Vec::new(), "ended"),
    ] {
        let options = AdbOptions {
            server: Some(says(bytes.clone()).await),
            start: StartServer::Never,
            ..AdbOptions::default()
        };
        let Err(error) = AdbPool::new(options).survey().await else {
            panic!("that was no server");
        };
        assert!(error.to_string().contains(told), "{bytes:?}: {error}");
    }
}
