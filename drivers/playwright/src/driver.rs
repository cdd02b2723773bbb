//! A connected web device: commands in, observations out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use packtrain_drivers::{
    AppCommand, BoxFuture, Command, CommandContext, DeviceInfo, Driver, DriverError, EventSink,
    Fault, NavigateTo, Observation, SessionOptions, WebCommand,
};
use tokio::time::Instant;

use crate::browser::{BrowserHandle, BrowserLaunch, BrowserOwner};
use crate::configuration::Configuration;
use crate::connector::Shared;
use crate::host::HostError;
use crate::read::Animations;
use crate::readback::Started;
use crate::session::{DialogPlan, Session};
use crate::slot::WebSlot;
use crate::{act, expect, expect_value, look, navigate, observe, read, upload, wire};

/// How much longer than the deadline Playwright may take to notice its own timeout.
const TIMEOUT_GRACE: Duration = Duration::from_secs(2);
/// How long before a command's deadline its parts give up, at most.
const DEADLINE_GRACE: Duration = Duration::from_millis(250);
/// How long a browser may take to say that it is there.
const ALIVE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long pages, a context or a browser may take to close.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long downloads may take to get done when their session ends.
const DOWNLOAD_GRACE: Duration = Duration::from_secs(5);

/// One browser context at a time, a new one for each session.
pub(crate) struct WebDriver {
    info: DeviceInfo,
    slot: Arc<WebSlot>,
    shared: Arc<Shared>,
    /// What its browser was started with.
    launch: BrowserLaunch,
    browser: BrowserHandle,
    events: EventSink,
    session: Option<Session>,
    /// What was given up of a session before its end.
    left: Option<Session>,
    /// The command that was given up and took the session with it.
    given_up: Option<&'static str>,
}

impl WebDriver {
    pub(crate) fn new(
        info: DeviceInfo,
        slot: Arc<WebSlot>,
        shared: Arc<Shared>,
        (launch, browser): (BrowserLaunch, BrowserHandle),
        events: EventSink,
    ) -> Self {
        Self {
            info,
            slot,
            shared,
            launch,
            browser,
            events,
            session: None,
            left: None,
            given_up: None,
        }
    }

    async fn run(
        &mut self,
        command: Command,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        let dead = self.shared.host.dead().clone();
        let gone = self.current_browser().running.gone.clone();
        let crashed = self.session.as_ref().map(Session::crashed);
        let name = command.name();
        let only_reads = only_reads(&command);
        let observes = matches!(command, Command::Observe(_));
        let late = CommandContext {
            deadline: ctx.deadline + TIMEOUT_GRACE,
            cancel: ctx.cancel.clone(),
        };
        let answer = tokio::select! {
            biased;
            () = dead.cancelled() => Err(host_died()),
            () = gone.cancelled() => Err(browser_died()),
            () = async { match crashed {
                Some(crashed) => crashed.cancelled_owned().await,
                None => std::future::pending().await,
            } } => Err(wire::page_died(name)),
            answer = late.bound(name, self.dispatch(command, ctx)) => answer,
        };
        if let Some(session) = &self.session
            && !only_reads
        {
            session.acted.store(true, Ordering::Relaxed);
        }
        match answer {
            // An abandoned look changes nothing.
            Err(DriverError::Cancelled) if only_reads => Err(DriverError::Cancelled),
            // Nor does evidence that came too late cost the session.
            Err(error @ DriverError::Timeout { .. }) if observes => Err(error),
            // A call that was given up goes on in the page; only closing it stops it.
            Err(error @ (DriverError::Cancelled | DriverError::Timeout { .. })) => {
                self.given_up = self.session.is_some().then_some(name).or(self.given_up);
                self.give_up().await;
                Err(error)
            }
            Err(error) if error.fault() == Fault::App => Err(self.blame(error).await),
            answer => answer,
        }
    }

    async fn dispatch(
        &mut self,
        command: Command,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        if let Some(session) = &self.session
            && !can_be_foreseen(&command)
        {
            session.surprised.store(true, Ordering::Relaxed);
        }
        match command {
            Command::Begin(options) => self.begin(options).await,
            Command::End => {
                self.end(DOWNLOAD_GRACE).await;
                act::done()
            }
            Command::Snapshot(detail) => read::snapshot(self.session()?, detail).await,
            Command::Observe(options) => observe::observe(self.session()?, &options, ctx).await,
            Command::Screenshot => {
                read::screenshot(self.session()?, Animations::Running, ctx).await
            }
            Command::AwaitChange { since, limit } => {
                read::await_change(self.session()?, since, ctx.remaining_up_to(limit)).await
            }
            Command::Input(command) => act::input(self.session()?, &command, ctx).await,
            Command::App(AppCommand::OpenUrl(url)) => {
                navigate::navigate(self.session()?, &NavigateTo::Url(url), ctx).await
            }
            Command::App(command) => Err(act::unsupported(command.name())),
            Command::Android(command) => Err(act::unsupported(command.name())),
            Command::Web(command) => self.web(command, &ctx.early(DEADLINE_GRACE)).await,
        }
    }

