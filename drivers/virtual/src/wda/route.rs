//! Which path is which command, and whether it needs a session.

mod table;

pub(crate) use self::table::Route;
use self::table::{ROUTES, RouteScope};

/// A path that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) route: Route,
    /// The session it is asked of.
    pub(crate) session: Option<String>,
    pub(crate) uuid: Option<String>,
    pub(crate) name: Option<String>,
}

/// Whether a method and path get a command's answer, if only that there is no such command.
pub(crate) fn is_served(method: &str, path: &str) -> bool {
    matches!(method, "GET" | "POST" | "PUT" | "DELETE" | "OPTIONS") && path.starts_with('/')
}

/// The command of a path. Letters of the fixed parts may be large or small, and a slash at the
/// end makes no difference, as with the servers WebDriverAgent had before 16.
pub(crate) fn find(method: &str, path: &str) -> Option<Found> {
    if method == "OPTIONS" {
        return Some(found(Route::Ping));
    }
    let path = path.strip_prefix('/')?;
    let parts: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
    let top = ROUTES
        .iter()
        .filter(|(verb, _, scope, _)| {
            *verb == method && matches!(scope, RouteScope::Top | RouteScope::Both)
        })
        .find_map(|&(_, pattern, _, route)| matching(pattern, &parts, route));
    if top.is_some() {
        return top;
    }
    let [prefix, session, rest @ ..] = parts.as_slice() else {
        return None;
    };
    if !prefix.eq_ignore_ascii_case("session") || session.is_empty() {
        return None;
    }
    let mut inside = ROUTES
        .iter()
        .filter(|(verb, _, scope, _)| {
            *verb == method && matches!(scope, RouteScope::Session | RouteScope::Both)
        })
        .find_map(|&(_, pattern, _, route)| matching(pattern, rest, route))?;
    inside.session = Some((*session).to_owned());
    Some(inside)
}

fn found(route: Route) -> Found {
    Found {
        route,
        session: None,
        uuid: None,
        name: None,
    }
}

fn matching(pattern: &str, parts: &[&str], route: Route) -> Option<Found> {
    let wanted = pattern.split('/').filter(|part| !part.is_empty());
    if wanted.clone().count() != parts.len() {
        return None;
    }
    let mut found = found(route);
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn route(method: &str, path: &str) -> Option<Route> {
        find(method, path).map(|found| found.route)
    }

    #[test]
    fn commands_are_found_where_webdriveragent_has_them() {
        for (method, path, wanted) in [
            ("GET", "/status", Some(Route::Status)),
            ("GET", "/session/1/status", None),
            ("POST", "/session", Some(Route::CreateSession)),
            ("POST", "/session/", Some(Route::CreateSession)),
            ("GET", "/session/1", Some(Route::GetSession)),
            ("DELETE", "/session/1", Some(Route::DeleteSession)),
            ("GET", "/source", Some(Route::Source)),
            ("GET", "/session/1/source", Some(Route::Source)),
            ("POST", "/element", None),
            ("POST", "/session/1/element", Some(Route::FindElement)),
            ("POST", "/session/1/wda/homescreen", None),
            ("POST", "/wda/homescreen", Some(Route::Homescreen)),
            (
                "GET",
                "/session/1/element/active",
                Some(Route::ActiveElement),
            ),
            ("POST", "/session/1/execute/sync", None),
            ("GET", "/Session/1/WDA/Locked", Some(Route::Locked)),
            ("PUT", "/status", None),
            ("OPTIONS", "/anything", Some(Route::Ping)),
            ("GET", "/", None),
            ("GET", "/status/", Some(Route::Status)),
            ("GET", "/status//", None),
            ("GET", "/session/1//source", None),
            ("GET", "/session//source", None),
            ("GET", "status", None),
        ] {
            assert_eq!(route(method, path), wanted, "{method} {path}");
        }
    }

    #[test]
    fn parts_of_the_path_are_handed_over() {
        let path = "/session/A-B/element/26000000-0000/attribute/placeholderValue";
        assert_eq!(
            find("GET", path),
            Some(Found {
                route: Route::ElementAttribute,
                session: Some("A-B".to_owned()),
                uuid: Some("26000000-0000".to_owned()),
                name: Some("placeholderValue".to_owned()),
            })
        );
    }

    proptest! {
        #[test]
        fn any_path_is_answered_without_panic(path in "\\PC{0,60}") {
            let _ = find("GET", &path);
        }
    }
}
