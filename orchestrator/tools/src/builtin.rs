//! The tools that need no tool source, one file per family.

mod android;
mod generic;
mod host;
mod memory;
mod mobile;
mod model;
mod web;

use std::marker::PhantomData;
use std::sync::Arc;

use packtrain_drivers::{BoxFuture, Platform};
use packtrain_model::yaml::{DecodeError, Value};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::tool::{Answer, Kind, Tool, ToolError, ToolSpec};

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Tool>> {
    let mut tools = Vec::new();
    tools.extend(android::tools());
    tools.extend(generic::tools());
    tools.extend(host::tools());
    tools.extend(memory::tools());
    tools.extend(mobile::tools());
    tools.extend(model::tools());
    tools.extend(web::tools());
    tools
}

/// A function from typed arguments to an answer.
type Body<A> = for<'a> fn(A, &'a Call<'a>) -> BoxFuture<'a, Result<Answer, ToolError>>;

/// A built-in tool: a spec and a function.
struct Builtin<A> {
    spec: ToolSpec,
    body: Body<A>,
    arguments: PhantomData<fn() -> A>,
}

/// Starts a built-in tool; it is shown to agents and recorded unless said otherwise.
fn tool<A: DeserializeOwned + JsonSchema + 'static>(
    name: &str,
    kind: Kind,
    description: &str,
    body: Body<A>,
) -> Builtin<A> {
    Builtin {
        spec: ToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            kind,
            platforms: Vec::new(),
            shown: true,
            recordable: true,
            secrets: Vec::new(),
            arguments: schemars::schema_for!(A).to_value(),
        },
        body,
        arguments: PhantomData,
    }
}

impl<A: DeserializeOwned + 'static> Builtin<A> {
    fn on(mut self, platforms: &[Platform]) -> Self {
        self.spec.platforms = platforms.to_vec();
        self
    }

    /// Not offered to agents.
    fn internal(mut self) -> Self {
        self.spec.shown = false;
        self
    }

    /// Has an argument that nobody must see.
    fn hiding(mut self, argument: &'static str) -> Self {
        self.spec.secrets.push(argument);
        self
    }

    /// Not written into recordings.
    fn unrecorded(mut self) -> Self {
        self.spec.recordable = false;
        self
    }

    fn done(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

impl<A: DeserializeOwned + 'static> Tool for Builtin<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, arguments: &Value) -> Result<(), DecodeError> {
        arguments.decode::<A>().map(drop)
    }

    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        match arguments.decode::<A>() {
            Ok(arguments) => (self.body)(arguments, call),
            Err(error) => Box::pin(async move { Err(error.into()) }),
        }
    }
}

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A word of a fixed list, in any case.
fn caseless<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: DeserializeOwned,
{
    use serde::de::IntoDeserializer;
    let word = String::deserialize(deserializer)?.to_uppercase();
    T::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(word))
        .map_err(serde::de::Error::custom)
}
