//! Any bytes are a property list within the limits, or an error; what was read can be written and
//! read again.
#![no_main]
#![expect(dead_code, reason = "the driver uses the rest")]

use libfuzzer_sys::fuzz_target;

#[path = "../../src/plist.rs"]
mod lists;

fuzz_target!(|bytes: &[u8]| {
    let _ = lists::ascii_dictionary(bytes);
    if let Ok(list) = lists::dictionary(bytes) {
        let _ = lists::dictionary(&lists::to_xml(list));
    }
});
