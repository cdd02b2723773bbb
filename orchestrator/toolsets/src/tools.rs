//! The eight tools by which an agent chooses which tools it is offered, and notes what it learned
//! about them. What one agent has equipped is a value of its own; no other agent sees it.

mod annotate;
mod arguments;
mod definitions;
mod report;

use std::sync::Arc;

use packtrain_tools::toolsets::{Membership, SavedToolset, ToolRef, resolve};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool};
use serde_json::{Value, json};

pub use packtrain_tools::toolsets::ListedTool;

use self::arguments::{Build, Delete, EquipArgs, ListAvailable, Nothing, decode};
use self::definitions::{
    ACTIVE, ANNOTATE, BUILD, DELETE, EQUIP, LIST_AVAILABLE, LIST_SAVED, UNEQUIP,
};
use crate::store::{StoreError, Stored, ToolsetStore};

/// The eight tools as they are listed.
pub fn definitions() -> Vec<Tool> {
    definitions::all()
}

/// Whether a tool is one of the eight.
pub fn is_one(name: &str) -> bool {
    [
        LIST_AVAILABLE,
        LIST_SAVED,
        ACTIVE,
        UNEQUIP,
        EQUIP,
        BUILD,
        DELETE,
        ANNOTATE,
    ]
    .contains(&name)
}

/// The toolset that a call would rewrite or delete.
pub fn replaced<'a>(name: &str, args: &'a JsonObject) -> Option<&'a str> {
    let is_replacing = matches!(name, BUILD | DELETE);
    args.get("name").filter(|_| is_replacing)?.as_str()
}

/// Whether a call deletes a toolset.
pub fn deletes(name: &str) -> bool {
    name == DELETE
}

/// What one agent has equipped: a toolset as it was then, or none. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EquippedToolset(Option<Arc<Stored>>);

impl EquippedToolset {
    /// The toolset.
    pub fn toolset(&self) -> Option<&SavedToolset> {
        self.0.as_ref().map(|stored| &stored.toolset)
    }

    /// The toolset's name.
    pub fn name(&self) -> Option<&str> {
        self.toolset().map(|toolset| toolset.name.as_str())
    }
}

/// What `equip-toolset` and `unequip-toolset` may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mutability {
    /// The list of tools of the session that asks.
    Session,
    /// Nothing: lists of tools belong to addresses.
    Endpoint {
        /// The address that lists all tools; `/NAME` behind it is that of a toolset.
        url: String,
    },
}

/// What a tool answered, and what that changed.
#[derive(Debug)]
pub struct CallOutcome {
    /// For the agent.
    pub result: CallToolResult,
    /// What the agent has equipped from now on; `None` when that is what it had before.
    pub equip: Option<EquippedToolset>,
    /// Whether a toolset's file is another one now.
    pub has_changed: bool,
}

impl CallOutcome {
    fn answer(value: Value) -> Self {
        Self {
            result: CallToolResult::structured(value),
            equip: None,
            has_changed: false,
        }
    }

    fn refused(why: impl Into<String>) -> Self {
        Self {
            result: CallToolResult::error(vec![ContentBlock::text(why)]),
            equip: None,
            has_changed: false,
        }
    }

    fn equipping(mut self, equipped: EquippedToolset) -> Self {
        self.equip = Some(equipped);
        self
    }
}

/// Why an agent is not given what it asks for.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("{error}{}", hint(error))]
    Store {
        #[from]
        error: StoreError,
    },
    #[error("{0}")]
    Said(String),
}

fn hint(error: &StoreError) -> String {
    error
        .hint()
        .map_or_else(String::new, |hint| format!("; {hint}"))
}

/// A call of one of the eight.
struct Request<'a> {
    listed: &'a [ListedTool],
    equipped: &'a EquippedToolset,
    how: Mutability,
}

/// The tools about toolsets.
#[derive(Debug, Clone)]
pub struct ToolsetTools {
    store: Arc<ToolsetStore>,
}

impl ToolsetTools {
    /// Works on these toolsets.
    pub fn new(store: Arc<ToolsetStore>) -> Self {
        Self { store }
    }

