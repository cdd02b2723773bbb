//! Whatever answers a file, a reason has a length that can be waited for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use packtrain_driver_adb::fuzzing::verdict;

fuzz_target!(|head: &[u8]| {
    assert!(verdict(head).is_none_or(|length| length <= 64 * 1024));
});
