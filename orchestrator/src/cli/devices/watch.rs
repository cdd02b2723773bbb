//! `packtrain devices --watch`: first what there is, then what becomes of it.

use std::time::Duration;

use chrono::{Local, Utc};
use packtrain_config::Config;
use packtrain_drivers::{DeviceId, DeviceInfo};
use packtrain_model::Exit;
use serde_json::{Value, json};

use super::super::{Format, listed, select};
use crate::exit::CliError;
use crate::shutdown::Interrupts;
use crate::wiring::watch::{Change, Watch};
use crate::wiring::{UnusablePhone, Wiring, android};
use crate::{render, runtime};

/// Prints devices and changes until Ctrl-C.
pub(super) fn run(config: &Config, format: Format) -> Result<Exit, CliError> {
    runtime::block_on_stoppable(async |interrupts: Interrupts| {
        let watching = async {
            let wiring = Wiring::new(config, super::ALL, false).await?;
            begin(&wiring, format);
            // A person watching wants to see it at once.
            let mut watch = Watch::start(&wiring, Duration::ZERO);
            while let Some(change) = watch.next().await {
                tell(&change, format);
            }
            Ok(Exit::Passed)
        };
        tokio::select! {
            ended = watching => ended,
            // That is how it ends.
            () = interrupts.first().cancelled() => Ok(Exit::Passed),
        }
    })
}

fn begin(wiring: &Wiring, format: Format) {
    match format {
        Format::Text => super::show(wiring, None),
        Format::Json => {
            for device in select::known(wiring) {
                line("present", &device.id, json!({ "device": device }));
            }
            for device in wiring.unusable() {
                unusable(device);
            }
        }
    }
}

fn tell(change: &Change, format: Format) {
    match format {
        Format::Text => {
            let (what, time) = (in_words(change), Local::now().format("%H:%M:%S"));
            render::out(&format!("{time} {what}"));
        }
        Format::Json => match change {
            Change::Appeared { connector, .. } => {
                let device = connector.describe();
                line("appeared", &device.id, json!({ "device": device }));
            }
            Change::Vanished(id) => line("vanished", id, json!({})),
            Change::Unusable(device) => unusable(device),
        },
    }
}

fn in_words(change: &Change) -> String {
    match change {
        Change::Appeared { connector, .. } => {
            let DeviceInfo {
                id, model, system, ..
            } = connector.describe();
            format!("{id} appeared: {model}, {system}")
        }
        Change::Vanished(id) => format!("{id} vanished"),
        Change::Unusable(device) => android::why_unusable(device),
    }
}

fn unusable(device: &UnusablePhone) {
    let told = json!({ "unusable": device });
    line("unusable", &android::id(device), told);
}

fn line(change: &str, id: &DeviceId, mut told: Value) {
    told["at"] = json!(Utc::now());
    told["change"] = json!(change);
    told["id"] = json!(id);
    listed::data(told);
}
