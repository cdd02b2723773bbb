//! Whatever happens in whatever order: one holder, growing tokens, an answer for everybody.

use packtrain_drivers::{DeviceId, Platform, Size};
use proptest::prelude::*;

use std::time::Duration;

use super::*;
use crate::device::LEASE_IDLE_TIMEOUT as LEASE_IDLE;

/// What a driver task, a lease and those who wait can do, as far as it is possible at the moment.
#[derive(Debug, Clone, Copy)]
enum Action {
    Request(Fleet),
    Leave(u8),
    TakeTime(u16),
    Wake,
    Connects,
    DoesNotConnect,
    GivesBack,
    Ends,
    Dies,
    Stops,
    Revoke,
    Echo,
    Replace(Fleet),
    ShutDown,
}

/// Two fleets have the device.
#[derive(Debug, Clone, Copy)]
enum Fleet {
    One,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Driver {
    Connecting,
    Idle,
    Serving(FencingToken),
    Ending(FencingToken),
}

/// Everything around the state machine.
struct World {
    lifecycle: DeviceLifecycle,
    now: Instant,
    lease_used: Instant,
    driver: Option<Driver>,
    stop: bool,
    tickets: u64,
    connectors: [ConnectorId; 2],
    unanswered: Vec<(Ticket, ConnectorId)>,
    last_token: FencingToken,
    shut_down: bool,
    finished: bool,
}

impl World {
    fn new() -> Self {
        let now = Instant::now();
        let mut world = Self {
            lifecycle: DeviceLifecycle::new(Backoff { seed: 7 }),
            now,
            lease_used: now,
            driver: None,
            stop: false,
            tickets: 0,
            connectors: [ConnectorId(1), ConnectorId(2)],
            unanswered: Vec::new(),
            last_token: FencingToken(0),
            shut_down: false,
            finished: false,
        };
        for connector in world.connectors {
            world.tell(Event::Added(connector, info()));
        }
        world
    }

    fn tell(&mut self, event: Event) {
        let at = Moment {
            now: self.now,
            lease_idle_at: self.lease_used + LEASE_IDLE,
        };
        for effect in self.lifecycle.handle(event, at).0 {
            self.carry_out(effect);
        }
        let leased = matches!(self.lifecycle.state(), DeviceState::Leased(_));
        assert!(!leased || matches!(self.driver, Some(Driver::Serving(_))));
        let ready = *self.lifecycle.state() == DeviceState::Ready;
        assert!(!ready || self.driver == Some(Driver::Idle) && self.unanswered.is_empty());
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Connect { deadline } => {
                assert_eq!(self.driver, None, "two drivers of one device");
                assert!(!self.unanswered.is_empty() && deadline > self.now);
                let first = self.unanswered[0].1;
                assert_eq!(self.lifecycle.driver(), Some(first), "for the first");
                self.driver = Some(Driver::Connecting);
                self.stop = false;
            }
            Effect::Grant { ticket, token } => {
                assert_eq!(self.driver, Some(Driver::Idle), "two holders, or no device");
                assert!(token > self.last_token, "tokens grow");
                let driver = self.lifecycle.driver().expect("a driver");
                assert_eq!(
                    self.unanswered.first(),
                    Some(&(ticket, driver)),
                    "first come, first served, by the connector asked for"
                );
                assert!(!self.stop, "a driver that ends is given to nobody");
                self.unanswered.remove(0);
                self.last_token = token;
                self.lease_used = self.now;
                self.driver = Some(Driver::Serving(token));
            }
            Effect::Refuse(ticket, _) => self.answered(ticket),
            Effect::CloseSession => {
                let Some(Driver::Serving(token)) = self.driver else {
                    panic!("nothing to close: {:?}", self.driver);
                };
                self.driver = Some(Driver::Ending(token));
            }
            Effect::StopDriver => {
                assert_ne!(self.driver, None, "no driver to stop");
                self.stop = true;
            }
            Effect::Finish => {
                assert!(self.shut_down && self.driver.is_none() && !self.finished);
                self.finished = true;
            }
        }
    }

    fn answered(&mut self, ticket: Ticket) {
        let mut all = self.unanswered.iter();
        let at = all.position(|(waits, _)| *waits == ticket);
        self.unanswered
            .remove(at.expect("answered once, and only those who wait"));
    }

