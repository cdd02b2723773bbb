//! The arguments of a call: templates filled in, what the tool does not take left out.

use std::sync::Arc;

use packtrain_model::template::{Filled, Scope};
use packtrain_model::yaml::Value;
use packtrain_tools::{Tool, ToolError, ToolRequest};

use crate::session::SessionContext;

/// The arguments of a call, with their templates filled in.
pub(super) fn filled_in(
    session: &SessionContext,
    request: &ToolRequest<'_>,
    tool: Option<&Arc<dyn Tool>>,
) -> Result<Filled<Value>, ToolError> {
    let scope = Scope {
        memory: &session.scope.memory(),
        params: request.params,
        app_ids: session.scope.app_ids(),
        code: tool.map_or(&[], |tool| &tool.spec().code),
        undefined: request.undefined,
    };
    let translated = translated(session, request);
    scope
        .fill(translated.as_ref().unwrap_or(request.arguments))
        .map_err(|error| ToolError::Failed {
            message: error.to_string(),
            log: Vec::new(),
            hint: error.hint().map(str::to_owned),
        })
}

/// The arguments with texts of the recording replaced by what the app shows in this configuration;
/// `None` when there is nothing to replace.
fn translated(session: &SessionContext, request: &ToolRequest<'_>) -> Option<Value> {
    if session.texts.is_empty() {
        return None;
    }
    let arguments = request.arguments;
    Some(arguments.replace_texts(&|_, text| session.texts.get(text).cloned()))
}

/// Leaves out arguments that the tool does not know, and returns notes for the report
/// about them, and about templates that the trail asks to leave as they are.
///
/// # Errors
/// When the tool refuses an argument that it does not know.
pub(super) fn known(
    tool: Option<&Arc<dyn Tool>>,
    arguments: &mut Filled<Value>,
) -> Result<Vec<String>, ToolError> {
    let mut notes = Vec::new();
    let spec = tool.map(|tool| tool.spec());
    let unknown = spec.map(|spec| spec.take_unknown(&mut arguments.value));
    for argument in unknown.into_iter().flatten() {
        if let Some(spec) = spec.filter(|spec| spec.refuses(&argument)) {
            let usage = || format!("`packtrain tools {}` shows its arguments", spec.name);
            return Err(ToolError::Failed {
                message: format!("unknown argument `{}`", argument.name),
                log: Vec::new(),
                hint: Some(argument.hint.unwrap_or_else(usage)),
            });
        }
        let name = argument.name;
        match argument.hint {
            Some(hint) => notes.push(format!("unknown argument `{name}` was ignored; {hint}")),
            None => notes.push(format!("unknown argument `{name}` was ignored")),
        }
    }
    let undefined = arguments.unresolved.iter();
    notes.extend(undefined.map(|one| format!("{} is undefined and was left as is", one.token)));
    Ok(notes)
}
