//! A 20-step flow through Packtrain against the same flow in plain Playwright, alternating in one
//! run, both with a warm browser and a fresh context for each flow; and eight contexts at once
//! against what the processors allow.
//!
//! `cargo bench -p packtrain-tests --bench web_flow [-- ROUNDS]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use packtrain_device_actors::Fleet;
use packtrain_driver_playwright::{WebPool, WebSlot, install};
use packtrain_drivers::DeviceInfo;
use packtrain_engine::{
    Here, Journal, NoStore, RequestedTrail, Run, RunOptions, RunRequest, Screenshots,
    SessionOptions, Shard, Stop, TrailLoader, resolve,
};
use packtrain_model::memory::Redactor;
use packtrain_model::trail::Trail;
use packtrain_model::{Exit, RunId};
use packtrain_tools::{Caller, Registry, SharedRegistry};
use tokio::time::Instant;

/// Contexts of the second measurement.
const MANY: usize = 8;

/// What is kept of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// As `packtrain run` does by default: a look and a picture after every step.
    Default,
    Nothing,
}

fn main() {
    // `cargo test` builds and starts benchmarks too; it passes no `--bench`.
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let rounds = arguments
        .iter()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(30);
    let runtime = Arc::new(
        tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap(),
    );
    actix_rt::System::with_tokio_rt(move || runtime).block_on(measure(rounds));
}

async fn measure(rounds: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    let found = install::find(&install::SearchPaths::from_environment(|name| {
        std::env::var_os(name)
    }));
    let installation = found
        .installation()
        .expect("Node and playwright-core: `packtrain doctor`");
    let browser = found.browser.clone().expect("Chromium: `packtrain doctor`");
    let mut plain = Plain::start(&installation, &browser, &folder);
    let ours = Ours::start(&found, &folder);

    // Both browsers and all connections are warm before anything counts.
    plain.flows(1);
    ours.flows(1, Watch::Default).await;
    plain.flows(MANY);
    ours.flows(MANY, Watch::Default).await;

    let (mut theirs_ms, mut cpu, mut unwatched_cpu) = (vec![], vec![], vec![]);
    let (mut watched_ms, mut watched_ratios) = (vec![], vec![]);
    let (mut unwatched_ms, mut unwatched_ratios) = (vec![], vec![]);
    for round in 0..rounds {
        // The order changes, so that a drift of the machine favours nobody.
        let (mut theirs, mut watched, mut unwatched) = (0.0, 0.0, 0.0);
        for place in 0..3 {
            match (round + place) % 3 {
                0 => theirs = plain.flows(1),
                1 => watched = ours.timed_with_cpu(1, Watch::Default, &mut cpu).await,
                _ => {
                    unwatched = ours
                        .timed_with_cpu(1, Watch::Nothing, &mut unwatched_cpu)
                        .await
                }
            }
        }
        theirs_ms.push(theirs);
        watched_ms.push(watched);
        watched_ratios.push(watched / theirs);
        unwatched_ms.push(unwatched);
        unwatched_ratios.push(unwatched / theirs);
    }
    println!("20-step flow, one device, {rounds} rounds");
    row("plain Playwright, ms", &mut theirs_ms);
    row("watched, as by default, ms", &mut watched_ms);
    row("watched / plain", &mut watched_ratios);
    row("unwatched, ms", &mut unwatched_ms);
    row("unwatched / plain", &mut unwatched_ratios);
    row("unwatched, CPU of one flow, ms", &mut unwatched_cpu);

    let cores = std::thread::available_parallelism().unwrap().get() as f64;
    let (mut walls, mut plain_walls, mut to_ideal, mut to_plain, mut cpu8) =
        (vec![], vec![], vec![], vec![], vec![]);
    for _ in 0..rounds.div_ceil(3) {
        let theirs = plain.flows(MANY);
        let wall = ours.timed_with_cpu(MANY, Watch::Default, &mut cpu8).await;
        let ideal = MANY as f64 * median(&mut cpu) / cores;
        walls.push(wall);
        plain_walls.push(theirs);
        to_ideal.push(wall / ideal);
        to_plain.push(wall / theirs);
    }
    println!("\n{MANY} contexts at once on {cores} processors");
    row("CPU of one flow alone, ms", &mut cpu);
    row("CPU of one flow of eight, ms", &mut cpu8);
    row("plain Playwright, wall ms", &mut plain_walls);
    row("packtrain, wall ms", &mut walls);
    row("packtrain / plain", &mut to_plain);
    row("packtrain / CPU-bound ideal", &mut to_ideal);
    ours.stop().await;
    plain.stop();
}

