//! Breaks a good trail in every way people do, everywhere, and looks at what they are told.

use proptest::prelude::*;

use super::FULL;
use crate::source::Source;
use crate::trail::Trail;
use crate::yaml::{Entry, Key, Mapping, Node, Notation, Sequence, Value, read};

/// Parses a broken trail and demands: an error, each problem with a place in the text that can be
/// drawn.
fn assert_refused(broken: &str, how: &str) {
    let Err(problems) = Trail::parse(broken, "f") else {
        panic!("{how} was not noticed:\n{broken}");
    };
    assert!(!problems.is_empty(), "{how}");
    for problem in problems {
        let Some(span) = problem.span else {
            panic!("{how}: {problem} has no place");
        };
        assert!(span.end.offset <= broken.len(), "{how}: {problem}");
        let lines = broken.lines().count() as u32;
        assert!(
            (1..=lines + 1).contains(&span.start.line),
            "{how}: {problem}"
        );
        let picture = problem.render(false);
        assert!(
            picture.contains(&format!("--> {}", problem.location())),
            "{picture}"
        );
    }
}

/// Replaces one line and tells which.
fn with_line(number: usize, line: &str) -> String {
    let mut lines: Vec<&str> = FULL.lines().collect();
    lines[number] = line;
    lines.join("\n") + "\n"
}

