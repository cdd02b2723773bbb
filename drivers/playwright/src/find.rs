//! Finding the element a target names, and waiting for it: the selector first, and the reference only
//! when there is no selector or an action's matched nothing.

use std::time::{Duration, Instant};

use packtrain_drivers::selector::{CompiledSelector, NodeSelector};
use packtrain_drivers::{ActionReport, DriverError, Located, Rect, WebTarget};
use playwright_rs::protocol::{Frame, Page};
use serde_json::json;

use crate::aria::{self, Aria};
use crate::hidden;
use crate::locate::{self, Candidate, Reference};
use crate::read;
use crate::related;
use crate::session::Session;
use crate::wire;

/// How long an element may take to appear.
pub(crate) const APPEAR_TIMEOUT: Duration = Duration::from_secs(10);
/// A reading of the page answers at once, or the page hangs.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// An element that is there.
pub(crate) struct FoundElement {
    pub(crate) frame: Frame,
    /// Matches that element alone.
    pub(crate) selector: String,
    located: Located,
    notes: Vec<String>,
}

impl FoundElement {
    /// What reports say about how it was found.
    pub(crate) fn report(self) -> ActionReport {
        ActionReport {
            located: Some(self.located),
            notes: self.notes,
        }
    }

    /// The words that led to it.
    pub(crate) fn by(&self) -> &str {
        &self.located.by
    }

    fn new(frame: Frame, candidate: Candidate, matched: u32, notes: Vec<String>) -> Self {
        Self {
            selector: first_of(&candidate.selector),
            frame,
            located: Located {
                by: candidate.by,
                matched,
            },
            notes,
        }
    }
}

/// What an element is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To act on it. When the selector matches nothing, the reference may still name it.
    Action,
    /// To verify something of it. Its selector says what is to be verified, and nothing else does.
    Verification,
}

/// What a selector led to.
enum Selection {
    Found(Box<FoundElement>),
    /// It matched nothing; so it is called.
    Nothing(String),
    /// It names nothing on a page, or there is none.
    Unusable,
}

/// Finds what `target` names, waiting up to `limit` for it to appear.
pub(crate) async fn find(
    session: &Session,
    target: &WebTarget,
    purpose: Purpose,
    limit: Duration,
) -> Result<FoundElement, DriverError> {
    let reference = target.reference.as_deref().and_then(locate::reference);
    let unmatched = match select(session, target.selector.as_ref(), limit).await? {
        Selection::Found(found) => return Ok(*found),
        Selection::Nothing(by) if purpose == Purpose::Verification || reference.is_none() => {
            let selector = target.selector.as_ref().and_then(locate::durable);
            let hidden = selector.map(|candidate| candidate.selector);
            return Err(absent(session, &by, hidden.as_deref(), limit).await);
        }
        Selection::Nothing(by) => Some(by),
        Selection::Unusable => None,
    };
    let Some(reference) = reference else {
        return Err(DriverError::Invalid(
            "neither `nodeSelector` (with a `web` block) nor `ref` names an element".to_owned(),
        ));
    };
    let candidate = resolve(session, reference, limit).await?;
    let Some((frame, matched)) = await_match(session, &candidate, limit).await? else {
        return Err(absent(session, &candidate.by, Some(&candidate.selector), limit).await);
    };
    let instead = unmatched.map(|by| {
        format!(
            "the selector ({by}) matched nothing, so the reference was used: {}",
            candidate.by
        )
    });
    let notes = instead.into_iter().collect();
    Ok(FoundElement::new(frame, candidate, matched, notes))
}

