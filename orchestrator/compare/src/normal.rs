//! Screens in one notation.

use packtrain_drivers::Snapshot;
use packtrain_model::screen::{ScreenNode, ScreenTree};

/// A screen as it is compared.
pub fn screen(snapshot: &Snapshot) -> ScreenTree {
    let nodes = snapshot.refs.iter().map(|shown| ScreenNode {
        role: shown.role.clone(),
        name: shown.label.clone(),
        ..ScreenNode::default()
    });
    ScreenTree {
        width: snapshot.screen.width,
        height: snapshot.screen.height,
        title: snapshot.title.clone(),
        location: snapshot.location.clone(),
        nodes: nodes.collect(),
    }
}

/// The bytes that name it.
pub fn json(tree: &ScreenTree) -> Vec<u8> {
    serde_json::to_vec(tree).unwrap_or_default()
}
