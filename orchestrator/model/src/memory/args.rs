//! Arguments that are made of others.

use std::collections::{BTreeMap, BTreeSet};

use super::Memory;
use crate::template::{ArgsToken, Scope, TemplateError, Undefined, args_tokens};

/// The arguments with the templates in their texts filled in, each after those it is made of.
pub(super) fn resolve(
    args: BTreeMap<String, serde_json::Value>,
    memory: &Memory,
    undefined: Undefined,
) -> Result<BTreeMap<String, serde_json::Value>, TemplateError> {
    // Which others each one waits for, and which wait for it.
    let mut waits_for: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut awaited_by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in &args {
        let parts = parts(value, &args);
        for part in &parts {
            awaited_by.entry(part).or_default().push(name);
        }
        waits_for.insert(name, parts);
    }
    let mut resolved = memory.clone();
    resolved.args.clear();
    let mut ready: Vec<&str> = waits_for
        .iter()
        .filter(|(_, parts)| parts.is_empty())
        .map(|(name, _)| *name)
        .collect();
    while let Some(name) = ready.pop() {
        waits_for.remove(name);
        if let Some(value) = args.get(name) {
            let value = fill(value, &resolved, undefined)?;
            resolved.args.insert(name.to_owned(), value);
        }
        for waiting in awaited_by.get(name).into_iter().flatten() {
            if let Some(parts) = waits_for.get_mut(waiting)
                && parts.remove(name)
                && parts.is_empty()
            {
                ready.push(waiting);
            }
        }
    }
    match waits_for.keys().next() {
        None => Ok(resolved.args),
        Some(name) => Err(TemplateError::Circular {
            name: (*name).to_owned(),
        }),
    }
}

/// The arguments a text is made of. One that does not exist is nothing to wait for.
fn parts<'a>(
    value: &'a serde_json::Value,
    args: &BTreeMap<String, serde_json::Value>,
) -> BTreeSet<&'a str> {
    args_tokens(value.as_str().unwrap_or_default())
        .filter_map(|token| match token {
            ArgsToken::Name(name) if args.contains_key(name) => Some(name),
            ArgsToken::Name(_) | ArgsToken::Malformed(_) => None,
        })
        .collect()
}

fn fill(
    value: &serde_json::Value,
    memory: &Memory,
    undefined: Undefined,
) -> Result<serde_json::Value, TemplateError> {
    let Some(text) = value.as_str() else {
        return Ok(value.clone());
    };
    let scope = Scope {
        memory,
        params: None,
        app_ids: &[],
        code: &[],
        undefined,
    };
    Ok(scope.fill_text(text)?.value.into())
}
