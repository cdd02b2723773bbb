use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use super::{At, DecodeError};
use crate::source::Source;
use crate::{Options, Value, read, read_documents};

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Args {
    text: String,
    amount: u32,
    ratio: f64,
    clear_first: bool,
    direction: Direction,
    values: Vec<String>,
    node_selector: Option<Selector>,
    extras: BTreeMap<String, String>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
enum Direction {
    #[default]
    #[serde(alias = "down")]
    Down,
    Up,
    At {
        x: i8,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Selector {
    css_selector: String,
    nth_index: Option<u32>,
}

fn value(text: &str) -> Value {
    let source = Source::new("f.yaml", text);
    let read = read(&source);
    assert_eq!(read.problems, []);
    read.value.unwrap()
}

fn decode(text: &str) -> Args {
    value(text).decode().unwrap()
}

fn error(text: &str) -> DecodeError {
    value(text).decode::<Args>().unwrap_err()
}

/// `line:column path: message`.
fn told(text: &str) -> String {
    let error = error(text);
    let start = error.span.unwrap().start;
    format!("{}:{} {error}", start.line, start.column)
}

#[test]
fn a_text_field_takes_any_scalar_as_it_is_written() {
    for (written, meant) in [
        ("5", "5"),
        ("0000", "0000"),
        ("7:30", "7:30"),
        ("true", "true"),
        ("1.50", "1.50"),
        ("'x y'", "x y"),
        ("\"null\"", "null"),
        ("|\n  a\n  b", "a\nb\n"),
    ] {
        assert_eq!(decode(&format!("text: {written}")).text, meant);
    }
}

#[test]
fn a_number_field_takes_a_quoted_number() {
    assert_eq!(decode("amount: 500").amount, 500);
    assert_eq!(decode("amount: \"500\"").amount, 500);
    assert_eq!(decode("amount: 0x10").amount, 16);
    assert_eq!(decode("ratio: 1").ratio, 1.0);
    assert_eq!(decode("ratio: '.5'").ratio, 0.5);
}

#[test]
fn a_truth_value_takes_any_case_and_quotes() {
    assert!(decode("clearFirst: TRUE").clear_first);
    assert!(decode("clearFirst: 'true'").clear_first);
}

#[test]
fn lists_maps_options_and_enums_decode() {
    let args = decode(
        "values: [a, 5]\nnodeSelector:\n  cssSelector: '#x'\nextras: {a: 1, 2: b}\ndirection: {At: {x: -3}}\n",
    );
    assert_eq!(args.values, ["a", "5"]);
    assert_eq!(args.node_selector.unwrap().css_selector, "#x");
    assert_eq!(args.extras["2"], "b");
    assert_eq!(args.direction, Direction::At { x: -3 });
    assert_eq!(decode("nodeSelector:").node_selector, None);
    assert_eq!(decode("direction: down").direction, Direction::Down);
}

#[test]
fn a_wrong_type_is_told_with_its_path_and_place() {
    assert_eq!(
        told("text: a\nnodeSelector:\n  cssSelector: b\n  nthIndex: first\n"),
        "4:13 nodeSelector.nthIndex: expected a whole number, found `first`"
    );
    assert_eq!(
        told("values: [a, [b]]"),
        "1:13 values[1]: expected text, found a list"
    );
    assert_eq!(
        told("text:\n  a: b\n"),
        "2:3 text: expected text, found a mapping"
    );
    assert_eq!(told("text:\n"), "1:5 text: expected text, found nothing");
    assert_eq!(
        told("direction: {At: {x: 300}}"),
        "1:21 direction.At.x: expected a whole number of at most 127, found `300`"
    );
    assert_eq!(told("[a]"), "1:1 expected a mapping, found a list");
}

#[test]
fn an_unknown_key_is_told_where_it_stands_with_the_one_that_was_meant() {
    let error = error("text: a\nnodeSelctor: {}\n");
    let start = error.span.unwrap().start;
    assert_eq!((start.line, start.column), (2, 1));
    assert_eq!(&*error.message, "unknown key `nodeSelctor`");
    assert_eq!(error.hint.as_deref(), Some("did you mean `nodeSelector`?"));
}

#[test]
fn an_unknown_key_unlike_any_other_gets_the_list() {
    let error = error("nodeSelector: {cssSelector: a, colour: b}");
    assert!(error.to_string().starts_with("nodeSelector: "));
    assert_eq!(
        error.hint.as_deref(),
        Some("expected one of: cssSelector, nthIndex")
    );
}

#[test]
fn a_missing_key_is_told_at_the_mapping_that_lacks_it() {
    assert_eq!(
        told("nodeSelector:\n  nthIndex: 1\n"),
        "2:3 nodeSelector: `cssSelector` is missing"
    );
}

#[test]
fn an_unknown_word_of_an_enum_suggests_one() {
    let error = error("direction: Dwn");
    assert!(error.to_string().starts_with("direction: "));
    assert_eq!(error.hint.as_deref(), Some("did you mean `Down`?"));
}

#[test]
fn yes_is_true_where_true_or_false_is_wanted_and_a_text_elsewhere() {
    for word in ["yes", "Y", "on", "'yes'", "true"] {
        assert!(decode(&format!("clearFirst: {word}")).clear_first, "{word}");
    }
    for word in ["no", "N", "off", "FALSE"] {
        assert!(
            !decode(&format!("clearFirst: {word}")).clear_first,
            "{word}"
        );
    }
    assert_eq!(decode("text: yes").text, "yes");
    assert_eq!(value("yes").to_json(), serde_json::json!("yes"));
}

#[test]
fn nothing_is_an_empty_list_and_an_empty_mapping_only_where_it_may_be() {
    let lenient = Options {
        is_lenient: true,
        ..Options::STRICT
    };
    let source = Source::new("f.yaml", "values:\nextras: ~\n");
    let (values, problems) = read_documents(&source, lenient);
    assert_eq!(problems, []);
    assert_eq!(values[0].decode::<Args>().unwrap(), Args::default());
    assert_eq!(&*error("values:").message, "expected a list, found nothing");
    assert_eq!(
        &*error("extras:").message,
        "expected a mapping, found nothing"
    );
}

#[test]
fn a_value_can_be_read_with_its_place() {
    let placed: Vec<At<String>> = value("[a,\n  5]").decode().unwrap();
    let places: Vec<_> = (placed.iter().map(|at| (at.place.line, at.place.column))).collect();
    assert_eq!(places, [(1, 2), (2, 3)]);
    assert_eq!(placed[1].value, "5");
}

#[test]
fn a_word_that_needs_a_value_is_told_so() {
    let error = error("direction: At");
    assert_eq!(&*error.message, "`At` needs a value");
    assert_eq!(error.hint.as_deref(), Some("write it as a key: At: ..."));
}

#[test]
fn a_lone_item_comes_with_advice() {
    assert_eq!(
        error("values: a").hint.as_deref(),
        Some("write it as a list of one: [a]")
    );
}

#[test]
fn a_value_without_a_text_decodes_too_and_its_errors_have_no_place() {
    let value = Value::from(&serde_json::json!({"amount": "x"}));
    let error = value.decode::<Args>().unwrap_err();
    assert_eq!(error.span, None);
    assert!(error.to_string().starts_with("amount: "));
}

#[test]
fn the_error_becomes_a_picture() {
    let source = Source::new("f.yaml", "amount: x\n");
    let shown = error(source.text()).diagnostic(&source).render(false);
    assert!(shown.contains("--> f.yaml:1:9"), "{shown}");
}

#[test]
fn a_tuple_does_not_swallow_surplus_items() {
    assert_eq!(value("[1, 2]").decode::<(u8, u8)>().unwrap(), (1, 2));
    let error = value("[1, 2, 3]").decode::<(u8, u8)>().unwrap_err();
    assert_eq!(&*error.message, "expected a list of 2, found 3 items");
}

proptest! {
    #[test]
    fn decoding_as_anything_agrees_with_json(json in crate::tests::any_json()) {
        let value = Value::from(&json);
        prop_assert_eq!(value.decode::<serde_json::Value>().unwrap(), value.to_json());
    }
}
