//! What Packtrain promises, end to end: the real program, real browsers, real sockets.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod adb_server;
mod agents;
mod android;
mod check;
mod ci;
mod cli;
mod demo;
mod deploy;
mod disk;
mod docs;
mod door;
mod downloads;
mod farm;
mod farm_server;
mod fleet;
mod instrument;
mod isolation;
mod live;
mod matrix;
mod mcp_conformance;
mod mcp_server;
mod mutants;
mod nats_proxy;
mod nested;
mod network;
mod notation;
mod phones;
mod programs;
mod published;
mod runs;
mod sdks;
mod secrets;
mod shop;
mod signals;
mod simulators;
mod snippets;
mod source_arguments;
mod source_connections;
mod source_faults;
mod sources;
mod stalled;
mod started;
mod stored;
mod targets;
mod templates;
mod tidy;
mod tool_files;
mod toolsets;
mod trailmaps;

use packtrain_tests::Lab;

/// A workspace with the program under test.
fn lab() -> Lab {
    Lab::new(env!("CARGO_BIN_EXE_packtrain-under-test"))
}
