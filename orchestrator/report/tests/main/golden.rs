//! Comparing with files under `tests/goldens`. `PACKTRAIN_BLESS=1` rewrites them; the diff is
//! then for a person to judge.

use std::fs;
use std::path::Path;

/// Expects a text to be what the golden file holds.
#[track_caller]
pub fn expect(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens")
        .join(name);
    if std::env::var_os("PACKTRAIN_BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let differs = golden
        .lines()
        .zip(text.lines())
        .position(|(golden, text)| golden != text)
        .unwrap_or_else(|| golden.lines().count().min(text.lines().count()));
    assert!(
        golden == text,
        "{name} differs at line {}:\n  golden: {:?}\n  now:    {:?}\nPACKTRAIN_BLESS=1 accepts it",
        differs + 1,
        golden.lines().nth(differs),
        text.lines().nth(differs),
    );
}
