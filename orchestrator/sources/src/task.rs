//! The task of one source: it alone changes the state of the source's processes, and carries out what
//! that says. What takes time is a task of its own that reports back.

use std::sync::Arc;
use std::time::Duration;

use actix::{Message, Recipient};
use packtrain_config::{HumanDuration, Stop};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::handle::{Lifecycle, Source};
use super::instance::Instance;
use super::invocation::Invocations;
use super::lifecycle::{Effect, Event, Registered, Start};
use super::mcp::{ListedTool, Notice};
use super::metadata::{REGISTRY, RegistryResource};
use super::pool::SlotId;
use super::settings::SourceSettings;
use super::start::StartError;
use crate::supervisor::SupervisorOptions;

/// How long changes of a source's tools are collected before it is asked for them.
const LIST_DELAY: Duration = Duration::from_millis(250);
/// How long a source may take to list its tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// The supervisor's messages.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) source: String,
    /// Its tools, or why there are none.
    pub(crate) tools: Result<Listing, StartError>,
    /// Who waits until they are registered.
    pub(crate) registered: Option<Registered>,
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

/// The messages to a source's task.
pub(super) enum Order {
    /// Something happened.
    Handle(Event<Arc<Instance>>),
    /// End everything; answered when it has ended.
    End(oneshot::Sender<()>),
}

/// The task of a source.
pub(crate) struct SourceTask {
    source: Arc<Source>,
    state: watch::Sender<Lifecycle>,
    orders: mpsc::UnboundedReceiver<Order>,
    /// What is under way for it.
    tasks: TaskTracker,
    ending: CancellationToken,
}

impl SourceTask {
    /// A source, and the task that looks after it.
    pub(crate) fn of(
        settings: SourceSettings,
        options: &Arc<SupervisorOptions>,
        invocations: &Invocations,
    ) -> (Arc<Source>, Self) {
        let lifecycle = Lifecycle::new(&settings, options.devices.clone());
        let (state, seen) = watch::channel(lifecycle);
        #[expect(
            clippy::disallowed_methods,
            reason = "bounded by the sessions and processes, each of which tells a few things"
        )]
        let (sender, orders) = mpsc::unbounded_channel();
        let (options, invocations) = (Arc::clone(options), invocations.clone());
        let source = Arc::new(Source::new(settings, options, invocations, seen, sender));
        let task = Self {
            source: Arc::clone(&source),
            state,
            orders,
            tasks: TaskTracker::new(),
            ending: CancellationToken::new(),
        };
        (source, task)
    }

    /// Supervises the source until it is asked to end it.
    pub(crate) async fn run(mut self, supervisor: Recipient<Listed>) {
        let mut ended = Vec::new();
        self.handle(Event::Wanted(self.source.first_key(), None), &supervisor);
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Handle(event)) => self.handle(event, &supervisor),
                    Some(Order::End(answer)) => {
                        ended.push(answer);
                        self.ending.cancel();
                        self.handle(Event::Ended, &supervisor);
                        self.tasks.close();
                    }
                    None => return,
                },
                () = self.tasks.wait(), if !ended.is_empty() => {
                    // Who does not wait any more is not told.
                    for ended in ended {
                        let _ = ended.send(());
                    }
                    return;
                }
            }
        }
    }

    fn handle(&self, event: Event<Arc<Instance>>, supervisor: &Recipient<Listed>) {
        let mut effects = Vec::new();
        self.state
            .send_modify(|state| effects = state.handle(event, Instant::now()));
        for effect in effects {
            match effect {
                Effect::Start(start) => self.start(start),
                Effect::Stop(instance) => {
                    let policy = self.source.settings().stop.clone();
                    self.tasks.spawn(async move {
                        instance.told().await;
                        instance.stop(&policy).await;
                    });
                }
                Effect::Replace { running, again } => self.replace(running, again),
                Effect::List(instance, registered) => {
                    let source = Arc::clone(&self.source);
                    self.tasks.spawn(async move {
                        let listing = list(&instance).await;
                        source.tell(Event::Listed(listing, Some(registered)));
                    });
                }
                Effect::Tell(tools, registered) => {
                    let source = self.source.settings().name.clone();
                    supervisor.do_send(Listed {
                        source,
                        tools,
                        registered,
                    });
                }
            }
        }
    }

    /// Starts one process in a task, which looks after it until it ends.
    fn start(&self, start: Start) {
        let slot = start.slot;
        let order = self.source.start_order(start);
        let (source, ending) = (Arc::clone(&self.source), self.ending.clone());
        self.tasks.spawn(async move {
            let life = async {
                let mut instance = match order.start().await {
                    Ok(instance) => instance,
                    Err(error) => return source.tell(Event::Started(slot, Err(error))),
                };
                let notices = instance.client.told.take();
                let instance = Arc::new(instance);
                let listing = list(&instance).await;
                for note in &instance.notes {
                    instance.log.line(&format!("[packtrain] {note}"));
                }
                source.tell(Event::Started(slot, Ok((Arc::clone(&instance), listing))));
                let how = look_after(&source, &instance, notices).await;
                source.lost(slot, &instance, format!("it ended ({how})"));
            };
            // Dropped while it starts, it is killed.
            ending.run_until_cancelled(life).await;
        });
    }

    /// Ends what still runs, and waits before it is started again.
    fn replace(&self, running: Option<Arc<Instance>>, again: Option<(SlotId, Duration)>) {
        let (source, ending) = (Arc::clone(&self.source), self.ending.clone());
        // What answers nothing does not see either that its input is closed.
        let policy = Stop {
            stdin_grace: HumanDuration::new(Duration::ZERO),
            ..source.settings().stop.clone()
        };
        self.tasks.spawn(async move {
            if let Some(instance) = running {
                instance.stop(&policy).await;
            }
            if let Some((slot, wait)) = again
                && ending
                    .run_until_cancelled(tokio::time::sleep(wait))
                    .await
                    .is_some()
            {
                source.tell(Event::Again(slot));
            }
        });
    }
}

/// Takes what a process says unasked, until it is gone; answers how.
async fn look_after(
    source: &Source,
    instance: &Instance,
    mut notices: Option<mpsc::Receiver<Notice>>,
) -> String {
    let mut gone = std::pin::pin!(instance.gone());
    loop {
        let notice = async {
            match notices.as_mut() {
                Some(notices) => notices.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            how = &mut gone => return how,
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
                    source.tell(Event::Listed(list(instance).await, None));
                }
                None => notices = None,
            },
        }
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
