//! A browser context for the length of a session: its tabs, dialogs, downloads and network.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use packtrain_drivers::{AppliedAxis, Axes, DeviceEvent, DriverError, EventSink, SessionOptions};
use playwright_rs::protocol::{
    BrowserContext, BrowserContextOptions, CDPSession, Dialog, Page, Request, ResponseObject,
    Viewport,
};
use playwright_rs::server::channel_owner::ChannelOwner;
use playwright_rs::server::connection::ConnectionExt;
use playwright_rs::{DeviceDescriptor, Error};
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::browser::BrowserHandle;
use crate::configuration::{Configuration, Engine};
use crate::downloads::Downloads;
use crate::network::RequestLog;
use crate::readback::{self, Started};
use crate::slot::{ColorScheme, DialogAnswer, ReducedMotion, WebSlot};
use crate::wire;

/// How long downloads may take to be reported as failed once their context is closed.
const DOWNLOAD_FAILED_TIMEOUT: Duration = Duration::from_secs(1);

/// How long what the last action asked for may take to turn out to be a download.
const LAST_REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// A slow network: 400 ms before an answer, 400 kbit/s either way.
const SLOW_LATENCY_MS: u32 = 400;
const SLOW_BYTES_PER_SECOND: u32 = 50_000;

/// Makes text larger or smaller, in every document of a context.
const TEXT_SCALE: &str = include_str!("page/text_scale.js");

/// An open context.
pub(crate) struct Session {
    pub(crate) browser: BrowserHandle,
    engine: Engine,
    pub(crate) context: BrowserContext,
    pub(crate) tabs: Arc<Tabs>,
    pub(crate) options: SessionOptions,
}

/// What the context's event handlers share with the driver.
pub(crate) struct Tabs {
    /// Open tabs, the current one last.
    open: Mutex<Vec<Page>>,
    /// Counts changes of the current tab.
    changes: watch::Sender<u64>,
    /// Cancelled once the process of a tab ended.
    crashed: CancellationToken,
    pub(crate) requests: RequestLog,
    /// Documents that were asked for and are neither there nor refused. An answer may be told of
    /// before its question.
    navigations: watch::Sender<isize>,
    dialogs: Mutex<DialogPlan>,
    downloads: Downloads,
    events: EventSink,
    /// What keeps the network of each tab slow; `None` when it is not slowed down.
    slowed: Option<Mutex<Vec<CDPSession>>>,
}

/// How dialogs are answered from now on.
#[derive(Debug, Clone, Default)]
pub(crate) struct DialogPlan {
    pub(crate) accept: bool,
    pub(crate) text: Option<String>,
}

