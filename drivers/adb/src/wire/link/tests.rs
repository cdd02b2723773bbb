//! A connection whose other end is written out, packet by packet. Its time passes at once.

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

use super::*;
use crate::wire::packet::VERSION;

/// A connection, and the device's end of it.
struct Lab {
    link: Link,
    device: Device,
    _folder: TempDir,
}

struct Device {
    socket: UnixStream,
    arrived: BytesMut,
}

impl Device {
    async fn send(&mut self, packet: &Packet) {
        let mut bytes = BytesMut::new();
        packet.encode(&mut bytes);
        self.socket.write_all(&bytes).await.unwrap();
    }

    async fn next(&mut self) -> Packet {
        loop {
            if let Some(packet) = Packet::decode(&mut self.arrived, MAX_PAYLOAD).unwrap() {
                return packet;
            }
            assert_ne!(self.socket.read_buf(&mut self.arrived).await.unwrap(), 0);
        }
    }
}

impl Lab {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("adbd");
        let listener = UnixListener::bind(&path).unwrap();
        let keys = KeyRing::new(Some(folder.path().join("adbkey")));
        let address = DirectAddress::Unix(path);
        let deadline = Instant::now() + Duration::from_secs(60);
        let (link, device) = tokio::join!(Link::connect(&address, &keys, deadline), async {
            let (socket, _) = listener.accept().await.unwrap();
            let arrived = BytesMut::new();
            let mut device = Device { socket, arrived };
            assert_eq!(device.next().await.kind, Kind::Connect);
            let banner = "device::features=shell_v2";
            let hello = Packet::new(Kind::Connect, VERSION, MAX_PAYLOAD, banner);
            device.send(&hello).await;
            device
        });
        Self {
            link: link.unwrap(),
            device,
            _folder: folder,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_device_that_never_answers_is_given_up() {
    let mut lab = Lab::new().await;
    let start = Instant::now();
    let (opened, asked) = tokio::join!(lab.link.open("shell:id", "`id`"), lab.device.next());
    assert_eq!(asked.kind, Kind::Open);
    let doing = "`id`".to_owned();
    assert_eq!(opened.unwrap_err(), WireError::Lost { doing });
    assert!(start.elapsed() >= SILENCE_TIMEOUT);
    assert!(lab.link.has_ended());
}

#[tokio::test(start_paused = true)]
async fn a_service_may_be_silent_for_ever() {
    let mut lab = Lab::new().await;
    let (opened, ()) = tokio::join!(lab.link.open("shell:cat", "`cat`"), async {
        let asked = lab.device.next().await;
        let okay = Packet::new(Kind::Okay, 7, asked.arg0, Bytes::new());
        lab.device.send(&okay).await;
    });
    let mut stream = opened.unwrap();
    let read = tokio::time::timeout(SILENCE_TIMEOUT * 100, stream.read()).await;
    assert!(read.is_err(), "{read:?}");
    assert!(!lab.link.has_ended());
}

#[tokio::test(start_paused = true)]
async fn callers_that_do_not_wait_prove_nothing() {
    let lab = Lab::new().await;
    for _ in 0..100 {
        let opening = lab.link.open("shell:id", "`id`");
        let opened = tokio::time::timeout(Duration::ZERO, opening).await;
        assert!(opened.is_err(), "{opened:?}");
    }
    assert!(!lab.link.has_ended());
}
