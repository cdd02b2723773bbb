//! Where a defect is: values of axes that hold together, or any of several such.

use std::collections::BTreeMap;

use packtrain_compare::answer::{self, Cell, Cluster, Explanation, Verdict};

/// An axis, or `device`, and its value.
pub(crate) type Literal = (&'static str, &'static str);

/// Values that hold together; a cell that has all of any of them is bad.
pub(crate) type Condition = Vec<Vec<Literal>>;

/// What a cell has, by axis; its device too.
pub(crate) type Values = BTreeMap<String, String>;

/// Whether a cell with these values meets a condition.
pub(crate) fn meets(condition: &[Vec<Literal>], values: &Values) -> bool {
    let holds = |(axis, value): &Literal| values.get(*axis).is_some_and(|one| one == value);
    condition.iter().any(|all_of| all_of.iter().all(holds))
}

/// What a compared cell has, by axis.
pub(crate) fn values(cell: &Cell) -> Values {
    let mut values = cell.values.clone();
    values.insert("device".to_owned(), cell.device.clone());
    values
}

/// Whether a card's explanation is surely a condition with so many literals that just the bad cells
/// meet. Readings that no cell of the run tells apart are the same.
pub(crate) fn is_exact(card: &Cluster, cells: &[Cell], bad: &[bool], size: usize) -> bool {
    let is = |parts: &[Explanation]| {
        let literals: usize = parts.iter().map(|part| part.all_of.len()).sum();
        literals == size && met(parts, cells) == bad
    };
    let is_tied = || card.explanations.chunks(1).all(is);
    (card.verdict == Verdict::Cause && is(&card.explanations))
        || (card.verdict == Verdict::Tie && is_tied())
}

/// Which cells meet an explanation.
pub(crate) fn met(parts: &[Explanation], cells: &[Cell]) -> Vec<bool> {
    let meets = |cell: &Cell| {
        let mut parts = parts.iter();
        parts.any(|part| part.all_of.iter().all(|one| holds(one, cell)))
    };
    cells.iter().map(meets).collect()
}

/// Whether a card claims to know what is to blame.
pub(crate) const fn is_sure(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Cause | Verdict::Mostly | Verdict::Tie)
}

fn holds(literal: &answer::Literal, cell: &Cell) -> bool {
    let has = if literal.fact == "device" {
        Some(&cell.device)
    } else {
        let fact = cell.values.get(&literal.fact);
        fact.or_else(|| cell.facts.get(&literal.fact))
    };
    // A width follows from the viewport that was asked for.
    let has = has.or_else(|| {
        let is_width = literal.fact == "width";
        cell.values.get("viewport").filter(|_| is_width)
    });
    let Some(has) = has else { return false };
    match (literal.is.as_str(), number(has), number(&literal.value)) {
        ("<=", Some(has), Some(most)) => has <= most,
        (">=", Some(has), Some(least)) => has >= least,
        ("=", Some(has), Some(value)) => has == value,
        ("=", ..) => *has == literal.value,
        _ => false,
    }
}

/// The number that a value begins with: the width of a size.
fn number(value: &str) -> Option<u64> {
    let digits = value.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// A card in a line.
pub(crate) fn told(card: &Cluster) -> String {
    let part = |part: &Explanation| {
        let literals = part.all_of.iter();
        let literals = literals.map(|one| format!("{}{}{}", one.fact, one.is, one.value));
        literals.collect::<Vec<_>>().join(" & ")
    };
    let parts: Vec<_> = card.explanations.iter().map(part).collect();
    let (kind, title, cells) = (card.kind, &card.title, card.cells.len());
    let (verdict, parts) = (card.verdict, parts.join(" | "));
    format!("{kind:?} {title:?} on {cells}, {verdict:?} {parts}")
}
