//! Installing: `pm install`, `cmd package install`, and sessions of several APKs.

use crate::android::blobs::{Blob, BlobWriter};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::files::Errno;
use crate::android::packages::InstallMode;

/// The largest APK, in bytes.
const MAX_APK: u64 = 2 * 1024 * 1024 * 1024;

/// Options of `pm install` that take a value.
const WITH_VALUE: &[&str] = &[
    "i",
    "S",
    "p",
    "--user",
    "--abi",
    "--install-location",
    "--pkg",
];

/// `install`, `install-create`, `install-write`, `install-commit`, `install-abandon`.
pub(super) async fn run(call: &mut Call<'_>, what: &str, args: &[String]) -> CommandResult {
    let options = Options::of(args, WITH_VALUE);
    let android = call.android();
    let id = options.rest.first().and_then(|id| id.parse().ok());
    let id: u64 = id.unwrap_or(0);
    let unknown = format!("Failure [Error: Unknown session {id}]\n");
    match what {
        "install" => install(call, &options).await,
        "install-create" => {
            let id = 1_000_000 + android.device().roll(900_000_000);
            android.sessions.lock().insert(id, Vec::new());
            call.say(format!("Success: created install session [{id}]\n"))
                .await
        }
        "install-write" => {
            if !android.sessions.lock().contains_key(&id) {
                return call.end(unknown, 1).await;
            }
            let path = options.rest.get(2).filter(|path| path.as_str() != "-");
            let blob = match path {
                Some(path) => file(call, path).ok().flatten(),
                None => take_in(call, options.number("S").unwrap_or(0)).await,
            };
            let Some(blob) = blob else {
                let text = "Failure [Error: cannot read the APK]\n";
                return call.end(text, 1).await;
            };
            let text = format!("Success: streamed {} bytes\n", blob.length());
            if let Some(session) = android.sessions.lock().get_mut(&id) {
                session.push(blob);
            }
            call.say(text).await
        }
        _ => {
            let Some(session) = android.sessions.lock().remove(&id) else {
                return call.end(unknown, 1).await;
            };
            if what == "install-commit" {
                for blob in session {
                    if let Err(error) = android.install(blob, InstallMode::default()).await {
                        return report(call, Err(error)).await;
                    }
                }
            }
            report(call, Ok(())).await
        }
    }
}

/// The content of a file; `None` when the device makes it up.
fn file(call: &Call<'_>, path: &str) -> Result<Option<Blob>, Errno> {
    let real = call.shell.real_path(path)?;
    call.shell
        .android
        .files
        .lock()
        .content(&real, &call.shell.who)
}

async fn install(call: &mut Call<'_>, options: &Options) -> CommandResult {
    let path = options.rest.iter().find(|arg| arg.as_str() != "-");
    let blob = match (path, options.number("S")) {
        (Some(path), _) => match file(call, path) {
            Ok(Some(blob)) => blob,
            Ok(None) | Err(_) => {
                let mut text = format!("Error: Unable to open file: {path}\n");
                if !path.starts_with("/data/local/tmp/") {
                    text.push_str("Consider using a file under /data/local/tmp/\n");
                }
                let why = format!("Error: Can't open file: {path}");
                call.err(format!("{text}{why}\n")).await?;
                let thrown = format!("IllegalArgumentException: {why}");
                return call.throw("install", thrown).await;
            }
        },
        (None, Some(size)) => match take_in(call, size).await {
            Some(blob) => blob,
            None => return Ok(1),
        },
        (None, None) => {
            let text = "Error: must either specify a package size or an APK file\n";
            return call.end(text, 1).await;
        }
    };
    let mode = InstallMode {
        grants: options.has("g"),
        downgrades: options.has("d"),
        keeps_existing: options.has("R"),
    };
    let result = call.android().install(blob, mode).await;
    report(call, result.map(|_| ())).await
}

async fn report(call: &Call<'_>, result: Result<(), String>) -> CommandResult {
    match result {
        Ok(()) => call.say("Success\n").await,
        Err(error) => call.end(format!("Failure [{error}]\n"), 1).await,
    }
}

/// Takes `size` bytes of the standard input in; `None` when they do not come.
async fn take_in(call: &Call<'_>, size: u64) -> Option<Blob> {
    if size > MAX_APK {
        return None;
    }
    let mut writer: BlobWriter = call.shell.android.blobs.writer();
    while writer.length() < size {
        let mut block = call.io.stdin.block().await?;
        let wanted = usize::try_from(size - writer.length()).unwrap_or(usize::MAX);
        if block.len() > wanted {
            let rest = block.split_off(wanted);
            call.io.stdin.put_back(rest).await;
        }
        writer.write(&block).ok()?;
    }
    writer.finish().ok()
}
