use super::*;
use crate::document::Position;

const SHOP: &str = include_str!("../../../../examples/shop/app.yaml");

fn fault(text: &str) -> String {
    let error = App::parse(text, "app.yaml").expect_err("broken");
    let hint = error.0.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
    format!("{error}{}", hint.unwrap_or_default())
}

#[test]
fn the_example_shop_is_a_valid_app() {
    let shop = App::parse(SHOP, "app.yaml").expect("valid");
    assert_eq!(shop.app.name, "Shop");
    assert_eq!(shop.id(Platform::Ios).as_str(), "com.example.shop");
}

#[test]
fn a_name_that_leads_nowhere_is_shown_with_its_place_and_a_guess() {
    let text = "app: {id: a.b, name: A, start: home}\nscreens:\n  home:\n    elements:\n      - tap: {goto: hoome}\n";
    let expected = "\
app.yaml:5:21: no screen is named `hoome`
hint: did you mean `home`?";
    assert_eq!(fault(text), expected);
}

#[test]
fn an_unknown_key_deep_inside_is_shown_where_it_stands() {
    let text = "app: {id: a.b, name: A, start: home}\nscreens:\n  home:\n    elements:\n      - {role: button, tap: {goto: home, sett: {}}}\n";
    let expected = "\
app.yaml:5:42: unknown key `sett`
hint: did you mean `set`?";
    assert_eq!(fault(text), expected);
}

#[test]
fn texts_stay_as_written_and_lists_have_their_length() {
    let app = "app: {id: a.b, name: 1.50, version: 1.0, start: home}\nscreens:\n  home:\n    elements:\n      - frame: [0, 0, 10, 10]\n";
    let read = App::parse(app, "app.yaml").expect("valid").app;
    assert_eq!((&*read.name, &*read.version), ("1.50", "1.0"));
    let longer = fault(&app.replace("10]", "10, 10]"));
    assert!(
        longer.starts_with("app.yaml:5:31: expected a list of 4, found 5 items"),
        "{longer}"
    );
}

#[test]
fn values_are_what_they_are_written_as() {
    let app = "app: {id: a.b, name: A, start: home}\nstate: {a: 007, b: &yes yes, c: 1.50, d: '1.50', e: nan, f: -2, g: , h: *yes}\nscreens: {home: {}}\n";
    let state = App::parse(app, "app.yaml").expect("valid").state;
    let text = |text: &str| Value::Text(text.to_owned());
    let yes = Value::Bool(true);
    assert_eq!(
        state.into_values().collect::<Vec<_>>(),
        [
            text("007"),
            yes.clone(),
            Value::Number(1.5),
            text("1.50"),
            text("nan"),
            Value::Number(-2.0),
            Value::Null,
            yes,
        ]
    );
}

#[test]
fn a_variable_in_a_text_must_exist() {
    let text = "app: {id: a.b, name: A, start: home}\nstate: {error: ''}\nscreens:\n  home:\n    elements:\n      - text: \"${eror}\"\n";
    let shown = fault(text);
    assert!(
        shown.starts_with("app.yaml:6:15: no variable is named `eror`"),
        "{shown}"
    );
    assert!(shown.contains("did you mean `error`?"), "{shown}");
}

#[test]
fn a_file_may_hold_several_apps() {
    let one = "app: {id: a.b, name: A, start: home}\nscreens: {home: {}}\n";
    let apps = App::parse_all(&format!("{one}---\n{one}"), "apps.yaml").expect("two apps");
    assert_eq!(apps.len(), 2);
}

#[test]
fn conditions_compare_texts_numbers_and_lists() {
    let read = |text: &str| -> Condition {
        let source = Source::new("condition.yaml", text);
        document::read(&source).expect("a condition").remove(0)
    };
    let values = |path: &str| match path {
        "name" => Value::Text("Ann".into()),
        "count" => Value::Number(3.0),
        "ready" => Value::Bool(true),
        _ => Value::Null,
    };
    for holds in [
        "name",
        "'!missing'",
        "{name: Ann, count: 3}",
        "{count: {over: 2, under: 4}}",
        "{ready: true}",
        "{name: {contains: aN}}",
        "[name, {count: 3}]",
        "{any: [missing, name]}",
    ] {
        assert!(read(holds).holds(&values), "{holds}");
    }
    for fails in [
        "'!name'",
        "{name: Bob}",
        "{count: {over: 3}}",
        "[name, missing]",
    ] {
        assert!(!read(fails).holds(&values), "{fails}");
    }
}

#[test]
fn templates_calculate_and_show_money() {
    let values = |path: &str| match path {
        "price" => Value::Number(2.5),
        "quantity" => Value::Number(3.0),
        _ => Value::Null,
    };
    let fill = |text: &str| Template::new(text, Position::default()).fill(&values);
    assert_eq!(fill("$${price * quantity|money}!"), "$7.50!");
    assert_eq!(fill("${quantity} x"), "3 x");
    assert_eq!(fill("${quantity - 1}"), "2");
}

#[test]
fn a_translation_of_what_the_app_never_says_is_a_mistake() {
    let app = |german: &str| {
        format!(
            "app: {{id: a.b, name: A, start: home}}\nstate: {{name: ''}}\nscreens:\n  home:\n    elements:\n      - text: Hello ${{name}}\ntexts:\n  de:\n    {german}\n"
        )
    };
    let read = App::parse(&app("Hello ${name}: Hallo ${name}"), "app.yaml").expect("valid");
    let hello = |language| {
        read.translation("Hello ${name}", language)
            .map(Template::source)
    };
    assert_eq!(hello("de-DE"), Some("Hallo ${name}"));
    assert_eq!(hello("fr"), None);
    let expected = "\
app.yaml:9:19: no text of this app is `Helo ${name}`
hint: did you mean `Hello ${name}`?";
    assert_eq!(fault(&app("Helo ${name}: Hallo ${name}")), expected);
    let unknown = fault(&app("Hello ${name}: Hallo ${nam}"));
    assert!(unknown.contains("no variable is named `nam`"), "{unknown}");
}
