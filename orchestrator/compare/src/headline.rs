//! A run in one line that can be forwarded: what failed, then what was not tested, then what differs.
//! Every report begins with it. It knows no report.

use std::collections::{BTreeMap, BTreeSet};

use packtrain_model::Blame;

use crate::answer::{Cell, Cluster, ClusterKind, Verdict};
use crate::input::{OutcomeKind, Run, Session, StepStatus};
use crate::words::count as counted;

/// How many characters a headline has at most.
const LONGEST: usize = 140;
/// A detail that would have fewer characters than this is left out.
const SHORTEST_DETAIL: usize = 16;
/// A detail that begins with one of these goes on without a colon: `8 of 16 failed in dark`.
const PREPOSITIONS: [&str; 7] = ["in", "at", "on", "with", "for", "below", "above"];
/// How much of a trail's title is shown.
const LONGEST_TITLE: usize = 30;

/// The verdict: `1 of 3 failed: phone, step 1: link Reports is hidden by CSS.` It counts sessions.
pub fn headline(run: &Run, cells: &[Cell], clusters: &[Cluster]) -> String {
    let told = HeadlineInput {
        run,
        cells,
        clusters,
    };
    let planned = run.planned.max(run.sessions.len());
    let settled = run.sessions.len() - told.count(OutcomeKind::Unfinished);
    let clauses = told.clauses(settled, settled < planned);
    match settled {
        _ if settled == planned => fitted("", clauses),
        0 => format!("None of {planned} has finished yet."),
        _ => fitted(&format!("So far, {settled} of {planned}: "), clauses),
    }
}

/// A part of the headline, which can do without its detail.
struct Clause {
    /// `1 not tested`.
    count: String,
    /// `Pixel 9 lost at step 3`.
    detail: String,
    /// `, and 2 others`.
    others: String,
    /// Whether it is a sentence of its own.
    is_sentence: bool,
}

impl Clause {
    fn new(count: String, (detail, others): (String, usize)) -> Self {
        Self {
            count,
            detail,
            others: match others {
                0 => String::new(),
                others => format!(", and {}", counted(others, "other", "others")),
            },
            is_sentence: false,
        }
    }

    fn plain(count: String) -> Self {
        Self::new(count, (String::new(), 0))
    }

    fn sentence(count: String, detail: (String, usize)) -> Self {
        Self {
            is_sentence: true,
            ..Self::new(count, detail)
        }
    }

    /// With a detail of so many characters at most; a pattern that nothing is said of has none.
    fn text(&self, most: usize) -> String {
        let detail = cut(&self.detail, most);
        let first = self.detail.split(' ').next();
        let is_said = first.is_some_and(|word| PREPOSITIONS.contains(&word));
        let joint = if is_said { " " } else { ": " };
        match detail.as_str() {
            "" => self.count.clone(),
            detail => format!("{}{joint}{detail}{}", self.count, self.others),
        }
    }
}

/// The clauses as one line. Where it would be too long, what is told last loses its detail first, what
/// is only counted is left out next, and only then the first detail is cut.
fn fitted(begin: &str, mut clauses: Vec<Clause>) -> String {
    loop {
        let mut texts: Vec<String> = clauses.iter().map(|clause| clause.text(0)).collect();
        let mut is_cut = false;
        for (place, clause) in clauses.iter().enumerate() {
            let without = joined(begin, &clauses, &texts).chars().count();
            // The colon, a full stop in place of a comma.
            let around = clause.others.chars().count() + 3;
            let room = LONGEST.saturating_sub(without + around);
            let whole = clause.detail.chars().count();
            let is_first = clauses[..place].iter().all(|one| one.detail.is_empty());
            if room >= whole || (is_first && room >= SHORTEST_DETAIL) {
                texts[place] = clause.text(room);
            }
            is_cut |= is_first && room < whole;
        }
        let counted = clauses.iter().rposition(|clause| clause.detail.is_empty());
        match counted.filter(|place| is_cut && *place > 0) {
            Some(place) => clauses.remove(place),
            None => return joined(begin, &clauses, &texts),
        };
    }
}