/// The flow in plain Playwright, in a process of its own.
struct Plain {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Plain {
    fn start(installation: &install::Installation, browser: &Path, folder: &Path) -> Self {
        let mut child = Command::new(&installation.node)
            .arg(folder.join("flow.mjs"))
            .arg(&installation.cli)
            .arg(browser)
            .arg(format!("file://{}", folder.join("flow.html").display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    /// Milliseconds that `count` flows at once took.
    fn flows(&mut self, count: usize) -> f64 {
        writeln!(self.child.stdin.as_mut().unwrap(), "{count}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim()
            .parse()
            .unwrap_or_else(|_| panic!("the plain flow failed: {line:?}"))
    }

    fn stop(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// The flow through the engine, the actors and the driver.
struct Ours {
    pool: Arc<WebPool>,
    fleet: Fleet,
    devices: Vec<DeviceInfo>,
    trail: Arc<Trail>,
    folder: PathBuf,
}

struct NoTrails;

impl TrailLoader for NoTrails {
    fn load(
        &self,
        path: &str,
        _: &[PathBuf],
        _: Option<&packtrain_drivers::Reach>,
    ) -> Result<Arc<Trail>, String> {
        Err(format!("no {path} here"))
    }
}

impl Ours {
    fn start(found: &install::Found, folder: &Path) -> Self {
        let pool = WebPool::new(found);
        let connectors: Vec<_> = (0..MANY)
            .map(|n| {
                pool.connector(WebSlot {
                    name: format!("b{n}"),
                    ..WebSlot::default()
                })
            })
            .collect();
        let devices = connectors
            .iter()
            .map(|connector| connector.describe())
            .collect();
        let path = folder.join("flow.trail.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let trail = Trail::parse(&text, &path.display().to_string())
            .unwrap()
            .trail;
        Self {
            pool,
            fleet: Fleet::start(connectors, &[]).unwrap(),
            devices,
            trail: Arc::new(trail),
            folder: folder.to_owned(),
        }
    }

    /// Milliseconds that `count` flows at once took.
    async fn flows(&self, count: usize, watch: Watch) -> f64 {
        let plan = resolve(RunRequest {
            run: RunId("bench".to_owned()),
            trails: vec![RequestedTrail {
                trail: Arc::clone(&self.trail),
                only: None,
                matrix: None,
            }],
            devices: self.devices[..count].to_vec(),
            only_declared: false,
            alike: Vec::new(),
            anywhere: None,
            driver: None,
            tags: Vec::new(),
            shard: Shard::All,
            options: RunOptions {
                session: match watch {
                    Watch::Default => SessionOptions::default(),
                    Watch::Nothing => SessionOptions {
                        screenshots: Screenshots::None,
                        observe: Screenshots::None,
                        ..SessionOptions::default()
                    },
                },
                working_directory: self.folder.clone(),
                ..RunOptions::default()
            },
        });
        let (journal, thread) =
            Journal::start(Box::new(NoStore), Vec::new(), Redactor::default()).unwrap();
        let here = Here {
            fleet: self.fleet.clone(),
            registry: SharedRegistry::new(Registry::builtin()),
            loader: Arc::new(NoTrails),
            caller: Caller::Person,
            working_directory: self.folder.clone(),
            environment: None,
            scratch: None,
        };
        let run = Run {
            plan,
            host: Arc::new(here),
            journal,
            stop: Stop::default(),
        };
        let begun = Instant::now();
        let verdict = run.execute().await;
        let took = begun.elapsed();
        thread.finish().await;
        assert_eq!(verdict.exit, Exit::Passed, "{verdict:?}");
        took.as_secs_f64() * 1e3
    }

    /// The same, and the processor time of each flow, browser included, in milliseconds.
    async fn timed_with_cpu(&self, count: usize, watch: Watch, cpu: &mut Vec<f64>) -> f64 {
        let before = own_cpu();
        let wall = self.flows(count, watch).await;
        let used = own_cpu().saturating_sub(before);
        cpu.push(used.as_secs_f64() * 1e3 / count as f64);
        wall
    }

    async fn stop(self) {
        self.fleet.shutdown(Duration::from_secs(10)).await;
        self.pool.shutdown().await;
    }
}

/// Processor time of this process and everything below it, the plain flow's processes excluded.
fn own_cpu() -> Duration {
    let mut parents = HashMap::new();
    let mut ticks = HashMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let Some((_, fields)) = stat.rsplit_once(") ") else {
            continue;
        };
        let fields: Vec<&str> = fields.split(' ').collect();
        parents.insert(pid, fields[1].parse::<u32>().unwrap_or(0));
        let number = |place: usize| fields[place].parse::<u64>().unwrap_or(0);
        ticks.insert(pid, number(11) + number(12));
    }
    let own = std::process::id();
    let is_plain = |pid: u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains("flow.mjs"))
    };
    let is_ours = |mut pid: u32| loop {
        if pid == own {
            return true;
        }
        if pid <= 1 || is_plain(pid) {
            return false;
        }
        pid = parents.get(&pid).copied().unwrap_or(0);
    };
    let total: u64 = ticks
        .iter()
        .filter(|(pid, _)| is_ours(**pid))
        .map(|(_, t)| t)
        .sum();
    // Linux counts in hundredths of a second.
    Duration::from_millis(total * 10)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row(name: &str, values: &mut [f64]) {
    let middle = median(values);
    println!(
        "  {name:32} min {:8.2}  median {middle:8.2}  max {:8.2}",
        values[0],
        values[values.len() - 1]
    );
}
