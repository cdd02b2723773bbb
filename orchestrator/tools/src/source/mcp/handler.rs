//! What a server asks of us and tells us unasked.
#![expect(
    deprecated,
    reason = "servers of before send their log this way until July 2027"
)]

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::Notice;

/// Calls whose progress counts, and when each was last heard of.
#[derive(Default)]
pub(super) struct Watched(Mutex<HashMap<ProgressToken, Arc<LastHeard>>>);

/// When a call was last heard of.
pub(super) struct LastHeard(Mutex<Instant>);

impl LastHeard {
    pub(super) fn now() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Instant::now())))
    }

    pub(super) fn at(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Watched {
    pub(super) fn watch(&self, token: ProgressToken, call: Arc<LastHeard>) {
        self.all().insert(token, call);
    }

    pub(super) fn forget(&self, token: &ProgressToken) {
        self.all().remove(token);
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, Arc<LastHeard>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way of what a server says unasked. Cheap to clone.
#[derive(Clone)]
pub(super) struct Notices {
    to: mpsc::Sender<Notice>,
    /// Whether a change of the tools waits until there is room for it.
    change_waits: Arc<AtomicBool>,
}

impl Notices {
    pub(super) fn new(to: mpsc::Sender<Notice>) -> Self {
        let change_waits = Arc::default();
        Self { to, change_waits }
    }

    /// Never waits. A change is told however much there is to log, and one that waits is told for
    /// those that come meanwhile.
    pub(super) fn tools_changed(&self) {
        if self.to.try_send(Notice::ToolsChanged).is_ok()
            || self.change_waits.swap(true, Ordering::SeqCst)
        {
            return;
        }
        let this = self.clone();
        tokio::spawn(async move {
            let room = this.to.reserve().await;
            // Before it is told: a change from now on is one that whoever is told may not see.
            this.change_waits.store(false, Ordering::SeqCst);
            if let Ok(room) = room {
                room.send(Notice::ToolsChanged);
            }
        });
    }

    /// Never waits: a source that logs faster than a disk writes loses lines, not calls.
    pub(super) fn log(&self, line: String) {
        let _ = self.to.try_send(Notice::Log(line));
    }
}

/// Our end of a connection.
#[derive(Clone)]
pub(super) struct Handler {
    notices: Notices,
    watched: Arc<Watched>,
}

impl Handler {
    pub(super) const fn new(notices: Notices, watched: Arc<Watched>) -> Self {
        Self { notices, watched }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let form = FormElicitationCapability::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        let mut info = ClientConfig::new(
            capabilities,
            Implementation::new("packtrain", env!("CARGO_PKG_VERSION")),
        );
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    /// Nobody sits before a run: a form whose fields all have defaults is sent off with them, any
    /// other is declined.
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(elicited(&request))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let call = self.watched.all().get(&progress.progress_token).cloned();
        if let Some(call) = call {
            call.hear();
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.notices.tools_changed();
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let data = match &message.data {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let level = format!("{:?}", message.level).to_lowercase();
        self.notices.log(format!("[{level}] {data}"));
    }
}

/// The answer to a form that nobody sees.
pub(super) fn elicited(request: &ElicitRequestParams) -> ElicitResult {
    let ElicitRequestParams::FormElicitationParams {
        requested_schema, ..
    } = request
    else {
        return ElicitResult::new(ElicitationAction::Decline);
    };
    let schema = json!(requested_schema);
    let mut content = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(default) = field.get("default") {
            content.insert(name.clone(), default.clone());
        }
    }
    let required = schema["required"].as_array().into_iter().flatten();
    let complete = required
        .filter_map(Value::as_str)
        .all(|name| content.contains_key(name));
    if complete {
        ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content))
    } else {
        ElicitResult::new(ElicitationAction::Decline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_of_the_tools_is_told_however_much_there_is_to_log() {
        let (to, mut told) = mpsc::channel(4);
        let notices = Notices::new(to);
        for round in 0..3 {
            (0..10).for_each(|line| notices.log(format!("{round} {line}")));
            (0..10).for_each(|_| notices.tools_changed());
            for line in 0..4 {
                let notice = told.recv().await;
                assert!(
                    matches!(&notice, Some(Notice::Log(text)) if *text == format!("{round} {line}")),
                    "{notice:?}"
                );
            }
            assert!(matches!(told.recv().await, Some(Notice::ToolsChanged)));
            assert!(told.try_recv().is_err());
        }
    }
}
