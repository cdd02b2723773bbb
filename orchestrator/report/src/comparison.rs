//! From a run as reports see it to what is compared.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use packtrain_compare::align::{Expectation, NameMatch, Place};
use packtrain_compare::answer::{Comparison, Step as TrailStep, Trail};
use packtrain_compare::cover::Condition;
use packtrain_compare::input::{
    Cell, Commands, EarlierFailure, FailedRequest, MatrixSource, OutcomeKind, Run, SeenPicture,
    SeenTree, Session, Step, StepStatus,
};
use packtrain_compare::runs::RunComparison;
use packtrain_drivers::{DeviceEvent, DeviceInfo, Platform, known_axis};
use packtrain_model::screen::ScreenTree;
use packtrain_model::{Expected, Outcome};
use regex::Regex;

use crate::mark::Mark;
use crate::reported::Reported;
use crate::view::{CallView, RunView, SessionView, Status, StepView, TrailView};

/// Gives the content of a file of the run, by its path below the run's folder.
pub type Files<'f> = dyn FnMut(&str) -> Option<Vec<u8>> + 'f;

/// Compares a run. Trees and pictures are read when they are needed, each once.
pub fn compare(view: &RunView, files: &mut Files<'_>) -> Comparison {
    compare_beside(view, None, files)
}

/// Compares a run that was compared with its baselines: the comparison has both.
pub fn compare_beside(
    view: &RunView,
    baselines: Option<RunComparison>,
    files: &mut Files<'_>,
) -> Comparison {
    let (mut run, pictures) = input(view, files);
    let changes = baselines.iter().flat_map(|compared| &compared.changes);
    let screens = changes.filter(|change| change.fails);
    let screens = screens.map(|one| ((one.session.as_str(), one.step), one.title.clone()));
    let screens: BTreeMap<_, _> = screens.collect();
    run.unlike_approved = screens.into_values().collect();
    let mut bytes = |digest: &str| files(pictures.get(digest)?);
    let mut comparison = packtrain_compare::compare::compare(&run, &mut bytes);
    comparison.baselines = baselines;
    comparison
}

/// A run as it is compared, and where its pictures are, by digest.
pub fn input(view: &RunView, files: &mut Files<'_>) -> (Run, HashMap<String, String>) {
    let mut reading = Reading {
        files,
        trees: HashMap::new(),
        pictures: HashMap::new(),
        cells: Vec::new(),
        seen: Vec::new(),
    };
    let mut sessions = Vec::new();
    for (place, trail) in view.trails.iter().enumerate() {
        for session in &trail.sessions {
            sessions.push(reading.session(place, session));
        }
    }
    let (pictures, cells) = (reading.pictures, reading.cells);
    let matrix = view.matrix.clone();
    let expected = matrix.iter().flat_map(|matrix| &matrix.expect);
    let run = Run {
        run: view.run.0.clone(),
        packtrain: view.packtrain.clone(),
        planned: sessions.len(),
        expectations: expected.filter_map(expectation).collect(),
        commands: commands(view),
        matrix,
        trails: view.trails.iter().map(trail).collect(),
        cells,
        sessions,
        unlike_approved: Vec::new(),
    };
    (run, pictures)
}

fn trail(trail: &TrailView) -> Trail {
    let summary = &trail.summary;
    let steps = summary.steps.iter().map(|step| TrailStep {
        step: step.step.0,
        text: step.text.clone(),
    });
    Trail {
        name: summary.name.clone(),
        title: summary.title.clone(),
        path: summary.path.clone(),
        steps: steps.collect(),
    }
}

/// How sessions of the run are asked for again.
pub fn commands(view: &RunView) -> Commands {
    let matrix = match &view.matrix {
        Some(matrix) if !matrix.name.is_empty() => MatrixSource::Named(matrix.name.clone()),
        Some(matrix) if !matrix.is_inline => MatrixSource::Axes,
        Some(_) | None => MatrixSource::Trail,
    };
    let devices = view.devices.iter().map(|device| device.id.to_string());
    Commands {
        matrix,
        devices: devices.collect(),
        folder: view.options.working_directory.clone(),
    }
}

