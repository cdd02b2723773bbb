//! The same trail on many devices, compared: which devices went alike, where the others first
//! left the way, and what those have in common.

mod signature;
mod traits;

use std::time::Duration;

use packtrain_compare::letter;
use packtrain_model::{Blame, StepIndex};

use crate::mark::Mark;
use crate::view::{SessionView, Status, TrailView};
use crate::wording;
use signature::Signature;

/// What became of one trail across its devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Devices that went alike, worst first; the reference, when there is one, is last.
    pub clusters: Vec<Cluster>,
    /// How long each step of the trail took where it passed, in the trail's order.
    pub spreads: Vec<Option<Spread>>,
}

/// How a cluster relates to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// It went another way than the reference.
    Diverged,
    /// It did not get to an end of its own: under way, called off, never begun.
    Open,
    /// It passed, and the others are compared with it.
    Reference,
}

/// Devices on which a trail ended alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// How it relates to the others.
    pub standing: Standing,
    /// `A`, `B` ... in the order of the report; empty unless it diverged.
    pub letter: String,
    /// The worst mark among them.
    pub mark: Mark,
    /// How they ended, in words that say whom an infrastructure error blames.
    pub word: &'static str,
    /// Whom an infrastructure error blames.
    pub blame: Option<Blame>,
    /// The first step that went another way than the reference; `None` for the reference, and
    /// where no step of the trail was reached.
    pub step: Option<StepIndex>,
    /// What the first of them said.
    pub message: Option<String>,
    /// What a person can do about it.
    pub hint: Option<String>,
    /// Where in the trail file.
    pub at: Option<String>,
    /// Places among the trail's sessions, in planning order.
    pub sessions: Vec<usize>,
    /// What these devices have in common and the others that ran do not: `ios`, `narrower than
    /// 400`. Empty for one device, where it would say nothing.
    pub shared: Vec<String>,
}

/// How long a step took on the devices where it passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// The shortest.
    pub fastest: Duration,
    /// Whose it was: a place among the trail's sessions.
    pub fastest_session: usize,
    /// The longest.
    pub slowest: Duration,
    /// Whose it was.
    pub slowest_session: usize,
    /// How many devices.
    pub count: usize,
}

impl Comparison {
    /// Compares the attempts that count.
    pub fn of(trail: &TrailView) -> Self {
        Self {
            clusters: clusters(trail),
            spreads: trail
                .summary
                .steps
                .iter()
                .map(|step| spread(trail, step.step))
                .collect(),
        }
    }

    /// The devices that passed alike, when there are any.
    pub fn reference(&self) -> Option<&Cluster> {
        self.clusters
            .last()
            .filter(|cluster| cluster.standing == Standing::Reference)
    }

    /// The clusters that diverged.
    pub fn divergences(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters
            .iter()
            .filter(|cluster| cluster.standing == Standing::Diverged)
    }

    /// The cluster a session belongs to.
    pub fn cluster_of(&self, session: usize) -> Option<&Cluster> {
        self.clusters
            .iter()
            .find(|cluster| cluster.sessions.contains(&session))
    }
}

impl Cluster {
    /// How they ended and where: `failed at step 6`.
    pub fn what(&self) -> String {
        let word = self.word;
        match self.step {
            None => word.to_owned(),
            Some(StepIndex::TRAILHEAD) => format!("{word} at the trailhead"),
            Some(step) => format!("{word} at {}", wording::step(step)),
        }
    }

    /// How many of the trail's devices they are: `on 4 of 12 devices`; empty for an only device.
    pub fn who(&self, trail: &TrailView) -> String {
        let all = trail.sessions.len();
        match self.sessions.len() {
            1 if all == 1 => String::new(),
            some if some == all => format!("on all {all} devices"),
            some => format!("on {some} of {all} devices"),
        }
    }
}

