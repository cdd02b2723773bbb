//! What is observed is what the page shows then, whatever changed it since it was observed before.

use std::time::Duration;

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{
    Command, CommandContext, Direction, DriverError, Observation, ObserveOptions, Observed,
    Screenshot, SessionOptions, Size, Snapshot, SnapshotDetail, WebCommand, WebTarget,
};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_css, click};
use crate::defects::observed;
use crate::shop;
use crate::site::Site;
use crate::stories::stories;

stories! {
    chromium:
    a_page_that_could_not_be_observed_in_time_goes_on
    what_only_a_picture_shows_changes_the_picture_alone
    what_was_scrolled_is_told_where_it_is_now
    whatever_changes_a_page_is_told_when_it_is_observed_again
    a_picture_shows_what_its_tree_tells_however_soon_the_page_changes
    a_page_whose_timers_come_late_is_waited_for
    a_shadow_tree_that_changes_is_waited_for
    every_kind_of_document_is_told_as_it_is_read_otherwise;
    firefox:
    whatever_changes_a_page_is_told_when_it_is_observed_again
    a_picture_shows_what_its_tree_tells_however_soon_the_page_changes
    a_page_whose_timers_come_late_is_waited_for
    a_shadow_tree_that_changes_is_waited_for
    every_kind_of_document_is_told_as_it_is_read_otherwise;
}

async fn begin(device: &mut Device, engine: &str) {
    let axes = [("engine".to_owned(), engine.to_owned())];
    let options = SessionOptions {
        axes: axes.into_iter().collect(),
        ..SessionOptions::default()
    };
    device.ok(Command::Begin(options)).await;
}

/// Observes, and reads the page by itself: both have to say the same.
async fn told(device: &mut Device) -> Observed {
    let seen = observed(device, true).await;
    let whole = SnapshotDetail {
        bounds: true,
        ..SnapshotDetail::default()
    };
    let Observation::Snapshot(read) = device.ok(Command::Snapshot(whole)).await else {
        panic!()
    };
    // The screen's size is the viewport's by one, and the window's by the other.
    let screen = seen.snapshot.screen;
    assert_eq!(seen.snapshot, Snapshot { screen, ..*read });
    seen
}

fn png(seen: &Observed) -> &[u8] {
    let Some(Screenshot { png, .. }) = &seen.picture else {
        panic!()
    };
    png
}

