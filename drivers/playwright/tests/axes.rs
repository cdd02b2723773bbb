//! Axes: set for a session, read back from its page, gone with it.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{
    AppliedAxis, Command, DriverError, NavigateTo, Observation, SessionOptions, WebCommand,
};
use packtrain_testing::TestDevice as _;
use serde_json::json;

use crate::browser::Device;
use crate::commands::{by_ref, click, expect_text};
use crate::shop;
use crate::site::Site;
use crate::stories::stories;

stories! {
    chromium:
    a_dark_session_is_dark_and_the_next_is_not
    what_firefox_has_of_the_axes_is_what_its_pages_see
    offline_and_a_slow_network_are_read_back_and_felt
    firefox_says_nothing_of_a_network_it_cannot_slow_down
    a_storage_state_is_there_or_said_to_be_not
    headers_of_a_session_go_with_every_request
    back_and_forward_work_in_firefox_and_end_where_its_history_does
    the_example_shop_speaks_the_language_of_the_browser
    no_text_of_the_example_shop_stays_english_in_german;
}

fn wanting(axes: &[(&str, &str)]) -> SessionOptions {
    let axes = axes
        .iter()
        .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
    SessionOptions {
        axes: axes.collect(),
        ..SessionOptions::default()
    }
}

async fn begun(device: &mut Device, options: SessionOptions) -> Vec<AppliedAxis> {
    match device.ok(Command::Begin(options)).await {
        Observation::Begun(applied) => applied,
        other => panic!("{other:?}"),
    }
}

/// Begins a session in which every one of these axes took.
async fn begin_with(device: &mut Device, axes: &[(&str, &str)]) -> Vec<AppliedAxis> {
    let applied = begun(device, wanting(axes)).await;
    let got: Vec<_> = applied
        .iter()
        .map(|axis| (axis.axis.as_str(), axis.got.as_str()))
        .collect();
    let mut wanted = axes.to_vec();
    wanted.sort_unstable();
    assert_eq!(got, wanted);
    assert!(applied.iter().all(|axis| !axis.how.is_empty()));
    applied
}

const SEEN: &str = "[innerWidth, innerHeight, devicePixelRatio, navigator.language,
    Intl.DateTimeFormat().resolvedOptions().timeZone,
    matchMedia('(prefers-color-scheme: dark)').matches,
    matchMedia('(prefers-reduced-motion: reduce)').matches, 'ontouchstart' in window]";

const COMMON: [(&str, &str); 7] = [
    ("viewport", "390x844"),
    ("scale", "2"),
    ("locale", "de-DE"),
    ("timeZone", "Asia/Tokyo"),
    ("colorScheme", "dark"),
    ("reducedMotion", "reduce"),
    ("touch", "true"),
];

