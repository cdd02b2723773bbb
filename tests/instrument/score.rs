//! What is asked of the comparison, and how many of its answers are right.

use std::collections::BTreeMap;
use std::path::Path;

use packtrain_compare::answer::{Cluster, ClusterKind, Comparison};
use packtrain_model::Cell;
use packtrain_report::view::{RunView, SessionView};

use crate::condition::{Condition, Literal, is_exact, is_sure, meets, short, values};
use crate::defects::{self, Defect};
use crate::recording::{Random, Recording, compared, compose, look_alike};

/// How many random runs of the right shop are looked at.
const RIGHT_RUNS: u64 = 70;

const DE: Literal = ("locale", "de-DE");
const NARROW: Literal = ("viewport", "390x844");
const NEW: Literal = ("build", "new");
const ON: Literal = ("flag", "on");
const BUILD: (&str, &[&str]) = ("build", &["old", "new"]);
const FLAG: (&str, &[&str]) = ("flag", &["off", "on"]);

/// What was recorded.
pub(crate) struct Recordings {
    /// The right shop, several times.
    pub(crate) right: Vec<Recording>,
    /// The shop with each defect.
    pub(crate) wrong: BTreeMap<&'static str, Recording>,
    /// Apps that are right, by name.
    pub(crate) apps: Vec<(String, Recording)>,
}

/// What is asked: only cases whose defect or question has this name.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) names: Vec<String>,
    /// Where comparisons are written.
    pub(crate) write: Option<std::path::PathBuf>,
}

impl Wanted {
    fn has(&self, question: &str, defect: &str) -> bool {
        let (defects, questions): (Vec<_>, Vec<_>) = self.names.iter().partition(|name| {
            defects::ALL.iter().any(|one| one.id == name.as_str())
        });
        (defects.is_empty() || defects.iter().any(|one| *one == defect))
            && (questions.is_empty() || questions.iter().any(|one| *one == question))
    }

    fn write(&self, name: &str, comparison: &Comparison) {
        let Some(folder) = &self.write else { return };
        let text = serde_json::to_string_pretty(comparison).unwrap_or_default();
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(folder.join(format!("{name}.json")), text));
        if let Err(error) = written {
            println!("{name}: {error}");
        }
    }
}

