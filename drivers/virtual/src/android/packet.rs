//! adb packets: a header of 24 bytes, then the payload. Source: adb's `protocol.txt`.
//!
//! What arrives is hostile: the length is checked before anything is allocated, and memory grows
//! with the bytes that really come.

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Greeting.
pub const CNXN: u32 = 0x4e58_4e43;
/// Proof of a key.
pub const AUTH: u32 = 0x4854_5541;
/// A new stream.
pub const OPEN: u32 = 0x4e45_504f;
/// A stream is open, or data was taken.
pub const OKAY: u32 = 0x5941_4b4f;
/// A stream is closed.
pub const CLSE: u32 = 0x4553_4c43;
/// Data.
pub const WRTE: u32 = 0x4554_5257;

/// The oldest version that is spoken: payloads carry a sum.
pub const VERSION_MIN: u32 = 0x0100_0000;
/// The version spoken here: sums are not looked at.
pub const VERSION: u32 = 0x0100_0001;
/// The longest payload, in bytes.
pub const MAX_PAYLOAD: usize = 1024 * 1024;
/// The longest payload of a greeting or proof, in bytes.
pub const MAX_GREETING: usize = 4096;

/// Bytes of a header.
pub const HEADER: usize = 24;
/// How much is allocated before the first byte of a payload is there.
const FIRST_CHUNK: usize = 16 * 1024;

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    /// What it is: `CNXN`, `OPEN` ...
    pub command: u32,
    /// The first number, mostly the sender's stream id.
    pub arg0: u32,
    /// The second number, mostly the receiver's stream id.
    pub arg1: u32,
    /// The rest.
    pub payload: Bytes,
}

/// Why no packet could be read.
#[derive(Debug, thiserror::Error)]
pub enum PacketError {
    /// The other side has closed the connection between two packets.
    #[error("the connection was closed")]
    Closed,
    /// The connection failed, or ended within a packet.
    #[error("reading a packet: {0}")]
    Io(#[from] std::io::Error),
    /// The last field of the header does not belong to the first.
    #[error("magic {magic:#010x} does not belong to command {command:#010x}")]
    Magic {
        /// The command.
        command: u32,
        /// What stood in the place of its complement.
        magic: u32,
    },
    /// The payload is longer than it may be.
    #[error("a payload of {length} bytes, at most {most} were agreed")]
    TooLong {
        /// What was announced, in bytes.
        length: usize,
        /// What is allowed, in bytes.
        most: usize,
    },
    /// The sum of the payload is wrong.
    #[error("the payload's sum is wrong")]
    Sum,
}

/// What the peers agreed on that matters for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest payload, in bytes.
    pub payload: usize,
    /// Whether the payload's sum is checked.
    pub sums: ChecksumMode,
}

/// What becomes of the sum of a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChecksumMode {
    /// It is written and checked.
    Checked,
    /// It is 0 and not looked at.
    Skipped,
}

impl Packet {
    /// A packet.
    pub fn new(command: u32, arg0: u32, arg1: u32, payload: impl Into<Bytes>) -> Self {
        Self {
            command,
            arg0,
            arg1,
            payload: payload.into(),
        }
    }

    /// The header. The payload must be shorter than 4 GiB, which the payload limit sees to.
    pub fn header(&self, sums: ChecksumMode) -> [u8; HEADER] {
        let sum = match sums {
            ChecksumMode::Checked => sum_of(&self.payload),
            ChecksumMode::Skipped => 0,
        };
        let fields = [
            self.command,
            self.arg0,
            self.arg1,
            u32::try_from(self.payload.len()).unwrap_or(u32::MAX),
            sum,
            !self.command,
        ];
        let mut header = [0; HEADER];
        for (slot, field) in header.chunks_exact_mut(4).zip(fields) {
            slot.copy_from_slice(&field.to_le_bytes());
        }
        header
    }