struct Reading<'r, 'f> {
    files: &'r mut Files<'f>,
    /// By digest.
    trees: HashMap<String, Option<Arc<ScreenTree>>>,
    /// Their paths, by digest.
    pictures: HashMap<String, String>,
    cells: Vec<Cell>,
    /// Of each cell, whether its facts are of a screen that was read, and of one that was pictured.
    seen: Vec<(bool, bool)>,
}

impl Reading<'_, '_> {
    fn session(&mut self, trail: usize, session: &SessionView) -> Session {
        let last = session.last();
        let steps = last.into_iter().flat_map(|attempt| &attempt.steps);
        let reached = steps.filter(|step| step.status != Status::NotRun);
        let steps: Vec<Step> = reached.map(|step| self.step(step)).collect();
        let screen = steps.iter().find_map(|step| step.tree.as_ref());
        let screen = screen.map(|seen| (seen.tree.width, seen.tree.height));
        let picture = steps.iter().find_map(|step| step.picture.as_ref());
        let scale = picture.map(|picture| picture.scale);
        let cell = self.cell(session, screen, scale);
        let mut attempts = session.earlier().rev().filter(|_| session.flaky);
        let earlier = attempts.find_map(|attempt| {
            let step = attempt.first_bad_step()?;
            Some(EarlierFailure {
                attempt: attempt.number.0,
                step: step.step.0,
                message: step.status.message().unwrap_or_default(),
            })
        });
        let memory = last.map(|attempt| attempt.memory.clone());
        Session {
            id: session.id.0.clone(),
            trail,
            cell,
            outcome: outcome(&session.status),
            why: session.status.message().unwrap_or_default(),
            blame: session.status.blame(),
            earlier,
            steps,
            memory: memory.into_iter().flatten().collect(),
        }
    }

    fn step(&mut self, step: &StepView) -> Step {
        let observed = step.observed.as_ref();
        let recorded = observed.and_then(|observed| observed.tree.as_ref());
        let tree = recorded.and_then(|tree| {
            let files = &mut *self.files;
            let read = self.trees.entry(tree.digest.clone()).or_insert_with(|| {
                let bytes = files(&tree.artifact)?;
                serde_json::from_slice(&bytes).ok().map(Arc::new)
            });
            Some(SeenTree {
                digest: tree.shown().to_owned(),
                tree: Arc::clone(read.as_ref()?),
            })
        });
        let picture = observed.and_then(|observed| observed.picture.as_ref());
        let picture = picture.map(|picture| {
            self.pictures
                .insert(picture.digest.clone(), picture.artifact.clone());
            SeenPicture {
                digest: picture.digest.clone(),
                scale: picture.scale,
                masked: picture.masked.clone(),
            }
        });
        let location = tree.as_ref().and_then(|seen| seen.tree.location.as_deref());
        let own = location.map_or("", |location| parts(location).0);
        let (console, failed_requests) = troubles(&step.reports, own);
        Step {
            step: step.step.0,
            status: match &step.status {
                Status::Ended(Outcome::Passed) => StepStatus::Passed,
                Status::Ended(Outcome::Failed(_)) => StepStatus::Failed,
                Status::Ended(_) | Status::NotRun | Status::Unfinished => StepStatus::Other,
            },
            message: match &step.status {
                Status::Ended(Outcome::Failed(failure)) => failure.message.clone(),
                _ => String::new(),
            },
            duration_ms: u64::try_from(step.duration.as_millis()).unwrap_or(u64::MAX),
            began_ms: (step.started).and_then(|at| u64::try_from(at.timestamp_millis()).ok()),
            is_unreadable: recorded.is_some() && tree.is_none(),
            tree,
            picture,
            defects: observed.map_or_else(Vec::new, |seen| seen.defects.clone()),
            console,
            failed_requests,
            uses: step.calls.iter().filter_map(used).collect(),
        }
    }

