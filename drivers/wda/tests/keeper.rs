//! The process that keeps a simulator's WebDriverAgent, as these tests start it.

fn main() -> std::io::Result<()> {
    packtrain_driver_wda::keep(&std::env::args().nth(1).unwrap_or_default())
}
