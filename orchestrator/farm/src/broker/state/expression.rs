//! Demands ask by few expressions: which devices match each is worked out once.

use std::collections::{BTreeMap, BTreeSet};

use super::State;
use super::table::{DeviceAt, ExpressionAt, HostAt, RunAt};
use crate::requirement::Requirement;

/// What some demands want of a device.
#[derive(Debug)]
pub(super) struct Expression {
    /// As it was written.
    pub(super) on: String,
    /// What it means, or why it means nothing.
    pub(super) requirement: Result<Requirement, String>,
    /// The devices that match, in service or not.
    pub(super) matching: BTreeSet<DeviceAt>,
    /// Those of them that are in service.
    pub(super) in_service: BTreeSet<DeviceAt>,
    /// Those of them that are free.
    pub(super) free: BTreeMap<Pool, BTreeSet<DeviceAt>>,
    /// The runs with sessions that wait for it.
    pub(super) waiting: BTreeSet<RunAt>,
    /// How many runs asked for it.
    pub(super) runs: usize,
}

/// Devices of one host that share its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pool {
    pub(super) host: HostAt,
    /// Whether they are browsers, which have a limit of their own.
    pub(super) is_browsers: bool,
}

impl State {
    /// The place of an expression, for one more run.
    pub(super) fn use_expression(&mut self, on: &str) -> ExpressionAt {
        if let Some(at) = self.expressions.place(&on.to_owned()) {
            self.expressions[at].runs += 1;
            return at;
        }
        let expression = Expression {
            on: on.to_owned(),
            requirement: Requirement::parse(on).map_err(|error| error.to_string()),
            matching: BTreeSet::new(),
            in_service: BTreeSet::new(),
            free: BTreeMap::new(),
            waiting: BTreeSet::new(),
            runs: 1,
        };
        let at = self.expressions.insert(on.to_owned(), expression);
        for device in self.devices.places() {
            if self.matches(at, device) {
                self.devices[device].expressions.push(at);
                self.link(at, device);
            }
        }
        at
    }

    /// One run less asks for it.
    pub(super) fn release_expression(&mut self, at: ExpressionAt) {
        let expression = &mut self.expressions[at];
        expression.runs -= 1;
        if expression.runs > 0 {
            return;
        }
        let on = expression.on.clone();
        for device in std::mem::take(&mut expression.matching) {
            (self.devices[device].expressions).retain(|expression| *expression != at);
        }
        self.expressions.remove(&on);
    }

    /// Recomputes which expressions a device matches.
    pub(super) fn match_device(&mut self, device: DeviceAt) {
        for at in std::mem::take(&mut self.devices[device].expressions) {
            self.unlink(at, device);
            self.expressions[at].matching.remove(&device);
        }
        for at in self.expressions.places() {
            if self.matches(at, device) {
                self.devices[device].expressions.push(at);
                self.link(at, device);
            }
        }
    }

    fn matches(&self, at: ExpressionAt, device: DeviceAt) -> bool {
        match (
            &self.expressions[at].requirement,
            &self.devices[device].subject,
        ) {
            (Ok(requirement), Some(subject)) => requirement.matches(subject),
            (Err(_), _) | (_, None) => false,
        }
    }

    /// Puts a device where it belongs among an expression's devices.
    pub(super) fn link(&mut self, at: ExpressionAt, place: DeviceAt) {
        let device = &self.devices[place];
        let expression = &mut self.expressions[at];
        expression.matching.insert(place);
        if device.is_in_service {
            expression.in_service.insert(place);
            if !device.is_busy {
                (expression.free.entry(device.pool()).or_default()).insert(place);
            }
        }
    }

    /// Takes a device out of those in service and those that are free.
    pub(super) fn unlink(&mut self, at: ExpressionAt, place: DeviceAt) {
        let pool = self.devices[place].pool();
        let expression = &mut self.expressions[at];
        expression.in_service.remove(&place);
        if let Some(devices) = expression.free.get_mut(&pool) {
            devices.remove(&place);
            if devices.is_empty() {
                expression.free.remove(&pool);
            }
        }
    }
}
