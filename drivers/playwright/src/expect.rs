//! Assertions about a page. Each looks again and again until it holds or its time is up.

use std::time::Duration;

use packtrain_drivers::{
    ActionReport, CommandContext, DriverError, Located, Observation, TextMatch, WebTarget,
};
use serde_json::json;
use tokio::time::Instant;

use crate::find::{self, APPEAR_TIMEOUT, FoundElement, Purpose};
use crate::locate;
use crate::reading::{self, Frames, ReadOptions};
use crate::session::Session;
use crate::shown::{ShownText, Within};
use crate::wire;

/// How long an assertion may take to come true.
pub(crate) const ASSERTION_TIMEOUT: Duration = Duration::from_secs(5);

/// A look that Playwright makes once at least: to it, no time at all means for ever.
const MIN_TIMEOUT: Duration = Duration::from_millis(1);

type Result<T> = std::result::Result<T, DriverError>;

/// A text is visible, anywhere in the page, across nested elements.
pub(crate) async fn text(
    session: &Session,
    text: &str,
    matching: TextMatch,
    limit: Option<Duration>,
    ctx: &CommandContext,
) -> Result<Observation> {
    not_blank("text", text)?;
    let limit = ctx.remaining_up_to(limit.unwrap_or(ASSERTION_TIMEOUT));
    let end = Instant::now() + limit;
    // Of several elements with the text, one that is visible is enough.
    let visible = locate::by_visible_text(text, matching);
    let shown = shown(text, matching);
    if shown
        .wait(session, &visible.selector, Within::Tab, limit)
        .await?
        > 0
    {
        return Ok(Observation::Done(ActionReport {
            located: Some(Located {
                by: visible.by,
                matched: 1,
            }),
            notes: Vec::new(),
        }));
    }
    let anywhere = locate::by_text(text, matching);
    let left = end.saturating_duration_since(Instant::now());
    let is_hidden = find::await_match(session, &anywhere, Frames::All, left)
        .await
        .is_ok_and(|found| found.is_some());
    let what = match matching {
        TextMatch::Contains => format!("the text {text:?}"),
        TextMatch::Exact => format!("an element whose whole text is {text:?}"),
    };
    let hidden = is_hidden.then_some(anywhere.selector.as_str());
    Err(not_visible(session, &what, text, hidden).await)
}

/// An element is visible.
pub(crate) async fn visible(
    session: &Session,
    target: &WebTarget,
    limit: Option<Duration>,
    ctx: &CommandContext,
) -> Result<Observation> {
    let Some(limit) = limit else {
        let found = find(session, target, ctx).await?;
        be_visible(session, &found, ASSERTION_TIMEOUT, ctx).await?;
        return Ok(Observation::Done(found.report()));
    };
    let end = Instant::now() + limit;
    let limit = ctx.remaining_up_to(limit);
    let found = find::find(session, target, Purpose::Verification, limit).await?;
    let left = end.saturating_duration_since(Instant::now());
    be_visible(session, &found, left.max(MIN_TIMEOUT), ctx).await?;
    Ok(Observation::Done(found.report()))
}

/// Every text can be seen somewhere in an element, or on the page.
pub(crate) async fn list(
    session: &Session,
    target: &WebTarget,
    items: &[String],
    matching: TextMatch,
    ctx: &CommandContext,
) -> Result<Observation> {
    if items.is_empty() {
        return Err(DriverError::Invalid("`items` is empty".to_owned()));
    }
    for item in items {
        not_blank("items", item)?;
    }
    let target = if target.is_empty() {
        WebTarget {
            selector: None,
            reference: Some("css=body".to_owned()),
        }
    } else {
        target.clone()
    };
    let found = find(session, &target, ctx).await?;
    be_visible(session, &found, ASSERTION_TIMEOUT, ctx).await?;
    let end = Instant::now() + ctx.remaining_up_to(ASSERTION_TIMEOUT);
    let mut missing = Vec::new();
    for item in items {
        let text = locate::by_visible_text(item, matching).selector;
        let within = format!("{} >> {text}", found.selector);
        let left = end.saturating_duration_since(Instant::now());
        if shown(item, matching)
            .wait(session, &within, Within::Element, left)
            .await?
            == 0
        {
            missing.push(format!("{item:?}"));
        }
    }
    if missing.is_empty() {
        return Ok(Observation::Done(found.report()));
    }
    Err(DriverError::unmet(format!(
        "{} lacks {}",
        found.by(),
        missing.join(", ")
    )))
}

