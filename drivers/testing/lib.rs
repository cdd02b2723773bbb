//! What tests of several drivers share: what each of them promises, commands to a device, a virtual
//! phone with the example shop, an adb server, the faults they meet. Only tests and benchmarks
//! depend on it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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