    /// Equips a toolset by its name, for an agent that is given it at its start or by its address.
    ///
    /// # Errors
    /// When there is none, or its file is none.
    pub fn equip(&self, name: &str) -> Result<EquippedToolset, StoreError> {
        Ok(EquippedToolset(Some(Arc::new(self.store.load(name)?))))
    }

    /// Calls one of the tools. `listed` is every tool that there is, hidden ones too.
    ///
    /// # Errors
    /// When the name is that of no tool about toolsets. What an agent does wrong is in the result.
    pub async fn call(
        &self,
        name: &str,
        args: JsonObject,
        listed: &[ListedTool],
        equipped: &EquippedToolset,
        how: Mutability,
    ) -> Result<CallOutcome, ErrorData> {
        let request = Request {
            listed,
            equipped,
            how,
        };
        match self.dispatch(name, args, &request).await {
            Ok(Some(mut called)) => {
                called.has_changed = matches!(name, BUILD | DELETE | ANNOTATE);
                Ok(called)
            }
            Ok(None) => Err(ErrorData::invalid_params(
                format!("unknown tool `{name}`"),
                None,
            )),
            Err(refusal) => Ok(CallOutcome::refused(refusal.to_string())),
        }
    }

    async fn dispatch(
        &self,
        name: &str,
        args: JsonObject,
        request: &Request<'_>,
    ) -> Result<Option<CallOutcome>, Refusal> {
        if matches!(name, LIST_SAVED | ACTIVE | UNEQUIP) {
            decode::<Nothing>(args.clone())?;
        }
        Ok(Some(match name {
            LIST_AVAILABLE => match decode::<ListAvailable>(args)?.tool {
                Some(tool) => report::one(&tool, request)?,
                None => self.available(request).await?,
            },
            LIST_SAVED => self.saved(request).await?,
            ACTIVE => report::active(request),
            UNEQUIP => unequip(request),
            EQUIP => self.equip_by(decode(args)?, request)?,
            BUILD => self.build(decode(args)?, request).await?,
            DELETE => self.delete(decode(args)?, request).await?,
            ANNOTATE => self.annotate(decode(args)?, request).await?,
            _ => return Ok(None),
        }))
    }

    /// The tools that an agent is offered, with notes in their descriptions: those of its toolset, or
    /// all when it has none.
    pub fn offered(&self, equipped: &EquippedToolset, listed: &[ListedTool]) -> Vec<ListedTool> {
        match equipped.toolset() {
            Some(toolset) => toolset.offered(listed),
            None => {
                let shown = listed.iter().filter(|tool| tool.hidden.is_none());
                shown.cloned().collect()
            }
        }
    }

    /// Why an agent cannot call a tool; `None` when it can, as far as toolsets go.
    pub fn refuse(
        &self,
        equipped: &EquippedToolset,
        listed: &[ListedTool],
        tool: &str,
    ) -> Option<String> {
        let known = listed.iter().find(|known| known.name == tool);
        if let Some(why) = known.and_then(|known| known.hidden.as_ref()) {
            return Some(format!("`{tool}` is not offered: {why}"));
        }
        let toolset = equipped.toolset()?;
        let membership = known.map_or(Membership::Outside, |known| {
            toolset.membership(known, listed)
        });
        match membership {
            Membership::Included => None,
            Membership::Changed => Some(changed(tool, &toolset.name)),
            Membership::Outside => Some(format!(
                "`{tool}` is not in the toolset `{}`, which is equipped; `unequip-toolset` offers \
                 all tools again",
                toolset.name
            )),
        }
    }

    fn equip_by(&self, args: EquipArgs, request: &Request<'_>) -> Result<CallOutcome, Refusal> {
        let equipped = self.equip(&args.name)?;
        Ok(equipping(equipped, request, JsonObject::new()))
    }

