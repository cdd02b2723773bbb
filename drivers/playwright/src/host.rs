//! Playwright's driver process: one Node for all web devices of a program, in its own process
//! group, watched so that a killed driver ends every call that waits for it.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use packtrain_program::{Descendants, spawning};
use playwright_rs::Playwright;
use playwright_rs::server::connection::{Connection, ConnectionExt, ConnectionLike};
use playwright_rs::server::transport::PipeTransport;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

use crate::calls;
use crate::install::Installation;
use crate::traffic::Traffic;

/// How long the driver may take to close its browsers before its group is killed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no Playwright.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HostError {
    /// Node or playwright-core is missing.
    #[error("{missing} not found")]
    Missing {
        /// What is missing.
        missing: &'static str,
    },
    /// There is no browser.
    #[error("no browser was found")]
    NoBrowser,
    /// There is no Firefox, and a session wants it.
    #[error("no Firefox was found")]
    NoFirefox,
    /// A program that was named is not the browser that it should be.
    #[error("invalid executable {program}: {reason}")]
    NotTheBrowser {
        /// Which program.
        program: String,
        /// What it is instead, and what was expected.
        reason: String,
    },
    /// Node could not be started.
    #[error("start {program}: {message}")]
    Spawn {
        /// Which program.
        program: String,
        /// Why.
        message: String,
    },
    /// The driver started but does not speak the protocol.
    #[error("talk to Playwright's driver: {0}")]
    Handshake(String),
    /// The browser could not be started.
    #[error("start the browser {program}: {message}")]
    Browser {
        /// Which program.
        program: String,
        /// Playwright's words.
        message: String,
    },
}

impl HostError {
    /// What a person can do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoBrowser => {
                "install one with the system's package manager; `packtrain doctor` names the command"
            }
            Self::NotTheBrowser { .. } => {
                "`executable` must be a browser of the device's `engine`; omit it to use the installed \
                 one"
            }
            Self::NoFirefox => "install one; `packtrain doctor` names the command",
            Self::Missing { .. } | Self::Spawn { .. } => {
                "run `packtrain doctor`; `packtrain doctor --fix` installs what npm can install"
            }
            Self::Handshake(_) => {
                "run `packtrain doctor`: the playwright-core it finds should be the tested version"
            }
            Self::Browser { .. } => {
                "run `packtrain doctor`; a browser from the system's packages has what it needs; \
                 a headed one also needs a display"
            }
        }
    }
}

/// A running driver process.
pub(crate) struct Host {
    playwright: Playwright,
    connection: Arc<Connection>,
    /// What its pages still wait for.
    pub(crate) traffic: Arc<Traffic>,
    dead: CancellationToken,
    stop: CancellationToken,
    /// Cancelled once its process and its browsers are gone.
    gone: CancellationToken,
    _reader: AbortOnDropHandle<()>,
    _stderr: AbortOnDropHandle<()>,
}

impl Host {
    pub(crate) async fn start(installation: &Installation) -> Result<Arc<Self>, HostError> {
        let spawn_error = |error: std::io::Error| HostError::Spawn {
            program: installation.node.display().to_string(),
            message: error.to_string(),
        };
        let mut command = Command::new(&installation.node);
        command
            .arg(&installation.cli)
            .arg("run-driver")
            .env("PW_LANG_NAME", "rust")
            .env("PW_LANG_NAME_VERSION", env!("CARGO_PKG_RUST_VERSION"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A browser leads a session of its own, and Firefox does not notice that its driver is gone.
        let browsers = Descendants::of(&mut command, CLOSE_TIMEOUT);
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop).wrap(ProcessGroup::leader());
        let mut child = spawning(|| command.spawn()).map_err(spawn_error)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        ) else {
            return Err(HostError::Handshake("its pipes are missing".to_owned()));
        };
        let stderr = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut lines = BufReader::new(stderr).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                tracing::debug!(target: "packtrain::playwright", "{line}");
            }
        }));

        let (transport, messages) = PipeTransport::new(stdin, stdout);
        let (stdin, receiver) = transport.into_parts();
        let traffic = Arc::new(Traffic::default());
        let messages = calls::with_logs(messages, Arc::clone(&traffic));
        let connection = Arc::new(Connection::new(calls::Sender(stdin), receiver, messages));
        let dead = CancellationToken::new();
        let reader = AbortOnDropHandle::new(tokio::spawn({
            let (connection, dead) = (Arc::clone(&connection), dead.clone());
            async move {
                connection.run().await;
                dead.cancel();
            }
        }));
        let stop = CancellationToken::new();
        let gone = CancellationToken::new();
        let is_gone = gone.clone().drop_guard();
        tokio::spawn(watch(child, browsers, stop.clone(), dead.clone(), is_gone));

        let handshake = async {
            let root = connection.initialize_playwright().await?;
            connection.get_typed::<Playwright>(root.guid()).await
        };
        let playwright = tokio::select! {
            answer = handshake => answer.map_err(|error| HostError::Handshake(error.to_string())),
            () = dead.cancelled() => Err(HostError::Handshake("it ended at once".to_owned())),
        }?;
        Ok(Arc::new(Self {
            playwright,
            connection,
            traffic,
            dead,
            stop,
            gone,
            _reader: reader,
            _stderr: stderr,
        }))
    }

    pub(crate) const fn playwright(&self) -> &Playwright {
        &self.playwright
    }

    /// Cancelled once the process is gone or its pipe broke.
    pub(crate) const fn dead(&self) -> &CancellationToken {
        &self.dead
    }

    /// Asks the driver to close its browsers and end; kills its group when it does not.
    pub(crate) async fn shutdown(&self) {
        self.connection.close_writer();
        self.stop.cancel();
        self.gone.cancelled().await;
    }
}

/// Owns the process until it is gone, and then sees to it that its browsers are.
async fn watch(
    mut child: Box<dyn ChildWrapper>,
    browsers: Descendants,
    stop: CancellationToken,
    dead: CancellationToken,
    _is_gone: DropGuard,
) {
    let ended = tokio::select! {
        status = child.wait() => Some(status),
        () = stop.cancelled() => None,
    };
    match ended {
        Some(status) => tracing::debug!(?status, "playwright's driver ended"),
        None => {
            if tokio::time::timeout(CLOSE_TIMEOUT, child.wait())
                .await
                .is_err()
            {
                tracing::warn!("playwright's driver did not end in time; killing its group");
                let _ = Box::into_pin(child.kill()).await;
            }
        }
    }
    dead.cancel();
    drop(browsers);
}
