//! `app_process` and `am instrument`: programs clients bring along. The device cannot run them;
//! it stands in for those it knows and refuses the others, as a phone refuses a class that is
//! not there.

use crate::android::commands::{Call, CommandResult};
use crate::android::u2;

/// The class of uiautomator2's server.
const U2_MAIN: &str = "com.wetest.uia2.Main";

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let words: Vec<&str> = (call.rest().iter())
        .map(String::as_str)
        .filter(|arg| {
            !arg.starts_with("-D") && !arg.starts_with("-X") && !arg.starts_with("--nice")
        })
        .collect();
    let [_, class, args @ ..] = words.as_slice() else {
        call.err("Error: no class name or --zygote supplied.\n")
            .await?;
        return Ok(1);
    };
    let there = call.shell.get("CLASSPATH").is_some_and(|path| {
        path.split(':').any(|part| {
            let real = call.shell.real_path(part);
            let files = crate::android::lock(&call.shell.android.files);
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
            call.err(format!("Error: could not find class '{class}'\nAborted \n"))
                .await?;
            Ok(134)
        }
    }
}

/// `am instrument [-w] [-e KEY VALUE …] PACKAGE/RUNNER`
pub(super) async fn instrument(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let runner = args
        .iter()
        .find(|arg| arg.contains('/') && !arg.starts_with('-'));
    let Some((package, class)) = runner.and_then(|runner| runner.split_once('/')) else {
        call.err("Error: Missing argument\n").await?;
        return Ok(255);
    };
    let android = call.android();
    let known = android.package(&package.into()).instrumentations;
    let target = known
        .iter()
        .find(|(known, _)| known == class)
        .map(|(_, target)| target.clone());
    let Some(_) = target else {
        let name = format!("{package}/{class}");
        call.out(format!("INSTRUMENTATION_STATUS: id=ActivityManagerService\nINSTRUMENTATION_STATUS: Error=Unable to find instrumentation info for: ComponentInfo{{{name}}}\nINSTRUMENTATION_STATUS_CODE: -1\n")).await?;
        call.err(format!(
            "android.util.AndroidException: INSTRUMENTATION_FAILED: {name}\n"
        ))
        .await?;
        return Ok(1);
    };
    call.unhandled();
    call.out("INSTRUMENTATION_RESULT: shortMsg=Process crashed.\nINSTRUMENTATION_CODE: 0\n")
        .await?;
    Ok(0)
}
