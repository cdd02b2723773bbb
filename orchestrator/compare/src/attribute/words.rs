//! Findings in words. They state what is seen, with counts; never that one thing causes another.

use super::Counts;
use crate::answer::{ClusterKind, Explanation, Literal};

/// Cells below which a finding says that they are too few.
const FEW: usize = 8;

/// The words for one set of cells.
pub(super) struct Words<'a> {
    kind: ClusterKind,
    counts: &'a Counts,
}

impl<'a> Words<'a> {
    pub(super) const fn new(kind: ClusterKind, counts: &'a Counts) -> Self {
        Self { kind, counts }
    }

    /// `Fails`, as the first word of a sentence.
    const fn verb(&self) -> &'static str {
        match self.kind {
            ClusterKind::Failure => "Fails",
            ClusterKind::Difference | ClusterKind::Visual => "Differs",
            ClusterKind::Defect => "Broken",
            ClusterKind::Console => "Logged",
            ClusterKind::Network => "Seen",
            ClusterKind::Slow => "Slow",
        }
    }

    /// `failing`, before cells.
    const fn adjective(&self) -> &'static str {
        match self.kind {
            ClusterKind::Failure => "failing",
            ClusterKind::Difference | ClusterKind::Visual => "differing",
            ClusterKind::Slow => "slow",
            ClusterKind::Defect | ClusterKind::Console | ClusterKind::Network => "affected",
        }
    }

    /// `failed`, behind a cell.
    const fn past(&self) -> &'static str {
        match self.kind {
            ClusterKind::Failure => "failed",
            ClusterKind::Difference | ClusterKind::Visual => "differs",
            ClusterKind::Slow => "was slow",
            ClusterKind::Defect | ClusterKind::Console | ClusterKind::Network => "is affected",
        }
    }

    pub(super) fn everywhere(&self) -> String {
        let verb = self.verb();
        match self.counts.all() {
            2 => format!("{verb} on **both** cells."),
            all => format!("{verb} on **all {all}** cells."),
        }
    }

    pub(super) fn single(&self) -> String {
        if self.counts.all() == 1 {
            return "Only one cell ran; there is nothing to compare it with.".to_owned();
        }
        let past = self.past();
        let flaky = if self.counts.flaky > 0 {
            ", and not each time"
        } else {
            ""
        };
        format!("Only this cell {past}{flaky}; that is all one can say.")
    }

    pub(super) fn unknown(&self) -> String {
        let (verb, all) = (self.verb(), self.counts.all());
        let bad = self.counts.bad + self.counts.flaky;
        let flaky = match self.counts.flaky {
            0 => String::new(),
            flaky if flaky == bad => ", not each time".to_owned(),
            flaky => format!(", on {flaky} of them not each time"),
        };
        if all < FEW {
            return format!(
                "{verb} on {bad} of {all} cells{flaky}; {all} cells are too few to be sure."
            );
        }
        format!(
            "{verb} on {bad} of {all} cells{flaky}. No combination of up to three values tells them from the others."
        )
    }

    pub(super) fn cause(&self, explanation: &Explanation) -> String {
        let verb = self.verb();
        let with = with(&explanation.all_of);
        let (bad, of, others) = (explanation.bad, explanation.bad_of, explanation.good_of);
        let tested = tested(&explanation.all_of);
        format!(
            "{verb} on **all {bad} of {of}** cells {with}, on **none of {others}** others{tested}."
        )
    }

    pub(super) fn causes(&self, parts: &[Explanation]) -> String {
        let verb = self.verb();
        let others = self.counts.good;
        let tested: String = parts.iter().map(|part| tested(&part.all_of)).collect();
        let parts: Vec<String> = parts
            .iter()
            .map(|part| {
                let with = with(&part.all_of);
                format!("on **all {} of {}** cells {with}", part.bad, part.bad_of)
            })
            .collect();
        format!(
            "{verb} {}; on **none of {others}** others{tested}.",
            parts.join(", and ")
        )
    }

    pub(super) fn ambiguous(&self, parts: &[Explanation]) -> String {
        let verb = self.verb();
        let (bad, all) = (self.counts.bad, self.counts.all());
        let count = parts.len();
        format!(
            "{verb} on {bad} of {all} cells. Several combinations of {count} conditions tell them from the others equally well."
        )
    }

    pub(super) fn tie(&self, alternatives: &[Explanation]) -> String {
        let count = match alternatives.len() {
            2 => "Two explanations fit equally".to_owned(),
            3 => "Three explanations fit equally".to_owned(),
            _ => "Several explanations fit equally".to_owned(),
        };
        let verb = self.verb();
        let first = alternatives.first();
        let (bad, of) = first.map_or((0.0, 0), |first| (first.bad, first.bad_of));
        let others = first.map_or(0, |first| first.good_of);
        let told: Vec<String> = alternatives.iter().map(|one| all_of(&one.all_of)).collect();
        format!(
            "{count}: {}. This run cannot tell them apart. {verb} on **all {bad} of {of}** such cells, on **none of {others}** others.",
            told.join(", or ")
        )
    }

    pub(super) fn weak(&self, explanations: &[Explanation], is_cover: bool) -> String {
        let (bad, all) = (self.counts.bad, self.counts.all());
        let adjective = self.adjective();
        let cells = if bad == 2 {
            format!("Both {adjective} cells have")
        } else {
            format!("All {bad} {adjective} cells have")
        };
        let told: Vec<String> = explanations.iter().map(|one| all_of(&one.all_of)).collect();
        let told = told.join(if is_cover { " or " } else { ", or " });
        if all < FEW {
            return format!("{cells} {told}; {all} cells are too few to be sure.");
        }
        format!("{cells} {told}; {bad} of {all} cells are too few to be sure.")
    }

    pub(super) fn mostly(&self, alternatives: &[Explanation]) -> String {
        let Some(first) = alternatives.first() else {
            return self.unknown();
        };
        let verb = self.verb().to_lowercase();
        let told: Vec<String> = alternatives.iter().map(|one| with(&one.all_of)).collect();
        let flaky = match self.counts.flaky {
            0 => "",
            _ => ", where a flaky cell counts half",
        };
        format!(
            "Mostly {verb} {}: on **{} of {}** cells, and on **{} of {}** others{flaky}{}.",
            told.join(", or "),
            first.bad,
            first.bad_of,
            first.good,
            first.good_of,
            tested(&first.all_of)
        )
    }
}

