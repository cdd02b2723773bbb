//! The actor of one source: starts its processes, starts them again when they die, ends them. Its
//! handlers change state and return; what takes time is a task that reports back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use actix::{Actor, AsyncContext, Context, Handler, Message, Recipient};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::handle::Source;
use super::instance::Instance;
use super::mcp::{ListedTool, Notice};
use super::metadata::{REGISTRY, RegistryResource};
use super::pool::{Life, Pool, Replica, ScopeKey, SlotId, back_off};
use super::settings::{RestartPolicy, StopPolicy};
use super::start::StartError;

/// How long changes of a source's tools are collected before it is asked for them.
const LIST_DELAY: Duration = Duration::from_millis(250);
/// How long a source may take to list its tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);
/// Lines of a source that did not start that each report has; its log has all.
const REPORTED_LINES: usize = 12;
/// Bytes of such a line.
const REPORTED_LINE: usize = 400;

/// What the supervisor is told.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) source: String,
    /// Its tools, or why there are none.
    pub(crate) tools: Result<Listing, StartFailure>,
    /// Who waits until they are registered.
    pub(crate) registered: Option<oneshot::Sender<()>>,
}

impl Message for Listed {
    type Result = ();
}

/// What a source has.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Listing {
    pub(super) tools: Vec<ListedTool>,
    pub(super) registry: RegistryResource,
}

/// Why a source has nothing.
#[derive(Debug, Clone)]
pub(crate) struct StartFailure {
    pub(crate) message: String,
    pub(crate) tail: Vec<String>,
}

impl StartFailure {
    /// The reason and the last lines that the source wrote, for reports.
    pub(crate) fn why(&self, source: &str) -> String {
        let mut why = format!("tool source `{source}`: {}", self.message);
        let first = self.tail.len().saturating_sub(REPORTED_LINES);
        for line in &self.tail[first..] {
            let end = line.floor_char_boundary(REPORTED_LINE);
            why.push_str(&format!("\n  {}", &line[..end]));
        }
        why
    }
}

/// What the actor of a source is told to do.
#[derive(Debug)]
pub(super) enum Order {
    /// Start what serves a scope.
    Start(ScopeKey),
    /// A process answers nothing any more.
    Stuck(SlotId),
    /// End what serves a scope.
    Retire(ScopeKey),
    /// Ask for the tools again, and tell when they are registered.
    List(oneshot::Sender<()>),
}

impl Message for Order {
    type Result = ();
}

/// Ends the process of a session when it is dropped.
pub(super) struct Retire {
    source: Arc<Source>,
    key: ScopeKey,
}

impl Retire {
    pub(super) fn of(source: &Arc<Source>, key: &ScopeKey) -> Self {
        Self {
            source: Arc::clone(source),
            key: key.clone(),
        }
    }
}

impl Drop for Retire {
    fn drop(&mut self) {
        self.source.order(Order::Retire(self.key.clone()));
    }
}

/// A start that has ended.
struct Started {
    slot: SlotId,
    result: Result<(Arc<Instance>, Result<Listing, String>), StartError>,
}

impl Message for Started {
    type Result = ();
}

/// A process that is gone.
struct Gone {
    slot: SlotId,
    how: String,
}

impl Message for Gone {
    type Result = ();
}

/// A process whose wait is over.
struct Again(SlotId);

impl Message for Again {
    type Result = ();
}

/// A list that was asked for.
struct NewListing(Result<Listing, String>, Option<oneshot::Sender<()>>);

impl Message for NewListing {
    type Result = ();
}

/// Ends everything; answers when it has ended.
pub(crate) struct End(pub(crate) oneshot::Sender<()>);

impl Message for End {
    type Result = ();
}

/// The actor of a source.
pub(crate) struct SourceActor {
    source: Arc<Source>,
    supervisor: Recipient<Listed>,
    /// What is under way for it.
    tasks: TaskTracker,
    ending: CancellationToken,
    listing: Option<Listing>,
}

