//! Finding Node, playwright-core and a browser on this computer, and installing what npm can.
//!
//! Reads no environment: the caller says where to look.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_program::output;
use tokio::process::Command;

/// The playwright-core release that the protocol client was tried with.
pub const PLAYWRIGHT_CORE: &str = "1.64.0";

/// The oldest major version of Node that it runs on: `engines` of its package.json.
pub const OLDEST_NODE: u32 = 20;

/// Browser programs by the names Linux distributions give them, best first.
const BROWSERS: [&str; 6] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
];

/// Firefox's program, as it is released.
const FIREFOXES: [&str; 2] = ["firefox-esr", "firefox"];
/// Firefox's program below a folder of macOS's apps.
const MAC_FIREFOXES: [&str; 1] = ["Firefox.app/Contents/MacOS/firefox"];

/// How each package manager installs a browser, by its program.
const PACKAGE_MANAGERS: [(&str, &str, &str); 6] = [
    ("apt-get", "Debian", "sudo apt-get install chromium"),
    ("dnf", "Fedora", "sudo dnf install chromium"),
    ("pacman", "Arch", "sudo pacman -S chromium"),
    ("zypper", "openSUSE", "sudo zypper install chromium"),
    ("apk", "Alpine", "sudo apk add chromium"),
    // The cask `chromium` is not signed, and macOS calls it damaged.
    ("brew", "macOS", "brew install --cask google-chrome"),
];
/// Ubuntu's chromium is a snap; apt-get has it under this name.
const UBUNTU_BROWSER: &str = "sudo apt-get install chromium-browser";
/// Bytes of what Node and npm say that are kept.
const MAX_WORDS: usize = 16 * 1024;

/// Browsers' programs below a folder of macOS's apps, best first.
const MAC_BROWSERS: [&str; 4] = [
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Chromium.app/Contents/MacOS/Chromium",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "Brave Browser.app/Contents/MacOS/Brave Browser",
];

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct SearchPaths {
    /// Folders that hold programs, as in `PATH`.
    pub path: Vec<PathBuf>,
    /// Folders that hold apps, as macOS has them.
    pub apps: Vec<PathBuf>,
    /// Node's program, when it is given.
    pub node: Option<PathBuf>,
    /// playwright-core's `cli.js`, when it is given.
    pub cli: Option<PathBuf>,
    /// Folders that may hold `node_modules/playwright-core`, first match wins; the first is where
    /// [`install_playwright`] puts it.
    pub modules: Vec<PathBuf>,
    /// The browser's program, when it is given.
    pub browser: Option<PathBuf>,
    /// Firefox's program, when it is given.
    pub firefox: Option<PathBuf>,
}

impl SearchPaths {
    /// Where a program looks by default, given the environment's variables: `PATH`;
    /// `PACKTRAIN_NODE`, `PACKTRAIN_PLAYWRIGHT_CLI`, `PACKTRAIN_BROWSER` and `PACKTRAIN_FIREFOX` for
    /// programs at odd places; `HOME` for apps of the user's own; [`home`] for what Packtrain installed
    /// itself.
    pub fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let given = |name: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Self {
            path: variable("PATH")
                .map(|path| std::env::split_paths(&path).collect())
                .unwrap_or_default(),
            apps: [PathBuf::from("/Applications")]
                .into_iter()
                .chain(given("HOME").map(|home| home.join("Applications")))
                .collect(),
            node: given("PACKTRAIN_NODE"),
            cli: given("PACKTRAIN_PLAYWRIGHT_CLI"),
            modules: home(&variable)
                .map(|home| home.join(format!("playwright-{PLAYWRIGHT_CORE}")))
                .into_iter()
                .collect(),
            browser: given("PACKTRAIN_BROWSER"),
            firefox: given("PACKTRAIN_FIREFOX"),
        }
    }

    /// A program as it is named: a bare name is looked for in [`path`](Self::path).
    pub fn program(&self, named: &Path) -> PathBuf {
        let is_bare = named.components().count() == 1;
        let found = named.to_str().filter(|_| is_bare);
        found
            .and_then(|name| on_path(&self.path, &[name]))
            .unwrap_or_else(|| named.to_owned())
    }
}

