//! The services of adbd by their names. Source: adb's `docs/dev/services.md`.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::DuplexStream;

use crate::android::files::FileUser;
use crate::android::link::Link;
use crate::android::shell::session::{self, Mode};
use crate::android::stream::Stream;
use crate::android::{Android, Build, framebuffer, ports, reverse, sync};

/// How long adbd lives on after it said that it restarts.
const RESTART_GRACE: Duration = Duration::from_millis(100);

/// What was opened.
pub(super) enum Service {
    Shell {
        mode: Mode,
        command: String,
    },
    Sync,
    /// Something inside the device, at this address.
    Inside(String),
    /// The same, connected.
    Connected(DuplexStream),
    Framebuffer,
    /// Says this and closes.
    Says(Vec<u8>),
    Reboot(String),
    /// Says this, then adbd starts again.
    Restarts(&'static str),
}

/// The service of that name; `None` when there is none, which refuses the stream.
pub(super) fn find(android: &Arc<Android>, link: &Arc<Link>, name: &str) -> Option<Service> {
    let (first, rest) = name.split_once(':').unwrap_or((name, ""));
    let kind = first.split(',').next().unwrap_or("");
    let found = match kind {
        "shell" => Service::Shell {
            mode: Mode::of_shell(first, rest, android.generation),
            command: rest.to_owned(),
        },
        "exec" => Service::Shell {
            mode: Mode::RawTerminal,
            command: rest.to_owned(),
        },
        "sync" => Service::Sync,
        "framebuffer" => Service::Framebuffer,
        "reverse" => Service::Says(reverse::answer(android, link, rest)),
        "reboot" => Service::Reboot(rest.to_owned()),
        "root" => root(android),
        "unroot" => unroot(android),
        "remount" => Service::Says(remount(android).into_bytes()),
        "tcpip" => match rest.parse::<u16>() {
            Ok(port) => Service::Says(format!("restarting in TCP mode port: {port}\n").into()),
            Err(_) => Service::Says(b"invalid port\n".to_vec()),
        },
        "usb" => Service::Says(b"restarting in USB mode\n".to_vec()),
        "reconnect" => Service::Restarts("done"),
        "jdwp" if rest.is_empty() => Service::Says(debuggable(android).into_bytes()),
        _ => match ports::address_of(name) {
            Some(address) => Service::Inside(address),
            None => {
                android.device.note_unhandled(&format!("service {name}"));
                return None;
            }
        },
    };
    Some(found)
}

impl Service {
    /// Serves until the service is done.
    pub(super) async fn run(self, android: &Arc<Android>, stream: Stream) {
        match self {
            Self::Shell { mode, command } => session::run(android, stream, mode, &command).await,
            Self::Sync => sync::run(android, stream).await,
            Self::Connected(inside) => stream.join(inside).await,
            // Whoever opens it connects first.
            Self::Inside(_) => {}
            Self::Framebuffer => framebuffer::run(android, stream).await,
            Self::Says(text) => {
                // A client that hung up needs no answer.
                let _ = stream.send(text).await;
            }
            Self::Reboot(how) => android.reboot_to(&how).await,
            Self::Restarts(text) => {
                let _ = stream.send(text.as_bytes().to_vec()).await;
                // Last words must reach the host before the link is cut; closing the stream ends
                // this service, so something else has to wait for that.
                let device = android.device.clone();
                android.tasks.spawn(async move {
                    device.sleep(RESTART_GRACE).await;
                    device.cut();
                });
            }
        }
    }
}

fn root(android: &Android) -> Service {
    let mut user = android.user.lock();
    if *user == FileUser::Root {
        return Service::Says(b"adbd is already running as root\n".to_vec());
    }
    if android.build == Build::User {
        return Service::Says(b"adbd cannot run as root in production builds\n".to_vec());
    }
    *user = FileUser::Root;
    Service::Restarts("restarting adbd as root\n")
}

fn unroot(android: &Android) -> Service {
    match std::mem::replace(&mut *android.user.lock(), FileUser::Shell) {
        FileUser::Root => Service::Restarts("restarting adbd as non root\n"),
        FileUser::Shell | FileUser::App(_) => Service::Says(b"adbd not running as root\n".to_vec()),
    }
}

/// The processes a debugger can attach to, one a line: all apps, where the system is made for
/// developers.
fn debuggable(android: &Android) -> String {
    if android.build == Build::User {
        return String::new();
    }
    (android.processes().iter())
        .filter(|process| process.name.contains('.'))
        .map(|process| format!("{}\n", process.pid))
        .collect()
}

/// What `remount` prints.
pub(super) fn remount(android: &Android) -> String {
    if android.who() != FileUser::Root {
        return "Not running as root. Try \"adb root\" first.\n".to_owned();
    }
    android.files.lock().remounted = true;
    "Remount succeeded\n".to_owned()
}

impl Android {
    /// Switches off and on again, to the system or to where `how` says.
    pub(super) async fn reboot_to(&self, how: &str) {
        let mode = match how {
            "recovery" => Some("recovery"),
            "sideload" | "sideload-auto-reboot" => Some("sideload"),
            "bootloader" | "fastboot" => Some("bootloader"),
            _ => None,
        };
        let time = self.device.boot_time();
        self.state.lock().mode = mode;
        *self.user.lock() = FileUser::Shell;
        self.kill_all();
        self.files.lock().remounted = false;
        self.device.reboot(time);
    }
}
