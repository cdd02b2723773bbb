//! Ctrl-C and SIGTERM: once stops gracefully, twice ends at once.

use packtrain_engine::{Stop, StopReason};
use packtrain_model::Exit;
use tokio_util::task::AbortOnDropHandle;

use crate::render;

/// Listens for as long as the handle lives.
pub fn on_signals(stop: Stop) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        signal().await;
        render::say("stopping: devices are released and reports are written; again ends at once");
        stop.request(StopReason::Interrupt);
        signal().await;
        stop.request(StopReason::SecondInterrupt);
        render::say("ended at once");
        // What we started watches the pipes that close with us.
        std::process::exit(i32::from(Exit::Infrastructure.code()));
    }))
}

/// Ends with the next Ctrl-C or SIGTERM.
pub async fn signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending::<()>();
    tokio::select! {
        _ = interrupt => {}
        () = terminate => {}
    }
}
