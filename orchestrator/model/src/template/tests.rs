use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::scan::{Piece, pieces};
use super::{Reason, Scope, TemplateError, Undefined, expand_variables};
use crate::memory::Memory;
use crate::source::Source;
use crate::yaml::{Value, read};

fn memory() -> Memory {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut memory = Memory::seeded(
        &[
            pair("user", "ada"),
            pair("n", "5"),
            pair("nested", "{{user}}"),
            pair("memory.odd", "odd"),
        ],
        &[],
        &[],
    );
    let args = json!({
        "count": 3, "name": "eve", "loud": true, "items": ["a", 1],
        "reply": {"to": {"email": "a@b.c"}}
    });
    memory
        .set_args(serde_json::from_value(args).unwrap(), Undefined::Error)
        .unwrap();
    memory
}

fn scope(memory: &Memory) -> Scope<'_> {
    Scope {
        memory,
        params: None,
        app_ids: &[],
        code: &[],
        undefined: Undefined::Literal,
    }
}

fn strict(memory: &Memory) -> Scope<'_> {
    Scope {
        undefined: Undefined::Error,
        ..scope(memory)
    }
}

fn text(text: &str) -> String {
    scope(&memory()).fill_text(text).unwrap().value
}

fn filled(yaml: &str) -> serde_json::Value {
    let source = Source::new("f", yaml);
    let value = read(&source).value.unwrap();
    scope(&memory()).fill(&value).unwrap().value.to_json()
}

#[test]
fn both_spellings_and_the_prefix_name_the_same() {
    assert_eq!(
        text("{{user}} ${user} {{ user }} {{memory.user}} ${memory.user}"),
        "ada ada ada ada ada"
    );
}

#[test]
fn a_name_with_the_prefix_in_it_is_found_too() {
    assert_eq!(text("{{memory.odd}}"), "odd");
}

#[test]
fn what_is_put_in_is_not_looked_at_again() {
    assert_eq!(text("{{nested}}"), "{{user}}");
    assert_eq!(text("${nested} {{user}}"), "{{user}} ada");
}

#[test]
fn an_undefined_name_is_an_error_that_lists_what_is_defined() {
    let memory = memory();
    let scope = strict(&memory);
    let error = |text: &str| {
        let error = scope.fill_text(text).unwrap_err();
        (error.to_string(), error.hint().map(str::to_owned))
    };
    let defined =
        "memory.odd, n, nested, user, args.count, args.items, args.loud, args.name, args.reply";
    for typo in ["{{usr}}", "${usr}", "{{ memory.usr }}"] {
        assert_eq!(
            error(&format!("a {typo} b")),
            (
                format!("`{typo}` is undefined"),
                Some(format!("did you mean `{{{{user}}}}`? defined: {defined}"))
            )
        );
    }
    assert_eq!(error("{{nobody}}").1, Some(format!("defined: {defined}")));
    let nothing = strict(&Memory::default()).fill_text("{{x}}").unwrap_err();
    assert!(
        nothing
            .hint()
            .unwrap()
            .starts_with("pass it with --memory ")
    );
    assert!(error("{{target.appId}}").1.unwrap().contains("no id"));
    assert_eq!(
        error("all: {{args.items}}").0,
        "`{{args.items}}` is not a text and cannot be part of one"
    );
}

#[test]
fn a_dollar_in_code_is_the_codes_own_unless_it_is_defined() {
    let memory = memory();
    let mut scope = strict(&memory);
    scope.code = &["command"];
    let filled = |key: &str, text: &str| {
        let arguments = Value::mapping([(key.to_owned(), Value::text(text))]);
        scope
            .fill(&arguments)
            .map(|filled| filled.value.to_json()[key].clone())
    };
    assert_eq!(
        filled("command", "${HOME}/${user}"),
        Ok(json!("${HOME}/ada"))
    );
    assert_eq!(filled("command", "${HOME}"), Ok(json!("${HOME}")));
    assert!(filled("command", "{{HOME}}").is_err());
    assert!(filled("text", "${HOME}").is_err());
}