impl SourceActor {
    pub(crate) fn new(source: Arc<Source>, supervisor: Recipient<Listed>) -> Self {
        Self {
            source,
            supervisor,
            tasks: TaskTracker::new(),
            ending: CancellationToken::new(),
            listing: None,
        }
    }

    fn start_pool(&mut self, key: ScopeKey, ctx: &Context<Self>) {
        if self.ending.is_cancelled() || self.source.pools().contains_key(&key) {
            return;
        }
        let replicas = match self.source.settings().launch {
            Some(_) => self.source.settings().replicas,
            None => 1,
        };
        let slots: Vec<_> = (0..replicas).map(|_| self.source.next_slot()).collect();
        self.source.pools().insert(key.clone(), Pool::new(&slots));
        for (replica, slot) in slots.into_iter().enumerate() {
            self.start_process(&key, replica, slot, ctx);
        }
    }

    /// Starts one process in a task.
    fn start_process(&self, key: &ScopeKey, replica: Replica, slot: SlotId, ctx: &Context<Self>) {
        let order = self.source.start_order(key, replica);
        let (addr, ending) = (ctx.address(), self.ending.clone());
        self.tasks.spawn(async move {
            let starting = async {
                let instance = Arc::new(order.start().await?);
                let listing = list(&instance).await;
                Ok((instance, listing))
            };
            // Dropped while it starts, it is killed.
            if let Some(result) = ending.run_until_cancelled(starting).await {
                addr.do_send(Started { slot, result });
            }
        });
    }

