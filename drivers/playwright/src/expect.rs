//! Assertions about a page. Each looks again and again until it holds or its time is up.

use std::time::{Duration, Instant};

use packtrain_drivers::{
    ActionReport, CommandContext, DriverError, Located, Observation, ValueKind, WebTarget,
};
use serde_json::json;

use crate::find::{self, APPEARS, Found};
use crate::locate;
use crate::session::Session;
use crate::wire;

/// How long an assertion may take to come true.
const HOLDS: Duration = Duration::from_secs(5);

type Result<T> = std::result::Result<T, DriverError>;

/// A text is visible: any case, anywhere in the page, across nested elements.
pub(crate) async fn text(
    session: &Session,
    text: &str,
    ctx: &CommandContext,
) -> Result<Observation> {
    let candidate = locate::by_text(text);
    let limit = ctx.remaining_up_to(HOLDS);
    let end = Instant::now() + limit;
    // Of several elements with the text, one that is visible is enough.
    let visible = locate::Candidate {
        selector: format!("{} >> visible=true", candidate.selector),
        by: candidate.by.clone(),
    };
    match find::await_match(session, &visible, limit).await? {
        Some((_, matched)) => Ok(Observation::Done(ActionReport {
            located: Some(Located {
                by: candidate.by,
                matched,
            }),
            notes: Vec::new(),
        })),
        None => {
            let hidden = find::await_match(
                session,
                &candidate,
                end.saturating_duration_since(Instant::now()),
            )
            .await
            .is_ok_and(|found| found.is_some());
            Err(not_visible(session, &format!("the text {text:?}"), text, hidden).await)
        }
    }
}

/// An element is visible.
pub(crate) async fn visible(
    session: &Session,
    target: &WebTarget,
    ctx: &CommandContext,
) -> Result<Observation> {
    let found = find::find(session, target, ctx.remaining_up_to(APPEARS)).await?;
    be_visible(session, &found, ctx).await?;
    Ok(Observation::Done(found.report()))
}

/// A value of an element is as expected.
pub(crate) async fn value(
    session: &Session,
    target: &WebTarget,
    kind: &ValueKind,
    expected: &str,
    ctx: &CommandContext,
) -> Result<Observation> {
    let found = find::find(session, target, ctx.remaining_up_to(APPEARS)).await?;
    let limit = ctx.remaining_up_to(HOLDS);
    let exactly = json!({ "expectedText": [{ "string": expected }] });
    let containing = json!({
        "expectedText": [{ "string": expected, "matchSubstring": true, "normalizeWhiteSpace": true }],
    });
    let held = match kind {
        ValueKind::Text => {
            let params = containing;
            match wire::expect(&found.frame, &found.selector, "to.have.text", params, limit).await {
                Ok(()) => Ok(()),
                // Fields have their text in their value.
                Err(first) => {
                    let now = Duration::from_millis(1);
                    wire::expect(&found.frame, &found.selector, "to.have.value", exactly, now)
                        .await
                        .map_err(|_| first)
                }
            }
        }
        ValueKind::Value => {
            wire::expect(
                &found.frame,
                &found.selector,
                "to.have.value",
                exactly,
                limit,
            )
            .await
        }
        ValueKind::Attribute(name) => {
            let mut params = exactly;
            params["expressionArg"] = name.as_str().into();
            wire::expect(
                &found.frame,
                &found.selector,
                "to.have.attribute.value",
                params,
                limit,
            )
            .await
        }
    };
    match held {
        Ok(()) => Ok(Observation::Done(found.report())),
        Err(error) => {
            let actual = actual(&found, kind).await;
            let (what, mut log) = match wire::translate(&error, "compare") {
                DriverError::Unmet { log, .. } => (
                    format!(
                        "{} of {} is {}, expected {expected:?}",
                        kind_name(kind),
                        found.by(),
                        actual.map_or_else(|| "absent".to_owned(), |text| format!("{text:?}")),
                    ),
                    log,
                ),
                other => return Err(other),
            };
            log.insert(0, format!("waited {:.1} s", limit.as_secs_f64()));
            Err(DriverError::Unmet { what, log })
        }
    }
}

