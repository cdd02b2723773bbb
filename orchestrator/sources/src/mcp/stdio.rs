//! A server's standard input and output as a transport: one JSON-RPC message a line. What is no
//! message goes to the source's log, and a line that is too long costs its call, not the connection.

use std::io;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWriteExt, BufReader};
use tokio::process::ChildStdin;
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;

use super::unreadable::answered;

/// What stands before a line of the standard output in a log.
pub(crate) const STDOUT: &str = "[stdout] ";
/// Bytes of one message.
pub(crate) const MAX_LINE: usize = 16 * 1024 * 1024;
/// Bytes that are kept for the next message.
const KEPT_LINE: usize = 64 * 1024;
/// Bytes at either end of a message that is too long, in which its id is looked for.
const ENDS: usize = 256;
/// Messages that may stand in one line, as an array.
const MAX_BATCH: usize = 1000;
/// Messages that were read and not yet taken; a server that writes more waits.
const MESSAGES: usize = 64;

/// A server's standard input. Closed, it lets go of what is still being written: a server need not
/// read.
pub(crate) struct Stdin {
    pipe: Mutex<Option<ChildStdin>>,
    closed: CancellationToken,
}

impl Stdin {
    pub(crate) fn new(pipe: Option<ChildStdin>) -> Arc<Self> {
        Arc::new(Self {
            pipe: Mutex::new(pipe),
            closed: CancellationToken::new(),
        })
    }

    async fn write(&self, line: &[u8]) -> io::Result<()> {
        let writing = async {
            let mut pipe = self.pipe.lock().await;
            let pipe = pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
            pipe.write_all(line).await?;
            pipe.flush().await
        };
        let written = self.closed.run_until_cancelled(writing).await;
        written.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// Closes it, which asks the server to end.
    pub(crate) async fn close(&self) {
        self.closed.cancel();
        self.pipe.lock().await.take();
    }
}

/// What a server wrote.
pub(crate) struct StdioLines {
    messages: mpsc::Sender<ServerJsonRpcMessage>,
    /// Lines that are not messages.
    log: mpsc::Sender<String>,
}

/// A connection over standard input and output.
pub(crate) struct StdioTransport {
    stdin: Arc<Stdin>,
    messages: mpsc::Receiver<ServerJsonRpcMessage>,
}

impl StdioTransport {
    /// A transport and what feeds it. Closing the transport closes `stdin`, which asks the server to
    /// end.
    pub(crate) fn new(stdin: Arc<Stdin>, log: mpsc::Sender<String>) -> (Self, StdioLines) {
        let (sender, messages) = mpsc::channel(MESSAGES);
        let lines = StdioLines {
            messages: sender,
            log,
        };
        (Self { stdin, messages }, lines)
    }
}

impl StdioLines {
    /// Reads until the server ends. When nobody takes its messages any more they are logged like all
    /// else: a pipe that nobody reads would end a server that only talks too much.
    pub(crate) async fn read(self, stdout: impl AsyncRead + Unpin) {
        let mut reader = BufReader::with_capacity(64 * 1024, stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            line.shrink_to(KEPT_LINE);
            match read_line(&mut reader, &mut line).await {
                Ok(Length::Nothing) | Err(_) => return,
                Ok(Length::Whole) => self.take(&line).await,
                Ok(Length::TooLong(bytes)) => {
                    self.log(format!("a message of {bytes} bytes was dropped").as_bytes());
                    if let Some(answer) = too_long(&line, bytes) {
                        // It may have no receiver any more.
                        let _ = self.messages.send(answer).await;
                    }
                }
            }
        }
    }

    async fn take(&self, line: &[u8]) {
        let messages = match said(line) {
            ParsedLine::Messages(messages) => messages,
            ParsedLine::Unreadable(answers) => {
                self.log(line);
                answers
            }
            ParsedLine::Other => return self.log(line),
        };
        for message in messages {
            if self.messages.send(message).await.is_err() {
                return self.log(line);
            }
        }
    }

