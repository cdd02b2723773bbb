//! Getting the server to run: on the device, started, answering, told not to wait.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{Outcome, RESTARTS, Server, U2Agent, rpc};
use crate::agent::AgentError;
use crate::agent::process::Process;
use crate::phone::{Reconnection, Repeat};
use crate::wire::WireError;

/// Where the server listens when it is not told otherwise.
pub(super) const PORT: u16 = 9008;
/// Where it is tried when that port is taken.
const OTHER_PORTS: [u16; 2] = [19008, 29008];
/// Where the jar lies on the device: where uiautomator2 puts it too.
const ON_DEVICE: &str = "/data/local/tmp/u2.jar";
/// How long the server may take to answer, on the slowest of phones.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a server that starts is asked.
const START_POLL: Duration = Duration::from_millis(40);
/// How long a server that runs may take to say so: it does that beside whatever else it does.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a server that was killed may take to be gone.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How often to look for it.
const KILL_POLL: Duration = Duration::from_millis(50);

/// Why a server that was started does not answer.
enum NoStart {
    /// Something else has the port.
    PortTaken,
    /// Another client has the device's UI automation.
    Taken(String),
    Other(String),
}

impl U2Agent {
    /// Makes sure that the server runs.
    pub(super) async fn ensure(&self, deadline: Instant) -> Result<(), AgentError> {
        let mut server = self.server.lock().await;
        match &*server {
            Server::Up(process) if !process.has_ended() => return Ok(()),
            Server::Suspect(process) if !process.has_ended() && self.lives(deadline).await? => {
                if let Server::Suspect(process) = std::mem::take(&mut *server) {
                    *server = Server::Up(process);
                }
                return Ok(());
            }
            Server::Up(_) | Server::Suspect(_) | Server::Down => {}
        }
        let mut losses = 0;
        loop {
            // Hangs up on the old process before another is started.
            *server = Server::Down;
            match self.bring_up(deadline).await {
                // Starting it again changes nothing, so a device that dropped meanwhile may.
                Err(AgentError::Wire(error)) if error.is_loss() && losses < RESTARTS => {
                    losses += 1;
                    self.phone.await_reconnection(&error, deadline).await?;
                    self.phone.report_reconnection(&error);
                }
                brought => {
                    *server = brought?;
                    return Ok(());
                }
            }
        }
    }

    async fn bring_up(&self, deadline: Instant) -> Result<Server, AgentError> {
        let server = self.launch(deadline).await?;
        self.configure(deadline).await?;
        Ok(server)
    }

    async fn launch(&self, deadline: Instant) -> Result<Server, AgentError> {
        // One that runs already is not ours: it ends with its own client, which may have gone a
        // moment ago. Or it was ours, on a connection that was cut.
        self.kill(deadline).await?;
        self.put_jar(deadline).await?;
        self.set_port(PORT);
        let mut has_cleared = false;
        let mut ports = OTHER_PORTS.into_iter();
        loop {
            match self.start_process(deadline).await? {
                Ok(process) => return Ok(Server::Up(process)),
                Err(NoStart::Taken(_)) if !has_cleared => {
                    // Android may take a while to notice that its last user is gone.
                    has_cleared = true;
                    self.kill(deadline).await?;
                }
                Err(NoStart::Taken(said)) => {
                    return Err(AgentError::NoStart {
                        reason: said,
                        hint: Some(
                            "another client uses the device's UI automation: stop Appium, \
                             uiautomator2 or an accessibility tool on it",
                        ),
                    });
                }
                Err(NoStart::PortTaken) => match ports.next() {
                    Some(port) => self.set_port(port),
                    None => {
                        return Err(AgentError::NoStart {
                            reason: "its ports on the device are taken".to_owned(),
                            hint: Some("reboot the device"),
                        });
                    }
                },
                Err(NoStart::Other(reason)) => {
                    return Err(AgentError::NoStart { reason, hint: None });
                }
            }
        }
    }

    fn set_port(&self, port: u16) {
        self.port.store(port, std::sync::atomic::Ordering::Relaxed);
    }

    /// Whether a server that has not answered a call answers at all.
    ///
    /// # Errors
    /// [`WireError::Timeout`] when `deadline` left no time to find out.
    async fn lives(&self, deadline: Instant) -> Result<bool, AgentError> {
        let limit = Instant::now() + PING_TIMEOUT;
        match self.ping(limit.min(deadline)).await {
            Err(WireError::Timeout { .. }) if limit < deadline => Ok(false),
            Err(error @ WireError::Timeout { .. }) => Err(error.into()),
            answer => self.answers(answer, deadline).await,
        }
    }

    /// What an answer to a ping means; what else listens there does not say pong.
    async fn answers(
        &self,
        answer: Result<(u16, bytes::Bytes), WireError>,
        deadline: Instant,
    ) -> Result<bool, AgentError> {
        match answer {
            Ok((status, body)) => Ok(status == 200 && &*body == b"pong"),
            Err(error) if error.is_loss() => {
                // No one is there any more, or the whole device is gone.
                if self.phone.await_reconnection(&error, deadline).await? == Reconnection::Done {
                    self.phone.report_reconnection(&error);
                }
                Ok(false)
            }
            Err(_) => Ok(false),
        }
    }