/// A way of planting: which axes there are, and where the defect is.
struct Question {
    name: &'static str,
    words: &'static str,
    added: Vec<(&'static str, &'static [&'static str])>,
    devices: &'static [&'static str],
    condition: Condition,
}

fn questions() -> Vec<Question> {
    let question = |name, words, added, devices, condition| Question {
        name,
        words,
        added,
        devices,
        condition,
    };
    let three = &["desk", "studio", "kiosk"];
    vec![
        question("one", "1 literal", vec![BUILD], &[], vec![vec![NEW]]),
        question("two", "2 literals", vec![FLAG], &[], vec![vec![DE, NARROW]]),
        question("three", "3 literals", vec![FLAG, BUILD], &[], vec![vec![NEW, DE, NARROW]]),
        question("or", "a or b, each a pair", vec![FLAG, BUILD], &[], vec![vec![NEW, DE], vec![ON, NARROW]]),
        question("device", "one device of three", vec![], three, vec![vec![("device", "web/studio")]]),
        question("random", "random 20 %", vec![FLAG], &[], vec![]),
    ]
}

impl Question {
    /// Where the defect is to be seen; `None` where too few cells would have it, or its condition would
    /// be another one.
    fn condition(&self, defect: &Defect) -> Option<Condition> {
        let Some(only) = defect.only else {
            return Some(self.condition.clone());
        };
        match self.condition.as_slice() {
            [all_of] if all_of.contains(&only) => Some(self.condition.clone()),
            [all_of] if all_of.len() == 1 => Some(vec![vec![all_of[0], only]]),
            _ => None,
        }
    }
}

/// One question's answers.
#[derive(Default)]
struct Score {
    cases: usize,
    named: usize,
    exact: usize,
    first: usize,
    sure: usize,
    cards: usize,
    places: Vec<usize>,
}

/// Asks everything and prints the score. True when all that has to be met is met.
pub(crate) fn ask(recordings: &Recordings, wanted: &Wanted) {
    println!("| condition | cases | named | exact | first | median place | cards | sure |");
    println!("|---|---|---|---|---|---|---|---|");
    let (mut lines, mut rows, mut shown) = (Vec::new(), Vec::new(), 0);
    for question in questions() {
        let mut score = Score::default();
        for (place, defect) in defects::ALL.iter().enumerate() {
            if !wanted.has(question.name, defect.id) {
                continue;
            }
            let Some(wrong) = recordings.wrong.get(defect.id) else {
                continue;
            };
            let Some(condition) = question.condition(defect) else {
                continue;
            };
            let repeats = if question.name == "random" { 2 } else { 1 };
            for repeat in 0..repeats {
                let seed = place as u64 * 10 + repeat;
                let (comparison, bad) =
                    planted(&question, &condition, (&recordings.right, wrong), seed);
                let name = format!("{}-{}-{repeat}", defect.id, question.name);
                wanted.write(&name, &comparison);
                let size = condition.iter().map(Vec::len).sum();
                let said = score.add(defect, &comparison, &bad, size);
                let said = said.map(|said| format!("{} {}: {said}", question.name, defect.id));
                lines.extend(said.map(|said| format!("{said} [{}]", defect.what)));
            }
        }
        if score.cases > 0 {
            rows.push(score.row(question.words));
        }
        for row in &rows[shown..] {
            println!("{row}");
        }
        shown = rows.len();
    }
    println!();
    for (defect, cell) in unseen(recordings) {
        println!("{defect} is not as planned on {cell}");
    }
    for line in lines {
        println!("{line}");
    }
}

/// A run in which the defect is where the condition holds; without one, in a random fifth.
fn planted(
    question: &Question,
    condition: &[Vec<Literal>],
    (right, wrong): (&[Recording], &Recording),
    seed: u64,
) -> (Comparison, Vec<bool>) {
    let mut random = Random(seed);
    let mut chosen = BTreeMap::new();
    let view = compose(
        &right[0],
        &question.added,
        question.devices,
        &mut random,
        |base, values, random| {
            let bad = match condition {
                [] => random.below(5) == 0,
                condition => meets(condition, values),
            };
            chosen.insert(values.clone(), bad);
            match bad {
                true => wrong.session(base),
                false => right[random.below(right.len())].session(base),
            }
        },
    );
    let comparison = compared(&view);
    let bad = comparison.cells.iter().map(|cell| chosen[&values(cell)]);
    let bad = bad.collect();
    (comparison, bad)
}

/// Cells on which a defect changes nothing that is observed, though it should.
fn unseen(recordings: &Recordings) -> Vec<(&'static str, String)> {
    let mut unseen = Vec::new();
    for defect in defects::ALL.iter().filter(|one| one.id != "d16") {
        let Some(wrong) = recordings.wrong.get(defect.id) else {
            continue;
        };
        for cell in wrong.cells() {
            let is_meant = defect.only.is_none_or(|(axis, value)| cell.0[axis] == value);
            let own = wrong.session(cell);
            let mut right = recordings.right.iter();
            let is_alike = right.any(|right| look_alike(own, right.session(cell)));
            if is_alike == is_meant {
                unseen.push((defect.id, format!("{cell}, meant there: {is_meant}")));
            }
        }
    }
    unseen
}

impl Score {
    /// Counts an answer; what it says instead when it is not the right one.
    fn add(
        &mut self,
        defect: &Defect,
        comparison: &Comparison,
        bad: &[bool],
        size: usize,
    ) -> Option<String> {
        let is_slow = defect.kinds.contains(&ClusterKind::Slow);
        // Times of composed runs come from several; only a defect of times is asked for them.
        let cards = comparison.clusters.iter();
        let cards: Vec<&Cluster> = cards
            .filter(|card| is_slow || card.kind != ClusterKind::Slow)
            .collect();
        let about: Vec<(usize, &&Cluster)> = cards
            .iter()
            .enumerate()
            .filter(|(_, card)| is_about(defect, card))
            .collect();
        let has_all = |card: &Cluster| (0..bad.len()).all(|at| !bad[at] || card.cells.contains(&at));
        let named = about.iter().find(|(_, card)| has_all(card));
        let is_exact = |card: &Cluster| is_exact(card, &comparison.cells, bad, size);
        let exact = about.iter().any(|(_, card)| has_all(card) && is_exact(card));
        let sure = about.iter().find(|(_, card)| is_sure(card.verdict));
        self.cases += 1;
        self.cards += cards.len();
        self.named += usize::from(named.is_some());
        self.exact += usize::from(exact);
        self.sure += usize::from(sure.is_some());
        self.first += usize::from(named.is_some_and(|(place, _)| *place == 0));
        self.places.extend(named.map(|(place, _)| place + 1));
        let all = bad.iter().filter(|bad| **bad).count();
        let told = |card: &Cluster| {
            format!("{:?} {:?} on {} of {all}, {}", card.kind, card.title, card.cells.len(), short(card))
        };
        let first = cards.first().map_or("no card".to_owned(), |card| told(card));
        if size == 0 {
            return sure.map(|(_, card)| format!("sure of chance: {}", told(card)));
        }
        match (named, about.first()) {
            (None, None) => Some(format!("NOT NAMED; first {first}")),
            (None, Some((place, card))) => Some(format!("IN PARTS; place {}: {}", place + 1, told(card))),
            (Some((place, card)), _) if !exact => Some(format!("NOT EXACT; place {}: {}", place + 1, told(card))),
            (Some((place, _)), _) if *place > 0 => Some(format!("PLACE {}; first {first}", place + 1)),
            (Some(_), _) => None,
        }
    }

