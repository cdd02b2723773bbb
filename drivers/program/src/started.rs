//! When a process was started, which distinguishes it from a later one with the same number.

use crate::processes::{has_proc, ps};

/// When a process was started, in words that no later process of that number has; `None` when
/// there is none. By `/proc` where that is, elsewhere by `ps`.
pub fn started(pid: u32) -> Option<String> {
    if !has_proc() {
        return by_ps(pid);
    }
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let ticks = ticks_in(&String::from_utf8_lossy(&stat))?.to_owned();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{}/{ticks}", boot.trim()))
}

/// The second of its start.
fn by_ps(pid: u32) -> Option<String> {
    let told = ps(&["-o", "stat=,lstart=", "-p", &pid.to_string()]);
    let (state, start) = told.trim().split_once(' ')?;
    (!state.starts_with('Z')).then(|| start.trim().to_owned())
}

/// The time of the start in a line of `/proc/PID/stat`, unless the process has ended and only
/// waits to be noticed. (`proc_pid_stat(5)`, fields 3 and 22)
fn ticks_in(stat: &str) -> Option<&str> {
    // The name before it may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let is_alive = fields.next()? != "Z";
    fields.nth(18).filter(|_| is_alive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_one_that_is_not_there() {
        let own = started(std::process::id());
        assert!(own.is_some(), "neither /proc nor ps tells of this process");
        assert_eq!(own, started(std::process::id()));
        assert_ne!(own, started(1));
        assert_eq!(started(u32::MAX), None);
    }

    #[test]
    fn the_start_is_the_22nd_field_whatever_the_name() {
        let fields = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 77 20";
        assert_eq!(ticks_in(&format!("9 (a) b) S {fields}")), Some("77"));
        assert_eq!(ticks_in(&format!("9 (a) Z {fields}")), None);
        assert_eq!(ticks_in("9 (a) S 1"), None);
        assert_eq!(ticks_in(""), None);
    }
}
