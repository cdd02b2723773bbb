//! Sessions of a trail that ended badly in the same way: what failed, as the comparison of the run has
//! it, and what says nothing of the app, by its words.

use std::collections::HashMap;

use packtrain_compare::answer::{ClusterKind, Comparison};
use packtrain_compare::signature::{without_name, without_variances};
use packtrain_model::{Blame, Outcome, StepIndex};

use crate::mark::Mark;
use crate::view::{RunView, SessionView, Status, TrailView, numbered};
use crate::wording;

/// One way in which sessions of a trail ended badly.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// That of the comparison's cluster: `A`; empty for what is not compared.
    pub letter: String,
    /// How they ended.
    pub mark: Mark,
    /// The same in a word that says whom an infrastructure error blames.
    pub word: &'static str,
    /// Whom an infrastructure error blames.
    pub blame: Option<Blame>,
    /// The step at which they stopped; `None` where none was reached.
    pub step: Option<StepIndex>,
    /// What the first of them said.
    pub message: Option<String>,
    /// What a person can do about it.
    pub hint: Option<String>,
    /// Where in the trail file.
    pub at: Option<String>,
    /// What was tried before the first of them failed.
    pub log: Vec<String>,
    /// Places among the trail's sessions, in planning order.
    pub sessions: Vec<usize>,
    /// What their cells have in common: `de-DE at 390 wide`; empty where nothing can be said.
    pub place: String,
}

impl Problem {
    /// The problems of a trail, worst first.
    pub fn of(trail: &TrailView, comparison: &Comparison) -> Vec<Self> {
        let mut problems: Vec<(String, Self)> = Vec::new();
        for (at, session) in trail.sessions.iter().enumerate() {
            let Some(found) = Self::of_one(at, session, comparison) else {
                continue;
            };
            let same = |(key, known): &&mut (String, Self)| {
                (known.mark, known.step, &*known.letter, key)
                    == (found.1.mark, found.1.step, &*found.1.letter, &found.0)
            };
            match problems.iter_mut().find(same) {
                Some((_, known)) => known.sessions.push(at),
                None => problems.push(found),
            }
        }
        let mut problems: Vec<Self> = problems.into_iter().map(|(_, problem)| problem).collect();
        problems.sort_by_key(|one| (one.mark, usize::MAX - one.sessions.len(), one.step));
        problems
    }

    /// What is wrong with a session, behind what makes it the same as that of another.
    fn of_one(at: usize, session: &SessionView, comparison: &Comparison) -> Option<(String, Self)> {
        let is_bad = |mark| matches!(mark, Mark::Failed | Mark::Infrastructure | Mark::NeedsAgent);
        if !is_bad(session.mark()) {
            return None;
        }
        // A step that broke says it best; a session that broke between steps says it itself.
        let bad = session.last().and_then(|attempt| attempt.first_bad_step());
        let said = bad.map_or(&session.status, |step| &step.status);
        let failure = match said.outcome() {
            Some(Outcome::Failed(failure)) => Some(failure),
            Some(_) | None => None,
        };
        let mut compared = comparison.sessions.iter();
        let own = compared.position(|one| one.session == session.id.0);
        let cluster = comparison.clusters.iter().find(|cluster| {
            let mut all = cluster.occurrences.iter();
            cluster.kind == ClusterKind::Failure && all.any(|one| Some(one.session) == own)
        });
        let mark = Mark::of(said);
        let cluster = cluster.filter(|_| mark == Mark::Failed);
        let message = said.message();
        let key = match cluster {
            Some(_) => String::new(),
            None => comparable(message.clone().unwrap_or_default(), session),
        };
        let problem = Self {
            letter: cluster.map_or_else(String::new, |cluster| cluster.letter.clone()),
            mark,
            word: said.word(),
            blame: said.blame(),
            step: bad.map(|step| step.step),
            message,
            hint: said.hint().map(str::to_owned),
            at: failure.and_then(|failure| failure.at.clone()),
            log: failure.map_or_else(Vec::new, |failure| failure.log.clone()),
            sessions: vec![at],
            place: cluster.map_or_else(String::new, |cluster| cluster.place.clone()),
        };
        Some((key, problem))
    }

