//! Programs that look at files: `ls`, `stat`, `find`, `du`, `file`.

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::files::{DEVICE, DIRECTORY, Errno, FinalLink, LINK, Meta, TYPE_BITS, name_of};
use crate::android::lock;
use crate::android::logs::civil;
use crate::android::shell::pattern_matches;

/// The most files `find` and `ls -R` look at.
const MAX_WALK: usize = 50_000;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "ls" => ls(call).await,
        "stat" => stat(call).await,
        "find" => find(call).await,
        "du" => du(call).await,
        _ => file(call).await,
    }
}

/// A file as it was found: its name as asked for, its real path, what is known of it.
struct Entry {
    name: String,
    real: String,
    meta: Meta,
}

fn look(call: &Call<'_>, path: &str, last: FinalLink) -> Result<Entry, Errno> {
    let files = lock(&call.shell.android.files);
    let real = files.resolve(&call.shell.cwd, path, last)?;
    let meta = files.meta(&real).ok_or(Errno::NoEntry)?;
    Ok(Entry {
        name: path.to_owned(),
        real,
        meta,
    })
}

fn inside(call: &Call<'_>, dir: &Entry) -> Result<Vec<Entry>, Errno> {
    let files = lock(&call.shell.android.files);
    let names = files.list(&dir.real, &call.shell.who)?;
    Ok((names.into_iter())
        .filter_map(|name| {
            let real = format!("{}/{name}", dir.real.trim_end_matches('/'));
            let meta = files.meta(&real)?;
            Some(Entry { name, real, meta })
        })
        .collect())
}

async fn ls(call: &mut Call<'_>) -> CommandResult {
    let mut options = Options::of(call.rest(), &["w"]);
    if options.rest.is_empty() {
        options.rest.push(".".to_owned());
    }
    let (mut code, mut found) = (0, Vec::new());
    for path in options.rest.clone() {
        // A link that is asked for in short form is followed, in long form shown.
        let last = if options.has("l") && !path.ends_with('/') {
            FinalLink::Keep
        } else {
            FinalLink::Follow
        };
        match look(call, &path, last) {
            Ok(entry) => found.push(entry),
            Err(errno) => code = call.fail(format!("{path}: {errno}"), 1).await?,
        }
    }
    let (dirs, files): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|e| e.meta.is_dir() && !options.has("d"));
    let text = shown(call, files, &options);
    call.out(text).await?;
    let headed = options.rest.len() > 1 || options.has("R");
    let mut waiting: Vec<Entry> = dirs.into_iter().rev().collect();
    let mut walked = 0;
    while let Some(dir) = waiting.pop() {
        walked += 1;
        let entries = match inside(call, &dir) {
            Ok(entries) => entries,
            Err(errno) => {
                code = call.fail(format!("{}: {errno}", dir.name), 1).await?;
                continue;
            }
        };
        let hidden = options.any("aA");
        let mut entries: Vec<Entry> = entries
            .into_iter()
            .filter(|e| hidden || !e.name.starts_with('.'))
            .collect();
        if headed {
            call.out(format!("{}:\n", dir.name)).await?;
        }
        if options.has("l") {
            let blocks: u64 = entries.iter().map(|e| e.meta.size.div_ceil(4096) * 4).sum();
            call.out(format!("total {blocks}\n")).await?;
        }
        if options.has("R") && walked < MAX_WALK {
            waiting.extend(
                (entries.iter().rev())
                    .filter(|e| e.meta.is_dir())
                    .map(|e| Entry {
                        name: format!("{}/{}", dir.name.trim_end_matches('/'), e.name),
                        real: e.real.clone(),
                        meta: e.meta,
                    }),
            );
        }
        if options.has("a") {
            for name in ["..", "."] {
                entries.insert(
                    0,
                    Entry {
                        name: name.to_owned(),
                        real: dir.real.clone(),
                        meta: dir.meta,
                    },
                );
            }
        }
        let text = shown(call, entries, &options);
        call.out(text).await?;
        if headed && !waiting.is_empty() {
            call.out("\n").await?;
        }
    }
    Ok(code)
}

