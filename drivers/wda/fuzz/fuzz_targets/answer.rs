//! Any answer is a value, a refusal or an error, and any text a tree of elements within the limits
//! or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|answer: (u16, &[u8])| packtrain_driver_wda::fuzzing::answer(answer.0, answer.1));
