//! Doors to what reads a device's bytes, for the fuzz targets only.

use bytes::BytesMut;
use packtrain_drivers::Size;

use crate::dump::{self, Leave};
use crate::wire::packet::Packet;
use crate::wire::{shell, sync};

/// Reads packets until the bytes are not a packet; answers how many came.
pub fn packets(bytes: &[u8], limit: u32) -> usize {
    let mut arrived = BytesMut::from(bytes);
    let mut count = 0;
    while let Ok(Some(packet)) = Packet::decode(&mut arrived, limit) {
        assert!(packet.payload.len() <= limit as usize);
        let mut again = BytesMut::new();
        packet.encode(&mut again);
        assert_eq!(Packet::decode(&mut again, limit), Ok(Some(packet)));
        count += 1;
    }
    assert!(arrived.capacity() <= 2 * (bytes.len() + limit as usize + 1024));
    count
}

/// Reads the output of a shell that arrives in pieces; answers its exit code.
pub fn shell(pieces: &[&[u8]]) -> Option<u8> {
    let output = shell::decode(pieces).ok().flatten()?;
    let arrived: usize = pieces.iter().map(|piece| piece.len()).sum();
    assert!(output.stdout.len() + output.stderr.len() <= arrived);
    Some(output.exit)
}

/// Reads the head of sync's answer.
pub fn verdict(head: &[u8]) -> Option<usize> {
    match sync::verdict(head)? {
        sync::Verdict::Stored => None,
        sync::Verdict::Refused(length) => Some(length),
    }
}

/// Reads a window dump; answers how many elements it has.
pub fn dump(text: &str) -> Option<usize> {
    let leave = Leave {
        keyboard: Some("com.google.android.inputmethod.latin"),
        screen: Size::new(1080.0, 2400.0),
    };
    Some(dump::parse(text, leave).ok()?.tree.len())
}
