//! `wm`: the size of the screen and how it is turned.

use crate::android::commands::{Call, CommandResult};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let args: Vec<&str> = call.rest().iter().map(String::as_str).collect();
    let android = call.android();
    let (device, shape) = (android.device(), android.device().shape());
    match args.as_slice() {
        ["size"] => {
            let mut text = format!(
                "Physical size: {}x{}\n",
                shape.screen.width_px, shape.screen.height_px
            );
            if let Some((w, h)) = device.world(|world| world.size_override()) {
                text.push_str(&format!("Override size: {w}x{h}\n"));
            }
            call.say(text).await
        }
        ["density"] => {
            let mut text = format!("Physical density: {}\n", shape.screen.density());
            if let Some(density) = device.world(|world| world.density_override()) {
                text.push_str(&format!("Override density: {density}\n"));
            }
            call.say(text).await
        }
        [what @ ("size" | "density"), value] => {
            let resets = *value == "reset";
            let pair = value.split_once('x');
            let pair = pair.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
            let number = value.parse().ok();
            let set = device.world(|world| match *what {
                "size" => (resets || pair.is_some()) && world.set_size(pair),
                _ => (resets || number.is_some()) && world.set_density(number),
            });
            let what = if *what == "size" { "size" } else { "number" };
            if set {
                return Ok(0);
            }
            let text = format!("Error: bad {what} {value}\n");
            call.refuse(text, 255).await
        }
        ["user-rotation"] => {
            let free = android.setting("system", "accelerometer_rotation");
            let rotation = device.world(|world| world.rotation());
            call.say(match free.as_deref() {
                Some("1") => "free\n".to_owned(),
                _ => format!("lock {}\n", rotation.number()),
            })
            .await
        }
        other => call.unknown(other.first().unwrap_or(&"")).await,
    }
}