fn joined(begin: &str, clauses: &[Clause], texts: &[String]) -> String {
    let mut line = begin.to_owned();
    let mut is_counting = true;
    for (place, (clause, text)) in clauses.iter().zip(texts).enumerate() {
        line.push_str(match place {
            0 => "",
            _ if is_counting && !clause.is_sentence => ", ",
            _ if line.ends_with('…') => " ",
            _ => ". ",
        });
        line.push_str(text);
        is_counting = *text == clause.count && !clause.is_sentence;
    }
    if !line.ends_with('…') {
        line.push('.');
    }
    line
}

struct HeadlineInput<'a> {
    run: &'a Run,
    cells: &'a [Cell],
    clusters: &'a [Cluster],
}

impl HeadlineInput<'_> {
    fn of(&self, kind: OutcomeKind) -> impl Iterator<Item = (usize, &Session)> {
        let sessions = self.run.sessions.iter().enumerate();
        sessions.filter(move |(_, session)| session.outcome == kind)
    }

    fn count(&self, kind: OutcomeKind) -> usize {
        self.of(kind).count()
    }

    fn clauses(&self, settled: usize, is_so_far: bool) -> Vec<Clause> {
        let passed = self.count(OutcomeKind::Passed);
        let failed = self.count(OutcomeKind::Failed);
        let skipped = self.count(OutcomeKind::Skipped);
        let earlier = self.run.sessions.iter().filter_map(|s| s.earlier.as_ref());
        let attempts: Vec<u32> = earlier.map(|earlier| earlier.attempt).collect();
        let mut clauses = Vec::new();
        // What became of all of them, or of so many.
        let all = |count: usize, word: &str| match (count, is_so_far) {
            (all, true) if all == settled => format!("all {word}"),
            (all, false) if all == settled => whole(all, word),
            (some, _) => format!("{some} {word}"),
        };
        if failed > 0 {
            let count = match failed == settled || is_so_far {
                true => all(failed, "failed"),
                false => format!("{failed} of {settled} failed"),
            };
            clauses.push(Clause::new(count, self.failure()));
        } else if passed > 0 {
            clauses.push(Clause::plain(match (attempts.first(), settled) {
                (None, _) => all(passed, "passed"),
                (Some(attempt), 1) => format!("Passed on attempt {}", attempt + 1),
                _ => format!("{passed} passed"),
            }));
        }
        let flaky = || Clause::plain(format!("{} flaky", attempts.len()));
        if failed == 0 && !attempts.is_empty() && settled > 1 {
            clauses.push(flaky());
        }
        let none = |count: usize, word: &str| match (clauses.is_empty(), count == settled) {
            (true, true) if settled == 1 => format!("Not {word}"),
            (true, true) => format!("None of {settled} {word}"),
            _ => format!("{count} not {word}"),
        };
        let some = |kind, word| {
            let count = self.count(kind);
            (count > 0).then(|| none(count, word))
        };
        let lost = some(OutcomeKind::Infrastructure, "tested");
        let unrecorded = some(OutcomeKind::NeedsAgent, "recorded");
        clauses.extend(lost.map(|count| Clause::new(count, self.lost())));
        clauses.extend(unrecorded.map(|count| Clause::new(count, (self.unrecorded(), 0))));
        clauses.extend((failed > 0 && !attempts.is_empty()).then(flaky));
        let cancelled = self.count(OutcomeKind::Cancelled);
        clauses.extend((cancelled > 0).then(|| Clause::plain(all(cancelled, "cancelled"))));
        if skipped > 0 && skipped == settled {
            let whys: BTreeSet<&str> = self.run.sessions.iter().map(|s| s.why.as_str()).collect();
            let why = match (whys.first(), whys.len()) {
                (Some(why), 1) => plain(why),
                _ => String::new(),
            };
            let count = format!("Nothing ran, {}", whole(skipped, "skipped").to_lowercase());
            clauses.push(Clause::new(count, (why, 0)));
        } else if skipped > 0 {
            clauses.push(Clause::plain(format!("{skipped} skipped")));
        }
        clauses.extend(self.nowhere());
        clauses.extend(self.differences());
        clauses.extend(self.unlike_approved());
        clauses
    }

    /// The largest cause of failures, and how many others there are.
    fn failure(&self) -> (String, usize) {
        let failed: BTreeSet<usize> = self.of(OutcomeKind::Failed).map(|(at, _)| at).collect();
        let mut left = failed.clone();
        let mut causes = Vec::new();
        let clusters = self.clusters.iter();
        for cluster in clusters.filter(|cluster| cluster.kind == ClusterKind::Failure) {
            let of = cluster.occurrences.iter();
            let of = of.filter(|one| failed.contains(&one.session));
            let (sessions, steps): (BTreeSet<usize>, BTreeSet<u32>) =
                of.map(|one| (one.session, one.step)).unzip();
            let step = steps.first().copied().filter(|_| steps.len() == 1);
            let sessions = Vec::from_iter(sessions);
            left.retain(|at| !sessions.contains(at));
            let told = self.where_and_what(&sessions, step, &cluster.place, &cluster.title);
            causes.push((sessions.len(), told));
        }
        // What failed between steps is in no cluster.
        let mut others: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for at in left {
            let why = self.run.sessions[at].why.as_str();
            others.entry(why).or_default().push(at);
        }
        for (why, sessions) in others {
            let step = self.last_step(sessions[0]);
            let told = self.where_and_what(&sessions, step, "", why);
            causes.push((sessions.len(), told));
        }
        largest(causes)
    }

    /// `de-DE at 390 wide`, where that is true of all of it; `phone, step 1: link Reports is missing`.
    fn where_and_what(
        &self,
        sessions: &[usize],
        step: Option<u32>,
        place: &str,
        what: &str,
    ) -> String {
        let cells = self.cells_of(sessions);
        if cells.len() > 1 && !place.is_empty() {
            return plain(place);
        }
        let trails = sessions.iter().map(|at| self.run.sessions[*at].trail);
        let trails: BTreeSet<usize> = trails.collect();
        let only = |of: &BTreeSet<usize>, all: usize| {
            let first = of.first().copied();
            first.filter(|_| of.len() == 1 && all > 1)
        };
        let trail = only(&trails, self.run.trails.len());
        let cell = only(&cells, self.run.cells.len());
        let mut words = Vec::from_iter(trail.map(|at| cut(&self.title(at), LONGEST_TITLE)));
        words.extend(cell.map(|cell| self.label(cell)));
        words.extend(step.map(|number| match number {
            0 => "trailhead".to_owned(),
            number => format!("step {number}"),
        }));
        words.retain(|word| !word.is_empty());
        match words.as_slice() {
            [] => plain(what),
            words => format!("{}: {}", words.join(", "), plain(what)),
        }
    }

    /// What kept most of those from being tested that were not: `Pixel 9 lost at step 3`.
    fn lost(&self) -> (String, usize) {
        let mut causes: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
        for (at, session) in self.of(OutcomeKind::Infrastructure) {
            let is_device = match session.blame {
                None | Some(Blame::Source | Blame::Host | Blame::Configuration) => false,
                Some(Blame::Device | Blame::HostLost | Blame::HostDrained | Blame::RunLost) => true,
            };
            let device = self.run.cells.get(session.cell).filter(|_| is_device);
            let cause = device.map_or(&session.why, |cell| &cell.device);
            causes.entry((is_device, cause)).or_default().push(at);
        }
        let told = |((is_device, _), sessions): ((bool, &str), Vec<usize>)| {
            let first = &self.run.sessions[sessions[0]];
            let name = match self.cells_of(&sessions).len() {
                1 => self.label(first.cell),
                _ if is_device => self.device(first.cell),
                _ => String::new(),
            };
            let why = plain(&first.why);
            // A name of several words is set off.
            let set_off = if name.contains(", ") { ":" } else { "" };
            let told = match self.last_step(sessions[0]).filter(|_| is_device) {
                Some(0) => format!("{name}{set_off} lost at the trailhead"),
                Some(step) => format!("{name}{set_off} lost at step {step}"),
                None if name.is_empty() || self.run.cells.len() < 2 => why,
                None => format!("{name}: {why}"),
            };
            (sessions.len(), told)
        };
        largest(causes.into_iter().map(told).collect())
    }

    /// `for iOS`, where that is the only platform; `iPhone 15, step 2`, where it is the only device.
    fn unrecorded(&self) -> String {
        let sessions: Vec<usize> = self.of(OutcomeKind::NeedsAgent).map(|(at, _)| at).collect();
        let cells = self.cells_of(&sessions);
        if let (Some(cell), 1) = (cells.first(), cells.len()) {
            let label = Some(self.label(*cell)).filter(|_| self.run.cells.len() > 1);
            let at = sessions.first().filter(|_| sessions.len() == 1);
            let at = at.and_then(|at| self.last_step(*at));
            let at = at.map(|step| format!("step {step}"));
            let words = label.into_iter().chain(at).filter(|word| !word.is_empty());
            return words.collect::<Vec<_>>().join(", ");
        }
        let platform = |cell: &usize| self.run.cells.get(*cell)?.facts.get("platform");
        let platforms: BTreeSet<_> = cells.iter().map(platform).collect();
        match (platforms.first().copied().flatten(), platforms.len()) {
            (Some(only), 1) => match only.as_str() {
                "web" => "for the web".to_owned(),
                "android" => "for Android".to_owned(),
                "ios" => "for iOS".to_owned(),
                other => format!("for {}", plain(other)),
            },
            _ => String::new(),
        }
    }

    /// Trails without a session.
    fn nowhere(&self) -> Option<Clause> {
        let has_none = |trail: &usize| self.run.sessions.iter().all(|one| one.trail != *trail);
        let without: Vec<usize> = (0..self.run.trails.len()).filter(has_none).collect();
        let (count, first) = match (without.as_slice(), self.run.sessions.len()) {
            ([], 0) => ("Nothing ran".to_owned(), None),
            (_, 0) => ("Nothing ran: no device fits".to_owned(), None),
            ([], _) => return None,
            (some, _) => {
                let count = counted(some.len(), "trail fits", "trails fit");
                let only = some.first().filter(|_| some.len() == 1);
                (format!("{count} no device"), only.copied())
            }
        };
        let title = first.map(|trail| cut(&self.title(trail), LONGEST_TITLE));
        Some(Clause::new(count, (title.unwrap_or_default(), 0)))
    }

    /// `1 difference: link Continue shopping is missing, in dark`.
    fn differences(&self) -> Option<Clause> {
        let news = self.clusters.iter();
        let news = news.filter(|one| one.kind != ClusterKind::Failure);
        let (open, folded): (Vec<_>, Vec<_>) = news.partition(|one| one.has_pattern());
        let (told, detail) = match open.first() {
            None => (folded, String::new()),
            Some(first) => {
                let place = match (first.place.as_str(), first.cells.as_slice()) {
                    ("", [only]) if self.run.cells.len() > 1 => self.label(*only),
                    (place, _) => plain(place),
                };
                let title = plain(&first.title);
                let detail = match place.as_str() {
                    "" => title,
                    place => format!("{title}, {place}"),
                };
                (open, detail)
            }
        };
        let kinds: BTreeSet<&str> = told.iter().map(|one| noun(one.kind)).collect();
        let word = match kinds.first() {
            None => return None,
            Some(only) if kinds.len() == 1 => only,
            Some(_) => "finding",
        };
        let is_open = detail.is_empty();
        let word = format!("{}{word}", if is_open { "unexplained " } else { "" });
        let count = counted(told.len(), &word, &format!("{word}s"));
        Some(Clause::sentence(count, (detail, told.len() - 1)))
    }

    fn unlike_approved(&self) -> Option<Clause> {
        let unlike = &self.run.unlike_approved;
        let first = plain(unlike.first()?);
        let count = counted(unlike.len(), "screen is", "screens are") + " not as approved";
        Some(Clause::sentence(count, (first, unlike.len() - 1)))
    }

    fn cells_of(&self, sessions: &[usize]) -> BTreeSet<usize> {
        let cells = sessions.iter().map(|at| self.run.sessions[*at].cell);
        cells.collect()
    }

    fn title(&self, trail: usize) -> String {
        let trail = self.run.trails.get(trail);
        trail.map_or_else(String::new, |trail| match trail.title.as_str() {
            "" => plain(&trail.name),
            title => plain(title),
        })
    }

    fn label(&self, cell: usize) -> String {
        let label = self.cells.get(cell).map(|cell| plain(&cell.label));
        let label = label.filter(|label| !label.is_empty());
        label.unwrap_or_else(|| self.device(cell))
    }

    fn device(&self, cell: usize) -> String {
        let cell = self.run.cells.get(cell);
        cell.map_or_else(String::new, |cell| match cell.name.as_str() {
            "" => plain(&cell.device),
            name => plain(name),
        })
    }

    /// The step at which a session stopped.
    fn last_step(&self, session: usize) -> Option<u32> {
        let steps = self.run.sessions[session].steps.iter().rev();
        let stopped = steps.clone().find(|one| one.status != StepStatus::Passed);
        stopped.or(steps.clone().next()).map(|step| step.step)
    }
}

