//! `uiautomator`: the tree of the window that has the focus.
//! Source: AOSP `DumpCommand` and `UiAutomationShellWrapper`.

use std::time::Duration;

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::tree::{Style, active_tree, write_xml};
use crate::faults::{Event, Fault};

/// Where the tree goes when nothing is said.
const DEFAULT_FILE: &str = "/sdcard/window_dump.xml";

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    if call.arg(1) == Some("dump") {
        return dump(call).await;
    }
    call.unhandled();
    let text = "Usage: uiautomator <subcommand> [options]\n\nAvailable subcommands:\n\nhelp: displays help message\n\nruntest: executes UI automation tests\n\ndump: creates an XML dump of current UI hierarchy\n\nevents: prints out accessibility events until terminated\n";
    call.refuse(text, 1).await
}

async fn dump(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.args.get(2..).unwrap_or(&[]), &["--display-id"]);
    let path = options.rest.first().map_or(DEFAULT_FILE, String::as_str);
    let android = call.android();
    let device = android.device().clone();
    let latency = device.latency();
    // Only one may use UiAutomation; whoever comes second does not survive it.
    let Some(_claim) = android.claim_automation() else {
        return call.refuse("Killed \n", 137).await;
    };
    device.takes(latency.dump).await;
    let mut faults = device.fire_faults(Event::Tree("uiautomator"));
    faults.append(&mut call.faults);
    device.delay(&faults).await;
    let injected = |wanted: &Fault| faults.contains(wanted);
    if injected(&Fault::UiAutomationTaken) {
        return call.refuse("Killed \n", 137).await;
    }
    if injected(&Fault::NotIdle) || !wait_for_quiet(call).await {
        return call.refuse("ERROR: could not get idle state.\n", 0).await;
    }
    if injected(&Fault::NullRoot) || android.device().world(|world| world.starting()) {
        let text = "ERROR: null root node returned by UiTestAutomationBridge.\n";
        return call.refuse(text, 0).await;
    }
    let snapshot = android.faulty_snapshot(&faults);
    let rotation = snapshot.rotation.number();
    let tree = active_tree(&snapshot, device.screen().scale);
    let tree = tree.filter(|_| !injected(&Fault::EmptyTree));
    let mut xml = write_xml(
        tree.as_slice(),
        rotation,
        Style::Aosp,
        options.has("--compressed"),
    );
    truncate(&mut xml, &faults);
    // A file that cannot be written is no error to it: only the line below is printed.
    if let Ok(output) = call.shell.open_output(path, false) {
        output.write(xml).await?;
    }
    // The typing error is the platform's.
    call.say(format!("UI hierchary dumped to: {path}\n")).await
}

/// Cuts a text short, where a fault says so.
pub(in crate::android) fn truncate(text: &mut String, faults: &[Fault]) {
    for fault in faults {
        if let Fault::Truncate(bytes) = fault {
            let end = (0..=(*bytes).min(text.len()))
                .rev()
                .find(|end| text.is_char_boundary(*end));
            text.truncate(end.unwrap_or(0));
        }
    }
}

/// Waits until the screen has been quiet for long enough; false when it takes too long.
async fn wait_for_quiet(call: &Call<'_>) -> bool {
    let device = call.shell.android.device();
    let latency = device.latency();
    let quiet = Duration::from_millis(latency.dump_quiet.ms);
    let deadline = device.now() + Duration::from_millis(latency.dump_patience.ms);
    loop {
        let now = device.now();
        let since = device.world(|world| world.quiet_since());
        if since.is_some_and(|since| now.saturating_sub(since) >= quiet) {
            return true;
        }
        if now >= deadline {
            return false;
        }
        // Quiet has its own end; before that, something must happen first.
        let next = since.map_or(deadline, |since| since + quiet).min(deadline);
        let revision = device.world(|world| world.revision());
        let quiet_again = since.is_none();
        device
            .wait_for(next, |world| {
                let changed = world.revision() != revision;
                let settled = quiet_again && world.quiet_since().is_some();
                (changed || settled).then_some(())
            })
            .await;
    }
}
