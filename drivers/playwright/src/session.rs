//! A browser context for the length of a session: its tabs, dialogs, downloads and network.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use packtrain_drivers::{AppliedAxis, Axes, DeviceEvent, DriverError, EventSink, SessionOptions};
use playwright_rs::protocol::{
    BrowserContext, CDPSession, Dialog, Page, Request, ResponseObject, TracingStartOptions,
    TracingStopOptions,
};
use playwright_rs::server::channel_owner::ChannelOwner;
use playwright_rs::server::connection::ConnectionExt;
use playwright_rs::{DeviceDescriptor, Error};
use serde_json::json;
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;

use crate::browser::{BrowserHandle, BrowserOwner};
use crate::configuration::{Configuration, Engine};
use crate::context::context_options;
use crate::downloads::Downloads;
use crate::driver::CLOSE_TIMEOUT;
use crate::lane::Lane;
use crate::network::RequestLog;
use crate::readback::{self, Started};
use crate::reading::{self, Numbers};
use crate::slot::DialogAnswer;
use crate::wire;

/// How long downloads may take to be reported as failed once their context is closed.
const DOWNLOAD_FAILED_TIMEOUT: Duration = Duration::from_secs(1);

/// How long what the last action asked for may take to turn out to be a download.
const LAST_REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a trace may take to be packed and written.
const TRACE_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a fast lane may take to be there; without it Playwright does what is to be done.
const LANE_TIMEOUT: Duration = Duration::from_millis(500);

/// How long a session's own browser may take to end.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// A slow network: 400 ms before an answer, 400 kbit/s either way.
const SLOW_LATENCY_MS: u32 = 400;
const SLOW_BYTES_PER_SECOND: u32 = 50_000;

/// Makes text larger or smaller, in every document of a context.
const TEXT_SCALE: &str = include_str!("page/text_scale.js");

/// Tells whether timers of a page are due, in every document of a context.
const TIMERS: &str = include_str!("page/timers.js");

/// An open context.
pub(crate) struct Session {
    pub(crate) browser: BrowserHandle,
    whose: BrowserOwner,
    engine: Engine,
    pub(crate) context: BrowserContext,
    pub(crate) tabs: Arc<Tabs>,
    pub(crate) options: SessionOptions,
    /// The numbers that snapshots gave to elements.
    pub(crate) numbers: Numbers,
    /// Something was done since the last look whose end the page does not know.
    pub(crate) surprised: AtomicBool,
    /// Anything was done since the last look, or that look could foresee nothing.
    pub(crate) acted: AtomicBool,
}

/// What the context's event handlers share with the driver.
pub(crate) struct Tabs {
    /// Whether the tab that the session begins with is open.
    has_first: AtomicBool,
    state: watch::Sender<TabsState>,
    /// Whether tabs have a fast lane.
    has_lane: bool,
    /// Cancelled once the process of a tab ended.
    crashed: CancellationToken,
    pub(crate) requests: RequestLog,
    pub(crate) documents: watch::Sender<Documents>,
    pub(crate) downloads: Downloads,
    events: EventSink,
    /// Whether the network of tabs is slowed down.
    is_slow: bool,
}

/// What is open, and how it answers.
pub(crate) struct TabsState {
    /// The current one last.
    open: Vec<Tab>,
    dialogs: DialogPlan,
}

/// Documents that were asked for, as Playwright tells of them: of an answer perhaps before its question.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Documents {
    /// Neither there nor refused; frames' among them, and of tabs alone.
    of_all: isize,
    pub(crate) of_tabs: isize,
    /// Of tabs, in all: asked for, refused, and there.
    pub(crate) asked: u64,
    pub(crate) refused: u64,
    pub(crate) arrived: u64,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Asked,
    Done,
    Refused,
}

/// A tab, with its fast lane once that is open.
struct Tab {
    page: Page,
    lane: LaneCell,
    /// What keeps its network slow.
    slowed: Option<CDPSession>,
}

type LaneCell = Arc<OnceCell<Option<Arc<Lane>>>>;

