use proptest::prelude::*;

use super::*;
use crate::wda::tree::tests::{form, rows};

/// What finds which elements of the form. Attributes are there only when they are named in the
/// middle with an at sign, and only `/source` says whose app it is.
const FOUND: &str = r#"
//XCUIElementTypeButton -> sign_in, buy
/XCUIElementTypeApplication/XCUIElementTypeWindow -> Window
//XCUIElementTypeCell[2] -> c2
(//XCUIElementTypeButton)[2] -> buy
(//XCUIElementTypeCell)[last()] -> c3
//XCUIElementTypeButton[1] -> sign_in, buy
//XCUIElementTypeStaticText[@label='Two']/.. -> c2
//*[@name='buy']/preceding-sibling::*[1] -> Two
//*[@name='c2']/following-sibling::XCUIElementTypeCell -> c3
//*[@name='buy']/ancestor::XCUIElementTypeTable -> list
//XCUIElementTypeCell[.//XCUIElementTypeButton] -> c2
//XCUIElementTypeCell[XCUIElementTypeStaticText/@label='One'] -> c1
XCUIElementTypeWindow -> Window
. -> Shop
//*[attribute::name='buy'] ->
//@name ->
//*[@*='buy'] -> buy
//*[attribute::name='buy' and @name!=''] -> buy
//*[@name='a:b' or self::XCUIElementTypeTable] -> list
//*[@name='sign_in' and @enabled='true' and @visible='true'] -> sign_in
//*[@value='1'] -> sign_in, notify
//*[contains(@label,'ign') or starts-with(@label,'Thr')] -> sign_in, Three
//*[@y>=300 and @y<400] -> sign_in, notify
//*[@placeholderValue] -> email
//*[@index=2] -> notify, c3
//*[normalize-space(@label)='Sign in'] -> sign_in
//*[@label="Buy 'now'"] -> buy
//*[@hittable='false' and @name='email'] -> email
//*[@bundleId] ->
//XCUIElementTypeAny[@name='buy'] -> buy
//*[@name='buy'] | //*[@name='email'] -> email, buy
count(//*) ->
'a' ->
"#;

fn find(expression: &str) -> Result<Vec<String>, WdaError> {
    let tree = form();
    super::find(&tree, 0, expression).map(|found| tree.names(&found))
}

#[test]
fn expressions_find_what_libxml2_finds() {
    for (expression, names) in rows(FOUND) {
        assert_eq!(find(expression).unwrap(), names, "{expression}");
    }
}

#[test]
fn there_are_no_namespaces() {
    for expression in ["//foo:bar", "//a:*", "//*[x:y()]"] {
        assert!(
            find(expression).unwrap_err().kind == ErrorKind::INVALID_SELECTOR,
            "{expression}"
        );
    }
}

#[test]
fn an_element_is_a_document_of_its_own() {
    let tree = form();
    let row = tree.names(&super::find(&tree, 8, "//*").unwrap());
    assert_eq!(row, ["One"]);
    let row = tree.names(&super::find(&tree, 7, "/*").unwrap());
    assert_eq!(row, ["c1"]);
    let above = super::find(&tree, 7, "..").unwrap();
    assert_eq!(above, Vec::<usize>::new());
}

#[test]
fn attributes_are_no_elements() {
    let error = find("//@name[.='buy']").unwrap_err();
    assert_eq!(error.kind, ErrorKind::UNKNOWN_ERROR);
}

#[test]
fn what_is_no_expression_is_refused() {
    for expression in [
        "",
        "//",
        "//[",
        "//*[@name='a]",
        "//*[foo(1)]",
        "$variable",
        "//*[tokenize(@name,'a')]",
        "//*[matches(@name,'a')]",
    ] {
        let error = find(expression).unwrap_err();
        assert!(
            error.kind == ErrorKind::INVALID_SELECTOR,
            "{expression}: {error}"
        );
    }
}

#[test]
fn expressions_that_would_exhaust_the_stack_are_refused_or_answered() {
    for expression in [
        "(".repeat(2_000),
        "//*[".repeat(500),
        format!("{}1", "-".repeat(2_000)),
        vec!["1"; 1_000].join("|"),
        vec!["1"; 1_000].join("+"),
        format!("/{}", vec!["*"; 1_000].join("/")),
        "x".repeat(5_000),
    ] {
        let _ = find(&expression);
    }
}

#[test]
fn expressions_that_would_take_for_ever_are_given_up() {
    let nested = "//*[//*[//*[//*[//*[//*[//*[//*[//*[@name='no']]]]]]]]]";
    assert_eq!(find(nested).unwrap_err().kind, ErrorKind::TIMEOUT);
}

proptest! {
    #[test]
    fn any_text_is_answered_without_panic(text in "\\PC{0,40}") {
        let _ = find(&text);
    }

    #[test]
    fn any_parts_are_answered_without_panic(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("//"), Just("/"), Just("*"), Just(".."), Just("."), Just("["), Just("]"), Just("("), Just(")"),
                Just("@name"), Just("="), Just("'a'"), Just("1"), Just(" and "), Just("|"), Just("-"),
                Just("XCUIElementTypeCell"), Just("ancestor::"), Just("last()"), Just("contains("), Just(","),
            ],
            0..14,
        ),
    ) {
        let _ = find(&parts.concat());
    }
}
