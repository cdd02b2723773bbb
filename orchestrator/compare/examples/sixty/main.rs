//! Prints the `comparison.json` of a planted run: 60 cells of 29 steps.

use std::io::Write;

mod scenario;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let run = scenario::run();
    let mut pictures = |digest: &str| scenario::picture(digest);
    let comparison = packtrain_compare::compare(&run, &mut pictures);
    let json = serde_json::to_string_pretty(&comparison)?;
    writeln!(std::io::stdout(), "{json}")?;
    Ok(())
}
