//! Sessions that were run once, and runs composed of them: as many cells as a question needs, each with
//! the session of the shop that is right or of one with a defect.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use packtrain_compare::answer::Comparison;
use packtrain_model::{Axis, Cell, SessionId};
use packtrain_record::JournalReader;
use packtrain_report::view::{RunView, SessionView};

use super::condition::Values;
use super::defects;
use super::question::Added;

/// How many sessions of a composed run are as if they had run side by side.
const LANES: usize = 4;

/// A recorded run. Its artifacts are found wherever it is.
pub(crate) struct Recording {
    pub(crate) view: RunView,
}

impl Recording {
    /// Reads the only run of a workspace, when it was recorded to its end.
    pub(crate) fn open(workspace: &Path) -> Option<Self> {
        std::fs::metadata(workspace.join("stamp")).ok()?;
        let runs = std::fs::read_dir(workspace.join(".packtrain/runs")).ok()?;
        let folder = runs
            .filter_map(|run| Some(run.ok()?.path()))
            .find(|run| !run.is_symlink() && run.join("events.ndjson").is_file())?;
        let journal = JournalReader::open(&folder).ok()?;
        let mut view = RunView::from_events(journal.map_while(Result::ok));
        let sessions = view.trails.iter_mut().flat_map(|trail| &mut trail.sessions);
        for session in sessions {
            // Which of the equal browsers ran it is told by nothing.
            session.group = session.group.take().or_else(|| session.device.clone());
            let steps = session.attempts.iter_mut().flat_map(|one| &mut one.steps);
            for seen in steps.filter_map(|step| step.observed.as_mut()) {
                let whole = |path: &mut String| *path = folder.join(&path).display().to_string();
                let tree = seen.tree.iter_mut().map(|tree| &mut tree.artifact);
                let picture = seen.picture.iter_mut().map(|picture| &mut picture.artifact);
                tree.chain(picture).for_each(whole);
            }
        }
        Some(Self { view })
    }

    /// The session of a cell.
    pub(crate) fn session(&self, cell: &Cell) -> &SessionView {
        let mut sessions = self.view.trails[0].sessions.iter();
        let found = sessions.find(|session| session.cell == *cell);
        found.unwrap_or_else(|| panic!("{cell} was not recorded"))
    }
}

/// What was recorded.
pub(crate) struct Recordings {
    /// The right shop, several times.
    pub(crate) right: Vec<Recording>,
    /// The shop with each defect.
    pub(crate) wrong: BTreeMap<&'static str, Recording>,
    /// Apps that are right, by name.
    pub(crate) apps: BTreeMap<String, Recording>,
}

/// The recordings of a folder; what is not there is not asked for.
pub(crate) fn open(folder: &Path) -> Recordings {
    let open = |name: &str| Recording::open(&folder.join(name));
    let names = std::fs::read_dir(folder).into_iter().flatten();
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let apps = names.filter(|name| name.starts_with("app-"));
    Recordings {
        right: (0..).map_while(|at| open(&format!("right-{at}"))).collect(),
        wrong: defects::all()
            .iter()
            .filter_map(|defect| Some((defect.id, open(defect.id)?)))
            .collect(),
        apps: apps
            .filter_map(|name| Some((name.clone(), open(&name)?)))
            .collect(),
    }
}

/// Whether nothing that is observed of two sessions differs; times are not.
pub(crate) fn look_alike(one: &SessionView, other: &SessionView) -> bool {
    let steps = |session: &SessionView| -> Vec<_> {
        let steps = session.last().map(|last| last.steps.clone());
        let seen = steps.into_iter().flatten().map(|step| {
            let observed = step.observed.unwrap_or_default();
            let tree = observed.tree.map(|tree| tree.shown().to_owned());
            let picture = observed.picture.map(|picture| picture.digest);
            let reports = step.reports.len();
            (step.status, tree, picture, observed.defects, reports)
        });
        seen.collect()
    };
    steps(one) == steps(other)
}

