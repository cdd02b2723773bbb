//! How many browsers this computer takes at once, from what it has. Deciding is pure.

use std::process::Command;

use packtrain_program::run;

/// The memory that is assumed where the system does not tell it, in bytes.
const USUAL_MEMORY: u64 = 8 * GB;
const GB: u64 = 1024 * 1024 * 1024;
/// Where Linux tells how much memory there is.
const MEMORY_FILE: &str = "/proc/meminfo";
/// By which name macOS tells it, in bytes.
const MEMORY_NAME: &str = "hw.memsize";

/// What a computer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resources {
    /// Processor cores.
    pub(crate) cores: u32,
    /// Memory, in bytes.
    pub(crate) memory: u64,
}

impl Resources {
    /// Those of this computer.
    pub(crate) fn here() -> Self {
        let cores = std::thread::available_parallelism();
        let memory = match std::fs::read_to_string(MEMORY_FILE) {
            Ok(text) => total_memory(&text),
            Err(_) => by_sysctl(MEMORY_NAME),
        };
        Self {
            cores: cores.map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX)),
            memory: memory.unwrap_or(USUAL_MEMORY),
        }
    }

    /// How many browsers' sessions it takes: one for each GB of memory and two for each core, whichever
    /// is less.
    pub(crate) fn browsers(self) -> u32 {
        let by_memory = u32::try_from(self.memory / GB).unwrap_or(u32::MAX);
        by_memory.min(self.cores.saturating_mul(2)).max(1)
    }
}

/// A number that sysctl(8) knows.
fn by_sysctl(name: &str) -> Option<u64> {
    let told = run(Command::new("sysctl").args(["-n", name])).ok()?;
    String::from_utf8(told.stdout).ok()?.trim().parse().ok()
}

/// `MemTotal:       16310408 kB`, in bytes.
fn total_memory(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_limited_by_memory_and_cores() {
        let browsers = |cores, gigabytes| {
            let memory = gigabytes * GB;
            Resources { cores, memory }.browsers()
        };
        assert_eq!(browsers(2, 32), 4);
        assert_eq!(browsers(16, 8), 8);
        assert_eq!(browsers(1, 0), 1);
    }

    #[test]
    fn a_number_of_sysctl_is_read() {
        let known = [MEMORY_NAME, "kernel.pid_max"];
        let told = known.into_iter().find_map(by_sysctl);
        assert!(told.expect("sysctl tells one of them") > 1000);
        assert_eq!(by_sysctl("no.such.number"), None);
    }

    #[test]
    fn memory_is_read_as_linux_tells_it() {
        let text = "MemFree: 1 kB\nMemTotal:       16310408 kB\n";
        assert_eq!(total_memory(text), Some(16_310_408 * 1024));
        assert_eq!(total_memory("MemTotal: much"), None);
        assert_eq!(total_memory(""), None);
    }
}
