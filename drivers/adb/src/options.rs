//! What has to be known to find and reach devices. Plain data.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::agent::{AgentChoice, AgentFiles};
use crate::program::in_sdk;
use crate::wire::DirectAddress;

/// Where Android Studio puts an SDK without being told, below a user's home: on macOS, on Linux.
const STUDIO_SDKS: [&str; 2] = ["Library/Android/sdk", "Android/Sdk"];

/// Where an adb server listens by default.
pub const DEFAULT_SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 5037);

/// Whether a server may be started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartServer {
    /// When none runs and it would run on this computer.
    #[default]
    IfNeeded,
    /// The caller starts one if needed.
    Never,
}

/// How devices are found and reached.
#[derive(Debug, Clone, PartialEq)]
pub struct AdbOptions {
    /// The adb server; `None` when only direct connections are wanted.
    pub server: Option<SocketAddr>,
    /// Whether one may be started.
    pub start: StartServer,
    /// Folders in which `adb` is looked for.
    pub path: Vec<PathBuf>,
    /// Variables for a server that is started.
    pub environment: Vec<(OsString, OsString)>,
    /// The key for direct connections (`~/.android/adbkey`); made when there is none. `None`: a
    /// new one each time.
    pub key: Option<PathBuf>,
    /// Devices that are connected to without a server, by name.
    pub direct: Vec<(String, DirectAddress)>,
    /// Which agent devices are driven with.
    pub agent: AgentChoice,
    /// What agents need.
    pub files: AgentFiles,
    /// The folder where it is written down what settings were before a matrix changed them; without
    /// one, none is changed.
    pub restore: Option<PathBuf>,
    /// How long a device may take to say what it is.
    pub probe: Duration,
}

impl Default for AdbOptions {
    fn default() -> Self {
        Self {
            server: Some(DEFAULT_SERVER),
            start: StartServer::default(),
            path: Vec::new(),
            environment: Vec::new(),
            key: None,
            direct: Vec::new(),
            agent: AgentChoice::default(),
            files: AgentFiles::default(),
            restore: None,
            probe: Duration::from_secs(5),
        }
    }
}

impl AdbOptions {
    /// What adb's own variables say: `PATH`, `ANDROID_HOME` and `ANDROID_SDK_ROOT` for the
    /// program, `ANDROID_ADB_SERVER_ADDRESS` and `ANDROID_ADB_SERVER_PORT` for the server,
    /// `ANDROID_USER_HOME` or `HOME` for the key. The program of Android Studio, which sets none of
    /// them, comes last.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = |name: &str| given(name)?.into_string().ok();
        let mut path: Vec<PathBuf> = given("PATH")
            .map(|path| std::env::split_paths(&path).collect())
            .unwrap_or_default();
        let sdks = ["ANDROID_HOME", "ANDROID_SDK_ROOT"];
        let home = given("HOME").map(PathBuf::from);
        let of_studio = home
            .iter()
            .flat_map(|home| STUDIO_SDKS.map(|sdk| home.join(sdk)));
        let sdks = sdks.into_iter().filter_map(given).map(PathBuf::from);
        path.extend(sdks.chain(of_studio).map(|sdk| in_sdk(&sdk)));
        let ip = text("ANDROID_ADB_SERVER_ADDRESS").and_then(|ip| ip.parse().ok());
        let port = text("ANDROID_ADB_SERVER_PORT").and_then(|port| port.parse().ok());
        let keys = given("ANDROID_USER_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(home?.join(".android")));
        Self {
            server: Some(SocketAddr::new(
                ip.unwrap_or(DEFAULT_SERVER.ip()),
                port.unwrap_or(DEFAULT_SERVER.port()),
            )),
            path,
            key: keys.map(|folder| folder.join("adbkey")),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adbs_own_variables_say_where_things_are() {
        let options = AdbOptions::from_environment(|name| {
            Some(OsString::from(match name {
                "PATH" => "/usr/bin",
                "ANDROID_HOME" => "/sdk",
                "ANDROID_ADB_SERVER_PORT" => "5999",
                "HOME" => "/home/me",
                _ => return None,
            }))
        });
        assert_eq!(options.server.unwrap().to_string(), "127.0.0.1:5999");
        let folders = [
            "/usr/bin",
            "/sdk/platform-tools",
            "/home/me/Library/Android/sdk/platform-tools",
            "/home/me/Android/Sdk/platform-tools",
        ];
        assert_eq!(options.path, folders.map(PathBuf::from));
        assert_eq!(options.key, Some("/home/me/.android/adbkey".into()));

        let bare = AdbOptions::from_environment(|_| None);
        assert_eq!(bare, AdbOptions::default());
    }
}