    fn ended(&mut self, end: DriverEnd) {
        self.driver = None;
        self.tell(Event::DriverEnded(end));
    }

    fn does(&mut self, action: Action) {
        match (action, self.driver) {
            (Action::Request(fleet), _) => {
                self.tickets += 1;
                let ticket = Ticket(self.tickets);
                let connector = self.connectors[fleet as usize];
                self.unanswered.push((ticket, connector));
                self.tell(Event::Requested {
                    ticket,
                    connector,
                    holder: format!("holder {}", self.tickets),
                    deadline: self.now + Duration::from_secs(100_000_000),
                });
            }
            (Action::Leave(which), _) if self.tickets > 0 => {
                let ticket = Ticket(u64::from(which) % self.tickets + 1);
                self.unanswered.retain(|(waits, _)| *waits != ticket);
                self.tell(Event::Left(ticket));
            }
            (Action::TakeTime(seconds), _) => {
                self.now += Duration::from_secs(u64::from(seconds % 1200));
            }
            (Action::Wake, _) => {
                if let Some(at) = self.lifecycle.wake_at(self.lease_used + LEASE_IDLE) {
                    self.now = self.now.max(at);
                    self.tell(Event::Woken);
                }
            }
            (Action::Connects, Some(Driver::Connecting)) => {
                self.driver = Some(Driver::Idle);
                self.tell(Event::Connected(info()));
            }
            (Action::DoesNotConnect, Some(Driver::Connecting)) => {
                self.ended(DriverEnd::NotConnected(DriverError::lost("unplugged")));
            }
            (Action::GivesBack, Some(Driver::Serving(token))) => {
                self.driver = Some(Driver::Ending(token));
                self.tell(Event::SessionClosing(token));
            }
            (Action::Ends, Some(Driver::Ending(token))) => {
                self.driver = Some(Driver::Idle);
                self.tell(Event::SessionClosing(token));
                self.tell(Event::SessionEnded(token));
            }
            (Action::Dies, Some(Driver::Connecting | Driver::Serving(_) | Driver::Ending(_))) => {
                self.ended(DriverEnd::Died("the cable was pulled".into()));
            }
            (Action::Stops, Some(Driver::Idle)) if self.stop => self.ended(DriverEnd::Stopped),
            (Action::Stops, Some(Driver::Connecting)) if self.stop => {
                self.ended(DriverEnd::NotConnected(DriverError::Cancelled));
            }
            (Action::Revoke, _) => {
                for connector in self.connectors {
                    self.tell(Event::Revoked(connector));
                }
            }
            (Action::Replace(fleet), _) => {
                let old = self.connectors[fleet as usize];
                let new = ConnectorId(old.0 + 2);
                self.tell(Event::Removed(old, LeaseError::ShuttingDown));
                assert!(self.unanswered.iter().all(|(_, of)| *of != old), "told");
                let is_used = self.lifecycle.driver() == Some(old);
                assert!(!is_used || self.stop, "what it led to ends");
                self.connectors[fleet as usize] = new;
                self.tell(Event::Added(new, info()));
            }
            (Action::Echo, Some(Driver::Idle | Driver::Serving(_))) if self.last_token.0 > 1 => {
                let old = FencingToken(self.last_token.0 - 1);
                self.tell(Event::SessionClosing(old));
                self.tell(Event::SessionEnded(old));
            }
            (Action::ShutDown, _) => {
                self.shut_down = true;
                self.tell(Event::ShutDown(LeaseError::ShuttingDown));
                assert!(self.unanswered.is_empty(), "told at once");
            }
            _ => {}
        }
    }

    /// Lets everything take its course.
    fn settle(&mut self) {
        let course = [
            Action::Connects,
            Action::GivesBack,
            Action::Ends,
            Action::Stops,
            Action::Wake,
        ];
        for _ in 0..4 * (self.tickets + 4) {
            for action in course {
                self.does(action);
            }
        }
        assert_eq!(
            self.unanswered,
            [],
            "somebody waits for ever: {:?}",
            self.lifecycle
        );
        assert_eq!(self.finished, self.shut_down);
        assert!(!self.finished || self.driver.is_none(), "a driver is left");
    }
}

fn info() -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(Platform::Web, "a"),
        driver: "script".into(),
        classifiers: vec!["web".into()],
        model: String::new(),
        system: String::new(),
        screen: Size::new(1.0, 1.0),
    }
}

