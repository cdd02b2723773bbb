//! A client's session: from `shell:` and `exec:` to a shell with input and output.
//! Source: adb's `daemon/shell_service.cpp` and `shell_protocol.h`.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::{Notify, mpsc};

use crate::android::Android;
use crate::android::features::Generation;
use crate::android::files::FileUser;
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{Client, Input, Io, Output, Style, pipe, shell_packet};
use crate::android::stream::Stream;

/// Packets of shell v2.
const STDIN: u8 = 0;
const STDOUT: u8 = 1;
const STDERR: u8 = 2;
const EXIT: u8 = 3;
const CLOSE_STDIN: u8 = 4;
const WINDOW_SIZE: u8 = 5;

/// The longest packet a client may send, in bytes.
const MAX_PACKET: usize = 1024 * 1024;

/// From the end of a client's stream to the signal that ends its command: a command that only
/// waited for the end of its input is done by then.
const SIGNAL_DELAY: Duration = Duration::from_millis(100);

/// How a session is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Shell v2 without a terminal: separate standard error, an exit code.
    Packets,
    /// Shell v2 with a terminal.
    PacketTerminal,
    /// A terminal that changes nothing: standard error is mixed in, no exit code. This is what
    /// `exec:` and the old `shell:` get, although nobody asked for a terminal.
    RawTerminal,
    /// A terminal for a human.
    Terminal,
}

impl Mode {
    /// The mode of a service `shell[,v2][,TERM=x][,raw|pty]:COMMAND`.
    pub fn of_shell(service: &str, command: &str, generation: Generation) -> Self {
        let mut parts = service.split(',').skip(1);
        let has = |word: &str| service.split(',').skip(1).any(|part| part == word);
        let v2 = parts.any(|part| part == "v2") && generation == Generation::Current;
        let terminal = if has("raw") {
            false
        } else {
            has("pty") || command.is_empty()
        };
        match (v2, terminal) {
            (true, false) => Self::Packets,
            (true, true) => Self::PacketTerminal,
            (false, false) => Self::RawTerminal,
            (false, true) => Self::Terminal,
        }
    }

    const fn is_v2(self) -> bool {
        matches!(self, Self::Packets | Self::PacketTerminal)
    }

    const fn is_for_human(self) -> bool {
        matches!(self, Self::PacketTerminal | Self::Terminal)
    }
}

/// The exit code of what Ctrl-C ended. (128 + SIGINT)
const INTERRUPTED: i32 = 130;

/// Runs `command`, or an interactive shell when it is empty, until it ends.
pub(in crate::android) async fn run(
    android: &Arc<Android>,
    stream: Stream,
    mode: Mode,
    command: &str,
) {
    let writer = stream.writer();
    let client = |packet| {
        let style = Style {
            packet: mode.is_v2().then_some(packet),
            cooked: mode.is_for_human(),
        };
        Client::new(writer.clone(), style)
    };
    let stdout = client(STDOUT);
    // A terminal shows both alike.
    let stderr = match mode {
        Mode::Packets => client(STDERR),
        Mode::PacketTerminal | Mode::RawTerminal | Mode::Terminal => stdout.clone(),
    };
    let terminal = match mode {
        Mode::Packets => Weak::new(),
        Mode::PacketTerminal | Mode::RawTerminal | Mode::Terminal => Arc::downgrade(&stdout),
    };
    let process = android.start_process(533, "sh", &format!("sh -c {command}"));
    let mut shell = Shell::new(android.clone(), terminal, process.pid);
    let (keys, stdin) = pipe();
    let io = Io {
        stdin,
        stdout: Output::Client(stdout),
        stderr: Output::Client(stderr),
    };
    let code = {
        let interrupt = Notify::new();
        let keyboard = Keyboard {
            keys: Some(keys),
            mode,
            echo: io.stdout.clone(),
            interrupt: &interrupt,
        };
        let listening = listen(stream, keyboard);
        let running = async {
            if command.is_empty() {
                interact(&mut shell, &io, mode, &interrupt).await
            } else {
                tokio::select! {
                    biased;
                    code = shell.run_text(command, &io) => code,
                    () = interrupt.notified() => INTERRUPTED,
                }
            }
        };
        tokio::select! {
            biased;
            code = running => code,
            () = listening => 129,
            () = process.end.cancelled() => 137,
        }
    };
    drop((io, shell));
    if mode.is_v2() {
        let code = u8::try_from(code & 0xff).unwrap_or(255);
        // A client that hung up needs no answer.
        let _ = writer.send(shell_packet(EXIT, &[code])).await;
    }
}

/// Where goes what the client types.
struct Keyboard<'a> {
    /// The command's input, while it is open.
    keys: Option<mpsc::Sender<Bytes>>,
    mode: Mode,
    echo: Output,
    /// Told of Ctrl-C.
    interrupt: &'a Notify,
}

