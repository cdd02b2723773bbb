//! Assertions about what an element holds: its text, its value, an attribute.

use std::time::Duration;

use packtrain_drivers::{
    CommandContext, DriverError, Observation, TextMatch, ValueKind, WebTarget,
};
use playwright_rs::Error;
use serde_json::{Value, json};

use crate::expect::{self, ASSERTION_TIMEOUT};
use crate::find::FoundElement;
use crate::locate;
use crate::session::Session;
use crate::shown::{ShownText, Within};
use crate::wire;

type Result<T> = std::result::Result<T, DriverError>;

/// Fields that a person fills in.
const FIELDS: &str = "css=:is(textarea, select, input:not([type=submit i], [type=button i]))";
/// For a look that does not wait.
const NO_WAIT_TIMEOUT: Duration = Duration::from_millis(1);

/// What an element shows as its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextSource {
    /// What is in it.
    Content,
    /// Its value: a text area's content is what it began with.
    Value,
    /// The chosen option: its content is all of them.
    ChosenOption,
}

/// A value of an element is as expected.
pub(crate) async fn value(
    session: &Session,
    target: &WebTarget,
    kind: &ValueKind,
    expected: &str,
    matching: TextMatch,
    ctx: &CommandContext,
) -> Result<Observation> {
    let found = expect::find(session, target, ctx).await?;
    let limit = ctx.remaining_up_to(ASSERTION_TIMEOUT);
    let held = match kind {
        ValueKind::Text => text(&found, expected, matching, limit).await,
        ValueKind::Value => has_value(&found, expected, limit).await,
        ValueKind::Attribute(name) => {
            let mut params = whole(expected);
            params["expressionArg"] = name.as_str().into();
            let selector = &found.selector;
            let expression = "to.have.attribute.value";
            wire::expect(&found.frame, selector, expression, params, limit).await
        }
    };
    let Err(error) = held else {
        if *kind == ValueKind::Text {
            be_shown(session, &found, expected, matching, limit).await?;
        }
        return Ok(Observation::Done(found.report()));
    };
    let mut log = match wire::translate(&error, "compare") {
        DriverError::Unmet { log, .. } => log,
        other => return Err(other),
    };
    let actual = actual(&found, kind).await;
    log.insert(0, format!("waited {:.1} s", limit.as_secs_f64()));
    Err(DriverError::Unmet {
        what: format!(
            "{} of {} is {}, expected {expected:?}",
            kind_name(kind),
            found.by(),
            actual.map_or_else(|| "absent".to_owned(), |text| format!("{text:?}")),
        ),
        log,
    })
}

/// The text of an element, as a reader of the page would say it.
async fn text(
    found: &FoundElement,
    expected: &str,
    matching: TextMatch,
    limit: Duration,
) -> std::result::Result<(), Error> {
    let FoundElement {
        frame, selector, ..
    } = found;
    // Every text contains nothing, so that nothing means an empty text.
    let is_whole = matching == TextMatch::Exact || expected.trim().is_empty();
    let params = match locate::containing(expected).filter(|_| !is_whole) {
        Some(pattern) => json!({ "expectedText": [{ "regexSource": pattern, "regexFlags": "u" }] }),
        None => json!({ "expectedText": [{
            "string": expected,
            "matchSubstring": !is_whole,
            "normalizeWhiteSpace": true,
        }] }),
    };
    match shows(found).await? {
        TextSource::Content => wire::expect(frame, selector, "to.have.text", params, limit).await,
        TextSource::Value => has_value(found, expected, limit).await,
        TextSource::ChosenOption => {
            if has_value(found, expected, NO_WAIT_TIMEOUT).await.is_ok() {
                return Ok(());
            }
            let chosen = format!("{selector} >> css=option:checked");
            wire::expect(frame, &chosen, "to.contain.text.array", params, limit).await
        }
    }
}

/// What was found in the document can be seen, too.
async fn be_shown(
    session: &Session,
    found: &FoundElement,
    expected: &str,
    matching: TextMatch,
    limit: Duration,
) -> Result<()> {
    let source = shows(found).await;
    let source = source.map_err(|error| wire::translate(&error, "read the page"))?;
    if source != TextSource::Content || expected.trim().is_empty() {
        return Ok(());
    }
    let shown = ShownText {
        text: expected,
        matching,
        any_case: false,
    };
    if shown
        .wait(session, &found.selector, Within::Element, limit)
        .await?
        > 0
    {
        return Ok(());
    }
    Err(DriverError::unmet(format!(
        "the text {expected:?} of {} is there, but hidden",
        found.by()
    )))
}

async fn shows(found: &FoundElement) -> std::result::Result<TextSource, Error> {
    let and = |css: &str| format!("{} >> internal:and={}", found.selector, json!(css));
    if wire::count(&found.frame, &and(FIELDS)).await? == 0 {
        return Ok(TextSource::Content);
    }
    let lists = wire::count(&found.frame, &and("css=select")).await?;
    Ok(if lists == 0 {
        TextSource::Value
    } else {
        TextSource::ChosenOption
    })
}

async fn has_value(
    found: &FoundElement,
    expected: &str,
    limit: Duration,
) -> std::result::Result<(), Error> {
    let params = whole(expected);
    wire::expect(
        &found.frame,
        &found.selector,
        "to.have.value",
        params,
        limit,
    )
    .await
}

fn whole(expected: &str) -> Value {
    json!({ "expectedText": [{ "string": expected }] })
}

async fn actual(found: &FoundElement, kind: &ValueKind) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Answer {
        value: Option<String>,
    }
    let is_content = matches!(kind, ValueKind::Text)
        && shows(found)
            .await
            .is_ok_and(|shows| shows == TextSource::Content);
    let (method, params) = match kind {
        ValueKind::Text if is_content => ("textContent", json!({ "selector": found.selector })),
        ValueKind::Text | ValueKind::Value => ("inputValue", json!({ "selector": found.selector })),
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
