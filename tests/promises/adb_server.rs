//! An adb server that is started when needed, on a port of its own.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use packtrain_testing::free_port;

pub(crate) struct AdbServer {
    pub(crate) address: SocketAddr,
    pub(crate) environment: Vec<(OsString, OsString)>,
}

impl AdbServer {
    /// Keys and logs are kept in `folder`.
    pub(crate) fn new(folder: &Path) -> Self {
        let home = folder.as_os_str().to_owned();
        let variable = |name: &str, value: &str| (name.into(), value.into());
        Self {
            address: (Ipv4Addr::LOCALHOST, free_port()).into(),
            environment: vec![
                ("HOME".into(), home.clone()),
                ("TMPDIR".into(), home),
                // It shall see neither this computer's emulators nor its phones.
                variable("ADB_LOCAL_TRANSPORT_MAX_PORT", "5553"),
                variable("ADB_MDNS_AUTO_CONNECT", "0"),
                variable("ADB_USB", "0"),
            ],
        }
    }

    /// Tells it something; it is started when it is not up.
    #[track_caller]
    pub(crate) fn told(&self, words: &[&str]) {
        let port = self.address.port().to_string();
        let told = std::process::Command::new("adb")
            .envs(self.environment.iter().cloned())
            .args([&["-P", &port], words].concat())
            .output();
        assert!(told.unwrap().status.success(), "{words:?}");
    }
}

impl Drop for AdbServer {
    fn drop(&mut self) {
        let ended = std::process::Command::new("adb")
            .args(["-P", &self.address.port().to_string(), "kill-server"])
            .output();
        assert!(ended.is_ok_and(|ended| ended.status.success()) || std::thread::panicking());
    }
}
