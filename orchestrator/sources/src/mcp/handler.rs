//! What a server asks of us and tells us unasked.
#![expect(
    deprecated,
    reason = "servers of before send their log this way until July 2027"
)]

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Notice;

/// Notes that a call keeps; what comes after is in the source's log.
const MAX_NOTES: usize = 10;
/// Bytes of a question that its note quotes.
const MAX_NOTED_MESSAGE: usize = 200;

/// Calls whose progress counts.
#[derive(Default)]
pub(super) struct ProgressCalls(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    all: HashMap<ProgressToken, CallProgress>,
    /// Notes of a call that was sent and is not watched yet: a server may be quicker than we are.
    early: Vec<String>,
}

/// When a call was last heard of, and what its report shall note.
pub(super) struct CallProgress {
    heard: Instant,
    notes: Vec<String>,
}

impl CallProgress {
    /// Of a call that was just sent.
    pub(super) fn begun() -> Self {
        Self {
            heard: Instant::now(),
            notes: Vec::new(),
        }
    }
}

/// Adds a note, as long as there are not too many.
fn add(notes: &mut Vec<String>, note: &str) {
    if notes.len() < MAX_NOTES {
        notes.push(note.to_owned());
    }
}

impl ProgressCalls {
    pub(super) fn watch(&self, token: ProgressToken, mut call: CallProgress) {
        let mut calls = self.0.lock();
        for note in calls.early.drain(..) {
            add(&mut call.notes, &note);
        }
        calls.all.insert(token, call);
    }

    /// When a call was last heard of; never, when it is not watched.
    pub(super) fn heard(&self, token: &ProgressToken) -> Option<Instant> {
        self.0.lock().all.get(token).map(|call| call.heard)
    }

    /// A call was heard of.
    pub(super) fn hear(&self, token: &ProgressToken) {
        if let Some(call) = self.0.lock().all.get_mut(token) {
            call.heard = Instant::now();
        }
    }

    /// Notes something for a call.
    pub(super) fn note_on(&self, token: &ProgressToken, note: &str) {
        if let Some(call) = self.0.lock().all.get_mut(token) {
            add(&mut call.notes, note);
        }
    }

    /// Notes something for every call; which one it is about is not known.
    pub(super) fn note(&self, note: &str) {
        let mut calls = self.0.lock();
        if calls.all.is_empty() {
            add(&mut calls.early, note);
        }
        for call in calls.all.values_mut() {
            add(&mut call.notes, note);
        }
    }

    pub(super) fn take_notes(&self, token: &ProgressToken) -> Vec<String> {
        let mut calls = self.0.lock();
        let call = calls.all.get_mut(token);
        call.map_or_else(Vec::new, |call| std::mem::take(&mut call.notes))
    }

    pub(super) fn forget(&self, token: &ProgressToken) -> Option<CallProgress> {
        self.0.lock().all.remove(token)
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

    /// Never waits. A change is reported however much there is to log, and one that waits is reported for
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
            // Before the notification: its receiver may not see a later change.
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
    watched: Arc<ProgressCalls>,
}

impl Handler {
    pub(super) const fn new(notices: Notices, watched: Arc<ProgressCalls>) -> Self {
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

    /// No person watches a run: see [`elicited`].
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let (answer, note) = elicited(&request);
        self.notices.log(format!("[packtrain] {note}"));
        // The request does not say which call it belongs to.
        self.watched.note(&note);
        Ok(answer)
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.watched.hear(&progress.progress_token);
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

/// The answer to a form that no person sees, and a note of it. Who asks for consent gets none: only
/// where the server has answered every field itself, by a default, is the form sent.
pub(super) fn elicited(request: &ElicitRequestParams) -> (ElicitResult, String) {
    let (message, fields) = match request {
        ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } => (
            message.as_str(),
            json!(requested_schema)["properties"].take(),
        ),
        ElicitRequestParams::UrlElicitationParams { message, .. } => {
            (message.as_str(), Value::Null)
        }
        _ => ("for something unknown", Value::Null),
    };
    let fields = fields.as_object().cloned().unwrap_or_default();
    let defaults = fields.iter().map(|(name, field)| {
        let default = field.get("default")?;
        Some((name.clone(), default.clone()))
    });
    let defaults: Option<Map<_, _>> = defaults.collect();
    let end = message.floor_char_boundary(MAX_NOTED_MESSAGE);
    let asked = format!("its source asked {:?}", &message[..end]);
    match defaults.filter(|defaults| !defaults.is_empty()) {
        Some(defaults) => (
            ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(defaults)),
            format!("{asked}: no person is there, so the form was sent with its defaults"),
        ),
        None => (
            ElicitResult::new(ElicitationAction::Decline),
            format!("{asked}: declined, because nobody is there to answer"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_answered_is_declined_and_noted() {
        let asked = |properties: Value| {
            let required: Vec<_> = Vec::<String>::new();
            let schema =
                json!({ "type": "object", "properties": properties, "required": required });
            let request =
                json!({ "mode": "form", "message": "Delete all?", "requestedSchema": schema });
            let (answer, note) = elicited(&serde_json::from_value(request).unwrap());
            assert!(note.contains("Delete all?"), "{note}");
            (json!(answer), note)
        };
        let declined = [
            json!({}),
            json!({ "sure": { "type": "boolean" } }),
            json!({ "sure": { "type": "boolean", "default": true }, "why": { "type": "string" } }),
        ];
        for properties in declined {
            let (answer, note) = asked(properties);
            assert_eq!(answer["action"], "decline");
            assert!(note.contains("declined"), "{note}");
        }
        let (answer, note) = asked(json!({ "name": { "type": "string", "default": "Ada" } }));
        assert_eq!(
            answer,
            json!({ "action": "accept", "content": { "name": "Ada" } })
        );
        assert!(note.contains("sent with its defaults"), "{note}");
    }

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
