//! The life of one device: facts in, what to do out. No actor, no clock, no I/O.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use packtrain_drivers::{DeviceInfo, DriverError};

use crate::backoff::Backoff;
use crate::lease::LeaseError;
use crate::state::{DeviceState, DeviceStatus, FencingToken, Holder, Incarnation, WaitReason};

/// A lease that nobody used for this long is taken over by whoever waits.
pub(crate) const LEASE_IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// A place in the queue. Later requests have larger tickets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) u64);

/// Something that happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// Somebody asks for the device.
    Requested {
        ticket: Ticket,
        holder: String,
        deadline: Instant,
    },
    /// Whoever asked does not wait any more.
    Left(Ticket),
    /// The lease is to be taken away.
    Revoked,
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
    /// As it was told.
    Stopped,
    /// It never connected.
    NotConnected(DriverError),
    /// It broke.
    Died(String),
}

/// Something to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Make a driver and connect it.
    Connect { deadline: Instant },
    /// End the driver; its session, if there is one, first.
    StopDriver,
    /// Give the connected device to whoever has the ticket.
    Grant { ticket: Ticket, token: FencingToken },
    /// End the current lease.
    CloseSession,
    /// Tell whoever has the ticket that there will be no lease.
    Refuse(Ticket, LeaseError),
    /// Nothing will happen any more.
    Finish,
}

/// What to do, in order.
#[must_use = "what is not done leaves somebody waiting"]
#[derive(Debug, Default)]
pub(crate) struct Effects(pub(crate) Vec<Effect>);

/// When something happened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    /// When the current lease was used last; without a lease it means nothing.
    pub(crate) lease_used: Instant,
}

#[derive(Debug)]
struct Request {
    ticket: Ticket,
    holder: String,
    deadline: Instant,
}

/// The state machine.
#[derive(Debug)]
pub(crate) struct DeviceLifecycle {
    info: DeviceInfo,
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
    /// Why nobody gets the device any more.
    shut_down: Option<LeaseError>,
}

impl DeviceLifecycle {
    pub(crate) const fn new(info: DeviceInfo, backoff: Backoff) -> Self {
        Self {
            info,
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
            Event::Requested {
                ticket,
                holder,
                deadline,
            } => match &self.shut_down {
                Some(refusal) => todo.push(Effect::Refuse(ticket, refusal.clone())),
                None => self.queue.push_back(Request {
                    ticket,
                    holder,
                    deadline,
                }),
            },
            Event::Left(ticket) => {
                self.queue.retain(|request| request.ticket != ticket);
                if self.queue.is_empty() && self.state == DeviceState::Connecting {
                    self.state = DeviceState::Closing(None);
                    todo.push(Effect::StopDriver);
                }
            }
            Event::Revoked => self.close_session(todo),
            Event::Woken => {}
            Event::ShutDown(refusal) => self.shut_down(&refusal, todo),
            Event::Connected(info) => {
                self.info = info;
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
                    self.state = match self.shut_down {
                        Some(_) => DeviceState::Closing(None),
                        None => DeviceState::Ready,
                    };
                }
            }
            Event::DriverEnded(end) => self.driver_ended(end, at.now, todo),
        }
        self.serve(at, todo);
        effects
    }

    /// Does what can be done for whoever waits.
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
        let Some(latest) = self.queue.iter().map(|request| request.deadline).max() else {
            return;
        };
        match &self.state {
            DeviceState::Absent => {
                self.attempt = self.queue.back().map_or(self.attempt, |last| last.ticket);
                self.state = DeviceState::Connecting;
                todo.push(Effect::Connect { deadline: latest });
            }
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
            DeviceState::Leased(_) if at.lease_used + LEASE_IDLE_TIMEOUT <= at.now => {
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

    fn driver_ended(&mut self, end: DriverEnd, now: Instant, todo: &mut Vec<Effect>) {
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
            // It was called off because nobody waited any more.
            DriverEnd::NotConnected(_) if matches!(self.state, DeviceState::Closing(_)) => {
                self.state = DeviceState::Absent;
                return;
            }
            DriverEnd::NotConnected(error) => {
                self.refuse_attempt(&error, todo);
                error.to_string()
            }
            DriverEnd::Died(cause) => {
                if self.state == DeviceState::Connecting {
                    self.refuse_attempt(&DriverError::lost(cause.as_str()), todo);
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

    fn refuse_attempt(&mut self, error: &DriverError, todo: &mut Vec<Effect>) {
        while let Some(first) = self.queue.pop_front_if(|r| r.ticket <= self.attempt) {
            let refusal = LeaseError::NotConnected(error.clone());
            todo.push(Effect::Refuse(first.ticket, refusal));
        }
    }

    fn shut_down(&mut self, refusal: &LeaseError, todo: &mut Vec<Effect>) {
        if self.shut_down.is_some() {
            return;
        }
        self.shut_down = Some(refusal.clone());
        for request in self.queue.drain(..) {
            todo.push(Effect::Refuse(request.ticket, refusal.clone()));
        }
        match &self.state {
            DeviceState::Absent | DeviceState::Dead { .. } => {
                self.state = DeviceState::Closing(None);
                todo.push(Effect::Finish);
                return;
            }
            DeviceState::Leased(_) => self.close_session(todo),
            DeviceState::Closing(_) => {}
            DeviceState::Connecting | DeviceState::Ready => {
                self.state = DeviceState::Closing(None);
            }
        }
        todo.push(Effect::StopDriver);
    }

    /// When to say that time went by, if nothing else happens before.
    pub(crate) fn wake_at(&self, lease_used: Instant) -> Option<Instant> {
        match &self.state {
            DeviceState::Dead { until, .. } => Some(*until),
            DeviceState::Leased(_) if !self.queue.is_empty() => {
                Some(lease_used + LEASE_IDLE_TIMEOUT)
            }
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

    pub(crate) const fn info(&self) -> &DeviceInfo {
        &self.info
    }

    pub(crate) fn status(&self) -> DeviceStatus {
        DeviceStatus {
            info: self.info.clone(),
            state: self.state.clone(),
            queue: self
                .queue
                .iter()
                .map(|request| request.holder.clone())
                .collect(),
            incarnation: self.incarnation,
            last_death: self.last_death.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
