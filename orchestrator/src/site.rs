//! The example shop's pages, served on loopback for as long as they are needed.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio_util::task::AbortOnDropHandle;

/// Every file of the site: name, media type, content.
const FILES: [(&str, &str, &str); 10] = [
    (
        "index.html",
        "text/html",
        include_str!("../../examples/shop/web/index.html"),
    ),
    (
        "products.html",
        "text/html",
        include_str!("../../examples/shop/web/products.html"),
    ),
    (
        "product.html",
        "text/html",
        include_str!("../../examples/shop/web/product.html"),
    ),
    (
        "cart.html",
        "text/html",
        include_str!("../../examples/shop/web/cart.html"),
    ),
    (
        "checkout.html",
        "text/html",
        include_str!("../../examples/shop/web/checkout.html"),
    ),
    (
        "thanks.html",
        "text/html",
        include_str!("../../examples/shop/web/thanks.html"),
    ),
    (
        "signup.html",
        "text/html",
        include_str!("../../examples/shop/web/signup.html"),
    ),
    (
        "welcome.html",
        "text/html",
        include_str!("../../examples/shop/web/welcome.html"),
    ),
    (
        "shop.css",
        "text/css",
        include_str!("../../examples/shop/web/shop.css"),
    ),
    (
        "shop.js",
        "text/javascript",
        include_str!("../../examples/shop/web/shop.js"),
    ),
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
    match FILES.iter().find(|(file, ..)| *file == name) {
        Some((_, kind, content)) => {
            let more = if *kind == "text/css" { style } else { "" };
            let kind = format!("{kind}; charset=utf-8");
            ([(header::CONTENT_TYPE, kind)], format!("{content}{more}")).into_response()
        }
        None => (StatusCode::NOT_FOUND, "no such page").into_response(),
    }
}
