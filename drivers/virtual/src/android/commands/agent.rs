//! `app_process`: programs clients bring along. The device cannot run them;
//! it stands in for those it knows and refuses the others, as a phone refuses a class that is
//! not there.

use crate::android::commands::{Call, CommandResult};
use crate::android::u2;

/// The class of uiautomator2's server.
const U2_MAIN: &str = "com.wetest.uia2.Main";

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let words: Vec<&str> = call.rest().iter().map(String::as_str).collect();
    let [_, class, args @ ..] = words.as_slice() else {
        let text = "Error: no class name or --zygote supplied.\n";
        return call.refuse(text, 1).await;
    };
    let there = call.shell.get("CLASSPATH").is_some_and(|path| {
        path.split(':').any(|part| {
            let real = call.shell.real_path(part);
            let files = call.shell.android.files.lock();
            real.is_ok_and(|real| files.meta(&real).is_some_and(|meta| meta.size > 0))
        })
    });
    match *class {
        U2_MAIN if there => {
            let port = args
                .windows(2)
                .find(|pair| pair[0] == "-p")
                .and_then(|p| p[1].parse().ok());
            let faults = call.faults.clone();
            let (android, out) = (call.android(), call.io.stdout.clone());
            u2::run(&android, port.unwrap_or(u2::PORT), &faults, &out).await
        }
        _ => {
            if there {
                call.unhandled();
            }
            let text = format!("Error: could not find class '{class}'\nAborted \n");
            call.refuse(text, 134).await
        }
    }
}
