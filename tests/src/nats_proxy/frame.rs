//! NATS's line protocol, as far as a proxy has to know it: where a message begins and ends, its
//! subject, and where it is to be answered. See <https://docs.nats.io/reference/nats-protocols>.

use std::io::{self, BufRead, Read as _};

/// The longest line that is read, in bytes. A server says no more than that of itself, and takes 4 KB.
pub const LONGEST_LINE: usize = 64 * 1024;
/// The largest payload that is taken for one, in bytes; more than any server is set to.
pub const LARGEST_PAYLOAD: usize = 64 * 1024 * 1024;
/// How much of a payload is asked room for before it has come.
const PAYLOAD_STEP: u64 = 64 * 1024;

/// A line and the payload behind it, to be passed on byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The bytes, line ends included.
    pub bytes: Vec<u8>,
    /// What it says.
    pub operation: Operation,
}

/// What a frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// A client publishes (`PUB`, `HPUB`).
    Publish {
        /// Where to.
        subject: String,
        /// Where it waits for an answer.
        reply: Option<String>,
    },
    /// A message for a client (`MSG`, `HMSG`), on this subject.
    Deliver(String),
    /// The server describes itself (`INFO`).
    Info,
    /// Either side asks whether the other is there.
    Ping,
    /// Anything else.
    Other,
}

/// The next frame; `None` where the stream ends between two.
///
/// # Errors
/// Those of the stream, `InvalidData` for what is not NATS or longer than it may be, and `UnexpectedEof`
/// in the middle of a frame.
pub fn read(from: &mut impl BufRead) -> io::Result<Option<Frame>> {
    let mut bytes = Vec::new();
    from.by_ref()
        .take(LONGEST_LINE as u64)
        .read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if !bytes.ends_with(b"\n") {
        return Err(if bytes.len() == LONGEST_LINE {
            wrong("a line is too long")
        } else {
            io::ErrorKind::UnexpectedEof.into()
        });
    }
    let line = std::str::from_utf8(&bytes).map_err(|_| wrong("a line is no text"))?;
    let (operation, payload) = parse(line)?;
    if let Some(payload) = payload {
        // Its own line end is part of it.
        let wanted = payload as u64 + 2;
        let before = bytes.len() as u64;
        while bytes.len() as u64 - before < wanted {
            let left = before + wanted - bytes.len() as u64;
            let step = left.min(PAYLOAD_STEP);
            if from.by_ref().take(step).read_to_end(&mut bytes)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
    Ok(Some(Frame { bytes, operation }))
}

/// What a line says, and how many bytes of payload follow it.
fn parse(line: &str) -> io::Result<(Operation, Option<usize>)> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let verb = words.first().copied().unwrap_or_default();
    let is = |name: &str| verb.eq_ignore_ascii_case(name);
    let size = |words: &[&str]| {
        let last = words.last().and_then(|word| word.parse::<usize>().ok());
        last.filter(|size| *size <= LARGEST_PAYLOAD)
            .ok_or_else(|| wrong("a message has no size"))
    };
    if is("PUB") || is("HPUB") {
        // Behind the subject and maybe the reply: a size, of HPUB two.
        let sizes = if is("PUB") { 1 } else { 2 };
        let (subject, reply) = match words.len().checked_sub(sizes) {
            Some(2) => (words[1], None),
            Some(3) => (words[1], Some(words[2].to_owned())),
            _ => return Err(wrong("a publication has no subject")),
        };
        let operation = Operation::Publish {
            subject: subject.to_owned(),
            reply,
        };
        return Ok((operation, Some(size(&words)?)));
    }
    if is("MSG") || is("HMSG") {
        let subject = words
            .get(1)
            .ok_or_else(|| wrong("a message is for nobody"))?;
        let operation = Operation::Deliver((*subject).to_owned());
        return Ok((operation, Some(size(&words)?)));
    }
    let operation = if is("INFO") {
        Operation::Info
    } else if is("PING") {
        Operation::Ping
    } else {
        Operation::Other
    };
    Ok((operation, None))
}

/// The server's description of itself without the addresses at which a client would go around the
/// proxy.
pub fn without_other_addresses(info: &[u8]) -> Option<Vec<u8>> {
    let json = info.get(4..)?;
    let mut told: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(json).ok()?;
    let named = ["connect_urls", "ws_connect_urls"].map(|key| told.remove(key));
    if named.iter().all(Option::is_none) {
        return None;
    }
    let mut line = b"INFO ".to_vec();
    line.extend(serde_json::to_vec(&told).ok()?);
    line.extend(b"\r\n");
    Some(line)
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}
