//! `ime`: which input methods there are.

use crate::android::commands::{Call, CommandResult};

const KEYBOARD: &str =
    "com.google.android.inputmethod.latin/com.android.inputmethod.latin.LatinIME";
const ENABLED: &str = "enabled_input_methods";

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let android = call.android();
    let set = android.setting("secure", ENABLED).unwrap_or_default();
    let mut enabled: Vec<&str> = set.split(':').collect();
    let (what, id) = match (call.arg(1), call.arg(2)) {
        (Some("list"), _) if call.rest().iter().any(|arg| arg == "-s") => {
            return call.say(enabled.join("\n") + "\n").await;
        }
        (Some(what), Some(id)) => (what, id),
        _ => {
            call.unhandled();
            let text =
                "ime <command>:\n  list [-a] [-s]\n  enable <ID>\n  disable <ID>\n  set <ID>\n";
            return call.refuse(text, 255).await;
        }
    };
    let package = id.split('/').next().unwrap_or("").into();
    let installed = || (android.device()).world(|world| world.installed_app(&package).is_some());
    let refusal = match what {
        "enable" if id != KEYBOARD && !installed() => "enabled",
        "set" if !enabled.contains(&id) => "selected",
        "set" => {
            android.put_setting("secure", "default_input_method", Some(id));
            let text = format!("Input method {id} selected for user #0\n");
            return call.say(text).await;
        }
        "enable" | "disable" => {
            enabled.retain(|known| *known != id);
            if what == "enable" {
                enabled.push(id);
            }
            android.put_setting("secure", ENABLED, Some(&enabled.join(":")));
            let text = format!("Input method {id}: now {what}d for user #0\n");
            return call.say(text).await;
        }
        other => return call.unknown(other).await,
    };
    let text = format!("Unknown input method {id} cannot be {refusal} for user #0\n");
    call.refuse(text, 255).await
}
