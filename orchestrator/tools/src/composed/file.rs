//! From the text of a tool file to a tool, telling every mistake on the way.

use packtrain_model::diagnostic::{Diagnostic, quoted};
use packtrain_model::source::Source;
use packtrain_model::suggest::did_you_mean;
use packtrain_model::template::references;
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use serde::Deserialize;
use serde_json::json;

use super::parameter::{Parameter, ParameterType};
use super::{Composed, ToolFile, parameter_of};
use crate::builtin::is_template;
use crate::document::Document;
use crate::tool::{Kind, Origin, ToolSpec};

/// What a tool file can have. Trailblaze writes the flags in several ways.
const KEYS: [&str; 24] = [
    "id",
    "name",
    "description",
    "parameters",
    "tools",
    "isForLlm",
    "is_for_llm",
    "surfaceToLlm",
    "surface_to_llm",
    "isRecordable",
    "is_recordable",
    "requiresHost",
    "requires_host",
    "isVerification",
    "is_verification",
    "toolset",
    "platforms",
    "supportedPlatforms",
    "supported_platforms",
    "drivers",
    "supportedDrivers",
    "supported_drivers",
    "shortcut",
    "trailhead",
];

/// All but the calls and the platforms.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    parameters: Vec<Declared>,
    #[serde(alias = "isForLlm")]
    is_for_llm: Option<bool>,
    #[serde(alias = "surfaceToLlm")]
    surface_to_llm: Option<bool>,
    #[serde(alias = "isRecordable")]
    is_recordable: Option<bool>,
    #[serde(alias = "isVerification")]
    is_verification: Option<bool>,
    toolset: Option<String>,
    #[serde(alias = "supportedDrivers", alias = "supported_drivers")]
    drivers: Vec<String>,
}

/// A parameter as written; what it is by default and what it can be are read by its type.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    name: String,
    #[serde(rename = "type", default)]
    kind: ParameterType,
    #[serde(default)]
    required: Option<bool>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, rename = "default")]
    _default: serde::de::IgnoredAny,
    #[serde(default, rename = "enum")]
    _choices: serde::de::IgnoredAny,
}

pub(super) fn parse(source: &Source) -> Result<ToolFile, Vec<Diagnostic>> {
    let (mut document, root) = Document::read(source, "a tool")?;
    let left_out = ToolFile {
        tool: None,
        warnings: Vec::new(),
    };
    let Some(tools) = root.get("tools") else {
        return Ok(left_out);
    };
    if let Some(class) = root.entry("class") {
        let told = Diagnostic::error(source, class.key.span, "expected either `class` or `tools`");
        document.tell(told.hint("remove `class`: Packtrain has no classes".to_owned()));
    }
    document.unknown_keys(&root, "a tool", &KEYS);
    let calls = ToolCall::read_list(tools, source, "`tools`");
    let calls = document.kept(calls);
    let on = ["platforms", "supportedPlatforms", "supported_platforms"];
    let on = document.platforms(on.into_iter().find_map(|key| root.get(key)));
    let head: Option<Head> = document.decoded(&root);
    let parameters = head.as_ref().and_then(|head| {
        let written = root.get("parameters").and_then(Value::as_sequence);
        document.parameters(&head.parameters, written.unwrap_or_default())
    });
    if let (Some(calls), Some(parameters)) = (&calls, &parameters) {
        document.check_references(calls, parameters);
    }
    let name = ["id", "name"].into_iter().find_map(|key| root.entry(key));
    if name.is_none() {
        document.tell(Diagnostic::error(source, None, "`id` is missing"));
    }
    if let Some([]) = calls.as_deref() {
        document.tell(Diagnostic::error(
            source,
            tools.span,
            "expected at least one tool",
        ));
    }
    let warnings = document.finish()?;
    let (Some(head), Some(calls), Some(parameters), Some(on)) = (head, calls, parameters, on)
    else {
        return Ok(ToolFile {
            warnings,
            ..left_out
        });
    };
    let span = name.and_then(|entry| entry.value.span);
    let tool = Composed {
        spec: spec(head, &parameters, on, source),
        parameters,
        calls,
        source: source.clone(),
        span,
    };
    Ok(ToolFile {
        tool: Some(tool),
        warnings,
    })
}

