use serde_json::json;

use super::{FULL, on, problem, problems, trail};
use crate::trail::{ArgType, Config};

fn config(text: &str) -> Config {
    trail(text).config
}

#[test]
fn every_key_of_the_config_is_read() {
    let config = config(FULL);
    assert_eq!(config.id.as_deref(), Some("shop/counter"));
    assert_eq!(config.title.as_deref(), Some("Count: up & down"));
    assert_eq!(
        config.description.as_deref(),
        Some("Taps the buttons\nand reads the number.\n")
    );
    assert_eq!(config.target.as_deref(), Some("com.example.shop"));
    assert_eq!(
        config.context.as_deref(),
        Some("The counter starts at {{args.start}}")
    );
    assert_eq!(config.priority.as_deref(), Some("P1"));
    assert_eq!(config.tags, ["smoke", "counter"]);
    assert_eq!(config.metadata["jira"], "SHOP-12");
}

#[test]
fn what_is_remembered_from_the_start_is_text_whatever_it_looks_like() {
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(
        config(FULL).memory,
        [pair("user", "ada"), pair("tier", "5"), pair("beta", "true")]
    );
}

#[test]
fn a_title_may_look_like_a_number() {
    let config = config("config:\n  title: 2024\n  id: 007\n  priority: true\n");
    assert_eq!(config.title.as_deref(), Some("2024"));
    assert_eq!(config.id.as_deref(), Some("007"));
    assert_eq!(config.priority.as_deref(), Some("true"));
}

#[test]
fn a_driver_is_pinned_for_a_device_and_those_like_it() {
    let config = config(FULL);
    assert_eq!(
        config.driver_for(&on(&["android", "phone"])),
        Some("ANDROID_ONDEVICE_ACCESSIBILITY")
    );
    assert_eq!(config.driver_for(&on(&["ios", "iphone"])), None);
}

#[test]
fn a_blank_reason_skips_nothing() {
    let config = config(FULL);
    assert_eq!(
        config.skip_for(&on(&["ios", "iphone"])),
        Some("not ported yet")
    );
    assert_eq!(config.skip_for(&on(&["android", "tablet"])), None);
    assert_eq!(config.skip_for(&on(&["web"])), None);
}

#[test]
fn a_blank_reason_leaves_it_to_the_broader_one() {
    let config = config("config:\n  skip: {android: broken, android-phone: ' '}\n");
    assert_eq!(config.skip_for(&on(&["android", "phone"])), Some("broken"));
}

#[test]
fn without_a_device_any_reason_skips() {
    let config = config("config:\n  skip: {web: b, ios: a, android: ''}\n");
    assert_eq!(config.skip_for(&[]), Some("a"));
}

#[test]
fn arguments_are_declared_short_or_long() {
    let args = config(FULL).args;
    let shown: Vec<_> = args
        .iter()
        .map(|arg| (arg.name.as_str(), arg.kind, arg.default.clone()))
        .collect();
    assert_eq!(
        shown,
        [
            ("start", ArgType::Integer, None),
            ("greeting", ArgType::String, Some(json!("hello"))),
            ("loud", ArgType::Boolean, Some(json!(false))),
        ]
    );
    assert_eq!(args[1].description.as_deref(), Some("What the page says"));
}

#[test]
fn a_default_is_read_by_the_declared_type() {
    let args = config("config:\n  args:\n    pin: {default: 0007}\n    n: {type: integer, default: '3'}\n    l: {type: array, default: [1, '2']}\n").args;
    let defaults: Vec<_> = args.into_iter().map(|arg| arg.default.unwrap()).collect();
    assert_eq!(defaults, [json!("0007"), json!(3), json!([1, "2"])]);
}

#[test]
fn an_unknown_key_is_a_warning_with_the_one_that_was_meant() {
    assert_eq!(
        problem("config:\n  titel: a\n"),
        "2:3: warning: unknown key `titel` in config | did you mean `title`?"
    );
}

#[test]
fn keys_of_the_list_form_are_pointed_out() {
    assert_eq!(
        problem("config:\n  driver: IOS_HOST\n"),
        "2:3: warning: `driver` belongs to the list form and is ignored here | write `devices:` with a driver for each classifier"
    );
}

#[test]
fn a_slip_in_a_platform_is_a_warning() {
    assert_eq!(
        problem("config:\n  devices: {andriod-phone: X}\n"),
        "2:13: warning: unknown platform `andriod` | did you mean `android`?"
    );
    assert_eq!(
        problems("config:\n  devices: {revyl-cloud: X}\n"),
        [] as [&str; 0]
    );
}

#[test]
fn mistakes_in_declarations_are_told_where_they_are() {
    for (declaration, told) in [
        (
            "user-id: string",
            "3:5: error: invalid argument name `user-id` | names have letters, digits and `_`, and do not begin with a digit",
        ),
        (
            "a: strnig",
            "3:8: error: invalid argument type `strnig` | did you mean `string`?",
        ),
        (
            "a: {default: ~}",
            "3:18: error: `default`: expected a text, found nothing | leave `default` out to make the argument required",
        ),
        (
            "a: {type: integer, default: x}",
            "3:33: error: `default`: expected a whole number, found `x`",
        ),
        (
            "a: {required: false}",
            "3:9: error: an argument that is not required needs a default | leave `required` out: the default alone decides",
        ),
        (
            "a: {default: x, required: true}",
            "3:21: error: an argument with a default is not required | leave `required` out: the default alone decides",
        ),
        (
            "a: {default: \"{{args.b + 1}}\"}",
            "3:18: error: `default`: invalid template `{{args.b + 1}}`: expected a name, not an expression",
        ),
        (
            "a: [string]",
            "3:8: error: expected `a` to be a declaration, found a list | write a type, or a mapping with `type` and `default`",
        ),
    ] {
        assert_eq!(
            problem(&format!("config:\n  args:\n    {declaration}\n")),
            told
        );
    }
}

#[test]
fn an_argument_nobody_declared_is_an_error_in_a_call_and_a_warning_in_words() {
    let text = "config:\n  args: {name: string}\ntrail:\n- step: Say {{args.nam}}\n  recording:\n    web:\n    - say: {text: \"{{args.nmae}} ${args.name}\"}\n";
    assert_eq!(
        problems(text),
        [
            "4:3: warning: the trail declares no argument `nam` | did you mean `name`?",
            "7:19: error: the trail declares no argument `nmae` | did you mean `name`?",
        ]
    );
}
