//! The `packtrain` command.

fn main() -> std::process::ExitCode {
    packtrain_orchestrator::main()
}
