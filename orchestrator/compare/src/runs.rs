//! A run compared with an earlier one, or with what was approved: what changed between equal cells.
//! Knows no files: baselines come through [`Baselines`].

mod against;
pub mod answer;
pub mod approve;
pub mod baseline;
pub mod history;
pub mod names;
mod screen;
mod side;
mod slow;
mod steps;
mod words;

pub use answer::{Change, ChangeKind, ChangeStatus, RunComparison, Unknown};
pub use baseline::{Approved, Baselines, Entry, Stored};

use crate::input::{Pictures, Run};
use against::ReferenceRun;

/// Compares a run with an earlier one. Cells are equal in device and values, steps in place or words.
pub fn compare(
    (base, base_pictures): (&Run, &mut dyn Pictures),
    (run, pictures): (&Run, &mut dyn Pictures),
    fail_on: &[ChangeKind],
) -> RunComparison {
    let mut base = side::Side::new(base, base_pictures);
    let mut run = side::Side::new(run, pictures);
    against::compare(&mut run, ReferenceRun::Run(&mut base), fail_on)
}

/// Compares a run with its baselines.
pub fn compare_with_baselines(
    (run, pictures): (&Run, &mut dyn Pictures),
    baselines: &mut dyn Baselines,
    fail_on: &[ChangeKind],
) -> RunComparison {
    let mut run = side::Side::new(run, pictures);
    against::compare(&mut run, ReferenceRun::Baselines(baselines), fail_on)
}

#[cfg(test)]
mod tests;
