//! Whatever arrives on a link, packets come out whole or not at all, and no length is believed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_driver_adb::fuzzing::packets;

/// A packet that passes for one, whatever it says of its length, and bytes that may be anything.
type Sent = (u8, u32, u32, Option<u32>, Vec<u8>);

const KINDS: [&[u8; 4]; 7] = [
    b"CNXN", b"AUTH", b"OPEN", b"OKAY", b"CLSE", b"WRTE", b"STLS",
];

fuzz_target!(|sent: (Vec<Sent>, Vec<u8>)| {
    let (sent, rest) = sent;
    let mut bytes = Vec::new();
    for (kind, arg0, arg1, length, payload) in sent {
        let code = u32::from_le_bytes(*KINDS[usize::from(kind) % KINDS.len()]);
        let length = length.unwrap_or(payload.len() as u32);
        for word in [code, arg0, arg1, length, 0, !code] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&payload);
    }
    bytes.extend_from_slice(&rest);
    packets(&bytes, 4096);
    packets(&bytes, 1024 * 1024);
});
