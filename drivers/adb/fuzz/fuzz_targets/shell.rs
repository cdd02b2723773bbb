//! Whatever a shell prints and however it is cut, the output is what came and no more.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_driver_adb::fuzzing::shell;

fuzz_target!(|input: (&[u8], u16)| {
    let (bytes, cut) = input;
    let (head, tail) = bytes.split_at(usize::from(cut).min(bytes.len()));
    assert_eq!(shell(&[head, tail]), shell(&[bytes]));
});
