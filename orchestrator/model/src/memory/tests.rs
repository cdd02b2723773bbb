use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::{Memory, Redactor};
use crate::template::{TemplateError, Undefined};
use crate::yaml::Value;

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn redactor(secrets: &[(&str, &str)]) -> Redactor {
    let mut redactor = Redactor::default();
    for (name, value) in secrets {
        redactor.hide(name, value);
    }
    redactor
}

fn args(args: serde_json::Value) -> BTreeMap<String, serde_json::Value> {
    serde_json::from_value(args).unwrap()
}

#[test]
fn a_secret_counts_before_what_is_given_and_that_before_the_trail() {
    let memory = Memory::seeded(
        &[pair("a", "trail"), pair("b", "trail"), pair("c", "trail")],
        &[pair("b", "given"), pair("c", "given")],
        &[pair("c", "secret")],
    );
    let values = ["a", "b", "c"].map(|name| memory.get(name).unwrap());
    assert_eq!(values, ["trail", "given", "secret"]);
    assert!(memory.is_secret("c") && !memory.is_secret("b"));
}

#[test]
fn a_secret_is_never_shown() {
    let mut memory = Memory::seeded(&[pair("user", "ada")], &[], &[pair("pin", "4711")]);
    memory.remember("note", "the pin is 4711.");
    memory
        .set_args(args(json!({"code": "{{pin}}", "n": 3})), Undefined::Error)
        .unwrap();
    let shown: Vec<(String, String)> = memory.shown().into_iter().collect();
    assert_eq!(
        shown,
        [
            pair("args.code", "{{pin}}"),
            pair("args.n", "3"),
            pair("note", "the pin is {{pin}}."),
            pair("user", "ada"),
        ]
    );
    assert!(!format!("{memory:?}").contains("4711"));
    assert_eq!(memory.secret_names().collect::<Vec<_>>(), ["pin"]);
}

#[test]
fn a_secret_stays_one_when_it_is_forgotten_and_remembered_anew() {
    let mut memory = Memory::seeded(&[], &[], &[pair("pin", "4711")]);
    memory.forget("pin");
    assert_eq!(memory.get("pin"), None);
    memory.remember("pin", "0815");
    assert!(memory.is_secret("pin"));
    assert_eq!(memory.redactor().redact("4711 0815"), "{{pin}} {{pin}}");
}

#[test]
fn what_becomes_secret_later_is_hidden_with_its_former_value() {
    let mut memory = Memory::default();
    memory.remember("token", "first");
    memory.remember_secret("token", "second");
    assert_eq!(
        memory.redactor().redact("first second"),
        "{{token}} {{token}}"
    );
}

#[test]
fn arguments_may_be_made_of_memory_and_of_each_other_in_any_order() {
    let mut memory = Memory::seeded(&[pair("email", "a@b.c")], &[], &[]);
    memory
        .set_args(args(json!({
            "subject": "for {{args.to}}", "to": "{{memory.email}}", "z": "{{args.subject}}!", "n": 1
        })), Undefined::Error)
        .unwrap();
    assert_eq!(
        serde_json::to_value(memory.args()).unwrap(),
        json!({"subject": "for a@b.c", "to": "a@b.c", "z": "for a@b.c!", "n": 1})
    );
}

#[test]
fn arguments_in_a_circle_are_refused() {
    let mut memory = Memory::default();
    let circle = memory.set_args(
        args(json!({"a": "{{args.b}}", "b": "{{args.a}}", "c": "x"})),
        Undefined::Error,
    );
    assert_eq!(
        circle,
        Err(TemplateError::Circular {
            name: "a".to_owned()
        })
    );
    let itself = memory.set_args(args(json!({"a": "{{args.a}}"})), Undefined::Error);
    assert!(matches!(itself, Err(TemplateError::Circular { .. })));
}

#[test]
fn an_argument_made_of_an_undefined_name_is_refused() {
    let mut memory = Memory::seeded(&[pair("email", "a@b.c")], &[], &[]);
    let given = args(json!({"to": "{{emial}}"}));
    let refused = memory
        .set_args(given.clone(), Undefined::Error)
        .unwrap_err();
    assert_eq!(refused.to_string(), "`{{emial}}` is undefined");
    assert!(refused.hint().unwrap().contains("`{{email}}`"));
    memory.set_args(given, Undefined::Literal).unwrap();
    assert_eq!(memory.args()["to"], json!("{{emial}}"));
}

