//! Whatever arrives on a link, packets come out whole or not at all, and no length is believed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_driver_adb::fuzzing::packets;

fuzz_target!(|bytes: &[u8]| {
    packets(bytes, 4096);
    packets(bytes, 1024 * 1024);
});
