//! What is installed of all that devices need, what is missing, and how to get it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_config::{Config, Engine};
use packtrain_driver_adb::{AdbPool, install as agent};
use packtrain_driver_playwright::install;
use packtrain_driver_wda::{WdaOptions, WdaPool};
use packtrain_terminal::exit::CliError;
use packtrain_terminal::render;

use crate::{Search, android, ios, web};

/// How long npm or pip may take.
pub const INSTALL_TIMEOUT: Duration = Duration::from_secs(300);
/// How long a program may take to tell its version, and usbmuxd to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// How Node is installed, and npm with it.
const NODE_REMEDY: &str =
    "Debian 13: `sudo apt-get install nodejs npm`; macOS: `brew install node`";

/// One thing that is looked for.
pub struct Finding {
    /// What it is.
    pub what: &'static str,
    /// Whether `doctor` fails without it. What only some devices need is reported, no more.
    pub needed: bool,
    /// Whether it is there.
    pub state: State,
    /// How to get it.
    pub remedy: String,
}

/// Whether it is there.
pub enum State {
    /// It is, and what it is.
    Found(String),
    /// It is not.
    Missing,
    /// It is, and cannot be used, because.
    Unusable(String),
}

impl Finding {
    /// Whether it is there and can be used.
    pub const fn is_found(&self) -> bool {
        matches!(self.state, State::Found(_))
    }
}

/// Looks for everything. Starts nothing but programs that tell their version.
///
/// # Errors
/// When the configuration is invalid.
pub async fn findings(config: &Config) -> Result<Vec<Finding>, CliError> {
    let search = web::search_paths(config);
    let found = install::find(&search);
    let slots = || config.devices.web.values();
    let is_for = |engine| slots().any(|slot| slot.engine == engine && slot.executable.is_none());
    let mut findings = vec![
        Finding {
            what: "Chromium or Chrome",
            needed: config.devices.web.is_empty() || is_for(Engine::Chromium),
            state: at(found.browser.as_deref()),
            remedy: install::browser_remedy(&search),
        },
        node(found.node.as_deref()).await,
        playwright(&found),
        Finding {
            what: "Firefox",
            needed: is_for(Engine::Firefox),
            state: at(found.firefox.as_deref()),
            remedy: install::firefox_remedy(&search),
        },
        Finding {
            what: "WebKit",
            needed: false,
            state: State::Missing,
            remedy: "not supported: no packaged build of it can be driven, and Safari's \
                     driver cannot do what a session needs; an iPhone's Safari can be driven as an app"
                .to_owned(),
        },
    ];
    findings.extend(for_android(config).await?);
    findings.extend(for_iphones(config).await?);
    Ok(findings)
}

/// Installs what npm and PyPI can install for a user, as far as it is missing.
///
/// # Errors
/// When something could not be installed; what comes after it was tried all the same.
pub async fn fix(config: &Config) -> Result<(), CliError> {
    let core = fix_playwright(config).await;
    let jar = fix_agent().await;
    core.and(jar)
}

/// Installs playwright-core from npm, unless it is there.
///
/// # Errors
/// With npm's own words.
pub async fn fix_playwright(config: &Config) -> Result<(), CliError> {
    let search = web::search_paths(config);
    if install::find(&search).cli.is_some() {
        return Ok(());
    }
    let folder = search.modules.first().ok_or_else(nowhere)?;
    let version = install::PLAYWRIGHT_CORE;
    let into = folder.display();
    render::say(&format!(
        "installing playwright-core {version} from npm into {into}"
    ));
    let installed = install::install_playwright(folder, INSTALL_TIMEOUT).await;
    installed.map_err(|error| {
        CliError::infrastructure("cannot install playwright-core")
            .because(&error)
            .hint(format!("npm comes with Node: {NODE_REMEDY}"))
    })
}

async fn fix_agent() -> Result<(), CliError> {
    let home = home().ok_or_else(nowhere)?;
    if agent::find_u2(&home).is_some() {
        return Ok(());
    }
    let version = agent::UIAUTOMATOR2;
    let into = home.display();
    render::say(&format!(
        "installing u2.jar of uiautomator2 {version} from PyPI into {into}"
    ));
    let installed = agent::install_u2(&home, INSTALL_TIMEOUT).await;
    installed.map(drop).map_err(|error| {
        let failed = CliError::infrastructure("cannot install u2.jar").because(&error);
        match error.hint() {
            Some(hint) => failed.hint(hint),
            None => failed,
        }
    })
}

/// That no folder to install into.
pub fn nowhere() -> CliError {
    CliError::infrastructure("no folder to install into").hint("set PACKTRAIN_HOME or HOME")
}

