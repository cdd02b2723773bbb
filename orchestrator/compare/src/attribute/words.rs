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

    /// The first word of a sentence, a word before cells, and one behind a cell.
    const fn forms(&self) -> [&'static str; 3] {
        match self.kind {
            ClusterKind::Failure => ["Fails", "failing", "failed"],
            ClusterKind::Difference | ClusterKind::Visual => ["Differs", "differing", "differs"],
            ClusterKind::Defect => ["Broken", "affected", "is affected"],
            ClusterKind::Console => ["Logged", "affected", "is affected"],
            ClusterKind::Network => ["Seen", "affected", "is affected"],
            ClusterKind::Slow => ["Slow", "slow", "was slow"],
        }
    }

    const fn verb(&self) -> &'static str {
        self.forms()[0]
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
        let [.., past] = self.forms();
        let flaky = if self.counts.flaky > 0 {
            ", and not every time"
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
            flaky if flaky == bad => ", not every time".to_owned(),
            flaky => format!(", on {flaky} of them not every time"),
        };
        if all < FEW {
            return format!(
                "{verb} on {bad} of {all} cells{flaky}; {all} cells are too few to be sure."
            );
        }
        format!(
            "{verb} on {bad} of {all} cells{flaky}. No combination of up to three values distinguishes them from the others."
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
        let parts = parts.iter().map(|part| {
            let with = with(&part.all_of);
            format!("on **all {} of {}** cells {with}", part.bad, part.bad_of)
        });
        let parts = parts.collect::<Vec<_>>().join(", and ");
        format!("{verb} {parts}; on **none of {others}** others{tested}.")
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
            2 => "Two",
            3 => "Three",
            _ => "Several",
        };
        let verb = self.verb();
        let first = alternatives.first();
        let (bad, of) = first.map_or((0.0, 0), |first| (first.bad, first.bad_of));
        let others = first.map_or(0, |first| first.good_of);
        let told: Vec<String> = alternatives.iter().map(|one| all_of(&one.all_of)).collect();
        format!(
            "{count} explanations fit equally: {}. This run cannot tell them apart. {verb} on **all {bad} of {of}** such cells, on **none of {others}** others.",
            told.join(", or ")
        )
    }

    pub(super) fn weak(&self, explanations: &[Explanation], is_cover: bool) -> String {
        let (bad, all) = (self.counts.bad, self.counts.all());
        let [_, adjective, _] = self.forms();
        let cells = match bad {
            2 => format!("Both {adjective} cells have"),
            bad => format!("All {bad} {adjective} cells have"),
        };
        let told: Vec<String> = explanations.iter().map(|one| all_of(&one.all_of)).collect();
        let told = told.join(if is_cover { " or " } else { ", or " });
        let few = match all {
            0..FEW => format!("{all}"),
            _ => format!("{bad} of {all}"),
        };
        format!("{cells} {told}; {few} cells are too few to be sure.")
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
        "platform" | "form" => {
            let which = match value.as_str() {
                "iphone" => "iPhones",
                "ios" => "iOS",
                "ipad" => "iPads",
                "android" => "Android",
                "web" => "browsers",
                other => other,
            };
            (1, format!("{which} only"))
        }
        "engine" | "browser" => match value.as_str() {
            "chromium" => (2, "in Chromium".to_owned()),
            "firefox" => (2, "in Firefox".to_owned()),
            other => (2, format!("in {other}")),
        },
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
    let told = literals.iter().map(|literal| {
        let (fact, value) = (&literal.fact, &literal.value);
        match literal.is.as_str() {
            "<=" => format!("{fact} at {value} and below"),
            ">=" => format!("{fact} at {value} and above"),
            _ => format!("{fact}={value}"),
        }
    });
    told.collect::<Vec<_>>().join(" and ")
}

fn with(literals: &[Literal]) -> String {
    format!("with {}", all_of(literals))
}

/// `; the next width tested is 768`.
fn tested(literals: &[Literal]) -> String {
    let tested = literals.iter().filter_map(|literal| {
        let next = literal.next.as_ref()?;
        Some(format!("; the next {} tested is {next}", literal.fact))
    });
    tested.collect()
}
