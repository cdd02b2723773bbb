//! The convention for the names of tools, as a pure function. Whether a breach of it is an error
//! is for the caller to say.

use crate::tool::Origin;

/// The longest name that models and MCP clients take, in characters.
const LONGEST: usize = 64;
/// First parts that belong to the tools of Packtrain and of the organisation.
const RESERVED: [&str; 6] = ["android", "desktop", "ios", "mobile", "org", "web"];
/// Kinds of devices, which are what a tool is called for and not what it is.
const DEVICE_TYPES: [&str; 4] = ["phone", "phones", "tablet", "tablets"];

/// What is wrong with a tool's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NamingProblem {
    message: String,
    /// What to do about it.
    pub hint: &'static str,
    /// Whether the tool cannot be offered to models and MCP clients at all.
    pub is_fatal: bool,
}

/// The gravest breach of the convention, if there is one. A name without a prefix is fine, and so
/// is `acme_ios_signIn`: only the first part claims a prefix.
pub fn check_name(name: &str, origin: &Origin) -> Option<NamingProblem> {
    const EXAMPLE: &str = "such as `myapp_signIn`, or `myapp_ios_signIn` for one platform";
    let problem = |is_fatal, message, hint| {
        Some(NamingProblem {
            message,
            hint,
            is_fatal,
        })
    };
    let is_on_wire = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_on_wire) {
        let expected = format!("expected 1 to {LONGEST} letters, digits, `_` and `-`");
        let message = format!("invalid tool name `{name}`: {expected}");
        return problem(true, message, EXAMPLE);
    }
    let is_word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let parts: Vec<&str> = name.split('_').collect();
    if !parts.iter().all(|part| is_word(part)) {
        let message = format!("invalid tool name `{name}`: expected `app_verbNoun`");
        return problem(false, message, EXAMPLE);
    }
    if let ([first, _, ..], true) = (parts.as_slice(), *origin != Origin::BuiltIn)
        && RESERVED.contains(first)
    {
        let message = format!("`{name}` begins with `{first}_`, which is reserved");
        let hint = "begin with the name of the app: `myapp_ios_signIn`";
        return problem(false, message, hint);
    }
    let word = DEVICE_TYPES.into_iter().find(|word| parts.contains(word))?;
    let message = format!("`{name}` names a device type, `{word}`");
    let hint = "the recordings of a trail say which device a call is for";
    problem(false, message, hint)
}

#[cfg(test)]
mod tests {
    use super::{NamingProblem, check_name};
    use crate::registry::Registry;
    use crate::tool::Origin;

    fn of_a_file(name: &str) -> Option<NamingProblem> {
        check_name(name, &Origin::File("a.tool.yaml".to_owned()))
    }

    #[test]
    fn every_built_in_name_keeps_the_convention() {
        let registry = Registry::builtin();
        let wrong: Vec<_> = registry
            .all()
            .filter_map(|tool| check_name(&tool.spec().name, &tool.spec().origin))
            .collect();
        assert_eq!(wrong, []);
    }

    #[test]
    fn a_name_without_prefix_or_with_the_apps_own_is_fine() {
        for name in [
            "openUrl",
            "tap_v2",
            "acme_signIn",
            "contacts_ios_launch",
            "web",
        ] {
            assert_eq!(of_a_file(name), None, "{name}");
        }
    }

    #[test]
    fn only_the_first_part_claims_a_reserved_prefix() {
        for name in ["ios_x", "android_x", "mobile_x", "web_x", "org_x"] {
            let problem = of_a_file(name).unwrap();
            assert!(problem.to_string().ends_with("which is reserved"), "{name}");
            assert!(!problem.is_fatal);
            assert_eq!(check_name(name, &Origin::BuiltIn), None);
        }
    }

    #[test]
    fn what_models_refuse_is_fatal() {
        for name in ["", "a b", "a.b", "é", &"x".repeat(65)] {
            assert!(of_a_file(name).unwrap().is_fatal, "{name}");
        }
        assert_eq!(of_a_file(&"x".repeat(64)), None);
    }

    #[test]
    fn structure_and_device_types_are_told() {
        for name in ["Login", "a__b", "a-b", "_a", "a_1"] {
            let problem = of_a_file(name).unwrap();
            let expected = format!("invalid tool name `{name}`: expected `app_verbNoun`");
            assert_eq!(problem.to_string(), expected);
        }
        let problem = of_a_file("acme_tablet_signIn").unwrap();
        assert_eq!(
            problem.to_string(),
            "`acme_tablet_signIn` names a device type, `tablet`"
        );
    }
}
