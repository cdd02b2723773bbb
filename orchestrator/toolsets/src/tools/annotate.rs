//! `add-tool-annotation`: notes on a tool of the equipped toolset, kept in its file.

use std::sync::Arc;

use packtrain_tools::toolsets::{Annotated, ListedTool, Membership, ref_id};
use serde_json::json;

use super::arguments::Annotate;
use super::{CallOutcome, EquippedToolset, Refusal, Request, ToolsetTools, changed, meant};
use crate::store::Place;

impl ToolsetTools {
    /// Adds notes, all of which have been looked at before the first is added.
    pub(super) async fn annotate(
        &self,
        args: Annotate,
        request: &Request<'_>,
    ) -> Result<CallOutcome, Refusal> {
        args.check()?;
        let Some(stored) = &request.equipped.0 else {
            let told = "no toolset is equipped: notes belong to one; `equip-toolset` first";
            return Err(Refusal::Said(told.to_owned()));
        };
        let name = stored.toolset.name.clone();
        if stored.place == Place::Defined {
            let told = format!(
                "toolset `{name}` is not a saved one: build one under another name for notes"
            );
            return Err(Refusal::Said(told));
        }
        let tool = meant(&args.tool_ref, request.listed)?;
        let (stored, annotated) = self
            .store
            .change(&name, |known| {
                // It may have been deleted, or rebuilt, since it was equipped.
                let gone = || Refusal::Said(format!("toolset `{name}` was deleted meanwhile"));
                let mut toolset = known.ok_or_else(gone)?;
                match toolset.membership(tool, request.listed) {
                    Membership::Included => {}
                    Membership::Changed => {
                        return Err(Refusal::Said(changed(&tool.name, &name)));
                    }
                    Membership::Outside => {
                        let told = format!("`{}` is not in the toolset `{name}`", tool.name);
                        return Err(Refusal::Said(told));
                    }
                }
                let annotated = toolset.annotate(tool, args.notes);
                Ok((toolset, annotated))
            })
            .await?;
        let told = told(&name, tool, &annotated);
        Ok(CallOutcome::answer(told).equipping(EquippedToolset(Some(Arc::new(stored)))))
    }
}

fn told(toolset: &str, tool: &ListedTool, annotated: &Annotated) -> serde_json::Value {
    let mut told = json!({
        "toolset": toolset,
        "tool": {
            "namespacedName": tool.namespaced_name(),
            "refId": ref_id(tool),
            "server": tool.source,
        },
        "addedNotes": annotated.added,
        "successCount": annotated.added.len(),
        "errorCount": annotated.skipped.len(),
    });
    if !annotated.skipped.is_empty() {
        told["errors"] = json!(annotated.skipped);
    }
    told
}