const PAGE: &str = "<style>
      #hover { display: none } #card:hover #hover { display: block }
      @media (max-width: 700px) { #wide { display: none } }
      @keyframes go { to { visibility: hidden } }
    </style>
    <h1 id=text>Before</h1><input id=field aria-label=Name><p id=wide>Wide</p>
    <div id=card style='width: 200px; height: 60px; background: silver'>Card<p id=hover>Hovered</p></div>
    <canvas id=canvas width=40 height=40></canvas><iframe id=frame srcdoc='<p>In the frame</p>'></iframe>
    <div id=host></div><button id=late onclick=\"setTimeout(() => text.textContent = 'Late', 40)\">Soon</button>
    <p id=fading>Fading</p><div id=list style='height: 60px; overflow: auto'><a href=#a>First</a><div style='height: 900px'></div><a href=#b>Last</a></div>
    <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>Shadow before</p>'</script>";

/// What changes the page, what is told then, and what is not told any more.
fn changes() -> Vec<(Command, &'static str, &'static str)> {
    let script = |script: &str| Command::Web(WebCommand::Evaluate(format!("{script}, 1")));
    let web = Command::Web;
    vec![
        (script("text.textContent = 'After'"), "After", "Before"),
        (script("field.value = 'Ada'"), "Ada", "Eve"),
        (
            web(WebCommand::Type {
                target: by_css("#field"),
                text: "Eve".to_owned(),
                clear_first: true,
            }),
            "Eve",
            "Ada",
        ),
        (
            web(WebCommand::Hover {
                target: by_css("#card"),
            }),
            "Hovered",
            "Late",
        ),
        (
            web(WebCommand::Hover {
                target: by_css("#text"),
            }),
            "After",
            "Hovered",
        ),
        (
            script("host.shadowRoot.firstChild.firstChild.data = 'Shadow after'"),
            "Shadow after",
            "Shadow before",
        ),
        (
            script("document.styleSheets[0].insertRule('#card { display: none }')"),
            "After",
            "Card",
        ),
        (
            script("fading.style.animation = 'go 0.2s forwards'"),
            "After",
            "Fading",
        ),
        (
            web(WebCommand::Resize(Size::new(600.0, 500.0))),
            "After",
            "Wide",
        ),
        (
            script("frame.contentDocument.body.textContent = 'Changed in the frame'"),
            "Changed in the frame",
            "In the frame",
        ),
        (click(by_css("#late")), "Late", "After"),
    ]
}

async fn whatever_changes_a_page_is_told_when_it_is_observed_again(device: &mut Device) {
    device.show(PAGE).await;
    let before = told(device).await.snapshot.text;
    assert!(
        before.contains("Before") && before.contains("Fading"),
        "{before}"
    );
    for (change, now, gone) in changes() {
        let name = format!("{change:?}");
        device.ok(change).await;
        let text = told(device).await.snapshot.text;
        assert!(text.contains(now) && !text.contains(gone), "{name}: {text}");
    }
}

/// A page that is looked at in one go: it has no frames.
const AT_ONCE: &str = "<meta name=viewport content='width=device-width'><style>
      #hover { display: none } #card:hover #hover { display: block }
      @keyframes go { to { visibility: hidden } }
    </style>
    <h1 id=text>Before</h1><input id=field aria-label=Name><input id=box type=checkbox aria-label=Agreed>
    <div id=card style='width: 200px; height: 60px; background: silver'>Card<p id=hover>Hovered</p></div>
    <canvas id=canvas width=40 height=40></canvas><img id=image alt=Logo width=40 height=40>
    <div id=host></div><button id=late onclick=\"setTimeout(() => text.textContent = 'Late', 40)\">Soon</button>
    <p id=fading>Fading</p><details id=more><summary>More</summary>Detail</details>
    <div id=list style='height: 60px; overflow: auto'><a href=#a>First</a><div style='height: 900px'></div><a href=#b>Last</a></div>
    <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>Shadow before</p>'</script>";

/// Ways to change it, by what a page does and what is done to it. Those that go on by themselves end within
/// what a look waits for.
const WAYS: &[&str] = &[
    "1",
    "text.textContent = 'After'",
    "field.value = 'Ada'",
    "box.checked = true",
    "field.focus()",
    "document.styleSheets[0].insertRule('#card { border: 4px solid red }')",
    "document.adoptedStyleSheets = [Object.assign(new CSSStyleSheet(), { n: 1 })], \
     document.adoptedStyleSheets[0].replaceSync('h1 { color: teal }')",
    "host.shadowRoot.firstChild.firstChild.data = 'Shadow after'",
    "host.shadowRoot.append(document.createElement('hr'))",
    "canvas.getContext('2d').fillRect(0, 0, 40, 40)",
    "fading.animate([{ opacity: 1 }, { opacity: 0.2 }], { duration: 150, fill: 'forwards' })",
    "fading.style.animation = 'go 0.2s forwards'",
    "setTimeout(() => text.textContent = 'After 5 ms', 5)",
    "image.src = 'data:image/svg+xml,<svg xmlns=\"http://www.w3.org/2000/svg\"><rect width=\"40\" height=\"40\" fill=\"red\"/></svg>'",
    "more.open = true",
    "scheduler.postTask(() => text.textContent = 'Posted', { delay: 5 })",
];

/// Width, height and pixels.
fn pixels(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(
        png::Transformations::normalize_to_color8() | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    pixels.truncate(frame.buffer_size());
    (frame.width, frame.height, pixels)
}

/// Observes, and has Playwright retake the picture: it has to be the same.
async fn seen(device: &mut Device, name: &str) -> Observed {
    let seen = told(device).await;
    let Observation::Screenshot(again) = device.ok(Command::Screenshot).await else {
        panic!()
    };
    assert!(
        pixels(png(&seen)) == pixels(&again.png),
        "{name}: another picture"
    );
    assert!(seen.is_still, "{name}");
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_seen_in_one_go_is_what_playwright_sees() {
    let site = Site::start().await;
    let phone = WebSlot {
        emulate: Some("Pixel 7".to_owned()),
        ..WebSlot::default()
    };
    for slot in [WebSlot::default(), phone] {
        let mut device = Device::connect(slot).await;
        begin(&mut device, "chromium").await;
        device.go(site.page(AT_ONCE)).await;
        seen(&mut device, "at first").await;
        for way in WAYS {
            device.script(&format!("{way}, 1")).await;
            seen(&mut device, way).await;
        }
        let late = |seen: &Observed| seen.snapshot.text.contains("Late");
        device.ok(click(by_css("#late"))).await;
        assert!(late(&seen(&mut device, "a click").await));
        let typed = Command::Web(WebCommand::Type {
            target: by_css("#field"),
            text: "Eve".to_owned(),
            clear_first: true,
        });
        device.ok(typed).await;
        seen(&mut device, "typed").await;
        for target in ["#card", "#text"] {
            let target = by_css(target);
            device.web(WebCommand::Hover { target }).await;
            seen(&mut device, "hover").await;
        }
        device.close().await;
    }
}

async fn a_page_that_could_not_be_observed_in_time_goes_on(device: &mut Device) {
    device.show(PAGE).await;
    let busy = "setTimeout(() => { const end = Date.now() + 3000; while (Date.now() < end); }), 1";
    let busy = WebCommand::Evaluate(busy.to_owned());
    device.ok(Command::Web(busy)).await;
    let observe = Command::Observe(ObserveOptions::default());
    let soon = CommandContext::within(Duration::from_millis(50));
    let late = device.execute_in(observe, &soon).await.unwrap_err();
    assert!(matches!(late, DriverError::Timeout { .. }), "{late}");
    let text = told(device).await.snapshot.text;
    assert!(text.contains("Before"), "{text}");
}

async fn what_only_a_picture_shows_changes_the_picture_alone(device: &mut Device) {
    device.show(PAGE).await;
    let last = told(device).await;
    let script = "canvas.getContext('2d').fillRect(0, 0, 40, 40), 1";
    device.script(script).await;
    let seen = told(device).await;
    assert_eq!(seen.snapshot, last.snapshot);
    assert_ne!(png(&seen), png(&last));
}

async fn a_picture_shows_what_its_tree_tells_however_soon_the_page_changes(device: &mut Device) {
    let page = "<h1 id=text></h1><script>function show(what, color) { \
                text.textContent = what; document.body.style.background = color }</script>";
    device.show(page).await;
    device.script("show('New', 'teal'), 1").await;
    let new = observed(device, true).await;
    for delay in (0..60).step_by(2) {
        device.script("show('Old', 'gold'), 1").await;
        let old = observed(device, true).await;
        let change = format!("setTimeout(() => show('New', 'teal'), {delay}), 1");
        device.script(&change).await;
        let seen = observed(device, true).await;
        let as_told = match seen.snapshot.text.contains("Old") {
            true => png(&old),
            false => png(&new),
        };
        assert!(png(&seen) == as_told, "after {delay} ms");
        assert!(seen.is_still && old.is_still, "after {delay} ms");
        // It has changed, whether it was waited for or not.
        device
            .script("new Promise(done => setTimeout(done, 60))")
            .await;
    }
}

async fn a_page_whose_timers_come_late_is_waited_for(device: &mut Device) {
    device.show(PAGE).await;
    told(device).await;
    // Busy while the page should be looked at; what it does late, it does bit by bit.
    let script = "text.textContent = 'Busy', \
                  setTimeout(() => { const end = Date.now() + 300; while (Date.now() < end); }, 20), \
                  setTimeout(() => setTimeout(() => text.textContent = 'Late', 40), 150), 1";
    device.script(script).await;
    let text = told(device).await.snapshot.text;
    assert!(text.contains("Late"), "{text}");
}

async fn a_shadow_tree_that_changes_is_waited_for(device: &mut Device) {
    device.show(PAGE).await;
    told(device).await;
    let script = "window.left = 12, window.go = () => { \
                  host.shadowRoot.firstChild.textContent = 'Left: ' + --left; \
                  if (left) setTimeout(go, 30) }, go(), 1";
    device.script(script).await;
    let text = told(device).await.snapshot.text;
    assert!(text.contains("Left: 0"), "{text}");
}

async fn what_was_scrolled_is_told_where_it_is_now(device: &mut Device) {
    device.show(PAGE).await;
    let top = |seen: &Observed| {
        let listed = seen.snapshot.refs.iter().find(|one| one.label == "Last");
        listed.unwrap().bounds.unwrap().top
    };
    let before = top(&told(device).await);
    let down = |target: WebTarget| {
        Command::Web(WebCommand::Scroll {
            target,
            direction: Direction::Down,
            amount: 4000,
        })
    };
    device.ok(down(by_css("#list"))).await;
    assert!(top(&told(device).await) < before - 500.0);
}

async fn every_kind_of_document_is_told_as_it_is_read_otherwise(device: &mut Device) {
    let folder = tempfile::tempdir().unwrap();
    let drawing = folder.path().join("drawing.svg");
    let svg = "<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>Drawn</text></svg>";
    std::fs::write(&drawing, svg).unwrap();
    for page in [
        "",
        "Only text",
        "<p>One",
        "<b>Bold",
        "<button>Only",
        "<p>Line one<br>- line: two",
        "<html aria-label=Named><p>In it</p>",
        "<html role=application><button>In it",
        "<body aria-hidden=true><p>Not told",
        "<body role=main aria-label=Body><p>In it",
        "<body hidden><p>Not shown",
        "<body style='display: contents'><p>Shown",
        "<body inert><button>Not to be used",
        "<style>html::before { content: 'Above' }</style><p>Below",
        "<html style='visibility: hidden'><p style='visibility: visible'>Shown",
        "<frameset cols='50%,50%'><frame><frame></frameset>",
        "<body style='height: 3000px'><p>Long<script>scrollTo(0, 500)</script>",
        "<p>Loose</p><script>document.documentElement.append('loose text')</script>",
    ] {
        device.show(page).await;
        told(device).await;
    }
    for page in ["index", "signup", "products", "product", "cart", "checkout"] {
        device.go(shop::page(&format!("{page}.html"))).await;
        told(device).await;
    }
    device.go(format!("file://{}", drawing.display())).await;
    told(device).await;
}
