//! Promises about answers that do not come as they should.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

/// A server whose connections are handed to the test.
struct Server {
    port: u16,
    connections: mpsc::Receiver<TcpStream>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tx, connections) = mpsc::channel(8);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if tx.send(stream).await.is_err() {
                    return;
                }
            }
        });
        Self { port, connections }
    }

    fn client(&self) -> Http {
        let dial = Dial::Tcp {
            host: "127.0.0.1".to_owned(),
            port: self.port,
        };
        Http::new(dial, "/prefix".to_owned())
    }

    /// Takes the next connection, reads one request and answers so.
    async fn answer(&mut self, answer: &str) -> (TcpStream, String) {
        let mut stream = self.connections.recv().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        (stream, request)
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = vec![0; 4096];
    let count = stream.read(&mut request).await.unwrap();
    String::from_utf8(request[..count].to_vec()).unwrap()
}

fn get(path: &str) -> HttpRequest<'_> {
    HttpRequest {
        method: Method::GET,
        path,
        body: Bytes::new(),
        limit: Duration::from_secs(30),
        most: 1000,
    }
}

#[tokio::test]
async fn one_connection_serves_request_after_request() {
    let mut server = Server::start().await;
    let mut client = server.client();
    let (answer, (mut stream, request)) =
        tokio::join!(client.ask(get("/status")), server.answer(OK));
    assert_eq!(answer.unwrap().body, "{}");
    assert!(
        request.starts_with("GET /prefix/status HTTP/1.1\r\n"),
        "{request}"
    );
    let (answer, _) = tokio::join!(client.ask(get("/source")), async {
        assert!(read_request(&mut stream).await.contains("/source"));
        stream.write_all(OK.as_bytes()).await.unwrap();
    });
    assert_eq!(answer.unwrap().status, 200);
}

#[tokio::test]
async fn a_connection_closed_while_idle_is_replaced_unnoticed() {
    let mut server = Server::start().await;
    let mut client = server.client();
    let (answer, (stream, _)) = tokio::join!(client.ask(get("/a")), server.answer(OK));
    answer.unwrap();
    drop(stream);
    let live = client.live.as_mut().unwrap();
    (&mut live.connection).await.unwrap();
    let (answer, (_, request)) = tokio::join!(client.ask(get("/b")), server.answer(OK));
    assert_eq!(answer.unwrap().status, 200);
    assert!(request.contains("/b"));
}

#[tokio::test]
async fn half_an_answer_is_a_broken_connection() {
    let mut server = Server::start().await;
    for half in [
        "",
        "HTTP/1.1 200 OK\r\nContent-",
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
    ] {
        let mut client = server.client();
        let (answer, ()) = tokio::join!(client.ask(get("/a")), async {
            drop(server.answer(half).await);
        });
        let error = answer.unwrap_err();
        assert!(matches!(error, WireError::Broken(_)), "{half:?}: {error}");
    }
}

#[tokio::test]
async fn what_is_no_http_is_garbage() {
    let mut server = Server::start().await;
    for garbage in [
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "\0\0\0\0\0\0",
    ] {
        let mut client = server.client();
        let (answer, _stream) = tokio::join!(client.ask(get("/a")), server.answer(garbage));
        let error = answer.unwrap_err();
        assert!(
            matches!(error, WireError::Garbage(_)),
            "{garbage:?}: {error}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_announces_too_much_is_refused_before_it_comes() {
    let mut server = Server::start().await;
    let mut client = server.client();
    let announced = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    let (answer, _stream) = tokio::join!(client.ask(get("/a")), server.answer(announced));
    assert_eq!(answer.unwrap_err(), WireError::TooLarge(1000));
}

#[tokio::test]
async fn an_answer_without_length_is_cut_at_the_limit() {
    let mut server = Server::start().await;
    let mut client = server.client();
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "a".repeat(2000));
    let (answer, _stream) = tokio::join!(client.ask(get("/a")), server.answer(&endless));
    assert_eq!(answer.unwrap_err(), WireError::TooLarge(1000));
}

#[tokio::test]
async fn silence_ends_at_the_limit_and_takes_the_connection_along() {
    let mut server = Server::start().await;
    let mut client = server.client();
    let limit = Duration::from_millis(20);
    let asked = HttpRequest { limit, ..get("/a") };
    let (answer, (mut stream, _)) = tokio::join!(client.ask(asked), server.answer(""));
    assert_eq!(answer.unwrap_err(), WireError::Slow(limit));
    assert_eq!(stream.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn nobody_listening_is_told_from_everything_else() {
    let mut client = {
        let server = Server::start().await;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = server.client();
        client.dial = Dial::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        };
        client
    };
    let error = client.ask(get("/a")).await.unwrap_err();
    assert!(
        matches!(error, WireError::Dial(DialError::Refused { .. })),
        "{error}"
    );
}
