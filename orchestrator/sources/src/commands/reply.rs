//! Serving typed commands: from a request to the session's own invoker and back.

use std::sync::Arc;

use packtrain_tools::{Answer, CapturedScreen, Typed};
use serde::Serialize;
use serde_json::{Value, json};

use super::message::{Field, IsMessage};
use super::messages::{
    ActionResult, EvaluateJsResponse, GetElementCountResponse, GetElementTextResponse,
    HasTextResponse, IsVisibleResponse, ScreenState, ShellResult,
};
use super::screens::ScreenFile;
use super::{Code, CommandCall, CommandError, SCREENS, find};
use crate::callback::Callbacks;
use crate::invocation::Entry;

/// Bytes of a compact list that a response carries.
const MAX_TEXT: usize = 64 * 1024;

impl Callbacks {
    /// Carries a typed command out.
    ///
    /// # Errors
    /// [`CommandError`].
    pub async fn command(
        &self,
        call: CommandCall<'_>,
        base_url: &str,
    ) -> Result<Value, CommandError> {
        let command = find(call.name)?;
        let entry = self.authorized(call.invocation)?;
        if entry.depth >= self.limits().max_depth {
            return Err(CommandError::new(
                Code::ResourceExhausted,
                format!(
                    "tools call each other {} deep, which is as deep as they may; is there a loop?",
                    entry.depth
                ),
            ));
        }
        let request: Value = match call.body {
            [] => json!({}),
            body => serde_json::from_slice(body).map_err(|error| {
                CommandError::new(
                    Code::InvalidArgument,
                    format!("{}: the body is not JSON: {error}", command.name),
                )
            })?,
        };
        if !request.is_object() {
            let message = format!("{}: the body is not a JSON object", command.name);
            return Err(CommandError::new(Code::InvalidArgument, message));
        }
        let mut answer = Answer::default();
        let begun = tokio::time::Instant::now();
        let registry = self.registry().snapshot();
        for planned in command.calls(request, entry.platform)? {
            let left = call
                .timeout
                .map(|timeout| timeout.saturating_sub(begun.elapsed()));
            let spec = registry.get(planned.tool).map(|tool| tool.spec());
            let (tool, arguments) = (planned.tool.to_owned(), planned.arguments);
            let dispatched = self.dispatched(&entry, tool, spec, arguments, left);
            answer = match dispatched.await {
                None => return Err(CommandError::invocation_ended()),
                Some(Ok(answer)) => answer,
                Some(Err(error)) => return Err(CommandError::of(command.name, error, left)),
            };
        }
        let made = Made {
            answer,
            keep: &|screen| self.invocations().keep(&entry.id, screen),
            base_url,
        };
        (command.respond)(made).ok_or_else(|| {
            CommandError::new(
                Code::Internal,
                format!("{}: unexpected answer from the device", command.name),
            )
        })
    }

    /// A file of a screen that a call captured.
    ///
    /// # Errors
    /// [`Code::Unauthenticated`] when the call has ended, [`Code::NotFound`] when there is no such
    /// file any more.
    pub fn screen(&self, name: &str, invocation: Option<&str>) -> Result<ScreenFile, CommandError> {
        let entry = self.authorized(invocation)?;
        let file = name.split_once('.').and_then(|(id, ending)| {
            let screen = self.invocations().captured(&entry.id, id)?;
            ScreenFile::of(&screen, ending)
        });
        file.ok_or_else(|| {
            CommandError::new(
                Code::NotFound,
                "this capture is gone: fetch it before three more are made, and with the \
                 client of the same call",
            )
        })
    }

    /// The call whose id is the credential.
    fn authorized(&self, invocation: Option<&str>) -> Result<Entry, CommandError> {
        let id = invocation.filter(|id| !id.is_empty()).ok_or_else(|| {
            CommandError::new(
                Code::Unauthenticated,
                "no invocation id: send `Authorization: Bearer` with the `invocationId` that came \
                 in `_meta.trailblaze`",
            )
        })?;
        let found = self.invocations().find(Some(id));
        found.map_err(|_| CommandError::invocation_ended())
    }
}

/// What a response is made of.
pub(super) struct Made<'a> {
    answer: Answer,
    /// Keeps a screen, while the call is under way; its id.
    keep: &'a dyn Fn(Arc<CapturedScreen>) -> Option<String>,
    base_url: &'a str,
}

/// A response that is made of what the last tool answered; `None` when it is of another kind.
pub(super) trait Response: IsMessage + Serialize + Sized {
    fn of(made: Made<'_>) -> Option<Self>;
}

/// A response in JSON, without what is not there.
pub(super) fn response<A: Response>(made: Made<'_>) -> Option<Value> {
    let mut value = serde_json::to_value(A::of(made)?).ok()?;
    let message = A::MESSAGE;
    let optional = message.fields.iter().filter(|field| !field.required);
    let names: Vec<_> = optional.map(Field::json_name).collect();
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, value| !(value.is_null() && names.contains(name)));
    }
    Some(value)
}

impl Response for ActionResult {
    fn of(made: Made<'_>) -> Option<Self> {
        let message = made.answer.text.filter(|text| !text.is_empty());
        Some(Self { message })
    }
}

impl Response for ShellResult {
    fn of(made: Made<'_>) -> Option<Self> {
        let output = made.answer.text.unwrap_or_default();
        Some(Self { output })
    }
}

impl Response for EvaluateJsResponse {
    fn of(made: Made<'_>) -> Option<Self> {
        match made.answer.typed? {
            Typed::Value(result) => Some(Self { result }),
            Typed::Screen(_) => None,
        }
    }
}

impl Response for ScreenState {
    fn of(made: Made<'_>) -> Option<Self> {
        let Typed::Screen(screen) = made.answer.typed? else {
            return None;
        };
        let id = (made.keep)(Arc::clone(&screen))?;
        let url = format!("{}/{SCREENS}/{id}", made.base_url);
        let snapshot = &screen.snapshot;
        let end = snapshot.text.floor_char_boundary(MAX_TEXT);
        Some(Self {
            width: snapshot.screen.width,
            height: snapshot.screen.height,
            location: snapshot.location.clone(),
            title: snapshot.title.clone(),
            text: snapshot.text[..end].to_owned(),
            truncated: (end < snapshot.text.len()).then_some(true),
            screenshot_url: format!("{url}.png"),
            tree_url: format!("{url}.json"),
        })
    }
}

/// What a question is answered with is the response.
macro_rules! answers {
    ($($name:ident),*) => {$(
        impl Response for $name {
            fn of(made: Made<'_>) -> Option<Self> {
                serde_json::from_value(made.answer.data?).ok()
            }
        }
    )*};
}
answers!(
    IsVisibleResponse,
    HasTextResponse,
    GetElementTextResponse,
    GetElementCountResponse
);
