//! What a tool is, what it answers, and how it can fail.

use std::fmt;
use std::sync::Arc;

use packtrain_device_actors::CommandError;
use packtrain_drivers::{ActionReport, BoxFuture, DriverError, Platform, Screenshot, Snapshot};
use packtrain_model::Blame;
use packtrain_model::source::Span;
use packtrain_model::suggest::did_you_mean;
use packtrain_model::yaml::{DecodeError, Node, Value};
use rmcp::model::{JsonObject, ToolAnnotations};

use crate::call::Call;

/// What a tool is for; trails, agents and reports treat each differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Changes something.
    Action,
    /// Passes or fails.
    Assertion,
    /// Returns something.
    Query,
    /// Works on the session's memory.
    Memory,
    /// Speaks about the run itself.
    Meta,
}

/// What a tool can reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// Its session: the device and the memory.
    #[default]
    Session,
    /// Its session, and whatever a shell of its device reaches.
    DeviceShell,
    /// Programs of the computer it is called on.
    HostCommands,
}

/// Who contributes a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// Packtrain.
    #[default]
    BuiltIn,
    /// A file that composes it of other tools, by its path.
    File(String),
    /// A tool source, by its name.
    Source(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("packtrain itself"),
            Self::File(path) => f.write_str(path),
            Self::Source(name) => write!(f, "tool source `{name}`"),
        }
    }
}

/// What a tool says about itself.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Unique among all tools.
    pub name: String,
    /// Who contributes it.
    pub origin: Origin,
    /// One or two sentences for people and agents.
    pub description: String,
    /// What it is for.
    pub kind: Kind,
    /// Where it works; empty for everywhere.
    pub platforms: Vec<Platform>,
    /// The drivers it works with, by the names trails pin them by; empty for all.
    pub drivers: Vec<String>,
    /// The toolset it puts itself into.
    pub toolset: Option<String>,
    /// Groups of its registry that it belongs to.
    pub groups: Vec<String>,
    /// Whether agents are shown it.
    pub shown: bool,
    /// Whether a call of it belongs into a recording.
    pub recordable: bool,
    /// What it can reach.
    pub access: Access,
    /// Secret arguments.
    pub secrets: Vec<&'static str>,
    /// Arguments that are code of another language, in which `${name}` means something too.
    pub code: Vec<&'static str>,
    /// Arguments that name what it remembers.
    pub remembers: Vec<&'static str>,
    /// The argument that names another trail, which it runs.
    pub runs_trail: Option<&'static str>,
    /// JSON Schema of its arguments.
    pub arguments: serde_json::Value,
    /// JSON Schema of what it answers, as its source says.
    pub output: Option<Arc<JsonObject>>,
    /// What its source says about its effects.
    pub annotations: Option<ToolAnnotations>,
}

impl ToolSpec {
    /// A built-in tool that works everywhere, is shown to agents and recorded, and takes no
    /// arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, kind: Kind) -> Self {
        Self {
            name: name.into(),
            origin: Origin::BuiltIn,
            description: description.into(),
            kind,
            platforms: Vec::new(),
            drivers: Vec::new(),
            toolset: None,
            groups: Vec::new(),
            shown: true,
            recordable: true,
            access: Access::Session,
            secrets: Vec::new(),
            code: Vec::new(),
            remembers: Vec::new(),
            runs_trail: None,
            arguments: serde_json::json!({ "type": "object", "properties": {} }),
            output: None,
            annotations: None,
        }
    }

    /// Why it cannot be called on a device of this platform that is reached by this driver.
    pub fn unusable_on(&self, platform: Platform, driver: &str) -> Option<String> {
        if !self.works_on(platform) {
            return Some(format!("does not work on {platform} devices"));
        }
        let known = self.drivers.is_empty() || self.drivers.iter().any(|one| one == driver);
        (!known).then(|| {
            let drivers = self.drivers.join(" or ");
            format!("works with the driver {drivers} only, not with {driver}")
        })
    }

    /// Whether it works on a platform.
    pub fn works_on(&self, platform: Platform) -> bool {
        self.platforms.is_empty() || self.platforms.contains(&platform)
    }

    /// Whether its schema says that there are arguments beside those that it names.
    fn takes_more(&self) -> bool {
        let more = self.arguments.get("additionalProperties");
        more.is_some_and(|more| *more != false)
            || ["patternProperties", "anyOf", "allOf", "oneOf", "$ref"]
                .iter()
                .any(|key| self.arguments.get(*key).is_some())
    }

    /// Takes out of a call's arguments those that it does not know. Of a built-in tool most are
    /// harmless, for a file may be written for a newer version; see [`ToolSpec::refuses`].
    pub fn take_unknown(&self, arguments: &mut Value) -> Vec<UnknownArgument> {
        let known = self.arguments["properties"].as_object();
        let is_open = match self.origin {
            // As callbacks have it: one that names no arguments takes any.
            Origin::Source(_) => known.is_none_or(serde_json::Map::is_empty) || self.takes_more(),
            Origin::BuiltIn | Origin::File(_) => self.arguments["additionalProperties"] != false,
        };
        let (Node::Mapping(mapping), false) = (&mut arguments.node, is_open) else {
            return Vec::new();
        };
        let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
        let unknown = mapping
            .entries
            .extract_if(.., |entry| !is_known(&entry.key.text));
        unknown
            .map(|entry| UnknownArgument {
                hint: known.and_then(|known| {
                    did_you_mean(&entry.key.text, known.keys().map(String::as_str))
                }),
                name: entry.key.text,
                span: entry.key.span,
            })
            .collect()
    }

    /// Whether it is not called with an argument that it does not know: a tool of a source would do
    /// something else than was meant, and a misspelled assertion would expect something else.
    pub const fn refuses(&self, unknown: &UnknownArgument) -> bool {
        match self.origin {
            Origin::Source(_) => true,
            Origin::BuiltIn | Origin::File(_) => {
                matches!(self.kind, Kind::Assertion) && unknown.hint.is_some()
            }
        }
    }
}

