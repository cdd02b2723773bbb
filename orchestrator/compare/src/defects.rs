//! Layout defects that show in bounds.

use packtrain_drivers::Defect;
use packtrain_model::screen::ScreenTree;

/// What is wrong with a layout.
pub fn of(_: &ScreenTree) -> Vec<Defect> {
    Vec::new()
}
