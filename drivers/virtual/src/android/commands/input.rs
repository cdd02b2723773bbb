//! `input`: touches, text and keys. Source: AOSP `InputShellCommand`.

use std::time::Duration;

use crate::android::commands::{Call, CommandResult};
use crate::android::keys::stroke_of;
use crate::geometry::Point;
use crate::world::Gesture;

/// The longest swipe.
const MAX_SWIPE_TIME: Duration = Duration::from_secs(600);

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let device = call.shell.android.device().clone();
    let latency = device.latency();
    let time = if device.shape().api_level >= 31 {
        latency.input
    } else {
        latency.old_input
    };
    device.takes(time).await;
    let Some((what, args)) = call.rest().split_first() else {
        let text = "Usage: input <command> [<arg>...]\n";
        return call.end(text, 255).await;
    };
    match what.as_str() {
        "text" => text(call, args).await,
        "keyevent" => keyevent(call, args).await,
        "tap" => {
            let Some([x, y]) = numbers(args)
                .as_deref()
                .and_then(|n| n.first_chunk().copied())
            else {
                return bad_number(call, what, args).await;
            };
            device.touch(Gesture::Tap(point(call, x, y))).await;
            Ok(0)
        }
        "swipe" | "draganddrop" => swipe(call, what, args).await,
        other => call.unknown(other).await,
    }
}

/// Pixels as the device is held, in dp.
fn point(call: &Call<'_>, x: f64, y: f64) -> Point {
    let scale = call.shell.android.device().screen().scale;
    Point::new(x / scale, y / scale)
}

fn numbers(args: &[String]) -> Option<Vec<f64>> {
    args.iter()
        .map(|arg| arg.parse().ok().filter(|n: &f64| n.is_finite()))
        .collect()
}

async fn bad_number(call: &Call<'_>, what: &str, args: &[String]) -> CommandResult {
    let bad = args.iter().find(|arg| arg.parse::<f64>().is_err());
    let why = match bad {
        Some(bad) => format!("NumberFormatException: For input string: \"{bad}\""),
        None => {
            let last = args.last().map_or(what, String::as_str);
            format!("IllegalArgumentException: Argument expected after \"{last}\"")
        }
    };
    call.throw(what, why).await
}

async fn text(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    if args.is_empty() {
        return bad_number(call, "text", args).await;
    }
    let text = args.join(" ").replace("%s", " ");
    if !text.is_ascii() {
        // The key map has no keys for these characters.
        let why = "NullPointerException: Attempt to get length of null array\n\tat com.android.server.input.InputShellCommand.sendText(InputShellCommand.java:301)";
        return call.throw("text", why).await;
    }
    call.shell.android.device().type_text(&text).await;
    Ok(0)
}

async fn keyevent(call: &mut Call<'_>, keys: &[String]) -> CommandResult {
    if keys.is_empty() {
        return bad_number(call, "keyevent", &[]).await;
    }
    for key in keys {
        call.android().strike_key(stroke_of(key)).await;
    }
    Ok(0)
}

async fn swipe(call: &mut Call<'_>, what: &str, args: &[String]) -> CommandResult {
    let all = numbers(args).filter(|all| matches!(all.len(), 4 | 5));
    let Some(all) = all else {
        return bad_number(call, what, args).await;
    };
    let (from, to) = (point(call, all[0], all[1]), point(call, all[2], all[3]));
    let ms = all.get(4).copied().filter(|ms| *ms >= 0.0).unwrap_or(300.0);
    let time = Duration::from_secs_f64((ms / 1000.0).min(MAX_SWIPE_TIME.as_secs_f64()));
    let device = call.shell.android.device().clone();
    // The command is done when the finger has left the glass.
    device.sleep(time).await;
    device.touch(Gesture::of(from, to, time)).await;
    Ok(0)
}
