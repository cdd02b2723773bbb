//! The packets between a host and adbd: a header of 24 bytes, then data.
//!
//! Source: `protocol.txt` and `adb.h` of the Android Open Source Project. Knows nothing of
//! streams or services.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Length of a header.
pub(crate) const HEADER: usize = 24;
/// Up to here data is copied: a slice would keep the whole reading buffer from being used again.
const COPIED: usize = 1024;
/// The newest version of the protocol: data is not summed any more.
pub(crate) const VERSION: u32 = 0x0100_0001;
/// The most data in a packet.
pub(crate) const MAX_PAYLOAD: u32 = 1024 * 1024;
/// The most data in a packet before both sides have agreed on more.
pub(crate) const MAX_GREETING: u32 = 4096;

/// What a packet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Greets: version, most data, banner.
    Connect,
    /// Asks for proof or gives it.
    Auth,
    /// Asks for a stream: local id, window, service.
    Open,
    /// Grants a stream or acknowledges data: local id, remote id.
    Okay,
    /// Ends or refuses a stream: local id or 0, remote id.
    Close,
    /// Carries data: local id, remote id.
    Write,
    /// Wants the connection encrypted.
    StartTls,
}

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) kind: Kind,
    pub(crate) arg0: u32,
    pub(crate) arg1: u32,
    pub(crate) payload: Bytes,
}

/// Why bytes are not a packet. The connection is of no further use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PacketError {
    #[error("invalid packet header: this is not adbd")]
    Magic,
    #[error("unknown packet {0:#010x}")]
    Kind(u32),
    #[error("a packet of {length} bytes where {limit} were agreed")]
    TooLong { length: u32, limit: u32 },
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Connect,
        Self::Auth,
        Self::Open,
        Self::Okay,
        Self::Close,
        Self::Write,
        Self::StartTls,
    ];

    /// Four letters, read as a little-endian number.
    const fn code(self) -> u32 {
        u32::from_le_bytes(*match self {
            Self::Connect => b"CNXN",
            Self::Auth => b"AUTH",
            Self::Open => b"OPEN",
            Self::Okay => b"OKAY",
            Self::Close => b"CLSE",
            Self::Write => b"WRTE",
            Self::StartTls => b"STLS",
        })
    }
}

impl Packet {
    pub(crate) fn new(kind: Kind, arg0: u32, arg1: u32, payload: impl Into<Bytes>) -> Self {
        Self {
            kind,
            arg0,
            arg1,
            payload: payload.into(),
        }
    }

    /// Appends the packet's bytes.
    pub(crate) fn encode(&self, into: &mut BytesMut) {
        into.reserve(HEADER + self.payload.len());
        into.put_slice(&self.header());
        into.put_slice(&self.payload);
    }

    /// What comes before the data. The sum is always right, which old devices insist on.
    pub(crate) fn header(&self) -> [u8; HEADER] {
        let code = self.kind.code();
        let mut header = [0; HEADER];
        let mut into = &mut header[..];
        into.put_u32_le(code);
        into.put_u32_le(self.arg0);
        into.put_u32_le(self.arg1);
        // A stream never writes more than was agreed, which is 1 MiB at most.
        into.put_u32_le(u32::try_from(self.payload.len()).unwrap_or(u32::MAX));
        into.put_u32_le(sum(&self.payload));
        into.put_u32_le(!code);
        header
    }

    /// Takes the first whole packet; `None` when more bytes are needed. The sum is not checked:
    /// a link is a TCP or Unix socket, which does not garble.
    ///
    /// # Errors
    /// [`PacketError`] before anything is allocated for the packet.
    pub(crate) fn decode(from: &mut BytesMut, limit: u32) -> Result<Option<Self>, PacketError> {
        let Some((code, arg0, arg1, length)) = header(from, limit)? else {
            return Ok(None);
        };
        let whole = HEADER + length as usize;
        if from.len() < whole {
            from.reserve(whole - from.len());
            return Ok(None);
        }
        from.advance(HEADER);
        let length = length as usize;
        let payload = if length <= COPIED {
            let payload = Bytes::copy_from_slice(&from[..length]);
            from.advance(length);
            payload
        } else {
            from.split_to(length).freeze()
        };
        Ok(Some(Self {
            kind: code,
            arg0,
            arg1,
            payload,
        }))
    }
}

