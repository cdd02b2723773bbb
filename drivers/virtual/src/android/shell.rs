//! A small POSIX shell: as much of `sh` as clients send. It runs inside the virtual device and
//! starts no process of the host.

pub(super) mod environment;
mod expand;
pub(super) mod io;
mod parse;
mod redirect;
pub(super) mod run;
pub(super) mod session;
mod syntax;

pub(super) use self::environment::Shell;
