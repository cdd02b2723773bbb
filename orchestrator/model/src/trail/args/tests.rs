use serde_json::json;

use super::{ArgType, GivenArg};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::trail::Trail;
use crate::yaml::{Value, read};

const TRAIL: &str = "\
config:
  args:
    name: string
    count: {type: integer, default: 2}
    loud: {type: boolean, default: false}
    items: {type: array, default: []}
    who: {type: object, default: {}}
trail:
- step: a
";

fn word(name: &str, word: &str) -> GivenArg {
    GivenArg {
        name: name.to_owned(),
        value: Value::word(word),
        source: None,
    }
}

fn bind(given: &[GivenArg]) -> Result<serde_json::Value, Vec<Diagnostic>> {
    let trail = Trail::parse(TRAIL, "f").unwrap().trail;
    let bound = trail.config.bind_args(&trail.source, given)?;
    Ok(bound.into_iter().collect())
}

fn problems(given: &[GivenArg]) -> Vec<String> {
    bind(given)
        .unwrap_err()
        .iter()
        .map(|problem| {
            let hint = problem.hint.as_deref().unwrap_or("-");
            format!("{problem} | {hint}")
        })
        .collect()
}

#[test]
fn the_declaration_decides_the_type_not_the_looks() {
    assert_eq!(
        bind(&[
            word("name", "007"),
            word("count", "5"),
            word("loud", "TRUE")
        ])
        .unwrap(),
        json!({"name": "007", "count": 5, "loud": true, "items": [], "who": {}})
    );
    assert_eq!(
        ArgType::Integer.read(&Value::text("123")),
        Ok(json!(123)),
        "quoted"
    );
}

#[test]
fn an_empty_word_is_an_empty_text() {
    assert_eq!(bind(&[word("name", "")]).unwrap()["name"], json!(""));
}

#[test]
fn of_two_given_the_later_counts() {
    let given = [word("name", "a"), word("name", "b")];
    assert_eq!(bind(&given).unwrap()["name"], json!("b"));
}

#[test]
fn what_must_be_given_and_is_not_is_told_at_its_declaration() {
    assert_eq!(
        problems(&[]),
        ["f:3:5: error: argument `name` must be given | add --arg name=..."]
    );
}

#[test]
fn every_mistake_is_told() {
    assert_eq!(
        problems(&[
            word("nmae", "x"),
            word("count", "many"),
            word("items", "[1]")
        ]),
        [
            "f: error: the trail takes no argument `nmae` | did you mean `name`?",
            "f:3:5: error: argument `name` must be given | add --arg name=...",
            "f:4:5: error: argument `count`: expected a whole number, found `many` | -",
            "f:6:5: error: argument `items`: expected a list, found text | -",
        ]
    );
}

#[test]
fn a_mistake_in_a_file_of_arguments_is_told_there() {
    let source = Source::new(
        "args.yaml",
        "name:\ncount: [1]\nitems: [1, '2']\nwho: {a: b}\n",
    );
    let tree = read(&source).value.unwrap();
    let given: Vec<GivenArg> = tree
        .as_mapping()
        .unwrap()
        .entries
        .iter()
        .map(|entry| GivenArg {
            name: entry.key.text.clone(),
            value: entry.value.clone(),
            source: Some(source.clone()),
        })
        .collect();
    assert_eq!(
        problems(&given),
        [
            "args.yaml:1:5: error: argument `name`: expected a text, found nothing | an argument cannot be null; leave it out, or give ''",
            "args.yaml:2:8: error: argument `count`: expected a whole number, found a list | -",
        ]
    );
    let bound = bind(&[&[word("name", "n"), word("count", "1")], &given[2..]].concat()).unwrap();
    assert_eq!(
        (&bound["items"], &bound["who"]),
        (&json!([1, "2"]), &json!({"a": "b"}))
    );
}

#[test]
fn an_argument_cannot_compute() {
    assert_eq!(
        problems(&[word("name", "{{args.count + 1}}")]),
        [
            "f:3:5: error: argument `name`: invalid template `{{args.count + 1}}`: expected a name, not an expression | -"
        ]
    );
}
