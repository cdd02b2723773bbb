//! Reading a page: as a tree, as a picture, by script; and waiting for it to change.

use std::time::Duration;

use packtrain_drivers::{
    CommandContext, DriverError, Observation, ScreenMark, Screenshot, Size, Snapshot,
    SnapshotDetail,
};
use playwright_rs::Error;
use playwright_rs::protocol::Page;
use playwright_rs::server::channel_owner::ChannelOwner;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::aria::Aria;
use crate::find::FRAME_POLL;
use crate::reading::{self, ReadOptions};
use crate::session::Session;
use crate::wire;

/// A picture of a page that still paints takes no longer.
const SCREENSHOT_TIMEOUT: Duration = Duration::from_secs(10);
/// Nearly every picture is there within this; only the last try takes longer.
const QUICK_SCREENSHOT_TIMEOUT: Duration = Duration::from_millis(1500);
/// So many pages in a row may be left while their picture is taken.
const LEFT_PAGES: u32 = 4;

type Result<T> = std::result::Result<T, DriverError>;

pub(crate) async fn snapshot(session: &Session, detail: SnapshotDetail) -> Result<Observation> {
    let wanted = ReadOptions {
        boxes: detail.bounds,
        css: detail.css_selectors,
        numbers: detail.lasting.then_some(&session.numbers),
        masks: None,
    };
    let page = session.page()?;
    let reading = reading::read(&page, wanted).await?;
    let screen = screen(&page);
    Ok(Observation::Snapshot(Box::new(shown(
        &page,
        reading.aria,
        reading.title,
        screen,
    ))))
}

/// What a page was read to show.
pub(crate) fn shown(page: &Page, aria: Aria, title: Option<String>, screen: Size) -> Snapshot {
    Snapshot {
        mark: ScreenMark::of(&aria.tree),
        tree: aria.tree,
        text: aria.list,
        refs: aria.refs.into_iter().map(|listed| listed.shown).collect(),
        location: Some(page.url()),
        title,
        screen,
    }
}

/// Whether animations go on while a picture is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Animations {
    /// As the page shows them.
    Running,
    /// Those that end are at their end, the others at their start.
    Disabled,
}

pub(crate) async fn screenshot(
    session: &Session,
    animations: Animations,
    ctx: &CommandContext,
) -> Result<Observation> {
    // A page that is left while its picture is taken is never painted, or is refused; the page
    // that follows it is painted, so the first tries are short.
    let mut tries = 0;
    let taken = loop {
        tries += 1;
        let limit = if tries == LEFT_PAGES {
            SCREENSHOT_TIMEOUT
        } else {
            QUICK_SCREENSHOT_TIMEOUT
        };
        let taken = picture(&session.page()?, animations, ctx.remaining_up_to(limit)).await;
        let left = match &taken {
            Ok(_) => false,
            Err(Error::Timeout(_)) => true,
            Err(error) => error.to_string().contains("Page.captureScreenshot"),
        };
        if !left || tries == LEFT_PAGES {
            break taken;
        }
    };
    let binary = taken.map_err(|error| wire::translate(&error, "take a screenshot"))?;
    let png = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, binary)
        .map_err(|error| DriverError::unmet(format!("take a screenshot: {error}")))?;
    Ok(Observation::Screenshot(Screenshot {
        png,
        screen: screen(&session.page()?),
    }))
}

/// A PNG in base64, a pixel for each CSS pixel.
async fn picture(
    page: &Page,
    animations: Animations,
    limit: Duration,
) -> std::result::Result<String, Error> {
    #[derive(serde::Deserialize)]
    struct Answer {
        binary: String,
    }
    let mut params = json!({ "type": "png", "scale": "css", "timeout": wire::millis(limit) });
    if animations == Animations::Disabled {
        params["animations"] = "disabled".into();
    }
    let answer: Answer = page.channel().send("screenshot", params).await?;
    Ok(answer.binary)
}

pub(crate) async fn evaluate(session: &Session, script: &str) -> Result<Observation> {
    let page = session.page()?;
    let value: Value = page
        .evaluate::<(), Value>(script, None)
        .await
        .map_err(|error| wire::translate(&error, "evaluate"))?;
    Ok(Observation::Json(value))
}

pub(crate) async fn storage_state(session: &Session) -> Result<Observation> {
    let state: Value = session
        .context
        .channel()
        .send("storageState", json!({}))
        .await
        .map_err(|error| wire::translate(&error, "read the storage state"))?;
    Ok(Observation::Json(state))
}

/// Waits until the page shows something else than `since`.
pub(crate) async fn await_change(
    session: &Session,
    since: ScreenMark,
    limit: Duration,
) -> Result<Observation> {
    let end = Instant::now() + limit;
    loop {
        let page = session.page()?;
        let aria = reading::read(&page, ReadOptions::default()).await?.aria;
        if ScreenMark::of(&aria.tree) != since {
            return snapshot(session, SnapshotDetail::default()).await;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Observation::Unchanged);
        }
        // What goes on in frames is not told of.
        let has_frames = reading::has_frames(&page).await;
        let limit = if has_frames {
            left.min(FRAME_POLL)
        } else {
            left
        };
        await_mutation(&page, limit).await;
    }
}

/// Ends as soon as the document changes at all, is left, or `limit` has passed.
pub(crate) async fn await_mutation(page: &Page, limit: Duration) {
    let script = "limit => new Promise(resolve => {
      const end = setTimeout(() => { observer.disconnect(); resolve(); }, limit);
      const observer = new MutationObserver(() => { observer.disconnect(); clearTimeout(end); resolve(); });
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    })";
    let watched = page
        .evaluate::<_, Value>(script, Some(&wire::millis(limit)))
        .await;
    if let Err(error) = watched {
        tracing::debug!(%error, "the document was replaced while it was being watched");
    }
}

pub(crate) fn screen(page: &Page) -> Size {
    page.viewport_size()
        .map_or(Size::new(0.0, 0.0), |viewport| {
            Size::new(f64::from(viewport.width), f64::from(viewport.height))
        })
}
