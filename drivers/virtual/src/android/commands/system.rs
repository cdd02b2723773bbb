//! Programs about the system as a whole.

use std::time::Duration;

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult, services};
use crate::android::files::FileUser;
use crate::android::logs::civil;
use crate::android::{lock, service};

/// The longest sleep.
const MAX_SLEEP: f64 = 86_400.0 * 30.0;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let android = call.android();
    match call.name() {
        "sleep" | "usleep" => sleep(call).await,
        "date" => date(call).await,
        "id" => id(call).await,
        "whoami" => {
            let name = if call.shell.who == FileUser::Root {
                "root\n"
            } else {
                "shell\n"
            };
            call.out(name).await?;
            Ok(0)
        }
        "groups" => {
            call.out(
                "shell input log adb sdcard_rw sdcard_r ext_data_rw net_bt_admin net_bt inet\n",
            )
            .await?;
            Ok(0)
        }
        "uname" => uname(call).await,
        "hostname" => {
            call.out(format!("{}\n", android.device().shape().product))
                .await?;
            Ok(0)
        }
        "uptime" => {
            let text = format!(
                " {} up {:.0} min,  0 users,  load average: 0.42, 0.38, 0.31\n",
                clock_text(android.device().clock(), "%T"),
                android.device().now().as_secs_f64() / 60.0
            );
            call.out(text).await?;
            Ok(0)
        }
        "free" => {
            call.out("\t\ttotal        used        free      shared     buffers\nMem:       8053063680  5368709120  2684354560     8388608   134217728\n-/+ buffers/cache:     5234491392  2818572288\nSwap:      4294963200           0  4294963200\n").await?;
            Ok(0)
        }
        "df" => {
            call.out("Filesystem       1K-blocks     Used Available Use% Mounted on\n/dev/block/dm-0     999320   996340      2980 100% /\ntmpfs              3932160     1404   3930756   1% /dev\n/dev/block/dm-8  115249236 24117248  91131988  21% /data\n/dev/fuse        115249236 24117248  91131988  21% /storage/emulated\n").await?;
            Ok(0)
        }
        "mount" => {
            call.out("/dev/block/dm-0 on / type ext4 (ro,seclabel,nodev,relatime)\n/dev/block/dm-8 on /data type f2fs (rw,lazytime,seclabel,nosuid,nodev,noatime)\n/dev/fuse on /storage/emulated type fuse (rw,lazytime,nosuid,nodev,noexec,noatime)\n").await?;
            Ok(0)
        }
        "vmstat" => {
            call.out("procs ------------memory------------ ----swap--- -----io---- ---system-- ----cpu----\n r  b     swpd     free     buff    cache   si   so    bi    bo   in   cs us sy id wa\n 1  0        0  2621440   131072  2097152    0    0    12    20  310  540  3  2 95  0\n").await?;
            Ok(0)
        }
        "dmesg" => match call.shell.who {
            FileUser::Root => {
                call.out("[    0.000000] Booting Linux on physical CPU 0x0\n")
                    .await?;
                Ok(0)
            }
            _ => call.fail("klogctl: Permission denied", 1).await,
        },
        "nproc" => {
            call.out("8\n").await?;
            Ok(0)
        }
        "tty" => {
            let terminal = call.shell.session.terminal.strong_count() > 0;
            let text = if terminal {
                "/dev/pts/0\n"
            } else {
                "not a tty\n"
            };
            call.out(text).await?;
            Ok(i32::from(!terminal))
        }
        "getenforce" => {
            call.out("Enforcing\n").await?;
            Ok(0)
        }
        "setenforce" => match call.shell.who {
            FileUser::Root => Ok(0),
            _ => {
                call.fail("Couldn't set enforcing status: Permission denied", 1)
                    .await
            }
        },
        "reboot" => {
            let how = call.arg(1).unwrap_or("").to_owned();
            android.reboot_to(if how == "-p" { "" } else { &how }).await;
            Ok(0)
        }
        "remount" => {
            let text = service::remount(&android);
            let failed = text.starts_with("Not");
            call.out(text).await?;
            Ok(i32::from(failed))
        }
        "start" | "stop" => match call.shell.who {
            FileUser::Root => Ok(0),
            _ => call.fail("must be root", 1).await,
        },
        "seq" => seq(call).await,
        "expr" => expr(call).await,
        "service" => service_command(call).await,
        "yes" => loop {
            let text = call.arg(1).unwrap_or("y");
            call.out(format!("{text}\n").repeat(512)).await?;
            tokio::task::yield_now().await;
        },
        _ => Ok(0),
    }
}

