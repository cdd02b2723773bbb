use proptest::prelude::*;
use serde_json::json;

use super::{
    MAX_BYTES, MAX_DEPTH, MAX_NODES, Meaning, Node, Options, Style, Value, read, read_documents,
};
use crate::source::Source;

fn parse(text: &str) -> Value {
    let source = Source::new("f.yaml", text);
    let read = read(&source);
    assert_eq!(read.problems, [], "{text}");
    read.value.unwrap()
}

/// The first problem as `line:column: message`.
fn problem(text: &str) -> String {
    let source = Source::new("f", text);
    let read = read(&source);
    let problem = read.problems.first().unwrap();
    let at = problem.location();
    format!("{}: {}", at.trim_start_matches("f:"), problem.message)
}

fn hint(text: &str) -> String {
    let source = Source::new("f", text);
    read(&source).problems[0].hint.clone().unwrap_or_default()
}

fn get<'a>(value: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(value, |value, key| {
        value.as_mapping().unwrap().get(key).unwrap()
    })
}

fn meaning(text: &str) -> Meaning {
    parse(&format!("k: {text}")).as_mapping().unwrap().entries[0]
        .value
        .as_scalar()
        .unwrap()
        .meaning()
}

#[test]
fn a_time_of_day_and_a_pin_are_texts() {
    for text in [
        "7:30",
        "8:00",
        "0000",
        "007",
        "1_000",
        "0x1f",
        "+5",
        "yes",
        "on",
        "2026-11-21",
    ] {
        assert_eq!(meaning(text), Meaning::Text, "{text}");
    }
}

#[test]
fn what_would_be_written_just_so_is_a_number() {
    assert_eq!(meaning("5"), Meaning::Integer(5));
    assert_eq!(meaning("-4"), Meaning::Integer(-4));
    assert_eq!(meaning("3.5"), Meaning::Float(3.5));
    assert_eq!(meaning("3.50"), Meaning::Text);
    assert_eq!(meaning("TRUE"), Meaning::Bool(true));
    assert_eq!(meaning("~"), Meaning::Null);
}

#[test]
fn quotes_make_a_text_of_anything() {
    for text in ["'5'", "\"true\"", "''", "\"null\""] {
        assert_eq!(meaning(text), Meaning::Text, "{text}");
    }
}

#[test]
fn every_node_knows_its_place() {
    let text = "a:\n  b: \u{e9}x\n  c: [1, 2]\n  d: |\n    one\n    two\n\n  e:\n    - f\nz: end\n";
    let source = Source::new("f.yaml", text);
    let value = parse(text);
    let slice = |path: &[&str]| source.slice(get(&value, path).span.unwrap());
    assert_eq!(slice(&["a", "b"]), "\u{e9}x");
    assert_eq!(slice(&["a", "c"]), "[1, 2]");
    assert_eq!(slice(&["a", "d"]), "one\n    two");
    assert_eq!(slice(&["a", "e"]), "- f");
    assert_eq!(slice(&["z"]), "end");
    let b = get(&value, &["a", "b"]).span.unwrap();
    assert_eq!((b.start.line, b.start.column), (2, 6));
    assert_eq!((b.end.line, b.end.column), (2, 8));
    let d = get(&value, &["a", "d"]).span.unwrap();
    assert_eq!((d.end.line, d.end.column), (6, 8));
    let a = get(&value, &["a"]).span.unwrap();
    assert_eq!(
        (a.end.line, a.end.column),
        (9, 8),
        "ends with its last value"
    );
}

#[test]
fn quotes_and_the_order_of_keys_are_kept() {
    let value = parse("z: 'a'\ny: \"b\"\nx: c\nw: |\n  d\nv: >\n  e\n");
    let mapping = value.as_mapping().unwrap();
    assert_eq!(mapping.keys().collect::<String>(), "zyxwv");
    let styles: Vec<Style> = mapping
        .entries
        .iter()
        .map(|entry| entry.value.as_scalar().unwrap().style)
        .collect();
    assert_eq!(
        styles,
        [
            Style::SingleQuoted,
            Style::DoubleQuoted,
            Style::Plain,
            Style::Literal,
            Style::Folded
        ]
    );
}

