use proptest::prelude::*;

use super::{block, flow};
use crate::source::Source;
use crate::{Value, read};

fn parse(text: &str) -> Value {
    let source = Source::new("f.yaml", text);
    let read = read(&source);
    assert_eq!(read.problems, [], "{text}");
    read.value.unwrap()
}

fn rewritten(text: &str) -> String {
    block(&parse(text)).join("\n") + "\n"
}

#[test]
fn what_upstream_writes_is_written_the_same() {
    for text in [
        "- tapOnElementBySelector:\n    reason: Start the load.\n    nodeSelector:\n      androidAccessibility:\n        textRegex: Start Loading\n",
        "- assertVisibleBySelector:\n    reason: The 'Tap Me' button.\n    textRegex: 'Tap Count: 0'\n",
        "- web_selectOption:\n    ref: e11\n    values:\n    - Feedback\n    - Other\n- pressBack: {}\n",
        "- mobile_maestro:\n    commands:\n    - extendedWaitUntil:\n        visible:\n          text: Content Loaded\n        timeout: \"30000\"\n    - back: {}\n",
        "- inputText:\n    text: |-\n      one\n\n      two\n    hideKeyboardAfter: false\n",
        "- web_click:\n    cssSelector: \"#nav\"\n    reason: '''Item 50'' is there'\n",
        "- tapOnPoint:\n    x: 540\n    y: 1200\n",
    ] {
        assert_eq!(rewritten(text), text);
    }
}

#[test]
fn what_an_old_reader_would_misread_is_quoted() {
    for text in [
        "yes",
        "Off",
        "7:30",
        "0x1f",
        "1_000",
        "2026-11-21",
        "0000",
        ".inf",
        "~",
        "",
    ] {
        assert_eq!(block(&Value::text(text)), [format!("\"{text}\"")]);
    }
}

#[test]
fn ordinary_words_stay_without_quotes() {
    for text in [
        "Start Loading",
        "com.example:id/x",
        "e4",
        "it's",
        "a - b",
        "f\u{fc}r",
        "12 apples",
    ] {
        assert_eq!(block(&Value::text(text)), [text]);
    }
}

#[test]
fn flow_is_one_line_that_reads_the_same() {
    let value = parse("- tap: {ref: e4, text: 'a, b', n: 5, m: '5', l: [x, {}]}");
    let line = flow(&value);
    assert_eq!(
        line,
        "[{tap: {ref: e4, text: \"a, b\", n: 5, m: \"5\", l: [x, {}]}}]"
    );
    assert_eq!(parse(&line), value);
}

proptest! {
    #[test]
    fn what_is_written_reads_back_equal(json in crate::tests::any_json()) {
        let value = Value::from(&json);
        prop_assert_eq!(&parse(&(block(&value).join("\n") + "\n")), &value);
        prop_assert_eq!(&parse(&block(&value).join("\r\n")), &value);
        prop_assert_eq!(&parse(&flow(&value)), &value);
    }

    #[test]
    fn any_text_reads_back_equal_below_a_key(text in ".{0,20}(\n.{0,20}){0,3}\n{0,3}") {
        let value = Value::mapping([("a".to_owned(), Value::text(text)), ("b".to_owned(), Value::word("5"))]);
        prop_assert_eq!(&parse(&(block(&value).join("\n") + "\n")), &value);
    }
}
