//! Going to an address, and back and forward through what the tab has shown.

use std::time::Duration;

use packtrain_drivers::{ActionReport, CommandContext, DriverError, NavigateTo, Observation};
use playwright_rs::Error;
use playwright_rs::protocol::{CDPSession, GotoOptions, Page};
use serde_json::Value;

use crate::address::address;
use crate::configuration::Engine;
use crate::session::Session;
use crate::wire;

/// How long a page may take to load.
const LOAD_TIMEOUT: Duration = Duration::from_secs(30);

type Result<T> = std::result::Result<T, DriverError>;

pub(crate) async fn navigate(
    session: &Session,
    to: &NavigateTo,
    ctx: &CommandContext,
) -> Result<Observation> {
    match to {
        NavigateTo::Url(url) => open(session, url, ctx).await,
        NavigateTo::Back => step(session, HistoryStep::Back, ctx).await,
        NavigateTo::Forward => step(session, HistoryStep::Forward, ctx).await,
    }
}

async fn open(session: &Session, url: &str, ctx: &CommandContext) -> Result<Observation> {
    let page = session.page()?;
    let address = address(&session.options, url)?;
    let options = GotoOptions::new().timeout(ctx.remaining_up_to(LOAD_TIMEOUT));
    let answer = page
        .goto(&address, options)
        .await
        .map_err(|error| wire::translate(&error, &format!("open {address}")))?;
    let refused = answer.filter(|answer| !answer.ok()).map(|answer| {
        format!(
            "{address} answered {} {}",
            answer.status(),
            answer.status_text()
        )
    });
    Ok(Observation::Done(ActionReport {
        located: None,
        notes: refused.into_iter().collect(),
    }))
}

/// A way through the history of a tab.
#[derive(Debug, Clone, Copy)]
pub(crate) enum HistoryStep {
    Back,
    Forward,
}

impl HistoryStep {
    const fn word(self) -> &'static str {
        match self {
            Self::Back => "back",
            Self::Forward => "forward",
        }
    }
}

/// Goes one entry through the history. Whether there is one is asked before: afterwards, an app of
/// one page may have the same address, and Playwright answers as it does when there was none.
pub(crate) async fn step(
    session: &Session,
    step: HistoryStep,
    ctx: &CommandContext,
) -> Result<Observation> {
    let page = session.page()?;
    let word = step.word();
    let doing = format!("go {word}");
    let failed = |error: Error| wire::translate(&error, &doing);
    let has_travelled = match session.engine() {
        Engine::Chromium => {
            let is_possible = is_possible(session, &page, step).await.map_err(failed)?;
            if is_possible {
                travel(&page, step, ctx).await.map_err(failed)?;
            }
            is_possible
        }
        Engine::Firefox => {
            let before = entry(&page).await.map_err(failed)?;
            travel(&page, step, ctx).await.map_err(failed)?;
            entry(&page).await.map_err(failed)? != before
        }
    };
    if has_travelled {
        return Ok(Observation::Done(ActionReport::default()));
    }
    Err(DriverError::unmet(format!(
        "no page to go {word} to; the page is {}",
        page.url()
    )))
}

async fn is_possible(
    session: &Session,
    page: &Page,
    step: HistoryStep,
) -> std::result::Result<bool, Error> {
    let cdp = session.context.new_cdp_session(page).await?;
    let is_possible = has_entry(&cdp, step).await;
    if let Err(error) = cdp.detach().await {
        tracing::debug!(%error, "the session for the history was gone");
    }
    is_possible
}

/// The entry of the history that is shown, told from all others.
async fn entry(page: &Page) -> std::result::Result<Value, Error> {
    let script = "[navigation.currentEntry?.key, performance.timeOrigin, location.href]";
    page.evaluate::<(), Value>(script, None).await
}

async fn travel(
    page: &Page,
    step: HistoryStep,
    ctx: &CommandContext,
) -> std::result::Result<(), Error> {
    let options = GotoOptions::new().timeout(ctx.remaining_up_to(LOAD_TIMEOUT));
    match step {
        HistoryStep::Back => page.go_back(options).await?,
        HistoryStep::Forward => page.go_forward(options).await?,
    };
    Ok(())
}

/// Whether the history has an entry in this direction, by Chromium's own list.
async fn has_entry(cdp: &CDPSession, step: HistoryStep) -> std::result::Result<bool, Error> {
    let history = cdp.send("Page.getNavigationHistory", None).await?;
    let entries = history["result"]["entries"].as_array().map_or(0, Vec::len);
    let current = history["result"]["currentIndex"].as_u64().unwrap_or(0);
    Ok(match step {
        HistoryStep::Back => current > 0,
        HistoryStep::Forward => usize::try_from(current).is_ok_and(|current| current + 1 < entries),
    })
}
