//! Commands on a device: shell protocol 2, which keeps streams apart and tells the exit code, and
//! what there was before it.
//!
//! Source: `shell_protocol.h` and `shell_service.cpp` of the Android Open Source Project.

use bytes::{Buf as _, Bytes, BytesMut};

use super::error::WireError;
use super::stream::Stream;

/// The most output that is kept of a command.
pub(crate) const MAX_OUTPUT: usize = 64 * 1024 * 1024;
/// Marks the exit code in the output of shells that cannot tell it.
const MARK: &str = "packtrain-exit-";

/// What a command printed and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellOutput {
    pub(crate) stdout: Bytes,
    /// Empty on devices before Android 7, where it is part of `stdout`.
    pub(crate) stderr: Bytes,
    pub(crate) exit: u8,
}

impl ShellOutput {
    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// What a person would see: both streams, without blank lines around.
    pub(crate) fn said(&self) -> String {
        let both = format!("{}\n{}", self.err().trim(), self.out().trim());
        both.trim().to_owned()
    }
}

/// How a device runs commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShellProtocol {
    /// Android 7 and later.
    Two,
    /// Before: one stream, no exit code.
    One,
}

impl ShellProtocol {
    /// The service that runs `command`. Never with a terminal, for its sake some tools print
    /// colours or wait for keys.
    pub(crate) fn service(self, command: &str) -> String {
        match self {
            Self::Two => format!("shell,v2,raw:{command}"),
            Self::One => format!("shell:{command}\necho {MARK}$?"),
        }
    }

    /// Reads what the service prints until the command ends.
    ///
    /// # Errors
    /// [`WireError::Lost`] when the stream ends before the command has told its exit code.
    pub(crate) async fn read(self, stream: &mut Stream) -> Result<ShellOutput, WireError> {
        match self {
            Self::Two => read_two(stream).await,
            Self::One => read_one(stream).await,
        }
    }
}

async fn read_two(stream: &mut Stream) -> Result<ShellOutput, WireError> {
    let mut decoder = Decoder::default();
    loop {
        let bytes = stream.read_some().await?;
        if bytes.is_empty() {
            // Exit code 0 is never guessed: adb itself does, and takes a lost device for success.
            return Err(stream.lost());
        }
        match decoder.feed(&bytes) {
            Ok(None) => {}
            Ok(Some(output)) => return Ok(output),
            Err(reason) => return Err(stream.garbled(reason)),
        }
    }
}

/// Takes shell protocol 2 apart: `id, length as u32, data`.
#[derive(Debug, Default)]
struct Decoder {
    arrived: BytesMut,
    stdout: BytesMut,
    stderr: BytesMut,
}

impl Decoder {
    /// The output once the exit code has come.
    fn feed(&mut self, bytes: &[u8]) -> Result<Option<ShellOutput>, String> {
        self.arrived.extend_from_slice(bytes);
        while let Some(mut header) = self.arrived.get(..5) {
            let id = header.get_u8();
            let length = header.get_u32_le() as usize;
            let kept = self.stdout.len() + self.stderr.len();
            if length > MAX_OUTPUT.saturating_sub(kept) {
                return Err(format!("it printed more than {MAX_OUTPUT} bytes"));
            }
            if self.arrived.len() - 5 < length {
                break;
            }
            self.arrived.advance(5);
            let data = self.arrived.split_to(length);
            match id {
                1 => self.stdout.extend_from_slice(&data),
                2 => self.stderr.extend_from_slice(&data),
                3 => {
                    return Ok(Some(ShellOutput {
                        stdout: self.stdout.split().freeze(),
                        stderr: self.stderr.split().freeze(),
                        exit: *data.first().ok_or("an exit without a code")?,
                    }));
                }
                other => return Err(format!("unknown part {other} of a shell's output")),
            }
        }
        Ok(None)
    }
}

/// The output in pieces of shell protocol 2.
#[cfg(feature = "fuzzing")]
pub(crate) fn decode(pieces: &[&[u8]]) -> Result<Option<ShellOutput>, String> {
    let mut decoder = Decoder::default();
    for piece in pieces {
        if let Some(output) = decoder.feed(piece)? {
            return Ok(Some(output));
        }
    }
    Ok(None)
}

async fn read_one(stream: &mut Stream) -> Result<ShellOutput, WireError> {
    let all = stream.read_to_end(MAX_OUTPUT).await?;
    split_mark(&all).ok_or_else(|| stream.lost())
}

/// Output and exit code of a command whose shell was asked to print the code behind it.
fn split_mark(all: &[u8]) -> Option<ShellOutput> {
    let at = all
        .windows(MARK.len())
        .rposition(|window| window == MARK.as_bytes())?;
    let code = std::str::from_utf8(all.get(at + MARK.len()..)?).ok()?;
    // The last bytes may be missing when the device was lost; a whole line is not.
    let exit = code.strip_suffix('\n')?.trim().parse().ok()?;
    Some(ShellOutput {
        stdout: Bytes::copy_from_slice(all.get(..at)?),
        stderr: Bytes::new(),
        exit,
    })
}

/// Quotes a word so that a device's shell takes it as it is.
pub(crate) fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(id: u8, data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).unwrap().to_le_bytes();
        [&[id][..], &length, data].concat()
    }

    proptest! {
        #[test]
        fn streams_and_exit_code_come_out_however_the_bytes_are_cut(
            parts in proptest::collection::vec((1..=2_u8, proptest::collection::vec(any::<u8>(), 0..50)), 0..8),
            exit in any::<u8>(),
            cut in 1..40_usize,
        ) {
            let mut wire: Vec<u8> = parts.iter().flat_map(|(id, data)| part(*id, data)).collect();
            wire.extend(part(3, &[exit]));
            let of = |wanted: u8| -> Vec<u8> {
                parts.iter().filter(|(id, _)| *id == wanted).flat_map(|(_, data)| data.clone()).collect()
            };
            let mut decoder = Decoder::default();
            let mut output = None;
            for chunk in wire.chunks(cut) {
                prop_assert!(output.is_none());
                output = decoder.feed(chunk).unwrap();
            }
            let output = output.unwrap();
            prop_assert_eq!(&output.stdout[..], &of(1)[..]);
            prop_assert_eq!(&output.stderr[..], &of(2)[..]);
            prop_assert_eq!(output.exit, exit);
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Decoder::default().feed(&bytes);
            let _ = split_mark(&bytes);
        }

        #[test]
        fn a_quoted_word_is_one_word_again(word in "[ -~äß\n]{0,20}") {
            prop_assert_eq!(unquote(&quote(&word)), word);
        }
    }

    /// What a POSIX shell makes of a word that consists of plain and quoted parts.
    fn unquote(text: &str) -> String {
        let mut word = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '\'' => word.extend(chars.by_ref().take_while(|c| *c != '\'')),
                '\\' => word.extend(chars.next()),
                c => word.push(c),
            }
        }
        word
    }

    #[test]
    fn a_shell_without_exit_codes_tells_it_in_its_last_line() {
        let output = split_mark(b"a\npacktrain-exit-0\nb\npacktrain-exit-17\r\n").unwrap();
        assert_eq!(output.out(), "a\npacktrain-exit-0\nb\n");
        assert_eq!(output.exit, 17);
        for lost in [
            &b"partial outp"[..],
            b"packtrain-exit-",
            b"packtrain-exit-1",
        ] {
            assert_eq!(split_mark(lost), None);
        }
    }
}
