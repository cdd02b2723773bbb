//! The eight tools as they are listed. What their schemas say of lengths is checked again when they are
//! called.

use rmcp::model::Tool;

pub(super) const LIST_AVAILABLE: &str = "list-available-tools";
pub(super) const BUILD: &str = "build-toolset";
pub(super) const LIST_SAVED: &str = "list-saved-toolsets";
pub(super) const EQUIP: &str = "equip-toolset";
pub(super) const UNEQUIP: &str = "unequip-toolset";
pub(super) const ACTIVE: &str = "get-active-toolset";
pub(super) const DELETE: &str = "delete-toolset";
pub(super) const ANNOTATE: &str = "add-tool-annotation";

/// The eight tools, as `tools/list` has them.
pub(super) fn all() -> Vec<Tool> {
    serde_json::from_str(include_str!("definitions.json"))
        .expect("the file is part of the program, and a test reads it")
}
