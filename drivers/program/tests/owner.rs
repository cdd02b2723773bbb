//! Starts the program that its words name, and the one that each line names that it reads; says when it
//! has. Called with `ps`, says what that tells instead.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "for tests: they fail by panicking, and read what it says"
)]

use std::process::Stdio;

use packtrain_program::{Program, ps, watches};
use tokio::process::Command;

fn main() {
    if watches() {
        return;
    }
    let words: Vec<_> = std::env::args().skip(1).collect();
    if words[0] == "ps" {
        let words: Vec<_> = words[1..].iter().map(String::as_str).collect();
        return print!("{}", ps(&words));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null());
        let _program = Program::spawn(command).unwrap();
        println!("spawned");
        for line in std::io::stdin().lines() {
            let next = Program::spawn(Command::new(line.unwrap())).unwrap();
            println!("spawned");
            drop(next);
        }
    });
}