async fn sleep(call: &mut Call<'_>) -> CommandResult {
    let mut total = 0.0;
    for arg in call.rest() {
        let digits = arg.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &arg[digits.len()..] {
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => 1.0,
        };
        match digits.parse::<f64>() {
            Ok(number) if number >= 0.0 => total += number * unit,
            _ => return call.fail(format!("bad '{arg}'"), 1).await,
        }
    }
    if call.name() == "usleep" {
        total /= 1e6;
    }
    call.shell
        .android
        .device()
        .sleep(Duration::from_secs_f64(total.min(MAX_SLEEP)))
        .await;
    Ok(0)
}

async fn date(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["d", "D", "r", "s"]);
    let format = options.rest.iter().find_map(|arg| arg.strip_prefix('+'));
    if options.has("s") || options.rest.iter().any(|arg| !arg.starts_with('+')) {
        return match call.shell.who {
            FileUser::Root => Ok(0),
            _ => {
                call.fail("cannot set date: Operation not permitted", 1)
                    .await
            }
        };
    }
    let at = match options.value("d").and_then(|d| d.strip_prefix('@')) {
        Some(seconds) => Duration::from_secs(seconds.parse().unwrap_or(0)),
        None => call.shell.android.device().clock(),
    };
    let text = clock_text(at, format.unwrap_or("%a %b %e %T UTC %Y"));
    call.out(format!("{text}\n")).await?;
    Ok(0)
}

/// A time in UTC as `date +format` shows it.
pub(super) fn clock_text(at: Duration, format: &str) -> String {
    let seconds = at.as_secs();
    let (year, month, day) = civil(seconds);
    let rest = seconds % 86_400;
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let month_name = MONTHS[(month as usize + 11) % 12];
    let day_name = DAYS[(seconds / 86_400 % 7) as usize];
    let mut out = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut kind = chars.next();
        let mut digits = 9;
        if let Some(d) = kind.and_then(|k| k.to_digit(10)) {
            digits = d as usize;
            kind = chars.next();
        }
        out.push_str(&match kind {
            Some('s') => seconds.to_string(),
            Some('N') => format!("{:09}", at.subsec_nanos())[..digits.min(9)].to_owned(),
            Some('Y') => year.to_string(),
            Some('y') => format!("{:02}", year % 100),
            Some('m') => format!("{month:02}"),
            Some('d') => format!("{day:02}"),
            Some('e') => format!("{day:2}"),
            Some('H') => format!("{h:02}"),
            Some('M') => format!("{m:02}"),
            Some('S') => format!("{s:02}"),
            Some('T') => format!("{h:02}:{m:02}:{s:02}"),
            Some('F') => format!("{year}-{month:02}-{day:02}"),
            Some('D') => format!("{month:02}/{day:02}/{:02}", year % 100),
            Some('a') => day_name.to_owned(),
            Some('b' | 'h') => month_name.to_owned(),
            Some('Z') => "UTC".to_owned(),
            Some('z') => "+0000".to_owned(),
            Some('n') => "\n".to_owned(),
            Some('t') => "\t".to_owned(),
            Some('%') => "%".to_owned(),
            Some(other) => format!("%{other}"),
            None => "%".to_owned(),
        });
    }
    out
}

async fn id(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let (uid, name) = match &call.shell.who {
        FileUser::Root => (0, "root"),
        FileUser::Shell => (2000, "shell"),
        FileUser::App(_) => (10_200, "u0_a200"),
    };
    let text = match (options.any("ug"), options.has("n")) {
        (true, true) => format!("{name}\n"),
        (true, false) => format!("{uid}\n"),
        (false, _) => format!(
            "uid={uid}({name}) gid={uid}({name}) groups={uid}({name}),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3003(inet) context=u:r:{name}:s0\n"
        ),
    };
    call.out(text).await?;
    Ok(0)
}

async fn uname(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &[]);
    let parts = [
        ("s", "Linux"),
        ("n", "localhost"),
        ("r", "6.1.99-android14-11-virtual"),
        ("v", "#1 SMP PREEMPT Wed Nov  5 00:00:00 UTC 2025"),
        ("m", "aarch64"),
        ("o", "Toybox"),
    ];
    let all = options.has("a");
    let plain = !all && !options.any("snrvmo");
    let shown: Vec<&str> = (parts.iter())
        .filter(|(letter, _)| all || options.has(letter) || (plain && *letter == "s"))
        .map(|(_, text)| *text)
        .collect();
    call.out(format!("{}\n", shown.join(" "))).await?;
    Ok(0)
}