impl Cluster {
    /// Whether its cells have something in common, or are one or all; the rest is folded in reports.
    pub const fn has_pattern(&self) -> bool {
        match self.verdict {
            Verdict::Cause
            | Verdict::Mostly
            | Verdict::Tie
            | Verdict::Single
            | Verdict::Everywhere => true,
            Verdict::Weak | Verdict::Unknown => false,
        }
    }
}

const fn noun(kind: ClusterKind) -> &'static str {
    match kind {
        ClusterKind::Failure => "failure",
        ClusterKind::Network => "failed request",
        ClusterKind::Console => "console error",
        ClusterKind::Defect => "layout defect",
        ClusterKind::Difference | ClusterKind::Visual => "difference",
        ClusterKind::Slow => "slow step",
    }
}

/// `Passed`, `Both passed`, `All 8 passed`.
fn whole(count: usize, word: &str) -> String {
    match count {
        1 => word[..1].to_uppercase() + &word[1..],
        2 => format!("Both {word}"),
        all => format!("All {all} {word}"),
    }
}

/// The largest of several causes, and how many others there are.
fn largest(mut causes: Vec<(usize, String)>) -> (String, usize) {
    causes.retain(|(count, _)| *count > 0);
    causes.sort_by_key(|(count, _)| usize::MAX - count);
    let others = causes.len().saturating_sub(1);
    let first = causes.into_iter().next();
    (first.map(|(_, told)| told).unwrap_or_default(), others)
}

/// Whether a character moves the cursor, changes colours or turns the reading direction.
pub fn is_unruly(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A foreign text as words on a line, without quotes around names and without its full stop.
fn plain(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.replace(is_unruly, " ");
    let line = line.replace(['"', '“', '”', '`'], "");
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}

/// A text of so many characters at most, cut at a word.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    let kept = kept.rsplit_once(' ').map_or(&*kept, |(words, _)| words);
    match kept.trim_end_matches([' ', ',', ':', ';', '.']) {
        "" => String::new(),
        kept => format!("{kept}…"),
    }
}

#[cfg(test)]
mod tests;
