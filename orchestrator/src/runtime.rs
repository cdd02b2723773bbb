//! One multi-thread tokio runtime, shared by actix's system and everything else.

use std::future::Future;
use std::sync::Arc;

use actix_rt::{Arbiter, ArbiterHandle, System};

use crate::exit::CliError;

/// Runs `work` on a fresh runtime.
pub fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::infrastructure("cannot start the runtime").because(&error))?;
    let runtime = Arc::new(runtime);
    System::with_tokio_rt(move || runtime).block_on(work)
}

/// Threads for actors. Their handlers are short, so a few serve any number of devices. Call from
/// inside [`block_on`].
pub fn arbiters(devices: usize) -> Vec<ArbiterHandle> {
    (0..devices.div_ceil(200).clamp(1, 4))
        .map(|_| Arbiter::new().handle())
        .collect()
}
