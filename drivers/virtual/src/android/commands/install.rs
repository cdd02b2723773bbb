//! Installing: `pm install`, `cmd package install`, and sessions of several APKs.

use crate::android::blobs::{Blob, BlobWriter};
use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, am};
use crate::android::lock;
use crate::android::packages::{InstallError, InstallMode};

/// The largest APK, in bytes.
const MAX_APK: u64 = 2 * 1024 * 1024 * 1024;

/// Options of `pm install` that take a value.
const WITH_VALUE: &[&str] = &[
    "i",
    "S",
    "--user",
    "-i",
    "-S",
    "--abi",
    "--install-location",
    "--install-reason",
    "--originating-uri",
    "--pkg",
    "--referrer",
    "--update-ownership",
    "p",
];

fn mode_of(options: &Options) -> InstallMode {
    InstallMode {
        grants: options.has("g"),
        downgrades: options.any("d"),
        keeps_existing: options.has("R"),
    }
}

/// `install`, `install-create`, `install-write`, `install-commit`, `install-abandon`.
pub(super) async fn run(call: &mut Call<'_>, what: &str, args: &[String]) -> CommandResult {
    match what {
        "install" => install(call, args).await,
        "install-create" => {
            let id = 1_000_000 + call.shell.android.device().roll(900_000_000);
            let session = crate::android::Session::default();
            lock(&call.shell.android.sessions).insert(id, session);
            call.out(format!("Success: created install session [{id}]\n"))
                .await?;
            Ok(0)
        }
        "install-write" => write(call, args).await,
        "install-commit" => commit(call, args).await,
        _ => {
            let id = args
                .first()
                .and_then(|id| id.parse::<u64>().ok())
                .unwrap_or(0);
            lock(&call.shell.android.sessions).remove(&id);
            call.out("Success\n").await?;
            Ok(0)
        }
    }
}

async fn install(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let options = Options::of(args, WITH_VALUE);
    let size = options.number::<u64>("S").or(options.number("-S"));
    let path = options.rest.iter().find(|arg| arg.as_str() != "-");
    let blob = match (path, size) {
        (Some(path), _) => {
            let real = call.shell.real_path(path);
            let content = real
                .and_then(|real| lock(&call.shell.android.files).content(&real, &call.shell.who));
            match content {
                Ok(Some(blob)) => blob,
                Err(_) => {
                    let mut text = format!("Error: Unable to open file: {path}\n");
                    if !path.starts_with("/data/local/tmp/") {
                        text.push_str("Consider using a file under /data/local/tmp/\n");
                    }
                    text.push_str(&format!("Error: Can't open file: {path}\n"));
                    text.push_str(&am::exception(
                        "install",
                        &format!("IllegalArgumentException: Error: Can't open file: {path}"),
                    ));
                    call.err(text).await?;
                    return Ok(255);
                }
                Ok(None) => {
                    call.err(format!("Error: Failed to parse APK file: {path}: Failed to load asset path {path}\nException occurred while executing 'install':\njava.lang.IllegalArgumentException: Error: Failed to parse APK file: {path}\n")).await?;
                    return Ok(255);
                }
            }
        }
        (None, Some(size)) => match take_in(call, size).await {
            Some(blob) => blob,
            None => return Ok(1),
        },
        (None, None) => {
            call.out("Error: must either specify a package size or an APK file\n")
                .await?;
            return Ok(1);
        }
    };
    let android = call.android();
    let result = android.install(blob, mode_of(&options)).await;
    report(call, result.map(|_| ())).await
}

async fn report(call: &Call<'_>, result: Result<(), InstallError>) -> CommandResult {
    match result {
        Ok(()) => {
            call.out("Success\n").await?;
            Ok(0)
        }
        Err(error) => {
            call.out(format!("Failure [{}]\n", error.shown())).await?;
            Ok(1)
        }
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

async fn write(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let options = Options::of(args, WITH_VALUE);
    let id = options
        .rest
        .first()
        .and_then(|id| id.parse::<u64>().ok())
        .unwrap_or(0);
    if !lock(&call.shell.android.sessions).contains_key(&id) {
        call.out(format!("Failure [Error: Unknown session {id}]\n"))
            .await?;
        return Ok(1);
    }
    let size = options.number::<u64>("S").or(options.number("-S"));
    let path = options.rest.get(2).filter(|path| path.as_str() != "-");
    let blob = match (path, size) {
        (Some(path), _) => {
            let real = call.shell.real_path(path);
            let content = real
                .and_then(|real| lock(&call.shell.android.files).content(&real, &call.shell.who));
            content.ok().flatten()
        }
        (None, Some(size)) => take_in(call, size).await,
        (None, None) => None,
    };
    let Some(blob) = blob else {
        call.out("Failure [Error: cannot read the APK]\n").await?;
        return Ok(1);
    };
    let length = blob.length();
    if let Some(session) = lock(&call.shell.android.sessions).get_mut(&id) {
        session.push(blob);
    }
    call.out(format!("Success: streamed {length} bytes\n"))
        .await?;
    Ok(0)
}

async fn commit(call: &mut Call<'_>, args: &[String]) -> CommandResult {
    let id = Options::of(args, WITH_VALUE)
        .rest
        .first()
        .and_then(|id| id.parse::<u64>().ok());
    let session = id.and_then(|id| lock(&call.shell.android.sessions).remove(&id));
    let Some(session) = session else {
        call.out("Failure [Error: Unknown session]\n").await?;
        return Ok(1);
    };
    let android = call.android();
    for blob in session {
        if let Err(error) = android.install(blob, InstallMode::default()).await {
            return report(call, Err(error)).await;
        }
    }
    report(call, Ok(())).await
}
