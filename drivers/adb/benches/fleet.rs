//! What driving Android devices costs, on virtual ones: `cargo bench -p packtrain-driver-adb`.
//! Behind `--`, words choose among `command`, `snapshot`, `fleet`, `memory`, `links` and `trail`.
//!
//! Prints ratios within one run and what they are meant to stay below. Needs Android's `adb` on
//! PATH, and Linux for `memory`, `links` and `trail`.
#![expect(clippy::print_stdout, reason = "a benchmark")]

mod trail;

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::{
    AdbOptions, AdbPool, AgentChoice, AgentFiles, DirectAddress, Form, Profile, StartServer,
};
use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, CommandContext, Connector, Driver, InputCommand,
    LaunchMode, Point, SessionOptions, Size, SnapshotDetail, event_channel,
};
use packtrain_testing::{AdbServer, SHOP, adb, secluded, shop};
use packtrain_virtual::fleet::{AndroidHandle, Fleet, FleetOptions, Listen};
use packtrain_virtual::latency::{Latency, VariableDuration};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Anything that takes longer has hung.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
/// Rounds of a command, each way in turn.
const COMMANDS: usize = 60;
/// Commands in a row of each way through the driver.
const ROW: usize = 20;
/// Rounds of a snapshot, each way in turn.
const SNAPSHOTS: usize = 7;
/// How long an action of a fleet takes on a device.
const ACTION: u64 = 50;
/// Actions of each device of a fleet.
const ACTIONS: usize = 60;
/// Connections that are open at once.
const LINKS: usize = 5_000;
/// File descriptors for both ends of them.
const DESCRIPTORS: usize = 32_768;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let chosen: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with("--"))
        .collect();
    // What is measured needs a process of its own, for its memory and its descriptors.
    for part in ["command", "snapshot", "fleet", "memory", "links", "trail"] {
        if chosen.as_slice() == [part, "alone"] {
            return alone(part);
        }
        if chosen.is_empty() || chosen.contains(&part) {
            let line = format!("ulimit -n {DESCRIPTORS} 2>/dev/null; exec \"$0\" {part} alone");
            let own = std::env::current_exe().expect("a bench knows where it is");
            let status = std::process::Command::new("sh")
                .args(["-c", &line])
                .arg(own)
                .status()
                .expect("`sh` can be run");
            assert!(status.success(), "{part}: {status}");
        }
    }
}

fn alone(part: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        match part {
            // A task, as drivers are in the program.
            "command" => tokio::spawn(command()).await.expect("it ends"),
            "snapshot" => snapshot().await,
            "fleet" => fleet().await,
            "memory" => memory().await,
            "trail" => trail::run().await,
            _ => links().await,
        }
    });
}

/// Prints a figure and what it is meant to stay below.
fn tell(what: &str, figure: f64, target: f64, unit: &str) {
    let verdict = if figure <= target { "met" } else { "MISSED" };
    println!("{what}: {figure:.4}{unit} (at most {target}{unit}: {verdict})");
    // A line a time, also into a pipe.
    let _ = std::io::stdout().flush();
}

async fn phones(count: usize, latency: Latency, listen: Listen) -> Fleet {
    let options = FleetOptions {
        apps: vec![shop()],
        android: count,
        latency,
        listen,
        seed: 7,
        ..FleetOptions::default()
    };
    Fleet::start(options).await.expect("the fleet starts")
}

fn options(agent: AgentChoice, server: Option<&AdbServer>) -> AdbOptions {
    AdbOptions {
        server: server.map(|server| server.address),
        start: StartServer::Never,
        agent,
        ..AdbOptions::default()
    }
}

fn connector(pool: &AdbPool, phone: &AndroidHandle) -> Arc<dyn Connector> {
    let address = DirectAddress::Tcp(phone.address());
    let profile = Profile {
        model: "Bench".to_owned(),
        version: "15".to_owned(),
        api: Some(35),
        screen: Size::new(1080.0, 2424.0),
        form: Form::Phone,
    };
    pool.direct_known(phone.device().serial(), address, profile)
}

async fn connect(connector: &dyn Connector) -> Box<dyn Driver> {
    let (sink, _) = event_channel();
    connector
        .connect(sink, &ctx())
        .await
        .expect("the device is there")
}

fn ctx() -> CommandContext {
    CommandContext::within(COMMAND_TIMEOUT)
}