fn either() -> impl Strategy<Value = Fleet> {
    prop_oneof![Just(Fleet::One), Just(Fleet::Other)]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => either().prop_map(Action::Request),
        2 => any::<u8>().prop_map(Action::Leave),
        2 => any::<u16>().prop_map(Action::TakeTime),
        3 => Just(Action::Wake),
        5 => Just(Action::Connects),
        2 => Just(Action::DoesNotConnect),
        5 => Just(Action::GivesBack),
        5 => Just(Action::Ends),
        2 => Just(Action::Dies),
        2 => Just(Action::Stops),
        1 => Just(Action::Revoke),
        1 => Just(Action::Echo),
        1 => either().prop_map(Action::Replace),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn never_two_holders_and_everyone_who_waits_is_served(
        actions in proptest::collection::vec(action(), 0..80),
    ) {
        let mut world = World::new();
        for action in actions {
            world.does(action);
        }
        world.settle();
    }

    #[test]
    fn everyone_is_told_and_nothing_is_left_after_a_shutdown_at_any_moment(
        before in proptest::collection::vec(action(), 0..40),
        after in proptest::collection::vec(action(), 0..20),
    ) {
        let mut world = World::new();
        let actions = before.into_iter().chain([Action::ShutDown]).chain(after);
        for action in actions {
            world.does(action);
        }
        world.settle();
    }
}

#[test]
fn deaths_in_a_row_wait_longer_and_a_session_in_between_forgives_them() {
    let mut world = World::new();
    let failures = |world: &World| match world.lifecycle.state() {
        DeviceState::Dead { failures, .. } => *failures,
        other => panic!("{other:?}"),
    };
    for expected in 1..4 {
        world.does(Action::Request(Fleet::One));
        world.does(Action::Wake);
        world.does(Action::DoesNotConnect);
        assert_eq!(failures(&world), expected);
    }
    world.does(Action::Request(Fleet::One));
    for action in [
        Action::Wake,
        Action::Connects,
        Action::GivesBack,
        Action::Ends,
    ] {
        world.does(action);
    }
    world.does(Action::Request(Fleet::One));
    world.does(Action::Dies);
    assert_eq!(failures(&world), 1);
}

#[test]
fn a_driver_that_dies_while_it_connects_is_an_answer_to_those_who_wait() {
    let mut world = World::new();
    world.does(Action::Request(Fleet::One));
    world.does(Action::Dies);
    assert_eq!(world.unanswered, []);
}

#[test]
fn who_comes_while_an_attempt_fails_is_not_blamed_with_it() {
    let mut world = World::new();
    world.does(Action::Request(Fleet::One));
    world.does(Action::Request(Fleet::One));
    world.does(Action::DoesNotConnect);
    assert_eq!(
        world.unanswered,
        [(Ticket(2), ConnectorId(1))],
        "the first was told, the second waits on"
    );
    let (_, reason) = world.lifecycle.waiting().next().expect("the second");
    assert_eq!(
        reason.to_string(),
        "restarting after: lost the device: unplugged"
    );
}

#[test]
fn what_one_fleet_cannot_connect_is_no_answer_to_those_of_another() {
    let mut world = World::new();
    for fleet in [Fleet::One, Fleet::One, Fleet::Other, Fleet::One] {
        world.does(Action::Request(fleet));
    }
    let waiting = |world: &World| {
        world
            .unanswered
            .iter()
            .map(|(it, _)| it.0)
            .collect::<Vec<_>>()
    };
    // Who asked when it was being connected already waits for the next attempt.
    world.does(Action::DoesNotConnect);
    assert_eq!(waiting(&world), [2, 3, 4]);
    world.does(Action::Wake);
    world.does(Action::DoesNotConnect);
    assert_eq!(waiting(&world), [3]);
    world.does(Action::Wake);
    world.does(Action::Connects);
    assert_eq!(waiting(&world), [0_u64; 0]);
}

#[test]
fn nobody_waits_for_a_connection_that_nobody_wants_any_more() {
    let mut world = World::new();
    world.does(Action::Request(Fleet::One));
    world.does(Action::Request(Fleet::Other));
    world.does(Action::Leave(0));
    world.does(Action::Stops);
    assert_eq!(world.driver, Some(Driver::Connecting));
    assert_eq!(world.lifecycle.driver(), Some(world.connectors[1]));
}
