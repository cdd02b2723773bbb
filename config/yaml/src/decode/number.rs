//! Numbers as YAML 1.2 writes them. `7:30` and `1_000` are none.

use std::fmt::Display;

/// A whole number type.
pub(super) trait WholeNumber: Display + Sized {
    const MIN: Self;
    const MAX: Self;
    fn from_digits(digits: &str, radix: u32) -> Option<Self>;
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl WholeNumber for $type {
            const MIN: Self = <$type>::MIN;
            const MAX: Self = <$type>::MAX;

            fn from_digits(digits: &str, radix: u32) -> Option<Self> {
                <$type>::from_str_radix(digits, radix).ok()
            }
        }
    )*};
}

whole! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

/// `12`, `+12`, `-12`, `0x1f`, `0o17`.
pub(super) fn whole<T: WholeNumber>(text: &str) -> Option<T> {
    let (digits, radix) = match text.get(..2) {
        Some("0x") => (&text[2..], 16),
        Some("0o") => (&text[2..], 8),
        Some(_) | None => (text, 10),
    };
    if radix != 10 && !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    T::from_digits(digits, radix)
}

/// A number, when it is written as one: `007` is a text, and so is `nan`.
pub(super) fn written(text: &str) -> Option<f64> {
    let digits = text.trim_start_matches(['+', '-']);
    let padded = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
    let begins = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|_| begins && !padded)
}

/// `1.5`, `.5`, `1e3`, `.inf`, `-.inf`, `.nan`, and whole numbers.
pub(super) fn float(text: &str) -> Option<f64> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    // Rust would also take `inf` and `nan` for numbers.
    if text
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'))
    {
        text.parse().ok()
    } else {
        whole::<i64>(text).map(|number| number as f64)
    }
}
