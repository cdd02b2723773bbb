//! The shop and published pages on loopback. One recording at a time says which defect the shop has.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

/// What the shop is asked to be.
#[derive(Clone, Copy)]
pub(crate) struct Variant {
    /// `d01`, or `none`.
    pub(crate) defect: &'static str,
    /// What becomes of the links on a narrow screen: `hidden`, or `unmounted` until the menu is opened.
    pub(crate) menu: &'static str,
}

/// A shop that is right.
pub(crate) const RIGHT: Variant = Variant {
    defect: "none",
    menu: "hidden",
};

/// A server, for as long as the program runs.
pub(crate) struct Server {
    address: SocketAddr,
    variant: Arc<Mutex<Variant>>,
}

impl Server {
    /// Serves the shop from one folder and `sites/` from another. A screen's tree has the page's address:
    /// the port is that of earlier recordings, kept in a file, while it is free.
    pub(crate) fn start(app: &Path, sites: &Path, port: &Path) -> std::io::Result<Self> {
        let last = std::fs::read_to_string(port).unwrap_or_default();
        let listener = TcpListener::bind(format!("127.0.0.1:{}", last.trim()))
            .or_else(|_| TcpListener::bind("127.0.0.1:0"))?;
        std::fs::write(port, listener.local_addr()?.port().to_string())?;
        let server = Self {
            address: listener.local_addr()?,
            variant: Arc::new(Mutex::new(RIGHT)),
        };
        let folders = Arc::new([app.to_owned(), sites.to_owned()]);
        let variant = Arc::clone(&server.variant);
        thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (folders, variant) = (Arc::clone(&folders), Arc::clone(&variant));
                thread::spawn(move || {
                    let variant = *variant.lock();
                    // A browser that hangs up has what it wanted.
                    let _ = answer(&stream, &folders, variant);
                });
            }
        });
        Ok(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn show(&self, variant: Variant) {
        *self.variant.lock() = variant;
    }
}

fn answer(mut stream: &TcpStream, folders: &[PathBuf; 2], variant: Variant) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    // All of the request is read, or closing the connection would reset it.
    let _ = lines.find(String::is_empty);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_start_matches('/').replace("%20", " ");
    let (status, body) = match path.as_str() {
        "api/stock" if variant.defect == "d15" => ("500 Internal Server Error", Vec::new()),
        "api/stock" => ("200 OK", b"[12, 1240, 86]".to_vec()),
        path => {
            let file = match path.strip_prefix("sites/") {
                Some(path) => folders[1].join(path),
                None => folders[0].join(path),
            };
            let file = if file.is_dir() {
                file.join("index.html")
            } else {
                file
            };
            let is_inside = !path.split('/').any(|part| part == "..");
            match std::fs::read(file).ok().filter(|_| is_inside) {
                Some(body) => ("200 OK", body),
                None => ("404 Not Found", Vec::new()),
            }
        }
    };
    let body = if path == "index.html" {
        let page = String::from_utf8_lossy(&body);
        let page = page.replace(
            "data-defect=\"none\"",
            &format!("data-defect=\"{}\"", variant.defect),
        );
        let menu = format!("data-menu=\"{}\"", variant.menu);
        page.replace("data-menu=\"hidden\"", &menu).into_bytes()
    } else {
        body
    };
    let kind = match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "api/stock") => "application/json",
        Some("png" | "jpg") => "image/png",
        Some("woff" | "woff2" | "ttf") => "font/woff2",
        _ => "text/html; charset=utf-8",
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}