    /// Looks after a process: takes what it says unasked, and tells its end.
    fn watch(&self, slot: SlotId, instance: Arc<Instance>, ctx: &Context<Self>) {
        let (addr, ending) = (ctx.address().downgrade(), self.ending.clone());
        self.tasks.spawn(async move {
            let mut notices = instance.notices.lock().await.take();
            let mut gone = std::pin::pin!(instance.gone());
            let how = loop {
                let notice = async {
                    match notices.as_mut() {
                        Some(notices) => notices.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    how = &mut gone => break how,
                    () = ending.cancelled() => return,
                    notice = notice => match notice {
                        Some(Notice::Log(line)) => instance.log.line(&line),
                        Some(Notice::ToolsChanged) => {
                            tokio::time::sleep(LIST_DELAY).await;
                            // One look is for all changes until now.
                            while let Some(Ok(notice)) = notices.as_mut().map(mpsc::Receiver::try_recv) {
                                if let Notice::Log(line) = notice {
                                    instance.log.line(&line);
                                }
                            }
                            let listing = list(&instance).await;
                            if let Some(addr) = addr.upgrade() {
                                addr.do_send(NewListing(listing, None));
                            }
                        }
                        None => notices = None,
                    },
                }
            };
            if let Some(addr) = addr.upgrade() {
                addr.do_send(Gone { slot, how });
            }
        });
    }

    /// Takes what a source has, and tells it on when it is new.
    fn take(&mut self, listing: Result<Listing, String>, registered: Option<oneshot::Sender<()>>) {
        match listing {
            // Whoever waits is told by dropping the sender.
            Ok(listing) if self.listing.as_ref() == Some(&listing) => {}
            Ok(listing) => {
                self.listing = Some(listing.clone());
                self.tell(Ok(listing), registered);
            }
            Err(why) => {
                self.source.fail(&why);
                if self.listing.is_none() {
                    let failure = StartFailure {
                        message: format!("it does not list its tools: {why}"),
                        tail: Vec::new(),
                    };
                    self.tell(Err(failure), registered);
                }
            }
        }
    }

    fn tell(&self, tools: Result<Listing, StartFailure>, registered: Option<oneshot::Sender<()>>) {
        self.supervisor.do_send(Listed {
            source: self.source.settings().name.clone(),
            tools,
            registered,
        });
    }

    /// A process is of no use any more: it is started again after a while, or stays down. One that
    /// still runs is ended first, so that it holds no port.
    fn lost(
        &self,
        slot: SlotId,
        error: StartError,
        running: Option<Arc<Instance>>,
        ctx: &Context<Self>,
    ) {
        self.source.fail(&error.message);
        let policy = self.source.settings().restart;
        let next = self.source.next_slot();
        let wait = self.source.with_slot(slot, |slot| {
            let wait = back_off(&mut slot.restarts, policy, Instant::now());
            slot.id = next;
            slot.life = match wait {
                Some(_) => Life::BackOff,
                None => Life::Down(StartError {
                    message: format!("{} {}", error.message, given_up(policy)),
                    tail: error.tail,
                }),
            };
            wait
        });
        let (addr, ending) = (ctx.address(), self.ending.clone());
        // What answers nothing does not see either that its input is closed.
        let policy = StopPolicy {
            stdin_grace: Duration::ZERO,
            ..self.source.settings().stop
        };
        self.tasks.spawn(async move {
            if let Some(instance) = running {
                instance.stop(policy).await;
            }
            if let Some(Some(wait)) = wait
                && ending
                    .run_until_cancelled(tokio::time::sleep(wait))
                    .await
                    .is_some()
            {
                addr.do_send(Again(next));
            }
        });
        self.source.changed.notify_waiters();
    }

    fn stop_instance(&self, instance: Arc<Instance>) {
        let policy = self.source.settings().stop;
        let source = Arc::clone(&self.source);
        self.tasks.spawn(async move {
            source.told(&instance).await;
            instance.stop(policy).await;
        });
    }

    /// The processes of a scope, or of all, which nobody finds any more from now on.
    fn take_instances(&self, key: Option<&ScopeKey>) -> Vec<Arc<Instance>> {
        let mut pools = self.source.pools();
        let taken: Vec<Pool> = match key {
            Some(key) => pools.remove(key).into_iter().collect(),
            None => std::mem::take(&mut *pools).into_values().collect(),
        };
        let slots = taken.into_iter().flat_map(|pool| pool.slots);
        slots
            .filter_map(|slot| match slot.life {
                Life::Ready(instance) => Some(instance),
                Life::Starting | Life::BackOff | Life::Down(_) => None,
            })
            .collect()
    }
}

/// Why a process is not started again.
fn given_up(policy: RestartPolicy) -> String {
    let window = policy.window.as_secs_f64();
    match policy.max {
        0 => "and is not started again: `restart.max` is 0".to_owned(),
        1 => format!("and stays down: it was started again once within {window:.0} s"),
        max => format!("and stays down: it was started again {max} times within {window:.0} s"),
    }
}

async fn list(instance: &Instance) -> Result<Listing, String> {
    let listing = async {
        let tools = instance.client.tools().await?;
        let registry = instance.client.resource(REGISTRY).await;
        let registry = registry.map(|text| RegistryResource::read(&text));
        Ok(Listing {
            tools,
            registry: registry.unwrap_or_default(),
        })
    };
    match tokio::time::timeout(LIST_TIMEOUT, listing).await {
        Ok(listing) => listing,
        Err(_) => Err(format!("no list within {} s", LIST_TIMEOUT.as_secs())),
    }
}

impl Actor for SourceActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.source.looked_after_by(ctx.address().recipient());
        self.start_pool(self.source.first_key(), ctx);
    }
}

impl Handler<Order> for SourceActor {
    type Result = ();

