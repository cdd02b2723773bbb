//! The ways a client can name elements.
//!
//! Source: `FBFindElementCommands.m` and `XCUIElement+FBFind.m` of
//! <https://github.com/appium/WebDriverAgent>.

use super::attribute;
use super::class_chain::ClassChain;
use super::element_type::ElementType;
use super::error::WdaError;
use super::predicate::Predicate;
use super::tree::ElementTree;
use super::xpath;

/// What `value` finds in the element at `root`, in document order. All but class chains and XPath
/// look at the element itself, too.
///
/// # Errors
/// When the strategy is unknown or `value` does not mean anything in it.
pub(crate) fn find(
    tree: &ElementTree,
    root: usize,
    using: &str,
    value: &str,
) -> Result<Vec<usize>, WdaError> {
    match using {
        "accessibility id" | "id" | "name" => Ok(matching(tree, root, |at| {
            tree.get(at).and_then(attribute::name).as_deref() == Some(value)
        })),
        "class name" => {
            let kind = ElementType::named(value).ok_or_else(|| {
                WdaError::invalid_argument(format!(
                    "Invalid argument for class used '{value}'. Did you mean XCUIElementType{value}?"
                ))
            })?;
            Ok(matching(tree, root, |at| {
                let found = tree.get(at).map(|element| element.kind);
                kind == ElementType::ANY || found == Some(kind)
            }))
        }
        "predicate string" => {
            let predicate = Predicate::parse(value)?;
            let mut found = Vec::new();
            for at in tree.subtree(root) {
                if predicate.selects(tree, at)? {
                    found.push(at);
                }
            }
            Ok(found)
        }
        "class chain" => ClassChain::parse(value)?.find(tree, root),
        "xpath" => xpath::find(tree, root, value),
        _ => Err(WdaError::invalid_argument(format!(
            "Invalid locator requested: {using}"
        ))),
    }
}

fn matching(tree: &ElementTree, root: usize, test: impl Fn(usize) -> bool) -> Vec<usize> {
    tree.subtree(root).filter(|&at| test(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wda::error::ErrorKind;
    use crate::wda::tree::tests::form;

    fn find_in(root: usize, using: &str, value: &str) -> Result<Vec<String>, WdaError> {
        let tree = form();
        find(&tree, root, using, value).map(|found| tree.names(&found))
    }

    #[track_caller]
    fn finds(using: &str, value: &str, names: &[&str]) {
        assert_eq!(find_in(0, using, value).unwrap(), names, "{using} {value}");
    }

    #[test]
    fn the_three_names_of_a_name_look_at_identifier_or_label() {
        finds("accessibility id", "sign_in", &["sign_in"]);
        finds("id", "Two", &["Two"]);
        finds("name", "Sign in", &[]);
        finds("name", "Shop", &["Shop"]);
    }

    #[test]
    fn every_strategy_finds() {
        finds("class name", "XCUIElementTypeCell", &["c1", "c2", "c3"]);
        finds("predicate string", "value == '1'", &["sign_in", "notify"]);
        finds("class chain", "**/XCUIElementTypeCell[2]", &["c2"]);
        finds("xpath", "//XCUIElementTypeCell[2]", &["c2"]);
    }

    #[test]
    fn a_search_in_an_element_sees_the_element_too() {
        let in_table = |using, value| find_in(6, using, value).unwrap();
        assert_eq!(in_table("class name", "XCUIElementTypeTable"), ["list"]);
        assert_eq!(in_table("name", "sign_in"), [""; 0]);
        assert_eq!(in_table("class chain", "**/XCUIElementTypeTable"), [""; 0]);
        assert_eq!(in_table("name", "buy"), ["buy"]);
    }

    #[test]
    fn failures_have_the_kinds_clients_expect() {
        for (using, value, kind) in [
            ("css selector", "a", ErrorKind::INVALID_ARGUMENT),
            ("class name", "Button", ErrorKind::INVALID_ARGUMENT),
            ("class chain", "Button", ErrorKind::INVALID_SELECTOR),
            ("class chain", "**/*[`name ==`]", ErrorKind::UNKNOWN_ERROR),
            ("xpath", "//[", ErrorKind::INVALID_SELECTOR),
            ("xpath", "//@name[.!='']", ErrorKind::UNKNOWN_ERROR),
            ("predicate string", "name ==", ErrorKind::UNKNOWN_ERROR),
            ("predicate string", "foo == 1", ErrorKind::UNKNOWN_ERROR),
        ] {
            assert_eq!(
                find_in(0, using, value).unwrap_err().kind,
                kind,
                "{using} {value}"
            );
        }
    }
}
