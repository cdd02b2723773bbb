//! Selectors that relate elements to each other (below, childOf, ...): resolved on a snapshot of
//! the page with bounds, then turned into role, name and place.

use std::time::Duration;

use packtrain_drivers::DriverError;
use packtrain_drivers::selector::{CompiledSelector, NodeSelector, resolve};
use tokio::time::Instant;

use crate::locate::Candidate;
use crate::read;
use crate::reading::{self, ReadOptions};
use crate::session::Session;

/// Whether a selector needs more than its own block.
pub(crate) const fn is_related(selector: &NodeSelector) -> bool {
    selector.below.is_some()
        || selector.above.is_some()
        || selector.left_of.is_some()
        || selector.right_of.is_some()
        || selector.child_of.is_some()
        || selector.contains_child.is_some()
        || !selector.contains_descendants.is_empty()
}

/// The first element that matches, and how many do; `None` when none did within `limit`.
pub(crate) async fn await_related(
    session: &Session,
    selector: &NodeSelector,
    limit: Duration,
) -> Result<Option<(Candidate, u32)>, DriverError> {
    let compiled = CompiledSelector::new(selector)
        .map_err(|error| DriverError::Invalid(format!("nodeSelector: {error}")))?;
    let end = Instant::now() + limit;
    loop {
        let page = session.page()?;
        let wanted = ReadOptions {
            boxes: true,
            ..ReadOptions::default()
        };
        let aria = reading::read(&page, wanted).await?.aria;
        let resolution = resolve(&aria.tree, &compiled);
        if let Some(found) = resolution.first()
            && let Some(mut candidate) = aria.candidate(found)
        {
            candidate.by = compiled.description().to_owned();
            let matched = u32::try_from(resolution.matches.len()).unwrap_or(u32::MAX);
            return Ok(Some((candidate, matched)));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        read::await_mutation(&page, left).await;
    }
}
