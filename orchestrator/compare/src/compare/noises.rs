//! Layout defects, errors in the console and failed requests.

use std::collections::{BTreeMap, BTreeSet};

use super::conventions::Folded;
use super::field::Field;
use super::screens::Screens;
use super::sighting::Sightings;
use crate::answer::{ClusterKind, Occurrence};
use crate::input::{FailedRequest, StepStatus};

/// What every page aborts when it is left, or asks for without being told to.
const TEARDOWN: [&str; 4] = [
    "favicon",
    "ERR_ABORTED",
    "NS_BINDING_ABORTED",
    "NS_ERROR_ABORT",
];
/// Engines' messages about a failed request: it is reported as the request.
const OF_REQUESTS: [&str; 4] = [
    "Same Origin Policy disallows",
    "Failed to load resource: ",
    "Loading failed for the",
    "Cross-Origin Request Blocked",
];
/// Engines' words for one thing.
const WORDS: [(&[&str], &str); 6] = [
    (
        &["NAME_NOT_RESOLVED", "UNKNOWN_HOST", "NAME_RESOLUTION"],
        "no such host",
    ),
    (&["CONNECTION_REFUSED"], "connection refused"),
    (
        &[
            "CONNECTION_RESET",
            "NET_RESET",
            "EMPTY_RESPONSE",
            "CONNECTION_CLOSED",
            "NET_INTERRUPT",
        ],
        "connection lost",
    ),
    (&["TIMED_OUT", "TIMEOUT"], "timed out"),
    (
        &[
            "DISCONNECTED",
            "OFFLINE",
            "ADDRESS_UNREACHABLE",
            "NETWORK_CHANGED",
            "PROXY",
        ],
        "no network",
    ),
    (&["BLOCKED", "CONTENT_BLOCKED", "CORS", "OPAQUE"], "blocked"),
];

/// What went wrong with a request, in the words of no engine.
fn why(request: &FailedRequest) -> &str {
    if request.is_answered {
        return &request.why;
    }
    let upper = request.why.to_uppercase();
    let has_one = |words: &[&str]| words.iter().any(|word| upper.contains(word));
    let known = WORDS.iter().find(|(words, _)| has_one(words));
    known.map_or("no answer", |(_, said)| said)
}

pub(super) fn compare<'a>(field: &Field<'a>, screens: &mut Screens<'a>, sightings: &mut Sightings) {
    // By trail, step and line: the sessions.
    let mut console: BTreeMap<(usize, u32, &str), Vec<usize>> = BTreeMap::new();
    // Requests to other hosts that none answered, by host.
    let mut away: BTreeMap<&str, Vec<(String, Occurrence)>> = BTreeMap::new();
    for (place, session) in field.sessions() {
        if !session.is_told() {
            continue;
        }
        for step in &session.steps {
            if step.status == StepStatus::Other {
                continue;
            }
            let occurrence = || Occurrence::at(session.trail, place, step.step);
            for defect in &step.defects {
                // In the reference's words, or each language has a defect of its own.
                let called = |element: &str| {
                    let known = screens.as_in_reference(field, place, step.step, element);
                    known.unwrap_or_else(|| element.to_owned())
                };
                let element = called(&defect.element);
                let other = defect.other.as_deref().map(called);
                let (kind, words) = (defect.kind, defect.kind.words());
                let other = other.map(|other| format!(" {other}")).unwrap_or_default();
                let key = format!("defect:{kind:?}:{element}{other}");
                let by = defect.by.map(|by| format!("by {by}")).unwrap_or_default();
                sightings.add(ClusterKind::Defect, key, occurrence(), || {
                    (format!("{element} {words}{other}"), by)
                });
            }
            let news = |text: &str| !TEARDOWN.iter().any(|word| text.contains(word));
            for request in &step.failed_requests {
                if !news(&request.request) || !news(&request.why) {
                    continue;
                }
                let why = why(request);
                let line = format!("{}: {why}", request.request);
                let is_out = !request.is_answered
                    && (request.is_elsewhere || why == "no such host" || why == "no network");
                let host = request.host.as_ref();
                if let Some(host) = host.filter(|host| is_out && !is_here(host)) {
                    let requests = away.entry(host).or_default();
                    requests.push((line, occurrence()));
                    continue;
                }
                let title = match request.is_answered {
                    true => format!("{} answers {why}", request.request),
                    false => line.clone(),
                };
                let key = format!("network:{line}");
                sightings.add(ClusterKind::Network, key, occurrence(), || (title, line));
            }
            for line in &step.console {
                let is_request = OF_REQUESTS.iter().any(|word| line.contains(word));
                if news(line) && !is_request {
                    let sessions = console.entry((session.trail, step.step, line));
                    sessions.or_default().push(place);
                }
            }
        }
    }
    let told: BTreeSet<usize> = (field.sessions())
        .filter(|(_, session)| session.steps.iter().any(|step| step.tree.is_some()))
        .map(|(_, session)| session.cell)
        .collect();
    for (host, requests) in away {
        let cells: BTreeSet<usize> = (requests.iter())
            .map(|(_, one)| field.run.sessions[one.session].cell)
            .collect();
        // A host that most cells do not reach is out of this computer's reach; one that few do not is news.
        if cells.len() * 2 > told.len() {
            let titles = requests.into_iter().map(|(line, _)| line).collect();
            let out_of_reach = &mut screens.conventions.out_of_reach;
            out_of_reach.insert(host.to_owned(), Folded { cells, titles });
            continue;
        }
        for (line, occurrence) in requests {
            let key = format!("network:{line}");
            let told = || (line.clone(), line);
            sightings.add(ClusterKind::Network, key, occurrence, told);
        }
    }
    let mut rest: Vec<_> = console.into_iter().collect();
    while let Some(((trail, step, line), mut sessions)) = rest.pop() {
        // Engines have words of their own for one error: what one says in these cells and another in
        // the same cells of its own is one.
        let engine = |session: usize| field.value(session, "engine");
        let engines = |sessions: &[usize]| -> BTreeSet<_> {
            sessions.iter().map(|one| engine(*one)).collect()
        };
        let elsewhere = |sessions: &[usize]| -> BTreeSet<Vec<(&String, &String)>> {
            let cells = sessions.iter().map(|one| {
                let values = field.cell_of(*one).values.iter();
                values.filter(|(axis, _)| *axis != "engine").collect()
            });
            cells.collect()
        };
        rest.retain(|((other_trail, other_step, _), others)| {
            let is_same = (*other_trail, *other_step) == (trail, step)
                && engines(others).is_disjoint(&engines(&sessions))
                && elsewhere(others) == elsewhere(&sessions);
            if is_same {
                sessions.extend(others);
            }
            !is_same
        });
        for session in sessions {
            let occurrence = Occurrence::at(trail, session, step);
            let key = format!("console:{line}");
            sightings.add(ClusterKind::Console, key, occurrence, || {
                (format!("Console: {}", first_line(line)), line.to_owned())
            });
        }
    }
}

/// Whether a host is this computer.
fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "localhost" | "127.0.0.1" | "[::1]") || name.ends_with(".localhost")
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(120).collect()
}