async fn select(
    session: &Session,
    selector: Option<&NodeSelector>,
    limit: Duration,
) -> Result<Selection, DriverError> {
    let Some(selector) = selector else {
        return Ok(Selection::Unusable);
    };
    if related::is_related(selector) {
        if let Some((candidate, matched)) = related::await_related(session, selector, limit).await?
            && let Some((frame, _)) = await_match(session, &candidate, limit).await?
        {
            let found = FoundElement::new(frame, candidate, matched, Vec::new());
            return Ok(Selection::Found(Box::new(found)));
        }
        let compiled = CompiledSelector::new(selector);
        let by = compiled.map(|selector| selector.description().to_owned());
        return Ok(Selection::Nothing(by.unwrap_or_default()));
    }
    let Some(candidate) = locate::durable(selector) else {
        // It says what is meant, though not so that it could be found.
        return Ok(match &selector.web {
            Some(_) => Selection::Nothing("a `web` block without a role, id or CSS".to_owned()),
            None => Selection::Unusable,
        });
    };
    Ok(match await_match(session, &candidate, limit).await? {
        Some((frame, matched)) => {
            let found = FoundElement::new(frame, candidate, matched, Vec::new());
            Selection::Found(Box::new(found))
        }
        None => Selection::Nothing(candidate.by),
    })
}

/// What `target` names when it is one selector that Playwright can look for by itself.
pub(crate) fn plain(target: &WebTarget) -> Option<Candidate> {
    match (&target.selector, &target.reference) {
        (Some(selector), None) if !related::is_related(selector) => locate::durable(selector),
        (None, Some(reference)) => match locate::reference(reference)? {
            Reference::Selector(candidate) => Some(candidate),
            Reference::ListedElement(_) | Reference::OneOf(_) => None,
        },
        _ => None,
    }
}

