//! What tests of several drivers share: what each of them promises, commands to a device, a virtual
//! phone with the example shop, an adb server, the faults they meet. Only tests and benchmarks
//! depend on it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

mod adb_server;
mod coverage;
mod device;
mod phone;
mod port;
mod processes;
#[expect(missing_docs, reason = "a promise is named after what it says")]
pub mod promises;
mod scripted;

pub use adb_server::{AdbServer, ProcessGroup, adb, secluded, start_adb_server};
pub use coverage::{Coverage, names_tests_that_exist};
pub use device::{Hand, SNAPSHOT, TEST_TIMEOUT, TestDevice, context, lost, mended, run};
pub use phone::{NO_FAULTS, SHOP, VirtualPhone, fleet_options, inject, shop};
pub use port::free_port;
pub use processes::{Running, open_files, processes, processes_of};
pub use scripted::{Script, scripted};

/// Runs a test as the program does: on an actix system over a multi-thread runtime.
pub fn in_system(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    run_on(runtime.unwrap(), test);
}

/// Runs a test on an actix system over this runtime.
pub fn run_on(runtime: tokio::runtime::Runtime, test: impl Future<Output = ()>) {
    let runtime = Arc::new(runtime);
    actix_rt::System::with_tokio_rt(move || runtime).block_on(test);
}

/// Each of the parts is in what was said.
#[track_caller]
pub fn has(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part}\n{said}");
    }
}