#[test]
fn an_undefined_name_stays_to_be_seen_when_asked() {
    let memory = memory();
    let scope = scope(&memory);
    let filled = scope.fill_text("a {{typo}} b ${typo}").unwrap();
    assert_eq!(filled.value, "a {{typo}} b ${typo}");
    let tokens: Vec<(&str, Reason)> = filled
        .unresolved
        .iter()
        .map(|left| (left.token.as_str(), left.reason))
        .collect();
    assert_eq!(
        tokens,
        [
            ("{{typo}}", Reason::Undefined),
            ("${typo}", Reason::Undefined)
        ]
    );
}

#[test]
fn a_scalar_that_is_one_template_becomes_what_it_names() {
    assert_eq!(
        filled(
            "{count: '{{args.count}}', loud: '${args.loud}', items: '{{args.items}}', name: '{{args.name}}', n: '{{n}}'}"
        ),
        json!({"count": 3, "loud": true, "items": ["a", 1], "name": "eve", "n": "5"})
    );
}

#[test]
fn inside_a_text_a_number_is_written_out() {
    assert_eq!(
        text("{{args.count}} of {{args.reply.to.email}}"),
        "3 of a@b.c"
    );
    assert_eq!(
        filled("a: 1${n}"),
        json!({"a": "15"}),
        "a text that was filled in stays one"
    );
}

#[test]
fn a_list_cannot_stand_inside_a_text() {
    let memory = memory();
    let filled = scope(&memory).fill_text("all: {{args.items}}").unwrap();
    assert_eq!(filled.value, "all: {{args.items}}");
    assert_eq!(filled.unresolved[0].reason, Reason::NotAText);
}

#[test]
fn a_typed_field_gets_the_argument_in_its_type() {
    let memory = memory();
    let value = Value::mapping([("amount".to_owned(), Value::text("{{args.count}}"))]);
    let filled = scope(&memory).fill(&value).unwrap().value;
    let decode = |value: &Value| value.decode::<BTreeMap<String, u32>>().unwrap()["amount"];
    assert_eq!(decode(&filled), 3);
    assert_eq!(
        filled.decode::<BTreeMap<String, String>>().unwrap()["amount"],
        "3"
    );
}

#[test]
fn an_argument_that_does_not_exist_is_an_error_with_a_place() {
    let memory = memory();
    let source = Source::new("f", "a: 1\nb: 'x {{args.cuont}}'\n");
    let value = read(&source).value.unwrap();
    let error = scope(&memory).fill(&value).unwrap_err();
    let diagnostic = error.diagnostic(&source);
    assert_eq!(
        diagnostic.to_string(),
        "f:2:4: error: `{{args.cuont}}` is undefined"
    );
    let hint = diagnostic.hint.unwrap();
    assert!(hint.starts_with("did you mean `{{args.count}}`?"), "{hint}");
    let field = scope(&memory).fill_text("{{args.reply.from}}");
    assert!(matches!(
        field,
        Err(TemplateError::Undefined { hint: None, .. })
    ));
}

#[test]
fn a_template_does_not_compute() {
    let memory = memory();
    for wrong in [
        "{{args.count + 1}}",
        "${args.name | upper}",
        "{{args.}}",
        "{{args.items[0]}}",
    ] {
        let error = scope(&memory).fill_text(wrong);
        assert!(
            matches!(error, Err(TemplateError::Malformed { .. })),
            "{wrong}"
        );
    }
}

#[test]
fn parameters_are_known_only_inside_a_definition() {
    let memory = memory();
    let mut scope = scope(&memory);
    assert_eq!(
        scope.fill_text("{{params.x}}").unwrap().value,
        "{{params.x}}"
    );
    let params = BTreeMap::from([("x".to_owned(), json!(7))]);
    scope.params = Some(&params);
    assert_eq!(
        scope
            .fill(&Value::text("{{params.x}}"))
            .unwrap()
            .value
            .to_json(),
        json!(7)
    );
    assert!(scope.fill_text("{{params.y}}").is_err());
}

