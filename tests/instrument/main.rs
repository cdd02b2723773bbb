//! Does the comparison keep still when nothing is wrong, does it name what is, and is that first?
//!
//! `cargo bench -p packtrain-tests --bench instrument [-- OPTIONS] [NAMES]`
//!
//! The shop in `app/` is recorded as it is and with each of its defects; runs are composed of these
//! sessions, so that judging takes seconds. NAMES are defects (`d07`), questions (`two`) or `silence`.
//! `--record` only records, `--judge` only judges, `--again` records what is there too, `--write FOLDER`
//! writes every comparison that is asked for.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program by hand"
)]

mod condition;
mod defects;
mod question;
mod record;
mod recording;
mod score;
mod server;
mod sites;

use std::path::PathBuf;

use crate::record::Studio;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` builds and starts benchmarks too; it passes no `--bench`.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let place = arguments.iter().position(|argument| argument == "--write");
    let write = place.and_then(|place| arguments.get(place + 1));
    let is_name = |one: &&String| !one.starts_with('-') && Some(*one) != write;
    let names: Vec<String> = arguments.iter().filter(is_name).cloned().collect();
    let folder = record::folder();
    if !has("--judge") {
        let path = |name: &str, or: &str| std::env::var_os(name).map_or(or.into(), PathBuf::from);
        let own = option_env!("CARGO_BIN_EXE_packtrain-under-test").unwrap_or("packtrain");
        let app = concat!(env!("CARGO_MANIFEST_DIR"), "/instrument/app");
        let studio = Studio {
            program: &path("PACKTRAIN_TEST_PROGRAM", own),
            app: &path("PACKTRAIN_TEST_APP", app),
            folder: &folder,
            again: has("--again"),
        };
        let names = names.iter().filter(|_| has("--record"));
        studio.record(&names.cloned().collect::<Vec<_>>())?;
    }
    if !has("--record") {
        let recordings = recording::open(&folder);
        let wanted = score::Wanted {
            names,
            write: write.map(PathBuf::from),
        };
        score::ask(&recordings, &wanted);
        score::silence(&recordings, &wanted);
    }
    Ok(())
}
