//! The example shop's pages, served on loopback for as long as they are needed.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio_util::task::AbortOnDropHandle;

macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../examples/shop/web/", $name)),
        )
    };
}

/// Every file of the site: name, content.
const FILES: [(&str, &str); 10] = [
    file!("index.html"),
    file!("products.html"),
    file!("product.html"),
    file!("cart.html"),
    file!("checkout.html"),
    file!("thanks.html"),
    file!("signup.html"),
    file!("welcome.html"),
    file!("shop.css"),
    file!("shop.js"),
];

/// The site, up as long as this lives.
pub struct Site {
    address: SocketAddr,
    _server: AbortOnDropHandle<()>,
}

impl Site {
    /// Starts it on a free port, with more style sheet behind its own.
    ///
    /// # Errors
    /// When there is no loopback to listen on.
    pub async fn start(style: &'static str) -> std::io::Result<Self> {
        let app = Router::new()
            .route("/web/{file}", get(move |name| file(name, style)))
            .route("/web/events", post(|| async { StatusCode::NO_CONTENT }))
            .route("/events", post(|| async { StatusCode::NO_CONTENT }));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, app).await {
                tracing::warn!(%error, "the example shop's server ended");
            }
        });
        Ok(Self {
            address,
            _server: AbortOnDropHandle::new(server),
        })
    }

    /// The base address under which the example trails find their pages.
    pub fn base_url(&self) -> String {
        format!("http://{}/trails/", self.address)
    }
}

async fn file(Path(name): Path<String>, style: &'static str) -> Response {
    let Some((_, content)) = FILES.iter().find(|(file, _)| *file == name) else {
        return (StatusCode::NOT_FOUND, "no such page").into_response();
    };
    let (kind, more) = match name.rsplit('.').next() {
        Some("css") => ("css", style),
        Some("js") => ("javascript", ""),
        _ => ("html", ""),
    };
    let kind = format!("text/{kind}; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], format!("{content}{more}")).into_response()
}