    async fn web(
        &self,
        command: WebCommand,
        ctx: &CommandContext,
    ) -> Result<Observation, DriverError> {
        let session = self.session()?;
        match command {
            WebCommand::Navigate(to) => navigate::navigate(session, &to, ctx).await,
            WebCommand::Click { target } => act::click(session, &target, ctx).await,
            WebCommand::Type {
                target,
                text,
                clear_first,
            } => act::type_text(session, &target, &text, clear_first, ctx).await,
            WebCommand::Hover { target } => act::hover(session, &target, ctx).await,
            WebCommand::Select { target, values } => {
                act::select(session, &target, &values, ctx).await
            }
            WebCommand::PressKey(key) => act::press(session, &key).await,
            WebCommand::Scroll {
                target,
                direction,
                amount,
            } => act::scroll(session, &target, direction, amount, ctx).await,
            WebCommand::Look { element, limit } => {
                look::look(session, &element, ctx.remaining_up_to(limit)).await
            }
            WebCommand::ExpectText {
                text,
                matching,
                limit,
            } => expect::text(session, &text, matching, limit, ctx).await,
            WebCommand::ExpectVisible { target, limit } => {
                expect::visible(session, &target, limit, ctx).await
            }
            WebCommand::ExpectValue {
                target,
                kind,
                expected,
                matching,
            } => expect_value::value(session, &target, &kind, &expected, matching, ctx).await,
            WebCommand::ExpectList {
                target,
                items,
                matching,
            } => expect::list(session, &target, &items, matching, ctx).await,
            WebCommand::AwaitUrl { pattern, limit } => {
                expect::url(session, &pattern, limit, ctx).await
            }
            WebCommand::ExpectRequest { name, limit } => {
                expect::request(session, &name, limit, ctx).await
            }
            WebCommand::Upload { target, files } => {
                upload::upload(session, &target, &files, ctx).await
            }
            WebCommand::ExpectDownload { wanted, limit } => {
                let limit = ctx.remaining_up_to(limit);
                session.tabs.downloads.expect(&wanted, limit).await
            }
            WebCommand::CurrentUrl => Ok(Observation::Text(session.page()?.url())),
            WebCommand::Evaluate(script) => read::evaluate(session, &script).await,
            WebCommand::AddCookies(cookies) => act::add_cookies(session, &cookies).await,
            WebCommand::StorageState => read::storage_state(session).await,
            WebCommand::Resize(size) => act::resize(session, size).await,
            WebCommand::AnswerDialogs { accept, text } => {
                session.tabs.answer_dialogs(DialogPlan { accept, text });
                act::done()
            }
        }
    }

    async fn begin(&mut self, mut options: SessionOptions) -> Result<Observation, DriverError> {
        self.end(Duration::ZERO).await;
        self.given_up = None;
        // What is said of the device is closer than what is said of the app.
        if self.slot.base_url.is_some() && !options.base_url_first {
            options.base_url.clone_from(&self.slot.base_url);
        }
        let configuration = Configuration::new(&self.slot, &options)?;
        let asked = Instant::now();
        let (browser, whose) = self.browser_for(&configuration).await?;
        let started = Started {
            engine: configuration.engine,
            version: browser.running.browser.version().to_owned(),
            took: asked.elapsed(),
        };
        let axes = options.axes.clone();
        let emulated = self
            .slot
            .emulate
            .as_ref()
            .and_then(|name| self.shared.host.playwright().devices().get(name));
        let opened = async {
            let events = self.events.clone();
            let browser = (browser, whose);
            let session = Session::open(browser, &configuration, emulated, options, events).await?;
            let applied = if axes.is_empty() {
                None
            } else {
                match session.read_axes(&axes, &configuration, &started).await {
                    Ok(applied) => Some(applied),
                    Err(error) => {
                        session.close(Duration::ZERO).await;
                        return Err(error);
                    }
                }
            };
            Ok((session, applied))
        };
        match opened.await {
            Ok((session, applied)) => {
                self.session = Some(session);
                applied.map_or_else(act::done, |applied| Ok(Observation::Begun(applied)))
            }
            Err(error) if wire::is_closed(&error) => Err(browser_died()),
            Err(error) => Err(DriverError::Lost {
                cause: format!("open a browser context: {error}"),
                hint: Some(
                    "check this slot's options: locale, timezone, permissions, storage state"
                        .to_owned(),
                ),
            }),
        }
    }

