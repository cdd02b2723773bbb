//! How texts are compared.

use proptest::prelude::*;

use crate::selector::{Dialect, Pattern};

fn native(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern, Dialect::Native).matches(text)
}

fn maestro(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern, Dialect::Maestro).matches(text)
}

#[test]
fn a_pattern_matches_the_whole_text_or_nothing() {
    assert!(native("Save", "Save"));
    assert!(!native("Save", "Save draft"));
    assert!(native("Save.*", "Save draft"));
    assert!(!native("cat|dog", "cats"));
    assert!(native("cats?|dogs?", "dogs"));
    assert!(!native("(?m)^Save$", "Save\ndraft"));
}

#[test]
fn native_patterns_mind_case_and_maestro_patterns_do_not() {
    assert!(!native("save", "SAVE"));
    assert!(maestro("save", "SAVE"));
    assert!(!native("sa.e", "SAVE"));
    assert!(maestro("sa.e", "SAVE"));
    assert!(maestro("größe", "GRÖßE"));
    assert!(maestro("ÉTÉ", "été"));
    assert!(!maestro("(?-i)save", "SAVE"));
    assert!(native("(?i)save", "SAVE"));
}

#[test]
fn the_dot_crosses_lines_in_maestro_patterns_only() {
    assert!(!native("a.b", "a\nb"));
    assert!(!native("a.b", "a\rb"));
    assert!(native("(?s)a.b", "a\nb"));
    assert!(maestro("a.b", "a\nb"));
    assert!(!maestro("(?-s)a.b", "a\nb"));
    assert!(maestro(".*^second$", "first\nsecond"));
}

#[test]
fn what_is_no_regular_expression_is_compared_as_text() {
    for price in [
        "$5.00",
        "+47 points",
        "[draft",
        "Oops :(",
        "50%)",
        "**bold**",
        "${name}",
    ] {
        assert!(native(price, price), "{price}");
        assert!(maestro(price, price), "{price}");
        assert!(!native(price, &format!("{price}!")), "{price}");
    }
    assert!(!native("+47 points", "+47 Points"));
    assert!(maestro("+47 points", "+47 Points"));
}

#[test]
fn a_pattern_always_matches_its_own_text() {
    for text in ["a+b", r"\QSave\E", "(x)", "1.0", r"\d", ""] {
        assert!(native(text, text), "{text}");
        assert!(maestro(text, text), "{text}");
    }
}

#[test]
fn quoted_parts_stand_for_themselves() {
    assert!(native(r"\Q$5 (net)\E", "$5 (net)"));
    assert!(!native(r"\Q$5 (net)\E", "$5 [net]"));
    assert!(native(r"Total: \Q$\E\d+", "Total: $12"));
    assert!(native(r"\Qto the end.", "to the end."));
    assert!(native(r"\Qa\E\\E\Qb\E", r"a\Eb"));
    assert!(native(r"[\Q^-]\E]+", "^-]"));
    assert!(!native(r"\\Qa\E", "a"));
    assert!(native(r"\\Qa", r"\Qa"));
}

#[test]
fn java_spellings_that_rust_lacks_are_understood() {
    assert!(native(r"\x41\u0042\0103\cI\e", "ABC\t\u{1b}"));
    assert!(native(r"\uD83D\uDE00", "\u{1F600}"));
    assert!(native(r"\p{Alpha}+\P{Digit}", "abc!"));
    assert!(!native(r"\p{Alpha}+", "été"));
    assert!(native(r"\p{IsAlphabetic}+", "été"));
    assert!(native(r"a\hb\vc", "a\u{a0}b\u{2028}c"));
    assert!(native(r"one\Rtwo", "one\r\ntwo"));
    assert!(native(r"[a-z&&[^aeiou]]+", "xyz"));
    assert!(!native(r"[a-z&&[^aeiou]]+", "xyza"));
    assert!(native(r"[]x]+", "]x]"));
    assert!(native(r"\Gab\Z", "ab"));
    assert!(native(r"(?iu)ok\ \<now\>", "OK <now>"));
    assert!(native(r"(?x) a \  b # note", "a b"));
}

#[test]
fn what_only_rust_would_read_is_text_as_in_java() {
    for pattern in [
        "(?P<name>a)",
        r"\b{start}a",
        "(?R)a",
        r"\<a\y",
        "a{,3}",
        "a**",
        "a)|(b",
    ] {
        let compiled = Pattern::new(pattern, Dialect::Native);
        assert!(compiled.note().is_some(), "{pattern}");
        assert!(!compiled.matches("a"), "{pattern}");
        assert!(compiled.matches(pattern), "{pattern}");
    }
}

#[test]
fn look_around_back_references_and_possessive_parts_work() {
    assert!(native("^(?!.*Loading).*$", "Ready"));
    assert!(!native("^(?!.*Loading).*$", "Still Loading"));
    assert!(maestro("^(?!.*loading).*$", "Ready"));
    assert!(!maestro("^(?!.*loading).*$", "first\nLOADING"));
    assert!(native(r"(?=.*\d)\w+", "abc1"));
    assert!(native(r".*(?<=\$)5", "for $5"));
    assert!(native(r"(\w+), \1!", "bye, bye!"));
    assert!(!native(r"(\w+), \1!", "bye, buy!"));
    assert!(native(r"(?<word>\w+) \k<word>", "so so"));
    assert!(native("a++b", "aab"));
    assert!(!native("a++ab", "aab"));
    assert!(!native("(?>a+)ab", "aab"));
}

#[test]
fn a_hostile_pattern_is_compared_as_text_and_says_so() {
    let nested = format!("{}a{}", "(".repeat(500), ")".repeat(500));
    let long = "a?".repeat(50_000);
    for pattern in [
        "(?:.{1000}){1000}",
        r"(?:\w{100}){100}",
        r"(?=(\w{50}){50})a",
        &nested,
        &long,
    ] {
        let compiled = Pattern::new(pattern, Dialect::Native);
        assert!(compiled.note().unwrap().contains("compared as plain text"));
        assert!(!compiled.matches("a"));
        assert!(compiled.matches(pattern));
    }
}

#[test]
fn a_pattern_that_backtracks_without_end_gives_up_and_says_so() {
    let pattern = Pattern::new(r"(x+x+)+(?!z)\1y", Dialect::Native);
    let text = "x".repeat(60);
    assert_eq!(pattern.note(), None);
    for _ in 0..1_000 {
        assert!(!pattern.matches(&text));
    }
    assert!(pattern.note().unwrap().contains("gave up on 10 texts"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_pattern_can_be_compiled_and_matches_its_own_text(
        pattern in r"([\\()\[\]{}*+?|^$.&<>!=:,#~ -]|\\[QEpPxucdkRbhv0-9]|\(\?[a-z<!=:-]|[a-zé0-9\n]){0,12}",
        text in "[a-z(\\[]{0,6}",
    ) {
        for dialect in [Dialect::Native, Dialect::Maestro] {
            let compiled = Pattern::new(&pattern, dialect);
            prop_assert!(compiled.matches(&pattern));
            compiled.matches(&text);
        }
    }

    #[test]
    fn quoted_text_matches_that_text_alone(text in ".{0,12}", other in ".{0,12}") {
        let quoted = format!(r"\Q{}\E", text.replace(r"\E", r"\E\\E\Q"));
        prop_assert!(native(&quoted, &text));
        prop_assert!(maestro(&quoted, &text));
        prop_assert_eq!(native(&quoted, &other), text == other || quoted == other);
    }
}
