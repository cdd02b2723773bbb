//! A farm of virtual Android phones for trying clients by hand:
//! `cargo run -p packtrain-virtual --example farm -- app=examples/shop/app.yaml android=3`.
//! Prints where each phone listens, then runs until its standard input ends, then prints what
//! clients asked that no phone could answer.

use std::io::Write as _;

use packtrain_virtual::android::{AuthPolicy, Build};
use packtrain_virtual::app::App;
use packtrain_virtual::faults::Faults;
use packtrain_virtual::fleet::{Fleet, FleetOptions, Listen};
use packtrain_virtual::latency::Latency;

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut options = FleetOptions {
        android: 1,
        ..FleetOptions::default()
    };
    for arg in std::env::args().skip(1) {
        let (key, value) = arg.split_once('=').ok_or("arguments are key=value")?;
        match key {
            "app" => options.apps = App::parse_all(&std::fs::read_to_string(value)?, value)?,
            "android" => options.android = value.parse()?,
            "latency" => options.latency = Latency::named(value).ok_or("phone or fast")?,
            "faults" => options.faults = Faults::parse(&std::fs::read_to_string(value)?, value)?,
            "seed" => options.seed = value.parse()?,
            "auth" => {
                options.auth = match value {
                    "trust" => AuthPolicy::Trust,
                    "pending" => AuthPolicy::Pending,
                    _ => AuthPolicy::None,
                }
            }
            "build" if value == "user" => options.build = Build::User,
            "listen" => {
                options.listen = match value {
                    "ip" => Listen::PerDeviceIp,
                    "tcp" => Listen::Tcp,
                    dir => Listen::Unix(dir.into()),
                }
            }
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let fleet = Fleet::start(options).await?;
    let mut out = std::io::stdout();
    for phone in fleet.android() {
        writeln!(
            out,
            "{}\t{}\t{}",
            phone.address(),
            phone.serial(),
            phone.model()
        )?;
    }
    out.flush()?;
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()))
        .await??;
    for phone in fleet.android() {
        for (request, count) in phone.unhandled() {
            writeln!(out, "unhandled\t{}\t{count}\t{request}", phone.serial())?;
        }
    }
    fleet.shutdown().await;
    Ok(())
}