    /// The cell of a session: its place among the cells.
    fn cell(
        &mut self,
        session: &SessionView,
        screen: Option<(f64, f64)>,
        scale: Option<f64>,
    ) -> usize {
        let device = session.cell_device();
        let values = &session.cell.0;
        let mut cells = self.cells.iter();
        let known = cells.position(|cell| cell.device == device && cell.values == *values);
        let engine = engine(session);
        let info = session.info.as_ref();
        let facts = info.map(|info| facts_of(info, &engine, values, screen));
        let facts = facts.unwrap_or_default();
        let key = visual_key(&facts, values, screen, scale);
        let seen = (screen.is_some(), scale.is_some());
        let name = person_calls(session, &device);
        let Some(known) = known else {
            self.seen.push(seen);
            self.cells.push(Cell {
                device,
                name,
                values: values.clone(),
                facts,
                visual_key: key,
                engine,
            });
            return self.cells.len() - 1;
        };
        // Another trail may have seen what this one did not get to.
        if self.seen[known] < seen {
            self.seen[known] = seen;
            let cell = &mut self.cells[known];
            (cell.facts, cell.visual_key, cell.engine) = (facts, key, engine);
        }
        known
    }
}

/// What a person calls a device: a phone by its model, a browser by its name in the configuration, of
/// which `.2` is another context.
fn person_calls(session: &SessionView, device: &str) -> String {
    let name = device.rsplit('/').next().unwrap_or(device);
    match &session.info {
        Some(info) if info.id.platform() != Platform::Web => info.model.clone(),
        _ => match name.rsplit_once('.') {
            Some((of, number)) if number.chars().all(|c| c.is_ascii_digit()) => of.to_owned(),
            _ => name.to_owned(),
        },
    }
}

/// What draws a session's screens, with its version: a browser that an axis chose, or the device's.
fn engine(session: &SessionView) -> String {
    let axes = session.last().map(|attempt| attempt.axes.as_slice());
    let mut axes = axes.unwrap_or_default().iter();
    let chosen = axes.find(|one| one.axis == "engine" && one.how.contains(char::is_numeric));
    let own = || session.info.as_ref().map(|info| info.system.clone());
    let chosen = chosen.map(|axis| axis.how.clone());
    chosen.or_else(own).unwrap_or_default()
}

fn outcome(status: &Status) -> OutcomeKind {
    match Mark::of(status) {
        Mark::NotRun | Mark::Unfinished => OutcomeKind::Unfinished,
        Mark::Passed | Mark::Flaky => OutcomeKind::Passed,
        Mark::Failed => OutcomeKind::Failed,
        Mark::Infrastructure => OutcomeKind::Infrastructure,
        Mark::NeedsAgent => OutcomeKind::NeedsAgent,
        Mark::Cancelled => OutcomeKind::Cancelled,
        Mark::Skipped => OutcomeKind::Skipped,
    }
}

/// What is known of a device in a configuration besides the values of axes.
fn facts_of(
    info: &DeviceInfo,
    engine: &str,
    values: &BTreeMap<String, String>,
    screen: Option<(f64, f64)>,
) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |name: &str, value: String| {
        if !values.contains_key(name) && !value.is_empty() {
            facts.insert(name.to_owned(), value);
        }
    };
    let (width, height) = screen.unwrap_or((info.screen.width, info.screen.height));
    let form = info.classifiers.get(1).map(|form| form.0.clone());
    add("platform", info.id.platform().to_string());
    add("form", form.unwrap_or_default());
    // A pixel of one platform is not a point of another.
    add("width", format!("{}", width.round()));
    let is_wide = width > height;
    let orientation = if is_wide { "landscape" } else { "portrait" };
    add("orientation", orientation.to_owned());
    match info.id.platform() {
        Platform::Web => {
            let (name, _) = packtrain_compare::runs::names::engine(engine);
            add("engine", name.to_lowercase());
        }
        Platform::Android | Platform::Ios => {
            add("os", info.system.clone());
            add("model", info.model.clone());
        }
    }
    facts
}