fn spec(
    head: Head,
    parameters: &[Parameter],
    platforms: Vec<packtrain_drivers::Platform>,
    source: &Source,
) -> ToolSpec {
    let kind = match head.is_verification {
        Some(true) => Kind::Assertion,
        Some(false) | None => Kind::Action,
    };
    let properties: serde_json::Map<_, _> = parameters
        .iter()
        .map(|one| (one.name.clone(), one.schema()))
        .collect();
    let required: Vec<_> = parameters.iter().filter(|one| one.is_required).collect();
    let required: Vec<_> = required.iter().map(|one| &one.name).collect();
    let name = head.id.or(head.name).unwrap_or_default();
    let description = head.description.unwrap_or_default();
    ToolSpec {
        origin: Origin::File(source.name().to_owned()),
        platforms,
        drivers: head.drivers,
        toolset: head.toolset,
        shown: head.is_for_llm != Some(false) && head.surface_to_llm != Some(false),
        recordable: head.is_recordable != Some(false),
        arguments: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
        ..ToolSpec::new(name, description.trim(), kind)
    }
}

impl Document<'_> {
    fn parameters(&mut self, declared: &[Declared], written: &[Value]) -> Option<Vec<Parameter>> {
        let mut parameters: Vec<Parameter> = Vec::new();
        for (declared, written) in declared.iter().zip(written) {
            let written = written.as_mapping()?;
            if parameters.iter().any(|one| one.name == declared.name) {
                let message = format!("a second parameter {}", quoted(&declared.name));
                let span = written.get("name").and_then(|name| name.span);
                self.tell(Diagnostic::error(self.source, span, message));
            }
            let default = written.get("default").filter(|value| !value.is_null());
            let default = default.map(|value| match is_template(value) {
                true => Some(value.to_json()),
                false => self.typed(declared.kind, value, "default"),
            });
            let choices = written.get("enum").and_then(Value::as_sequence);
            let choices = choices.unwrap_or_default().iter();
            let choices: Option<Vec<_>> = choices
                .map(|choice| self.typed(declared.kind, choice, "enum"))
                .collect();
            let default = match default {
                Some(default) => Some(default?),
                None => None,
            };
            parameters.push(Parameter {
                name: declared.name.clone(),
                kind: declared.kind,
                description: declared.description.clone(),
                // As in Trailblaze: what does not say otherwise must be given.
                is_required: declared.required.unwrap_or(default.is_none()),
                default,
                choices: choices?,
            });
        }
        Some(parameters)
    }

    fn typed(
        &mut self,
        kind: ParameterType,
        value: &Value,
        key: &str,
    ) -> Option<serde_json::Value> {
        let read = kind.read(value).map_err(|error| {
            let message = format!("`{key}`: {error}");
            vec![Diagnostic::error(
                self.source,
                error.span.or(value.span),
                message,
            )]
        });
        self.kept(read)
    }

    /// Tells of every `{{params.x}}` that names no parameter.
    fn check_references(&mut self, calls: &[ToolCall], parameters: &[Parameter]) {
        let names = || parameters.iter().map(|one| one.name.as_str());
        let scalars = calls.iter().flat_map(|call| call.args.scalars());
        for (_, value) in scalars {
            let text = value.as_scalar().map_or("", |scalar| &scalar.text);
            for name in references(text).filter_map(|one| parameter_of(one.name)) {
                if !names().any(|known| known == name) {
                    let message = format!("unknown parameter {}", quoted(name));
                    let hint = did_you_mean(name, names())
                        .unwrap_or_else(|| format!("declare `{name}` below `parameters`"));
                    self.tell(Diagnostic::error(self.source, value.span, message).hint(hint));
                }
            }
        }
    }
}
