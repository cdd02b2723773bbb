//! A small site on loopback, with the things browsers trip over.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse};
use axum::routing::{get, post};
use futures::stream::{self, StreamExt};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

/// The site, up as long as this lives.
pub(crate) struct Site {
    address: SocketAddr,
    /// Sends the second half of what is downloaded slowly.
    pub(crate) release: Arc<Notify>,
    _task: AbortOnDropHandle<()>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let release = Arc::new(Notify::new());
        let slow = Arc::clone(&release);
        let held = Arc::new(Held::default());
        let releases = Arc::clone(&held);
        let app = Router::new()
            .route("/slow", get(move || download(Arc::clone(&slow))))
            .route("/", get(|| async { Html(INDEX) }))
            .route(
                "/second",
                get(|| async { Html("<title>Second</title><h1>Second page</h1>") }),
            )
            .route("/restless", get(|| async { Html(RESTLESS) }))
            .route(
                "/popup",
                get(|| async { Html("<title>Popup</title><p>In the popup</p>") }),
            )
            .route("/router", get(|| async { Html(ROUTER) }))
            .route("/hash", get(|| async { Html(HASH_ROUTER) }))
            .route("/oops", get(|| async { Html(OOPS) }))
            .route("/everything", get(|| async { Html(EVERYTHING) }))
            .route("/kept", get(|| async { Html(KEPT) }))
            .route("/flag", get(flag))
            .route("/page", get(page))
            .route(
                "/held",
                get(async move |RawQuery(key)| held.wait(key).await),
            )
            .route(
                "/release",
                get(async move |RawQuery(key)| releases.release(key)),
            )
            .route("/nothing", get(|| async { StatusCode::NO_CONTENT }))
            .route("/track", post(|| async { "ok" }))
            .route(
                "/broken",
                get(|| async { (StatusCode::INTERNAL_SERVER_ERROR, "no") }),
            )
            .route(
                "/file",
                get(|| async {
                    (
                        [(
                            header::CONTENT_DISPOSITION,
                            "attachment; filename=\"report.txt\"",
                        )],
                        "content",
                    )
                }),
            );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            axum::serve(listener, app).await.unwrap();
        });
        Self {
            address,
            release,
            _task: AbortOnDropHandle::new(task),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The address of a page of this content.
    pub(crate) fn page(&self, html: &str) -> String {
        let hex: String = html.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{}page?{hex}", self.url())
    }
}

/// Pages that come when a client with their key asks for them.
#[derive(Default)]
struct Held(Mutex<HashMap<Option<String>, Arc<Notify>>>);

impl Held {
    fn of(&self, key: Option<String>) -> Arc<Notify> {
        Arc::clone(self.0.lock().entry(key).or_default())
    }

    async fn wait(&self, key: Option<String>) -> Html<&'static str> {
        self.of(key).notified().await;
        Html("<title>Held</title><h1>Held page</h1>")
    }

    fn release(&self, key: Option<String>) {
        self.of(key).notify_one();
    }
}

async fn flag(headers: HeaderMap) -> Html<String> {
    let flag = headers.get("x-flag").and_then(|flag| flag.to_str().ok());
    Html(flag.unwrap_or("none").to_owned())
}

/// Says what its address says, in hexadecimal digits.
async fn page(RawQuery(query): RawQuery) -> Html<Vec<u8>> {
    let digits = query.unwrap_or_default();
    let bytes =
        (0..digits.len() / 2).map(|n| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).unwrap());
    Html(
        b"<!doctype html><meta charset=utf-8>"
            .iter()
            .copied()
            .chain(bytes)
            .collect(),
    )
}

async fn download(release: Arc<Notify>) -> impl IntoResponse {
    let rest = async move {
        release.notified().await;
        Ok::<_, Infallible>("content".to_owned())
    };
    let content = stream::once(async { Ok("slow ".repeat(20_000)) }).chain(stream::once(rest));
    (
        [
            (header::CONTENT_TYPE, "application/octet-stream"),
            (header::CONTENT_DISPOSITION, "attachment; filename=slow.txt"),
        ],
        Body::from_stream(content),
    )
}