async fn carry_out(driver: &mut dyn Driver, command: Command) {
    let name = command.name();
    let done = driver.execute(command, &ctx()).await;
    done.unwrap_or_else(|error| panic!("{name}: {error}"));
}

async fn begin(driver: &mut dyn Driver) {
    carry_out(driver, Command::Begin(SessionOptions::default())).await;
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// A command through the driver against `adb shell`, which is started for each.
async fn command() {
    let fleet = phones(1, Latency::fast(), Listen::Tcp).await;
    let phone = &fleet.android()[0];
    let server = AdbServer::start().await;
    let address = phone.address().to_string();
    let pool = AdbPool::new(options(AgentChoice::Shell, Some(&server)));
    pool.connect(address.parse().expect("a TCP address"))
        .await
        .expect("the server connects");
    let found = pool.discover().await.expect("the server lists it");
    let mut served = connect(&*found[0]).await;
    let mut direct = connect(&*connector(&pool, phone)).await;
    begin(&mut *served).await;
    begin(&mut *direct).await;
    let home = tempfile::tempdir().expect("a folder");
    let port = server.address.port().to_string();
    let mut echo = echo().await;
    let [mut spawned, mut echoed] = [const { Vec::new() }; 2];
    let [mut through, mut through_first] = [const { Vec::new() }; 2];
    let [mut straight, mut straight_first] = [const { Vec::new() }; 2];
    for _ in 0..COMMANDS {
        let start = Instant::now();
        let status = secluded(&adb(), home.path())
            .args(["-P", &port, "-s", &address, "shell", "id"])
            .stdout(Stdio::null())
            .status()
            .await
            .expect("adb can be run");
        assert!(status.success(), "{status}");
        spawned.push(start.elapsed());
        for (driver, times, firsts) in [
            (&mut served, &mut through, &mut through_first),
            (&mut direct, &mut straight, &mut straight_first),
        ] {
            for n in 0..ROW {
                let id = AndroidCommand::Shell {
                    argv: vec!["id".to_owned()],
                    run_as: None,
                };
                let start = Instant::now();
                carry_out(&mut **driver, Command::Android(id)).await;
                let into = if n == 0 { &mut *firsts } else { &mut *times };
                into.push(start.elapsed());
            }
        }
        for _ in 0..ROW {
            let start = Instant::now();
            echo.write_all(b"x").await.expect("it is there");
            echo.read_u8().await.expect("it answers");
            echoed.push(start.elapsed());
        }
    }
    let spawned = median(spawned);
    println!("`adb shell id`: {:.2} ms", spawned * 1e3);
    let below = median(echoed) / spawned;
    println!("a byte there and back ÷ spawning adb: {below:.4}");
    for (way, times, first, target) in [
        ("through the server", through, through_first, 0.10),
        ("sent directly", straight, straight_first, 0.015),
    ] {
        let what = format!("a command {way} ÷ spawning adb");
        tell(&what, median(times) / spawned, target, "");
        // Processors and caches are busy with something else before it.
        println!("  the first of a row: {:.4}", median(first) / spawned);
    }
    served.close().await;
    direct.close().await;
    drop(server);
    fleet.shutdown().await;
}

/// A connection over loopback to a task that sends back what comes: what no protocol is below.
async fn echo() -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("it connects");
        let _ = socket.set_nodelay(true);
        let (mut reader, mut writer) = socket.split();
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
    });
    let socket = TcpStream::connect(address).await.expect("it listens");
    let _ = socket.set_nodelay(true);
    socket
}

/// Reading the screen through u2.jar against a plain dump, on a device as slow as a phone.
async fn snapshot() {
    let fleet = phones(2, Latency::phone(), Listen::Tcp).await;
    let folder = tempfile::tempdir().expect("a folder");
    let jar = folder.path().join("u2.jar");
    // Virtual phones have a server of their own for whatever jar they are given.
    std::fs::write(&jar, "stands for u2.jar").expect("written");
    let mut means = Vec::new();
    for (agent, phone) in [AgentChoice::U2, AgentChoice::Shell]
        .into_iter()
        .zip(fleet.android())
    {
        let mut options = options(agent, None);
        options.files = AgentFiles {
            u2_jar: Some(jar.clone()),
        };
        let pool = AdbPool::new(options);
        let mut driver = connect(&*connector(&pool, phone)).await;
        begin(&mut *driver).await;
        open_shop(&mut *driver).await;
        let mut times = Vec::new();
        for _ in 0..SNAPSHOTS {
            let start = Instant::now();
            carry_out(&mut *driver, Command::Snapshot(SnapshotDetail::default())).await;
            times.push(start.elapsed());
        }
        let time = median(times);
        println!("a snapshot by {agent:?}: {:.1} ms", time * 1e3);
        means.push(time);
        driver.close().await;
    }
    tell(
        "a snapshot by u2.jar ÷ by shell",
        means[0] / means[1],
        0.05,
        "",
    );
    fleet.shutdown().await;
}