/// How dialogs are answered from now on.
#[derive(Debug, Clone, Default)]
pub(crate) struct DialogPlan {
    pub(crate) accept: bool,
    pub(crate) text: Option<String>,
}

impl Session {
    pub(crate) async fn open(
        (browser, whose): (BrowserHandle, BrowserOwner),
        configuration: &Configuration,
        emulated: Option<&DeviceDescriptor>,
        options: SessionOptions,
        events: EventSink,
    ) -> Result<Self, Error> {
        let base_url = options.base_url.as_ref();
        let slot = &configuration.slot;
        let context = browser
            .running
            .browser
            .new_context_with_options(context_options(slot, emulated, base_url))
            .await?;
        let tabs = Arc::new(Tabs {
            has_first: AtomicBool::new(false),
            state: watch::Sender::new(TabsState {
                open: Vec::new(),
                dialogs: DialogPlan {
                    accept: slot.dialogs == DialogAnswer::Accept,
                    text: None,
                },
            }),
            crashed: CancellationToken::new(),
            requests: RequestLog::default(),
            documents: watch::Sender::default(),
            // A trace has Playwright's own actions and no others.
            has_lane: configuration.engine == Engine::Chromium && options.trace.is_none(),
            downloads: Downloads::new(options.downloads.clone(), events.clone()),
            events,
            is_slow: configuration.slows(),
        });
        if tabs.has_lane {
            context.add_init_script(&format!("({TIMERS})()")).await?;
        }
        if let Some(scale) = configuration.text_scale {
            let script = format!("({TEXT_SCALE})({scale})");
            context.add_init_script(&script).await?;
        }
        if options.trace.is_some() {
            let all = TracingStartOptions::default()
                .screenshots(true)
                .snapshots(true);
            context.tracing().await?.start(all).await?;
        }
        // All at once: the subscriptions are sent before the page is asked for, so that nothing of
        // the page is missed.
        let ((), (), (), first) = tokio::try_join!(
            reading::install(&context),
            listen(&context, &tabs),
            listen_to_network(&context, &tabs),
            context.new_page()
        )?;
        tabs.opened(first, false).await?;
        tabs.has_first.store(true, Ordering::Release);
        Ok(Self {
            browser,
            whose,
            engine: configuration.engine,
            context,
            tabs,
            options,
            numbers: Numbers::default(),
            surprised: AtomicBool::new(false),
            acted: AtomicBool::new(true),
        })
    }

    /// The tab that commands go to.
    pub(crate) fn page(&self) -> Result<Page, DriverError> {
        self.tabs
            .current()
            .ok_or_else(|| DriverError::unmet("every tab of this session was closed"))
    }

    pub(crate) const fn engine(&self) -> Engine {
        self.engine
    }

    /// Every axis that can be read, as the page finds it before it has shown anything.
    pub(crate) async fn read_axes(
        &self,
        axes: &Axes,
        configuration: &Configuration,
        started: &Started,
    ) -> Result<Vec<AppliedAxis>, Error> {
        let page = self.tabs.current().ok_or(Error::ChannelClosed)?;
        let state = configuration.slot.storage_state.as_deref();
        readback::read(&self.context, &page, axes, state, started).await
    }

    /// Cancelled once the process of one of its tabs ended.
    pub(crate) fn crashed(&self) -> CancellationToken {
        self.tabs.crashed.clone()
    }

    /// Asks the browser itself, not one of its pages, for something small.
    ///
    /// # Errors
    /// When the browser or its context is gone.
    pub(crate) async fn ask_browser(&self) -> Result<(), Error> {
        let nobody = json!({ "urls": ["http://localhost:1/"] });
        self.context
            .channel()
            .send_no_result("cookies", nobody)
            .await
    }