/// The folder for what Packtrain installs for a user: `PACKTRAIN_HOME`, or `packtrain` below the
/// XDG data folder.
pub fn home(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = |name: &str| {
        variable(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    given("PACKTRAIN_HOME").or_else(|| {
        given("XDG_DATA_HOME")
            .or_else(|| given("HOME").map(|home| home.join(".local/share")))
            .map(|data| data.join("packtrain"))
    })
}

/// What is there. Each part is missing on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Node's program.
    pub node: Option<PathBuf>,
    /// playwright-core's `cli.js`.
    pub cli: Option<PathBuf>,
    /// The version of playwright-core at `cli`.
    pub version: Option<String>,
    /// A Chromium or Chrome.
    pub browser: Option<PathBuf>,
    /// A Firefox, for sessions that ask for it.
    pub firefox: Option<PathBuf>,
}

/// Node and playwright-core, ready to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// Node's program.
    pub node: PathBuf,
    /// playwright-core's `cli.js`.
    pub cli: PathBuf,
}

/// Why npm could not install playwright-core.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// npm is not there.
    #[error("start npm: {0}")]
    NoNpm(std::io::Error),
    /// The folder cannot be made.
    #[error("create {path}: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// npm said no.
    #[error("npm install failed: {0}")]
    Npm(String),
    /// npm was silent for too long.
    #[error("npm install did not end within {0:?}")]
    Timeout(Duration),
}

/// Looks for everything a web device needs. Cheap: asks the file system only.
pub fn find(search: &SearchPaths) -> Found {
    let node = given_or(search.node.as_deref(), || {
        on_path(&search.path, &["node", "nodejs"])
    });
    let cli = given_or(search.cli.as_deref(), || {
        search
            .modules
            .iter()
            .map(|folder| folder.join("node_modules/playwright-core/cli.js"))
            .find(|file| file.is_file())
    });
    let version = cli.as_deref().and_then(version_beside);
    let browser = given_or(search.browser.as_deref(), || {
        on_path(&search.path, &BROWSERS).or_else(|| on_path(&search.apps, &MAC_BROWSERS))
    });
    let firefox = given_or(search.firefox.as_deref(), || {
        on_path(&search.path, &FIREFOXES).or_else(|| on_path(&search.apps, &MAC_FIREFOXES))
    });
    Found {
        node,
        cli,
        version,
        browser,
        firefox,
    }
}

/// The devices that playwright-core can emulate, as its types list them; none when they cannot be read.
pub fn emulated_devices(cli: &Path) -> Vec<String> {
    let types = std::fs::read_to_string(cli.with_file_name("types/types.d.ts"));
    let types = types.unwrap_or_default();
    let names = types.lines().filter_map(|line| {
        let name = line.trim().strip_suffix(": DeviceDescriptor;")?;
        name.strip_prefix('"')?.strip_suffix('"').map(str::to_owned)
    });
    names.collect()
}

impl Found {
    /// Node and playwright-core, when both are there.
    pub fn installation(&self) -> Option<Installation> {
        Some(Installation {
            node: self.node.clone()?,
            cli: self.cli.clone()?,
        })
    }

    /// Whether `version` is the release that was tried, patch releases aside.
    pub fn is_tried_version(&self) -> bool {
        let minor = |version: &str| {
            let mut parts = version.split('.');
            Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
        };
        self.version.as_deref().and_then(minor) == minor(PLAYWRIGHT_CORE)
    }
}

/// A version of Node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeVersion {
    /// The first number.
    pub major: u32,
    whole: String,
}

impl std::fmt::Display for NodeVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.whole)
    }
}