/// Waits until `candidate` matches something on the current tab, whichever that becomes.
pub(crate) async fn await_match(
    session: &Session,
    candidate: &Candidate,
    limit: Duration,
) -> Result<Option<(Frame, u32)>, DriverError> {
    let doing = || format!("look for {}", candidate.by);
    let end = Instant::now() + limit;
    let mut tabs = session.tabs.watch();
    loop {
        tabs.mark_unchanged();
        let page = session.page()?;
        let frame = wire::frame_of(&page)
            .await
            .map_err(|error| wire::translate(&error, &doing()))?;
        let now = wire::count(&frame, &candidate.selector).await;
        match now {
            Ok(0) => {}
            Ok(matched) => return Ok(Some((frame, matched))),
            // A page that is navigating has no document for a moment.
            Err(error) if is_navigating(&error) || wire::is_closed(&error) => {}
            Err(error) => return Err(wire::translate(&error, &doing())),
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let first = first_of(&candidate.selector);
        tokio::select! {
            attached = wire::await_attached(&frame, &first, left) => match attached {
                Ok(()) => {}
                Err(playwright_rs::Error::Timeout(_)) => return Ok(None),
                Err(error) if wire::is_closed(&error) => {
                    // Another tab takes over, or none is left, which `page()` reports.
                    if tokio::time::timeout(left, tabs.changed()).await.is_err() {
                        return Err(wire::translate(&error, &doing()));
                    }
                }
                Err(error) => return Err(wire::translate(&error, &doing())),
            },
            _ = tabs.changed() => {}
        }
    }
}

#[derive(serde::Deserialize)]
struct Answer {
    snapshot: String,
}

/// The current tab as an ARIA snapshot.
pub(crate) async fn read_aria(page: &Page, boxes: bool) -> Result<Aria, DriverError> {
    let doing = "read the page";
    let frame = wire::frame_of(page)
        .await
        .map_err(|error| wire::translate(&error, doing))?;
    let params = json!({ "selector": ":root", "boxes": boxes });
    let answer: Answer = wire::ask(&frame, "ariaSnapshot", params, READ_TIMEOUT)
        .await
        .map_err(|error| wire::translate(&error, doing))?;
    Ok(aria::read(&answer.snapshot))
}

/// The same of a plain page, whose root is nothing but the box around its body: at a fraction of the
/// cost, because Playwright reads a body in one call, and needs several for what a selector names.
pub(crate) async fn read_plain_aria(page: &Page, root: Rect) -> Result<Aria, DriverError> {
    let doing = "read the page";
    let frame = wire::frame_of(page)
        .await
        .map_err(|error| wire::translate(&error, doing))?;
    let answer: Answer = wire::ask(
        &frame,
        "ariaSnapshot",
        json!({ "boxes": true }),
        READ_TIMEOUT,
    )
    .await
    .map_err(|error| wire::translate(&error, doing))?;
    match aria::in_document(&answer.snapshot, root) {
        Some(whole) => Ok(aria::read(&whole)),
        None => read_aria(page, true).await,
    }
}

async fn resolve(
    session: &Session,
    reference: Reference,
    limit: Duration,
) -> Result<Candidate, DriverError> {
    match reference {
        Reference::Selector(candidate) => Ok(candidate),
        Reference::ListedElement(name) => listed(session, &name, limit).await,
        Reference::OneOf(tries) => one_of(session, tries, limit).await,
    }
}

/// An entry of the compact list, by its number in a fresh one, once there are so many.
async fn listed(session: &Session, name: &str, limit: Duration) -> Result<Candidate, DriverError> {
    let end = Instant::now() + limit;
    loop {
        let page = session.page()?;
        let aria = read_aria(&page, false).await?;
        let entry = aria.refs.iter().find(|entry| entry.shown.name == name);
        let found = entry.and_then(|entry| Some((entry, aria.candidate(entry.node)?)));
        if let Some((entry, found)) = found {
            return Ok(Candidate {
                by: format!("ref {name}, {}", entry.descriptor),
                ..found
            });
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(DriverError::Unmet {
                what: format!(
                    "the page has no element {name}: its list ends at e{}",
                    aria.refs.len()
                ),
                log: aria.list.lines().take(40).map(str::to_owned).collect(),
            });
        }
        read::await_mutation(&page, left).await;
    }
}

/// The first that matches now; the last when none does, for it to be waited for.
async fn one_of(
    session: &Session,
    tries: Vec<Candidate>,
    limit: Duration,
) -> Result<Candidate, DriverError> {
    let union = Candidate {
        selector: tries
            .iter()
            .map(|candidate| candidate.selector.clone())
            .reduce(|all, next| format!("{all} >> internal:or={}", json!(next)))
            .unwrap_or_default(),
        by: tries.last().map(|last| last.by.clone()).unwrap_or_default(),
    };
    let Some((frame, _)) = await_match(session, &union, limit).await? else {
        return Err(absent(session, &union.by, None, limit).await);
    };
    for candidate in &tries {
        if matches!(wire::count(&frame, &candidate.selector).await, Ok(1..)) {
            return Ok(candidate.clone());
        }
    }
    Ok(union)
}

/// "Not found" after so long, with what the page has instead; or why what matches `selector` does not
/// count.
pub(crate) async fn absent(
    session: &Session,
    by: &str,
    selector: Option<&str>,
    waited: Duration,
) -> DriverError {
    let mut log = vec![format!("waited {:.1} s", waited.as_secs_f64())];
    if let Ok(page) = session.page() {
        log.push(format!("page {}", page.url()));
        if let Ok(aria) = read_aria(&page, false).await {
            log.extend(similar(&aria.list, by));
        }
    }
    let why = match selector {
        Some(selector) => hidden::why(session, selector).await,
        None => None,
    };
    DriverError::Unmet {
        what: match why {
            Some(why) => format!("{by} is there, but {why}"),
            None => format!("no element matches {by}"),
        },
        log,
    }
}

/// Lines of the page that share words with what was looked for.
pub(crate) fn similar(list: &str, wanted: &str) -> Vec<String> {
    let words: Vec<String> = wanted
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2)
        .map(str::to_lowercase)
        .filter(|word| {
            !["role", "text", "css", "ref", "label", "test", "nth"].contains(&word.as_str())
        })
        .collect();
    let score = |line: &str| {
        let line = line.to_lowercase();
        words
            .iter()
            .filter(|word| line.contains(word.as_str()))
            .count()
    };
    let mut scored: Vec<_> = list
        .lines()
        .map(|line| (score(line), line.trim()))
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored
        .into_iter()
        .take(5)
        .map(|(_, line)| format!("similar: {line}"))
        .collect()
}

fn first_of(selector: &str) -> String {
    format!("{selector} >> nth=0")
}

pub(crate) fn is_navigating(error: &playwright_rs::Error) -> bool {
    let text = error.to_string();
    text.contains("Execution context was destroyed") || text.contains("navigat")
}
