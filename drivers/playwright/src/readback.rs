//! What a new session's page finds of the axes that were asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use packtrain_drivers::{AppliedAxis, Axes};
use playwright_rs::Error;
use playwright_rs::protocol::{BrowserContext, Page};
use playwright_rs::server::channel_owner::ChannelOwner;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::configuration::Engine;

const SCRIPT: &str = include_str!("page/read_axes.js");

/// A browser, as its axis tells it.
pub(crate) struct Started {
    pub(crate) engine: Engine,
    pub(crate) version: String,
    pub(crate) took: Duration,
}

/// Reads every axis that this driver can read, on a page that has shown nothing yet.
pub(crate) async fn read(
    context: &BrowserContext,
    page: &Page,
    axes: &Axes,
    storage_state: Option<&Path>,
    started: &Started,
) -> Result<Vec<AppliedAxis>, Error> {
    let begun = Instant::now();
    let mut got: BTreeMap<String, String> = page.evaluate(SCRIPT, Some(axes)).await?;
    let took = begun.elapsed();
    if let (Some(wanted), Some(file)) = (axes.get("storageState"), storage_state) {
        let read = storage(context, wanted, file).await?;
        got.insert("storageState".to_owned(), read);
    }
    let applied = axes.iter().filter_map(|(axis, want)| {
        Some(AppliedAxis {
            axis: axis.clone(),
            want: want.clone(),
            got: got.remove(axis)?,
            how: how(axis, started),
            took_ms: if axis == "engine" { started.took } else { took },
        })
    });
    Ok(applied.collect())
}

fn how(axis: &str, started: &Started) -> String {
    let by = match (axis, started.engine) {
        ("engine", engine) => return format!("{} {}", engine.name(), started.version),
        ("viewport", _) => "innerWidth, innerHeight",
        ("scale", _) => "devicePixelRatio",
        ("touch", Engine::Firefox) => "dom.w3c_touch_events.enabled, ontouchstart",
        ("touch", Engine::Chromium) => "navigator.maxTouchPoints",
        ("locale", _) => "navigator.language",
        ("timeZone", _) => "Intl.DateTimeFormat",
        ("colorScheme", Engine::Firefox) => {
            "layout.css.prefers-color-scheme.content-override, matchMedia"
        }
        ("reducedMotion", Engine::Firefox) => "ui.prefersReducedMotion, matchMedia",
        ("colorScheme" | "reducedMotion", Engine::Chromium) => "matchMedia",
        ("fontScale", _) => "a script that scales font sizes, getComputedStyle",
        ("network", _) => "Network.emulateNetworkConditions, navigator.connection",
        ("offline", _) => "navigator.onLine",
        ("storageState", _) => "the context's storage state",
        _ => "",
    };
    by.to_owned()
}

/// What was wanted, when everything in the file is in the context; else how much of it is not.
async fn storage(context: &BrowserContext, wanted: &str, file: &Path) -> Result<String, Error> {
    let expected = std::fs::read(file)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .unwrap_or_default();
    let actual: Value = context.channel().send("storageState", json!({})).await?;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64());
    let mut expected = entries(&expected, now);
    let all = expected.len();
    let actual = entries(&actual, now);
    expected.retain(|entry| !actual.contains(entry));
    Ok(if expected.is_empty() {
        wanted.to_owned()
    } else {
        format!("{wanted} without {} of {all} entries", expected.len())
    })
}

/// Cookies that live, and what local storage holds.
fn entries(state: &Value, now: f64) -> Vec<[String; 4]> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let cookies = list(&state["cookies"])
        .into_iter()
        .filter(|cookie| {
            let expires = cookie["expires"].as_f64().unwrap_or(-1.0);
            expires < 0.0 || expires > now
        })
        .map(|cookie| ["domain", "path", "name", "value"].map(|key| text(&cookie[key])));
    let origins = list(&state["origins"]).into_iter().flat_map(|origin| {
        let of = text(&origin["origin"]);
        list(&origin["localStorage"]).into_iter().map(move |item| {
            [
                of.clone(),
                String::new(),
                text(&item["name"]),
                text(&item["value"]),
            ]
        })
    });
    cookies.chain(origins).collect()
}
