//! Tools for phones, the same on Android and iOS, one file per family. The work is done in
//! [`crate::mobile`]; these say what the arguments mean.

/// Arguments that name an element, by a selector or in the words of older recordings, besides what is
/// listed. Spelled out in each struct: `flatten` would read every scalar before it is known which type
/// is wanted.
macro_rules! with_selector {
    (struct $name:ident $(($reason:ident))? {
        $(#[doc = $which:literal])+
        node_selector,
        $($fields:tt)*
    }) => {
        arguments! {
            struct $name $(($reason))? {
                $(#[doc = $which])+
                #[schemars(with = "Option<Object>")]
                node_selector: Option<NodeSelector>,
                /// The same in older recordings, in Maestro's words; used without a `nodeSelector`.
                #[schemars(with = "Option<Object>")]
                selector: Option<Element>,
                $($fields)*
            }
        }

        impl $name {
            fn wanted(&mut self, on: Platform) -> Result<ElementQuery, ToolError> {
                named(self.node_selector.take(), self.selector.as_ref(), on)
            }

            fn rule(self) -> Result<(), InvalidArgument> {
                either(self.node_selector, self.selector)
            }
        }
    };
}

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
use packtrain_drivers::{AppCommand, Command, InputCommand, Platform};

use self::maestro::Element;
use crate::builtin::{InvalidArgument, Tools};
use crate::call::Call;
use crate::mobile::ELEMENT_TIMEOUT;
use crate::mobile::element_query::ElementQuery;
use crate::tool::{Answer, ToolError};

pub(super) fn all() -> Tools {
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

/// A JSON object in a schema, for selectors, whose shape is documented elsewhere.
type Object = serde_json::Map<String, serde_json::Value>;

async fn app(call: &Call<'_>, command: AppCommand) -> Result<Answer, ToolError> {
    call.act(Command::App(command)).await
}

async fn input(call: &Call<'_>, command: InputCommand) -> Result<Answer, ToolError> {
    call.act(Command::Input(command)).await
}

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
