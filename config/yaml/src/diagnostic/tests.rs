use proptest::prelude::*;

use super::{Diagnostic, quoted};
use crate::source::{Position, Source, Span};

fn span(text: &str, marked: &str) -> Span {
    let offset = text.find(marked).unwrap();
    let position = |offset: usize| {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() as u32 + 1,
            column: before[line_start..].chars().count() as u32 + 1,
            offset,
        }
    };
    Span::new(position(offset), position(offset + marked.len()))
}

#[test]
fn it_shows_file_line_column_the_line_a_caret_and_the_hint() {
    let text = "trail:\n  - step: Log in\n    recordng:\n      web: []\n";
    let source = Source::new("trails/login.trail.yaml", text);
    let shown = Diagnostic::error(&source, span(text, "recordng"), "unknown key `recordng`")
        .label("not a key of a step")
        .hint("did you mean `recording`?".to_owned())
        .render(false);
    assert_eq!(
        shown,
        "\
error: unknown key `recordng`
 --> trails/login.trail.yaml:3:5
  |
3 |     recordng:
  |     ^^^^^^^^ not a key of a step
  |
  = hint: did you mean `recording`?"
    );
}

#[test]
fn a_block_is_marked_on_its_first_line_only() {
    let text = "a:\n  b: 1\n  c: 2\n";
    let source = Source::new("f.yaml", text);
    let shown = Diagnostic::warning(&source, span(text, "b: 1\n  c: 2"), "odd").render(false);
    assert_eq!(
        shown,
        "\
warning: odd
 --> f.yaml:2:3
  |
2 |   b: 1
  |   ^^^^"
    );
}

#[test]
fn wide_letters_and_tabs_do_not_shift_the_caret() {
    let text = "k\u{e9}y:\t\u{6f22}\u{5b57} bad\n";
    let source = Source::new("f.yaml", text);
    let shown = Diagnostic::error(&source, span(text, "bad"), "no").render(false);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1], " --> f.yaml:1:9");
    assert_eq!(lines[3], "1 | k\u{e9}y:    \u{6f22}\u{5b57} bad");
    // A tab is shown as four columns, a Chinese character takes two.
    assert_eq!(lines[4], "  |              ^^^");
}

#[test]
fn a_very_long_line_is_cut_around_the_caret() {
    let text = format!("{}bad{}\n", "x ".repeat(5_000), " y".repeat(5_000));
    let source = Source::new("f.yaml", &*text);
    let shown = Diagnostic::error(&source, span(&text, "bad"), "no").render(false);
    assert!(
        shown.lines().all(|line| line.chars().count() < 200),
        "{shown}"
    );
    assert!(shown.contains("bad"));
    assert!(shown.contains("--> f.yaml:1:10001\n"), "{shown}");
}

#[test]
fn without_a_place_it_names_the_file() {
    let source = Source::new("empty.trail.yaml", "");
    let diagnostic = Diagnostic::error(&source, None, "the file is empty");
    assert_eq!(
        diagnostic.render(false),
        "error: the file is empty\n--> empty.trail.yaml"
    );
    assert_eq!(
        diagnostic.to_string(),
        "empty.trail.yaml: error: the file is empty"
    );
}

#[test]
fn colours_come_only_when_asked_for() {
    let source = Source::new("f.yaml", "a: 1\n");
    let diagnostic = Diagnostic::error(&source, span("a: 1\n", "a"), "no");
    assert!(!diagnostic.render(false).contains('\x1b'));
    assert!(diagnostic.render(true).contains('\x1b'));
}

#[test]
fn a_file_cannot_send_control_sequences_to_the_terminal() {
    let text = "a: \x1b[31mred\n";
    let source = Source::new("\x1b]0;x\x07.yaml", text);
    let diagnostic = Diagnostic::error(
        &source,
        span(text, "red"),
        format!("unknown {}", quoted("\x1b[2J\u{202e}abc")),
    );
    for shown in [diagnostic.render(false), diagnostic.to_string()] {
        assert!(
            !shown.contains('\x1b') && !shown.contains('\u{202e}'),
            "{shown:?}"
        );
    }
}

#[test]
fn as_json_it_names_the_file_instead_of_quoting_it() {
    let source = Source::new("f.yaml", "a: 1\n");
    let diagnostic = Diagnostic::warning(&source, span("a: 1\n", "1"), "odd");
    assert_eq!(
        serde_json::to_value(&diagnostic).unwrap(),
        serde_json::json!({
            "severity": "warning",
            "message": "odd",
            "source": "f.yaml",
            "span": {
                "start": {"line": 1, "column": 4, "offset": 3},
                "end": {"line": 1, "column": 5, "offset": 4},
            },
        })
    );
}

proptest! {
    #[test]
    fn rendering_never_panics(text in ".{0,80}(\n.{0,80}){0,3}", a in 0usize..300, b in 0usize..300) {
        let source = Source::new("f.yaml", &*text);
        let at = |offset| Position { line: 1, column: 1, offset };
        Diagnostic::error(&source, Span::new(at(a), at(b)), "no").label("here").render(true);
    }
}