/// Every text is somewhere in an element, or on the page.
pub(crate) async fn list(
    session: &Session,
    target: &WebTarget,
    items: &[String],
    ctx: &CommandContext,
) -> Result<Observation> {
    if items.is_empty() {
        return Err(DriverError::Invalid("`items` is empty".to_owned()));
    }
    let target = if target.is_empty() {
        WebTarget {
            selector: None,
            reference: Some("css=body".to_owned()),
        }
    } else {
        target.clone()
    };
    let found = find::find(session, &target, ctx.remaining_up_to(APPEARS)).await?;
    be_visible(session, &found, ctx).await?;
    let end = Instant::now() + ctx.remaining_up_to(HOLDS);
    let mut missing = Vec::new();
    for item in items {
        let selector = format!("{} >> {}", found.selector, locate::by_text(item).selector);
        let left = end.saturating_duration_since(Instant::now());
        let shown = wire::await_attached(&found.frame, &format!("{selector} >> nth=0"), left).await;
        if shown.is_err() {
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

/// The address matches a regular expression somewhere.
pub(crate) async fn url(
    session: &Session,
    pattern: &str,
    limit: Duration,
    ctx: &CommandContext,
) -> Result<Observation> {
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
    if name.trim().is_empty() {
        return Err(DriverError::Invalid("`eventName` is blank".to_owned()));
    }
    let limit = ctx.remaining_up_to(limit);
    let end = tokio::time::Instant::now() + limit;
    let mut count = session.tabs.requests.watch();
    loop {
        let seen = *count.borrow_and_update();
        if session.tabs.requests.mentions(name) {
            return Ok(Observation::Text(format!("{name} was requested")));
        }
        if tokio::time::timeout_at(end, count.changed()).await.is_err() {
            return Err(DriverError::unmet(format!(
                "none of {seen} requests mentions {name:?} after {:.1} s",
                limit.as_secs_f64()
            )));
        }
    }
}

async fn be_visible(session: &Session, found: &Found, ctx: &CommandContext) -> Result<()> {
    let limit = ctx.remaining_up_to(HOLDS);
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
                Err(not_visible(session, found.by(), found.by(), true).await)
            }
            other => Err(other),
        },
    }
}

async fn not_visible(session: &Session, what: &str, words: &str, hidden: bool) -> DriverError {
    let mut log = Vec::new();
    if let Ok(page) = session.page() {
        log.push(format!("page {}", page.url()));
        if let Ok(aria) = find::read_aria(&page, false).await {
            log.extend(find::similar(&aria.list, words));
        }
    }
    let why = if hidden {
        "is there, but hidden"
    } else {
        "is not on the page"
    };
    DriverError::Unmet {
        what: format!("{what} {why}"),
        log,
    }
}

async fn actual(found: &Found, kind: &ValueKind) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answer {
        value: Option<String>,
    }
    let (method, params) = match kind {
        ValueKind::Text => ("textContent", json!({ "selector": found.selector })),
        ValueKind::Value => ("inputValue", json!({ "selector": found.selector })),
        ValueKind::Attribute(name) => (
            "getAttribute",
            json!({ "selector": found.selector, "name": name }),
        ),
    };
    let answer: Answer = wire::ask(&found.frame, method, params, Duration::from_secs(1))
        .await
        .ok()?;
    answer
        .value
        .map(|text| text.trim().chars().take(200).collect())
}

fn kind_name(kind: &ValueKind) -> String {
    match kind {
        ValueKind::Text => "the text".to_owned(),
        ValueKind::Value => "the value".to_owned(),
        ValueKind::Attribute(name) => format!("the attribute {name}"),
    }
}
