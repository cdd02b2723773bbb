use proptest::prelude::*;

use super::*;
use crate::wda::tree::tests::form;

fn find(expression: &str) -> Result<Vec<String>, WdaError> {
    let tree = form();
    super::find(&tree, 0, expression).map(|found| tree.names(&found))
}

#[track_caller]
fn finds(expression: &str, names: &[&str]) {
    assert_eq!(find(expression).unwrap(), names, "{expression}");
}

#[test]
fn axes_and_positions_are_those_of_xpath() {
    finds("//XCUIElementTypeButton", &["sign_in", "buy"]);
    finds(
        "/XCUIElementTypeApplication/XCUIElementTypeWindow",
        &["Window"],
    );
    finds("//XCUIElementTypeCell[2]", &["c2"]);
    finds("(//XCUIElementTypeButton)[2]", &["buy"]);
    finds("(//XCUIElementTypeCell)[last()]", &["c3"]);
    finds("//XCUIElementTypeButton[1]", &["sign_in", "buy"]);
    finds("//XCUIElementTypeStaticText[@label='Two']/..", &["c2"]);
    finds("//*[@name='buy']/preceding-sibling::*[1]", &["Two"]);
    finds(
        "//*[@name='c2']/following-sibling::XCUIElementTypeCell",
        &["c3"],
    );
    finds("//*[@name='buy']/ancestor::XCUIElementTypeTable", &["list"]);
    finds("//XCUIElementTypeCell[.//XCUIElementTypeButton]", &["c2"]);
    finds(
        "//XCUIElementTypeCell[XCUIElementTypeStaticText/@label='One']",
        &["c1"],
    );
    finds("XCUIElementTypeWindow", &["Window"]);
    finds(".", &["Shop"]);
}

#[test]
fn attributes_are_there_only_when_named_in_the_middle_with_an_at_sign() {
    finds("//*[attribute::name='buy']", &[]);
    finds("//@name", &[]);
    finds("//*[@*='buy']", &["buy"]);
    finds("//*[attribute::name='buy' and @name!='']", &["buy"]);
}

#[test]
fn there_are_no_namespaces() {
    for expression in ["//foo:bar", "//a:*", "//*[x:y()]"] {
        assert!(
            find(expression).unwrap_err().kind == ErrorKind::InvalidSelector,
            "{expression}"
        );
    }
    finds("//*[@name='a:b' or self::XCUIElementTypeTable]", &["list"]);
}

#[test]
fn attributes_are_those_of_the_source() {
    finds(
        "//*[@name='sign_in' and @enabled='true' and @visible='true']",
        &["sign_in"],
    );
    finds("//*[@value='1']", &["sign_in", "notify"]);
    finds(
        "//*[contains(@label,'ign') or starts-with(@label,'Thr')]",
        &["sign_in", "Three"],
    );
    finds("//*[@y>=300 and @y<400]", &["sign_in", "notify"]);
    finds("//*[@placeholderValue]", &["email"]);
    finds("//*[@index=2]", &["notify", "c3"]);
    finds("//*[normalize-space(@label)='Sign in']", &["sign_in"]);
    finds("//*[@label=\"Buy 'now'\"]", &["buy"]);
    finds("//*[@hittable='false' and @name='email']", &["email"]);
    // Only `/source` says whose app it is.
    finds("//*[@bundleId]", &[]);
}

#[test]
fn xctests_word_for_any_kind_is_understood() {
    finds("//XCUIElementTypeAny[@name='buy']", &["buy"]);
}

#[test]
fn unions_come_in_document_order() {
    finds("//*[@name='buy'] | //*[@name='email']", &["email", "buy"]);
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
fn numbers_and_texts_find_nothing() {
    finds("count(//*)", &[]);
    finds("'a'", &[]);
}

#[test]
fn attributes_are_no_elements() {
    let error = find("//@name[.='buy']").unwrap_err();
    assert_eq!(error.kind, ErrorKind::UnknownError);
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
            error.kind == ErrorKind::InvalidSelector,
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
    assert_eq!(find(nested).unwrap_err().kind, ErrorKind::Timeout);
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
