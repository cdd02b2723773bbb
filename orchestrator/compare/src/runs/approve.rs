//! What of a run becomes its baseline, and what cannot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use packtrain_model::screen::ScreenTree;

use super::answer::{ChangeKind, RunComparison, Unknown};
use super::baseline::{Baselines, Entry, Stored};
use super::names;
use super::screen::{self, Notations};
use super::side::{Side, TrailResult};
use crate::align::Texts;
use crate::input::{Pictures, Run};
use crate::picture::Picture;
use crate::words;

/// What to approve; everything that differs when it says nothing.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only these steps.
    pub steps: Vec<u32>,
    /// Only cells with all values of one of these, axes and facts.
    pub cells: Vec<BTreeMap<String, String>>,
    /// Only changes of these letters.
    pub letters: Vec<String>,
    /// Only these parts of a picture, from 1.
    pub boxes: Vec<usize>,
}

impl Selection {
    /// Values that no cell of the run has together.
    pub fn unknown_cell(&self, run: &Run) -> Option<&BTreeMap<String, String>> {
        let is_there = |values| {
            run.cells
                .iter()
                .any(|cell| has_all(&cell.all_values(), values))
        };
        self.cells.iter().find(|values| !is_there(values))
    }
}

/// A baseline to be written.
#[derive(Debug, Clone)]
pub struct Approval {
    /// The trail's file.
    pub path: String,
    /// The step's id.
    pub step_id: String,
    /// Its words.
    pub text: String,
    /// Where it was seen.
    pub cell: String,
    /// The cell's key.
    pub key: String,
    /// What is said of it.
    pub entry: Entry,
    /// Its picture.
    pub picture: Picture,
    /// Its tree.
    pub tree: Option<Arc<ScreenTree>>,
    /// What changes: `button "Buy" moved down 12 px`.
    pub why: Vec<String>,
}

/// What approving comes to.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// What to write.
    pub approvals: Vec<Approval>,
    /// What not, and why.
    pub refusals: Vec<Unknown>,
    /// The keys that the run has, by the trail's path and the step's id; every step of its trails is
    /// there.
    pub known: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

/// What to write for what differs from the baselines. `compared` is the same run compared with them.
pub fn plan(
    (run, pictures): (&Run, &mut dyn Pictures),
    baselines: &mut dyn Baselines,
    compared: &RunComparison,
    selection: &Selection,
) -> Plan {
    let mut side = Side::new(run, pictures);
    let mut plan = Plan {
        known: known(&side),
        ..Plan::default()
    };
    let refused = refuse(&side, selection, &mut plan);
    // By session and step: what differs there.
    let mut places: BTreeMap<(usize, u32), Vec<&super::Change>> = BTreeMap::new();
    for change in &compared.changes {
        let Some(step) = change.step else { continue };
        let session = &run.sessions[change.place];
        let is_wanted = change.kind != ChangeKind::Outcome
            && (selection.steps.is_empty() || selection.steps.contains(&step))
            && (selection.letters.is_empty() || selection.letters.contains(&change.letter))
            && is_wanted(run, session.cell, selection)
            && !refused.contains(&(session.trail, session.cell));
        if is_wanted {
            places.entry((change.place, step)).or_default().push(change);
        }
    }
    for ((session, step), changes) in places {
        let (trail, cell) = (run.sessions[session].trail, run.sessions[session].cell);
        let why = changes.iter().map(|change| change.title.clone()).collect();
        let found = (session, step);
        let approval = approval(&mut side, baselines, found, &changes, &selection.boxes);
        let mut refuse = |why| {
            let refusal = side.unknown(trail, cell, Some(step), why);
            plan.refusals.push(refusal);
        };
        match approval {
            Err(why) => refuse(why),
            Ok(approval) => {
                let is_there = |other: &&Approval| {
                    (&other.path, &other.step_id, &other.key)
                        == (&approval.path, &approval.step_id, &approval.key)
                };
                match plan.approvals.iter().find(is_there) {
                    Some(other) if other.entry == approval.entry => (),
                    Some(Approval { cell, .. }) => {
                        refuse(format!("{cell} has the same baseline and looks different"));
                    }
                    None => plan.approvals.push(Approval { why, ..approval }),
                }
            }
        }
    }
    plan
}

fn is_wanted(run: &Run, cell: usize, selection: &Selection) -> bool {
    let known = run.cells[cell].all_values();
    let mut wanted = selection.cells.iter();
    selection.cells.is_empty() || wanted.any(|values| has_all(&known, values))
}

fn has_all(known: &BTreeMap<String, String>, values: &BTreeMap<String, String>) -> bool {
    (values.iter()).all(|(name, value)| known.get(name) == Some(value))
}

/// Cells that must not become a baseline as a whole.
fn refuse(side: &Side<'_>, selection: &Selection, plan: &mut Plan) -> BTreeSet<(usize, usize)> {
    let mut refused = BTreeSet::new();
    for ((trail, cell), sessions) in &side.cells {
        if !is_wanted(side.run, *cell, selection) {
            continue;
        }
        let (went, _) = side.went(sessions);
        let silent = side.silent(sessions).into_iter().next();
        let why = match (silent, went) {
            (Some(why), _) => why,
            (None, TrailResult::Flaky { step, message }) => {
                format!("flaky: step {step} failed too: {message}")
            }
            (None, TrailResult::Failed { step, message }) => {
                format!("failed at step {step}: {message}")
            }
            (None, TrailResult::Passed | TrailResult::Unknown) => continue,
        };
        refused.insert((*trail, *cell));
        plan.refusals.push(side.unknown(*trail, *cell, None, why));
    }
    refused
}