    /// Closes the context, once what is being downloaded has had `grace` to get done. Whether it
    /// has or not is reported.
    pub(crate) async fn close(&self, grace: Duration) {
        if self.options.downloads.is_some() {
            let _ = tokio::time::timeout(LAST_REQUEST_TIMEOUT, self.await_navigations()).await;
        }
        self.tabs.downloads.reported(grace).await;
        if let Some(path) = &self.options.trace {
            let kept = tokio::time::timeout(TRACE_TIMEOUT, self.keep_trace(path)).await;
            let lost = match kept {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(_) => Some(format!("it took longer than {} s", TRACE_TIMEOUT.as_secs())),
            };
            if let Some(why) = lost {
                self.tabs.events.report(DeviceEvent::Logged {
                    level: "warning".to_owned(),
                    text: format!("the trace was not kept: {why}"),
                    source: None,
                });
            }
        }
        match tokio::time::timeout(CLOSE_TIMEOUT, self.context.close()).await {
            Ok(Err(error)) if !wire::is_closed(&error) => {
                tracing::debug!(%error, "closing a browser context");
            }
            Ok(_) => {}
            Err(_) => tracing::warn!("a browser context did not close in time"),
        }
        self.tabs.downloads.reported(DOWNLOAD_FAILED_TIMEOUT).await;
        if self.whose == BrowserOwner::Sessions {
            let release = self.browser.clone().release();
            let _ = tokio::time::timeout(RELEASE_TIMEOUT, release).await;
        }
    }

    /// Closes its pages, and with them what goes on in them.
    pub(crate) async fn close_pages(&self) {
        while let Some(page) = self.tabs.current() {
            if let Err(error) = page.close().await {
                tracing::debug!(%error, "closing a page");
                return;
            }
        }
    }

    async fn keep_trace(&self, path: &std::path::Path) -> Result<(), Error> {
        let to = TracingStopOptions::default().path(path.display().to_string());
        self.context.tracing().await?.stop(to).await
    }

    pub(crate) const fn is_traced(&self) -> bool {
        self.options.trace.is_some()
    }

    /// How much longer closing may take than of a session that keeps nothing.
    pub(crate) const fn close_grace(&self) -> Duration {
        match self.options.trace {
            Some(_) => TRACE_TIMEOUT,
            None => Duration::ZERO,
        }
    }

    /// Waits for what a page is about to show, or to keep: a link that was just clicked is known to
    /// lead to a download only when the site has answered.
    async fn await_navigations(&self) {
        if let Some(page) = self.tabs.current() {
            // The click has been carried out when the page answers.
            let _ = page.evaluate::<(), bool>("true", None).await;
        }
        let mut documents = self.tabs.documents.subscribe();
        let _ = documents.wait_for(|now| now.of_all <= 0).await;
    }
}

impl Tabs {
    pub(crate) fn current(&self) -> Option<Page> {
        let state = self.state.borrow();
        let mut tabs = state.open.iter().rev();
        let current = tabs.find(|tab| !tab.page.is_closed());
        current.map(|tab| tab.page.clone())
    }

    /// The fast lane of a tab; `None` where Playwright does everything, and where the page hangs.
    pub(crate) async fn lane(&self, page: &Page) -> Option<Arc<Lane>> {
        let opened = self.open_lane(page);
        tokio::time::timeout(LANE_TIMEOUT, opened).await.ok()?
    }

    async fn open_lane(&self, page: &Page) -> Option<Arc<Lane>> {
        if !self.has_lane {
            return None;
        }
        let lane = {
            let state = self.state.borrow();
            let mut tabs = state.open.iter();
            Arc::clone(&tabs.find(|tab| tab.page.guid() == page.guid())?.lane)
        };
        let open = || async {
            let opened = Lane::open(page).await;
            let opened =
                opened.inspect_err(|error| tracing::debug!(%error, "no fast lane for a tab"));
            opened.ok().map(Arc::new)
        };
        lane.get_or_init(open).await.clone()
    }

    /// Changes whenever another tab becomes the current one.
    pub(crate) fn watch(&self) -> watch::Receiver<TabsState> {
        self.state.subscribe()
    }

    pub(crate) fn answer_dialogs(&self, plan: DialogPlan) {
        self.change(|state| state.dialogs = plan);
    }

