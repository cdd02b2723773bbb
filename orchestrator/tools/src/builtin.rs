//! The tools that need no tool source, one file per family.

/// Structs of arguments, which read camelCase and refuse what they do not know. An `Option` may be left
/// out. Behind `(name)` there is one more argument, which says why to readers of the trail.
macro_rules! arguments {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(($reason:ident))? { $($fields:tt)* }
    )*) => {$(
        $(#[$meta])*
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        $vis struct $name {
            $($fields)*
            $(
                /// Why, for readers.
                #[expect(dead_code, reason = "for readers of the trail")]
                $reason: Option<String>,
            )?
        }
    )*};
}

/// Words that are written in these letters for what is called the same elsewhere.
macro_rules! words {
    (
        $(#[$meta:meta])*
        enum $name:ident as $letters:tt, for $meant:ident { $($(#[$usual:meta])? $word:ident),* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = $letters)]
        enum $name { $($(#[$usual])? $word),* }

        impl From<$name> for $meant {
            fn from(word: $name) -> Self {
                match word { $($name::$word => Self::$word),* }
            }
        }
    };
}

/// The tools of a family and where they work. Of each: what it says about itself, its kind, its name, its
/// arguments, unless another one of the file has the same, what else is to be said of it, and what it does.
macro_rules! tools {
    ($platforms:expr; $(
        $(#[doc = $about:literal])+
        $kind:ident $name:ident $arguments:ident
        $($(($reason:ident))? { $($fields:tt)* })?
        $(: $with:ident $(($why:ident))? { $($besides:tt)* })?
        $(. $said:ident ($($of:expr)?))*
        |$given:pat_param, $call:pat_param| $body:expr;
    )*) => {
        $(
            $(arguments! { struct $arguments $(($reason))? { $($fields)* } })?
            $($with! { struct $arguments $(($why))? { $($besides)* } })?
        )*

        pub(super) fn tools() -> $crate::builtin::Tools {
            vec![$({
                let spec = $crate::tool::ToolSpec {
                    platforms: $platforms.to_vec(),
                    ..$crate::tool::ToolSpec::new(
                        stringify!($name),
                        concat!($($about),+).trim_start(),
                        $crate::tool::Kind::$kind,
                    )
                };
                let body: $crate::builtin::Body<$arguments> =
                    |$given, $call| Box::pin(async move { $body });
                std::sync::Arc::new($crate::builtin::Builtin::new(spec, body)$(.$said($($of)?))*)
                    as std::sync::Arc<dyn $crate::tool::Tool>
            }),*]
        }
    };
}

mod android;
mod generic;
mod host;
mod memory;
mod mobile;
mod model;
mod screen;
mod web;

pub use web::why_no_pattern;

use std::marker::PhantomData;
use std::sync::Arc;

use packtrain_drivers::{BoxFuture, Direction, Platform};
use packtrain_model::yaml::{DecodeError, Value};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::tool::{Access, Answer, Tool, ToolError, ToolSpec};

/// Tools of a family.
type Tools = Vec<Arc<dyn Tool>>;

/// Where tools work that are for every platform.
const EVERYWHERE: &[Platform] = &[];
/// Lines of a failed command's output that are kept.
const OUTPUT: usize = 20;

/// All of them.
pub(crate) fn all() -> Tools {
    let families = [
        android::tools(),
        generic::tools(),
        host::tools(),
        memory::tools(),
        mobile::all(),
        model::tools(),
        screen::tools(),
        web::all(),
    ];
    families.into_iter().flatten().collect()
}

/// A function from typed arguments to an answer.
type Body<A> = for<'a> fn(A, &'a Call<'a>) -> BoxFuture<'a, Result<Answer, ToolError>>;

/// A built-in tool: a spec and a function.
struct Builtin<A> {
    spec: ToolSpec,
    body: Body<A>,
    rule: Option<Rule<A>>,
    arguments: PhantomData<fn() -> A>,
}

/// What arguments must fulfil besides their types, as far as that is known without a device.
type Rule<A> = fn(A) -> Result<(), InvalidArgument>;

/// Arguments of the right types that are still invalid.
struct InvalidArgument {
    /// The argument to blame; empty when it is all of them.
    key: &'static str,
    message: String,
    hint: Option<String>,
    /// Whether it is a word that is none of those there are.
    is_unknown_word: bool,
}

impl InvalidArgument {
    fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self {
            key,
            message: message.into(),
            hint: None,
            is_unknown_word: false,
        }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// At the argument's place. What a template will fill in is not known yet.
    fn placed(self, arguments: &Value) -> Option<DecodeError> {
        let blamed = arguments.as_mapping().and_then(|all| all.get(self.key));
        if blamed.is_some_and(is_template) {
            return None;
        }
        let span = blamed.and_then(|value| value.span).or(arguments.span);
        let mut error = DecodeError::at(span, self.message);
        error.hint = self.hint;
        error.is_unknown_word = self.is_unknown_word;
        Some(error)
    }
}

/// What a tool says itself when it is called like this.
impl From<ToolError> for InvalidArgument {
    fn from(error: ToolError) -> Self {
        let hint = match &error {
            ToolError::Failed { hint, .. } => hint.clone(),
            ToolError::Arguments(_)
            | ToolError::Fatal { .. }
            | ToolError::Command(_)
            | ToolError::Infrastructure { .. }
            | ToolError::NeedsAgent(_)
            | ToolError::Cancelled => None,
        };
        Self {
            hint,
            ..Self::new("", error.to_string())
        }
    }
}

/// Whether a value is a text with a template in it.
pub fn is_template(value: &Value) -> bool {
    value
        .as_scalar()
        .is_some_and(|scalar| scalar.text.contains("{{") || scalar.text.contains("${"))
}

/// Whether the word that is unknown is a template's, which is not known yet.
fn is_filled_in(arguments: &Value, error: &DecodeError) -> bool {
    let mut scalars = arguments.scalars().into_iter();
    scalars.any(|(_, value)| value.span == error.span && is_template(value))
}

/// The schema of arguments, whole: references into it would break where it is part of another.
fn schema<A: JsonSchema>() -> serde_json::Value {
    let whole = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = whole
        .into_generator()
        .into_root_schema_for::<A>()
        .to_value();
    // An `Option` that is left out.
    let properties = schema
        .get_mut("properties")
        .and_then(serde_json::Value::as_object_mut);
    let properties = properties.into_iter().flat_map(|all| all.values_mut());
    for property in properties.filter_map(serde_json::Value::as_object_mut) {
        let types = property.get("type").and_then(|types| types.as_array());
        if types.is_some_and(|types| types.contains(&"null".into())) {
            property.entry("default").or_insert(serde_json::Value::Null);
        }
    }
    schema
}

impl<A: DeserializeOwned + JsonSchema + 'static> Builtin<A> {
    /// A tool that is shown to agents and recorded unless said otherwise.
    fn new(spec: ToolSpec, body: Body<A>) -> Self {
        Self {
            spec: ToolSpec {
                arguments: schema::<A>(),
                ..spec
            },
            body,
            rule: None,
            arguments: PhantomData,
        }
    }

    /// Works on these platforms only.
    fn on(mut self, platforms: &[Platform]) -> Self {
        self.spec.platforms = platforms.to_vec();
        self
    }

    /// Not offered to agents.
    fn internal(mut self) -> Self {
        self.spec.shown = false;
        self
    }

    /// Has arguments that must fulfil more than their types say.
    fn ruled(mut self, rule: Rule<A>) -> Self {
        self.rule = Some(rule);
        self
    }

    /// Has a secret argument.
    fn hiding(mut self, argument: &'static str) -> Self {
        self.spec.secrets.push(argument);
        self
    }

    /// Has an argument that is code.
    fn code(mut self, argument: &'static str) -> Self {
        self.spec.code.push(argument);
        self
    }

    /// Remembers something under the name that an argument gives.
    fn remembering(mut self, argument: &'static str) -> Self {
        self.spec.remembers.push(argument);
        self
    }

    /// Runs the trail that an argument names.
    const fn running(mut self, argument: &'static str) -> Self {
        self.spec.runs_trail = Some(argument);
        self
    }

    /// Runs programs of the computer it is called on.
    fn running_host_commands(mut self) -> Self {
        self.spec.access = Access::HostCommands;
        self
    }

    /// Runs commands on the device.
    fn running_device_commands(mut self) -> Self {
        self.spec.access = Access::DeviceShell;
        self
    }

    /// Not written into recordings.
    fn unrecorded(mut self) -> Self {
        self.spec.recordable = false;
        self
    }
}

impl<A: DeserializeOwned + 'static> Tool for Builtin<A> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn check(&self, arguments: &Value) -> Result<(), DecodeError> {
        let decoded = match arguments.decode::<A>() {
            Ok(decoded) => decoded,
            Err(error) if error.is_unknown_word && is_filled_in(arguments, &error) => return Ok(()),
            Err(error) => return Err(error),
        };
        let invalid = self.rule.and_then(|rule| rule(decoded).err());
        match invalid.and_then(|invalid| invalid.placed(arguments)) {
            Some(error) => Err(error),
            None => Ok(()),
        }
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

arguments! {
    /// No arguments.
    struct Nothing {}
}

/// A word of a fixed list, in any case.
fn caseless<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: DeserializeOwned,
{
    use serde::de::IntoDeserializer;
    let word = String::deserialize(deserializer)?.to_uppercase();
    T::deserialize(IntoDeserializer::<D::Error>::into_deserializer(word))
}

words! {
    /// A direction in a trail.
    #[derive(Default)]
    enum Way as "UPPERCASE", for Direction { Up, #[default] Down, Left, Right }
}

/// What an argument is that is not given.
fn number<const N: u32, T: From<u32>>() -> T {
    N.into()
}

const fn yes() -> bool {
    true
}

/// The end of a failed command's output.
fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<_> = output.lines().map(str::to_owned).collect();
    lines[lines.len().saturating_sub(OUTPUT)..].to_vec()
}