    fn row(&self, words: &str) -> String {
        let mut places = self.places.clone();
        places.sort_unstable();
        let median = places.get(places.len() / 2).copied().unwrap_or(0);
        let Self { cases, named, exact, first, sure, .. } = self;
        let cards = self.cards as f64 / *cases as f64;
        format!("| {words} | {cases} | {named} | {exact} | {first} | {median} | {cards:.1} | {sure} |")
    }
}

fn is_about(defect: &Defect, card: &Cluster) -> bool {
    let words = format!("{} {} {}", card.title, card.detail, card.also.join(" "));
    defect.kinds.contains(&card.kind)
        && (defect.about.is_empty() || defect.about.iter().any(|about| words.contains(about)))
}

/// Runs in which nothing is wrong: how many cards each has, and how many of them blame time.
pub(crate) fn silence(recordings: &Recordings, wanted: &Wanted) {
    if !wanted.has("silence", "right") {
        return;
    }
    let mut slow = 0;
    let mut told = |name: &str, view: &RunView, only_slow: bool| {
        let comparison = compared(view);
        let cards = comparison.clusters.iter();
        let (late, cards): (Vec<_>, Vec<_>) = cards.partition(|one| one.kind == ClusterKind::Slow);
        let is_slow = name == "d16";
        slow += if is_slow { 0 } else { late.iter().filter(|one| is_sure(one.verdict)).count() };
        if only_slow {
            return;
        }
        wanted.write(name, &comparison);
        println!("| {name} | {} | {} | {} |", comparison.cells.len(), cards.len() + late.len(), comparison.sentence);
        for card in cards.into_iter().chain(late) {
            println!("    {} {:?} {:?} on {} cells, {}", card.letter, card.kind, card.title, card.cells.len(), short(card));
        }
    };
    println!("\n| right app | cells | cards | sentence |\n|---|---|---|---|");
    for (place, right) in recordings.right.iter().enumerate() {
        told(&format!("shop-{place}"), &right.view, false);
    }
    for (name, app) in &recordings.apps {
        told(name, &app.view, false);
    }
    // As they were recorded every cell has the defect: nothing tells cells apart.
    for (name, wrong) in &recordings.wrong {
        told(name, &wrong.view, true);
    }
    let (mut noisy, mut sure) = (0, 0);
    for seed in 0..RIGHT_RUNS {
        let comparison = compared(&of_right(&recordings.right, seed));
        let cards = comparison.clusters.iter();
        let (late, cards): (Vec<_>, Vec<_>) = cards.partition(|one| one.kind == ClusterKind::Slow);
        noisy += usize::from(!cards.is_empty());
        sure += late.iter().filter(|one| is_sure(one.verdict)).count();
    }
    println!("\n{RIGHT_RUNS} composed runs of the right shop: {noisy} with cards, {sure} false slow causes");
    println!("{} recorded runs: {slow} false slow causes", recordings.right.len() + recordings.apps.len() + recordings.wrong.len());
}

/// A run of the right shop, each cell from any of its recordings.
fn of_right(right: &[Recording], seed: u64) -> RunView {
    let mut random = Random(seed);
    let choose = |base: &Cell, _: &BTreeMap<String, String>, random: &mut Random| -> &SessionView {
        right[random.below(right.len())].session(base)
    };
    compose(&right[0], &[FLAG], &[], &mut random, choose)
}

/// The recordings of a folder; what is not there is not asked for.
pub(crate) fn open(folder: &Path) -> Recordings {
    let open = |name: &str| Recording::open(&folder.join(name));
    let mut apps: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("app-"))
        .collect();
    apps.sort();
    Recordings {
        right: (0..).map_while(|at| open(&format!("right-{at}"))).collect(),
        wrong: defects::ALL
            .iter()
            .filter_map(|defect| Some((defect.id, open(defect.id)?)))
            .collect(),
        apps: apps
            .into_iter()
            .filter_map(|name| Some((name.clone(), open(&name)?)))
            .collect(),
    }
}
