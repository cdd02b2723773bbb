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

use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::selector::NodeSelector;
use packtrain_drivers::{BoxFuture, Direction, Platform};
use schemars::JsonSchema;
use serde::Deserialize;

use self::maestro::Element;
use crate::mobile::ELEMENT_TIMEOUT;
use crate::mobile::element_query::ElementQuery;
use crate::tool::{Answer, Tool, ToolError};

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let mut tools = Vec::new();
    tools.extend(app::tools());
    tools.extend(element::tools());
    tools.extend(expect::tools());
    tools.extend(gesture::tools());
    tools.extend(maestro::tools());
    tools.extend(query::tools());
    tools.extend(reference::tools());
    tools.extend(screen::tools());
    tools.extend(scroll::tools());
    tools.extend(text::tools());
    tools.extend(typing::tools());
    tools
}

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

fn no_selector() -> ToolError {
    ToolError::failed("`nodeSelector` is missing")
}

/// A direction in a trail.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
enum Way {
    Up,
    #[default]
    Down,
    Left,
    Right,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::Up => Self::Up,
            Way::Down => Self::Down,
            Way::Left => Self::Left,
            Way::Right => Self::Right,
        }
    }
}

const fn yes() -> bool {
    true
}

const fn one_second() -> u64 {
    1_000
}