/// The folder for what is installed for a user.
pub fn home() -> Option<PathBuf> {
    install::home(|name| std::env::var_os(name))
}

fn at(path: Option<&Path>) -> State {
    path.map_or(State::Missing, |path| {
        State::Found(path.display().to_string())
    })
}

async fn node(program: Option<&Path>) -> Finding {
    let oldest = install::OLDEST_NODE;
    let state = match program {
        None => State::Missing,
        Some(program) => {
            let path = program.display();
            match install::node_version(program, ANSWER_TIMEOUT).await {
                Some(version) if version.major < oldest => State::Unusable(format!(
                    "{version} at {path} is too old: playwright-core needs {oldest} or later"
                )),
                Some(version) => State::Found(format!("{version} at {path}")),
                None => State::Unusable(format!("{path} does not report its version")),
            }
        }
    };
    Finding {
        what: "Node",
        needed: true,
        state,
        remedy: format!(
            "{oldest} or later; {NODE_REMEDY}; where the system's is older: https://nodejs.org, and `PACKTRAIN_NODE` names its program"
        ),
    }
}

fn playwright(found: &install::Found) -> Finding {
    let state = match &found.cli {
        None => State::Missing,
        Some(cli) => {
            let version = found.version.as_deref().unwrap_or("of unknown version");
            let tried = if found.is_tried_version() {
                String::new()
            } else {
                format!(" (tested with {})", install::PLAYWRIGHT_CORE)
            };
            State::Found(format!("{version}{tried} at {}", cli.display()))
        }
    };
    Finding {
        what: "playwright-core",
        needed: true,
        state,
        remedy: "`packtrain doctor --fix` installs it from npm, without any browser".to_owned(),
    }
}

async fn for_android(config: &Config) -> Result<Vec<Finding>, CliError> {
    let options = android::options(&config.devices.android, Search::Quietly)?;
    let (program, server) = match AdbPool::new(options).report().await {
        Ok(Some(report)) => {
            let clash = if report.fights_with_program() {
                ", but the `adb` program is a different version and stops this server when used"
            } else {
                ""
            };
            let server = match report.server {
                Some(version) => {
                    State::Found(format!("version {version} at {}{clash}", report.address))
                }
                None => State::Missing,
            };
            let program = report.program.map_or(State::Missing, |(path, version)| {
                State::Found(format!("version {version} at {}", path.display()))
            });
            (program, server)
        }
        Ok(None) => (State::Missing, State::Missing),
        Err(error) => (State::Unusable(error.to_string()), State::Missing),
    };
    let optional = |what, state, remedy: &str| Finding {
        what,
        needed: false,
        state,
        remedy: remedy.to_owned(),
    };
    Ok(vec![
        optional(
            "adb",
            program,
            "for Android devices; Debian, Ubuntu: `sudo apt-get install adb`; macOS: \
             `brew install --cask android-platform-tools`",
        ),
        optional(
            "adb server",
            server,
            "for Android devices; it is started when one is requested by name",
        ),
        optional(
            "u2.jar",
            at(home().and_then(|home| agent::find_u2(&home)).as_deref()),
            "for reading Android screens quickly; `packtrain doctor --fix` installs it from PyPI",
        ),
    ])
}

async fn for_iphones(config: &Config) -> Result<Vec<Finding>, CliError> {
    let options = ios::options(&config.devices.ios)?;
    let mux = match &options.usbmuxd {
        None => State::Missing,
        Some(address) => match tokio::time::timeout(ANSWER_TIMEOUT, address.probe()).await {
            Ok(Ok(())) => State::Found(format!("at {address}")),
            Ok(Err(_)) => State::Missing,
            Err(_) => State::Unusable(format!("{address} does not answer")),
        },
    };
    let mut findings = vec![Finding {
        what: "usbmuxd",
        needed: false,
        state: mux,
        remedy:
            "for iPhones on USB; Debian, Ubuntu: `sudo apt-get install usbmuxd`, which starts when \
                 one is plugged in; macOS has it"
                .to_owned(),
    }];
    if cfg!(target_os = "macos") || options.xcrun.is_some() {
        findings.push(simulators(options).await);
    }
    Ok(findings)
}

async fn simulators(options: WdaOptions) -> Finding {
    let (state, remedy) = match WdaPool::new(options).survey().await {
        None => (
            State::Missing,
            "install Xcode from the App Store".to_owned(),
        ),
        Some(Ok(booted)) => (State::Found(booted), String::new()),
        Some(Err(lack)) => (State::Unusable(lack.what), lack.remedy),
    };
    Finding {
        what: "simulators",
        needed: false,
        state,
        remedy: format!("for iOS simulators; {remedy}"),
    }
}
