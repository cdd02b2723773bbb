use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::Redactor;

fn redactor(secret: &str) -> Redactor {
    Redactor::of(&[("key".to_owned(), secret.to_owned())])
}

/// Percent-encoded but for letters, digits and the characters given.
fn percent(text: &str, kept: &str, upper: bool) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || (byte.is_ascii() && kept.contains(char::from(byte))) {
            encoded.push(char::from(byte));
        } else if upper {
            encoded.push_str(&format!("%{byte:02X}"));
        } else {
            encoded.push_str(&format!("%{byte:02x}"));
        }
    }
    encoded
}

fn form(text: &str) -> String {
    percent(text, "*-._ ", true).replace(' ', "+")
}

/// As JavaScript's `escape`, which knows no bytes.
fn escape(text: &str) -> String {
    let escaped = text.chars().map(|c| match c as u32 {
        code if c.is_ascii_alphanumeric() => char::from(code as u8).to_string(),
        code @ ..0x100 => format!("%{code:02X}"),
        _ => utf16(c, "%u"),
    });
    escaped.collect()
}

fn utf16(c: char, prefix: &str) -> String {
    let units = c.encode_utf16(&mut [0; 2]).to_vec();
    units
        .iter()
        .map(|unit| format!("{prefix}{unit:04x}"))
        .collect()
}

fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn json_in_ascii(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        ' '..='~' if c.is_alphanumeric() => c.to_string(),
        _ => utf16(c, "\\u"),
    });
    escaped.collect()
}

fn html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
        .replace('\u{a0}', "&nbsp;")
}

fn html_in_numbers(text: &str) -> String {
    let escaped = text.chars().map(|c| match c as u32 {
        code if code % 2 == 0 => format!("&#x{code:X};"),
        code => format!("&#{code:03};"),
    });
    escaped.collect()
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// As Python's `shlex.quote` and dash have it.
fn in_both_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r#"'"'"'"#))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted + "\""
}

fn backslashed(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        _ if c.is_ascii() && !c.is_ascii_alphanumeric() => format!("\\{c}"),
        _ => c.to_string(),
    });
    escaped.collect()
}

fn debug(text: &str) -> String {
    let quoted = format!("{text:?}");
    quoted[1..quoted.len() - 1].to_owned()
}

type Encoder = (&'static str, fn(&str) -> String);

const ENCODERS: [Encoder; 18] = [
    ("as it is", |text| text.to_owned()),
    ("component of an address", |text| {
        percent(text, "-_.~!*'()", true)
    }),
    ("query, lower case", |text| percent(text, "-_.~", false)),
    // What browsers leave alone in a path, a query and a fragment.
    ("path", |text| {
        percent(text, "-_.~!$&'()*+,;=:@/%[]|\\^", true)
    }),
    ("special query", |text| {
        percent(text, "-_.~!$&()*+,;=:@/?%[]|\\^`{}", true)
    }),
    ("fragment", |text| {
        percent(text, "-_.~!$&'()*+,;=:@/?%[]|\\^{}#", true)
    }),
    ("every byte", |text| {
        text.bytes().map(|byte| format!("%{byte:02x}")).collect()
    }),
    ("form", form),
    ("escape", escape),
    ("JSON", json),
    ("JSON in ASCII", json_in_ascii),
    ("HTML", html),
    ("HTML in numbers", html_in_numbers),
    ("single quotes", single_quoted),
    ("both quotes", in_both_quotes),
    ("double quotes", double_quoted),
    ("backslashes", backslashed),
    ("Debug", debug),
];

#[test]
fn a_secret_in_an_address_is_found_as_a_browser_writes_it() {
    // Encoded in part: as the path, the query and the fragment of an address have it.
    let redactor = redactor("s3cr3t k&y/\"q\"");
    for text in [
        "http://h/s3cr3t%20k&y/%22q%22",
        "http://h/?q=s3cr3t%20k&y/%22q%22#s3cr3t%20k&y/%22q%22",
        "http://h/?q=s3cr3t+k%26y%2f%22q%22",
        "<a href=\"/?q=s3cr3t%20k&amp;y/%22q%22\">",
        r#"{"url":"http://h/?s3cr3t%2520k%2526y%252F%2522q%2522"}"#,
        r#"GET "\/s3cr3t k\u0026y\/\"q\"""#,
    ] {
        let redacted = redactor.redact(text);
        assert!(redacted.contains("{{key}}"), "{text}");
        for left in ["s3cr3t", "k&y", "q%", "22q", "\\\"q"] {
            assert!(!redacted.contains(left), "{text} became {redacted}");
        }
    }
}

#[test]
fn a_secret_in_base64_is_found_wherever_it_stands() {
    let redactor = redactor("hunter2 hunter2");
    for before in ["", "u:", "me:", "user:"] {
        for after in ["", ":", "::"] {
            let plain = format!("{before}hunter2 hunter2{after}");
            for encoded in [STANDARD.encode(&plain), URL_SAFE_NO_PAD.encode(&plain)] {
                let redacted = redactor.redact(&encoded).into_owned();
                assert!(redacted.contains("{{key}}"), "{plain}: {redacted}");
                let left = redacted.replace("{{key}}", "");
                assert!(left.len() <= 12, "{plain}: {redacted}");
            }
        }
    }
}

#[test]
fn hostile_texts_come_to_an_end() {
    let redactor = redactor(r"\\\\%%%%&&&&''''+ +end");
    for part in [
        "\\", "%25", "&amp;", "'\\''", "%", "+", "%5C%5C", "&#x5c;", "\\u005c", "\\\\%%",
    ] {
        let text = part.repeat(1_000 / part.len());
        assert_eq!(redactor.redact(&text), text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// In whatever encoding, or one inside another, beside whatever.
    #[test]
    fn an_encoded_secret_is_taken_out(
        secret in r#"[a-f0-9 %&+;"'\\/<>=?#$~\nZéß漢😀-]{4,16}"#,
        (before, after) in (r#"[a-f0-9%&+"'\\ ]{0,5}"#, r#"[a-f0-9%&+"'\\ ;]{0,5}"#),
        first in 0..ENCODERS.len(),
        second in 0..ENCODERS.len(),
    ) {
        let (inner, outer) = (ENCODERS[first], ENCODERS[second]);
        let encoded = outer.1(&inner.1(&secret));
        let text = format!("{before}{encoded}{after}");
        let redacted = redactor(&secret).redact(&text).into_owned();
        prop_assert!(
            redacted.contains("{{key}}"),
            "{} in {}: {text:?} became {redacted:?}", inner.0, outer.0
        );
        // Nothing of it is left: what is, stood beside it or is quotes around it.
        let left = redacted.replace("{{key}}", "");
        prop_assert!(
            left.len() <= before.len() + after.len() + 2 * "&#39;&quot;%2522".len(),
            "{} in {}: {text:?} became {redacted:?}", inner.0, outer.0
        );
    }

    /// No way to read these texts has a `Z` in it.
    #[test]
    fn a_text_without_the_secret_stays_as_it_is(
        before in "[a-f %&+;'/-]{0,8}",
        after in "[a-f %&+;'/-]{0,8}",
        text in r#"[a-fuxn01236%&#;+"'\\{} ]{0,60}"#,
    ) {
        let secret = format!("{before}Z{after}zzz");
        prop_assert_eq!(redactor(&secret).redact(&text), text.as_str());
    }

    #[test]
    fn nothing_panics(text in r#"[a-fux0-9%&#;+"'\\{}é😀]{0,40}"#, secret in r#"[a-f%&\\'é😀]{0,6}"#) {
        redactor(&secret).redact(&text);
    }
}