    /// Changes what no client waits for.
    fn change(&self, how: impl FnOnce(&mut TabsState)) {
        self.state.send_if_modified(|state| {
            how(state);
            false
        });
    }

    async fn opened(self: &Arc<Self>, page: Page, announce: bool) -> Result<(), Error> {
        let mut is_known = false;
        self.change(|state| {
            let mut known = state.open.iter();
            is_known = known.any(|known| known.page.guid() == page.guid());
            if !is_known {
                state.open.push(Tab {
                    page: page.clone(),
                    lane: LaneCell::default(),
                    slowed: None,
                });
            }
        });
        if is_known {
            return Ok(());
        }
        // Ready by the time that it is needed.
        let (tabs, ready) = (Arc::clone(self), page.clone());
        tokio::spawn(async move { tabs.open_lane(&ready).await });
        let tabs = Arc::clone(self);
        let closed = page.clone();
        let closes = page.on_close(move || {
            tabs.closed(&closed);
            async { Ok(()) }
        });
        let (tabs, crashed) = (Arc::clone(self), page.clone());
        let crashes = page.on_crash(move || {
            tabs.events.report(DeviceEvent::Crashed {
                what: format!("the page {} crashed", crashed.url()),
            });
            tabs.crashed.cancel();
            async { Ok(()) }
        });
        let tabs = Arc::clone(self);
        let arrives = page.on_framenavigated(move |frame| {
            if frame.parent_frame().is_none() {
                tabs.documents.send_modify(|now| now.arrived += 1);
            }
            async { Ok(()) }
        });
        tokio::try_join!(closes, crashes, arrives)?;
        self.slow_down(&page).await?;
        if announce {
            self.events
                .report(DeviceEvent::PageOpened { url: page.url() });
        }
        self.state.send_modify(|_| {});
        Ok(())
    }

    /// Slows the network of a tab down, where that was asked for.
    async fn slow_down(&self, page: &Page) -> Result<(), Error> {
        if !self.is_slow {
            return Ok(());
        }
        let cdp = page.context()?.new_cdp_session(page).await?;
        cdp.send("Network.enable", None).await?;
        let slow = json!({
            "offline": false,
            "latency": SLOW_LATENCY_MS,
            "downloadThroughput": SLOW_BYTES_PER_SECOND,
            "uploadThroughput": SLOW_BYTES_PER_SECOND,
        });
        cdp.send("Network.emulateNetworkConditions", Some(slow))
            .await?;
        // It lasts as long as its session.
        self.change(|state| {
            let mut tabs = state.open.iter_mut();
            if let Some(tab) = tabs.find(|tab| tab.page.guid() == page.guid()) {
                tab.slowed = Some(cdp);
            }
        });
        Ok(())
    }

    fn closed(&self, page: &Page) {
        let mut gone = Vec::new();
        self.change(|state| {
            gone.extend(
                state
                    .open
                    .extract_if(.., |it| it.page.guid() == page.guid()),
            );
        });
        if !gone.is_empty() {
            self.events
                .report(DeviceEvent::PageClosed { url: page.url() });
            self.state.send_modify(|_| {});
        }
    }

    async fn dialog(&self, dialog: Dialog) {
        let plan = self.state.borrow().dialogs.clone();
        // A page that asks whether it may be left is always left: the trail decided to.
        let accept = plan.accept || dialog.type_() == "beforeunload";
        let answered = if accept {
            dialog.accept(plan.text.as_deref()).await
        } else {
            dialog.dismiss().await
        };
        self.events.report(DeviceEvent::DialogOpened {
            dialog: dialog.type_().to_owned(),
            message: dialog.message().to_owned(),
            answer: match (answered, accept) {
                (Ok(()), true) => "accepted".to_owned(),
                (Ok(()), false) => "dismissed".to_owned(),
                (Err(_), _) => "left open".to_owned(),
            },
        });
    }

    fn response(&self, response: &ResponseObject, method: String) {
        if response.status() >= 400 {
            self.events.report(DeviceEvent::RequestFailed {
                method,
                url: response.url().to_owned(),
                status: Some(response.status()),
                error: None,
            });
        }
    }

