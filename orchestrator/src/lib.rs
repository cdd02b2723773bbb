//! The program: commands in, exit code out. The only crate that wires all others together.

mod baselines;
mod ci;
pub mod cli;
mod farm;
mod live;
mod matrix;
mod names;
mod opener;
mod reports;
mod run_files;
mod runtime;
mod search_path;
mod shutdown;
mod sinks;
mod site;

use std::process::ExitCode;

use packtrain_daemon as daemon;
use packtrain_terminal::{exit, render};
use packtrain_toolsets::store as toolsets;
use packtrain_wiring as wiring;
use packtrain_workplace::{self as workplace, sources, tool_files, trails};

/// Many devices mean many small allocations on one thread that another one frees, which is what
/// the C library's allocator is slow at (docs/decisions/0009).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the program on the process's arguments.
pub fn main() -> ExitCode {
    if packtrain_program::watches() {
        return ExitCode::SUCCESS;
    }
    search_path::complete();
    wiring::descriptors::raise();
    ExitCode::from(render::ended(cli::run(std::env::args_os())).code())
}
