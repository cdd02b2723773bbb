//! Composed tools that call themselves, by whatever way.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_model::diagnostic::Diagnostic;

use super::Composed;
use crate::tool::Tool;

/// One mistake for every tool that ends up calling itself, at the call that leads there.
pub fn check_cycles<'a>(tools: impl IntoIterator<Item = &'a Composed>) -> Vec<Diagnostic> {
    let tools: BTreeMap<&str, &Composed> = tools
        .into_iter()
        .map(|tool| (tool.spec().name.as_str(), tool))
        .collect();
    let found = tools.values().filter_map(|tool| {
        let name = tool.spec().name.as_str();
        let (mut seen, mut way) = (BTreeSet::new(), vec![name]);
        let mut calls = tool.calls().iter();
        let call = calls.find(|call| leads(&call.name, name, &tools, &mut seen, &mut way))?;
        let message = format!("`{name}` calls itself: {}", way.join(" -> "));
        let hint = "a tool file has no condition, so this would never end".to_owned();
        Some(Diagnostic::error(tool.source(), call.span, message).hint(hint))
    });
    found.collect()
}

/// Whether a call of `from` ends up in one of `to`; `way` gets what is called in between and `to`.
/// What is in `seen` is known not to.
fn leads<'a>(
    from: &'a str,
    to: &str,
    tools: &BTreeMap<&'a str, &'a Composed>,
    seen: &mut BTreeSet<&'a str>,
    way: &mut Vec<&'a str>,
) -> bool {
    way.push(from);
    if from == to {
        return true;
    }
    if seen.insert(from)
        && let Some(tool) = tools.get(from)
        && (tool.calls().iter()).any(|call| leads(&call.name, to, tools, seen, way))
    {
        return true;
    }
    way.pop();
    false
}