/// Compares a run as the report does.
pub(crate) fn compared(view: &RunView) -> Comparison {
    packtrain_report::comparison::compare(view, &mut |path| std::fs::read(path).ok())
}

/// A run with more axes than were recorded, and other devices when there are any: `choose` gives the
/// session of each cell.
pub(crate) fn compose<'r>(
    right: &'r Recording,
    added: &[Added],
    devices: &[&str],
    random: &mut Random,
    mut choose: impl FnMut(&Cell, &Values, &mut Random) -> &'r SessionView,
) -> RunView {
    let mut view = right.view.clone();
    let recorded = right.view.trails[0].sessions.iter();
    let cells = recorded.map(|session| (session.cell.clone(), session.cell.clone()));
    let mut cells: Vec<(Cell, Cell)> = cells.collect();
    for (axis, values) in added {
        let with = |value: &str, (base, cell): &(Cell, Cell)| {
            let mut cell = cell.clone();
            cell.0.insert((*axis).to_owned(), value.to_owned());
            (base.clone(), cell)
        };
        let product = values
            .iter()
            .flat_map(|value| cells.iter().map(|cell| with(value, cell)));
        cells = product.collect();
    }
    let device = |name: &str| format!("web/{name}").parse().ok();
    let devices: Vec<_> = match devices {
        [] => vec![view.trails[0].sessions[0].group.clone()],
        devices => devices.iter().map(|name| device(name)).collect(),
    };
    let mut sessions = Vec::new();
    for device in devices {
        for (base, cell) in &cells {
            let mut values = cell.0.clone();
            let id = device.as_ref().map(ToString::to_string);
            values.insert("device".to_owned(), id.unwrap_or_default());
            let mut session = choose(base, &values, random).clone();
            session.id = SessionId(format!("s{}", sessions.len() + 1));
            session.cell = cell.clone();
            (session.group, session.device) = (device.clone(), device.clone());
            if let (Some(info), Some(device)) = (&mut session.info, &device) {
                info.id = device.clone();
                info.model = format!("{} 1280x720", device.name());
            }
            for attempt in &mut session.attempts {
                attempt.id = session.id.clone();
                let axes = cell.0.iter();
                let axes = axes.map(|(axis, value)| (format!("axis.{axis}"), value.clone()));
                attempt.memory.extend(axes);
            }
            sessions.push(session);
        }
    }
    lay_out(&mut sessions, random);
    if let Some(matrix) = &mut view.matrix {
        matrix.cells = cells.into_iter().map(|(_, cell)| cell).collect();
        for (name, values) in added {
            matrix.axes.push(Axis {
                name: (*name).to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
                ordered: false,
            });
            let first = values[0].to_owned();
            matrix.reference.0.insert((*name).to_owned(), first);
        }
    }
    view.trails[0].sessions = sessions;
    view
}

/// Gives sessions the times that they would have had in one run: in an order without a meaning, several
/// side by side.
fn lay_out(sessions: &mut [SessionView], random: &mut Random) {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last + 1));
    }
    let mut lanes = [DateTime::<Utc>::UNIX_EPOCH + TimeDelta::days(20_000); LANES];
    for place in order {
        let Some(lane) = lanes.iter_mut().min() else {
            return;
        };
        let session = &mut sessions[place];
        let Some(began) = session.attempts.first().and_then(|one| one.started) else {
            continue;
        };
        let later = *lane - began;
        for attempt in &mut session.attempts {
            let steps = attempt.steps.iter_mut().map(|step| &mut step.started);
            let times = steps.chain([&mut attempt.started, &mut attempt.ended]);
            times.flatten().for_each(|time| *time += later);
            *lane = attempt.ended.unwrap_or(*lane);
        }
    }
}

/// Numbers without a meaning, the same for the same seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) const fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}