#[test]
fn an_absent_value_is_nothing() {
    let value = parse("a:\nb: x\n");
    let a = get(&value, &["a"]);
    assert!(a.is_null());
    assert_eq!(a.as_scalar().unwrap().text, "");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_do_not_matter() {
    let value = parse("\u{feff}a: 1\r\nb: |\r\n  x\r\n  y\r\n");
    assert_eq!(value.to_json(), json!({"a": 1, "b": "x\ny\n"}));
}

#[test]
fn a_key_given_twice_is_refused_and_says_where_the_first_is() {
    assert_eq!(
        problem("a: 1\nb: 2\na: 3\n"),
        "3:1: the key `a` is given twice, first on line 1"
    );
}

#[test]
fn every_duplicate_is_told_not_only_the_first() {
    let source = Source::new("f", "a: 1\na: 2\nb:\n  c: 1\n  c: 2\n");
    assert_eq!(read(&source).problems.len(), 2);
}

#[test]
fn anchors_aliases_and_tags_are_refused_where_they_stand() {
    assert_eq!(
        problem("a: &x 1\n"),
        "1:4: YAML anchors are not supported: `&x`"
    );
    assert_eq!(
        problem("a: *x\n"),
        "1:4: YAML aliases are not supported: `*x`"
    );
    assert_eq!(
        problem("a: !!str 1\n"),
        "1:4: YAML tags are not supported: `!!str`"
    );
}

#[test]
fn a_billion_laughs_are_not_laughed() {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (outer, inner) in "bcdefghij".chars().zip("abcdefghi".chars()) {
        text.push_str(&format!(
            "{outer}: &{outer} [{}]\n",
            vec![format!("*{inner}"); 9].join(", ")
        ));
    }
    let source = Source::new("f", text);
    let read = read(&source);
    assert!(!read.problems.is_empty());
    // Nine times nine aliases were read as nothing, each once.
    let lengths: usize = read
        .value
        .unwrap()
        .as_mapping()
        .unwrap()
        .entries
        .iter()
        .map(|entry| entry.value.as_sequence().unwrap().len())
        .sum();
    assert_eq!(lengths, 90);
}

#[test]
fn depth_size_and_number_of_values_are_capped() {
    let deep = format!("{}{}", "[".repeat(MAX_DEPTH + 2), "]".repeat(MAX_DEPTH + 2));
    assert!(problem(&deep).contains("nested"), "{}", problem(&deep));
    // Neither notation reaches its own limit, together they do.
    let mut mixed = String::new();
    for depth in 0..MAX_DEPTH / 2 + 1 {
        mixed.push_str(&format!("{}- \n", " ".repeat(depth)));
    }
    mixed.push_str(&" ".repeat(MAX_DEPTH / 2 + 2));
    mixed.push_str(&"[".repeat(MAX_DEPTH / 2 + 1));
    mixed.push_str(&"]".repeat(MAX_DEPTH / 2 + 1));
    assert!(problem(&mixed).contains("nested"), "{}", problem(&mixed));
    let many = "- x\n".repeat(MAX_NODES + 1);
    assert!(problem(&many).contains("values"), "{}", problem(&many));
    let long = "#".repeat(MAX_BYTES + 1);
    assert!(problem(&long).contains("bytes"), "{}", problem(&long));
}

#[test]
fn a_second_document_is_refused() {
    assert_eq!(
        problem("a: 1\n---\nb: 2\n"),
        "2:1: a second document begins here"
    );
}

#[test]
fn mistakes_people_make_come_with_advice() {
    assert_eq!(problem("a:\n\tb: c\n").split(':').next(), Some("2"));
    assert!(hint("a:\n\tb: c\n").contains("spaces"));
    assert_eq!(problem("step: It is: wrong\n"), "1:12: unexpected `:`");
    assert!(hint("step: It is: wrong\n").contains("quotes"));
    assert_eq!(problem("a: 'x\nb: c\n"), "1:4: unclosed quotes");
    assert_eq!(
        problem("a: 1 # don't\nb: \"x\nc: d\n"),
        "2:4: unclosed quotes"
    );
    assert!(hint("a: x y\n  b:\n    c: 1\n").contains("on line 1"));
    assert_eq!(problem("a: {{name}}\n"), "1:5: a key must be a single word");
    assert!(hint("a: {{name}}\n").contains("\"{{name}}\""));
    assert!(hint("a: @foo\n").contains("quotes"));
}

#[test]
fn equal_means_the_same_however_it_is_written() {
    assert_eq!(parse("a: [x, '5']"), parse("a:\n- \"x\"\n- \"5\"\n"));
    assert_ne!(parse("a: 5"), parse("a: '5'"));
    assert_eq!(parse("a: ~"), parse("a:"));
}

#[test]
fn json_is_made_by_the_rule_for_unknown_tools() {
    let value = parse("a: 5\nb: \"5\"\nc: True\nd: 0000\ne: 3.5\nf: 7:30\ng:\nh: [1, x]\ni: {}\n");
    assert_eq!(
        value.to_json(),
        json!({"a": 5, "b": "5", "c": true, "d": "0000", "e": 3.5, "f": "7:30", "g": null,
               "h": [1, "x"], "i": {}})
    );
}

#[test]
fn a_word_of_the_command_line_is_what_it_looks_like_and_never_nothing() {
    assert_eq!(Value::word("5").to_json(), json!(5));
    assert_eq!(Value::word("a b").to_json(), json!("a b"));
    assert_eq!(Value::word("").to_json(), json!(""));
}

const SHARED: Options = Options {
    is_lenient: true,
    documents: true,
    ..Options::STRICT
};

fn shared(text: &str) -> Result<Vec<serde_json::Value>, String> {
    let (values, problems) = read_documents(&Source::new("f", text), SHARED);
    match problems.first() {
        None => Ok(values.iter().map(Value::to_json).collect()),
        Some(problem) => Err(problem.to_string()),
    }
}

#[test]
fn aliases_and_merged_keys_are_what_they_stand_for_where_they_are_allowed() {
    let read = shared("a: &a {x: 1, y: 2}\nb: *a\nc:\n  <<: *a\n  x: 3\n--- !tag\n[]\n").unwrap();
    let a = json!({"x": 1, "y": 2});
    assert_eq!(
        read,
        [json!({"a": a, "b": a, "c": {"x": 3, "y": 2}}), json!([])]
    );
    assert!(shared("a: &a [*a]").is_err());
    assert!(
        shared("<<: 5")
            .unwrap_err()
            .contains("takes keys and values")
    );
    assert!(shared("a: 1\na: 2").unwrap_err().contains("given twice"));
}

#[test]
fn aliases_grow_a_file_neither_wide_nor_deep() {
    let mut wide = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let mut deep = "a0: &a0 [x]\n".to_owned();
    for level in 1..80 {
        let below = level - 1;
        let items = vec![format!("*a{below}"); 10].join(", ");
        wide.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        deep.push_str(&format!("a{level}: &a{level} [*a{below}]\n"));
    }
    assert!(
        shared(&wide)
            .unwrap_err()
            .contains("more than 50000 values")
    );
    assert!(
        shared(&deep)
            .unwrap_err()
            .contains("nested more than 64 deep")
    );
}

pub(crate) fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<f64>().prop_map(|value| json!(value)),
        any::<String>().prop_map(|value| json!(value)),
        "[ -~\n]{0,12}".prop_map(|value| json!(value)),
        "(yes|no|null|~|[-+]?[0-9x_.:eE]{1,6}|true|False)".prop_map(|value| json!(value)),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[ -~]{0,8}", inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_survives_the_way_through_a_tree(json in any_json()) {
        prop_assert_eq!(Value::from(&json).to_json(), json);
    }

    #[test]
    fn reading_never_panics_and_every_problem_has_a_place(text in "\\PC{0,60}|([ -~]|\n){0,200}") {
        let source = Source::new("f", &*text);
        let read = read(&source);
        for problem in &read.problems {
            let span = problem.span.unwrap();
            prop_assert!(text.is_char_boundary(span.start.offset));
            prop_assert!(text.is_char_boundary(span.end.offset));
            prop_assert!(span.start <= span.end);
        }
        prop_assert!(read.value.is_some() || !read.problems.is_empty() || is_blank(&text));
    }

    #[test]
    fn spans_are_inside_the_text_and_inside_their_parents(
        text in "([a-c]:( |\n  ?)|- |\\[|\\]|\\{|\\}|, ?|'|\"|#|\\||x|\n|  ){0,40}"
    ) {
        let source = Source::new("f", &*text);
        if let Some(value) = read(&source).value {
            nested(&value, 0..text.len(), &text)?;
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.lines().all(|line| {
        line.trim().is_empty()
            || line.trim_start().starts_with(['#', '%'])
            || line.starts_with("---")
            || line.starts_with("...")
    })
}

fn nested(value: &Value, parent: std::ops::Range<usize>, text: &str) -> Result<(), TestCaseError> {
    let span = value.span.unwrap();
    let range = span.start.offset..span.end.offset;
    prop_assert!(
        range.start <= range.end && range.end <= parent.end,
        "{:?} in {:?}",
        range,
        parent
    );
    prop_assert!(parent.start <= range.start, "{:?} in {:?}", range, parent);
    prop_assert!(text.is_char_boundary(range.start) && text.is_char_boundary(range.end));
    match &value.node {
        Node::Scalar(_) => Ok(()),
        Node::Sequence(sequence) => sequence
            .items
            .iter()
            .try_for_each(|item| nested(item, range.clone(), text)),
        Node::Mapping(mapping) => mapping
            .entries
            .iter()
            .try_for_each(|entry| nested(&entry.value, range.clone(), text)),
    }
}