/// Where, as a person says it: `de-DE at 390 wide`, `iPhones only`; parts and alternatives joined by `or`.
pub(super) fn place(explanations: &[Explanation], is_cover: bool) -> String {
    let most = if is_cover { explanations.len() } else { 2 };
    let mut told: Vec<String> = Vec::new();
    for explanation in explanations.iter().take(most) {
        let words = said(&explanation.all_of);
        if !told.contains(&words) {
            told.push(words);
        }
    }
    told.join(" or ")
}

fn said(literals: &[Literal]) -> String {
    // The language, then where and how it is shown, then the rest.
    let mut words: Vec<(u8, String)> = literals.iter().map(word).collect();
    words.sort_by_key(|(place, _)| *place);
    let words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
    words.join(" ")
}

fn word(literal: &Literal) -> (u8, String) {
    let Literal {
        fact, is, value, ..
    } = literal;
    let wide =
        packtrain_drivers::axes::size(value).map_or_else(|| value.clone(), |(w, _)| w.to_string());
    let side = |least: &str, most: &str| match is.as_str() {
        _ if literal.is_alone => String::new(),
        "<=" => most.to_owned(),
        ">=" => least.to_owned(),
        _ => String::new(),
    };
    match fact.as_str() {
        "locale" => (0, value.clone()),
        "platform" | "form" => (
            1,
            match value.as_str() {
                "iphone" => "iPhones only".to_owned(),
                "ios" => "iOS only".to_owned(),
                "ipad" => "iPads only".to_owned(),
                "android" => "Android only".to_owned(),
                "web" => "browsers only".to_owned(),
                other => format!("{other} only"),
            },
        ),
        "engine" | "browser" => (
            2,
            match value.as_str() {
                "chromium" => "in Chromium".to_owned(),
                "firefox" => "in Firefox".to_owned(),
                other => format!("in {other}"),
            },
        ),
        "colorScheme" => (3, format!("in {value}")),
        "width" | "viewport" | "size" => (
            4,
            format!("at {wide} wide{}", side(" and above", " and below")),
        ),
        "orientation" => (4, format!("in {value}")),
        "model" | "device" | "os" => (1, format!("on {value}")),
        fact => (
            5,
            match is.as_str() {
                "<=" | ">=" => format!("with {fact} {value}{}", side(" and above", " and below")),
                _ => format!("with {fact}={value}"),
            },
        ),
    }
}

/// `locale=de and width at 390 and below`.
pub(crate) fn all_of(literals: &[Literal]) -> String {
    let told: Vec<String> = literals
        .iter()
        .map(|literal| {
            let Literal {
                fact, is, value, ..
            } = literal;
            match is.as_str() {
                "<=" => format!("{fact} at {value} and below"),
                ">=" => format!("{fact} at {value} and above"),
                _ => format!("{fact}={value}"),
            }
        })
        .collect();
    told.join(" and ")
}

fn with(literals: &[Literal]) -> String {
    format!("with {}", all_of(literals))
}

/// `; the next width tested is 768`.
fn tested(literals: &[Literal]) -> String {
    literals
        .iter()
        .filter_map(|literal| {
            let next = literal.next.as_ref()?;
            Some(format!("; the next {} tested is {next}", literal.fact))
        })
        .collect()
}
