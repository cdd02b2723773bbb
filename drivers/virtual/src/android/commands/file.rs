//! Programs that make, move and remove files.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, is_known};
use crate::android::files::{Errno, Files, FinalLink, name_of};
use crate::android::{commands, lock};

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "rm" => rm(call).await,
        "rmdir" => {
            each(call, "", |files, real, call, _| {
                files.remove(real, false, &call.shell.who)
            })
            .await
        }
        "mkdir" => mkdir(call).await,
        "touch" => touch(call).await,
        "truncate" => touch(call).await,
        "mv" | "cp" => move_or_copy(call).await,
        "ln" => ln(call).await,
        "chmod" => chmod(call).await,
        "chown" | "chgrp" => Ok(0),
        "readlink" | "realpath" => readlink(call).await,
        "mktemp" => mktemp(call).await,
        "basename" => {
            let name = name_of(call.arg(1).unwrap_or("").trim_end_matches('/'));
            let cut = name.strip_suffix(call.arg(2).unwrap_or("")).unwrap_or(name);
            call.out(format!("{cut}\n")).await?;
            Ok(0)
        }
        "dirname" => {
            let path = call.arg(1).unwrap_or("").trim_end_matches('/');
            let dir = match path.rsplit_once('/') {
                Some(("", _)) => "/",
                Some((dir, _)) => dir,
                None => ".",
            };
            call.out(format!("{dir}\n")).await?;
            Ok(0)
        }
        "which" => which(call).await,
        _ => Ok(0),
    }
}

/// Does something with every file that is named, and complains where it cannot.
async fn each(
    call: &mut Call<'_>,
    with_value: &str,
    act: impl Fn(&mut Files, &str, &Call<'_>, &Options) -> Result<(), Errno>,
) -> CommandResult {
    let with_value: Vec<String> = with_value.chars().map(String::from).collect();
    let with_value: Vec<&str> = with_value.iter().map(String::as_str).collect();
    let options = Options::of(call.rest(), &with_value);
    let mut code = 0;
    for path in &options.rest {
        let result = {
            let mut files = lock(&call.shell.android.files);
            let real = files.resolve(&call.shell.cwd, path, FinalLink::Keep);
            real.and_then(|real| act(&mut files, &real, call, &options))
        };
        if let Err(errno) = result {
            // As toybox writes it: some of its programs quote the name.
            let quoted = matches!(call.name(), "mkdir" | "touch");
            let path = if quoted {
                format!("'{path}'")
            } else {
                path.clone()
            };
            code = call.fail(format!("{path}: {errno}"), 1).await?;
        }
    }
    Ok(code)
}

async fn rm(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    if options.rest.is_empty() && !options.has("f") {
        return call.needs("Needs 1 argument").await;
    }
    each(call, "", |files, real, call, options| {
        let Some(meta) = files.meta(real) else {
            return if options.has("f") {
                Ok(())
            } else {
                Err(Errno::NoEntry)
            };
        };
        if meta.is_dir() && !options.any("rR") {
            return Err(Errno::IsDirectory);
        }
        files.remove(real, true, &call.shell.who)
    })
    .await
}

async fn mkdir(call: &mut Call<'_>) -> CommandResult {
    each(call, "m", |files, real, call, options| {
        let now = call.shell.android.seconds();
        files.make_dir(real, now, options.has("p"), &call.shell.who)
    })
    .await
}

async fn touch(call: &mut Call<'_>) -> CommandResult {
    let truncates = call.name() == "truncate";
    each(call, "drts", move |files, real, call, options| {
        let android = &call.shell.android;
        let there = files.meta(real).is_some();
        if there && !truncates || !there && options.has("c") {
            return Ok(());
        }
        let size = if truncates {
            options.number("s").unwrap_or(0)
        } else {
            0
        };
        let size = usize::min(size, 64 * 1024 * 1024);
        let blob = android
            .blobs
            .put(&vec![0; size])
            .map_err(|_| Errno::NoSpace)?;
        files.write(real, blob, 0o666, android.seconds(), &call.shell.who)
    })
    .await
}

async fn chmod(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let Some((mode, paths)) = options.rest.split_first() else {
        return call.needs("Needs 2 arguments").await;
    };
    let mut code = 0;
    for path in paths {
        let result = {
            let mut files = lock(&call.shell.android.files);
            files
                .resolve(&call.shell.cwd, path, FinalLink::Follow)
                .and_then(|real| {
                    let old = files.meta(&real).ok_or(Errno::NoEntry)?.mode & 0o7777;
                    files.set_mode(&real, new_mode(old, mode), &call.shell.who)
                })
        };
        if let Err(errno) = result {
            code = call.fail(format!("{path}: {errno}"), 1).await?;
        }
    }
    Ok(code)
}

/// `755` and `+x`.
fn new_mode(old: u32, text: &str) -> u32 {
    if let Ok(mode) = u32::from_str_radix(text, 8) {
        return mode & 0o7777;
    }
    let Some(sign) = text.find(['+', '-', '=']) else {
        return old;
    };
    let bits = (text[sign + 1..].chars()).fold(0, |bits, c| {
        bits | match c {
            'r' => 0o444,
            'w' => 0o222,
            'x' | 'X' => 0o111,
            _ => 0,
        }
    });
    let who = match &text[..sign] {
        "" | "a" | "ugo" => 0o777,
        who => who.chars().fold(0, |all, c| {
            all | match c {
                'u' => 0o700,
                'g' => 0o070,
                _ => 0o007,
            }
        }),
    };
    match text.as_bytes()[sign] {
        b'+' => old | (bits & who),
        b'-' => old & !(bits & who),
        _ => (old & !who) | (bits & who),
    }
}

async fn move_or_copy(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["t"]);
    let mut paths = options.rest.clone();
    let target = options
        .value("t")
        .map(str::to_owned)
        .or_else(|| paths.pop());
    let (Some(target), false) = (target, paths.is_empty()) else {
        return call.needs("Needs 2 arguments").await;
    };
    let copies = call.name() == "cp";
    let mut code = 0;
    for path in &paths {
        if let Err(errno) = move_one(call, path, &target, copies, options.any("raRd")) {
            code = call.fail(format!("bad '{path}': {errno}"), 1).await?;
        }
    }
    Ok(code)
}