/// A page that is left as soon as it is there.
const RESTLESS: &str = "<title>Restless</title><script>onload = () => setTimeout(() => location = '/second', 15)</script>";

/// An app of one page that puts entries into the history by itself. `Dialog` does so without
/// another address.
const ROUTER: &str = "<title>Router</title><h1 id=view></h1>
<button onclick=\"history.pushState('Cart', '', '/router/cart'); show()\">Cart</button>
<button onclick=\"history.pushState('Dialog', ''); show()\">Dialog</button>
<script>function show() { view.textContent = history.state ?? 'Start' } onpopstate = show; show()</script>";

/// The same by the part behind the `#`.
const HASH_ROUTER: &str = "<title>Hash</title><h1 id=view></h1><a href='#/cart'>Cart</a>
<script>function show() { view.textContent = location.hash || 'Start' } onhashchange = show; show()</script>";

/// A page that a browser may keep as it was when it is left.
const KEPT: &str = "<title>Kept</title><h1>Kept page</h1><a href='/second'>Second</a><p id=shown></p>
<script>onpageshow = (event) => { shown.textContent = event.persisted ? 'kept' : 'shown anew' }</script>";

/// Not the page that was expected, though it has as many elements.
const OOPS: &str = "<title>Oops</title><h1>Oops</h1><p>Something went wrong</p>
<ul aria-label=Errors><li>First</li><li hidden>Second</li></ul>
<label>Name <input id=name value=Nobody></label>
<label>Note <textarea id=note>Began with this</textarea></label>
<select id=size aria-label=Size><option value=s>Small<option value=l>Large</select>
<p id=tasks>11 tasks left today</p><p id=empty></p>";

/// One of everything that a snapshot numbers, in the order of the numbers, and some things twice.
const EVERYTHING: &str = "<title>Everything</title><style>[data-n] { display: block }</style>
<h1 data-n=1>Heading</h1><p data-n=2>A <b>bold</b> paragraph<span hidden> with a secret</span></p>
<ul><li data-n=3>Item</li><li data-n=4>Item</li><li data-n=5 aria-label=Named>Item</li></ul>
<button data-n=6></button><button data-n=7>Save</button><button data-n=8></button>
<input data-n=9><input data-n=10 value=typed><input data-n=11 aria-label=Named value=typed>
<textarea data-n=12>Began</textarea><a href=# data-n=13>Link</a><img data-n=14 alt=Logo width=20 height=20>
<div role=status data-n=15>Saved</div><dl><dt data-n=16>Term</dt><dd data-n=17>Meaning</dd></dl>
<blockquote data-n=18>Quote: 'it' is \"said\"</blockquote><time data-n=19>/noon/</time>
<script>onmousemove = (event) => over = event.target.closest('[data-n]')?.dataset.n</script>";

const INDEX: &str = r##"<!doctype html><meta name="viewport" content="width=device-width"><title>Index</title>
<main>
<h1>Shop</h1>
<label>Email <input id="email" type="email"></label>
<select aria-label="Size"><option value="s">Small</option><option value="l">Large</option></select>
<ul aria-label="Fruit"><li>Apple <button>Add</button></li><li>Pear <button>Add</button></li></ul>
<p>Current value: <span id="count">0</span></p>
<p hidden>Secret text</p>
<button onclick="count.textContent = +count.textContent + 1">More</button>
<button onclick="setTimeout(() => main2.innerHTML = '<b>Arrived late</b>', 300)">Later</button>
<button onclick="document.title = confirm('Really?') ? 'yes' : 'no'">Ask</button>
<button onclick="fetch('/track', {method: 'POST', body: JSON.stringify({event: 'Checkout-Started'})})">Track</button>
<button onclick="fetch('/broken'); console.error('it broke')">Break</button>
<button onclick="setTimeout(() => { throw new Error('nobody caught me') })">Throw</button>
<a href="/second">Second</a> <a href="/popup" target="_blank">Popup</a> <a href="/file">Download</a> <a href="/slow">Slow download</a>
<div id="main2"></div>
<div id="box" style="height: 80px; overflow: auto" tabindex="0" aria-label="Box" role="region">
<div style="height: 900px">top</div><p>Bottom of the box</p></div>
</main>"##;
