//! Tools that ask about elements without expecting anything, for scripts.

use std::time::Duration;

use packtrain_drivers::selector::NodeSelector;
use packtrain_drivers::{NodeDetail, NodeId, Platform, Tree};
use serde_json::json;

use super::maestro::Element;
use super::{Object, either, named, patience};
use crate::builtin::InvalidArgument;
use crate::mobile::PHONES;
use crate::mobile::element_query::ElementQuery;
use crate::mobile::find::{Presence, gone};
use crate::mobile::watch::Watch;
use crate::mobile::words::resolved_text;
use crate::tool::{Answer, ToolError};

tools! { PHONES;
    /// Returns what matches a selector and is visible, as JSON: place in the tree, bounds,
    /// text and ids of each. Waits for a first match when given a time.
    Query findMatches FindMatches {
        /// Which elements, as in other tools.
        #[schemars(with = "Object")]
        selector: NodeSelector,
        /// How long to wait for a first match, in milliseconds; not at all when not given.
        timeout_ms: Option<u64>,
    }
    .internal()
    .unrecorded()
    |arguments, call| {
        let wanted = ElementQuery::selector(arguments.selector, call.session.platform())?;
        let limit = Duration::from_millis(arguments.timeout_ms.unwrap_or(0));
        let mut watch = Watch::new(call, limit);
        loop {
            let snapshot = watch.look().await?;
            let found = wanted.all(&snapshot);
            if found.is_empty() && watch.changes().await? {
                continue;
            }
            let matches = found.into_iter().map(|id| match_of(&snapshot.tree, id));
            return Ok(Answer::data(matches.collect()));
        }
    };

    /// Waits until an element is no longer visible and returns whether it is gone.
    Action waitUntilNotVisible WaitUntilNotVisible: with_selector {
        /// Which element, as in other tools.
        node_selector,
        /// How long it may take to go away, in milliseconds; 5000 when not given.
        timeout_ms: Option<u64>,
    }
    .ruled(WaitUntilNotVisible::rule)
    .internal()
    .unrecorded()
    |mut arguments, call| {
        let wanted = arguments.wanted(call.session.platform())?;
        let mut watch = Watch::new(call, patience(arguments.timeout_ms));
        let is_gone = matches!(gone(&mut watch, &wanted).await?, Presence::Gone);
        Ok(Answer::data(json!(is_gone)))
    };
}

/// A match as scripts read it, in Trailblaze's shape.
fn match_of(tree: &Tree, id: NodeId) -> serde_json::Value {
    let node = tree.get(id);
    let (accessibility, resource) = node.map_or((None, None), |node| ids_of(&node.detail));
    let bounds = node.and_then(|node| node.bounds).map(|bounds| {
        json!({
            "left": number(bounds.left), "top": number(bounds.top),
            "right": number(bounds.right), "bottom": number(bounds.bottom),
        })
    });
    json!({
        "indexPath": index_path(tree, id),
        "bounds": bounds,
        "matchedText": node.and_then(|node| resolved_text(&node.detail)),
        "accessibilityId": accessibility,
        "resourceId": resource,
    })
}

/// Whole numbers as such: Android counts pixels.
fn number(value: f64) -> serde_json::Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "screens are smaller than 2^53 pixels"
    )]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        (value as i64).into()
    } else {
        value.into()
    }
}

fn ids_of(detail: &NodeDetail) -> (Option<&str>, Option<&str>) {
    match detail {
        NodeDetail::Android(node) => (
            node.content_description.as_deref(),
            node.resource_id.as_deref(),
        ),
        NodeDetail::Ios(node) => (
            node.label.as_deref(),
            node.identifier.as_deref().or(node.name.as_deref()),
        ),
        NodeDetail::Web(node) => (node.name.as_deref(), node.test_id.as_deref()),
    }
}

/// Which child to take at each step from the root.
fn index_path(tree: &Tree, id: NodeId) -> Vec<usize> {
    let mut chain: Vec<_> = std::iter::once(id).chain(tree.ancestors(id)).collect();
    chain.reverse();
    chain
        .windows(2)
        .filter_map(|step| tree.children(step[0]).position(|child| child == step[1]))
        .collect()
}
