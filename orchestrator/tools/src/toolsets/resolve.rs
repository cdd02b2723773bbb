//! Which tool is meant by a name or a hash.

use packtrain_model::suggest::did_you_mean;
use serde::Serialize;

use super::listed::ListedTool;
use super::pin::ref_id;
use super::saved::ToolRef;

/// Why a reference leads to no tool.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unresolved<'t> {
    /// It says neither a name nor a hash.
    #[error("missing `namespacedName` or `refId`")]
    Empty,
    /// No tool has the name.
    #[error("unknown tool `{name}`{}", hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}")))]
    Unknown {
        /// The name.
        name: String,
        /// Which one was probably meant.
        hint: Option<String>,
    },
    /// No tool has the hash.
    #[error("no tool has the refId `{ref_id}`; one that had it may have changed")]
    Stale {
        /// The hash.
        ref_id: String,
    },
    /// Several tools go by the name.
    #[error("ambiguous `{name}`: {}", candidates.join(" or "))]
    Ambiguous {
        /// The name.
        name: String,
        /// Their names with their sources'.
        candidates: Vec<String>,
    },
    /// The tool of the name has another definition than the hash says.
    #[error("the definition of `{}` has changed", tool.name)]
    Changed {
        /// The tool as it is now.
        tool: &'t ListedTool,
    },
}

/// The one listed tool that a reference means.
///
/// # Errors
/// [`Unresolved`].
pub fn resolve<'t>(
    reference: &ToolRef,
    listed: &'t [ListedTool],
) -> Result<&'t ListedTool, Unresolved<'t>> {
    match (&reference.namespaced_name, &reference.ref_id) {
        (None, None) => Err(Unresolved::Empty),
        (Some(name), None) => named(name, listed),
        (None, Some(pin)) => listed
            .iter()
            .find(|tool| ref_id(tool) == *pin)
            .ok_or_else(|| Unresolved::Stale {
                ref_id: pin.clone(),
            }),
        (Some(name), Some(pin)) => {
            let tool = named(name, listed)?;
            if ref_id(tool) == *pin {
                Ok(tool)
            } else {
                Err(Unresolved::Changed { tool })
            }
        }
    }
}

/// The one listed tool of a name, however it is spelled. The name that a tool is listed under comes
/// before what others can be spelled as.
///
/// # Errors
/// [`Unresolved::Unknown`], [`Unresolved::Ambiguous`].
pub fn named<'t>(name: &str, listed: &'t [ListedTool]) -> Result<&'t ListedTool, Unresolved<'t>> {
    let mut exact = listed.iter().filter(|tool| tool.name == name);
    if let (Some(tool), None) = (exact.next(), exact.next()) {
        return Ok(tool);
    }
    let candidates: Vec<_> = listed.iter().filter(|tool| tool.goes_by(name)).collect();
    match candidates[..] {
        [tool] => Ok(tool),
        [] => Err(Unresolved::Unknown {
            hint: did_you_mean(name, listed.iter().map(|tool| tool.name.as_str())),
            name: name.to_owned(),
        }),
        _ => Err(Unresolved::Ambiguous {
            name: name.to_owned(),
            candidates: candidates
                .iter()
                .map(|tool| format!("`{}`", tool.namespaced_name()))
                .collect(),
        }),
    }
}

/// How it stands with a toolset's tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolState {
    /// `offered`, `hidden`, `changed`, `ambiguous` or `missing`.
    pub state: &'static str,
    /// Why it is not offered.
    pub why: Option<String>,
}

impl ToolState {
    /// How it stands with what a toolset refers to.
    pub fn of(reference: &ToolRef, listed: &[ListedTool]) -> Self {
        match resolve(reference, listed) {
            Ok(tool) => Self {
                state: if tool.hidden.is_none() {
                    "offered"
                } else {
                    "hidden"
                },
                why: tool.hidden.clone(),
            },
            Err(unresolved) => Self {
                state: match &unresolved {
                    Unresolved::Changed { .. } => "changed",
                    Unresolved::Ambiguous { .. } => "ambiguous",
                    Unresolved::Empty | Unresolved::Unknown { .. } | Unresolved::Stale { .. } => {
                        "missing"
                    }
                },
                why: Some(unresolved.to_string()),
            },
        }
    }
}

#[cfg(test)]
mod tests;
