//! The life of one device: facts in, what to do out. No actor, no clock, no I/O.

use std::collections::{BTreeMap, VecDeque};

use packtrain_drivers::{DeviceInfo, DriverError};
use tokio::time::Instant;

use crate::backoff::Backoff;
use crate::lease::LeaseError;
use crate::state::{DeviceState, DeviceStatus, FencingToken, Holder, Incarnation, WaitReason};

/// A place in the queue. Later requests have larger tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// One of the connectors that lead to a device: each fleet that has the device brings its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConnectorId(pub(crate) u64);

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// There is a connector, which says what it knows of the device.
    Added(ConnectorId, DeviceInfo),
    /// There is one no more; those who wait for it are answered with this.
    Removed(ConnectorId, LeaseError),
    /// A caller asks for the device, connected by this connector.
    Requested {
        ticket: Ticket,
        connector: ConnectorId,
        holder: String,
        deadline: Instant,
    },
    /// The caller stopped waiting.
    Left(Ticket),
    /// The lease that was given through this connector is to be revoked.
    Revoked(ConnectorId),
    /// Time went by.
    Woken,
    /// The device must end; requests are answered with this.
    ShutDown(LeaseError),
    /// The driver is connected and says what the device is.
    Connected(DeviceInfo),
    /// The session under this token is being ended.
    SessionClosing(FencingToken),
    /// The session under this token is over and the driver alive.
    SessionEnded(FencingToken),
    /// The driver is closed.
    DriverEnded(DriverEnd),
}

/// How a driver ended.
#[derive(Debug)]
pub(crate) enum DriverEnd {
    /// As reported.
    Stopped,
    /// It never connected.
    NotConnected(DriverError),
    /// It broke.
    Died(String),
}

/// Something to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Make a driver and connect it, by the connector that is [`DeviceLifecycle::driver`].
    Connect { deadline: Instant },
    /// End the driver; its session, if there is one, first.
    StopDriver,
    /// Give the connected device to the ticket's holder.
    Grant { ticket: Ticket, token: FencingToken },
    /// End the current lease.
    CloseSession,
    /// Tell the ticket's holder that there will be no lease.
    Refuse(Ticket, LeaseError),
    /// Nothing will happen any more.
    Finish,
}

/// What to do, in order.
#[must_use = "an effect that is not carried out leaves a caller waiting"]
#[derive(Debug, Default)]
pub(crate) struct Effects(pub(crate) Vec<Effect>);

/// When something happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// When the current lease may be taken over; without a lease it means nothing.
    pub(crate) lease_idle_at: Instant,
}

#[derive(Debug)]
struct Request {
    ticket: Ticket,
    connector: ConnectorId,
    holder: String,
    deadline: Instant,
}

/// The state machine.
#[derive(Debug)]
pub(crate) struct DeviceLifecycle {
    /// What is known of the device by each connector.
    connectors: BTreeMap<ConnectorId, DeviceInfo>,
    /// What the driver was made by, while there is one.
    driver: Option<ConnectorId>,
    /// Whether the driver was told to end.
    is_stopping: bool,
    state: DeviceState,
    queue: VecDeque<Request>,
    last_token: FencingToken,
    /// The youngest request when the attempt to connect began: its failure is the answer to this
    /// one and all older ones.
    attempt: Ticket,
    /// Deaths in a row, without a session that was ended in between.
    failures: u32,
    incarnation: Incarnation,
    last_death: Option<String>,
    backoff: Backoff,
    /// Why the device is no longer given out.
    shut_down: Option<LeaseError>,
}

impl DeviceLifecycle {
    pub(crate) const fn new(backoff: Backoff) -> Self {
        Self {
            connectors: BTreeMap::new(),
            driver: None,
            is_stopping: false,
            state: DeviceState::Absent,
            queue: VecDeque::new(),
            last_token: FencingToken(0),
            attempt: Ticket(0),
            failures: 0,
            incarnation: Incarnation(1),
            last_death: None,
            backoff,
            shut_down: None,
        }
    }