fn move_one(call: &Call<'_>, from: &str, to: &str, copies: bool, deep: bool) -> Result<(), Errno> {
    let shell = &call.shell;
    let mut files = lock(&shell.android.files);
    let from = files.resolve(&shell.cwd, from, FinalLink::Keep)?;
    let mut to = files.resolve(&shell.cwd, to, FinalLink::Follow)?;
    if files.meta(&to).is_some_and(|meta| meta.is_dir()) {
        to = format!("{}/{}", to.trim_end_matches('/'), name_of(&from));
    }
    if copies {
        copy(&mut files, call, &from, &to, deep)
    } else {
        let over = files.meta(&to).is_some_and(|meta| !meta.is_dir());
        if over && to != from {
            files.remove(&to, false, &shell.who)?;
        }
        files.rename(&from, &to, &shell.who)
    }
}

fn copy(files: &mut Files, call: &Call<'_>, from: &str, to: &str, deep: bool) -> Result<(), Errno> {
    let (who, android) = (&call.shell.who, &call.shell.android);
    let meta = files.meta(from).ok_or(Errno::NoEntry)?;
    if !meta.is_dir() {
        let blob = match files.content(from, who)? {
            Some(blob) => blob,
            None => (android.blobs.put(&android.made_up(from))).map_err(|_| Errno::NoSpace)?,
        };
        return files.write(to, blob, meta.mode & 0o777, android.seconds(), who);
    }
    if !deep {
        return Err(Errno::IsDirectory);
    }
    files.make_dir(to, android.seconds(), true, who)?;
    for name in files.list(from, who)? {
        copy(
            files,
            call,
            &format!("{from}/{name}"),
            &format!("{to}/{name}"),
            deep,
        )?;
    }
    Ok(())
}

async fn ln(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let [target, link] = options.rest.as_slice() else {
        return call.needs("Needs 2 arguments").await;
    };
    let result = {
        let shell = &call.shell;
        let mut files = lock(&shell.android.files);
        let real = files.resolve(&shell.cwd, link, FinalLink::Keep);
        real.and_then(|real| {
            if options.has("f") && files.meta(&real).is_some() {
                files.remove(&real, false, &shell.who)?;
            }
            if options.has("s") {
                files.make_link(&real, target, &shell.who)
            } else {
                copy(&mut files, call, target, &real, false)
            }
        })
    };
    match result {
        Ok(()) => Ok(0),
        Err(errno) => {
            call.fail(format!("cannot create link '{link}': {errno}"), 1)
                .await
        }
    }
}

async fn readlink(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let mut code = 0;
    for path in &options.rest {
        let found = {
            let files = lock(&call.shell.android.files);
            if call.name() == "realpath" || options.any("fe") {
                let real = files.resolve(&call.shell.cwd, path, FinalLink::Follow);
                real.ok()
                    .filter(|real| files.meta(real).is_some() || options.has("f"))
            } else {
                let real = files.resolve(&call.shell.cwd, path, FinalLink::Keep);
                real.ok()
                    .and_then(|real| files.link_target(&real).map(str::to_owned))
            }
        };
        match found {
            Some(found) => call.out(format!("{found}\n")).await?,
            None if call.name() == "realpath" => {
                code = call.fail(format!("{path}: {}", Errno::NoEntry), 1).await?;
            }
            None => code = 1,
        }
    }
    Ok(code)
}

async fn mktemp(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["p"]);
    let dir = options.value("p").unwrap_or("/data/local/tmp").to_owned();
    let number = call.shell.android.device().roll(0xff_ffff);
    let path = format!("{dir}/tmp.{number:06x}");
    let who = call.shell.who.clone();
    let result = {
        let android = call.android();
        let mut files = lock(&android.files);
        if options.has("d") {
            files.make_dir(&path, android.seconds(), false, &who)
        } else {
            let empty = android.blobs.put(&[]).map_err(|_| Errno::NoSpace);
            empty.and_then(|blob| files.write(&path, blob, 0o600, android.seconds(), &who))
        }
    };
    match result {
        Ok(()) => {
            call.out(format!("{path}\n")).await?;
            Ok(0)
        }
        Err(errno) => call.fail(format!("{path}: {errno}"), 1).await,
    }
}

async fn which(call: &mut Call<'_>) -> CommandResult {
    let mut code = 0;
    for name in call.rest() {
        if is_known(name) || commands::builtin::is_builtin(name) {
            call.out(format!("/system/bin/{name}\n")).await?;
        } else {
            code = 1;
        }
    }
    Ok(code)
}
