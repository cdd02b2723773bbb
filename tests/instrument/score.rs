//! What is asked of the comparison, and how many of its answers are right.

use std::collections::BTreeMap;
use std::path::Path;

use packtrain_compare::answer::{Cluster, ClusterKind, Comparison};
use packtrain_model::Cell;
use packtrain_report::view::{RunView, SessionView};

use super::condition::{Condition, Literal, is_exact, is_sure, meets, short, values};
use super::defects::{self, Defect};
use super::recording::{Random, Recording, compared, compose, first_unlike};

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
    repeats: u64,
}

fn questions() -> Vec<Question> {
    let question = |name, words, added, devices, condition: Condition| Question {
        name,
        words,
        added,
        devices,
        repeats: if condition.is_empty() { 2 } else { 1 },
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
        // Where all cells that are to look alike have it, no picture tells.
        let looks = |all_of: &Vec<Literal>| all_of.iter().all(|one| [DE, NARROW].contains(one));
        let is_drawn = defect.kinds == [ClusterKind::Visual];
        if is_drawn && !self.condition.is_empty() && self.condition.iter().all(looks) {
            return None;
        }
        let Some(only) = defect.only else {
            return Some(self.condition.clone());
        };
        match self.condition.as_slice() {
            // Chance has a condition where not all cells can have it.
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

/// Asks everything, and prints the score and what was said where it is not met.
pub(crate) fn ask(recordings: &Recordings, wanted: &Wanted) {
    println!("| condition | cases | named | exact | first | median place | cards | sure |");
    println!("|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for question in questions() {
        let mut score = Score::default();
        for defect in defects::ALL.iter().filter(|one| wanted.has(question.name, one.id)) {
            for seed in 0..question.repeats {
                let Some(answer) = question.ask(recordings, defect, seed) else {
                    continue;
                };
                let name = format!("{}-{}-{seed}", defect.id, question.name);
                wanted.write(&name, &answer.comparison);
                let unmet = answer.unmet(defect);
                let unmet = unmet.map(|said| format!("{} {}: {said} [{}]", question.name, defect.id, defect.what));
                lines.extend(unmet);
                score.add(defect, &answer);
            }
        }
        if score.cases > 0 {
            println!("{}", score.row(question.words));
        }
    }
    println!();
    for (defect, cell) in unseen(recordings) {
        println!("{defect} changes nothing that is observed on {cell}");
    }
    for line in lines {
        println!("{line}");
    }
}

/// What was said of a defect under a question instead of what is true; nothing where all was right.
pub(crate) fn unmet(recordings: &Recordings, question: &str, defect: &str) -> Option<String> {
    let question = questions().into_iter().find(|one| one.name == question)?;
    let defect = defects::ALL.iter().find(|one| one.id == defect)?;
    question.ask(recordings, defect, 0)?.unmet(defect)
}

impl Question {
    /// Composes the run in which the defect is where the condition holds; without one, in a random
    /// fifth. `None` where it is not to be asked.
    fn ask(&self, recordings: &Recordings, defect: &Defect, seed: u64) -> Option<Answer> {
        let condition = self.condition(defect)?;
        let wrong = recordings.wrong.get(defect.id)?;
        let right = &recordings.right;
        let number: u64 = defect.id[1..].parse().ok()?;
        let mut random = Random(number * 1_000 + seed);
        let mut chosen = BTreeMap::new();
        let view = compose(
            right.first()?,
            &self.added,
            self.devices,
            &mut random,
            |base, values, random| {
                let bad = match condition.as_slice() {
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
        Some(Answer {
            bad: bad.collect(),
            literals: condition.iter().map(Vec::len).sum(),
            comparison,
        })
    }
}

/// What was said of a composed run, and what is true of it.
struct Answer {
    comparison: Comparison,
    /// By cell.
    bad: Vec<bool>,
    /// Of the condition; 0 where there is none.
    literals: usize,
}

/// A card about a defect.
struct About<'a> {
    /// Its place among the cards, from 1.
    place: usize,
    card: &'a Cluster,
    /// Whether it has all the bad cells.
    is_whole: bool,
    /// Whether it says exactly where the defect is.
    is_exact: bool,
}

impl Answer {
    /// The cards that count. Times of a composed run come from several: only a defect of times is asked
    /// for them.
    fn cards(&self, defect: &Defect) -> Vec<&Cluster> {
        let is_slow = defect.kinds.contains(&ClusterKind::Slow);
        let cards = self.comparison.clusters.iter();
        cards
            .filter(|card| is_slow || card.kind != ClusterKind::Slow)
            .collect()
    }

    fn about(&self, defect: &Defect) -> Vec<About<'_>> {
        let cards = self.cards(defect).into_iter().enumerate();
        cards
            .filter(|(_, card)| is_about(defect, card))
            .map(|(place, card)| {
                let mut bad = (0..self.bad.len()).filter(|at| self.bad[*at]);
                let is_whole = bad.all(|at| card.cells.contains(&at));
                let cells = &self.comparison.cells;
                About {
                    place: place + 1,
                    card,
                    is_whole,
                    is_exact: is_whole && is_exact(card, cells, &self.bad, self.literals),
                }
            })
            .collect()
    }

    fn unmet(&self, defect: &Defect) -> Option<String> {
        let about = self.about(defect);
        let all = self.bad.iter().filter(|bad| **bad).count();
        let told = |card: &Cluster| {
            let Cluster { kind, title, cells, .. } = card;
            format!("{kind:?} {title:?} on {} of {all}, {}", cells.len(), short(card))
        };
        if self.literals == 0 {
            let sure = about.iter().find(|about| is_sure(about.card.verdict));
            return sure.map(|about| format!("SURE OF CHANCE; {}", told(about.card)));
        }
        let first = self.cards(defect).first().map(|card| told(card));
        let first = first.unwrap_or_else(|| "no card".to_owned());
        let whole = about.iter().find(|about| about.is_whole);
        match (whole, about.first()) {
            (None, None) => Some(format!("NOT NAMED; first {first}")),
            (None, Some(part)) => Some(format!("IN PARTS; place {}: {}", part.place, told(part.card))),
            (Some(whole), _) if !about.iter().any(|about| about.is_exact) => {
                Some(format!("NOT EXACT; place {}: {}", whole.place, told(whole.card)))
            }
            (Some(whole), _) if whole.place > 1 => Some(format!("PLACE {}; first {first}", whole.place)),
            (Some(_), _) => None,
        }
    }
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
            let right = recordings.right.iter();
            let unlike: Vec<_> = right
                .map(|right| first_unlike(own, right.session(cell)))
                .collect();
            if is_meant && unlike.contains(&None) {
                unseen.push((defect.id, cell.to_string()));
            }
        }
    }
    unseen
}

impl Score {
    fn add(&mut self, defect: &Defect, answer: &Answer) {
        let about = answer.about(defect);
        let place = about.iter().find(|about| about.is_whole).map(|about| about.place);
        self.cases += 1;
        self.cards += answer.cards(defect).len();
        self.named += usize::from(place.is_some());
        self.first += usize::from(place == Some(1));
        self.places.extend(place);
        self.exact += usize::from(about.iter().any(|about| about.is_exact));
        self.sure += usize::from(about.iter().any(|about| is_sure(about.card.verdict)));
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