    /// The browser that a session takes: this device's own, or another from the pool.
    async fn browser_for(
        &self,
        configuration: &Configuration,
    ) -> Result<(BrowserHandle, BrowserOwner), DriverError> {
        let got = async {
            let launch = self.shared.launch(configuration)?;
            if launch == self.launch {
                return Ok((self.browser.clone(), BrowserOwner::Devices));
            }
            let another = self.shared.browser(configuration.slot.isolation, &launch);
            Ok((another.await?, BrowserOwner::Sessions))
        };
        got.await.map_err(|error: HostError| DriverError::Lost {
            cause: error.to_string(),
            hint: Some(error.hint().to_owned()),
        })
    }

    fn current_browser(&self) -> &BrowserHandle {
        self.session
            .as_ref()
            .map_or(&self.browser, |session| &session.browser)
    }

    /// Stops what goes on in the session's pages. A trace takes its time, which the session's end has
    /// and an answer has not.
    async fn give_up(&mut self) {
        let Some(session) = self.session.take_if(|session| session.is_traced()) else {
            return self.end(Duration::ZERO).await;
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, session.close_pages()).await;
        self.left = Some(session);
    }

    /// Dropped in the middle, it begins again.
    async fn end(&mut self, grace: Duration) {
        for session in self.session.iter().chain(&self.left) {
            session.close(grace).await;
        }
        self.session = None;
        self.left = None;
    }

    fn session(&self) -> Result<&Session, DriverError> {
        self.session.as_ref().ok_or_else(|| match self.given_up {
            Some(name) => DriverError::lost(format!(
                "its page was closed, because `{name}` was cancelled before it finished"
            )),
            None => DriverError::Invalid("no session was begun on this device".to_owned()),
        })
    }

    /// Whose failure it is that a command failed on a page. A page that is gone looks the same
    /// whether it closed itself or lost its browser, and which of the two is reported first is
    /// chance. So the browser is asked: no page can end that.
    async fn blame(&self, error: DriverError) -> DriverError {
        let Some(session) = &self.session else {
            return error;
        };
        let answered = tokio::time::timeout(ALIVE_TIMEOUT, session.ask_browser()).await;
        match answered {
            Ok(Ok(())) => error,
            Ok(Err(_)) if self.shared.host.dead().is_cancelled() => host_died(),
            Ok(Err(_)) => browser_died(),
            Err(_) => DriverError::Timeout {
                doing: "asking the browser whether it is still there".to_owned(),
                after: ALIVE_TIMEOUT,
                log: vec![error.to_string()],
            },
        }
    }
}

/// Whether what a command leads to is known to the page when it is over. The browser scrolls by itself, and
/// tells the page later.
const fn can_be_foreseen(command: &Command) -> bool {
    only_reads(command)
        || matches!(
            command,
            Command::Web(
                WebCommand::Navigate(_)
                    | WebCommand::Click { .. }
                    | WebCommand::Type { .. }
                    | WebCommand::Hover { .. }
                    | WebCommand::Select { .. }
            )
        )
}

/// Whether a command leaves the page as it is.
const fn only_reads(command: &Command) -> bool {
    match command {
        Command::Snapshot(_)
        | Command::Observe(_)
        | Command::Screenshot
        | Command::AwaitChange { .. } => true,
        Command::Web(command) => matches!(
            command,
            WebCommand::Look { .. }
                | WebCommand::ExpectText { .. }
                | WebCommand::ExpectVisible { .. }
                | WebCommand::ExpectValue { .. }
                | WebCommand::ExpectList { .. }
                | WebCommand::ExpectRequest { .. }
                | WebCommand::ExpectDownload { .. }
                | WebCommand::AwaitUrl { .. }
                | WebCommand::CurrentUrl
                | WebCommand::StorageState
        ),
        Command::Begin(_)
        | Command::End
        | Command::Input(_)
        | Command::App(_)
        | Command::Android(_) => false,
    }
}

impl Driver for WebDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation, DriverError>> {
        Box::pin(self.run(command, ctx))
    }

    fn end_grace(&self) -> Duration {
        let sessions = self.session.iter().chain(&self.left);
        sessions.map(Session::close_grace).sum()
    }

    fn close(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.end(Duration::ZERO).await;
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.browser.release()).await;
        })
    }
}

fn host_died() -> DriverError {
    DriverError::Lost {
        cause: "Playwright's driver process ended".to_owned(),
        hint: Some(
            "it was killed or crashed; `packtrain doctor` shows which Node it runs on".to_owned(),
        ),
    }
}

fn browser_died() -> DriverError {
    DriverError::Lost {
        cause: "the browser process ended".to_owned(),
        hint: Some("it was killed or crashed; too little memory is the usual cause".to_owned()),
    }
}