fn known(side: &Side<'_>) -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let mut known: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (place, trail) in side.run.trails.iter().enumerate() {
        let keys = side.cells.keys().filter(|(own, _)| *own == place);
        let keys = keys.map(|(_, cell)| names::key(&side.run.cells[*cell]));
        let keys: BTreeSet<String> = keys.filter(|key| !key.is_empty()).collect();
        let steps = known.entry(trail.path.clone()).or_default();
        for step in &side.step_ids[place] {
            steps.insert(step.clone(), keys.clone());
        }
    }
    known
}

fn approval(
    side: &mut Side<'_>,
    baselines: &mut dyn Baselines,
    (place, step): (usize, u32),
    changes: &[&super::Change],
    boxes: &[usize],
) -> Result<Approval, String> {
    let run = side.run;
    let session = &run.sessions[place];
    let (trail, cell) = (session.trail, session.cell);
    let sessions = side.cells.get(&(trail, cell)).cloned().unwrap_or_default();
    if let Some([left, top, right, bottom]) = side.noise(&sessions, step)?.first() {
        return Err(format!(
            "noisy: its repeats differ at {left},{top},{right},{bottom}; a mask excludes that"
        ));
    }
    let seen = side.step(place, step).ok_or("the step was not reached")?;
    let screen = side.screen(place, seen).ok_or("no screen was recorded")?;
    if screen.is_tree_lost {
        return Err(screen::UNREADABLE.to_owned());
    }
    let now = screen.picture.clone();
    let now = now.ok_or("its picture was not recorded, or cannot be read")?;
    let key = names::key(&run.cells[cell]);
    if key.is_empty() {
        return Err("no picture was recorded".to_owned());
    }
    let path = run.trails[trail].path.clone();
    let step_id = side.step_id(trail, step).to_owned();
    let before = match baselines.get(&path, &step_id, &key) {
        Stored::Approved(before) => Some(before),
        Stored::Missing | Stored::Unreadable(_) => None,
    };
    let was = before.as_ref().and_then(|before| before.tree.as_deref());
    if let Some(why) = Notations::of(was, screen.tree.as_deref()).unlike() {
        return Err(why.to_owned());
    }
    // What a session remembers differs from run to run; its names do not.
    let texts = Texts::new(&session.memory);
    let tree = screen.tree.as_deref();
    let mut tree = tree.map(|tree| Arc::new(without_memory(tree, &texts)));
    let mut defects = screen.defects;
    let (mut picture, mut parts) = ((*now).clone(), Vec::new());
    if !boxes.is_empty() {
        let mut visual = changes.iter().filter(|one| one.kind == ChangeKind::Visual);
        let visual = visual.find(|change| !change.boxes.is_empty());
        let visual = visual.ok_or("it has no boxes to choose from")?;
        let before = before.ok_or("no baseline to take the rest from")?;
        // Parts of a picture say nothing of what the screen holds.
        (tree, defects) = (before.tree, before.entry.defects);
        (picture, parts) = (before.picture, before.entry.boxes);
        for number in boxes {
            let of = visual.boxes.len();
            let area = number.checked_sub(1).and_then(|at| visual.boxes.get(at));
            let area = area.ok_or_else(|| format!("it has no box {number}, only 1 to {of}"))?;
            picture = picture.with_part_of(&now, area.at);
            parts.push(area.at);
        }
        parts.sort_unstable();
        parts.dedup();
    }
    // What is not compared must not be kept: it may be a secret.
    picture = picture.masked(&screen.masks);
    Ok(Approval {
        entry: Entry {
            engine: screen.engine.into_owned(),
            scale: screen.scale,
            width: picture.width,
            height: picture.height,
            picture: picture.digest(),
            tree: tree.as_deref().map(digest),
            masks: screen.masks,
            boxes: parts,
            defects,
            packtrain: run.packtrain.clone(),
        },
        path,
        step_id,
        text: side.text(trail, step).to_owned(),
        cell: run.cells[cell].id(),
        key,
        picture,
        tree,
        why: Vec::new(),
    })
}

fn without_memory(tree: &ScreenTree, texts: &Texts) -> ScreenTree {
    let mut tree = tree.clone();
    for node in &mut tree.nodes {
        for text in [&mut node.name].into_iter().chain(&mut node.value) {
            *text = texts.without_memory(text);
        }
    }
    // Where the page is served from differs from run to run, too.
    tree.location = None;
    // What cannot be seen cannot be approved.
    tree.hidden.clear();
    tree
}

/// The first 16 hex digits of the SHA-256 of a tree's JSON.
fn digest(tree: &ScreenTree) -> String {
    words::digest(serde_json::to_vec(tree).unwrap_or_default(), 8)
}