    /// A document is asked for, is there, or was refused.
    fn navigates(&self, request: &Request, step: Step) {
        if !request.is_navigation_request() {
            return;
        }
        let frame = request.frame();
        let is_of_a_tab = frame.is_none_or(|frame| frame.parent_frame().is_none());
        let change = if step == Step::Asked { 1 } else { -1 };
        self.documents.send_modify(|now| {
            now.of_all += change;
            if is_of_a_tab {
                now.of_tabs += change;
                now.asked += u64::from(step == Step::Asked);
                now.refused += u64::from(step == Step::Refused);
            }
        });
    }

    fn request_failed(&self, request: &Request) {
        self.navigates(request, Step::Refused);
        let error = request.failure().unwrap_or_default();
        // Leaving a page aborts what it was still loading; that is not a failure.
        if error != "net::ERR_ABORTED" {
            self.events.report(DeviceEvent::RequestFailed {
                method: request.method().to_owned(),
                url: request.url().to_owned(),
                status: None,
                error: Some(error),
            });
        }
    }
}

async fn listen(context: &BrowserContext, tabs: &Arc<Tabs>) -> Result<(), Error> {
    let shared = Arc::clone(tabs);
    let pages = context.on_page(move |page| {
        let tabs = Arc::clone(&shared);
        async move {
            // The first tab is opened by us and not news.
            if tabs.has_first.load(Ordering::Acquire) {
                tabs.opened(page, true).await?;
            }
            Ok(())
        }
    });
    let shared = Arc::clone(tabs);
    let dialogs = context.on_dialog(move |dialog| {
        let tabs = Arc::clone(&shared);
        async move {
            tabs.dialog(dialog).await;
            Ok(())
        }
    });
    let shared = Arc::clone(tabs);
    let downloads = context.on_download(move |download| {
        let tabs = Arc::clone(&shared);
        async move {
            tabs.downloads.keep(download).await;
            Ok(())
        }
    });
    let shared = Arc::clone(tabs);
    let console = context.on_console(move |message| {
        let location = message.location();
        shared.events.report(DeviceEvent::Logged {
            level: message.type_().to_owned(),
            text: message.text().to_owned(),
            source: (!location.url.is_empty())
                .then(|| format!("{}:{}", location.url, location.line_number + 1)),
        });
        async { Ok(()) }
    });
    let shared = Arc::clone(tabs);
    let errors = context.on_weberror(move |error| {
        shared.events.report(DeviceEvent::PageFailed {
            error: error.error().to_owned(),
        });
        async { Ok(()) }
    });
    tokio::try_join!(pages, dialogs, downloads, console, errors)?;
    Ok(())
}

async fn listen_to_network(context: &BrowserContext, tabs: &Arc<Tabs>) -> Result<(), Error> {
    let shared = Arc::clone(tabs);
    let requests = context.on_request(move |request| {
        let body = request.post_data_buffer();
        shared.requests.note(request.url(), body.as_deref());
        shared.navigates(&request, Step::Asked);
        async { Ok(()) }
    });
    let shared = Arc::clone(tabs);
    let finished = context.on_request_finished(move |request| {
        shared.navigates(&request, Step::Done);
        async { Ok(()) }
    });
    let shared = Arc::clone(tabs);
    let failures = context.on_request_failed(move |request| {
        shared.request_failed(&request);
        async { Ok(()) }
    });
    let shared = Arc::clone(tabs);
    let responses = context.on_response(move |response| {
        let tabs = Arc::clone(&shared);
        async move {
            if response.status() >= 400 {
                let guid = response.initializer()["request"]["guid"]
                    .as_str()
                    .unwrap_or("");
                let request = response.connection().get_typed::<Request>(guid).await;
                let method = request.map_or_else(|_| String::new(), |r| r.method().to_owned());
                tabs.response(&response, method);
            }
            Ok(())
        }
    });
    tokio::try_join!(requests, finished, failures, responses)?;
    Ok(())
}
