//! A plain HTTP/1.1 client, as thin as one gets, and statistics.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tokio::time::Instant;

/// A connection that stays open.
pub(crate) struct Connection {
    stream: TcpStream,
    path: &'static str,
    address: String,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: &str, path: &'static str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            path,
            address: address.to_owned(),
            buffer: Vec::with_capacity(64 * 1024),
        }
    }

    pub(crate) fn send(&mut self, body: &str) {
        let request = request(self.path, &self.address, body);
        self.stream.write_all(request.as_bytes()).unwrap();
    }

    /// The body of the next answer.
    pub(crate) fn receive(&mut self) -> String {
        self.buffer.clear();
        let mut part = [0; 16 * 1024];
        loop {
            let count = self.stream.read(&mut part).unwrap();
            assert!(count > 0, "the connection was closed");
            self.buffer.extend_from_slice(&part[..count]);
            if let Some(body) = whole(&self.buffer) {
                return body;
            }
        }
    }

    pub(crate) fn post(&mut self, body: &str) -> String {
        self.send(body);
        self.receive()
    }

    /// Microseconds of each request for a while.
    pub(crate) fn slice(&mut self, body: &str, time: Duration) -> Vec<f64> {
        let ends = Instant::now() + time;
        let mut took = Vec::new();
        while Instant::now() < ends {
            let begun = Instant::now();
            let answer = self.post(body);
            took.push(begun.elapsed().as_secs_f64() * 1e6);
            assert!(!answer.is_empty());
        }
        took
    }
}

/// A request with a body.
pub(crate) fn request(path: &str, address: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The body of an answer that has arrived.
fn whole(buffer: &[u8]) -> Option<String> {
    let end = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&buffer[..end]).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().unwrap())
    })?;
    let body = buffer.get(end..end + length)?;
    Some(String::from_utf8(body.to_vec()).unwrap())
}

/// Keeps a request of each body under way until the time is over; answers how many were answered.
pub(crate) fn storm(address: &str, path: &'static str, bodies: &[String], ends: Instant) -> u64 {
    let mut connections: Vec<_> = bodies
        .iter()
        .map(|_| Connection::open(address, path))
        .collect();
    for (connection, body) in connections.iter_mut().zip(bodies) {
        connection.send(body);
    }
    let mut count = 0;
    loop {
        for (connection, body) in connections.iter_mut().zip(bodies) {
            connection.receive();
            count += 1;
            connection.send(body);
        }
        if Instant::now() >= ends {
            for connection in &mut connections {
                connection.receive();
            }
            return count;
        }
    }
}

/// Processor time of a process so far.
pub(crate) fn cpu(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

pub(crate) fn quantile(values: &mut [f64], at: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a list"
    )]
    values[(last as f64 * at).round() as usize]
}

pub(crate) fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}