#[test]
fn the_app_under_test_is_escaped_in_patterns_only() {
    let memory = memory();
    let ids = ["com.a".to_owned(), "com.b_c".to_owned()];
    let mut scope = scope(&memory);
    let args = Value::from(
        &json!({"resourceIdRegex": "^{{target.appId}}:id/x$", "appId": "{{target.appId}}"}),
    );
    let fill = |scope: &Scope<'_>| scope.fill(&args).unwrap().value.to_json();
    assert_eq!(fill(&scope)["appId"], "{{target.appId}}", "no app");
    scope.app_ids = &ids[..1];
    assert_eq!(
        fill(&scope),
        json!({"resourceIdRegex": "^com\\.a:id/x$", "appId": "com.a"})
    );
    scope.app_ids = &ids;
    assert_eq!(
        fill(&scope),
        json!({"resourceIdRegex": "^(?:com\\.a|com\\.b_c):id/x$", "appId": "{{target.appId}}"})
    );
}

#[test]
fn braces_that_are_no_template_stay() {
    for same in [
        "{\"a\": {}}",
        "{{}}",
        "{{ }}",
        "${}",
        "$5 {x}",
        "{{a",
        "a}}",
        "{{a}b}",
        "${a\nb}",
        "$",
        "{",
    ] {
        assert_eq!(text(same), same);
    }
    assert_eq!(text("{{{user}}}"), "{ada}");
    assert_eq!(text("{\"user\":\"{{user}}\"}"), "{\"user\":\"ada\"}");
    assert_eq!(text("{{a {{user}}"), "{{a ada");
}

#[test]
fn variables_are_looked_up_only_for_names_in_double_braces() {
    let lookup = |name: &str| Some(format!("<{name}>"));
    let expand = |text: &str| expand_variables(&Value::text(text), &lookup).to_json();
    assert_eq!(expand("{{HOST}}/{{ port_2 }}"), json!("<HOST>/<port_2>"));
    assert_eq!(
        expand("${HOST} {{args.x}} {{memory.y}} {{a b}}"),
        json!("${HOST} {{args.x}} {{memory.y}} {{a b}}")
    );
}

#[test]
fn names_are_filled_in_values_not_in_keys() {
    assert_eq!(filled("'{{user}}': '{{user}}'"), json!({"{{user}}": "ada"}));
}

proptest! {
    #[test]
    fn the_pieces_of_a_text_are_the_text(text in "([{}$ab]|\\$\\{|\\{\\{|\\}\\}|\n|\u{e9}){0,30}") {
        let together: String = pieces(&text).map(|piece| piece.raw().to_owned()).collect();
        prop_assert_eq!(together, text);
    }

    #[test]
    fn a_text_without_names_anybody_knows_stays(text in "([{}$xy ]|\\$\\{|\\{\\{|\\}\\}){0,30}") {
        let memory = memory();
        let filled = scope(&memory).fill_text(&text).unwrap();
        prop_assert_eq!(&filled.value, &text);
        let tokens = pieces(&text).filter(|piece| matches!(piece, Piece::Token(_))).count();
        prop_assert_eq!(filled.unresolved.len(), tokens);
    }

    #[test]
    fn whatever_is_remembered_goes_in_as_it_is(value in ".{0,20}", before in "[a-z]{0,4}") {
        let mut memory = Memory::default();
        memory.remember("x", &value);
        let filled = scope(&memory).fill_text(&format!("{before}{{{{x}}}}${{x}}")).unwrap();
        prop_assert_eq!(filled.value, format!("{before}{value}{value}"));
        prop_assert!(filled.unresolved.is_empty());
    }

    #[test]
    fn filling_never_panics_and_keeps_the_shape(text in "\\PC{0,40}|([{}$a.]|args\\.){0,30}") {
        let memory = memory();
        let value = Value::mapping([("k".to_owned(), Value::sequence(vec![Value::text(text)]))]);
        if let Ok(filled) = scope(&memory).fill(&value) {
            prop_assert_eq!(filled.value.as_mapping().unwrap().entries.len(), 1);
        }
    }
}
