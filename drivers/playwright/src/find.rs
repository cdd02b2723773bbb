//! Finding the element a target names, and waiting for it: the selector first, and the reference only
//! when there is no selector or an action's matched nothing.

use std::time::Duration;

use packtrain_drivers::selector::{CompiledSelector, NodeSelector};
use packtrain_drivers::{ActionReport, DriverError, Located, WebTarget};
use playwright_rs::protocol::Frame;
use serde_json::json;
use tokio::time::Instant;

use crate::locate::{self, Candidate, Reference};
use crate::read;
use crate::reading::{self, Frames, Numbered, NumberedElement, Place, ReadOptions};
use crate::related;
use crate::session::Session;
use crate::wire;

/// How long an element may take to appear.
pub(crate) const APPEAR_TIMEOUT: Duration = Duration::from_secs(10);
/// How often frames are looked into.
pub(crate) const FRAME_POLL: Duration = Duration::from_millis(100);

/// An element that is there.
pub(crate) struct FoundElement {
    pub(crate) frame: Frame,
    /// Matches that element alone.
    pub(crate) selector: String,
    /// In no frame.
    pub(crate) is_on_page: bool,
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

    fn new(found: Match, by: String, matched: u32, notes: Vec<String>) -> Self {
        Self {
            is_on_page: found.place.is_page(),
            selector: found.selector,
            frame: found.frame,
            located: Located { by, matched },
            notes,
        }
    }
}

