//! Any bytes are a property list within the limits, or an error; what was read can be written and
//! read again.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| packtrain_driver_wda::fuzzing::property_list(bytes));
