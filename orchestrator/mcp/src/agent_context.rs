//! What is done for one agent, whichever way it came.

use std::sync::Arc;
use std::time::Duration;

use packtrain_daemon::{Agent, Hub, Project, Toolbox, UnderWay, Update};
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use packtrain_terminal::exit::CliError;
use packtrain_tools::SharedRegistry;
use packtrain_toolsets::catalog::{self, LEASE, Listing};
use packtrain_toolsets::tools::{self as toolset_tools, Mutability, ToolsetTools};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde::de::DeserializeOwned;

use super::answers::{answered, failed, not_passed, with_text_in_data};
use super::devices::{unknown_lease, with_doubts};
use super::ours;
use super::reporter::Reporter;

/// How long a call of a tool may take.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(300);

/// What is done for one agent.
pub(super) struct AgentContext {
    pub(super) hub: Arc<Hub>,
    pub(super) agent: Arc<Agent>,
    /// Whether it speaks the revision 2026-07-28, or a later one.
    pub(super) is_modern: bool,
    /// Whether it came to the address of one toolset.
    pub(super) is_at_toolset: bool,
    /// That it asks for something.
    pub(super) _asking: UnderWay,
}

impl AgentContext {
    pub(super) fn project(&self) -> &Arc<Project> {
        &self.agent.project
    }

    fn toolsets(&self) -> ToolsetTools {
        ToolsetTools::new(Arc::clone(&self.project().toolsets))
    }

    /// All tools of the registry, as they were listed last.
    async fn listed(&self) -> Result<Arc<Listing>, ErrorData> {
        self.catalog(self.project().known_tools().await)
    }

    fn catalog(
        &self,
        tools: Result<(Arc<Toolbox>, SharedRegistry), CliError>,
    ) -> Result<Arc<Listing>, ErrorData> {
        let (toolbox, registry) =
            tools.map_err(|error| ErrorData::internal_error(error.explanation.message, None))?;
        let agent = &self.project().agent;
        Ok(toolbox.catalog.of(&registry.snapshot(), agent))
    }

    /// What `tools/list` answers.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, ErrorData> {
        let mut tools = ours::definitions();
        tools.extend(toolset_tools::definitions());
        let listed = self.catalog(self.project().tools().await)?;
        let equipped = self.agent.equipped();
        let offered = self.toolsets().offered(&equipped, &listed.tools);
        if equipped.toolset().is_none() {
            return Ok(listed.short(tools, offered));
        }
        tools.extend(offered.into_iter().map(|tool| listed.shown(tool)));
        Ok(tools)
    }

    /// What `tools/call` answers.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: JsonObject,
        reporter: &Reporter,
    ) -> Result<CallToolResult, ErrorData> {
        Ok(with_text_in_data(match name {
            _ if toolset_tools::is_one(name) => self.about_toolsets(name, arguments).await?,
            _ if catalog::is_own(name) => {
                let calling = self.own_tool(name, arguments, reporter);
                calling.await.unwrap_or_else(|refusal| refusal)
            }
            _ => self.registry_tool(name, arguments).await?,
        }))
    }

    async fn own_tool(
        &self,
        name: &str,
        arguments: JsonObject,
        reporter: &Reporter,
    ) -> Result<CallToolResult, CallToolResult> {
        Ok(match name {
            "device_list" => self.device_list(of(arguments)?).await,
            "device_acquire" => self.device_acquire(of(arguments)?, reporter).await,
            "device_release" => self.device_release(of(arguments)?).await,
            "snapshot" => self.snapshot(of(arguments)?).await,
            "act" => self.act(of(arguments)?, reporter).await,
            "screenshot" => self.screenshot(of(arguments)?).await,
            "trail_check" => self.trail_check(of(arguments)?, reporter).await,
            "run_start" => self.run_start(of(arguments)?).await,
            "run_wait" => self.run_wait(of(arguments)?, reporter).await,
            "run_status" => self.run_status(of(arguments)?),
            "run_cancel" => self.run_cancel(of(arguments)?),
            _ => return Err(failed(format!("unknown tool `{name}`"))),
        })
    }

    async fn about_toolsets(
        &self,
        name: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, ErrorData> {
        let listed = self.listed().await?;
        let how = match self.is_modern || self.is_at_toolset {
            true => Mutability::Endpoint {
                url: self.hub.url().to_owned(),
            },
            false => Mutability::Session,
        };
        let equipped = self.agent.equipped();
        let replaced = toolset_tools::replaced(name, &arguments).map(str::to_owned);
        if let Some(toolset) = &replaced
            && let Some(other) = self.hub.equipping(&self.agent, toolset)
        {
            let instead = match toolset_tools::deletes(name) {
                true => "delete it once they have unequipped it or disconnected",
                false => "build one under another name",
            };
            return Ok(failed(format!(
                "`{toolset}` is what {other} has equipped: {instead}"
            )));
        }
        let tools = self.toolsets();
        let calling = tools.call(name, arguments, &listed.tools, &equipped, how);
        let called = calling.await?;
        // At a toolset's address the list is that of its file.
        if let Some(toolset) = replaced.as_deref().or(equipped.name())
            && called.has_changed
        {
            let hub = &self.hub;
            hub.tell_equipped(self.project(), toolset, &Update::Tools);
        }
        if let Some(equipped) = called.equip {
            self.agent.equip(equipped);
            self.agent.tell(Update::Tools);
        }
        Ok(called.result)
    }

    /// Why the agent may not call a tool of the registry, listed or not.
    pub(super) fn refusal(&self, listed: &Listing, name: &str) -> Option<String> {
        let equipped = self.agent.equipped();
        let refused = self.toolsets().refuse(&equipped, &listed.tools, name);
        refused.or_else(|| {
            let shown: String = name.chars().take(80).collect();
            (!listed.has(name)).then(|| format!("unknown tool `{shown}`"))
        })
    }

    /// Calls a tool of the registry on the device of its lease.
    async fn registry_tool(
        &self,
        name: &str,
        mut arguments: JsonObject,
    ) -> Result<CallToolResult, ErrorData> {
        let lease = arguments.remove(LEASE);
        let lease = lease.as_ref().and_then(serde_json::Value::as_str);
        let held = lease.and_then(|lease| self.agent.held(lease));
        // A device keeps the tools that it was taken with, and what is called is what was looked at.
        let listed = match &held {
            Some(held) => held.listed(&self.project().agent),
            None => self.listed().await?,
        };
        if let Some(why) = self.refusal(&listed, name) {
            return match listed.has(name) || self.agent.equipped().toolset().is_some() {
                true => Ok(failed(why)),
                false => Err(ErrorData::invalid_params(why, None)),
            };
        }
        let Some(lease) = lease else {
            return Ok(failed(format!(
                "`{name}` needs the argument `{}`: which device it is for; device_acquire gives one",
                LEASE
            )));
        };
        let Some(held) = held else {
            return Ok(failed(unknown_lease(lease)));
        };
        let call = ToolCall::new(name, Value::from(&serde_json::Value::Object(arguments)));
        let result = match held.call(&call, CALL_TIMEOUT).await {
            Some(Ok(answer)) => answered(answer),
            Some(Err(outcome)) => not_passed(&outcome),
            None => failed(unknown_lease(lease)),
        };
        Ok(with_doubts(result, &held))
    }
}

/// The arguments of a tool of ours. What is wrong with them is an answer, which models read.
fn of<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, CallToolResult> {
    serde_json::from_value(serde_json::Value::Object(arguments))
        .map_err(|error| failed(format!("invalid arguments: {error}")))
}
