//! Tools for phones, the same on Android and iOS, one file per family. The work is done in
//! [`crate::mobile`]; these say what the arguments mean.

mod app;
mod element;
mod expect;
mod gesture;
mod maestro;
mod query;
mod reference;
mod screen;
mod scroll;
mod text;
mod typing;

use std::time::Duration;

use packtrain_drivers::selector::NodeSelector;
use packtrain_drivers::{BoxFuture, Platform};

use self::maestro::Element;
use crate::builtin::{InvalidArgument, Tools};
use crate::mobile::element_query::ElementQuery;
use crate::mobile::{ELEMENT_TIMEOUT, PHONES};
use crate::tool::{Answer, ToolError};

pub(super) fn tools() -> Tools {
    let families = [
        app::tools(),
        element::tools(),
        expect::tools(),
        gesture::tools(),
        maestro::tools(),
        query::tools(),
        reference::tools(),
        screen::tools(),
        scroll::tools(),
        text::tools(),
        typing::tools(),
    ];
    families.into_iter().flatten().collect()
}

family!(PHONES; action Action, assertion Assertion, query Query);

/// What a tool's body returns.
type Answering<'a> = BoxFuture<'a, Result<Answer, ToolError>>;

/// A JSON object in a schema, for selectors, whose shape is documented elsewhere.
type Object = serde_json::Map<String, serde_json::Value>;

/// What `timeoutMs` says, or the usual time.
fn patience(timeout_ms: Option<u64>) -> Duration {
    timeout_ms.map_or(ELEMENT_TIMEOUT, Duration::from_millis)
}

/// What a `nodeSelector` names, or, where there is none, the `selector` of older recordings.
fn named(
    newer: Option<NodeSelector>,
    older: Option<&Element>,
    on: Platform,
) -> Result<ElementQuery, ToolError> {
    match (newer, older) {
        (Some(selector), _) => ElementQuery::selector(selector, on),
        (None, Some(element)) => element.wanted(on),
        (None, None) => Err(no_selector()),
    }
}

/// Whether one of both is there.
fn either(newer: Option<NodeSelector>, older: Option<Element>) -> Result<(), InvalidArgument> {
    let one = newer.map(drop).or(older.map(drop));
    one.ok_or_else(|| no_selector().into())
}

fn no_selector() -> ToolError {
    ToolError::failed("`nodeSelector` is missing")
}
