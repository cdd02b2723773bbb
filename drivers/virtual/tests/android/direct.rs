//! A host of our own on the raw wire, for what no real client does: hostile packets, odd orders,
//! thousands of links.

use std::time::Duration;

use packtrain_virtual::android::{ChecksumMode, Limits, Packet};
use packtrain_virtual::fleet::{AndroidHandle, Fleet, FleetOptions, Listen};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::lab::one_phone;

const CNXN: u32 = 0x4e58_4e43;
const OPEN: u32 = 0x4e45_504f;
const OKAY: u32 = 0x5941_4b4f;
const CLSE: u32 = 0x4553_4c43;
const WRTE: u32 = 0x4554_5257;
const LIMITS: Limits = Limits {
    payload: 1 << 20,
    sums: ChecksumMode::Skipped,
};

/// A link that has greeted.
pub struct Host {
    pub socket: TcpStream,
}

impl Host {
    async fn connect(phone: &AndroidHandle) -> Self {
        let socket = TcpStream::connect(phone.address())
            .await
            .expect("connected");
        socket.set_nodelay(true).expect("set");
        Self { socket }
    }

    pub async fn greeted(phone: &AndroidHandle, features: &str) -> Self {
        let mut host = Self::connect(phone).await;
        let banner = format!("host::features={features}");
        host.send(Packet::new(CNXN, 0x0100_0001, 1 << 20, banner))
            .await;
        let answer = host.next().await.expect("a greeting");
        assert_eq!(answer.command, CNXN);
        host
    }

    async fn send(&mut self, packet: Packet) {
        let mut bytes = bytes::BytesMut::new();
        packet.encode(&mut bytes, ChecksumMode::Checked);
        let written = self.socket.write_all(&bytes).await;
        written.expect("written");
    }

    async fn next(&mut self) -> Option<Packet> {
        Packet::read(&mut self.socket, LIMITS).await.ok()
    }

    /// Opens a service; its stream's id on the device, `None` when it is refused.
    pub async fn open(&mut self, id: u32, window: u32, service: &str) -> Option<u32> {
        self.send(Packet::new(OPEN, id, window, format!("{service}\0")))
            .await;
        let answer = self.next().await.expect("an answer");
        assert_eq!(answer.arg1, id);
        (answer.command == OKAY).then_some(answer.arg0)
    }

    /// All a stream says until it is closed.
    async fn drain(&mut self, id: u32, theirs: u32) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(packet) = self.next().await {
            match packet.command {
                WRTE => {
                    assert_eq!((packet.arg0, packet.arg1), (theirs, id));
                    all.extend_from_slice(&packet.payload);
                    self.send(Packet::new(OKAY, id, theirs, "")).await;
                }
                CLSE => break,
                _ => {}
            }
        }
        all
    }

    async fn closed(&mut self) -> bool {
        // Nothing more comes; a reset is an end too.
        matches!(self.socket.read(&mut [0; 64]).await, Ok(0) | Err(_))
    }
}

/// Pushes a file.
pub async fn push(phone: &AndroidHandle, path: &str, content: &[u8]) {
    let mut host = Host::greeted(phone, "shell_v2").await;
    let theirs = host.open(1, 0, "sync:").await.expect("open");
    let mut message = Vec::new();
    let target = format!("{path},33188");
    message.extend_from_slice(b"SEND");
    message.extend_from_slice(&(target.len() as u32).to_le_bytes());
    message.extend_from_slice(target.as_bytes());
    for part in content.chunks(64 * 1024) {
        message.extend_from_slice(b"DATA");
        message.extend_from_slice(&(part.len() as u32).to_le_bytes());
        message.extend_from_slice(part);
    }
    message.extend_from_slice(b"DONE\0\0\0\0");
    for part in message.chunks(200_000) {
        host.send(Packet::new(WRTE, 1, theirs, part.to_vec())).await;
        assert_eq!(host.next().await.expect("taken").command, OKAY);
    }
    let answer = host.next().await.expect("an answer");
    assert_eq!(&answer.payload[..4], b"OKAY");
}

async fn one() -> Fleet {
    Fleet::start(one_phone()).await.expect("started")
}

