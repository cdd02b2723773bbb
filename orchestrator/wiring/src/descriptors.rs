//! How many files and sockets this process may have open at once.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use packtrain_terminal::exit::CliError;

/// How many are wanted, for a few hundred devices: no system grants more to somebody who is not told
/// its own limit (macOS: `OPEN_MAX`, getrlimit(2)).
const WANTED: u64 = 10_240;

/// Raises this process's limit as far as it is wanted and it may. What it starts has the same limit.
pub fn raise() {
    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // Where that is refused, the limit stays what it was, and a run says when it does not suffice.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(WANTED)), hard);
    }
}

/// What is open besides devices: the journal, pictures that are being written, pipes, the page.
const BESIDES: u64 = 40;
/// What a device takes at most: a virtual Android, of which both ends are here.
const EACH: u64 = 4;

/// Sees to it that devices do not run out of files and sockets on the way, where evidence would be lost.
///
/// # Errors
/// When they do not fit, with how many do.
pub fn suffice(devices: usize) -> Result<(), CliError> {
    let (limit, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((WANTED, WANTED));
    fit(devices as u64, limit)
}

fn fit(devices: u64, limit: u64) -> Result<(), CliError> {
    let needed = BESIDES + EACH * devices;
    if needed <= limit {
        return Ok(());
    }
    let most = limit.saturating_sub(BESIDES) / EACH;
    let error = CliError::infrastructure(format!(
        "{devices} devices may need {needed} open files, the limit is {limit}: {most} devices fit"
    ));
    Err(error.hint(format!(
        "raise the limit (`ulimit -n {needed}`; `ulimit -Hn` says how far it may be raised), or run on \
         {most} devices at once"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_refused_is_told_how_many_fit() {
        assert!(fit(54, 256).is_ok());
        let error = fit(55, 256).unwrap_err();
        let message = &error.explanation.message;
        assert!(
            message.ends_with("the limit is 256: 54 devices fit"),
            "{message}"
        );
        assert!(fit(1, 0).is_err());
        assert!(fit(400, 10_240).is_ok());
    }
}
