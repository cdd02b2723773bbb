//! usbmuxd, asked by Debian's tools and by bytes nobody should send.

use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};

use plist::{Dictionary, Value};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::bench::Bench;
use super::http::Client;

/// A connection to usbmuxd that speaks its plist dialect.
struct Mux<S>(S);

impl<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin> Mux<S> {
    async fn send(&mut self, tag: u32, kind: &str, more: &[(&str, Value)]) {
        let mut body = Dictionary::new();
        body.insert("MessageType".to_owned(), kind.into());
        for (key, value) in more {
            body.insert((*key).to_owned(), value.clone());
        }
        let mut xml = Vec::new();
        Value::Dictionary(body).to_writer_xml(&mut xml).unwrap();
        let mut frame = Vec::new();
        for word in [u32::try_from(xml.len()).unwrap() + 16, 1, 8, tag] {
            frame.extend(word.to_le_bytes());
        }
        frame.extend(xml);
        self.0.write_all(&frame).await.unwrap();
    }

    async fn receive(&mut self) -> (u32, Dictionary) {
        let mut header = [0; 16];
        self.0.read_exact(&mut header).await.unwrap();
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        let mut body = vec![0; word(0) as usize - 16];
        self.0.read_exact(&mut body).await.unwrap();
        let body = Value::from_reader_xml(body.as_slice()).unwrap();
        (word(12), body.into_dictionary().unwrap())
    }

    async fn ask(&mut self, kind: &str, more: &[(&str, Value)]) -> Dictionary {
        self.send(5, kind, more).await;
        let (tag, answer) = self.receive().await;
        assert_eq!(tag, 5, "the tag of the request comes back");
        answer
    }
}

async fn mux(bench: &Bench) -> Mux<TcpStream> {
    Mux(TcpStream::connect(bench.usbmuxd_address()).await.unwrap())
}

/// Becomes a listener; answers the kind of the first event.
pub async fn listen(stream: &mut TcpStream) -> String {
    let mut mux = Mux(stream);
    assert_eq!(number(&mux.ask("Listen", &[]).await), Some(0));
    next_event(mux.0).await
}

/// The kind of the next event of a listener.
pub async fn next_event(stream: &mut TcpStream) -> String {
    let (_, told) = Mux(stream).receive().await;
    event(&told).0.to_owned()
}

fn number(answer: &Dictionary) -> Option<u64> {
    answer.get("Number").and_then(Value::as_unsigned_integer)
}

fn event(event: &Dictionary) -> (&str, u64) {
    let kind = event.get("MessageType").and_then(Value::as_string);
    let device = event.get("DeviceID").and_then(Value::as_unsigned_integer);
    (kind.unwrap(), device.unwrap())
}

#[tokio::test]
async fn idevice_id_lists_every_phone() {
    let bench = Bench::with(3, "rules: []").await;
    let udids = "00008110-000A1B2C00000001\n00008110-000A1B2C00000002\n00008110-000A1B2C00000003\n";
    assert_eq!(bench.run("idevice_id", &["-l"]).await, udids);
    bench.end().await;
}

