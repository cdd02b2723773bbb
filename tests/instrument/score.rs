//! How many answers are right, as a table, and what was said where they are not.

use std::path::PathBuf;

use packtrain_compare::answer::{Cluster, ClusterKind, Comparison};
use packtrain_model::Cell;
use packtrain_report::view::{RunView, SessionView};

use super::condition::{Values, is_sure, told};
use super::defects::{self, Defect};
use super::question::{Answer, FLAG, QUESTIONS};
use super::recording::{Random, Recording, Recordings, compared, compose, look_alike};

/// How many random runs of the right shop are looked at.
const RIGHT_RUNS: u64 = 70;

/// What is asked: only cases whose defect or question has this name.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) names: Vec<String>,
    /// Where comparisons are written.
    pub(crate) write: Option<PathBuf>,
}

impl Wanted {
    fn has(&self, question: &str, defect: &str) -> bool {
        let (defects, questions): (Vec<_>, Vec<_>) = self
            .names
            .iter()
            .partition(|name| defects::all().iter().any(|one| one.id == name.as_str()));
        (defects.is_empty() || defects.iter().any(|one| *one == defect))
            && (questions.is_empty() || questions.iter().any(|one| *one == question))
    }

    fn write(&self, name: &str, comparison: &Comparison) {
        let Some(folder) = &self.write else { return };
        let text = serde_json::to_string_pretty(comparison).unwrap();
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join(format!("{name}.json")), text).unwrap();
    }
}

/// Asks everything, and prints the score and what was said where it is not met.
pub(crate) fn ask(recordings: &Recordings, wanted: &Wanted) {
    println!(
        "| condition | cases | named | exact | first | median place | cards | parts | untrue |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for question in QUESTIONS {
        let mut score = Score::default();
        for defect in defects::all()
            .iter()
            .filter(|one| wanted.has(question.name, one.id))
        {
            for seed in 0..question.repeats() {
                let Some(answer) = question.ask(recordings, defect, seed) else {
                    continue;
                };
                let name = format!("{}-{}-{seed}", defect.id, question.name);
                wanted.write(&name, &answer.comparison);
                let unmet = answer.unmet(defect);
                let unmet = unmet.map(|said| {
                    format!("{} {}: {said} [{}]", question.name, defect.id, defect.what)
                });
                lines.extend(unmet);
                score.add(defect, &answer);
            }
        }
        if score.cases > 0 {
            println!("{}", score.row(question.words));
        }
    }
    println!();
    for planted in unseen(recordings) {
        println!("{planted} changes nothing that is observed");
    }
    for line in lines {
        println!("{line}");
    }
}

/// One question's answers.
#[derive(Default)]
struct Score {
    cases: usize,
    named: usize,
    exact: usize,
    first: usize,
    parts: usize,
    untrue: usize,
    cards: usize,
    places: Vec<usize>,
}

impl Score {
    fn add(&mut self, defect: &Defect, answer: &Answer) {
        let about = answer.about(defect);
        let place = about
            .iter()
            .find(|about| about.is_whole)
            .map(|about| about.place);
        self.cases += 1;
        self.cards += answer.cards(defect).len();
        self.named += usize::from(place.is_some());
        self.first += usize::from(place == Some(1));
        self.places.extend(place);
        self.exact += usize::from(about.iter().any(|about| about.is_exact));
        let (parts, untrue) = answer.sure_otherwise(defect);
        self.parts += parts.len();
        self.untrue += untrue.len();
    }

    fn row(&self, words: &str) -> String {
        let mut places = self.places.clone();
        places.sort_unstable();
        let median = places.get(places.len() / 2).copied().unwrap_or(0);
        let mean = self.cards as f64 / self.cases as f64;
        let (cases, named, exact, first) = (self.cases, self.named, self.exact, self.first);
        let (parts, untrue) = (self.parts, self.untrue);
        format!(
            "| {words} | {cases} | {named} | {exact} | {first} | {median} | {mean:.1} | {parts} | {untrue} |"
        )
    }
}

/// Cells on which a defect changes nothing that is observed, though it should.
fn unseen(recordings: &Recordings) -> Vec<String> {
    let mut unseen = Vec::new();
    for defect in defects::all().iter().filter(|one| one.id != "d16") {
        let wrong = recordings.wrong.get(defect.id);
        let sessions = wrong
            .iter()
            .flat_map(|wrong| &wrong.view.trails[0].sessions);
        let is_meant = |cell: &Cell| {
            defect
                .only
                .is_none_or(|(axis, value)| cell.0[axis] == value)
        };
        let alike = sessions.filter(|own| {
            let mut right = recordings.right.iter();
            is_meant(&own.cell) && right.any(|right| look_alike(own, right.session(&own.cell)))
        });
        unseen.extend(alike.map(|own| format!("{} on {}", defect.id, own.cell)));
    }
    unseen
}

/// Runs in which nothing is wrong: how many cards each has, and how many of all blame time.
pub(crate) fn silence(recordings: &Recordings, wanted: &Wanted) {
    if !wanted.has("silence", "right") {
        return;
    }
    println!("\n| right app | cells | cards | sentence |\n|---|---|---|---|");
    let (mut slow, mut noisy) = (0, 0);
    for (name, app) in &recordings.apps {
        let comparison = compared(&app.view);
        wanted.write(name, &comparison);
        let (cells, cards) = (comparison.cells.len(), comparison.clusters.len());
        println!("| {name} | {cells} | {cards} | {} |", comparison.sentence);
        for card in &comparison.clusters {
            println!("    {}", told(card));
        }
        slow += slow_causes(&comparison);
    }
    // As they were recorded, every cell has the defect: nothing tells cells apart.
    let wrong = recordings.wrong.iter().filter(|(name, _)| **name != "d16");
    let wrong: Vec<_> = wrong.map(|(_, wrong)| wrong).collect();
    for recording in wrong.iter().copied().chain(&recordings.right) {
        slow += slow_causes(&compared(&recording.view));
    }
    let recorded = recordings.apps.len() + wrong.len() + recordings.right.len();
    println!("\n{recorded} recorded runs: {slow} false slow causes");
    slow = 0;
    for seed in 0..RIGHT_RUNS {
        let comparison = compared(&of_right(&recordings.right, seed));
        let mut cards = comparison.clusters.iter();
        noisy += usize::from(cards.any(|card| card.kind != ClusterKind::Slow));
        slow += slow_causes(&comparison);
    }
    println!(
        "{RIGHT_RUNS} composed runs of the right shop: {noisy} with cards, {slow} false slow causes"
    );
}

/// Cards that know why a step is slow.
fn slow_causes(comparison: &Comparison) -> usize {
    let is = |card: &&Cluster| card.kind == ClusterKind::Slow && is_sure(card.verdict);
    comparison.clusters.iter().filter(is).count()
}

/// A run of the right shop, each cell from any of its recordings.
fn of_right(right: &[Recording], seed: u64) -> RunView {
    let mut random = Random(seed);
    let choose = |base: &Cell, _: &Values, random: &mut Random| -> &SessionView {
        right[random.below(right.len())].session(base)
    };
    compose(&right[0], &[FLAG], &[], &mut random, choose)
}
