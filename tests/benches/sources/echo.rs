//! The floor: axum that reads JSON and writes it again.

use axum::Router;
use axum::routing::post;
use axum::serve::ListenerExt;

pub(crate) fn run() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
        let router = Router::new().route(
            "/echo",
            post(async |body: axum::body::Bytes| {
                let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
                ([("content-type", "application/json")], value.to_string())
            }),
        );
        axum::serve(listener, router).await.unwrap();
    });
}