    /// Reads one packet.
    ///
    /// # Errors
    /// When the connection ends or what comes is no packet within the limits.
    pub async fn read<R: AsyncRead + Unpin>(
        reader: &mut R,
        limits: Limits,
    ) -> Result<Self, PacketError> {
        let mut header = [0; HEADER];
        if reader.read(&mut header[..1]).await? == 0 {
            return Err(PacketError::Closed);
        }
        reader.read_exact(&mut header[1..]).await?;
        let mut fields = header.as_slice();
        let [command, arg0, arg1, length, sum, magic] = [(); 6].map(|()| fields.get_u32_le());
        if magic != !command {
            return Err(PacketError::Magic { command, magic });
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > limits.payload {
            let most = limits.payload;
            return Err(PacketError::TooLong { length, most });
        }
        let payload = read_payload(reader, length).await?;
        if limits.sums == ChecksumMode::Checked && sum != sum_of(&payload) {
            return Err(PacketError::Sum);
        }
        Ok(Self {
            command,
            arg0,
            arg1,
            payload,
        })
    }

    /// Appends the packet's bytes.
    pub fn encode(&self, into: &mut BytesMut, sums: ChecksumMode) {
        into.extend_from_slice(&self.header(sums));
        into.extend_from_slice(&self.payload);
    }
}

async fn read_payload<R: AsyncRead + Unpin>(
    reader: &mut R,
    length: usize,
) -> std::io::Result<Bytes> {
    let mut payload = BytesMut::with_capacity(length.min(FIRST_CHUNK));
    let mut rest = reader.take(length as u64);
    while payload.len() < length {
        if rest.read_buf(&mut payload).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(payload.freeze())
}

/// The sum of all bytes, which adb calls a CRC.
fn sum_of(payload: &[u8]) -> u32 {
    (payload.iter()).fold(0, |sum, byte| sum.wrapping_add(u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: Limits = Limits {
        payload: MAX_PAYLOAD,
        sums: ChecksumMode::Checked,
    };

    fn read(bytes: &[u8], limits: Limits) -> Result<Packet, PacketError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        runtime.block_on(Packet::read(&mut &*bytes, limits))
    }

    fn written(packet: &Packet) -> Vec<u8> {
        let mut out = BytesMut::new();
        packet.encode(&mut out, ChecksumMode::Checked);
        out.to_vec()
    }

    proptest! {
        #[test]
        fn a_packet_survives_the_wire(
            command: u32, arg0: u32, arg1: u32,
            payload in proptest::collection::vec(any::<u8>(), 0..5000),
        ) {
            let packet = Packet::new(command, arg0, arg1, payload);
            prop_assert_eq!(read(&written(&packet), LIMITS).expect("whole"), packet);
        }

        #[test]
        fn any_bytes_give_a_packet_or_an_error_and_never_a_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = read(&bytes, LIMITS);
        }

        #[test]
        fn a_packet_cut_short_is_an_error(
            payload in proptest::collection::vec(any::<u8>(), 1..300),
            keep in 0.0..1.0,
        ) {
            let bytes = written(&Packet::new(WRTE, 1, 2, payload));
            let cut = (bytes.len() as f64 * keep) as usize;
            prop_assert!(read(&bytes[..cut], LIMITS).is_err());
        }
    }

    #[test]
    fn a_hostile_length_is_refused_before_anything_is_read() {
        let mut header = Packet::new(WRTE, 1, 2, Bytes::new()).header(ChecksumMode::Skipped);
        header[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
        let refused = read(&header, LIMITS);
        assert!(
            matches!(refused, Err(PacketError::TooLong { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn a_length_within_the_limit_allocates_only_what_comes() {
        let mut header = Packet::new(WRTE, 1, 2, Bytes::new())
            .header(ChecksumMode::Skipped)
            .to_vec();
        header[12..16].copy_from_slice(&(1024 * 1024_u32).to_le_bytes());
        header.extend_from_slice(b"few");
        assert!(matches!(read(&header, LIMITS), Err(PacketError::Io(_))));
    }

    #[test]
    fn a_wrong_magic_and_a_wrong_sum_are_refused() {
        let mut bytes = written(&Packet::new(WRTE, 1, 2, &b"data"[..]));
        bytes[16] ^= 1;
        assert!(matches!(read(&bytes, LIMITS), Err(PacketError::Sum)));
        let skipping = Limits {
            sums: ChecksumMode::Skipped,
            ..LIMITS
        };
        assert!(read(&bytes, skipping).is_ok());
        bytes[20] ^= 1;
        assert!(matches!(
            read(&bytes, skipping),
            Err(PacketError::Magic { .. })
        ));
    }
}