#[tokio::test]
async fn iproxy_carries_many_requests_to_webdriveragent() {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let bench = Bench::with(2, "rules: []").await;
    let udid = bench.phones()[1].udid().to_string();
    // An address of this machine that is nobody else's, so that the port is surely free.
    let [_, a, b, _] = std::process::id().to_be_bytes();
    let last = NEXT.fetch_add(1, Ordering::Relaxed) % 250 + 1;
    let source = format!("127.{a}.{b}.{last}");
    // iproxy keeps what it prints to itself unless somebody watches; stdbuf makes it talk.
    let mut command = bench.command("stdbuf");
    command
        .args(["-oL", "iproxy", "-s", &source, "-u", &udid, "8100:8100"])
        .stdout(Stdio::piped());
    let mut iproxy = command
        .spawn()
        .expect("iproxy cannot be run, install libusbmuxd-tools");
    let mut printed = BufReader::new(iproxy.stdout.take().unwrap()).lines();
    while let Some(line) = printed.next_line().await.unwrap() {
        if line.contains("waiting for connection") {
            break;
        }
    }
    let mut client = Client::connect(format!("{source}:8100").parse().unwrap()).await;
    client.start("com.example.shop").await;
    for _ in 0..20 {
        assert_eq!(client.count("class name", "XCUIElementTypeButton").await, 2);
    }
    iproxy.kill().await.unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_listener_hears_who_is_there_and_who_comes_and_goes() {
    let bench = Bench::with(2, "rules: []").await;
    let mut listener = mux(&bench).await;
    assert_eq!(number(&listener.ask("Listen", &[]).await), Some(0));
    for id in [1, 2] {
        let (tag, there) = listener.receive().await;
        assert_eq!((tag, event(&there)), (0, ("Attached", id)));
    }
    bench.phone().unplug();
    assert_eq!(event(&listener.receive().await.1), ("Detached", 1));
    assert_eq!(
        bench.run("idevice_id", &["-l"]).await,
        "00008110-000A1B2C00000002\n"
    );
    bench.phone().plug_in();
    let (_, back) = listener.receive().await;
    assert_eq!(
        event(&back),
        ("Attached", 3),
        "a phone that comes back has a new number"
    );
    let properties = back
        .get("Properties")
        .and_then(Value::as_dictionary)
        .unwrap();
    assert_eq!(
        properties.get("SerialNumber").and_then(Value::as_string),
        Some("00008110-000A1B2C00000001")
    );
    bench.end().await;
}

#[tokio::test]
async fn a_tunnel_ends_when_the_cable_is_pulled() {
    let bench = Bench::new().await;
    let mut tunnel = mux(&bench).await;
    let port = Value::from(u64::from(8100_u16.swap_bytes()));
    let to = |device: u64| [("DeviceID", device.into()), ("PortNumber", port.clone())];
    assert_eq!(
        number(&tunnel.ask("Connect", &to(9)).await),
        Some(2),
        "no such device"
    );
    let nobody = [("DeviceID", 1_u64.into()), ("PortNumber", 1_u64.into())];
    assert_eq!(
        number(&tunnel.ask("Connect", &nobody).await),
        Some(3),
        "nothing listens there"
    );
    assert_eq!(number(&tunnel.ask("Connect", &to(1)).await), Some(0));
    let mut client = Client::over(tunnel.0).await;
    assert_eq!(client.get("/status").await.ok()["ready"], true);
    bench.phone().unplug();
    assert!(
        client
            .send("GET", "/status", serde_json::Value::Null)
            .await
            .is_none()
    );
    bench.end().await;
}

#[tokio::test]
async fn pair_records_are_kept_for_whoever_asks() {
    let bench = Bench::new().await;
    let mut mux = mux(&bench).await;
    assert!(mux.ask("ReadBUID", &[]).await.contains_key("BUID"));
    let record = |id: &str| ("PairRecordID", Value::from(id));
    let known = mux
        .ask("ReadPairRecord", &[record("00008110-000A1B2C00000001")])
        .await;
    assert!(
        known
            .get("PairRecordData")
            .and_then(Value::as_data)
            .is_some()
    );
    assert_eq!(
        number(&mux.ask("ReadPairRecord", &[record("x")]).await),
        Some(2)
    );
    let data = ("PairRecordData", Value::Data(b"keys".to_vec()));
    assert_eq!(
        number(&mux.ask("SavePairRecord", &[record("x"), data]).await),
        Some(0)
    );
    let kept = mux.ask("ReadPairRecord", &[record("x")]).await;
    assert_eq!(
        kept.get("PairRecordData").and_then(Value::as_data),
        Some(b"keys".as_slice())
    );
    assert_eq!(
        number(&mux.ask("DeletePairRecord", &[record("x")]).await),
        Some(0)
    );
    assert_eq!(
        number(&mux.ask("DeletePairRecord", &[record("x")]).await),
        Some(2)
    );
    assert_eq!(
        number(&mux.ask("Dance", &[]).await),
        Some(1),
        "a command nobody knows"
    );
    bench.end().await;
}

#[tokio::test]
async fn bytes_nobody_should_send_cost_only_the_connection_they_came_on() {
    let bench = Bench::new().await;
    let usbmuxd = bench.usbmuxd_address();
    let header = |length: u32, version: u32, kind: u32| {
        [length, version, kind, 1].map(u32::to_le_bytes).concat()
    };
    let body = |text: &str| {
        let length = u32::try_from(text.len()).unwrap() + 16;
        [header(length, 1, 8), text.as_bytes().to_vec()].concat()
    };
    for bytes in [
        header(u32::MAX, 1, 8),
        header(3, 1, 8),
        body("no list"),
        body("<plist><array/></plist>"),
        body(&"<array>".repeat(20_000)),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
    ] {
        let mut stream = TcpStream::connect(usbmuxd).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        let mut answer = Vec::new();
        // Reset or closed: both are an end.
        let _ = stream.read_to_end(&mut answer).await;
        assert!(answer.is_empty(), "{:?}", String::from_utf8_lossy(&answer));
    }
    let mut old = TcpStream::connect(usbmuxd).await.unwrap();
    old.write_all(&header(16, 0, 3)).await.unwrap();
    let mut answer = Vec::new();
    old.read_to_end(&mut answer).await.unwrap();
    let told = [20_u32, 0, 1, 1, 6].map(u32::to_le_bytes).concat();
    assert_eq!(
        answer, told,
        "the binary dialect is told that its version is bad"
    );
    assert_eq!(
        bench.run("idevice_id", &["-l"]).await,
        "00008110-000A1B2C00000001\n"
    );
    bench.end().await;
}