    /// Takes in what happened and says what to do about it.
    pub(crate) fn handle(&mut self, event: Event, at: Moment) -> Effects {
        let mut effects = Effects::default();
        let todo = &mut effects.0;
        match event {
            Event::Added(connector, info) => {
                self.connectors.insert(connector, info);
            }
            Event::Removed(connector, refusal) => {
                self.connectors.remove(&connector);
                self.refuse(|request| request.connector == connector, &refusal, todo);
                if self.driver == Some(connector) {
                    self.stop_driver(todo);
                }
            }
            Event::Requested {
                ticket,
                connector,
                holder,
                deadline,
            } => match &self.shut_down {
                Some(refusal) => todo.push(Effect::Refuse(ticket, refusal.clone())),
                None => self.queue.push_back(Request {
                    ticket,
                    connector,
                    holder,
                    deadline,
                }),
            },
            Event::Left(ticket) => {
                self.queue.retain(|request| request.ticket != ticket);
                let mut others = self.queue.iter().map(|request| request.connector);
                let is_wanted = others.any(|connector| Some(connector) == self.driver);
                if !is_wanted && self.state == DeviceState::Connecting {
                    self.stop_driver(todo);
                }
            }
            Event::Revoked(connector) if self.driver == Some(connector) => {
                self.close_session(todo);
            }
            Event::Revoked(_) => {}
            Event::Woken => {}
            Event::ShutDown(refusal) => self.shut_down(&refusal, todo),
            Event::Connected(info) => {
                let connector = self.driver.and_then(|it| self.connectors.get_mut(&it));
                if let Some(known) = connector {
                    *known = info;
                }
                if self.state == DeviceState::Connecting {
                    self.state = DeviceState::Ready;
                }
            }
            Event::SessionClosing(token) => {
                if let DeviceState::Leased(holder) = &self.state
                    && holder.token == token
                {
                    self.state = DeviceState::Closing(Some(holder.clone()));
                }
            }
            Event::SessionEnded(token) => {
                if let DeviceState::Leased(holder) | DeviceState::Closing(Some(holder)) =
                    &self.state
                    && holder.token == token
                {
                    self.failures = 0;
                    self.state = match self.is_stopping {
                        true => DeviceState::Closing(None),
                        false => DeviceState::Ready,
                    };
                }
            }
            Event::DriverEnded(end) => self.driver_ended(end, at.now, todo),
        }
        self.serve(at, todo);
        effects
    }

    /// Does what can be done for the callers that wait.
    fn serve(&mut self, at: Moment, todo: &mut Vec<Effect>) {
        if self.shut_down.is_some() {
            return;
        }
        if let DeviceState::Dead { until, .. } = self.state
            && until <= at.now
        {
            self.incarnation.0 += 1;
            self.state = DeviceState::Absent;
        }
        let Some(next) = self.queue.front().map(|request| request.connector) else {
            return;
        };
        match &self.state {
            DeviceState::Absent => {
                let of_it = self.queue.iter().filter(|it| it.connector == next);
                let Some(deadline) = of_it.map(|request| request.deadline).max() else {
                    return;
                };
                self.attempt = self.queue.back().map_or(self.attempt, |last| last.ticket);
                self.driver = Some(next);
                self.state = DeviceState::Connecting;
                todo.push(Effect::Connect { deadline });
            }
            // It is connected as another fleet wants it.
            DeviceState::Ready if self.driver != Some(next) => self.stop_driver(todo),
            DeviceState::Ready => {
                if let Some(first) = self.queue.pop_front() {
                    self.last_token.0 += 1;
                    let token = self.last_token;
                    self.state = DeviceState::Leased(Holder {
                        name: first.holder,
                        token,
                        since: at.now,
                    });
                    let ticket = first.ticket;
                    todo.push(Effect::Grant { ticket, token });
                }
            }
            DeviceState::Leased(_) if at.lease_idle_at <= at.now => {
                self.close_session(todo);
            }
            DeviceState::Leased(_)
            | DeviceState::Connecting
            | DeviceState::Closing(_)
            | DeviceState::Dead { .. } => {}
        }
    }

    fn close_session(&mut self, todo: &mut Vec<Effect>) {
        if let DeviceState::Leased(holder) = &self.state {
            self.state = DeviceState::Closing(Some(holder.clone()));
            todo.push(Effect::CloseSession);
        }
    }

    /// Has the driver end, its session first.
    fn stop_driver(&mut self, todo: &mut Vec<Effect>) {
        match &self.state {
            DeviceState::Leased(_) => self.close_session(todo),
            DeviceState::Connecting | DeviceState::Ready => {
                self.state = DeviceState::Closing(None);
            }
            DeviceState::Absent | DeviceState::Closing(_) | DeviceState::Dead { .. } => {}
        }
        self.is_stopping = true;
        todo.push(Effect::StopDriver);
    }

