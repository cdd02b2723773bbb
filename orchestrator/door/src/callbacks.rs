//! `POST /scripting/callback`: the door that callbacks of tools come in by. Typed commands come in by
//! it too.

use std::io;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use packtrain_sources::{CallbackReply, Callbacks};

use super::commands;
use super::door::{Door, Policy, Refusal, Serving, size};

const CALLBACK: &str = "/scripting/callback";

/// A port for callbacks, up as long as this lives.
pub struct CallbackServer(Door);

impl CallbackServer {
    /// Takes a free port of loopback.
    ///
    /// # Errors
    /// When the system has none.
    pub async fn bind() -> io::Result<Self> {
        let policy = Policy {
            refusal: refused,
            ..Policy::callbacks()
        };
        Ok(Self(Door::bind(policy).await?))
    }

    /// Where it is.
    pub fn base_url(&self) -> String {
        self.0.base_url()
    }

    /// Answers callbacks, as long as the handle lives.
    pub fn serve(self, callbacks: Callbacks) -> Serving {
        let router = Router::new()
            .route(CALLBACK, post(answer))
            .with_state(callbacks.clone())
            .merge(commands::router(callbacks, self.base_url()));
        self.0.serve(router)
    }
}

async fn answer(State(callbacks): State<Callbacks>, body: Bytes) -> Response {
    match callbacks.answer(&body).await {
        CallbackReply::Json(reply) => (
            [(header::CONTENT_TYPE, "application/json")],
            reply.to_string(),
        )
            .into_response(),
        CallbackReply::Malformed(why) => (StatusCode::BAD_REQUEST, why).into_response(),
    }
}

/// What is said to whom the guard does not let in: typed commands have an error of their own.
fn refused(refusal: &Refusal, path: &str) -> Response {
    if path != CALLBACK {
        return commands::refused_by(refusal, path);
    }
    let message = match refusal {
        Refusal::Origin => "Scripting callback is not available to pages of a browser".to_owned(),
        Refusal::TooLarge { declared, most } => format!(
            "JsScriptingCallbackRequest body size {} exceeds max {most} bytes",
            size(*declared, *most)
        ),
        Refusal::TooSlow(_) | Refusal::Unreadable(_) => {
            format!("Failed to read request body: {refusal}")
        }
        Refusal::Host
        | Refusal::Method(_)
        | Refusal::Unauthorized
        | Refusal::NotFound
        | Refusal::MediaType
        | Refusal::TooMany => refusal.to_string(),
    };
    (refusal.status(), message).into_response()
}
