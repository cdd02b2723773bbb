//! Programs that make, move and remove files.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::files::{Errno, Files, FinalLink, name_of};

/// Does something with every file that is named, and complains where it cannot.
async fn each(
    call: &Call<'_>,
    options: &Options,
    act: impl Fn(&mut Files, &str) -> Result<(), Errno>,
) -> CommandResult {
    let mut code = 0;
    for path in &options.rest {
        let result = {
            let mut files = call.shell.android.files.lock();
            let real = files.resolve(&call.shell.cwd, path, FinalLink::Keep);
            real.and_then(|real| act(&mut files, &real))
        };
        if let Err(errno) = result {
            // As toybox writes it: some of its programs quote the name.
            let message = match call.name() {
                "mkdir" => format!("'{path}': {errno}"),
                _ => format!("{path}: {errno}"),
            };
            code = call.fail(message, 1).await?;
        }
    }
    Ok(code)
}

pub(super) async fn rm(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("rRf", &[]).await?;
    if options.rest.is_empty() && !options.has("f") {
        let message = "Needs 1 argument (see \"rm --help\")";
        return call.fail(message, 1).await;
    }
    each(call, &options, |files, real| match files.meta(real) {
        None if options.has("f") => Ok(()),
        None => Err(Errno::NO_ENTRY),
        Some(meta) if meta.is_dir() && !options.any("rR") => Err(Errno::IS_DIRECTORY),
        Some(_) => files.remove(real, true, &call.shell.who),
    })
    .await
}

pub(super) async fn mkdir(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("p", &["m"]).await?;
    let now = call.shell.android.seconds();
    each(call, &options, |files, real| {
        files.make_dir(real, now, options.has("p"), &call.shell.who)
    })
    .await
}

/// `chmod 755 FILE`
pub(super) async fn chmod(call: &mut Call<'_>) -> CommandResult {
    let mut options = call.options("", &[]).await?;
    if options.rest.len() < 2 {
        return call
            .fail("Needs 2 arguments (see \"chmod --help\")", 1)
            .await;
    }
    let mode = options.rest.remove(0);
    each(call, &options, |files, real| {
        let new = u32::from_str_radix(&mode, 8).map_err(|_| Errno::INVALID)?;
        files.set_mode(real, new, &call.shell.who)
    })
    .await
}

pub(super) async fn move_or_copy(call: &mut Call<'_>) -> CommandResult {
    let mut paths = call.options("fp", &[]).await?.rest;
    let target = paths.pop();
    let (Some(target), false) = (target, paths.is_empty()) else {
        let name = call.name();
        let message = format!("Needs 2 arguments (see \"{name} --help\")");
        return call.fail(message, 1).await;
    };
    let mut code = 0;
    for path in &paths {
        if let Err(errno) = move_one(call, path, &target) {
            code = call.fail(format!("bad '{path}': {errno}"), 1).await?;
        }
    }
    Ok(code)
}

fn move_one(call: &Call<'_>, from: &str, to: &str) -> Result<(), Errno> {
    let (shell, android) = (&call.shell, &call.shell.android);
    let mut files = android.files.lock();
    let from = files.resolve(&shell.cwd, from, FinalLink::Keep)?;
    let mut to = files.resolve(&shell.cwd, to, FinalLink::Follow)?;
    if files.meta(&to).is_some_and(|meta| meta.is_dir()) {
        to = format!("{}/{}", to.trim_end_matches('/'), name_of(&from));
    }
    if call.name() == "cp" {
        let mode = files.meta(&from).ok_or(Errno::NO_ENTRY)?.mode & 0o777;
        let blob = match files.content(&from, &shell.who)? {
            Some(blob) => blob,
            None => (android.blobs.put(&android.made_up(&from))).map_err(|_| Errno::NO_SPACE)?,
        };
        return files.write(&to, blob, mode, android.seconds(), &shell.who);
    }
    if to != from && files.meta(&to).is_some_and(|meta| !meta.is_dir()) {
        files.remove(&to, false, &shell.who)?;
    }
    files.rename(&from, &to, &shell.who)
}
