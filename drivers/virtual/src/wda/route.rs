//! Which path is which command, whether it needs a session, and the answers that are always the
//! same.
//!
//! Source: the `routes` of the command classes of <https://github.com/appium/WebDriverAgent>,
//! 16.7.0, as compiled for iOS.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use super::error::{ErrorKind, WdaError};

/// Where a command is (behind `/session/:id`, at the top or both), its method and path, its name.
/// In a path, a part with a colon takes anything.
static ROUTES: LazyLock<Vec<[&str; 4]>> = LazyLock::new(|| {
    let lines = include_str!("routes.txt").lines();
    let words = lines.map(|line| line.split_whitespace().collect::<Vec<_>>());
    words.filter_map(|words| words.try_into().ok()).collect()
});

/// What a phone was heard to answer to commands that neither look at it nor change it, by name.
static RECORDED: LazyLock<HashMap<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("recorded.json")).expect("the tests have read it")
});

/// A path that is a command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    pub(crate) command: &'static str,
    /// The session it is asked of.
    pub(crate) session: Option<String>,
    pub(crate) uuid: Option<String>,
    pub(crate) name: Option<String>,
}

/// The command of a path. Letters of the fixed parts may be large or small, and a slash at the
/// end makes no difference, as with the servers WebDriverAgent had before 16.
pub(crate) fn find(method: &str, path: &str) -> Option<Found> {
    let path = path.strip_prefix('/')?;
    let parts: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let at = |place: &str, parts: &[&str]| {
        let routes = ROUTES.iter().filter(move |[scope, verb, ..]| {
            *verb == method && (*scope == place || *scope == "both")
        });
        routes
            .filter_map(|&[_, _, pattern, command]| matching(pattern, parts, command))
            .next()
    };
    at("top", &parts).or_else(|| match parts.as_slice() {
        [prefix, session, rest @ ..]
            if prefix.eq_ignore_ascii_case("session") && !session.is_empty() =>
        {
            let session = Some((*session).to_owned());
            at("session", rest).map(|found| Found { session, ..found })
        }
        _ => None,
    })
}

fn matching(pattern: &str, parts: &[&str], command: &'static str) -> Option<Found> {
    let wanted = pattern.split('/').filter(|part| !part.is_empty());
    if wanted.clone().count() != parts.len() {
        return None;
    }
    let mut found = Found {
        command,
        ..Found::default()
    };
    for (wanted, part) in wanted.zip(parts) {
        match wanted {
            // No part is empty: `//` is in no path.
            ":uuid" | ":name" if part.is_empty() => return None,
            ":uuid" => found.uuid = Some((*part).to_owned()),
            ":name" => found.name = Some((*part).to_owned()),
            fixed if fixed.eq_ignore_ascii_case(part) => {}
            _ => return None,
        }
    }
    Some(found)
}

/// The answer to a command that is always the same.
pub(crate) fn recorded(command: &str) -> Result<Value, WdaError> {
    let part = |name: &str| RECORDED.get(command)?.get(name);
    if let Some(value) = part("value") {
        return Ok(value.clone());
    }
    let text = |name: &str| part(name)?.as_str();
    let status = part("status").and_then(|status| status.as_u64()?.try_into().ok());
    let kind = text("error").zip(status);
    let kind = kind.map_or(ErrorKind::UNKNOWN_ERROR, |(word, code)| {
        ErrorKind(word, code)
    });
    Err(WdaError::new(kind, text("message").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn commands_are_found_where_webdriveragent_has_them() {
        for (method, path, wanted) in [
            ("GET", "/status", "status"),
            ("GET", "/session/1/status", ""),
            ("POST", "/session/", "create_session"),
            ("GET", "/session/1", "session"),
            ("DELETE", "/session/1", "delete_session"),
            ("GET", "/source", "source"),
            ("GET", "/session/1/source", "source"),
            ("POST", "/element", ""),
            ("POST", "/session/1/element", "find_element"),
            ("POST", "/session/1/wda/homescreen", ""),
            ("GET", "/session/1/element/active", "active_element"),
            ("POST", "/session/1/execute/sync", ""),
            ("GET", "/Session/1/WDA/Locked", "locked"),
            ("PUT", "/status", ""),
            ("GET", "/", ""),
            ("GET", "/status/", "status"),
            ("GET", "/status//", ""),
            ("GET", "/session/1//source", ""),
            ("GET", "/session//source", ""),
            ("GET", "status", ""),
        ] {
            let found = find(method, path).unwrap_or_default();
            assert_eq!(found.command, wanted, "{method} {path}");
        }
        let path = "/session/A-B/element/26000000-0000/attribute/placeholderValue";
        let found = Found {
            command: "named_attribute",
            session: Some("A-B".to_owned()),
            uuid: Some("26000000-0000".to_owned()),
            name: Some("placeholderValue".to_owned()),
        };
        assert_eq!(find("GET", path), Some(found));
    }

    proptest! {
        #[test]
        fn any_path_is_answered_without_panic(path in "\\PC{0,60}") {
            let _ = find("GET", &path);
        }
    }
}
