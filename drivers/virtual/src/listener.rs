//! Taking connections for as long as a fleet runs.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// What listens, for as long as its shutdown token is not cancelled.
#[derive(Debug, Clone, Default)]
pub struct ListenerScope {
    /// Ends it and every connection.
    pub shutdown: CancellationToken,
    /// Who waits for its tasks.
    pub tasks: TaskTracker,
}

impl ListenerScope {
    /// Serves each connection of `listener` in a task of its own.
    pub(crate) fn accept<F: Future<Output = ()> + Send + 'static>(
        &self,
        listener: TcpListener,
        serve: impl Fn(TcpStream, SocketAddr) -> F + Send + 'static,
    ) {
        let Self { shutdown, tasks } = self.clone();
        self.tasks.spawn(async move {
            while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
                match accepted {
                    Ok((stream, peer)) => {
                        // Small messages that wait for an answer: Nagle would cost 40 ms each.
                        let _ = stream.set_nodelay(true);
                        let (client, stop) = (serve(stream, peer), shutdown.clone());
                        tasks.spawn(async move { stop.run_until_cancelled_owned(client).await });
                    }
                    Err(error) => {
                        // Out of file descriptors, usually: let others close some.
                        tracing::warn!(%error, "a client could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        });
    }
}
