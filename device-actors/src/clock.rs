//! What time it is: tokio's clock, which tests may stop, as the `Instant` of the contract.

use std::time::Instant;

pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
