//! Whatever a device sends for its screen, reading it ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_driver_adb::fuzzing::dump;

fuzz_target!(|text: &str| {
    dump(text);
    dump(&format!("<?xml version='1.0'?><hierarchy rotation=\"0\">{text}</hierarchy>"));
});