const fn shown(text: &str, matching: TextMatch) -> ShownText<'_> {
    ShownText {
        text,
        matching,
        any_case: matches!(matching, TextMatch::Contains),
    }
}

/// The element that is to be verified.
pub(crate) async fn find(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<FoundElement> {
    let limit = ctx.remaining_up_to(APPEAR_TIMEOUT);
    find::find(session, target, Purpose::Verification, limit).await
}

/// Nothing is part of everything, so that a blank expectation would always hold.
fn not_blank(argument: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(DriverError::Invalid(format!("`{argument}` is blank")));
    }
    Ok(())
}

/// The address matches a regular expression somewhere.
pub(crate) async fn url(
    session: &Session,
    pattern: &str,
    limit: Duration,
    ctx: &CommandContext,
) -> Result<Observation> {
    not_blank("pattern", pattern)?;
    let pattern = regex::Regex::new(pattern)
        .map_err(|error| DriverError::Invalid(format!("pattern: {error}")))?;
    let limit = ctx.remaining_up_to(limit);
    let end = Instant::now() + limit;
    let mut tabs = session.tabs.watch();
    loop {
        tabs.mark_unchanged();
        let page = session.page()?;
        if pattern.is_match(&page.url()) {
            return Ok(Observation::Text(page.url()));
        }
        let left = end.saturating_duration_since(Instant::now());
        let navigated = page.expect_event("framenavigated", Some(wire::millis(left)));
        if left.is_zero() {
            return Err(DriverError::unmet(format!(
                "the address is {}, which does not match {} after {:.1} s",
                page.url(),
                pattern.as_str(),
                limit.as_secs_f64()
            )));
        }
        let Ok(waiter) = navigated.await else {
            continue;
        };
        if pattern.is_match(&page.url()) {
            return Ok(Observation::Text(page.url()));
        }
        tokio::select! {
            _ = waiter.wait() => {}
            _ = tabs.changed() => {}
        }
    }
}

/// A request of this session mentions a name, in its address or its body.
pub(crate) async fn request(
    session: &Session,
    name: &str,
    limit: Duration,
    ctx: &CommandContext,
) -> Result<Observation> {
    not_blank("eventName", name)?;
    let limit = ctx.remaining_up_to(limit);
    let end = Instant::now() + limit;
    let mut requests = session.tabs.requests.watch();
    loop {
        let seen = requests.borrow_and_update().count;
        if session.tabs.requests.mentions(name) {
            return Ok(Observation::Text(format!("{name} was requested")));
        }
        if tokio::time::timeout_at(end, requests.changed())
            .await
            .is_err()
        {
            return Err(DriverError::unmet(format!(
                "none of {seen} requests mentions {name:?} after {:.1} s",
                limit.as_secs_f64()
            )));
        }
    }
}

async fn be_visible(
    session: &Session,
    found: &FoundElement,
    limit: Duration,
    ctx: &CommandContext,
) -> Result<()> {
    let limit = ctx.remaining_up_to(limit);
    match wire::expect(
        &found.frame,
        &found.selector,
        "to.be.visible",
        json!({}),
        limit,
    )
    .await
    {
        Ok(()) => Ok(()),
        Err(error) => match wire::translate(&error, "look") {
            DriverError::Unmet { .. } => {
                Err(not_visible(session, found.by(), found.by(), Some(&found.selector)).await)
            }
            other => Err(other),
        },
    }
}

/// Not to be seen, though `hidden` matches something.
async fn not_visible(
    session: &Session,
    what: &str,
    words: &str,
    hidden: Option<&str>,
) -> DriverError {
    let mut log = Vec::new();
    if let Ok(page) = session.page() {
        log.push(format!("page {}", page.url()));
        if let Ok(reading) = reading::read(&page, ReadOptions::default()).await {
            log.extend(find::similar(&reading.aria.list, words));
        }
    }
    let why = match hidden {
        Some(selector) => {
            let why = find::why_unseen(session, selector).await;
            format!("is there, but {}", why.as_deref().unwrap_or("hidden"))
        }
        None => "is not on the page".to_owned(),
    };
    DriverError::Unmet {
        what: format!("{what} {why}"),
        log,
    }
}