    /// How they ended and where: `failed at step 6`.
    pub fn what(&self) -> String {
        match self.step {
            None => self.word.to_owned(),
            Some(StepIndex::TRAILHEAD) => format!("{} at the trailhead", self.word),
            Some(step) => format!("{} at {}", self.word, wording::step(step)),
        }
    }

    /// How many of the trail's sessions they are and what those have in common: `on 4 of 12 cells, de-DE
    /// at 390 wide`; empty for an only session.
    pub fn who(&self, trail: &TrailView) -> String {
        let all = trail.sessions.len();
        let some = self.sessions.len();
        let ones = trail.ones();
        let who = match some {
            1 if all == 1 => String::new(),
            2 if all == 2 => format!("on both {ones}"),
            some if some == all => format!("on all {all} {ones}"),
            some => format!("on {some} of {all} {ones}"),
        };
        if some < 2 || some == all || self.place.is_empty() {
            return who;
        }
        format!("{who}, {}", wording::one_line(&self.place))
    }

    /// The first of its sessions.
    pub fn first<'a>(&self, trail: &'a TrailView) -> Option<&'a SessionView> {
        self.sessions.first().and_then(|&at| trail.sessions.get(at))
    }
}

/// A message without what differs by nature.
fn comparable(mut text: String, session: &SessionView) -> String {
    // A phone without a recording names its classifiers; each is missing its own.
    if matches!(session.status, Status::Ended(Outcome::NeedsAgent { .. })) {
        return String::new();
    }
    if let Some(device) = &session.device {
        text = text.replace(&device.to_string(), "<device>");
        text = without_name(&text, device.name());
    }
    if let Some(info) = &session.info {
        text = without_name(&text, &info.model);
    }
    without_variances(text)
}

/// What a person calls the sessions of a run, by their ids: `desktop, dark`.
#[derive(Debug, Clone, Default)]
pub struct Names<'a>(HashMap<&'a str, String>);

impl<'a> Names<'a> {
    /// Labels of the comparison's cells; where two have one label, with the devices' ids.
    pub fn of(view: &'a RunView, comparison: &Comparison) -> Self {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for cell in &comparison.cells {
            *count.entry(&cell.label).or_default() += 1;
        }
        let sessions = comparison.sessions.iter();
        let cells: HashMap<&str, usize> = sessions
            .map(|session| (&*session.session, session.cell))
            .collect();
        let name = |session: &SessionView| {
            let cell = comparison.cells.get(*cells.get(&*session.id.0)?)?;
            let label = match (cell.label.as_str(), count.get(&*cell.label)) {
                ("", _) => return None,
                (label, Some(1)) => label.to_owned(),
                (label, _) => format!("{label} ({})", session.cell_device()),
            };
            Some(numbered(label, session.repeat))
        };
        let sessions = view.sessions();
        let named = sessions.map(|(_, session)| {
            let name = name(session).unwrap_or_else(|| session.name());
            (&*session.id.0, wording::one_line(&name).into_owned())
        });
        Self(named.collect())
    }

    /// The name of a session.
    pub fn get(&self, session: &SessionView) -> &str {
        self.0.get(&*session.id.0).map_or("?", String::as_str)
    }

    /// Those of so many sessions of a trail, and how many more there are.
    pub fn some(&self, trail: &TrailView, sessions: &[usize], most: usize) -> Vec<String> {
        let named = trail.at(sessions).take(most);
        let mut names: Vec<String> = named.map(|session| self.get(session).to_owned()).collect();
        if sessions.len() > most {
            names.push(format!("{} more", sessions.len() - most));
        }
        names
    }
}
