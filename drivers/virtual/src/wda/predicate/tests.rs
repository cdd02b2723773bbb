use proptest::prelude::*;

use super::*;
use crate::wda::tree::tests::form;

fn select(text: &str) -> Result<Vec<String>, PredicateError> {
    let tree = form();
    let predicate = Predicate::parse(text)?;
    let mut found = Vec::new();
    for (at, _) in tree.iter() {
        if predicate.selects(&tree, at)? {
            found.push(at);
        }
    }
    Ok(tree.names(&found))
}

#[track_caller]
fn selects(text: &str, names: &[&str]) {
    assert_eq!(select(text).unwrap(), names, "{text}");
}

#[test]
fn texts_are_compared_as_foundation_compares_them() {
    selects("name == 'sign_in'", &["sign_in"]);
    selects("label = \"Buy 'now'\"", &["buy"]);
    selects(r"label == 'Buy \'now\''", &["buy"]);
    selects("label BEGINSWITH 'T'", &["Two", "Three"]);
    selects("label ENDSWITH[c] 'E'", &["One", "Three"]);
    selects("label CONTAINS[cd] 'ÓNE'", &["One"]);
    selects("label CONTAINS 'ign'", &["sign_in"]);
    selects("label LIKE '?wo'", &["Two"]);
    selects("label LIKE[c] 't*'", &["Two", "Three"]);
    selects("label MATCHES 'T(wo|hree)'", &["Two", "Three"]);
    selects("label MATCHES 'T'", &[]);
    selects(
        "label > 'S' AND type == 'XCUIElementTypeStaticText'",
        &["Two", "Three"],
    );
}

#[test]
fn words_and_signs_combine_conditions() {
    selects("name == 'c1' OR name == 'c3'", &["c1", "c3"]);
    selects("name == 'c1' || name == 'buy' && enabled == 0", &["c1"]);
    selects(
        "(name == 'c1' || name == 'buy') and enabled == YES",
        &["c1", "buy"],
    );
    selects(
        "NOT (label != nil) AND NOT name != NULL",
        &["Window", "Other"],
    );
    selects("!(visible == 1)", &[]);
    selects("name == 'c1' AND TRUEPREDICATE", &["c1"]);
    selects("((((name == 'c1'))))", &["c1"]);
}

#[test]
fn lists_ranges_and_arithmetic_work() {
    selects("name IN {'c1', 'buy', 'none'}", &["c1", "buy"]);
    selects("'wo' IN label", &["Two"]);
    selects(
        "rect.y BETWEEN {300, 400} AND rect.height < 40",
        &["notify"],
    );
    selects("rect.width * 2 == 780", &["Shop", "Window", "Other"]);
    selects("(rect.y + rect.height) / 2 > 240 AND name == 'c1'", &["c1"]);
    selects("index == -(-2)", &["notify", "c3"]);
    selects("label.length == 5", &["Three"]);
    selects("label.lowercaseString == 'two'", &["Two"]);
}

#[test]
fn flags_are_numbers_and_values_are_texts() {
    selects("selected == true", &["sign_in"]);
    selects("selected == 'true'", &[]);
    selects(
        "type == 'XCUIElementTypeSwitch' AND value == '1'",
        &["notify"],
    );
    selects("type == 'XCUIElementTypeSwitch' AND value == 1", &[]);
    selects("wdVisible == 1 AND wdName == 'buy'", &["buy"]);
}

#[test]
fn a_missing_text_is_no_error() {
    selects("placeholderValue CONTAINS 'mail'", &["email"]);
    selects("placeholderValue MATCHES '.*'", &["email"]);
    selects("placeholderValue < 'Z'", &["email"]);
}

#[test]
fn what_is_no_predicate_is_refused() {
    for text in [
        "",
        "name",
        "name ==",
        "== 'x'",
        "name == 'x",
        "name == 'a' 'b'",
        "(name == 'a'",
        "name == 'a')",
        "name CONTAINS[x] 'a'",
        "name ~ 'a'",
        "name == 'a' AND",
        "{1, 2",
        "name. == 'a'",
        "1 +",
        "'abc\\",
    ] {
        let error = select(text).unwrap_err();
        assert!(
            matches!(error, PredicateError::Syntax { .. }),
            "{text}: {error}"
        );
    }
}

#[test]
fn an_attribute_elements_do_not_have_is_refused_by_name() {
    let error = select("hasKeyboardFocus == 1").unwrap_err();
    assert!(matches!(&error, PredicateError::Attribute(_)), "{error}");
    assert!(error.to_string().contains("'hasKeyboardFocus' is unknown"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    for text in [
        "enabled CONTAINS 'a'",
        "index MATCHES 'a'",
        "label + 1 == 2",
        "rect.z == 1",
        "label MATCHES '('",
    ] {
        let error = select(text).unwrap_err();
        assert!(
            matches!(error, PredicateError::Operands(_)),
            "{text}: {error}"
        );
    }
}

#[test]
fn endless_nesting_is_refused() {
    for text in [
        "(".repeat(8_000),
        "NOT ".repeat(4_000),
        "{".repeat(8_000),
        format!("1 == {}1", "-".repeat(8_000)),
        format!("1 == 1{}", "+1".repeat(8_000)),
        format!("name == '{}'", "x".repeat(20_000)),
    ] {
        assert!(matches!(select(&text), Err(PredicateError::Syntax { .. })));
    }
}

proptest! {
    #[test]
    fn any_text_is_answered_without_panic(text in "\\PC{0,60}") {
        let _ = select(&text);
    }

    #[test]
    fn any_tokens_are_answered_without_panic(
        words in proptest::collection::vec(
            prop_oneof![
                Just("name"), Just("rect.x"), Just("label.length"), Just("'a'"), Just("1.5"), Just("nil"),
                Just("=="), Just("CONTAINS"), Just("[cd]"), Just("MATCHES"), Just("IN"), Just("BETWEEN"),
                Just("AND"), Just("OR"), Just("NOT"), Just("("), Just(")"), Just("{"), Just("}"), Just(","),
                Just("+"), Just("-"), Just("*"), Just("/"),
            ],
            0..12,
        ),
    ) {
        let _ = select(&words.join(" "));
    }

    #[test]
    fn any_text_can_be_quoted(text in "\\PC{0,20}") {
        let quoted = text.replace('\\', "\\\\").replace('\'', "\\'");
        let found = select(&format!("name == '{quoted}' OR name != '{quoted}'"));
        prop_assert_eq!(found.map(|names| names.len()), Ok(14));
    }
}
