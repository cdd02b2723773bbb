//! The program: commands in, exit code out. The only crate that wires all others together.

mod baselines;
mod ci;
pub mod cli;
mod daemon;
mod descriptors;
pub mod exit;
mod farm;
pub mod http;
mod live;
mod matrix;
mod mcp;
mod names;
mod opener;
pub mod render;
mod reports;
mod runtime;
mod search_path;
mod shutdown;
pub mod sinks;
mod site;
mod sources;
mod tool_files;
mod toolsets;
mod trails;
mod wiring;
mod workplace;

use std::process::ExitCode;

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
    descriptors::raise();
    ExitCode::from(render::ended(cli::run(std::env::args_os())).code())
}
