//! Whatever a usbmuxd sends: what is handed on is made of whole messages, or the stream fails.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_driver_wda::fuzzing::usbmux;

fuzz_target!(|bytes: &[u8]| {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers needs nothing");
    let messages = runtime.block_on(usbmux(bytes, false));
    assert!(bytes.starts_with(&messages), "nothing is made up");
    let mut rest = &messages[..];
    while let Some(length) = rest.first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        assert!((16..=rest.len()).contains(&length), "only whole messages");
        rest = &rest[length..];
    }
    assert!(rest.is_empty());
    let tunnel = runtime.block_on(usbmux(bytes, true));
    assert!(
        tunnel.is_empty() || tunnel == bytes,
        "a tunnel hands everything on"
    );
});
