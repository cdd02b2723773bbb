//! A whole trail by the program itself, on many phones at once: what is driven here is what users
//! drive, with screens, waits and the agent on the device.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::Instant;

use super::tell;

/// As many bytes as u2.jar has; virtual phones have a server of their own for whatever they get.
const JAR: usize = 3_700_000;
/// How often to look at the memory of a run.
const MEMORY_POLL: Duration = Duration::from_millis(20);

/// The example trail on 200 phones, and on 1,000.
pub async fn run() {
    let program = program().await;
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    let jar = home.join("u2-3.7.1");
    std::fs::create_dir_all(&jar).expect("a folder");
    let bytes: Vec<u8> = (0..JAR).map(|n| (n / 3 % 251) as u8).collect();
    std::fs::write(jar.join("u2.jar"), bytes).expect("written");
    for (count, seconds, memory) in [(200, 10.0, 250.0), (1000, 60.0, 1000.0)] {
        let runs = folder.path().join(count.to_string());
        let start = Instant::now();
        let run = Command::new(&program)
            .current_dir(root().join("examples/shop"))
            .args(["run", "trails/buy.trail.yaml", "--screenshots", "none"])
            .args(["-d", &format!("virtual:android:{count}"), "--output"])
            .arg(&runs)
            .env("PACKTRAIN_HOME", &home)
            .env("PACKTRAIN_DEVICES_ANDROID_AGENT", "u2")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be run");
        let (status, peak) = end_of(run).await;
        let wall = start.elapsed().as_secs_f64();
        println!("the example trail on {count} phones: {status}");
        let journal = journal(&runs);
        let ended = journal
            .lines()
            .filter(|line| line.contains(r#""event":"session_finished""#));
        let passed = ended
            .filter(|line| line.contains(r#""outcome":"passed""#))
            .count();
        let cuts = journal.matches(r#""kind":"reconnected""#).count();
        tell(
            "  sessions that did not pass",
            count as f64 - passed as f64,
            0.0,
            "",
        );
        tell("  connections and agents that ended", cuts as f64, 0.0, "");
        tell("  time", wall, seconds, " s");
        tell("  memory at most", peak, memory, " MiB");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program, built as users have it.
async fn program() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .current_dir(root())
        .args(["build", "--release", "--quiet", "--bin", "packtrain"])
        .status()
        .await
        .expect("cargo can be run");
    assert!(built.success(), "{built}");
    let own = std::env::current_exe().expect("a bench knows where it is");
    let folder = own.ancestors().nth(2).expect("it is in `release/deps`");
    folder.join("packtrain")
}

/// Waits for the end of a run; also tells the most memory that it held, in MiB.
async fn end_of(mut run: Child) -> (ExitStatus, f64) {
    let status = format!("/proc/{}/status", run.id().expect("it runs"));
    let mut peak = 0.0;
    loop {
        peak = super::kept(&status, "VmHWM:").max(peak);
        tokio::select! {
            ended = run.wait() => return (ended.expect("it is ours"), peak),
            () = tokio::time::sleep(MEMORY_POLL) => {}
        }
    }
}

/// What is written below a folder of runs that has one.
fn journal(runs: &Path) -> String {
    let run = std::fs::read_dir(runs)
        .expect("a run")
        .flatten()
        .map(|run| run.path());
    let mut journals = run
        .map(|run| run.join("events.ndjson"))
        .filter(|path| path.is_file());
    let journal = journals.next().expect("a run has a journal");
    std::fs::read_to_string(journal).expect("it can be read")
}
