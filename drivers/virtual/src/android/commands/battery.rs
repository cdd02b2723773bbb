//! `dumpsys battery` and `cmd battery`. Source: AOSP `BatteryService`.

use crate::android::commands::{Call, CommandResult};
use crate::android::lock;

/// What the system takes the battery for; the charge itself is the device's.
#[derive(Debug, Clone, Copy)]
pub(in crate::android) struct Battery {
    ac: bool,
    usb: bool,
    wireless: bool,
    dock: bool,
    present: bool,
    status: i32,
    counter: i32,
    temperature: i32,
    /// Somebody set a value: what the hardware says does not count until `reset`.
    stopped: bool,
}

impl Default for Battery {
    fn default() -> Self {
        Self {
            ac: false,
            usb: true,
            wireless: false,
            dock: false,
            present: true,
            status: 2,
            counter: 4_000_000,
            temperature: 250,
            stopped: false,
        }
    }
}

impl Battery {
    /// `set NAME VALUE`; what is wrong with it otherwise.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number: i32 = value.parse().map_err(|_| format!("Bad value: {value}"))?;
        match name {
            "ac" => self.ac = number != 0,
            "usb" => self.usb = number != 0,
            "wireless" => self.wireless = number != 0,
            "dock" => self.dock = number != 0,
            "present" => self.present = number != 0,
            "status" => self.status = number,
            "counter" => self.counter = number,
            "temp" => self.temperature = number,
            // The charge is the device's.
            "level" | "invalid" => {}
            other => return Err(format!("Unknown set option: {other}")),
        }
        self.stopped = true;
        Ok(())
    }

    fn shown(&self, level: u8) -> String {
        let Self {
            ac,
            usb,
            wireless,
            dock,
            present,
            status,
            counter,
            temperature,
            stopped,
        } = self;
        let stopped = if *stopped {
            "  (UPDATES STOPPED -- use 'reset' to restart)\n"
        } else {
            ""
        };
        format!(
            "Current Battery Service state:\n{stopped}  AC powered: {ac}\n  USB powered: {usb}\n  Wireless powered: {wireless}\n  Dock powered: {dock}\n  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: {counter}\n  status: {status}\n  health: 2\n  present: {present}\n  level: {level}\n  scale: 100\n  voltage: 4200\n  temperature: {temperature}\n  technology: Li-ion\n"
        )
    }
}

pub(super) async fn run(call: &Call<'_>, args: &[&str]) -> CommandResult {
    let android = &call.shell.android;
    let args: Vec<&str> = (args.iter().copied())
        .filter(|arg| !matches!(*arg, "-f" | "-a"))
        .collect();
    match args.as_slice() {
        ["set", name, value, ..] => {
            let result = lock(&android.state).battery.set(name, value);
            if let Err(text) = result {
                call.out(text + "\n").await?;
                return Ok(255);
            }
            if let ("level", Ok(level)) = (*name, value.parse::<u8>()) {
                android.device().set_battery(level);
            }
        }
        ["unplug", ..] => {
            let battery = &mut lock(&android.state).battery;
            *battery = Battery {
                ac: false,
                usb: false,
                wireless: false,
                dock: false,
                stopped: true,
                ..*battery
            };
        }
        ["reset", ..] => {
            lock(&android.state).battery = Battery::default();
            android.device().set_battery(100);
        }
        _ => {
            let battery = lock(&android.state).battery;
            call.out(battery.shown(android.device().battery())).await?;
        }
    }
    Ok(0)
}
