//! `UiAutomation`: at most one user at a time, whoever it is; and what a fault does to what it
//! sees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use crate::android::Android;
use crate::faults::Fault;
use crate::world::Snapshot;

/// Whether somebody uses `UiAutomation`.
#[derive(Debug, Default)]
pub(super) struct Automation(AtomicBool);

/// The right to use it, until it is dropped.
#[derive(Debug)]
pub(super) struct Claim(Weak<Android>);

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(android) = self.0.upgrade() {
            android.automation.0.store(false, Ordering::Release);
        }
    }
}

impl Android {
    /// Claims `UiAutomation`; `None` while somebody else has it.
    pub(super) fn claim_automation(self: &Arc<Self>) -> Option<Claim> {
        let taken = self.automation.0.swap(true, Ordering::AcqRel);
        (!taken).then(|| Claim(Arc::downgrade(self)))
    }

    /// What can be seen, or what a fault shows instead.
    pub(super) fn faulty_snapshot(&self, faults: &[Fault]) -> Snapshot {
        let snapshot = self.device.snapshot();
        if self.device.has_no_faults() {
            return snapshot;
        }
        let late = faults.iter().find_map(|fault| match fault {
            Fault::Stale(by) => Some(*by),
            _ => None,
        });
        // Every read counts, so that a late one can tell what an earlier one told.
        self.device.told_late(snapshot, late.unwrap_or(0))
    }
}