async fn a_dark_session_is_dark_and_the_next_is_not(device: &mut Device) {
    begin_with(device, &[("colorScheme", "dark")]).await;
    device.visit("").await;
    let dark = "matchMedia('(prefers-color-scheme: dark)').matches";
    assert_eq!(device.script(dark).await, json!(true));
    begin_with(device, &[("colorScheme", "light")]).await;
    device.visit("").await;
    assert_eq!(device.script(dark).await, json!(false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_chromium_has_of_the_axes_is_what_its_pages_see() {
    let site = Site::start().await;
    let mut device = Device::connect(WebSlot {
        emulate: Some("iPhone 15".into()),
        ..WebSlot::default()
    })
    .await;
    begin_with(&mut device, &COMMON).await;
    device.go(site.url()).await;
    assert_eq!(
        device.script(SEEN).await,
        json!([390, 844, 2, "de-DE", "Asia/Tokyo", true, true, true])
    );
    device.close().await;
}

async fn what_firefox_has_of_the_axes_is_what_its_pages_see(device: &mut Device) {
    let mut wanted = COMMON.to_vec();
    wanted.push(("engine", "firefox"));
    let applied = begin_with(device, &wanted).await;
    let engine = applied.iter().find(|axis| axis.axis == "engine").unwrap();
    assert!(engine.how.starts_with("Firefox "), "{engine:?}");
    device.visit("").await;
    assert_eq!(
        device.script(SEEN).await,
        json!([390, 844, 2, "de-DE", "Asia/Tokyo", true, true, true])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_firefox_that_ignores_an_axis_is_told_apart_from_one_that_has_it() {
    // The value of a Firefox that nobody set: follow the system.
    let slot = WebSlot {
        firefox_preferences: [(
            "layout.css.prefers-color-scheme.content-override".to_owned(),
            json!(2),
        )]
        .into(),
        ..WebSlot::default()
    };
    let mut device = Device::connect(slot).await;
    let options = wanting(&[("engine", "firefox"), ("colorScheme", "dark")]);
    let applied = begun(&mut device, options).await;
    assert_eq!(
        (applied[0].axis.as_str(), applied[0].got.as_str()),
        ("colorScheme", "light")
    );
    assert_eq!(applied[1].got, "firefox");
    device.close().await;
}

async fn offline_and_a_slow_network_are_read_back_and_felt(device: &mut Device) {
    begin_with(device, &[("network", "slow"), ("offline", "false")]).await;
    device.visit("").await;
    let took = "performance.getEntriesByType('navigation')[0].responseEnd";
    let took = device.script(took).await.as_f64().unwrap();
    assert!(took > 350.0, "{took}");
    begin_with(device, &[("network", "fast"), ("offline", "true")]).await;
    let to = WebCommand::Navigate(NavigateTo::Url(device.site.url()));
    device.err(Command::Web(to)).await;
}

async fn firefox_says_nothing_of_a_network_it_cannot_slow_down(device: &mut Device) {
    let options = wanting(&[
        ("engine", "firefox"),
        ("network", "slow"),
        ("offline", "true"),
    ]);
    let applied = begun(device, options).await;
    let axes: Vec<_> = applied.iter().map(|axis| axis.axis.as_str()).collect();
    assert_eq!(axes, ["engine", "offline"]);
    assert!(applied.iter().all(|axis| axis.got == axis.want));
}

async fn a_storage_state_is_there_or_said_to_be_not(device: &mut Device) {
    let folder = tempfile::tempdir().unwrap();
    let origin = device.site.url().trim_end_matches('/').to_owned();
    let state = |domain: &str| {
        json!({
            "cookies": [{ "name": "a", "value": "1", "domain": domain, "path": "/", "expires": -1,
                "httpOnly": false, "secure": false, "sameSite": "Lax" }],
            "origins": [{ "origin": origin, "localStorage": [{ "name": "k", "value": "v" }] }],
        })
        .to_string()
    };
    std::fs::write(folder.path().join("state.json"), state("127.0.0.1")).unwrap();
    let mut options = wanting(&[("storageState", "state.json")]);
    options.folders = vec![folder.path().to_owned()];
    let applied = begun(device, options).await;
    assert_eq!(applied[0].got, "state.json");
    device.visit("").await;
    let kept = device.script("[document.cookie, localStorage.k]").await;
    assert_eq!(kept, json!(["a=1", "v"]));
    let missing = device
        .err(Command::Begin(wanting(&[("storageState", "none.json")])))
        .await;
    assert!(matches!(missing, DriverError::Invalid(_)), "{missing:?}");
}

async fn headers_of_a_session_go_with_every_request(device: &mut Device) {
    device
        .begin(SessionOptions {
            headers: [("x-flag".to_owned(), "new cart".to_owned())].into(),
            ..SessionOptions::default()
        })
        .await;
    device.visit("flag").await;
    device.ok(expect_text("new cart")).await;
}

/// A page that gives sizes in every way there is.
const SIZES: &str = "<title>Sizes</title><style>html { line-height: 1.5 } .px { font-size: 20px }
    .nested { font-size: 2em } .root { font-size: 1.5rem } .short { font: 10px/12px serif }
    .variable { --size: 12px; font-size: var(--base) } :root { --base: 12px } .word { font-size: small }
    @media (min-width: 1px) { .media { font-size: 11px } }</style>
    <p>default</p><p class=px>px</p><div class=px><p class=nested>em</p></div><p class=root>rem</p>
    <p class=short>short</p><p class=variable>variable</p><p class=word>word</p><p class=media>media</p>
    <p style='font-size: 9px'>inline</p><button>control</button>
    <script>const late = document.createElement('style'); late.textContent = '.late { font-size: 30px }';
    setTimeout(() => { document.head.append(late); const p = document.createElement('p'); p.className = 'late';
    p.textContent = 'late'; document.body.append(p) })</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn larger_text_is_larger_however_its_size_is_given_and_on_later_pages_too() {
    let site = Site::start().await;
    let sizes = "Object.fromEntries([...document.querySelectorAll('p, button')].map(
        element => [element.textContent, Math.round(parseFloat(getComputedStyle(element).fontSize))]))";
    let twice = json!({ "default": 32, "px": 40, "em": 80, "rem": 48, "short": 20, "variable": 24,
        "word": 26, "media": 22, "inline": 18, "control": 27, "late": 60 });
    for engine in ["chromium", "firefox"] {
        let mut device = Device::connect(WebSlot::default()).await;
        begin_with(&mut device, &[("engine", engine), ("fontScale", "2")]).await;
        for _ in 0..2 {
            device.go(site.page(SIZES)).await;
            device.ok(expect_text("late")).await;
            assert_eq!(device.script(sizes).await, twice, "{engine}");
        }
        begin_with(&mut device, &[("engine", engine), ("fontScale", "1")]).await;
        device.close().await;
    }
}

async fn back_and_forward_work_in_firefox_and_end_where_its_history_does(device: &mut Device) {
    begin_with(device, &[("engine", "firefox")]).await;
    device.visit("router").await;
    device.ok(click(by_ref("button \"Dialog\""))).await;
    device.ok(expect_text("Dialog")).await;
    let go = |to| Command::Web(WebCommand::Navigate(to));
    device.ok(go(NavigateTo::Back)).await;
    device.ok(expect_text("Start")).await;
    device.ok(go(NavigateTo::Forward)).await;
    let error = device.err(go(NavigateTo::Forward)).await;
    assert!(
        error.to_string().contains("no page to go forward to"),
        "{error}"
    );
}

async fn the_example_shop_speaks_the_language_of_the_browser(device: &mut Device) {
    let said =
        "[document.documentElement.lang, document.title, document.querySelector('main').innerText]";
    for engine in ["chromium", "firefox"] {
        begin_with(device, &[("engine", engine), ("locale", "de-AT")]).await;
        device.go(shop::page("product.html?n=3")).await;
        assert_eq!(
            device.script(said).await,
            json!([
                "de",
                "Produkt - Shop",
                "Grüner Tee 3\n\n2,90 $\n\nAus der ersten Ernte.\n\n-\n1\n+\nIn den Warenkorb"
            ])
        );
    }
    begin_with(device, &[("locale", "fr-FR")]).await;
    device.go(shop::page("cart.html")).await;
    device.ok(expect_text("Your cart is empty")).await;
    device.go(shop::page("cart.html?lang=de")).await;
    device.ok(expect_text("Dein Warenkorb ist leer")).await;
}

async fn no_text_of_the_example_shop_stays_english_in_german(device: &mut Device) {
    // What is the same in both languages, or no word at all.
    let texts = "(() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const texts = [...document.querySelectorAll('[aria-label]')].map(element => element.ariaLabel);
        while (walker.nextNode())
            if (walker.currentNode.parentNode.localName !== 'script') texts.push(walker.currentNode.data.trim());
        return texts.filter(text => /[a-z]{3}/i.test(text) && !/^(Shop|Espresso|Cappuccino|Croissant)/.test(text));
    })()";
    let pages = [
        "index", "signup", "welcome", "products", "product", "cart", "checkout", "thanks",
    ];
    let mut said: Vec<std::collections::BTreeSet<String>> = Vec::new();
    for locale in ["en-GB", "de-DE"] {
        begin_with(device, &[("locale", locale)]).await;
        let mut all = std::collections::BTreeSet::new();
        for page in pages {
            device.go(shop::page(&format!("{page}.html"))).await;
            all.extend(serde_json::from_value::<Vec<String>>(device.script(texts).await).unwrap());
        }
        said.push(all);
    }
    let same: Vec<_> = said[0].intersection(&said[1]).collect();
    assert!(same.is_empty() && said[0].len() > 60, "{same:?}");
}
