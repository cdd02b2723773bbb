//! One multi-thread tokio runtime, shared by actix's system and everything else; signals end it,
//! and nothing that it started outlives it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix_rt::System;

use crate::exit::{CliError, OrCliError as _};
use crate::shutdown::{Interrupts, kill_descendants};

/// How long calls that cannot be cancelled, such as the look-up of a host's name, hold up the end.
const RUNTIME_TIMEOUT: Duration = Duration::from_secs(1);

/// The stack of a thread that carries sessions: tools call tools, sixteen deep. Only what is used of it
/// takes memory.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Runs `work` on a fresh runtime; the first signal ends it where it is.
pub fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    block_on_stoppable(async |interrupts: Interrupts| interrupts.interruptible(work).await)
}

/// Runs `work`, which stops by itself after the first signal, on a fresh runtime.
pub fn block_on_stoppable<T>(
    work: impl AsyncFnOnce(Interrupts) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let interrupts = Interrupts::listen()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()
        .or_infrastructure("cannot start the runtime")?;
    let runtime = Arc::new(runtime);
    let shared = Arc::clone(&runtime);
    let answer = System::with_tokio_rt(move || shared).block_on(work(interrupts));
    if let Some(runtime) = Arc::into_inner(runtime) {
        runtime.shutdown_timeout(RUNTIME_TIMEOUT);
    }
    kill_descendants();
    packtrain_program::unwatch();
    answer
}