impl Session {
    pub(crate) async fn open(
        browser: BrowserHandle,
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
            open: Mutex::new(Vec::new()),
            changes: watch::Sender::new(0),
            crashed: CancellationToken::new(),
            requests: RequestLog::new(),
            navigations: watch::Sender::new(0),
            dialogs: Mutex::new(DialogPlan {
                accept: slot.dialogs == DialogAnswer::Accept,
                text: None,
            }),
            downloads: Downloads::new(options.downloads.clone(), events.clone()),
            events,
            slowed: configuration.slows().then(Mutex::default),
        });
        if let Some(scale) = configuration.text_scale {
            let script = format!("({TEXT_SCALE})({scale})");
            context.add_init_script(&script).await?;
        }
        // All at once: the subscriptions are sent before the page is asked for, so that nothing of
        // the page is missed.
        let ((), (), first) = tokio::try_join!(
            listen(&context, &tabs),
            listen_to_network(&context, &tabs),
            context.new_page()
        )?;
        tabs.opened(first, false).await?;
        Ok(Self {
            browser,
            engine: configuration.engine,
            context,
            tabs,
            options,
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
    pub(crate) async fn close(self, grace: Duration) {
        if self.options.downloads.is_some() {
            let _ = tokio::time::timeout(LAST_REQUEST_TIMEOUT, self.await_navigations()).await;
        }
        self.tabs.downloads.reported(grace).await;
        if let Err(error) = self.context.close().await
            && !wire::is_closed(&error)
        {
            tracing::debug!(%error, "closing a browser context");
        }
        self.tabs.downloads.reported(DOWNLOAD_FAILED_TIMEOUT).await;
        match self.engine {
            // It stays for the device's other sessions.
            Engine::Chromium => {}
            Engine::Firefox => self.browser.release().await,
        }
    }

    /// Waits for what a page is about to show, or to keep: a link that was just clicked is known to
    /// lead to a download only when the site has answered.
    async fn await_navigations(&self) {
        if let Some(page) = self.tabs.current() {
            // The click has been carried out when the page answers.
            let _ = page.evaluate::<(), bool>("true", None).await;
        }
        let mut navigations = self.tabs.navigations.subscribe();
        let _ = navigations.wait_for(|count| *count <= 0).await;
    }
}

impl Tabs {
    pub(crate) fn current(&self) -> Option<Page> {
        self.lock()
            .iter()
            .rev()
            .find(|page| !page.is_closed())
            .cloned()
    }

    /// Changes whenever another tab becomes the current one.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn answer_dialogs(&self, plan: DialogPlan) {
        *self.dialogs.lock().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    async fn opened(self: &Arc<Self>, page: Page, announce: bool) -> Result<(), Error> {
        {
            let mut open = self.lock();
            if open.iter().any(|known| known.guid() == page.guid()) {
                return Ok(());
            }
            open.push(page.clone());
        }
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
        tokio::try_join!(closes, crashes)?;
        self.slow_down(&page).await?;
        if announce {
            self.events
                .report(DeviceEvent::PageOpened { url: page.url() });
        }
        self.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Slows the network of a tab down, where that was asked for.
    async fn slow_down(&self, page: &Page) -> Result<(), Error> {
        let Some(slowed) = &self.slowed else {
            return Ok(());
        };
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
        slowed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(cdp);
        Ok(())
    }

    fn closed(&self, page: &Page) {
        let was_known = {
            let mut open = self.lock();
            let before = open.len();
            open.retain(|known| known.guid() != page.guid());
            open.len() != before
        };
        if was_known {
            self.events
                .report(DeviceEvent::PageClosed { url: page.url() });
            self.changes.send_modify(|count| *count += 1);
        }
    }

    async fn dialog(&self, dialog: Dialog) {
        let plan = self
            .dialogs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
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

    /// A document is asked for, or no more.
    fn navigates(&self, request: &Request, change: isize) {
        if request.is_navigation_request() {
            self.navigations.send_modify(|count| *count += change);
        }
    }

    fn request_failed(&self, request: &Request) {
        self.navigates(request, -1);
        let error = request.failure().unwrap_or_default();
        // Leaving a page aborts what it was still loading; nobody calls that a failure.
        if error != "net::ERR_ABORTED" {
            self.events.report(DeviceEvent::RequestFailed {
                method: request.method().to_owned(),
                url: request.url().to_owned(),
                status: None,
                error: Some(error),
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Page>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn listen(context: &BrowserContext, tabs: &Arc<Tabs>) -> Result<(), Error> {
    let shared = Arc::clone(tabs);
    let pages = context.on_page(move |page| {
        let tabs = Arc::clone(&shared);
        async move {
            // The first tab is opened by us and not news.
            let announce = !tabs.lock().is_empty();
            tabs.opened(page, announce).await
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
        shared.navigates(&request, 1);
        async { Ok(()) }
    });
    let shared = Arc::clone(tabs);
    let finished = context.on_request_finished(move |request| {
        shared.navigates(&request, -1);
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

fn context_options(
    slot: &WebSlot,
    emulated: Option<&DeviceDescriptor>,
    base_url: Option<&String>,
) -> BrowserContextOptions {
    let viewport = |width, height| Viewport { width, height };
    let mut options = BrowserContextOptions::default();
    options.viewport = Some(viewport(1280, 720));
    if let Some(device) = emulated {
        options.viewport = Some(viewport(device.viewport.width, device.viewport.height));
        options.screen = device
            .screen
            .as_ref()
            .map(|screen| viewport(screen.width, screen.height));
        options.user_agent = Some(device.user_agent.clone());
        options.device_scale_factor = Some(device.device_scale_factor);
        options.is_mobile = Some(device.is_mobile);
        options.has_touch = Some(device.has_touch);
    }
    if let Some((width, height)) = slot.viewport {
        options.viewport = Some(viewport(width, height));
        options.screen = None;
    }
    if let Some(factor) = slot.device_scale_factor {
        options.device_scale_factor = Some(factor);
    }
    if let Some(touch) = slot.touch {
        options.has_touch = Some(touch);
    }
    if let Some(agent) = &slot.user_agent {
        options.user_agent = Some(agent.clone());
    }
    options.locale.clone_from(&slot.locale);
    options.timezone_id.clone_from(&slot.timezone);
    options.color_scheme = slot.color_scheme.map(|scheme| {
        match scheme {
            ColorScheme::Light => "light",
            ColorScheme::Dark => "dark",
        }
        .to_owned()
    });
    options.reduced_motion = slot.reduced_motion.map(|motion| {
        match motion {
            ReducedMotion::Reduce => "reduce",
            ReducedMotion::NoPreference => "no-preference",
        }
        .to_owned()
    });
    options.geolocation = slot
        .geolocation
        .map(|place| playwright_rs::protocol::Geolocation {
            latitude: place.latitude,
            longitude: place.longitude,
            accuracy: place.accuracy,
        });
    if !slot.permissions.is_empty() {
        options.permissions = Some(slot.permissions.clone());
    }
    if slot.offline {
        options.offline = Some(true);
    }
    if !slot.extra_headers.is_empty() {
        options.extra_http_headers = Some(slot.extra_headers.clone().into_iter().collect());
    }
    options.storage_state_path = slot
        .storage_state
        .as_ref()
        .map(|path| path.display().to_string());
    options.base_url = base_url.cloned();
    options
}
