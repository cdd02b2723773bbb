//! Orders on their way: the paths in them are those of the run's computer, then those of the bundle,
//! then those of the host.

use std::path::{Path, PathBuf};

use packtrain_engine::SessionOrder;

use super::collect::Collected;
use super::path::{BundlePathError, inside};

/// An order names a file that does not travel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} does not travel to hosts")]
pub struct OrderPathError(pub PathBuf);

impl Collected {
    /// Puts paths of the bundle into an order, in the place of this computer's.
    ///
    /// # Errors
    /// When it names a file that was not collected.
    pub fn globalise(&self, order: &mut SessionOrder) -> Result<(), OrderPathError> {
        if let Some(app) = &mut order.cell.app_file {
            let place = self.map(app).ok_or_else(|| OrderPathError(app.clone()))?;
            *app = place.into();
        }
        Ok(())
    }
}

/// Puts paths of this computer into an order that came with paths of its bundle.
///
/// # Errors
/// When one of them leads out of the bundle.
pub fn localise(order: &mut SessionOrder, bundle: &Path) -> Result<(), BundlePathError> {
    if let Some(app) = &mut order.cell.app_file {
        *app = inside(bundle, &app.to_string_lossy())?;
    }
    Ok(())
}
