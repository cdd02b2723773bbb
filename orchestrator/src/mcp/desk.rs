//! What is done for one agent, whichever way it came.

use std::sync::Arc;
use std::time::Duration;

use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use packtrain_tools::SharedRegistry;
use packtrain_tools::toolsets::ListedTool;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, JsonObject, Tool};
use serde::de::DeserializeOwned;

use super::answers::{answered, failed, not_passed};
use super::devices::{unknown_lease, with_doubts};
use super::reporter::Reporter;
use super::toolset_tools::{self, Mutability, ToolsetTools};
use super::{catalog, ours};
use crate::daemon::{Agent, Hub, Project, Toolbox, UnderWay, Update};
use crate::exit::CliError;

/// How long a call of a tool may take.
const CALL: Duration = Duration::from_secs(300);

/// What is done for one agent.
pub(super) struct Desk {
    pub(super) hub: Arc<Hub>,
    pub(super) agent: Arc<Agent>,
    /// Whether its list of tools may change while it is connected.
    pub(super) is_modern: bool,
    /// That it asks for something.
    pub(super) _asking: UnderWay,
}

impl Desk {
    pub(super) fn project(&self) -> &Arc<Project> {
        &self.agent.project
    }

    fn toolsets(&self) -> ToolsetTools {
        ToolsetTools::new(Arc::clone(&self.project().toolsets))
    }

    /// All tools of the registry, as they were listed last.
    async fn listed(&self) -> Result<Arc<Vec<ListedTool>>, ErrorData> {
        self.catalog(self.project().known_tools().await)
    }

    fn catalog(
        &self,
        tools: Result<(Arc<Toolbox>, SharedRegistry), CliError>,
    ) -> Result<Arc<Vec<ListedTool>>, ErrorData> {
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
        let offered = self.toolsets().offered(&self.agent.equipped(), &listed);
        tools.extend(offered.into_iter().map(catalog::shown));
        Ok(tools)
    }

    /// What `tools/call` answers.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: JsonObject,
        reporter: &Reporter,
    ) -> Result<CallToolResult, ErrorData> {
        Ok(match name {
            "device_list" => self.device_list(of(arguments)?).await,
            "device_acquire" => self.device_acquire(of(arguments)?, reporter).await,
            "device_release" => self.device_release(of(arguments)?).await,
            "snapshot" => self.snapshot(of(arguments)?).await,
            "screenshot" => self.screenshot(of(arguments)?).await,
            "trail_check" => self.trail_check(of(arguments)?, reporter).await,
            "run_start" => self.run_start(of(arguments)?).await,
            "run_wait" => self.run_wait(of(arguments)?, reporter).await,
            "run_status" => self.run_status(of(arguments)?),
            "run_cancel" => self.run_cancel(of(arguments)?),
            _ if ours::is_own(name) => self.about_toolsets(name, arguments).await?,
            _ => self.registry_tool(name, arguments).await?,
        })
    }

    async fn about_toolsets(
        &self,
        name: &str,
        arguments: JsonObject,
    ) -> Result<CallToolResult, ErrorData> {
        let listed = self.listed().await?;
        let how = match self.is_modern {
            true => Mutability::Endpoint {
                url: self.hub.url().to_owned(),
            },
            false => Mutability::Session,
        };
        let equipped = self.agent.equipped();
        let tools = self.toolsets();
        let called = tools.call(name, arguments, &listed, &equipped, how).await?;
        if let Some(equipped) = called.equip {
            self.agent.equip(equipped);
            self.agent.tell(Update::Tools);
        }
        Ok(called.result)
    }

    /// Calls a tool of the registry on the device of its lease.
    async fn registry_tool(
        &self,
        name: &str,
        mut arguments: JsonObject,
    ) -> Result<CallToolResult, ErrorData> {
        let listed = self.listed().await?;
        let equipped = self.agent.equipped();
        if let Some(why) = self.toolsets().refuse(&equipped, &listed, name) {
            return Ok(failed(why));
        }
        if !listed.iter().any(|known| known.name == name) {
            let shown: String = name.chars().take(80).collect();
            let message = format!("unknown tool `{shown}`");
            return Err(ErrorData::invalid_params(message, None));
        }
        let lease = arguments.remove(ours::LEASE);
        let Some(lease) = lease.as_ref().and_then(serde_json::Value::as_str) else {
            return Ok(failed(format!(
                "`{name}` needs the argument `{}`: which device it is for; device_acquire gives one",
                ours::LEASE
            )));
        };
        let Some(held) = self.agent.held(lease) else {
            return Ok(failed(unknown_lease(lease)));
        };
        let call = ToolCall::new(name, Value::from(&serde_json::Value::Object(arguments)));
        let result = match held.call(&call, CALL).await {
            Some(Ok(answer)) => answered(answer),
            Some(Err(outcome)) => not_passed(&outcome),
            None => failed(unknown_lease(lease)),
        };
        Ok(with_doubts(result, &held))
    }
}

/// The arguments of a tool of ours.
fn of<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ErrorData> {
    serde_json::from_value(serde_json::Value::Object(arguments))
        .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}
