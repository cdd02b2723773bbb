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
pub enum NamingProblem {
    /// Models and MCP clients refuse it.
    #[error("invalid tool name `{name}`: expected 1 to {LONGEST} letters, digits, `_` and `-`")]
    Wire {
        /// The name.
        name: String,
    },
    /// It is not made of words in lower camel case with `_` between them.
    #[error("invalid tool name `{name}`: expected `app_verbNoun`")]
    Structure {
        /// The name.
        name: String,
    },
    /// Its first part belongs to somebody else.
    #[error("`{name}` begins with `{prefix}_`, which is reserved")]
    Reserved {
        /// The name.
        name: String,
        /// Its first part.
        prefix: &'static str,
    },
    /// It names a kind of device.
    #[error("`{name}` names a device type, `{word}`")]
    DeviceType {
        /// The name.
        name: String,
        /// The part that does.
        word: &'static str,
    },
}

impl NamingProblem {
    /// Whether the tool cannot be offered to models and MCP clients at all.
    pub const fn is_fatal(&self) -> bool {
        match self {
            Self::Wire { .. } => true,
            Self::Structure { .. } | Self::Reserved { .. } | Self::DeviceType { .. } => false,
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Wire { .. } | Self::Structure { .. } => {
                "such as `myapp_signIn`, or `myapp_ios_signIn` for one platform"
            }
            Self::Reserved { .. } => "begin with the name of the app: `myapp_ios_signIn`",
            Self::DeviceType { .. } => "the recordings of a trail say which device a call is for",
        }
    }
}

/// The gravest breach of the convention, if there is one. A name without a prefix is fine, and so
/// is `acme_ios_signIn`: only the first part claims a prefix.
pub fn check_name(name: &str, origin: &Origin) -> Option<NamingProblem> {
    let name_of = || name.to_owned();
    let is_on_wire = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_on_wire) {
        return Some(NamingProblem::Wire { name: name_of() });
    }
    let is_word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let parts: Vec<&str> = name.split('_').collect();
    if !parts.iter().all(|part| is_word(part)) {
        return Some(NamingProblem::Structure { name: name_of() });
    }
    if let ([first, _, ..], true) = (parts.as_slice(), *origin != Origin::BuiltIn)
        && let Some(prefix) = RESERVED.into_iter().find(|reserved| reserved == first)
    {
        let name = name_of();
        return Some(NamingProblem::Reserved { name, prefix });
    }
    let mut words = DEVICE_TYPES.into_iter();
    let word = words.find(|word| parts.contains(word))?;
    let name = name_of();
    Some(NamingProblem::DeviceType { name, word })
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
            assert!(matches!(problem, NamingProblem::Reserved { .. }), "{name}");
            assert!(!problem.is_fatal());
            assert_eq!(check_name(name, &Origin::BuiltIn), None);
        }
    }

    #[test]
    fn what_models_refuse_is_fatal() {
        for name in ["", "a b", "a.b", "é", &"x".repeat(65)] {
            assert!(of_a_file(name).unwrap().is_fatal(), "{name}");
        }
        assert_eq!(of_a_file(&"x".repeat(64)), None);
    }

    #[test]
    fn structure_and_device_types_are_told() {
        for name in ["Login", "a__b", "a-b", "_a", "a_1"] {
            let problem = of_a_file(name).unwrap();
            assert!(matches!(problem, NamingProblem::Structure { .. }), "{name}");
        }
        let problem = of_a_file("acme_tablet_signIn").unwrap();
        assert!(matches!(
            problem,
            NamingProblem::DeviceType { word: "tablet", .. }
        ));
    }
}