async fn seq(call: &mut Call<'_>) -> CommandResult {
    let numbers: Vec<i64> = call
        .rest()
        .iter()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let (from, by, to) = match numbers.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, by, to] if *by != 0 => (*from, *by, *to),
        _ => return call.needs("Needs 1 argument").await,
    };
    let mut number = from;
    let mut text = String::new();
    while (by > 0 && number <= to) || (by < 0 && number >= to) {
        text.push_str(&format!("{number}\n"));
        if text.len() > 4096 {
            call.out(std::mem::take(&mut text)).await?;
            tokio::task::yield_now().await;
        }
        let Some(next) = number.checked_add(by) else {
            break;
        };
        number = next;
    }
    call.out(text).await?;
    Ok(0)
}

async fn expr(call: &mut Call<'_>) -> CommandResult {
    let text = call.rest().join(" ");
    let shell = &*call.shell;
    let value = crate::android::shell::evaluate(&text, shell);
    match value {
        Some(number) => {
            call.out(format!("{number}\n")).await?;
            Ok(i32::from(number == 0))
        }
        None => {
            call.out(format!("{text}\n")).await?;
            Ok(0)
        }
    }
}

async fn service_command(call: &mut Call<'_>) -> CommandResult {
    match call.arg(1) {
        Some("check") => {
            let name = call.arg(2).unwrap_or("").to_owned();
            let found = if services::is_there(&name) {
                "found"
            } else {
                "not found"
            };
            call.out(format!("Service {name}: {found}\n")).await?;
            Ok(0)
        }
        Some("list") => {
            let all = services::SERVICES;
            let lines: String = (all.iter().enumerate())
                .map(|(i, (name, interface))| format!("{i}\t{name}: [{interface}]\n"))
                .collect();
            call.out(format!("Found {} services:\n{lines}", all.len()))
                .await?;
            Ok(0)
        }
        Some("call") => {
            call.unhandled();
            call.out("Result: Parcel(00000000    '....')\n").await?;
            Ok(0)
        }
        _ => {
            call.err("Usage: service [-h|-?]\n       service list\n       service check SERVICE\n")
                .await?;
            Ok(10)
        }
    }
}

impl crate::android::Android {
    /// The content of a file the device makes up when it is read.
    pub(in crate::android) fn made_up(&self, path: &str) -> Vec<u8> {
        let uptime = self.device().now().as_secs_f64();
        let text = match path {
            "/proc/uptime" => format!("{uptime:.2} {:.2}\n", uptime * 7.0),
            "/proc/loadavg" => "0.42 0.38 0.31 1/1800 9001\n".to_owned(),
            "/proc/version" => "Linux version 6.1.99-android14-11-virtual (build-user@build-host) #1 SMP PREEMPT\n".to_owned(),
            "/proc/meminfo" => "MemTotal:        7864320 kB\nMemFree:         1572864 kB\nMemAvailable:    4194304 kB\nBuffers:          131072 kB\nCached:          2097152 kB\nSwapTotal:       4194300 kB\nSwapFree:        4194300 kB\n".to_owned(),
            "/proc/cpuinfo" => (0..8)
                .map(|cpu| format!("processor\t: {cpu}\nBogoMIPS\t: 49.15\nCPU architecture: 8\n\n"))
                .collect(),
            "/proc/stat" => self.processor_times(),
            "/proc/sys/kernel/random/boot_id" => format!("{}\n", self.device().boot_id()),
            "/sys/devices/system/cpu/online"
            | "/sys/devices/system/cpu/possible"
            | "/sys/devices/system/cpu/present" => "0-7\n".to_owned(),
            "/system/build.prop" => (self.all_properties().iter())
                .filter(|(name, _)| name.starts_with("ro."))
                .map(|(name, value)| format!("{name}={value}\n"))
                .collect(),
            "/system/etc/hosts" => "127.0.0.1       localhost\n::1             ip6-localhost\n".to_owned(),
            _ => String::new(),
        };
        text.into_bytes()
    }

    /// `/proc/stat`: what eight processors did since the start, in hundredths of a second.
    fn processor_times(&self) -> String {
        let now = self.device().now();
        let ticks = now.as_millis() / 10;
        let line = |name: &str, cpus: u128| {
            let busy = ticks * cpus / 50;
            let idle = ticks * cpus - 2 * busy;
            format!("{name} {busy} 0 {busy} {idle} 0 0 0 0 0 0\n")
        };
        let mut text = line("cpu ", 8);
        for cpu in 0..8 {
            text.push_str(&line(&format!("cpu{cpu}"), 1));
        }
        let started = self.device().clock().saturating_sub(now).as_secs();
        text + &format!("btime {started}\nprocesses 9001\n")
    }

    /// No window has the focus for this time.
    pub(super) fn lose_focus(&self, time: Duration) {
        lock(&self.state).no_focus_until = self.device.now() + time;
    }

    /// Whether a window has the focus.
    pub(super) fn has_focus(&self) -> bool {
        let until = lock(&self.state).no_focus_until;
        self.device.now() >= until && !self.device.world(|world, _| world.starting())
    }
}