#[test]
fn a_long_chain_of_arguments_resolves() {
    let chain: BTreeMap<String, serde_json::Value> = (0..5_000)
        .map(|n| (format!("a{n}"), json!(format!("{{{{args.a{}}}}}", n + 1))))
        .chain([("a5000".to_owned(), json!("end"))])
        .collect();
    let mut memory = Memory::default();
    memory.set_args(chain, Undefined::Error).unwrap();
    assert_eq!(memory.args()["a0"], json!("end"));
}

#[test]
fn secrets_are_found_as_they_look_inside_json_and_addresses() {
    let redactor = redactor(&[("password", "a\"b&c d")]);
    assert_eq!(redactor.redact("x a\"b&c d y"), "x {{password}} y");
    assert_eq!(
        redactor.redact(r#"{"p":"a\"b&c d"}"#),
        r#"{"p":"{{password}}"}"#
    );
    assert_eq!(redactor.redact("?p=a%22b%26c%20d&q"), "?p={{password}}&q");
}

#[test]
fn a_long_line_of_a_secret_is_secret_by_itself() {
    let redactor = redactor(&[("key", "-----BEGIN-----\nMIIEvQIBADANB\nend\n")]);
    assert_eq!(
        redactor.redact("got MIIEvQIBADANB and end"),
        "got {{key}} and end"
    );
}

#[test]
fn overlapping_secrets_go_as_one() {
    let redactor = redactor(&[("one", "abcd"), ("two", "cdef"), ("three", "aaaa")]);
    assert_eq!(redactor.redact("xabcdefx"), "x{{one}}x");
    assert_eq!(redactor.redact("aaaaa"), "{{three}}");
    assert_eq!(redactor.redact("abcdcdef"), "{{one}}{{two}}");
}

#[test]
fn a_text_without_secrets_is_not_copied() {
    let redactor = redactor(&[("pin", "4711"), ("empty", "")]);
    assert!(matches!(
        redactor.redact("nothing here"),
        std::borrow::Cow::Borrowed(_)
    ));
}

#[test]
fn json_loses_its_secrets_in_texts_keys_and_numbers() {
    let redactor = redactor(&[("pin", "4711")]);
    assert_eq!(
        redactor.redact_json(&json!({"pin": 4711, "4711": ["x4711", null, true, 5]})),
        json!({"pin": "{{pin}}", "{{pin}}": ["x{{pin}}", null, true, 5]})
    );
}

#[test]
fn arguments_for_a_recording_get_the_template_back() {
    let redactor = redactor(&[("password", "hunter2")]);
    let args = Value::from(&json!({"text": "hunter2", "clearFirst": true}));
    assert_eq!(
        redactor.redact_value(&args).to_json(),
        json!({"text": "{{password}}", "clearFirst": true})
    );
}

proptest! {
    #[test]
    fn no_letter_of_a_secret_survives(
        parts in prop::collection::vec("[abx ]{0,6}", 1..6), secret in "[ab]{4,6}", other in "[ab]{4,6}"
    ) {
        // The secrets' letters occur nowhere in what replaces them.
        let text = parts.concat();
        let redactor = redactor(&[("S", &secret), ("O", &other)]);
        let redacted = redactor.redact(&text).replace("{{S}}", "\n").replace("{{O}}", "\n");
        prop_assert!(!redacted.contains(&secret) && !redacted.contains(&other), "{:?}", redacted);
        // What is left is the text without the covered stretches, in order.
        let mut rest = text.as_str();
        for kept in redacted.split('\n') {
            let at = rest.find(kept);
            prop_assert!(at.is_some());
            rest = &rest[at.unwrap_or_default() + kept.len()..];
        }
    }

    #[test]
    fn redacting_never_panics(text in ".{0,40}", secret in ".{0,8}") {
        redactor(&[("s", &secret)]).redact(&text);
    }
}

#[test]
fn a_secret_of_three_characters_is_hidden_as_a_word() {
    let redactor = redactor(&[("cvv", "123")]);
    for (text, redacted) in [
        ("123", "{{cvv}}"),
        ("cvv=123&x", "cvv={{cvv}}&x"),
        ("a_123.", "a_{{cvv}}."),
        (r"line\n123\u0020", r"line\n{{cvv}}\u0020"),
        ("%20123%20", "%20{{cvv}}%20"),
        ("1234 0123 a123 123a", "1234 0123 a123 123a"),
    ] {
        assert_eq!(redactor.redact(text), redacted);
    }
}

#[test]
fn taking_a_secret_out_twice_changes_nothing() {
    let redactor = redactor(&[("PASSWORD", "WORD"), ("b", "PASS")]);
    let once = redactor.redact("the WORD, and PASS").into_owned();
    assert_eq!(once, "the {{PASSWORD}}, and {{b}}");
    assert_eq!(redactor.redact(&once), once);
}
