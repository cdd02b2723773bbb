//! `wm`, which is `cmd window`.

use crate::android::commands::{Call, CommandResult};
use crate::world::Rotation;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let args = call.rest();
    window(call, args).await
}

/// What follows `wm` or `cmd window`.
pub(super) async fn window(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    if let Some(at) = args.iter().position(|arg| *arg == "-d") {
        args.drain(at..(at + 2).min(args.len()));
    }
    let android = call.android();
    let shape = android.device().shape();
    match args.as_slice() {
        ["size"] => {
            let mut text = format!("Physical size: {}x{}\n", shape.width_px, shape.height_px);
            if let Some((w, h)) = android.device().world(|world, _| world.size_override()) {
                text.push_str(&format!("Override size: {w}x{h}\n"));
            }
            call.out(text).await?;
            Ok(0)
        }
        ["density"] => {
            let mut text = format!("Physical density: {}\n", shape.density());
            if let Some(density) = android.device().world(|world, _| world.density_override()) {
                text.push_str(&format!("Override density: {density}\n"));
            }
            call.out(text).await?;
            Ok(0)
        }
        ["size", size] => {
            let pair = size.split_once('x');
            let pair = pair.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
            let is_reset = *size == "reset";
            let set = (android.device())
                .world(|world, now| (is_reset || pair.is_some()) && world.set_size(pair, now));
            if !set {
                call.err(format!("Error: bad size {size}\n")).await?;
                return Ok(255);
            }
            Ok(0)
        }
        ["density", density] => {
            let number = density.parse().ok();
            let is_reset = *density == "reset";
            let set = (android.device()).world(|world, now| {
                (is_reset || number.is_some()) && world.set_density(number, now)
            });
            if !set {
                call.err(format!("Error: bad number {density}\n")).await?;
                return Ok(255);
            }
            Ok(0)
        }
        ["user-rotation", rest @ ..] | ["set-user-rotation", rest @ ..] => {
            match rest {
                [] => {
                    let free = android.setting("system", "accelerometer_rotation");
                    let rotation = android.device().world(|world, _| world.rotation());
                    call.out(match free.as_deref() {
                        Some("1") => "free\n".to_owned(),
                        _ => format!("lock {}\n", rotation.number()),
                    })
                    .await?;
                }
                ["free"] => android.put_setting("system", "accelerometer_rotation", Some("1")),
                ["lock", number @ ..] => {
                    android.put_setting("system", "accelerometer_rotation", Some("0"));
                    let number = number.first().and_then(|n| n.parse().ok());
                    if let Some(rotation) = number.and_then(Rotation::from_number) {
                        android
                            .device()
                            .world(|world, now| world.rotate(rotation, now));
                    }
                }
                _ => {}
            }
            Ok(0)
        }
        [
            "dismiss-keyguard"
            | "fixed-to-user-rotation"
            | "set-fix-to-user-rotation"
            | "scaling"
            | "set-ignore-orientation-request"
            | "tracing"
            | "logging",
            ..,
        ] => Ok(0),
        ["dump-visible-window-views"] => Ok(0),
        [] | ["help" | "-h", ..] => {
            call.out("Window manager (window) commands:\n  help\n")
                .await?;
            Ok(255)
        }
        [other, ..] => {
            call.unhandled();
            call.out(format!("Unknown command: {other}\n")).await?;
            Ok(255)
        }
    }
}
