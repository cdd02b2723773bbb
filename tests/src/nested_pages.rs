//! Pages within pages: frames of two origins in each other, and open shadow trees in all of them.
//!
//! Every part of it has the same fields, called after the part, so that one story can be told of each:
//!
//! | part | where it is |
//! |---|---|
//! | `Page` | in the page itself |
//! | `Shadow` | in a shadow tree within a shadow tree of the page |
//! | `Other` | in a frame of another origin |
//! | `Inner` | in a frame of the page's origin within that |
//! | `Deep` | in a shadow tree of the innermost frame |
//!
//! A part `Page` has `textbox "Page name"`, `combobox "Page size"` (Small, Large), `checkbox "Page gift"`
//! and `button "Page send"`. Sent, it says after a moment `Page has Ada, Large, gift`.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// The pages, up as long as the process.
pub struct NestedPages {
    port: u16,
    other: u16,
}

impl NestedPages {
    /// Serves them at two ports of loopback.
    pub fn start() -> Self {
        let listeners = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [port, other] = listeners
            .each_ref()
            .map(|listener| listener.local_addr().unwrap().port());
        for listener in listeners {
            std::thread::spawn(move || {
                for connection in listener.incoming().map_while(Result::ok) {
                    std::thread::spawn(move || answer(connection, port, other));
                }
            });
        }
        Self { port, other }
    }

    /// The address of the page that holds all others.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/page", self.port)
    }

    /// The address of the frame of the other origin. It is another site too, so that Chromium renders
    /// it in a process of its own.
    pub fn other(&self) -> String {
        format!("http://localhost:{}/other", self.other)
    }
}

fn answer(mut connection: TcpStream, port: u16, other: u16) {
    let mut request = [0; 8192];
    let length = connection.read(&mut request).unwrap_or_default();
    let request = String::from_utf8_lossy(&request[..length]);
    let body = match request.split(' ').nth(1) {
        Some("/page") => {
            let shadow = shadow(&shadow(&part("Shadow")));
            let frame = frame(
                "Shop of others",
                700,
                &format!("http://localhost:{other}/other"),
            );
            format!("<h1>Nested pages</h1>{}{shadow}{frame}", part("Page"))
        }
        Some("/other") => {
            let frame = frame(
                "Back at home",
                420,
                &format!("http://127.0.0.1:{port}/inner"),
            );
            format!("<h2>Other origin</h2>{}{frame}", part("Other"))
        }
        Some("/inner") => format!(
            "<h3>Innermost</h3>{}{}",
            part("Inner"),
            shadow(&part("Deep"))
        ),
        _ => String::new(),
    };
    if body.is_empty() {
        let _ = connection
            .write_all(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Nested pages</title>{SCRIPT}{body}"
    );
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n";
    // A browser may have thought better of it.
    let _ = write!(
        connection,
        "{head}Content-Length: {}\r\n\r\n{page}",
        page.len()
    );
}

fn frame(title: &str, height: u32, address: &str) -> String {
    format!("<iframe title='{title}' width=900 height={height} src='{address}'></iframe>")
}

fn shadow(inner: &str) -> String {
    format!("<x-part><template shadowrootmode=open>{inner}</template></x-part>")
}

fn part(name: &str) -> String {
    format!(
        "<form onsubmit='send(event)' data-part={name}><input name=who aria-label='{name} name'>\
         <select name=size aria-label='{name} size'><option>Small<option>Large</select>\
         <label><input name=gift type=checkbox> {name} gift</label>\
         <button>{name} send</button><p role=status></p></form>"
    )
}

const SCRIPT: &str = "<script>const MOMENT = 300; function send(event) {
  event.preventDefault();
  const form = event.target;
  const said = `${form.dataset.part} has ${form.who.value}, ${form.size.value}${form.gift.checked ? ', gift' : ''}`;
  setTimeout(() => form.lastElementChild.textContent = said, MOMENT);
}</script>";
