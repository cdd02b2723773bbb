//! A small POSIX shell: enough of `sh` for what clients send. It runs inside the virtual device
//! and starts no process of the host.

mod arithmetic;
mod condition;
pub(super) mod environment;
mod expand;
pub(super) mod io;
mod parse;
mod pattern;
mod redirect;
pub(super) mod run;
pub(super) mod session;
mod syntax;

pub(super) use self::environment::Shell;
pub(super) use self::pattern::matches as pattern_matches;

/// What an arithmetic expression comes to in a shell.
pub(super) fn evaluate(expression: &str, shell: &Shell) -> Option<i64> {
    arithmetic::evaluate(expression, &|name| shell.get(name))
}