    fn log(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        if !text.is_empty() {
            // A source that writes faster than a disk loses lines of its log.
            let _ = self.log.try_send(format!("{STDOUT}{text}"));
        }
    }
}

/// How much of a line was read.
enum Length {
    /// All.
    Whole,
    /// Its two ends, of this many bytes.
    TooLong(usize),
    /// There is no more.
    Nothing,
}

/// Reads a line. Of one that is too long the beginning and the end are kept.
async fn read_line(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    line: &mut Vec<u8>,
) -> io::Result<Length> {
    let mut bytes = 0;
    loop {
        let (taken, is_end) = {
            let buffer = reader.fill_buf().await?;
            if buffer.is_empty() {
                return Ok(if bytes == 0 {
                    Length::Nothing
                } else {
                    length(bytes)
                });
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            bytes += part.len();
            line.extend_from_slice(part);
            if line.len() > MAX_LINE || bytes > MAX_LINE && line.len() > 4 * ENDS {
                // From here on only the last bytes matter.
                line.drain(ENDS..line.len() - ENDS);
            }
            (part.len() + usize::from(end.is_some()), end.is_some())
        };
        reader.consume(taken);
        if is_end {
            return Ok(length(bytes));
        }
    }
}

const fn length(bytes: usize) -> Length {
    if bytes > MAX_LINE {
        Length::TooLong(bytes)
    } else {
        Length::Whole
    }
}

/// What a line is.
enum ParsedLine {
    /// One message, or several as an array.
    Messages(Vec<ServerJsonRpcMessage>),
    /// Answers that are not JSON, and what stands for them.
    Unreadable(Vec<ServerJsonRpcMessage>),
    /// Something for the log.
    Other,
}

fn said(line: &[u8]) -> ParsedLine {
    let read = match line.trim_ascii_start().first() {
        Some(b'{') => match serde_json::from_slice(line) {
            Ok(message) => return ParsedLine::Messages(vec![message]),
            Err(_) => {
                serde_json::from_slice(line).map(|value| no_answer(&value).into_iter().collect())
            }
        },
        Some(b'[') => serde_json::from_slice(line).map(|Batch(messages)| messages),
        _ => return ParsedLine::Other,
    };
    match read {
        Ok(messages) if messages.is_empty() => ParsedLine::Other,
        Ok(messages) => ParsedLine::Messages(messages),
        Err(error) => {
            let fail = |id| failed(id, format!("its answer cannot be read: {error}"));
            let answers: Vec<_> = answered(line).into_iter().map(fail).collect();
            if answers.is_empty() {
                ParsedLine::Other
            } else {
                ParsedLine::Unreadable(answers)
            }
        }
    }
}

/// The messages of an array, which servers of 2025-03-26 may send. What is none is left out.
struct Batch(Vec<ServerJsonRpcMessage>);

impl<'de> Deserialize<'de> for Batch {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements;

        impl<'de> serde::de::Visitor<'de> for Elements {
            type Value = Batch;

            fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                to.write_str("messages")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut elements: A,
            ) -> Result<Batch, A::Error> {
                let mut messages = Vec::new();
                // One by one: as values, an array of small numbers takes many times its length.
                while let Some(element) = elements.next_element::<Value>()? {
                    let message = ServerJsonRpcMessage::deserialize(&element).ok();
                    messages.extend(message.or_else(|| no_answer(&element)));
                    if messages.len() > MAX_BATCH {
                        return Err(serde::de::Error::custom(format_args!(
                            "more than {MAX_BATCH} messages in one line"
                        )));
                    }
                }
                Ok(Batch(messages))
            }
        }

        deserializer.deserialize_seq(Elements)
    }
}

/// The answer that stands for one that is none, when its id can be seen.
fn no_answer(said: &Value) -> Option<ServerJsonRpcMessage> {
    let is_answer = said.get("result").or_else(|| said.get("error")).is_some();
    let id = said.get("id")?.as_i64()?;
    (is_answer && said.get("method").is_none()).then(|| failed(id, "invalid answer".to_owned()))
}

fn failed(id: i64, message: String) -> ServerJsonRpcMessage {
    let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, message, None);
    JsonRpcMessage::Error(JsonRpcError::new(Some(RequestId::Number(id)), error))
}

/// The answer that stands for one that is too long, when its id can be seen.
fn too_long(ends: &[u8], bytes: usize) -> Option<ServerJsonRpcMessage> {
    let text = String::from_utf8_lossy(ends);
    let head: String = text.chars().take(ENDS).collect();
    let tail: String = text
        .chars()
        .rev()
        .take(ENDS)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    let requests = r#"^\s*\{\s*("jsonrpc"\s*:\s*"2\.0"\s*,\s*)?("id"\s*:\s*[^,]+,\s*)?"method""#;
    if regex::Regex::new(requests).ok()?.is_match(&head) {
        // Its id is the server's own.
        return None;
    }
    let ids = [
        r#"^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d+)"#,
        r#"^\s*\{\s*"id"\s*:\s*(\d+)"#,
    ];
    let at_start = ids.iter().find_map(|id| number(id, &head));
    let id = at_start.or_else(|| {
        number(
            r#""id"\s*:\s*(\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$"#,
            &tail,
        )
    })?;
    let message = format!("its answer has {bytes} bytes, at most {MAX_LINE} are taken");
    Some(failed(id, message))
}

fn number(pattern: &str, text: &str) -> Option<i64> {
    let found = regex::Regex::new(pattern).ok()?.captures(text)?;
    found[1].parse().ok()
}

impl Transport<RoleClient> for StdioTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let stdin = Arc::clone(&self.stdin);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            stdin.write(&line).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.stdin.close().await;
        Ok(())
    }
}