/// Where something matched, first.
pub(crate) struct Match {
    pub(crate) frame: Frame,
    /// In the document that it is in.
    pub(crate) place: Place,
    /// The first element that matched, and no other.
    selector: String,
    /// How many elements of that document matched.
    pub(crate) count: u32,
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
            "missing `nodeSelector` (with a `web` block) or `ref`".to_owned(),
        ));
    };
    let (candidate, by_place) = resolve(session, reference, limit).await?;
    let Some(found) = await_match(session, &candidate, Frames::Shown, limit).await? else {
        return Err(absent(session, &candidate.by, Some(&candidate.selector), limit).await);
    };
    let instead = unmatched.map(|by| {
        format!(
            "the selector ({by}) matched nothing, so the reference was used: {}",
            candidate.by
        )
    });
    let notes = instead.into_iter().chain(by_place).collect();
    let matched = found.count;
    Ok(FoundElement::new(found, candidate.by, matched, notes))
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
            && let Some(found) = await_match(session, &candidate, Frames::Shown, limit).await?
        {
            let found = FoundElement::new(found, candidate.by, matched, Vec::new());
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
    Ok(
        match await_match(session, &candidate, Frames::Shown, limit).await? {
            Some(found) => {
                let matched = found.count;
                let found = FoundElement::new(found, candidate.by, matched, Vec::new());
                Selection::Found(Box::new(found))
            }
            None => Selection::Nothing(candidate.by),
        },
    )
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

/// Waits until `candidate` matches something on the current tab, whichever that becomes: in the page
/// itself first, then in its frames.
pub(crate) async fn await_match(
    session: &Session,
    candidate: &Candidate,
    frames: Frames,
    limit: Duration,
) -> Result<Option<Match>, DriverError> {
    let doing = || format!("look for {}", candidate.by);
    let end = Instant::now() + limit;
    let mut tabs = session.tabs.watch();
    loop {
        tabs.mark_unchanged();
        let page = session.page()?;
        let frame = wire::frame_of(&page)
            .await
            .map_err(|error| wire::translate(&error, &doing()))?;
        let mut places = vec![Place::default()];
        let mut at = 0;
        while let Some(place) = places.get(at).cloned() {
            let selector = place.selector(&candidate.selector);
            match wire::count(&frame, &selector).await {
                Ok(0) => {}
                Ok(count) => {
                    return Ok(Some(Match {
                        selector: first_of(&selector),
                        frame,
                        place,
                        count,
                    }));
                }
                // A page that is navigating has no document for a moment, and a frame may be gone.
                Err(error) if is_navigating(&error) || wire::is_closed(&error) => {}
                Err(_) if !place.is_page() => {}
                Err(error) => return Err(wire::translate(&error, &doing())),
            }
            if at == 0 {
                places = reading::places(&page, frames).await;
            }
            at += 1;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        if reading::has_frames(&page).await {
            let _ = tokio::time::timeout(left.min(FRAME_POLL), tabs.changed()).await;
            continue;
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
            () = frames_come(&frame) => {}
        }
    }
}

/// Resolves once a page without frames has one.
async fn frames_come(frame: &Frame) {
    while frame.child_frames().is_empty() {
        tokio::time::sleep(FRAME_POLL).await;
    }
}

/// What a reference names, with a note when that is the place in the list.
async fn resolve(
    session: &Session,
    reference: Reference,
    limit: Duration,
) -> Result<(Candidate, Option<String>), DriverError> {
    match reference {
        Reference::Selector(candidate) => Ok((candidate, None)),
        Reference::OneOf(tries) => Ok((one_of(session, tries, limit).await?, None)),
        Reference::ListedElement(number) if session.numbers.are_given() => {
            Ok((numbered(session, number).await?, None))
        }
        Reference::ListedElement(number) => {
            let candidate = listed(session, number, limit).await?;
            let note = format!(
                "{}: by position, because no snapshot of this session has it",
                candidate.by
            );
            Ok((candidate, Some(note)))
        }
    }
}

/// The element that a snapshot of this session gave a number to, and no other.
async fn numbered(session: &Session, number: u32) -> Result<Candidate, DriverError> {
    let found = reading::numbered(&session.page()?, number, &session.numbers).await?;
    let now = |found: &NumberedElement| match (&found.is, found.number) {
        (Some(is), Some(number)) => Some(format!("{is} [e{number}]")),
        _ => None,
    };
    let what = match found {
        Numbered::Same(selector, was) => {
            return Ok(Candidate {
                selector,
                by: format!("ref e{number}, {was}"),
            });
        }
        Numbered::Changed(found) => {
            let is = now(&found).unwrap_or_default();
            format!("e{number} was {}, and that element is {is} now", found.was)
        }
        Numbered::Gone(found) => {
            let instead = now(&found).map(|is| format!("; there is {is} now"));
            let instead = instead.unwrap_or_default();
            format!("e{number} was {}, which is gone{instead}", found.was)
        }
        Numbered::Left(found) => {
            let instead = now(&found).map(|is| format!("; there is {is} now"));
            let instead = instead.unwrap_or_default();
            format!(
                "e{number} was {} on a page or frame that is gone{instead}; take a new snapshot",
                found.was
            )
        }
        Numbered::Unknown => format!("no snapshot of this session has e{number}"),
    };
    Err(DriverError::unmet(what))
}

/// An entry of the compact list, by its number in a fresh one, once there are so many. Frames do not
/// count: they did not when such numbers were recorded.
async fn listed(session: &Session, number: u32, limit: Duration) -> Result<Candidate, DriverError> {
    let end = Instant::now() + limit;
    let nth = usize::try_from(number).unwrap_or(usize::MAX).checked_sub(1);
    loop {
        let page = session.page()?;
        let aria = reading::read(&page, ReadOptions::default()).await?.aria;
        let mut on_page = aria.refs.iter().filter(|entry| entry.is_on_page);
        let entry = nth.and_then(|nth| on_page.nth(nth));
        let found = entry.and_then(|entry| Some((entry, aria.candidate(entry.node)?)));
        if let Some((entry, found)) = found {
            return Ok(Candidate {
                by: format!("ref e{number}, {}", entry.descriptor),
                ..found
            });
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(DriverError::Unmet {
                what: format!(
                    "the page has no element e{number}: its list ends at e{}",
                    aria.refs.iter().filter(|entry| entry.is_on_page).count()
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
    let Some(found) = await_match(session, &union, Frames::Shown, limit).await? else {
        return Err(absent(session, &union.by, None, limit).await);
    };
    for candidate in &tries {
        let there = found.place.selector(&candidate.selector);
        if matches!(wire::count(&found.frame, &there).await, Ok(1..)) {
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
        if let Ok(reading) = reading::read(&page, ReadOptions::default()).await {
            log.extend(similar(&reading.aria.list, by));
        }
    }
    let why = match selector {
        Some(selector) => why_unseen(session, selector).await,
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

/// Why what `selector` matches cannot be seen; `None` when it matches nothing, or what can be seen.
/// Roles are found whether or not they are exposed to assistive technology.
pub(crate) async fn why_unseen(session: &Session, selector: &str) -> Option<String> {
    reading::why_unseen(&session.page().ok()?, &locate::with_hidden(selector)).await
}

/// Lines of the page that share words with what was looked for.
pub(crate) fn similar<'a>(list: &'a str, wanted: &str) -> Vec<String> {
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
    // A current number may be another element's in the caller's snapshot.
    let bare = |line: &'a str| match line
        .strip_prefix("[e")
        .and_then(|rest| rest.split_once("] "))
    {
        Some((_, line)) => line,
        None => line,
    };
    scored
        .into_iter()
        .take(5)
        .map(|(_, line)| format!("similar: {}", bare(line)))
        .collect()
}

fn first_of(selector: &str) -> String {
    format!("{selector} >> nth=0")
}

pub(crate) fn is_navigating(error: &playwright_rs::Error) -> bool {
    let text = error.to_string();
    text.contains("Execution context was destroyed") || text.contains("navigat")
}
