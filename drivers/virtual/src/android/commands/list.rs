//! `ls`: what lies in directories.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::files::{DEVICE, DIRECTORY, Errno, FinalLink, LINK, Meta, TYPE_BITS};
use crate::android::logs::clock_text;

/// A file as it was found: its name as asked for, its real path, what is known of it.
struct Entry {
    name: String,
    real: String,
    meta: Meta,
}

fn look(call: &Call<'_>, path: &str, last: FinalLink) -> Result<Entry, Errno> {
    let files = call.shell.android.files.lock();
    let real = files.resolve(&call.shell.cwd, path, last)?;
    let meta = files.meta(&real).ok_or(Errno::NO_ENTRY)?;
    let name = path.to_owned();
    Ok(Entry { name, real, meta })
}

fn inside(call: &Call<'_>, dir: &Entry) -> Result<Vec<Entry>, Errno> {
    let files = call.shell.android.files.lock();
    let names = files.list(&dir.real, &call.shell.who)?;
    Ok((names.into_iter())
        .filter(|name| !name.starts_with('.'))
        .filter_map(|name| {
            let real = format!("{}/{name}", dir.real.trim_end_matches('/'));
            let meta = files.meta(&real)?;
            Some(Entry { name, real, meta })
        })
        .collect())
}

pub(super) async fn ls(call: &mut Call<'_>) -> CommandResult {
    let mut options = call.options("dl", &[]).await?;
    if options.rest.is_empty() {
        options.rest.push(".".to_owned());
    }
    let (mut code, mut dirs, mut text) = (0, Vec::new(), String::new());
    for path in &options.rest {
        // A link that is asked for in short form is followed, in long form shown.
        let last = if options.has("l") && !path.ends_with('/') {
            FinalLink::Keep
        } else {
            FinalLink::Follow
        };
        match look(call, path, last) {
            Ok(entry) if entry.meta.is_dir() && !options.has("d") => dirs.push(entry),
            Ok(entry) => text.push_str(&line(call, &entry, &options)),
            Err(errno) => code = call.fail(format!("{path}: {errno}"), 1).await?,
        }
    }
    let headed = options.rest.len() > 1;
    for (i, dir) in dirs.iter().enumerate() {
        let entries = match inside(call, dir) {
            Ok(entries) => entries,
            Err(errno) => {
                code = call.fail(format!("{}: {errno}", dir.name), 1).await?;
                continue;
            }
        };
        if headed {
            text.push_str(&format!("{}:\n", dir.name));
        }
        if options.has("l") {
            let blocks: u64 = entries.iter().map(|e| e.meta.size.div_ceil(4096) * 4).sum();
            text.push_str(&format!("total {blocks}\n"));
        }
        for entry in &entries {
            text.push_str(&line(call, entry, &options));
        }
        if i + 1 < dirs.len() {
            text.push('\n');
        }
    }
    call.end(text, code).await
}

fn line(call: &Call<'_>, entry: &Entry, options: &Options) -> String {
    let Entry { name, real, meta } = entry;
    if !options.has("l") {
        return format!("{name}\n");
    }
    let leads = match call.shell.android.files.lock().link_target(real) {
        Some(target) => format!(" -> {target}"),
        None => String::new(),
    };
    format!(
        "{} {:>2} {:<6} {:<6} {:>8} {} {name}{leads}\n",
        mode_text(meta.mode),
        if meta.is_dir() { 2 } else { 1 },
        user_name(meta.uid),
        user_name(meta.uid),
        meta.size,
        minute(meta.mtime),
    )
}

/// `drwxr-xr-x`
fn mode_text(mode: u32) -> String {
    let kind = match mode & TYPE_BITS {
        DIRECTORY => 'd',
        LINK => 'l',
        DEVICE => 'c',
        _ => '-',
    };
    let bits = (0..9).map(|i| match mode & (0o400 >> i) {
        0 => '-',
        _ => ['r', 'w', 'x'][i % 3],
    });
    std::iter::once(kind).chain(bits).collect()
}

fn user_name(uid: u32) -> &'static str {
    match uid {
        0 => "root",
        1000 => "system",
        1015 => "sdcard_rw",
        _ => "shell",
    }
}

/// `2025-11-05 12:34`
fn minute(seconds: i64) -> String {
    let at = std::time::Duration::from_secs(seconds.try_into().unwrap_or(0));
    clock_text(at, "%F %R")
}