/// Pictures are compared where engine, size, scale and every setting that drivers apply are equal.
/// What is left to differ is the app: builds, flags, data.
fn visual_key(
    facts: &BTreeMap<String, String>,
    values: &BTreeMap<String, String>,
    screen: Option<(f64, f64)>,
    scale: Option<f64>,
) -> String {
    let (Some((width, height)), Some(scale)) = (screen, scale) else {
        return String::new();
    };
    let fact = |name: &str| facts.get(name).or_else(|| values.get(name));
    let engine = fact("engine").or_else(|| fact("os"));
    let platform = fact("platform").map_or("", String::as_str);
    let mut key = format!("{platform}-{}", engine.map_or("", String::as_str));
    key.push_str(&format!("-{width}x{height}@{scale}"));
    for (axis, value) in values {
        let is_told = matches!(axis.as_str(), "engine" | "viewport" | "size" | "scale");
        if known_axis(axis).is_some() && !is_told {
            key.push_str(&format!("-{axis}={value}"));
        }
    }
    key
}

/// Errors, and requests that failed, without what differs from one run to the next.
fn troubles(reports: &[DeviceEvent], own: &str) -> (Vec<String>, Vec<FailedRequest>) {
    let (mut console, mut requests) = (Vec::new(), Vec::new());
    for event in reports {
        match event {
            DeviceEvent::RequestFailed {
                method,
                url,
                status,
                error,
            } => {
                let address = url.split(['?', '#']).next().unwrap_or_default();
                let (host, path) = parts(address);
                let why = status.map(|status| status.to_string());
                let is_elsewhere = host != own && !own.is_empty();
                let shown = if is_elsewhere { host } else { "" };
                requests.push(FailedRequest {
                    is_elsewhere,
                    request: format!("{method} {shown}/{path}"),
                    host: (host != own).then(|| host.to_owned()),
                    is_answered: why.is_some(),
                    why: why.or_else(|| error.clone()).unwrap_or_default(),
                });
            }
            DeviceEvent::Logged { level, text, .. } if level == "error" => {
                console.push(text.clone());
            }
            DeviceEvent::PageFailed { .. } | DeviceEvent::Crashed { .. } => {
                console.push(Reported::of(event).text);
            }
            _ => {}
        }
    }
    (console, requests)
}

/// Host and path of an address.
fn parts(address: &str) -> (&str, &str) {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    rest.split_once('/').unwrap_or((rest, ""))
}

/// Role and name of the element that a call used, from what led to it: `role button "Add"`.
fn used(call: &CallView) -> Option<(String, String)> {
    let by = &call.report.located.as_ref()?.by;
    let name = by.split('"').nth(1)?.to_owned();
    let rest = by.strip_prefix("role ");
    let role = rest.and_then(|rest| rest.split(' ').next());
    Some((role.unwrap_or_default().to_owned(), name))
}

fn expectation(expected: &Expected) -> Option<Expectation> {
    let conditions = expected.when.iter().map(|(axis, value)| {
        let condition: Condition = value.parse().ok()?;
        Some((axis.clone(), condition))
    });
    let kind = expected.kind.as_ref();
    let kind = kind.map(|kind| serde_json::from_value(kind.as_str().into()));
    let kind = kind.transpose().ok()?;
    let name = expected.name.as_deref().map(Regex::new);
    Some(Expectation {
        text: expected.to_string(),
        trail: expected.trail,
        place: Place {
            steps: expected.step.into_iter().collect(),
            cells: conditions.collect::<Option<_>>()?,
        },
        role: expected.role.clone(),
        name: name.transpose().ok()?.map(NameMatch::Pattern),
        kind,
    })
}