fn lines() -> impl Iterator<Item = (usize, &'static str)> {
    FULL.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Lines whose indentation means something: not those inside a text.
fn structure() -> impl Iterator<Item = (usize, &'static str)> {
    let inside = ["Taps the", "and reads", "one more", "Say", "goodbye"];
    lines().filter(move |(_, line)| {
        !inside
            .iter()
            .any(|text| line.trim_start().starts_with(text))
    })
}

/// The key of a line, and what is before and after it.
fn key(line: &str) -> Option<(&str, &str, &str)> {
    let start = line.find(|c: char| c.is_ascii_alphabetic())?;
    if line[..start].contains(['"', '{', '\'']) {
        return None;
    }
    let (key, rest) = line[start..].split_once(':')?;
    key.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        .then_some((&line[..start], key, rest))
}

#[test]
fn a_tab_in_the_indentation_is_refused_on_every_line() {
    let mut count = 0;
    for (number, line) in structure().filter(|(_, line)| line.starts_with("  ")) {
        assert_refused(&with_line(number, &line.replacen("  ", "\t", 1)), "a tab");
        count += 1;
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_missing_colon_is_refused_on_every_line() {
    let mut count = 0;
    for (number, line) in structure() {
        let Some((before, key, rest)) = key(line) else {
            continue;
        };
        // With another colon in its value the line is a key again, though not the right one; and
        // deep inside arguments only the tool knows what must be there.
        if rest.contains(": ") || key == "textRegex" {
            continue;
        }
        assert_refused(
            &with_line(number, &format!("{before}{key}{rest}")),
            "a missing colon",
        );
        count += 1;
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_key_given_twice_is_refused_on_every_line() {
    let mut count = 0;
    for (number, line) in structure() {
        let Some((before, key, _)) = key(line) else {
            continue;
        };
        // Behind a dash the second one goes on the next line, in the column of the first.
        let twin = format!("{}{key}: x", before.replace('-', " "));
        let broken = if before.contains('-') {
            let value = if line.ends_with(':') { continue } else { line };
            format!("{value}\n{twin}")
        } else {
            format!("{twin}\n{line}")
        };
        if line.ends_with('|') || line.ends_with("|-") || line.contains("The number is") {
            continue;
        }
        assert_refused(&with_line(number, &broken), "a key given twice");
        count += 1;
    }
    assert!(count > 45, "{count}");
}

#[test]
fn quotes_that_are_not_closed_are_refused_wherever_they_are() {
    let mut count = 0;
    for (number, line) in structure() {
        for quote in ['"', '\''] {
            if line.matches(quote).count() >= 2 && !line.contains("\\\"") {
                let at = line.rfind(quote).unwrap();
                let broken = format!("{}{}", &line[..at], &line[at + 1..]);
                assert_refused(&with_line(number, &broken), "open quotes");
                count += 1;
            }
        }
        let Some((before, key, rest)) = key(line) else {
            continue;
        };
        let value = rest.trim();
        if !value.is_empty() && !value.starts_with(['"', '\'', '|', '[', '{']) {
            for quote in ['"', '\''] {
                let broken = format!("{before}{key}: {quote}{value}");
                assert_refused(&with_line(number, &broken), "opened quotes");
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn brackets_that_are_not_closed_are_refused_on_every_line() {
    let mut count = 0;
    for (number, line) in structure() {
        let Some((before, key, rest)) = key(line) else {
            continue;
        };
        if rest.trim().starts_with('|') || rest.contains('#') {
            continue;
        }
        for bracket in ["[", "{", "]", "}"] {
            let broken = format!("{before}{key}: {bracket}{}", rest.trim());
            assert_refused(&with_line(number, &broken), bracket);
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

#[test]
fn anchors_aliases_and_tags_are_refused_before_every_value() {
    let mut count = 0;
    for (number, line) in structure() {
        let Some((before, key, rest)) = key(line) else {
            continue;
        };
        for mark in ["&a ", "!!str ", "!x "] {
            assert_refused(
                &with_line(number, &format!("{before}{key}: {mark}{rest}")),
                mark,
            );
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// Whether the format says what must be at this place; below a tool's name it does not.
fn is_typed(path: &[String]) -> bool {
    let recording = path.iter().position(|step| step == "recording");
    let call = |at: usize| {
        if path[0] == "trailhead" {
            at + 2
        } else {
            at + 3
        }
    };
    match recording {
        Some(at) => path.len() <= call(at),
        None => true,
    }
}

/// The paths of all nodes for which the format says what must be there.
fn typed_paths(value: &Value, path: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    if !path.is_empty() && is_typed(path) {
        all.push(path.clone());
    }
    let mut below = |step: String, value: &Value| {
        path.push(step);
        typed_paths(value, path, all);
        path.pop();
    };
    match &value.node {
        Node::Scalar(_) => {}
        Node::Sequence(sequence) => {
            for (place, item) in sequence.items.iter().enumerate() {
                below(place.to_string(), item);
            }
        }
        Node::Mapping(mapping) => {
            for entry in &mapping.entries {
                below(entry.key.text.clone(), &entry.value);
            }
        }
    }
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> &'v mut Value {
    path.iter()
        .fold(value, |value, step| match &mut value.node {
            Node::Sequence(sequence) => &mut sequence.items[step.parse::<usize>().unwrap()],
            Node::Mapping(mapping) => {
                &mut mapping
                    .entries
                    .iter_mut()
                    .find(|entry| &entry.key.text == step)
                    .unwrap()
                    .value
            }
            Node::Scalar(_) => panic!("{path:?}"),
        })
}

fn mapping_of(value: Value) -> Node {
    Node::Mapping(Mapping {
        entries: vec![Entry {
            key: Key {
                text: "zzz zzz".to_owned(),
                span: None,
            },
            value,
        }],
        notation: Notation::Block,
    })
}

fn list_of(value: Value) -> Node {
    Node::Sequence(Sequence {
        items: vec![value],
        notation: Notation::Block,
    })
}

/// The sample with one value replaced by one of another kind, everywhere and in every way.
pub(crate) fn wrong_kinds() -> Vec<(String, Value)> {
    let source = Source::new("f", FULL);
    let tree = read(&source).value.unwrap();
    let mut paths = Vec::new();
    typed_paths(&tree, &mut Vec::new(), &mut paths);
    let mut all = Vec::new();
    for path in &paths {
        let original = at(&mut tree.clone(), path).clone();
        let wrong: Vec<(&str, Node)> = match &original.node {
            Node::Scalar(_) if original.is_null() => vec![("a list", list_of(Value::word("x")))],
            Node::Scalar(_) => vec![
                ("a mapping", mapping_of(Value::word("x"))),
                ("a list", list_of(original.clone())),
                ("nothing", Value::null().node),
            ],
            Node::Sequence(_) => vec![
                ("a mapping", mapping_of(original.clone())),
                ("a word", Value::word("x").node),
                ("nothing", Value::null().node),
            ],
            Node::Mapping(_) => vec![
                ("a list", list_of(original.clone())),
                ("a word", Value::word("zzz").node),
            ],
        };
        for (what, node) in wrong {
            // Keys that a declaration does not know are warnings.
            if what == "a mapping" && path.len() == 3 && path[1] == "args" {
                continue;
            }
            let mut broken = tree.clone();
            at(&mut broken, path).node = node;
            all.push((format!("{what} at {}", path.join(".")), broken));
        }
    }
    all
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_everywhere() {
    let all = wrong_kinds();
    assert!(all.len() > 120, "{}", all.len());
    for (how, broken) in all {
        assert_refused(&broken.to_yaml(), &how);
    }
}

#[test]
fn a_slip_in_a_key_is_refused_and_the_right_one_suggested() {
    let slips: [fn(&str) -> String; 4] = [
        |key| key[1..].to_owned(),
        |key| format!("{key}s"),
        |key| key.replacen('e', "", 1),
        |key| format!("{}{}", &key[1..2], key.replacen(&key[1..2], "", 1)),
    ];
    let keys = [
        "config",
        "trailhead",
        "trail",
        "step",
        "verify",
        "recording",
        "recordable",
        "maxRetries",
    ];
    let mut count = 0;
    for (number, line) in structure() {
        let Some((before, key, rest)) = key(line) else {
            continue;
        };
        if !keys.contains(&key) {
            continue;
        }
        for slip in slips {
            let wrong = slip(key);
            if wrong == key || keys.contains(&wrong.as_str()) {
                continue;
            }
            let broken = with_line(number, &format!("{before}{wrong}:{rest}"));
            assert_refused(&broken, &wrong);
            let problems = Trail::parse(&broken, "f").unwrap_err();
            let told = problems
                .iter()
                .find(|problem| problem.span.unwrap().start.line == number as u32 + 1);
            assert_eq!(
                told.and_then(|problem| problem.hint.clone()),
                Some(format!("did you mean `{key}`?")),
                "{wrong}"
            );
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn both_kinds_in_a_step_are_refused_in_every_step() {
    for (number, line) in structure() {
        let (from, other) = match key(line) {
            Some((before, "step", _)) if before.contains('-') => (before, "verify"),
            Some((before, "verify", _)) => (before, "step"),
            _ => continue,
        };
        let broken = with_line(
            number,
            &format!("{from}{other}: x\n{}", line.replacen('-', " ", 1)),
        );
        assert_refused(&broken, "both kinds");
    }
}

proptest! {
    #[test]
    fn no_cut_or_insertion_makes_the_reader_panic(
        from in 0..FULL.len(), width in 0usize..40, inserted in "[-:#|>{}\\[\\]'\"&*! \t\na-z]{0,6}"
    ) {
        let boundary = |at: usize| (at.min(FULL.len())..=FULL.len()).find(|at| FULL.is_char_boundary(*at)).unwrap();
        let (from, to) = (boundary(from), boundary(from + width));
        let text = format!("{}{inserted}{}", &FULL[..from], &FULL[to..]);
        match Trail::parse(&text, "f") {
            Ok(parsed) => for warning in parsed.warnings { warning.render(true); },
            Err(problems) => {
                prop_assert!(!problems.is_empty());
                for problem in problems {
                    problem.render(true);
                }
            }
        }
    }

    #[test]
    fn arbitrary_text_never_makes_the_reader_panic(text in "\\PC{0,200}|([ -~]|\n|\t){0,400}") {
        if let Err(problems) = Trail::parse(&text, "f") {
            prop_assert!(!problems.is_empty());
        }
    }
}
