//! The proxy before a NATS server: it passes on what it is given, and does what it is told.

use std::io::{BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use packtrain_tests::nats_proxy::{
    Direction, Frame, LONGEST_LINE, Link, Links, NatsProxy, Operation, covers, read,
    without_other_addresses,
};
use packtrain_tests::nats_server::NatsServer;
use packtrain_tests::until;

/// How long a test listens for what must not come.
const SILENCE: Duration = Duration::from_millis(200);
/// How long it waits for what must.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// A client that speaks the protocol itself.
struct Client {
    stream: TcpStream,
    from: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        let from = BufReader::new(stream.try_clone().unwrap());
        let mut client = Self { stream, from };
        assert!(client.line().starts_with("INFO "));
        client.say(b"CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\n");
        client.ping();
        client
    }

    fn say(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The next frame, byte for byte. The server is told that the client is there when it asks.
    fn frame(&mut self) -> Vec<u8> {
        loop {
            let frame = read(&mut self.from).unwrap().expect("the server is there");
            if frame.operation != Operation::Ping {
                return frame.bytes;
            }
            self.say(b"PONG\r\n");
        }
    }

    fn line(&mut self) -> String {
        String::from_utf8(self.frame()).unwrap()
    }

    /// Both ends have read all that was said before.
    fn ping(&mut self) {
        self.say(b"PING\r\n");
        assert_eq!(self.line(), "PONG\r\n");
    }

    fn publish(&mut self, subject: &str, reply: &str, payload: &str) {
        let size = payload.len();
        self.say(format!("PUB {subject} {reply} {size}\r\n{payload}\r\n").as_bytes());
    }

    /// Asks and waits for the answer.
    fn request(&mut self, subject: &str, payload: &str) -> String {
        self.say(b"SUB inbox 9\r\n");
        self.publish(subject, "inbox", payload);
        let answer = self.line();
        self.say(b"UNSUB 9\r\n");
        answer
    }

    /// Whether nothing comes for a while.
    fn is_silent(&mut self) -> bool {
        self.stream.set_read_timeout(Some(SILENCE)).unwrap();
        let is_ping = |frame: &Frame| frame.operation == Operation::Ping;
        let mut came = read(&mut self.from);
        while matches!(&came, Ok(Some(frame)) if is_ping(frame)) {
            came = read(&mut self.from);
        }
        self.stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        let kind = came.as_ref().err().map(std::io::Error::kind);
        matches!(
            kind,
            Some(std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        )
    }

    /// Whether the other side closes, and says nothing before.
    fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        let ended = self.from.read_to_end(&mut rest);
        ended.is_err() || rest.is_empty()
    }
}

struct Bench {
    proxy: NatsProxy,
    server: NatsServer,
    _folder: tempfile::TempDir,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let server = NatsServer::start(folder.path());
    Bench {
        proxy: NatsProxy::start(server.address),
        server,
        _folder: folder,
    }
}

/// A stream of the subjects `a.>`.
fn with_stream(bench: &Bench) -> Client {
    let mut client = Client::connect(bench.proxy.address());
    let create = r#"{"name":"A","subjects":["a.>"],"storage":"memory"}"#;
    let created = client.request("$JS.API.STREAM.CREATE.A", create);
    assert!(created.contains("\"did_create\":true"), "{created}");
    client
}

#[test]
fn what_passes_is_passed_on_byte_for_byte_and_counted_by_subject() {
    let bench = bench();
    let mut reader = Client::connect(bench.proxy.address());
    reader.say(b"SUB x.> 1\r\n");
    reader.ping();
    let mut writer = Client::connect(bench.proxy.address());
    // Line ends, what looks like a line, and bytes that are not text.
    let payload = b"\r\nMSG x 1 5\r\n\0\xff\xfe";
    let header = b"NATS/1.0\r\nA: b\r\n\r\n";
    let total = header.len() + payload.len();
    let mut said = format!("HPUB x.y {} {total}\r\n", header.len()).into_bytes();
    said.extend(header);
    said.extend(payload);
    said.extend(b"\r\n");
    writer.say(&said);
    let mut expected = format!("HMSG x.y 1 {} {total}\r\n", header.len()).into_bytes();
    expected.extend(header);
    expected.extend(payload);
    expected.extend(b"\r\n");
    assert_eq!(reader.frame(), expected);
    // Nothing at all, and more than any buffer of the proxy holds.
    let large = "z".repeat(900_000);
    writer.publish("x.empty", "", "");
    writer.publish("x.large", "", &large);
    assert_eq!(reader.line(), "MSG x.empty 1 0\r\n\r\n");
    assert_eq!(
        reader.line(),
        format!("MSG x.large 1 900000\r\n{large}\r\n")
    );

    let before = bench.proxy.counts();
    assert_eq!(
        (before.to("x.>"), before.to("x.*"), before.to("x.y")),
        (3, 3, 1)
    );
    assert_eq!((before.pings, before.links), (3, 2));
    writer.publish("$KV.live.host.a", "", "");
    writer.ping();
    let after = bench.proxy.counts().since(&before);
    assert_eq!(
        (after.to("$KV.live.>"), after.to(">"), after.pings),
        (1, 1, 1)
    );
    assert!(after.besides(&["$KV.>"]).is_empty(), "{after:?}");
}

#[test]
fn as_many_acknowledgements_as_it_was_told_are_dropped_and_the_server_has_the_messages() {
    let bench = bench();
    let mut client = with_stream(&bench);
    bench.proxy.drop_acks("a.>", 2);
    client.say(b"SUB ack.* 2\r\n");
    for number in 1..=3 {
        client.publish("a.b", &format!("ack.{number}"), "x");
    }
    // Other answers pass meanwhile.
    let told = client.line();
    assert!(
        told.starts_with("MSG ack.3 2 ") && told.contains("\"seq\":3"),
        "{told}"
    );
    assert_eq!(bench.proxy.counts().dropped, 2);
    let info = client.request("$JS.API.STREAM.INFO.A", "");
    assert!(info.contains("\"messages\":3"), "{info}");

    bench.proxy.drop_acks("a.>", u64::MAX);
    client.publish("a.b", "ack.4", "x");
    assert!(client.is_silent());
    bench.proxy.keep_acks();
    client.publish("a.b", "ack.5", "x");
    assert!(client.line().contains("\"seq\":5"));
}

#[test]
fn a_way_that_is_stalled_is_silent_and_open_and_only_that_way_of_that_connection() {
    let bench = bench();
    let mut first = Client::connect(bench.proxy.address());
    let mut second = Client::connect(bench.proxy.address());
    first.say(b"SUB x 1\r\n");
    first.ping();
    assert_eq!(bench.proxy.links(), [Link(1), Link(2)]);

    bench.proxy.stall(Links::One(Link(1)), Direction::ToClient);
    second.publish("x", "", "one");
    second.ping();
    assert!(first.is_silent());
    // Its own words arrive.
    second.say(b"SUB y 1\r\n");
    second.ping();
    first.publish("y", "", "two");
    assert_eq!(second.line(), "MSG y 1 3\r\ntwo\r\n");

    bench.proxy.flow(Links::One(Link(1)));
    assert_eq!(first.line(), "MSG x 1 3\r\none\r\n");

    bench.proxy.stall(Links::All, Direction::ToServer);
    first.say(b"PING\r\n");
    let mut third = TcpStream::connect(bench.proxy.address()).unwrap();
    third.write_all(b"PING\r\n").unwrap();
    assert!(first.is_silent());
    bench.proxy.flow(Links::All);
    assert_eq!(first.line(), "PONG\r\n");
}

#[test]
fn a_connection_that_is_cut_while_it_is_stalled_is_closed_and_others_may_come() {
    let bench = bench();
    let mut client = Client::connect(bench.proxy.address());
    bench.proxy.stall_all();
    client.say(b"PING\r\n");
    bench.proxy.cut();
    assert!(client.is_closed());
    assert_eq!(bench.proxy.links(), []);
    bench.proxy.flow(Links::All);
    Client::connect(bench.proxy.address()).ping();

    bench.proxy.refuse(true);
    let mut refused = TcpStream::connect(bench.proxy.address()).unwrap();
    assert_eq!(refused.read(&mut [0; 1]).unwrap_or(0), 0);
    bench.proxy.refuse(false);
    Client::connect(bench.proxy.address()).ping();
}

#[test]
fn a_server_that_is_killed_closes_its_clients_and_is_reached_again_at_the_same_place() {
    let mut bench = bench();
    let mut client = Client::connect(bench.proxy.address());
    bench.server.kill();
    assert!(client.is_closed());
    until(|| bench.proxy.links().is_empty());
    bench.server.restart();
    Client::connect(bench.proxy.address()).ping();
}

#[test]
fn a_line_without_end_a_size_beyond_reason_and_what_is_no_text_are_cut_off_cheaply() {
    let endless = vec![b'x'; LONGEST_LINE + 1];
    for wrong in [
        endless.as_slice(),
        b"PUB a 999999999999999999999\r\n",
        b"PUB a 68719476736\r\n",
        b"PUB\r\n",
        b"HPUB a b c d e 1 2\r\n",
        b"MSG a\r\n",
        b"PUB a -1\r\n",
        b"\xff\xfe\r\n",
    ] {
        let read = read(&mut BufReader::new(wrong));
        assert_eq!(
            read.unwrap_err().kind(),
            std::io::ErrorKind::InvalidData,
            "{}",
            String::from_utf8_lossy(&wrong[..wrong.len().min(40)])
        );
    }
    // Half a message is none, however much was promised.
    for half in [&b"PING"[..], b"PUB a 60000000\r\nabc"] {
        let read = read(&mut BufReader::new(half));
        assert_eq!(read.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
    }
    assert_eq!(read(&mut BufReader::new(&b""[..])).unwrap(), None);

    // A server that talks rubbish costs its own client and nobody else.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = NatsProxy::start(listener.local_addr().unwrap());
    let mut client = TcpStream::connect(proxy.address()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    server.write_all(&endless).unwrap();
    let mut said = Vec::new();
    let _ = client.read_to_end(&mut said);
    assert!(said.is_empty());
    let _ = server.shutdown(Shutdown::Both);
}

#[test]
fn a_client_is_told_of_no_way_around_the_proxy() {
    let info = b"INFO {\"server_id\":\"a\",\"connect_urls\":[\"127.0.0.1:1\"],\"port\":1}\r\n";
    let told = without_other_addresses(info).unwrap();
    let told = String::from_utf8(told).unwrap();
    assert!(
        told.starts_with("INFO {") && told.ends_with("}\r\n"),
        "{told}"
    );
    assert!(
        !told.contains("connect_urls") && told.contains("server_id"),
        "{told}"
    );
    assert_eq!(without_other_addresses(b"INFO {}\r\n"), None);
    assert_eq!(without_other_addresses(b"INFO rubbish\r\n"), None);
    let frame = read(&mut BufReader::new(&info[..])).unwrap().unwrap();
    assert_eq!(frame.operation, Operation::Info);
}

#[test]
fn patterns_cover_subjects_as_the_server_says() {
    for (pattern, subject, is_covered) in [
        ("a.b", "a.b", true),
        ("a.b", "a.b.c", false),
        ("a.b.c", "a.b", false),
        ("a.*", "a.b", true),
        ("a.*", "a.b.c", false),
        ("a.*.c", "a.b.c", true),
        ("a.>", "a.b.c", true),
        ("a.>", "a", false),
        (">", "a.b", true),
    ] {
        assert_eq!(covers(pattern, subject), is_covered, "{pattern} {subject}");
    }
}
