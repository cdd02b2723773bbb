//! Where a command reads from and writes to.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::android::Android;
use crate::android::blobs::BlobWriter;
use crate::android::files::FileUser;
use crate::android::stream::StreamWriter;

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 1024 * 1024;
/// Blocks on their way through a pipe.
const PIPE: usize = 16;

/// A command has to end, with this exit code: the reader of its output is gone, or it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop(pub i32);

/// The exit code of a process that nobody listened to any more. (128 + SIGPIPE)
const BROKEN_PIPE: Stop = Stop(141);

/// Where output goes; cheap to clone. What it goes to ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub enum Output {
    /// Nowhere.
    Null,
    /// The client.
    Client(Arc<Client>),
    /// The next command of a pipeline.
    Pipe(mpsc::Sender<Bytes>),
    /// A file.
    File(Arc<FileOutput>),
}

/// Writes into a file of the device, which gets its content when the last writer is done.
#[derive(Debug)]
pub struct FileOutput {
    android: Arc<Android>,
    path: String,
    who: FileUser,
    writer: Mutex<Option<BlobWriter>>,
}

impl Output {
    /// Writes all of `data`.
    ///
    /// # Errors
    /// When nobody reads it any more.
    pub async fn write(&self, data: impl Into<Bytes>) -> Result<(), Stop> {
        let data: Bytes = data.into();
        if data.is_empty() {
            return Ok(());
        }
        match self {
            Self::Null => Ok(()),
            Self::Client(client) => client.write(data).await,
            Self::Pipe(pipe) => pipe.send(data).await.map_err(|_| BROKEN_PIPE),
            Self::File(file) => file.write(&data),
        }
    }
}

/// A client's end of a session.
#[derive(Debug)]
pub struct Client {
    writer: StreamWriter,
    style: Style,
}

/// How the client wants its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// The id of the packets of shell v2; none before.
    pub packet: Option<u8>,
    /// Whether a terminal ends lines with `\r\n`.
    pub cooked: bool,
}

impl Client {
    /// An end that writes with `writer`.
    pub fn new(writer: StreamWriter, style: Style) -> Arc<Self> {
        Arc::new(Self { writer, style })
    }

    async fn write(&self, data: Bytes) -> Result<(), Stop> {
        let data = if self.style.cooked {
            cooked(&data).into()
        } else {
            data
        };
        let Some(id) = self.style.packet else {
            return self.writer.send(data).await.map_err(|_| BROKEN_PIPE);
        };
        for part in data.chunks(32 * 1024) {
            let packet = shell_packet(id, part);
            self.writer.send(packet).await.map_err(|_| BROKEN_PIPE)?;
        }
        Ok(())
    }
}

/// Line ends as a terminal shows them.
fn cooked(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 16);
    for byte in data {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

/// A packet of shell v2: id, length, data. Source: adb's `shell_protocol.h`.
pub fn shell_packet(id: u8, data: &[u8]) -> Bytes {
    let mut packet = BytesMut::with_capacity(5 + data.len());
    packet.extend_from_slice(&[id]);
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    packet.extend_from_slice(&length.to_le_bytes());
    packet.extend_from_slice(data);
    packet.freeze()
}

impl FileOutput {
    /// Writes to the file at the real path `path`, behind what is there if `before` holds it.
    pub fn open(android: Arc<Android>, path: String, who: FileUser, writer: BlobWriter) -> Output {
        Output::File(Arc::new(Self {
            android,
            path,
            who,
            writer: Mutex::new(Some(writer)),
        }))
    }

    fn write(&self, data: &[u8]) -> Result<(), Stop> {
        let mut writer = self.writer.lock();
        match writer.as_mut() {
            Some(writer) => writer.write(data).map_err(|_| Stop(1)),
            None => Err(Stop(1)),
        }
    }
}

impl Drop for FileOutput {
    fn drop(&mut self) {
        let writer = self.writer.lock().take();
        if let Some(Ok(blob)) = writer.map(BlobWriter::finish) {
            let (mut files, now) = (self.android.files.lock(), self.android.seconds());
            // It could be opened for writing; if its directory is gone since, so is the file.
            let _ = files.write(&self.path, blob, 0o666, now, &self.who);
        }
    }
}

/// Where input comes from, shared by the commands that read on from it.
#[derive(Debug, Clone)]
pub struct Input(Arc<tokio::sync::Mutex<Source>>);

#[derive(Debug)]
struct Source {
    /// What was received and not read yet.
    rest: Bytes,
    /// What follows it, if anything does.
    pipe: Option<mpsc::Receiver<Bytes>>,
}

/// Both ends of a pipe.
pub fn pipe() -> (mpsc::Sender<Bytes>, Input) {
    let (sender, receiver) = mpsc::channel(PIPE);
    (sender, Input::new(Bytes::new(), Some(receiver)))
}

impl Input {
    fn new(rest: Bytes, pipe: Option<mpsc::Receiver<Bytes>>) -> Self {
        Self(Arc::new(tokio::sync::Mutex::new(Source { rest, pipe })))
    }

    /// Nothing.
    pub fn empty() -> Self {
        Self::of(Bytes::new())
    }

    /// These bytes.
    pub fn of(bytes: impl Into<Bytes>) -> Self {
        Self::new(bytes.into(), None)
    }

    /// The next block; `None` at the end.
    pub async fn block(&self) -> Option<Bytes> {
        let mut source = self.0.lock().await;
        if source.rest.is_empty() {
            source.next().await
        } else {
            Some(std::mem::take(&mut source.rest))
        }
    }

    /// The next line without its end; `None` at the end.
    pub async fn line(&self) -> Option<Vec<u8>> {
        let mut source = self.0.lock().await;
        let mut line = Vec::new();
        loop {
            if source.rest.is_empty() {
                match source.next().await {
                    Some(block) => source.rest = block,
                    None => return (!line.is_empty()).then_some(line),
                }
            }
            if let Some(end) = source.rest.iter().position(|byte| *byte == b'\n') {
                line.extend_from_slice(&source.rest.split_to(end));
                // The line's end.
                let _ = source.rest.split_to(1);
                return Some(line);
            }
            let rest = std::mem::take(&mut source.rest);
            line.extend_from_slice(&rest);
            if line.len() > MAX_LINE {
                return Some(line);
            }
        }
    }

    /// All that comes, at most `most` bytes.
    pub async fn all(&self, most: usize) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(block) = self.block().await {
            let take = block.len().min(most - all.len());
            all.extend_from_slice(&block[..take]);
            if all.len() == most {
                break;
            }
        }
        all
    }

    /// Puts back what was read too much.
    pub async fn put_back(&self, bytes: Bytes) {
        let mut source = self.0.lock().await;
        source.rest = [bytes, std::mem::take(&mut source.rest)].concat().into();
    }
}

impl Source {
    async fn next(&mut self) -> Option<Bytes> {
        self.pipe.as_mut()?.recv().await
    }
}

/// What a command is connected to.
#[derive(Debug, Clone)]
pub struct Io {
    pub stdin: Input,
    pub stdout: Output,
    pub stderr: Output,
}
