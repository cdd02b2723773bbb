//! A plain HTTP client: one connection that is kept alive, JSON in and out.

use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HeaderMap;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// A client of one WebDriverAgent.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    session: Option<String>,
    connection: JoinHandle<()>,
}

/// What WebDriverAgent answered.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address)
            .await
            .expect("WebDriverAgent listens");
        Self::over(stream).await
    }

    pub async fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
        let connection = tokio::spawn(async {
            // A connection that a fault breaks is what some tests look for.
            let _ = connection.await;
        });
        Self {
            sender,
            session: None,
            connection,
        }
    }

    /// Makes a session for an app.
    pub async fn start(&mut self, bundle_id: &str) {
        let capabilities = json!({"capabilities": {"alwaysMatch": {"bundleId": bundle_id}}});
        let answer = self.send("POST", "/session", capabilities).await;
        let answer = answer.expect("an answer").ok();
        self.session = Some(answer["sessionId"].as_str().expect("a session").to_owned());
    }

    pub fn session(&self) -> &str {
        self.session.as_deref().expect("a session was made")
    }

    /// A command of the session, or one without when there is none.
    pub async fn post(&mut self, path: &str, body: Value) -> Answer {
        let path = self.path(path);
        self.send("POST", &path, body).await.expect("an answer")
    }

    /// What a command answers that must succeed.
    pub async fn did(&mut self, path: &str, body: Value) -> Value {
        self.post(path, body).await.ok()
    }

    /// As [`Client::post`], with GET.
    pub async fn get(&mut self, path: &str) -> Answer {
        let path = self.path(path);
        self.send("GET", &path, Value::Null)
            .await
            .expect("an answer")
    }

    fn path(&self, path: &str) -> String {
        match &self.session {
            Some(session) => format!("/session/{session}{path}"),
            None => path.to_owned(),
        }
    }

    /// One request by its whole path; `None` when the connection breaks instead of an answer.
    pub async fn send(&mut self, method: &str, path: &str, body: Value) -> Option<Answer> {
        let body = match body {
            Value::Null => Bytes::new(),
            Value::String(raw) => Bytes::from(raw),
            body => Bytes::from(body.to_string()),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .body(Full::new(body))
            .expect("a valid request");
        self.sender.ready().await.ok()?;
        let response = self.sender.send_request(request).await.ok()?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.into_body().collect().await.ok()?.to_bytes();
        let text = String::from_utf8_lossy(&body).into_owned();
        let body = serde_json::from_slice(&body).unwrap_or(Value::String(text));
        Some(Answer {
            status,
            headers,
            body,
        })
    }

    /// The id of the first element found.
    pub async fn find(&mut self, using: &str, value: &str) -> String {
        let found = json!({"using": using, "value": value});
        let found = self.post("/element", found).await.ok();
        found["ELEMENT"].as_str().expect("an element").to_owned()
    }

    /// How many elements are found.
    pub async fn count(&mut self, using: &str, value: &str) -> usize {
        let found = json!({"using": using, "value": value});
        let found = self.post("/elements", found).await.ok();
        found.as_array().expect("a list").len()
    }

    /// Taps the element with that accessibility id.
    pub async fn tap(&mut self, id: &str) {
        let element = self.find("accessibility id", id).await;
        self.post(&format!("/element/{element}/click"), json!({}))
            .await
            .ok();
    }

    /// The text of the element with that accessibility id.
    pub async fn text(&mut self, id: &str) -> String {
        let element = self.find("accessibility id", id).await;
        let text = self.get(&format!("/element/{element}/text")).await.ok();
        text.as_str().expect("a text").to_owned()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Answer {
    /// The value of an answer that says it went well.
    #[track_caller]
    pub fn ok(mut self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{:#}", self.body);
        self.body["value"].take()
    }

    /// Fails unless it is this error with this code.
    #[track_caller]
    pub fn is_error(&self, status: u16, error: &str) -> &str {
        let value = &self.body["value"];
        assert_eq!(
            (self.status.as_u16(), value["error"].as_str()),
            (status, Some(error)),
            "{:#}",
            self.body
        );
        value["message"].as_str().expect("a message")
    }
}
