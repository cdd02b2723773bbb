//! The `packtrain` command, built together with the tests that start it.

fn main() -> std::process::ExitCode {
    packtrain_orchestrator::main()
}