    fn handle(&mut self, order: Order, ctx: &mut Self::Context) {
        match order {
            Order::Start(key) => self.start_pool(key, ctx),
            Order::Stuck(slot) => {
                let stuck = self.source.with_slot(slot, |slot| match &slot.life {
                    Life::Ready(instance) => Some(Arc::clone(instance)),
                    Life::Starting | Life::BackOff | Life::Down(_) => None,
                });
                if let Some(Some(instance)) = stuck {
                    let message = "it answered nothing after a call was called off".to_owned();
                    let tail = instance.log.tail();
                    self.lost(slot, StartError { message, tail }, Some(instance), ctx);
                }
            }
            Order::Retire(key) => {
                self.source.bound().remove(&key);
                for instance in self.take_instances(Some(&key)) {
                    self.stop_instance(instance);
                }
            }
            Order::List(registered) => {
                // Without a process there is nothing new: the sender is dropped.
                let Some(instance) = self.source.some_instance() else {
                    return;
                };
                let addr = ctx.address();
                self.tasks.spawn(async move {
                    let listing = list(&instance).await;
                    addr.do_send(NewListing(listing, Some(registered)));
                });
            }
        }
    }
}

impl Handler<Started> for SourceActor {
    type Result = ();

    fn handle(&mut self, started: Started, ctx: &mut Self::Context) {
        let Started { slot, result } = started;
        match result {
            Ok((instance, listing)) => {
                for note in &instance.notes {
                    instance.log.line(&format!("[packtrain] {note}"));
                }
                let placed = self.source.with_slot(slot, |slot| {
                    slot.life = Life::Ready(Arc::clone(&instance));
                });
                if placed.is_none() {
                    // Whoever it was for is gone.
                    self.stop_instance(instance);
                    return;
                }
                self.watch(slot, instance, ctx);
                if self.listing.is_none() {
                    // Others that did not start may start now: this one did.
                    for (slot, error) in self.source.down() {
                        self.lost(slot, error, None, ctx);
                    }
                }
                self.take(listing, None);
            }
            Err(error) => {
                let was_up = self.listing.is_some();
                if was_up {
                    // It has answered before, so it may again.
                    self.lost(slot, error, None, ctx);
                    return;
                }
                self.source.fail(&error.message);
                self.source
                    .with_slot(slot, |slot| slot.life = Life::Down(error.clone()));
                if self.source.may_come_up() {
                    self.source.changed.notify_waiters();
                    return;
                }
                let failure = StartFailure {
                    message: error.message,
                    tail: error.tail,
                };
                self.tell(Err(failure), None);
            }
        }
        self.source.changed.notify_waiters();
    }
}

impl Handler<Gone> for SourceActor {
    type Result = ();

    fn handle(&mut self, gone: Gone, ctx: &mut Self::Context) {
        let instance = self.source.with_slot(gone.slot, |slot| match &slot.life {
            Life::Ready(instance) => Some(Arc::clone(instance)),
            Life::Starting | Life::BackOff | Life::Down(_) => None,
        });
        if let Some(instance) = instance {
            let tail = instance.as_ref().map(|instance| instance.log.tail());
            let tail = tail.unwrap_or_default();
            let message = format!("it ended ({})", gone.how);
            self.lost(gone.slot, StartError { message, tail }, instance, ctx);
        }
    }
}

impl Handler<Again> for SourceActor {
    type Result = ();

    fn handle(&mut self, Again(slot): Again, ctx: &mut Self::Context) {
        if self.ending.is_cancelled() {
            return;
        }
        let Some((key, replica)) = self.source.place_of(slot) else {
            return;
        };
        self.source
            .with_slot(slot, |slot| slot.life = Life::Starting);
        self.source.restarts.fetch_add(1, Ordering::Relaxed);
        self.start_process(&key, replica, slot, ctx);
    }
}

impl Handler<NewListing> for SourceActor {
    type Result = ();

    fn handle(&mut self, NewListing(listing, registered): NewListing, _: &mut Self::Context) {
        self.take(listing, registered);
    }
}

impl Handler<End> for SourceActor {
    type Result = ();

    fn handle(&mut self, End(ended): End, _: &mut Self::Context) {
        self.ending.cancel();
        for instance in self.take_instances(None) {
            self.stop_instance(instance);
        }
        self.source.changed.notify_waiters();
        self.tasks.close();
        let tasks = self.tasks.clone();
        tokio::spawn(async move {
            tasks.wait().await;
            // Who does not wait any more is not told.
            let _ = ended.send(());
        });
    }
}