/// Hands on what the client types. Ends only when the client hangs up.
async fn listen(mut stream: Stream, mut keyboard: Keyboard<'_>) {
    let mut buffer = BytesMut::new();
    let ended = stream.ended();
    while let Some(data) = stream.receive().await {
        if !keyboard.mode.is_v2() {
            tokio::select! {
                biased;
                () = keyboard.type_in(data) => continue,
                () = ended.cancelled() => break,
            }
        }
        buffer.extend_from_slice(&data);
        while buffer.len() >= 5 {
            let length = [buffer[1], buffer[2], buffer[3], buffer[4]];
            let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
            if length > MAX_PACKET {
                return;
            }
            if buffer.len() < 5 + length {
                break;
            }
            let packet = buffer.split_to(5 + length).freeze();
            match packet[0] {
                STDIN => tokio::select! {
                    biased;
                    () = keyboard.type_in(packet.slice(5..)) => {}
                    // A command that does not read is not waited for.
                    () = ended.cancelled() => break,
                },
                CLOSE_STDIN => keyboard.keys = None,
                WINDOW_SIZE => {}
                // Others are for the host; a device ignores them.
                _ => {}
            }
        }
    }
    // The input ends at once, the signal follows.
    drop(keyboard);
    tokio::time::sleep(SIGNAL_DELAY).await;
}

impl Keyboard<'_> {
    async fn type_in(&mut self, data: Bytes) {
        if !self.mode.is_for_human() {
            // A command that does not read holds nobody up: the pipe takes what fits.
            self.send(data).await;
            return;
        }
        let (mut typed, mut shown) = (BytesMut::new(), BytesMut::new());
        for byte in &data {
            match byte {
                b'\r' | b'\n' => {
                    typed.extend_from_slice(b"\n");
                    shown.extend_from_slice(b"\r\n");
                }
                // Ctrl-C: what stands in the line is gone, and so is what runs.
                3 => {
                    shown.extend_from_slice(b"^C\r\n");
                    let lines = typed.iter().rposition(|byte| *byte == b'\n');
                    typed.truncate(lines.map_or(0, |end| end + 1));
                    self.echo(&mut shown).await;
                    self.send(typed.split().freeze()).await;
                    self.interrupt.notify_one();
                }
                // Ctrl-D
                4 => {
                    self.echo(&mut shown).await;
                    self.send(typed.split().freeze()).await;
                    self.keys = None;
                }
                erase @ (8 | 127) => {
                    typed.extend_from_slice(&[*erase]);
                    shown.extend_from_slice(b"\x08 \x08");
                }
                other => {
                    typed.extend_from_slice(&[*other]);
                    shown.extend_from_slice(&[*other]);
                }
            }
        }
        self.echo(&mut shown).await;
        self.send(typed.freeze()).await;
    }

    async fn echo(&self, shown: &mut BytesMut) {
        // The line ends are made for a terminal where it is written.
        let text = String::from_utf8_lossy(&shown.split()).replace("\r\n", "\n");
        // Whoever hung up sees no echo.
        let _ = self.echo.write(text.into_bytes()).await;
    }

    async fn send(&mut self, data: Bytes) {
        if data.is_empty() {
            return;
        }
        if let Some(open) = &self.keys
            && open.send(data).await.is_err()
        {
            // What read it has ended.
            self.keys = None;
        }
    }
}

/// A typed line without what was erased again.
fn edited(line: &[u8]) -> String {
    let mut text = String::new();
    for c in String::from_utf8_lossy(line).chars() {
        match c {
            '\u{8}' | '\u{7f}' => {
                text.pop();
            }
            c => text.push(c),
        }
    }
    text
}

/// Reads commands line by line until the input ends or says `exit`.
async fn interact(shell: &mut Shell, io: &Io, mode: Mode, interrupt: &Notify) -> i32 {
    let input: Input = io.stdin.clone();
    loop {
        if mode.is_for_human() {
            let host = shell.android.device().shape().product;
            let sign = if shell.who == FileUser::Root {
                '#'
            } else {
                '$'
            };
            let prompt = format!("{host}:{} {sign} ", shell.cwd);
            if io.stdout.write(prompt).await.is_err() {
                return 129;
            }
        }
        let line = tokio::select! {
            biased;
            line = input.line() => line,
            () = interrupt.notified() => {
                shell.status = INTERRUPTED;
                continue;
            }
        };
        let Some(line) = line else {
            return shell.status;
        };
        let mut text = if mode.is_for_human() {
            edited(&line)
        } else {
            String::from_utf8_lossy(&line).into_owned()
        };
        // A command that is not complete goes on in the next line.
        while let Err(error) = crate::android::shell::parse::parse(&text)
            && error.needs_more()
            && let Some(more) = input.line().await
        {
            text.push('\n');
            text.push_str(&String::from_utf8_lossy(&more));
        }
        let depth = shell.depth;
        let result = tokio::select! {
            biased;
            result = shell.evaluate(&text, io) => result,
            () = interrupt.notified() => Ok(INTERRUPTED),
        };
        shell.depth = depth;
        match result {
            Ok(code) => shell.status = code,
            Err(stop) => return stop.0,
        }
    }
}