#[tokio::test]
async fn a_hostile_length_ends_the_link_and_nothing_else() {
    let fleet = one().await;
    let mut host = Host::connect(&fleet.android()[0]).await;
    let mut header = Packet::new(CNXN, 0x0100_0001, 1 << 20, "").header(ChecksumMode::Checked);
    header[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    host.socket.write_all(&header).await.expect("written");
    assert!(host.closed().await);
    Host::greeted(&fleet.android()[0], "shell_v2").await;
    fleet.shutdown().await;
}

#[tokio::test]
async fn noise_instead_of_a_greeting_ends_the_link() {
    let fleet = one().await;
    let mut host = Host::connect(&fleet.android()[0]).await;
    host.socket
        .write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .expect("written");
    assert!(host.closed().await);
    fleet.shutdown().await;
}

#[tokio::test]
async fn late_and_unknown_packets_are_ignored() {
    let fleet = one().await;
    let mut host = Host::greeted(&fleet.android()[0], "shell_v2").await;
    for command in [OKAY, WRTE, CLSE, 0x1234_5678] {
        host.send(Packet::new(command, 77, 88, "late")).await;
    }
    assert_eq!(host.open(1, 0, "no_such_service:").await, None);
    let theirs = host.open(2, 0, "exec:echo fine").await.expect("open");
    assert_eq!(host.drain(2, theirs).await, b"fine\n");
    fleet.shutdown().await;
}

#[tokio::test]
async fn without_delayed_acks_one_write_is_under_way_at_a_time() {
    let fleet = one().await;
    let mut host = Host::greeted(&fleet.android()[0], "shell_v2").await;
    let theirs = host.open(1, 0, "exec:seq 1 100000").await.expect("open");
    let first = host.next().await.expect("data");
    assert_eq!(first.command, WRTE);
    // Nothing more comes before the first is acknowledged; another stream still works.
    let other = host.open(2, 0, "exec:echo other").await.expect("open");
    assert_eq!(host.drain(2, other).await, b"other\n");
    host.send(Packet::new(OKAY, 1, theirs, "")).await;
    assert_eq!(host.next().await.expect("data").command, WRTE);
    fleet.shutdown().await;
}

#[tokio::test]
async fn delayed_acks_are_used_only_when_both_sides_say_so() {
    let fleet = one().await;
    let phone = &fleet.android()[0];
    let mut host = Host::greeted(phone, "shell_v2").await;
    assert_eq!(
        host.open(1, 1000, "exec:id").await,
        None,
        "a window nobody agreed on"
    );
    let mut host = Host::greeted(phone, "shell_v2,delayed_ack").await;
    assert_eq!(
        host.open(1, 0, "exec:id").await,
        None,
        "no window although it was agreed on"
    );
    host.send(Packet::new(OPEN, 2, 10, "exec:seq 1 5000\0"))
        .await;
    let okay = host.next().await.expect("open");
    assert_eq!((okay.command, okay.payload.len()), (OKAY, 4));
    // The window is used up by the first write, however large that is.
    let first = host.next().await.expect("data");
    assert_eq!(first.command, WRTE);
    let taken = i32::try_from(first.payload.len()).expect("small");
    host.send(Packet::new(
        OKAY,
        2,
        okay.arg0,
        taken.to_le_bytes().to_vec(),
    ))
    .await;
    assert_eq!(host.next().await.expect("data").command, WRTE);
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_client_that_closes_a_stream_is_answered_and_its_command_ends() {
    let fleet = one().await;
    let mut host = Host::greeted(&fleet.android()[0], "shell_v2").await;
    let theirs = host.open(1, 0, "exec:sleep 1000").await.expect("open");
    host.send(Packet::new(CLSE, 1, theirs, "")).await;
    let closed = host.next().await.expect("an answer");
    assert_eq!((closed.command, closed.arg1), (CLSE, 1));
    let other = host
        .open(2, 0, "exec:while pidof sleep >/dev/null; do :; done")
        .await
        .expect("open");
    assert_eq!(host.drain(2, other).await, b"");
    fleet.shutdown().await;
}

#[tokio::test]
async fn shutting_down_ends_every_link_and_every_command() {
    let fleet = one().await;
    let mut host = Host::greeted(&fleet.android()[0], "shell_v2").await;
    host.open(1, 0, "exec:while true; do :; done")
        .await
        .expect("open");
    host.open(2, 0, "shell:logcat").await.expect("open");
    tokio::time::timeout(Duration::from_secs(30), fleet.shutdown())
        .await
        .expect("it ends");
    while host.next().await.is_some() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_phones_take_links_at_once() {
    let options = FleetOptions {
        android: 300,
        listen: Listen::PerDeviceIp,
        ..one_phone()
    };
    let fleet = Fleet::start(options).await.expect("started");
    let mut hosts = Vec::new();
    for phone in fleet.android() {
        hosts.push(Host::greeted(phone, "shell_v2").await);
    }
    for (host, phone) in hosts.iter_mut().zip(fleet.android()) {
        let theirs = host
            .open(1, 0, "exec:getprop ro.serialno")
            .await
            .expect("open");
        let serial = host.drain(1, theirs).await;
        assert_eq!(
            String::from_utf8_lossy(&serial).trim(),
            phone.device().serial()
        );
    }
    fleet.shutdown().await;
}