/// An argument that its tool does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownArgument {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub span: Option<Span>,
    /// Which one was probably meant.
    pub hint: Option<String>,
}

/// What a tool answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// What is worth reading; `None` when success says it all.
    pub text: Option<String>,
    /// How the element was found and what was noticed.
    pub report: ActionReport,
    /// The same as data, for callers that compute with it; `text` says it for readers.
    pub data: Option<serde_json::Value>,
    /// The call that does the same without a reference; it was carried out, and it is what belongs
    /// into a recording.
    pub delegate: Option<DelegatedCall>,
    /// What only a typed command hands on.
    pub typed: Option<Typed>,
}

/// An answer that has no place in a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Typed {
    /// A value as it is: `3`, and not `"3"`.
    Value(serde_json::Value),
    /// What is on the screen.
    Screen(Arc<CapturedScreen>),
}

/// A picture and a reading of the screen, taken one after the other.
#[derive(Debug, PartialEq)]
pub struct CapturedScreen {
    /// The picture.
    pub screenshot: Screenshot,
    /// The reading.
    pub snapshot: Box<Snapshot>,
}

/// A call that stands for another one.
#[derive(Debug, Clone, PartialEq)]
pub struct DelegatedCall {
    /// The tool's name.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

impl Answer {
    /// An answer that is a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// An answer that is data.
    pub fn data(data: serde_json::Value) -> Self {
        Self {
            text: Some(data.to_string()),
            data: Some(data),
            ..Self::default()
        }
    }
}

impl From<ActionReport> for Answer {
    fn from(report: ActionReport) -> Self {
        Self {
            report,
            ..Self::default()
        }
    }
}

/// Why a tool did not do what was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ToolError {
    /// The arguments are not what the tool takes: the trail's mistake.
    #[error("{0}")]
    Arguments(#[from] DecodeError),
    /// Something expected did not come true, or an argument is invalid.
    #[error("{message}")]
    Failed {
        /// What was expected and what was there instead.
        message: String,
        /// What was tried, in order.
        log: Vec<String>,
        /// What a person can do about it.
        hint: Option<String>,
    },
    /// It did not come true, and must not be retried.
    #[error("{message}")]
    Fatal {
        /// What happened.
        message: String,
        /// What was tried, in order.
        log: Vec<String>,
    },
    /// The device said no, or is gone.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// We could not find out, and the device may be fine.
    #[error("{cause}")]
    Infrastructure {
        /// Who is to blame.
        blame: Blame,
        /// What happened.
        cause: String,
        /// What a person can do about it.
        hint: Option<String>,
        /// The tool sources that could not start on this computer.
        unstarted: Vec<String>,
    },
    /// It takes a model that looks at the screen, and there is none.
    #[error("{0} needs an agent")]
    NeedsAgent(String),
    /// The session was cancelled meanwhile.
    #[error("cancelled")]
    Cancelled,
}

impl ToolError {
    /// A failure that is one sentence.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            log: Vec::new(),
            hint: None,
        }
    }

    /// A failure that is one sentence, and what a person can do about it.
    pub fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            log: Vec::new(),
            hint: Some(hint.into()),
        }
    }
}

impl From<DriverError> for ToolError {
    fn from(error: DriverError) -> Self {
        Self::Command(error.into())
    }
}

/// Anything a step can call by name.
pub trait Tool: Send + Sync {
    /// What it says about itself.
    fn spec(&self) -> &ToolSpec;

    /// Looks at arguments without a device.
    ///
    /// # Errors
    /// [`DecodeError`] with the place of the mistake. Values that come from templates are not known
    /// yet and pass.
    fn check(&self, arguments: &Value) -> Result<(), DecodeError>;

    /// Does it.
    ///
    /// # Errors
    /// [`ToolError`].
    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>>;
}