async fn open_shop(driver: &mut dyn Driver) {
    let launch = AppCommand::Launch {
        id: SHOP.to_owned(),
        mode: LaunchMode::ForceRestart,
    };
    carry_out(driver, Command::App(launch)).await;
}

/// Many devices that act at once against one that acts alone.
async fn fleet() {
    let latency = Latency {
        input: VariableDuration::ms(ACTION),
        ..Latency::fast()
    };
    let mut walls = Vec::new();
    for count in [1, 200, 1000] {
        let fleet = phones(count, latency.clone(), Listen::Tcp).await;
        let drivers = connect_all(&fleet).await;
        let start = Instant::now();
        let acting = drivers.into_iter().map(|mut driver| {
            tokio::spawn(async move {
                for n in 0..ACTIONS {
                    let at = Point::new(500.0, 900.0 + f64::from(u8::try_from(n).unwrap_or(0)));
                    let tap = Command::Input(InputCommand::Tap { at });
                    carry_out(&mut *driver, tap).await;
                }
                driver
            })
        });
        let acting: Vec<_> = acting.collect();
        let mut drivers = Vec::new();
        for task in acting {
            drivers.push(task.await.expect("every device acts"));
        }
        let wall = start.elapsed().as_secs_f64();
        println!("{count} devices, {ACTIONS} actions of {ACTION} ms: {wall:.3} s");
        walls.push(wall);
        drop(drivers);
        fleet.shutdown().await;
    }
    tell("200 devices ÷ one", walls[1] / walls[0], 1.05, "");
    tell("1000 devices ÷ one", walls[2] / walls[0], 1.10, "");
}

async fn connect_all(fleet: &Fleet) -> Vec<Box<dyn Driver>> {
    let pool = AdbPool::new(options(AgentChoice::Shell, None));
    let connecting: Vec<_> = fleet
        .android()
        .iter()
        .map(|phone| {
            let connector = connector(&pool, phone);
            tokio::spawn(async move {
                let mut driver = connect(&*connector).await;
                begin(&mut *driver).await;
                open_shop(&mut *driver).await;
                driver
            })
        })
        .collect();
    let mut drivers = Vec::new();
    for task in connecting {
        drivers.push(task.await.expect("every device is connected"));
    }
    drivers
}

/// What a thousand devices hold, each driven up to the shop.
async fn memory() {
    let before = resident();
    let fleet = phones(1000, Latency::fast(), Listen::Tcp).await;
    let idle = resident() - before;
    println!("1000 virtual devices at rest: {idle:.1} MiB");
    let drivers = connect_all(&fleet).await;
    tell(
        "1000 virtual devices with their drivers",
        resident() - before,
        200.0,
        " MiB",
    );
    drop(drivers);
    fleet.shutdown().await;
}

/// Thousands of direct connections at once, each of which answers.
async fn links() {
    let before = resident();
    let fleet = phones(LINKS, Latency::fast(), Listen::PerDeviceIp).await;
    let pool = AdbPool::new(options(AgentChoice::Shell, None));
    let start = Instant::now();
    let connecting: Vec<_> = fleet
        .android()
        .iter()
        .map(|phone| {
            let connector = connector(&pool, phone);
            tokio::spawn(async move { connect(&*connector).await })
        })
        .collect();
    let mut drivers = Vec::new();
    for task in connecting {
        drivers.push(task.await.expect("every device is connected"));
    }
    println!(
        "{} direct connections: {:.2} s, {:.1} MiB",
        drivers.len(),
        start.elapsed().as_secs_f64(),
        resident() - before
    );
    drop(drivers);
    fleet.shutdown().await;
}

/// What this process holds in memory, in MiB.
fn resident() -> f64 {
    kept("/proc/self/status", "VmRSS:")
}

/// A field of a process's status, in MiB.
fn kept(status: &str, field: &str) -> f64 {
    let status = std::fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}
