//! `config.args`: what the trail can be given, and whether what it names exists.

use super::Reader;
use super::fields::span;
use crate::diagnostic::{Diagnostic, Severity, quoted};
use crate::suggest::did_you_mean;
use crate::template::{self, ArgsToken};
use crate::trail::args::is_name;
use crate::trail::{ArgDeclaration, ArgType, Trail};
use crate::yaml::{Entry, Mapping, Node, Value};

const KEYS: [&str; 4] = ["type", "description", "default", "required"];

impl Reader<'_> {
    pub(super) fn args(&mut self, value: &Value) -> Option<Vec<ArgDeclaration>> {
        let mapping = self.mapping(value, "args")?;
        let declarations: Vec<Option<ArgDeclaration>> = mapping
            .entries
            .iter()
            .map(|entry| self.declaration(entry))
            .collect();
        declarations.into_iter().collect()
    }

    fn declaration(&mut self, entry: &Entry) -> Option<ArgDeclaration> {
        let name = &entry.key.text;
        if !is_name(name) {
            let message = format!("invalid argument name {}", quoted(name));
            return self.refuse(
                entry.key.span,
                message,
                "names have letters, digits and `_`, and do not begin with a digit",
            );
        }
        let empty = ArgDeclaration {
            name: name.clone(),
            kind: ArgType::String,
            description: None,
            default: None,
            span: span(entry.key.span),
        };
        match &entry.value.node {
            Node::Mapping(mapping) => self.long_declaration(mapping, empty),
            Node::Scalar(_) => Some(ArgDeclaration {
                kind: self.arg_type(&entry.value)?,
                ..empty
            }),
            Node::Sequence(_) => {
                let hint = "write a type, or a mapping with `type` and `default`";
                self.mismatch(&entry.value, name, "a declaration", Some(hint))
            }
        }
    }

    fn long_declaration(
        &mut self,
        mapping: &Mapping,
        empty: ArgDeclaration,
    ) -> Option<ArgDeclaration> {
        for entry in &mapping.entries {
            if !KEYS.contains(&entry.key.text.as_str()) {
                self.unknown_key(entry, Severity::Warning, "an argument", &KEYS);
            }
        }
        let kind = match mapping.get("type") {
            Some(value) => self.arg_type(value)?,
            None => empty.kind,
        };
        let description = match mapping.get("description") {
            Some(value) => Some(self.text(value, "description")?),
            None => None,
        };
        let default = match mapping.get("default") {
            Some(value) => Some(self.default(value, kind)?),
            None => None,
        };
        if let Some(required) = mapping.entry("required") {
            self.required(required, default.is_some())?;
        }
        Some(ArgDeclaration {
            kind,
            description,
            default,
            ..empty
        })
    }

    fn arg_type(&mut self, value: &Value) -> Option<ArgType> {
        let word = self.text(value, "type")?;
        let kind = ArgType::from_word(&word);
        if kind.is_none() {
            let words = ArgType::ALL.map(ArgType::word);
            let hint = did_you_mean(&word, words)
                .unwrap_or_else(|| format!("expected one of: {}", words.join(", ")));
            let message = format!("invalid argument type {}", quoted(&word));
            self.tell(Diagnostic::error(self.source, value.span, message).hint(hint));
        }
        kind
    }

    fn default(&mut self, value: &Value, kind: ArgType) -> Option<serde_json::Value> {
        let problem = match kind.read(value) {
            Ok(default) => match default.as_str().map(template::check_args_tokens) {
                None | Some(Ok(())) => return Some(default),
                Some(Err(problem)) => problem,
            },
            Err(problem) => problem,
        };
        let hint = value
            .is_null()
            .then(|| "leave `default` out to make the argument required".to_owned());
        let message = format!("`default`: {problem}");
        self.tell(Diagnostic::error(self.source, value.span, message).hint(hint));
        None
    }

    /// `required` can only confirm what `default` says.
    fn required(&mut self, entry: &Entry, has_default: bool) -> Option<()> {
        let required: bool = self.decoded(&entry.value, "required")?;
        let message = match (required, has_default) {
            (true, true) => "an argument with a default is not required",
            (false, false) => "an argument that is not required needs a default",
            (true, false) | (false, true) => return Some(()),
        };
        self.refuse(
            entry.key.span,
            message,
            "leave `required` out: the default alone decides",
        )
    }

    /// Tells every `{{args.x}}` that names nothing: in a tool call it would fail, in words it is
    /// probably a slip.
    pub(super) fn check_arg_references(&mut self, trail: &Trail) {
        for step in trail.all_steps() {
            for problem in references(&step.text, trail) {
                self.tell(Diagnostic::warning(self.source, step.span, problem.0).hint(problem.1));
            }
            for call in step.recordings.iter().flat_map(|entry| &entry.value) {
                for (_, value) in call.args.scalars() {
                    let text = value.as_scalar().map_or("", |scalar| &scalar.text);
                    for problem in references(text, trail) {
                        self.tell(
                            Diagnostic::error(self.source, value.span, problem.0).hint(problem.1),
                        );
                    }
                }
            }
        }
    }
}

/// Message and hint for every token that names no argument.
fn references(text: &str, trail: &Trail) -> Vec<(String, Option<String>)> {
    let declared = || trail.config.args.iter().map(|arg| arg.name.as_str());
    template::args_tokens(text)
        .filter_map(|token| match token {
            ArgsToken::Malformed(body) => Some((template::malformed(body), None)),
            ArgsToken::Name(name) if declared().any(|known| known == name) => None,
            ArgsToken::Name(name) => {
                let hint = did_you_mean(name, declared())
                    .unwrap_or_else(|| format!("declare `{name}` below `config.args`"));
                let message = format!("the trail declares no argument {}", quoted(name));
                Some((message, Some(hint)))
            }
        })
        .collect()
}
