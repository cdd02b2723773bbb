//! Whatever a usbmuxd sends: what is handed on is made of whole messages, or the stream fails.
#![no_main]
#![expect(dead_code, reason = "the driver uses the rest")]

use libfuzzer_sys::fuzz_target;
use tokio::io::AsyncReadExt as _;

#[path = "../../src/mux/checked.rs"]
mod checked;
#[path = "../../src/plist.rs"]
mod plist;
#[path = "../../src/stream.rs"]
mod stream;

/// Reads to the end, message by message; what was handed on until then.
fn read(bytes: &[u8], then: checked::Then) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers needs nothing");
    let sent = std::io::Cursor::new(bytes.to_vec());
    let inner = Box::new(tokio::io::join(sent, tokio::io::sink()));
    let mut stream = checked::Checked::new(inner, then);
    let mut handed_on = Vec::new();
    // A message that is none ends the stream; those before it were handed on.
    let _ = runtime.block_on(stream.read_to_end(&mut handed_on));
    handed_on
}

fuzz_target!(|bytes: &[u8]| {
    let messages = read(bytes, checked::Then::MoreMessages);
    assert!(bytes.starts_with(&messages), "nothing is made up");
    let mut rest = &messages[..];
    while let Some(length) = rest.first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        assert!((16..=rest.len()).contains(&length), "only whole messages");
        rest = &rest[length..];
    }
    assert!(rest.is_empty());
    let tunnel = read(bytes, checked::Then::Tunnel);
    assert!(tunnel.is_empty() || tunnel == bytes, "a tunnel hands everything through");
});