    fn driver_ended(&mut self, end: DriverEnd, now: Instant, todo: &mut Vec<Effect>) {
        let connector = self.driver.take();
        self.is_stopping = false;
        if self.shut_down.is_some() {
            self.state = DeviceState::Closing(None);
            todo.push(Effect::Finish);
            return;
        }
        let cause = match end {
            DriverEnd::Stopped => {
                self.state = DeviceState::Absent;
                return;
            }
            // It was cancelled because no caller waited any more.
            DriverEnd::NotConnected(_) if matches!(self.state, DeviceState::Closing(_)) => {
                self.state = DeviceState::Absent;
                return;
            }
            DriverEnd::NotConnected(error) => {
                self.refuse_attempt(connector, &error, todo);
                error.to_string()
            }
            DriverEnd::Died(cause) => {
                if self.state == DeviceState::Connecting {
                    self.refuse_attempt(connector, &DriverError::lost(cause.as_str()), todo);
                }
                cause
            }
        };
        self.failures = self.failures.saturating_add(1);
        self.last_death = Some(cause.clone());
        self.state = DeviceState::Dead {
            cause,
            until: now + self.backoff.after(self.failures),
            failures: self.failures,
        };
    }

    fn refuse_attempt(
        &mut self,
        connector: Option<ConnectorId>,
        error: &DriverError,
        todo: &mut Vec<Effect>,
    ) {
        let attempt = self.attempt;
        self.refuse(
            |request| request.ticket <= attempt && Some(request.connector) == connector,
            &LeaseError::NotConnected(error.clone()),
            todo,
        );
    }

    /// Tells those of whom this holds that there will be no lease.
    fn refuse(
        &mut self,
        is_meant: impl Fn(&Request) -> bool,
        refusal: &LeaseError,
        todo: &mut Vec<Effect>,
    ) {
        self.queue.retain(|request| {
            let is_refused = is_meant(request);
            if is_refused {
                todo.push(Effect::Refuse(request.ticket, refusal.clone()));
            }
            !is_refused
        });
    }

    fn shut_down(&mut self, refusal: &LeaseError, todo: &mut Vec<Effect>) {
        if self.shut_down.is_some() {
            return;
        }
        self.shut_down = Some(refusal.clone());
        self.refuse(|_| true, refusal, todo);
        if self.driver.is_some() {
            self.stop_driver(todo);
        } else {
            self.state = DeviceState::Closing(None);
            todo.push(Effect::Finish);
        }
    }

    /// When to say that time went by, if nothing else happens before.
    pub(crate) fn wake_at(&self, lease_idle_at: Instant) -> Option<Instant> {
        match &self.state {
            DeviceState::Dead { until, .. } => Some(*until),
            DeviceState::Leased(_) if !self.queue.is_empty() => Some(lease_idle_at),
            DeviceState::Leased(_)
            | DeviceState::Absent
            | DeviceState::Connecting
            | DeviceState::Ready
            | DeviceState::Closing(_) => None,
        }
    }

    /// Who waits, and why.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Ticket, WaitReason)> {
        self.queue.iter().enumerate().map(|(ahead, request)| {
            let state = self.state.clone();
            (request.ticket, WaitReason { state, ahead })
        })
    }

    pub(crate) const fn state(&self) -> &DeviceState {
        &self.state
    }

    /// What the driver was made by, while there is one.
    pub(crate) const fn driver(&self) -> Option<ConnectorId> {
        self.driver
    }

    /// What is known of the device by a connector.
    pub(crate) fn info(&self, connector: ConnectorId) -> Option<&DeviceInfo> {
        self.connectors.get(&connector)
    }

    /// How it is, as a connector knows it; the first one without.
    pub(crate) fn status(&self, connector: Option<ConnectorId>) -> Option<DeviceStatus> {
        let info = match connector {
            Some(connector) => self.info(connector),
            None => self.connectors.values().next(),
        };
        Some(DeviceStatus {
            info: info?.clone(),
            state: self.state.clone(),
            queue: self
                .queue
                .iter()
                .map(|request| request.holder.clone())
                .collect(),
            incarnation: self.incarnation,
            last_death: self.last_death.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
