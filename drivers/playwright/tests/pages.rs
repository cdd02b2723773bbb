//! Folders of pages on loopback, each an origin of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::IntoResponse;
use tokio_util::task::AbortOnDropHandle;

/// A folder that is served as long as this lives.
pub(crate) struct Pages {
    folder: Arc<PathBuf>,
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

impl Pages {
    /// Serves a [`folder`].
    pub(crate) async fn serve(folder: impl AsRef<Path>) -> Self {
        let folder = Arc::new(self::folder(folder));
        let served = Arc::clone(&folder);
        let app = Router::new().fallback(move |uri: Uri| answer(Arc::clone(&served), uri));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            axum::serve(listener, app).await.unwrap();
        });
        Self {
            folder,
            address,
            _task: AbortOnDropHandle::new(task),
        }
    }

    pub(crate) fn url(&self, page: &str) -> String {
        format!("http://{}/{page}", self.address)
    }

    /// The pages right in the folder, by name.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&*self.folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.ends_with(".html")).collect();
        names.sort();
        names
    }
}

/// A folder below `tests/pages`, or any other by its whole path.
pub(crate) fn folder(name: impl AsRef<Path>) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pages")).join(name)
}

async fn answer(folder: Arc<PathBuf>, uri: Uri) -> impl IntoResponse {
    let path = uri.path().trim_start_matches('/');
    let kind = match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html" | "htm") => "text/html",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    match std::fs::read(folder.join(path)) {
        Ok(content) => (StatusCode::OK, [(header::CONTENT_TYPE, kind)], content),
        Err(_) => (
            StatusCode::NOT_FOUND,
            [(header::CONTENT_TYPE, kind)],
            vec![],
        ),
    }
}