/// The version that a Node tells; `None` when it does not within `limit`.
pub async fn node_version(program: &Path, limit: Duration) -> Option<NodeVersion> {
    let mut command = Command::new(program);
    command.arg("--version");
    let told = tokio::time::timeout(limit, output(command, MAX_WORDS));
    let told = told.await.ok()?.ok()?;
    let whole = String::from_utf8(told.stdout).ok()?.trim().to_owned();
    let major = whole.strip_prefix('v')?.split('.').next()?.parse().ok()?;
    Some(NodeVersion { major, whole })
}

/// How a browser is installed with this system's package manager; without one that is known, how
/// with several. What npm installs has no browser in it.
pub fn browser_remedy(search: &SearchPaths) -> String {
    let known = PACKAGE_MANAGERS
        .iter()
        .find(|(program, ..)| on_path(&search.path, &[program]).is_some());
    match known {
        Some((_, "Debian", command)) => {
            format!("install one: `{command}` (Ubuntu: `{UBUNTU_BROWSER}`)")
        }
        Some((_, _, command)) => format!("install one: `{command}`"),
        None => {
            let ways: Vec<_> = PACKAGE_MANAGERS
                .iter()
                .map(|(_, system, command)| format!("{system}: `{command}`"))
                .collect();
            format!("install one: {}", ways.join("; "))
        }
    }
}

/// How Firefox is installed with this system's package manager. Playwright's own `firefox` is another
/// build, and WebKit is not to be had but as one.
pub fn firefox_remedy(search: &SearchPaths) -> String {
    let ways = [
        ("apt-get", "sudo apt-get install firefox-esr"),
        ("dnf", "sudo dnf install firefox"),
        ("pacman", "sudo pacman -S firefox"),
        ("zypper", "sudo zypper install MozillaFirefox"),
        ("apk", "sudo apk add firefox-esr"),
        ("brew", "brew install --cask firefox"),
    ];
    let known = ways
        .iter()
        .find(|(program, _)| on_path(&search.path, &[program]).is_some());
    let way = known.map_or("from https://www.mozilla.org/firefox", |(_, command)| {
        command
    });
    format!("for sessions with `engine: firefox`; install it: {way}")
}

/// Installs playwright-core from npm below `folder`, without any browser.
///
/// # Errors
/// [`InstallError`] with npm's own words.
pub async fn install_playwright(folder: &Path, limit: Duration) -> Result<(), InstallError> {
    std::fs::create_dir_all(folder).map_err(|source| InstallError::Folder {
        path: folder.to_owned(),
        source,
    })?;
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-save",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
    ])
    .args(["--loglevel", "error", "--prefix"])
    .arg(folder)
    .arg(format!("playwright-core@{PLAYWRIGHT_CORE}"));
    let output = tokio::time::timeout(limit, output(npm, MAX_WORDS))
        .await
        .map_err(|_| InstallError::Timeout(limit))?
        .map_err(InstallError::NoNpm)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(InstallError::Npm(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ))
    }
}

/// A given path counts even when it leads nowhere: the mistake must show, not be papered over.
fn given_or(given: Option<&Path>, search: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    match given {
        Some(path) => path.is_file().then(|| path.to_owned()),
        None => search(),
    }
}

fn on_path(folders: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

fn version_beside(cli: &Path) -> Option<String> {
    let text = std::fs::read_to_string(cli.with_file_name("package.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_has_browsers_among_the_users_own_apps_and_gets_a_signed_one() {
        let home = tempfile::tempdir().unwrap();
        let mut search = SearchPaths::from_environment(|name| {
            (name == "HOME").then(|| home.path().as_os_str().to_owned())
        });
        let own = home.path().join("Applications").join(MAC_BROWSERS[0]);
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::write(&own, "").unwrap();
        assert_eq!(find(&search).browser, Some(own));

        std::fs::write(home.path().join("brew"), "").unwrap();
        search.path.push(home.path().to_owned());
        assert!(browser_remedy(&search).contains("--cask google-chrome"));
    }
}