/// Kind, arguments and length of the packet that begins here.
fn header(from: &[u8], limit: u32) -> Result<Option<(Kind, u32, u32, u32)>, PacketError> {
    let Some(mut header) = from.get(..HEADER) else {
        return Ok(None);
    };
    let code = header.get_u32_le();
    let (arg0, arg1) = (header.get_u32_le(), header.get_u32_le());
    let length = header.get_u32_le();
    let _sum = header.get_u32_le();
    if header.get_u32_le() != !code {
        return Err(PacketError::Magic);
    }
    let kind = Kind::ALL
        .into_iter()
        .find(|kind| kind.code() == code)
        .ok_or(PacketError::Kind(code))?;
    if length > limit {
        return Err(PacketError::TooLong { length, limit });
    }
    Ok(Some((kind, arg0, arg1, length)))
}

/// The sum of all bytes, which the protocol calls a CRC.
fn sum(payload: &[u8]) -> u32 {
    payload
        .iter()
        .fold(0, |sum: u32, byte| sum.wrapping_add(u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_kind() -> impl Strategy<Value = Kind> {
        (0..Kind::ALL.len()).prop_map(|n| Kind::ALL[n])
    }

    fn any_packet() -> impl Strategy<Value = Packet> {
        let payload = proptest::collection::vec(any::<u8>(), 0..300);
        (any_kind(), any::<u32>(), any::<u32>(), payload)
            .prop_map(|(kind, arg0, arg1, payload)| Packet::new(kind, arg0, arg1, payload))
    }

    proptest! {
        #[test]
        fn packets_come_out_as_they_went_in_however_they_are_cut(
            packets in proptest::collection::vec(any_packet(), 1..5),
            cut in 1..64_usize,
        ) {
            let mut wire = BytesMut::new();
            for packet in &packets {
                packet.encode(&mut wire);
            }
            let mut arrived = BytesMut::new();
            let mut decoded = Vec::new();
            for chunk in wire.chunks(cut) {
                arrived.extend_from_slice(chunk);
                while let Some(packet) = Packet::decode(&mut arrived, MAX_PAYLOAD).unwrap() {
                    decoded.push(packet);
                }
            }
            prop_assert_eq!(decoded, packets);
            prop_assert!(arrived.is_empty());
        }

        #[test]
        fn no_bytes_make_the_decoder_panic_or_allocate_beyond_its_limit(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut bytes = BytesMut::from(&bytes[..]);
            while let Ok(Some(packet)) = Packet::decode(&mut bytes, 64) {
                prop_assert!(packet.payload.len() <= 64);
            }
            prop_assert!(bytes.capacity() < 4096);
        }
    }

    #[test]
    fn a_packet_has_the_bytes_that_adb_writes() {
        let mut wire = BytesMut::new();
        Packet::new(Kind::Open, 7, 0, &b"shell:\0"[..]).encode(&mut wire);
        let expected: Vec<u8> = [
            &b"OPEN"[..],
            &[7, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0x52, 2, 0, 0],
            &b"OPEN".map(|byte| !byte),
            b"shell:\0",
        ]
        .concat();
        assert_eq!(wire, expected);
    }

    #[test]
    fn what_is_no_packet_is_told_apart() {
        let garbage = &mut BytesMut::from(&b"HTTP/1.1 400 Bad Request\r\n"[..]);
        assert_eq!(Packet::decode(garbage, 64), Err(PacketError::Magic));

        let mut long = BytesMut::new();
        Packet::new(Kind::Write, 1, 1, vec![0; 65]).encode(&mut long);
        let error = PacketError::TooLong {
            length: 65,
            limit: 64,
        };
        assert_eq!(Packet::decode(&mut long, 64), Err(error));
    }
}
