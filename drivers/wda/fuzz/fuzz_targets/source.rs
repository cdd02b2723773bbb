//! Any text is a tree of elements within the limits, or an error; a tree has one fingerprint.
#![no_main]
#![expect(dead_code, reason = "the driver uses the rest")]

use libfuzzer_sys::fuzz_target;

#[path = "../../src/source.rs"]
mod source;

fuzz_target!(|text: &str| {
    if let Ok(tree) = source::read(text) {
        assert!(tree.len() <= source::MAX_ELEMENTS);
        assert_eq!(source::fingerprint(&tree), source::fingerprint(&tree));
        let _ = source::root(&tree);
    }
});