    async fn build(&self, args: Build, request: &Request<'_>) -> Result<CallOutcome, Refusal> {
        args.check()?;
        let mut tools: Vec<ToolRef> = Vec::new();
        for reference in &args.tools {
            let tool = meant(reference, request.listed)?;
            let reference = ToolRef::to(tool);
            if !tools.contains(&reference) {
                tools.push(reference);
            }
        }
        let (stored, replaced) = self
            .store
            .change(&args.name, |known| {
                let replaced = known.is_some();
                let mut toolset = known.unwrap_or_default();
                toolset.version.get_or_insert_with(|| VERSION.to_owned());
                toolset.tools = tools;
                if args.description.is_some() {
                    toolset.description = args.description;
                }
                Ok::<_, Refusal>((toolset, replaced))
            })
            .await?;
        let mut told = JsonObject::new();
        told.insert("replaced".to_owned(), json!(replaced));
        told.insert("place".to_owned(), json!(stored.place));
        let built = EquippedToolset(Some(Arc::new(stored)));
        Ok(if args.auto_equip {
            equipping(built, request, told)
        } else {
            told.extend(report::summary(&built, request.listed));
            CallOutcome::answer(Value::Object(told))
        })
    }

    async fn delete(&self, args: Delete, request: &Request<'_>) -> Result<CallOutcome, Refusal> {
        if !args.confirm {
            let told = "deleting a toolset deletes its notes: call again with `confirm` true";
            return Err(Refusal::Said(told.to_owned()));
        }
        // An agent that was confined to it would be offered all tools.
        if request.equipped.name() == Some(&args.name) {
            let told = format!("`{}` is equipped; unequip it first", args.name);
            return Err(Refusal::Said(told));
        }
        self.store.delete(&args.name).await?;
        Ok(CallOutcome::answer(json!({ "deleted": args.name })))
    }
}

/// The version of the form that toolsets are written in.
const VERSION: &str = "1.0.0";

/// Equips a toolset where that changes only what its own agent sees; otherwise says where its tools are
/// listed.
fn equipping(
    equipped: EquippedToolset,
    request: &Request<'_>,
    mut told: JsonObject,
) -> CallOutcome {
    told.extend(report::summary(&equipped, request.listed));
    match &request.how {
        Mutability::Session => {
            told.insert("equipped".to_owned(), json!(true));
            CallOutcome::answer(Value::Object(told)).equipping(equipped)
        }
        Mutability::Endpoint { url } => {
            let url = url.trim_end_matches('/');
            let name = equipped.name().unwrap_or_default();
            told.insert("equipped".to_owned(), json!(false));
            told.insert("url".to_owned(), json!(format!("{url}/{name}")));
            let message = "the list of tools at this address stays as it is: connect to `url`, which lists \
                           the toolset's";
            told.insert("message".to_owned(), json!(message));
            CallOutcome::answer(Value::Object(told))
        }
    }
}

fn unequip(request: &Request<'_>) -> CallOutcome {
    let before = request.equipped.name();
    match &request.how {
        Mutability::Session => {
            let message = "all tools are offered";
            let told = json!({ "unequipped": before, "message": message });
            CallOutcome::answer(told).equipping(EquippedToolset::default())
        }
        Mutability::Endpoint { url } => {
            let message = "the list of tools at this address stays as it is: connect to `url`, which lists \
                           all tools";
            CallOutcome::answer(json!({ "unequipped": null, "url": url, "message": message }))
        }
    }
}

/// The tool that an agent means, as it is defined now; not one that is hidden.
fn meant<'t>(reference: &ToolRef, listed: &'t [ListedTool]) -> Result<&'t ListedTool, Refusal> {
    let tool =
        resolve(reference, listed).map_err(|unresolved| Refusal::Said(unresolved.to_string()))?;
    match &tool.hidden {
        None => Ok(tool),
        Some(why) => Err(Refusal::Said(format!(
            "`{}` is not offered: {why}",
            tool.name
        ))),
    }
}

/// What to do about a tool whose definition is not the one that was accepted.
fn changed(tool: &str, toolset: &str) -> String {
    format!(
        "the definition of `{tool}` has changed since it was accepted into the toolset `{toolset}`; \
         `packtrain toolsets accept {toolset} {tool}` accepts it, and so does building the toolset again; \
         then equip it again"
    )
}

#[cfg(test)]
mod tests;