fn shown(call: &Call<'_>, mut entries: Vec<Entry>, options: &Options) -> String {
    if options.has("t") {
        entries.sort_by_key(|e| std::cmp::Reverse(e.meta.mtime));
    } else if options.has("S") {
        entries.sort_by_key(|e| std::cmp::Reverse(e.meta.size));
    }
    if options.has("r") {
        entries.reverse();
    }
    entries
        .iter()
        .map(|entry| line(call, entry, options))
        .collect()
}

fn line(call: &Call<'_>, entry: &Entry, options: &Options) -> String {
    let mut name = entry.name.clone();
    if options.any("pF") && entry.meta.is_dir() {
        name.push('/');
    }
    if !options.has("l") {
        return format!("{name}\n");
    }
    if entry.meta.mode & TYPE_BITS == LINK {
        let files = lock(&call.shell.android.files);
        if let Some(target) = files.link_target(&entry.real) {
            name = format!("{name} -> {target}");
        }
    }
    let meta = &entry.meta;
    format!(
        "{} {:>2} {:<6} {:<6} {:>8} {} {name}\n",
        mode_text(meta.mode),
        if meta.is_dir() { 2 } else { 1 },
        user_name(meta.uid),
        user_name(meta.gid),
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
    let bits = (0..9).map(|i| {
        let set = mode & (0o400 >> i) != 0;
        if set { ['r', 'w', 'x'][i % 3] } else { '-' }
    });
    std::iter::once(kind).chain(bits).collect()
}

fn user_name(uid: u32) -> String {
    match uid {
        0 => "root".to_owned(),
        1000 => "system".to_owned(),
        1015 => "sdcard_rw".to_owned(),
        2000 => "shell".to_owned(),
        10_000.. => format!("u0_a{}", uid - 10_000),
        other => other.to_string(),
    }
}

/// `2025-11-05 12:34`
fn minute(seconds: i64) -> String {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let (year, month, day) = civil(seconds);
    let rest = seconds % 86_400;
    format!(
        "{year}-{month:02}-{day:02} {:02}:{:02}",
        rest / 3600,
        rest / 60 % 60
    )
}

async fn stat(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["c"]);
    let mut code = 0;
    for path in &options.rest {
        let last = if options.has("L") {
            FinalLink::Follow
        } else {
            FinalLink::Keep
        };
        let entry = match look(call, path, last) {
            Ok(entry) => entry,
            Err(errno) => {
                code = call.fail(format!("'{path}': {errno}"), 1).await?;
                continue;
            }
        };
        let meta = &entry.meta;
        let kind = match meta.mode & TYPE_BITS {
            DIRECTORY => "directory",
            LINK => "symbolic link",
            DEVICE => "character device",
            _ => "regular file",
        };
        let mode = meta.mode & 0o7777;
        let text = match options.value("c") {
            None => format!(
                "  File: {path}\n  Size: {}\t Blocks: {}\t IO Blocks: 512\t{kind}\nAccess: (0{mode:o}/{})\tUid: ({:5}/{:>8})\tGid: ({:5}/{:>8})\nModify: {}:00.000000000 +0000\n",
                meta.size,
                meta.size.div_ceil(512),
                mode_text(meta.mode),
                meta.uid,
                user_name(meta.uid),
                meta.gid,
                user_name(meta.gid),
                minute(meta.mtime),
            ),
            Some(format) => {
                let mut out = format.to_owned();
                for (sign, value) in [
                    ("%s", meta.size.to_string()),
                    ("%Y", meta.mtime.to_string()),
                    ("%X", meta.mtime.to_string()),
                    ("%y", format!("{}:00.000000000 +0000", minute(meta.mtime))),
                    ("%a", format!("{mode:o}")),
                    ("%A", mode_text(meta.mode)),
                    ("%F", kind.to_owned()),
                    ("%n", path.clone()),
                    ("%u", meta.uid.to_string()),
                    ("%U", user_name(meta.uid)),
                    ("%g", meta.gid.to_string()),
                    ("%G", user_name(meta.gid)),
                ] {
                    out = out.replace(sign, &value);
                }
                out + "\n"
            }
        };
        call.out(text).await?;
    }
    Ok(code)
}

