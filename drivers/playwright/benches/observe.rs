//! What it costs to observe every step instead of taking a picture of it: the example trail over four
//! browsers at once, alternating in one run.
//!
//! `cargo bench -p packtrain-driver-playwright --bench observe [-- ROUNDS]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark")]

#[path = "../tests/shop.rs"]
mod shop;

use std::time::Duration;

use packtrain_driver_playwright::{ColorScheme, WebPool, WebSlot, install};
use packtrain_drivers::{
    Command, Driver, Observation, ObserveOptions, SessionOptions, event_channel,
};
use packtrain_testing::context;
use tokio::time::Instant;

/// What is done after each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Picture,
    Observation,
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
        .unwrap_or(8);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(measure(rounds));
}

async fn measure(rounds: usize) {
    let found = install::find(&install::SearchPaths::from_environment(|name| {
        std::env::var_os(name)
    }));
    let pool = WebPool::new(&found);
    let mut devices = Vec::new();
    for slot in slots() {
        let (sink, _) = event_channel();
        let connector = pool.connector(slot);
        devices.push(connector.connect(sink, &context()).await.unwrap());
    }
    trails(&mut devices, After::Picture).await;
    trails(&mut devices, After::Observation).await;
    let (mut pictures, mut observations, mut ratios) = (vec![], vec![], vec![]);
    let mut unsettled = 0;
    for round in 0..rounds {
        // The order changes, so that a drift of the machine favours nobody.
        let mut order = [After::Picture, After::Observation];
        if round % 2 == 1 {
            order.reverse();
        }
        let (mut with_picture, mut with_observation) = (0.0, 0.0);
        for after in order {
            let (took, moved) = trails(&mut devices, after).await;
            match after {
                After::Picture => with_picture = took,
                After::Observation => {
                    with_observation = took;
                    unsettled += moved;
                }
            }
        }
        pictures.push(with_picture);
        observations.push(with_observation);
        ratios.push(with_observation / with_picture);
    }
    println!(
        "the example trail, {} steps, {} browsers at once, {rounds} rounds",
        shop::trail().len(),
        devices.len()
    );
    row("with a picture, ms", &mut pictures);
    row("with an observation, ms", &mut observations);
    row("ratio", &mut ratios);
    println!("  {unsettled} observations of pages that did not come to rest");
    for device in devices {
        device.close().await;
    }
    pool.shutdown().await;
}

fn slots() -> Vec<WebSlot> {
    let named = |name: &str| WebSlot {
        name: name.to_owned(),
        ..WebSlot::default()
    };
    vec![
        WebSlot {
            viewport: Some((1280, 800)),
            ..named("desktop")
        },
        WebSlot {
            emulate: Some("iPhone 15".to_owned()),
            ..named("phone")
        },
        WebSlot {
            emulate: Some("iPad Mini".to_owned()),
            ..named("tablet")
        },
        WebSlot {
            viewport: Some((1024, 700)),
            color_scheme: Some(ColorScheme::Dark),
            ..named("night")
        },
    ]
}

/// Milliseconds of the trail on all devices at once, and how many pages did not rest.
async fn trails(devices: &mut [Box<dyn Driver>], after: After) -> (f64, u32) {
    let begun = Instant::now();
    let runs = devices.iter_mut().map(|device| trail(&mut **device, after));
    let unsettled = futures::future::join_all(runs).await.into_iter().sum();
    (begun.elapsed().as_secs_f64() * 1e3, unsettled)
}

async fn trail(device: &mut dyn Driver, after: After) -> u32 {
    let mut unsettled = 0;
    run(device, Command::Begin(SessionOptions::default())).await;
    for step in shop::trail() {
        for command in step {
            run(device, command).await;
        }
        match after {
            After::Picture => drop(run(device, Command::Screenshot).await),
            After::Observation => {
                let options = ObserveOptions {
                    picture: true,
                    still_within: Duration::from_secs(1),
                    masks: Vec::new(),
                };
                let Observation::Observed(seen) = run(device, Command::Observe(options)).await
                else {
                    panic!()
                };
                unsettled += u32::from(!seen.is_still);
            }
        }
    }
    run(device, Command::End).await;
    unsettled
}

async fn run(device: &mut dyn Driver, command: Command) -> Observation {
    device.execute(command, &context()).await.unwrap()
}

fn row(name: &str, values: &mut [f64]) {
    values.sort_by(f64::total_cmp);
    println!(
        "  {name:26} min {:8.2}  median {:8.2}  max {:8.2}",
        values[0],
        values[values.len() / 2],
        values[values.len() - 1]
    );
}