    async fn ping(&self, deadline: Instant) -> Result<(u16, bytes::Bytes), WireError> {
        self.exchange("/ping", None, "the agent's `ping`", deadline)
            .await
    }

    /// Puts the jar on the device unless it is there.
    async fn put_jar(&self, deadline: Instant) -> Result<(), AgentError> {
        let content = self.jar.content().await;
        let content = content.map_err(|error| AgentError::NoStart {
            reason: format!("{}: {error}", self.jar.path().display()),
            hint: Some("`packtrain doctor --fix` installs u2.jar"),
        })?;
        let command = format!("md5sum {ON_DEVICE}");
        let there = self.phone.shell(&command, Repeat::Freely, deadline).await?;
        if there.exit == 0 && there.out().starts_with(&content.md5) {
            return Ok(());
        }
        let open = || std::future::ready(Ok(&*content.bytes));
        let pushed = self.phone.push(ON_DEVICE, 0o644, open, deadline).await;
        pushed.map_err(|error| match error {
            WireError::File { .. } => AgentError::NoStart {
                reason: error.to_string(),
                hint: Some("free some of the device's storage"),
            },
            error => error.into(),
        })
    }

    /// Starts the server and waits until it answers.
    async fn start_process(
        &self,
        deadline: Instant,
    ) -> Result<Result<Process, NoStart>, AgentError> {
        let port = self.port.load(std::sync::atomic::Ordering::Relaxed);
        // With a terminal: its end hangs up on the process.
        let service =
            format!("shell:CLASSPATH={ON_DEVICE} app_process / com.wetest.uia2.Main -p {port}");
        let limit = deadline.min(Instant::now() + START_TIMEOUT);
        let stream = self
            .phone
            .open(&service, "the start of the agent", deadline)
            .await?;
        let process = Process::of(stream);
        loop {
            tokio::select! {
                () = process.ended() => return Ok(Err(reason(&process.said()))),
                answer = self.ping(limit) => {
                    if self.answers(answer, deadline).await? {
                        return Ok(Ok(process));
                    }
                }
            }
            if Instant::now() >= limit {
                let said = process.said();
                return Ok(Err(NoStart::Other(format!(
                    "it did not answer within {:.0} s; it said: {}",
                    START_TIMEOUT.as_secs_f64(),
                    last_line(&said)
                ))));
            }
            tokio::time::sleep(START_POLL).await;
        }
    }

    /// Ends whatever server runs on the device, and waits until it is gone.
    async fn kill(&self, deadline: Instant) -> Result<(), AgentError> {
        let limit = deadline.min(Instant::now() + KILL_TIMEOUT);
        loop {
            // The brackets keep the command from finding itself.
            let command = "pkill -9 -f '[c]om.wetest.uia2.Main'";
            let output = self.phone.shell(command, Repeat::Freely, deadline).await?;
            if output.exit != 0 {
                return Ok(());
            }
            tracing::debug!("stopped an agent on the device");
            if Instant::now() + KILL_POLL >= limit {
                return Err(AgentError::NoStart {
                    reason: "an agent that is already running does not stop".to_owned(),
                    hint: Some("reboot the device"),
                });
            }
            tokio::time::sleep(KILL_POLL).await;
        }
    }

    /// Tells the server not to wait: this driver does, and it knows for what.
    async fn configure(&self, deadline: Instant) -> Result<(), AgentError> {
        let settings = json!([{
            "actionAcknowledgmentTimeout": 500,
            "keyInjectionDelay": 0,
            "scrollAcknowledgmentTimeout": 200,
            "waitForIdleTimeout": 0,
            "waitForSelectorTimeout": 0,
        }]);
        let body = rpc::call("setConfigurator", &settings);
        match self.post("setConfigurator", &body, deadline).await? {
            Outcome::Result(_) => Ok(()),
            // Its defaults are the same; only a server that another client set up differs.
            Outcome::Threw(text) | Outcome::Disconnected(text) => {
                tracing::debug!(text, "the agent does not take settings");
                Ok(())
            }
        }
    }
}

fn reason(said: &str) -> NoStart {
    if said.contains("already registered") {
        NoStart::Taken("another client uses the device's UI automation".to_owned())
    } else if said.contains("EADDRINUSE") || said.contains("BindException") {
        NoStart::PortTaken
    } else {
        NoStart::Other(format!("it exited at once: {}", last_line(said)))
    }
}

fn last_line(said: &str) -> String {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.find(|line| line.contains("Exception") || line.contains("Error"));
    let line = line.or_else(|| {
        said.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
    });
    line.unwrap_or("nothing").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_at_its_end_tells_what_to_do() {
        let taken = "[server] INFO: Starting Server\njava.lang.IllegalStateException: UiAutomationService android.x@5already registered!\n";
        assert!(matches!(reason(taken), NoStart::Taken(_)));
        let busy = "java.net.BindException: bind failed: EADDRINUSE (Address already in use)";
        assert!(matches!(reason(busy), NoStart::PortTaken));
        let NoStart::Other(text) = reason("Error: could not find class 'a.B'\nAborted \n") else {
            panic!("another reason");
        };
        assert!(text.ends_with("could not find class 'a.B'"), "{text}");
    }
}
