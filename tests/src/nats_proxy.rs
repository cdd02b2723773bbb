//! A TCP proxy before a NATS server that knows where messages begin and end: it counts what clients
//! ask, drops acknowledgements, stops without closing, cuts.
//!
//! It passes on byte for byte what it was not told to hold back, but for the other addresses that a
//! server names of itself. It knows nothing of what messages are about.

mod frame;
mod rules;

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::{Condvar, Mutex, MutexGuard};

pub use frame::{Frame, LARGEST_PAYLOAD, LONGEST_LINE, Operation, read, without_other_addresses};
pub use rules::{Counts, Direction, Link, Links, covers};

use rules::Rules;

/// A proxy that runs; dropped, it closes all connections and its threads end.
pub struct NatsProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Told when something changes that a stalled connection waits for.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    rules: Rules,
    links: BTreeMap<Link, [TcpStream; 2]>,
    /// New connections are closed at once.
    refuses: bool,
    ended: bool,
}

impl NatsProxy {
    /// A proxy on a free port of loopback, before the server at `server`.
    ///
    /// # Panics
    /// When nothing can listen on loopback.
    pub fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let accepting = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || shared.accept(&listener, server))
        };
        Self {
            address,
            shared,
            accepting: Some(accepting),
        }
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What clients are given: `nats://127.0.0.1:4222`.
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    /// What clients have sent until now.
    pub fn counts(&self) -> Counts {
        self.shared.lock().rules.counts.clone()
    }

    /// The connections that are open.
    pub fn links(&self) -> Vec<Link> {
        self.shared.lock().links.keys().copied().collect()
    }

    /// Keeps the answers to the next `count` publications from their clients whose subject the pattern
    /// covers. The server gets the publications.
    pub fn drop_acks(&self, pattern: &str, count: u64) {
        self.shared.lock().rules.drop_acks(pattern, count);
    }

    /// Keeps the answer to every so many of the publications from their clients whose subject the
    /// pattern covers, until [`keep_acks`](Self::keep_acks).
    pub fn thin_acks(&self, pattern: &str, every: u64) {
        self.shared.lock().rules.thin_acks(pattern, every);
    }

    /// Lets all answers pass from now on.
    pub fn keep_acks(&self) {
        self.shared.lock().rules.keep_acks();
    }

    /// Passes nothing on any more in a direction and closes nothing, as where packets are lost.
    pub fn stall(&self, links: Links, direction: Direction) {
        self.shared.lock().rules.stall(links, direction);
    }

    /// Both directions of all connections and of those to come: nobody is reached, nobody is told.
    pub fn stall_all(&self) {
        self.stall(Links::All, Direction::ToServer);
        self.stall(Links::All, Direction::ToClient);
    }

    /// Passes on again, also what has come meanwhile.
    pub fn flow(&self, links: Links) {
        self.shared.lock().rules.flow(links);
        self.shared.changed.notify_all();
    }

    /// Closes all connections. Clients may come again.
    pub fn cut(&self) {
        self.shared.lock().close_all();
        self.shared.changed.notify_all();
    }

    /// Closes all connections and every one that comes, until told otherwise.
    pub fn refuse(&self, refuses: bool) {
        let mut state = self.shared.lock();
        state.refuses = refuses;
        if refuses {
            state.close_all();
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Drop for NatsProxy {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.ended = true;
        state.close_all();
        drop(state);
        self.shared.changed.notify_all();
        // Wakes the listener, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl State {
    fn close_all(&mut self) {
        for stream in std::mem::take(&mut self.links).into_values().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Takes connections until the end, and then waits for those that carry them.
    fn accept(self: &Arc<Self>, listener: &TcpListener, server: SocketAddr) {
        let mut carrying: Vec<JoinHandle<()>> = Vec::new();
        let mut number = 0;
        while let Ok((client, _)) = listener.accept() {
            if self.lock().ended {
                break;
            }
            carrying.retain(|thread| !thread.is_finished());
            number += 1;
            if let Ok(threads) = self.open(Link(number), client, server) {
                carrying.extend(threads);
            }
        }
        for thread in carrying {
            let _ = thread.join();
        }
    }

    fn open(
        self: &Arc<Self>,
        link: Link,
        client: TcpStream,
        server: SocketAddr,
    ) -> io::Result<[JoinHandle<()>; 2]> {
        if self.lock().refuses {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let server = TcpStream::connect(server)?;
        for stream in [&client, &server] {
            stream.set_nodelay(true)?;
        }
        let ends = [client.try_clone()?, server.try_clone()?];
        let back = (server.try_clone()?, client.try_clone()?);
        let mut state = self.lock();
        if state.ended || state.refuses {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        state.links.insert(link, ends);
        state.rules.counts.links += 1;
        drop(state);
        let carry = |direction, from: TcpStream, to: TcpStream| {
            let shared = Arc::clone(self);
            std::thread::spawn(move || {
                // Why it ended does not matter: the other side is told by the end.
                let _ = shared.carry(link, direction, &from, &to);
                shared.close(link);
            })
        };
        Ok([
            carry(Direction::ToServer, client, server),
            carry(Direction::ToClient, back.0, back.1),
        ])
    }

    /// Passes on what comes until either side is gone.
    fn carry(
        &self,
        link: Link,
        direction: Direction,
        from: &TcpStream,
        mut to: &TcpStream,
    ) -> io::Result<()> {
        let mut from = BufReader::with_capacity(64 * 1024, from);
        while let Some(frame) = read(&mut from)? {
            if !self.may_pass(link, direction, &frame.operation)? {
                continue;
            }
            let rewritten = match frame.operation {
                Operation::Info => without_other_addresses(&frame.bytes),
                _ => None,
            };
            to.write_all(rewritten.as_deref().unwrap_or(&frame.bytes))?;
        }
        Ok(())
    }

    /// Waits while the way is stalled; whether the frame is passed on then.
    fn may_pass(
        &self,
        link: Link,
        direction: Direction,
        operation: &Operation,
    ) -> io::Result<bool> {
        let mut state = self.lock();
        while state.rules.is_stalled(link, direction) && state.links.contains_key(&link) {
            self.changed.wait(&mut state);
        }
        if state.links.contains_key(&link) {
            Ok(state.rules.passes(direction, operation))
        } else {
            Err(io::ErrorKind::ConnectionAborted.into())
        }
    }

    /// Closes one connection, both ways.
    fn close(&self, link: Link) {
        let closed = self.lock().links.remove(&link);
        for stream in closed.into_iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.changed.notify_all();
    }
}