fn clusters(trail: &TrailView) -> Vec<Cluster> {
    let mut groups: Vec<(Signature, Vec<usize>)> = Vec::new();
    for (place, session) in trail.sessions.iter().enumerate() {
        let signature = Signature::of(session);
        match groups.iter_mut().find(|(known, _)| *known == signature) {
            Some((_, members)) => members.push(place),
            None => groups.push((signature, vec![place])),
        }
    }
    // Where the devices that passed skipped different steps, most of them decide what is usual.
    let reference = groups
        .iter()
        .enumerate()
        .filter(|(_, (signature, _))| signature.is_pass())
        .max_by_key(|(place, (_, members))| (members.len(), usize::MAX - place))
        .map(|(place, _)| place);
    let reference = reference.map(|place| groups.remove(place));
    let passing = reference
        .as_ref()
        .and_then(|(_, members)| trail.sessions.get(*members.first()?));

    let mut clusters: Vec<Cluster> = groups
        .into_iter()
        .map(|(signature, members)| cluster(trail, &signature, members, passing))
        .collect();
    clusters.sort_by_key(|cluster| {
        let size = usize::MAX - cluster.sessions.len();
        (cluster.standing, cluster.mark, cluster.step, size)
    });
    let diverged = clusters
        .iter_mut()
        .filter(|cluster| cluster.standing == Standing::Diverged);
    for (place, cluster) in diverged.enumerate() {
        cluster.letter = letter(place);
    }
    if let Some((signature, members)) = reference {
        clusters.push(Cluster {
            standing: Standing::Reference,
            ..cluster(trail, &signature, members, None)
        });
    }
    clusters
}

/// A cluster without its letter; `passing` is a session of the reference.
fn cluster(
    trail: &TrailView,
    signature: &Signature,
    members: Vec<usize>,
    passing: Option<&SessionView>,
) -> Cluster {
    let sessions = || {
        members
            .iter()
            .filter_map(|&place| trail.sessions.get(place))
    };
    let first = sessions().next();
    let bad = first
        .and_then(SessionView::last)
        .and_then(|attempt| attempt.first_bad_step());
    // A step that broke says it best; a session that broke between steps says it itself.
    let said = bad
        .map(|step| &step.status)
        .or_else(|| first.map(|session| &session.status));
    let step = match signature {
        Signature::Passed { skipped } => passing.and_then(|passing| {
            let usual = signature::skipped(passing);
            // The first step in which the two sets differ.
            let only_here = skipped.iter().filter(|step| !usual.contains(step));
            let only_there = usual.iter().filter(|step| !skipped.contains(step));
            only_here.chain(only_there).min().copied()
        }),
        Signature::CameOff { step, .. } => *step,
        Signature::Skipped { .. } | Signature::Open { .. } => None,
    };
    let mark = sessions()
        .map(SessionView::mark)
        .min()
        .unwrap_or(Mark::NotRun);
    let blame = said.and_then(Status::blame);
    Cluster {
        standing: match signature {
            Signature::Passed { .. } | Signature::Skipped { .. } | Signature::CameOff { .. } => {
                Standing::Diverged
            }
            Signature::Open { .. } => Standing::Open,
        },
        letter: String::new(),
        mark,
        word: match mark {
            Mark::Passed | Mark::Flaky => "passed differently",
            Mark::Infrastructure => said.map_or(mark.word(), Status::word),
            _ => mark.word(),
        },
        blame,
        step,
        message: match signature {
            Signature::Passed { .. } => None,
            _ => said.and_then(Status::message),
        },
        hint: said.and_then(Status::hint).map(str::to_owned),
        at: said.and_then(|status| match status.outcome() {
            Some(packtrain_model::Outcome::Failed(failure)) => failure.at.clone(),
            _ => None,
        }),
        shared: traits::shared(trail, &members),
        sessions: members,
    }
}

fn spread(trail: &TrailView, step: StepIndex) -> Option<Spread> {
    let mut spread: Option<Spread> = None;
    for (place, session) in trail.sessions.iter().enumerate() {
        let Some(took) = session
            .step(step)
            .filter(|step| step.mark() == Mark::Passed)
            .map(|step| step.duration)
        else {
            continue;
        };
        let known = spread.get_or_insert(Spread {
            fastest: took,
            fastest_session: place,
            slowest: took,
            slowest_session: place,
            count: 0,
        });
        known.count += 1;
        if took < known.fastest {
            (known.fastest, known.fastest_session) = (took, place);
        }
        if took > known.slowest {
            (known.slowest, known.slowest_session) = (took, place);
        }
    }
    spread
}

#[cfg(test)]
mod tests;