async fn find(call: &mut Call<'_>) -> CommandResult {
    let args = call.rest();
    let split = args
        .iter()
        .position(|arg| arg.starts_with('-'))
        .unwrap_or(args.len());
    let (paths, tests) = args.split_at(split);
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let value = |name: &str| {
        let at = tests.iter().position(|t| t == name)?;
        tests.get(at + 1).map(String::as_str)
    };
    let deepest: usize = value("-maxdepth")
        .and_then(|d| d.parse().ok())
        .unwrap_or(usize::MAX);
    let deletes = tests.iter().any(|t| t == "-delete");
    let fits = |entry: &Entry| {
        let name = name_of(&entry.name);
        value("-name").is_none_or(|pattern| pattern_matches(pattern, name))
            && value("-iname").is_none_or(|pattern| {
                pattern_matches(&pattern.to_lowercase(), &name.to_lowercase())
            })
            && value("-path").is_none_or(|pattern| pattern_matches(pattern, &entry.name))
            && value("-type").is_none_or(|kind| match kind {
                "d" => entry.meta.is_dir(),
                "l" => entry.meta.mode & TYPE_BITS == LINK,
                _ => !entry.meta.is_dir(),
            })
    };
    let (mut code, mut walked) = (0, 0);
    for path in paths {
        let root = match look(call, path, FinalLink::Follow) {
            Ok(root) => root,
            Err(errno) => {
                code = call.fail(format!("'{path}': {errno}"), 1).await?;
                continue;
            }
        };
        let mut waiting = vec![(0, root)];
        while let Some((depth, entry)) = waiting.pop() {
            walked += 1;
            if walked > MAX_WALK {
                break;
            }
            if fits(&entry) {
                if deletes {
                    let mut files = lock(&call.shell.android.files);
                    // What cannot be removed stays, as with `-delete` on a read-only system.
                    let _ = files.remove(&entry.real, false, &call.shell.who);
                } else {
                    call.out(format!("{}\n", entry.name)).await?;
                }
            }
            if !entry.meta.is_dir() || depth >= deepest {
                continue;
            }
            match inside(call, &entry) {
                Ok(children) => waiting.extend(children.into_iter().rev().map(|child| {
                    let name = format!("{}/{}", entry.name.trim_end_matches('/'), child.name);
                    (depth + 1, Entry { name, ..child })
                })),
                Err(errno) => {
                    code = call.fail(format!("'{}': {errno}", entry.name), 1).await?;
                }
            }
        }
    }
    Ok(code)
}

async fn du(call: &mut Call<'_>) -> CommandResult {
    let mut options = Options::of(call.rest(), &["d"]);
    if options.rest.is_empty() {
        options.rest.push(".".to_owned());
    }
    for path in options.rest.clone() {
        let Ok(root) = look(call, &path, FinalLink::Follow) else {
            call.fail(format!("{path}: {}", Errno::NoEntry), 1).await?;
            continue;
        };
        let (mut total, mut waiting) = (0, vec![root]);
        while let Some(entry) = waiting.pop() {
            total += entry.meta.size.div_ceil(1024);
            if entry.meta.is_dir() {
                waiting.extend(inside(call, &entry).unwrap_or_default());
            }
        }
        let total = if options.has("h") {
            format!("{total}K")
        } else {
            total.to_string()
        };
        call.out(format!("{total}\t{path}\n")).await?;
    }
    Ok(0)
}

async fn file(call: &mut Call<'_>) -> CommandResult {
    for path in call.rest() {
        let kind = match look(call, path, FinalLink::Follow) {
            Err(errno) => format!("cannot open ({errno})"),
            Ok(entry) if entry.meta.is_dir() => "directory".to_owned(),
            Ok(_) => {
                let head = call.shell.read_file(path, 16).unwrap_or_default();
                match head.as_slice() {
                    [] => "empty".to_owned(),
                    [0x89, b'P', b'N', b'G', ..] => "PNG image data".to_owned(),
                    [b'P', b'K', 3, 4, ..] => "Zip archive data".to_owned(),
                    [0x7f, b'E', b'L', b'F', ..] => "ELF shared object".to_owned(),
                    text if text.is_ascii() => "ASCII text".to_owned(),
                    _ => "data".to_owned(),
                }
            }
        };
        call.out(format!("{path}: {kind}\n")).await?;
    }
    Ok(0)
}
