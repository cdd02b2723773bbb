//! What is plugged in and booted, as it comes and goes. What is configured is always there and none of
//! this.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::Connector;
use tokio::time::{Instant, sleep};

use crate::endpoint::WdaEndpoint;
use crate::pool::WdaPool;
use crate::simctl::Simulator;

/// How often usbmuxd is asked, which answers from memory.
const USBMUXD_POLL: Duration = Duration::from_secs(1);
/// How often simulators are listed, which takes a tenth of a second of a core.
const SIMULATORS_POLL: Duration = Duration::from_secs(10);

/// The devices that are not configured, now and after every change.
pub struct WdaWatch {
    pool: Arc<WdaPool>,
    /// By name. A connector is kept for as long as its device is there.
    known: BTreeMap<String, Arc<dyn Connector>>,
    plugged_in: Vec<String>,
    simulators: Vec<Simulator>,
    /// When simulators are listed again.
    list_simulators: Instant,
    has_begun: bool,
}

impl WdaPool {
    /// The devices from now on. Nothing is asked before [`WdaWatch::next`] is.
    pub fn watch(self: &Arc<Self>) -> WdaWatch {
        WdaWatch {
            pool: Arc::clone(self),
            known: BTreeMap::new(),
            plugged_in: Vec::new(),
            simulators: Vec::new(),
            list_simulators: Instant::now(),
            has_begun: false,
        }
    }
}

impl WdaWatch {
    /// What is there: first of all, then after each change, each asked once what it is. A usbmuxd that is
    /// away has no devices.
    pub async fn next(&mut self) -> Vec<Arc<dyn Connector>> {
        loop {
            if std::mem::replace(&mut self.has_begun, true) {
                sleep(USBMUXD_POLL).await;
                if !self.look().await {
                    continue;
                }
            } else {
                self.look().await;
            }
            return self.known.values().cloned().collect();
        }
    }

    /// Answers whether there is anything new.
    async fn look(&mut self) -> bool {
        match self.pool.listed().await {
            Ok(plugged_in) => self.plugged_in = plugged_in,
            // It says neither that they are there nor that they are not.
            Err(error) => tracing::debug!(%error, "devices were not listed"),
        }
        if Instant::now() >= self.list_simulators {
            match self.pool.listed_simulators().await {
                Ok(simulators) => self.simulators = simulators,
                Err(error) => tracing::debug!(%error, "simulators were not listed"),
            }
            self.list_simulators = Instant::now() + SIMULATORS_POLL;
        }
        let found = self.pool.found(&self.simulators, &self.plugged_in);
        let count = self.known.len();
        let is_there = |name: &String| found.iter().any(|endpoint| endpoint.name == *name);
        for (name, _) in self.known.extract_if(.., |name, _| !is_there(name)) {
            self.pool.let_go(&name);
        }
        let is_new = |endpoint: &WdaEndpoint| !self.known.contains_key(&endpoint.name);
        let new: Vec<_> = found.into_iter().filter(is_new).collect();
        let mut has_changed = self.known.len() != count;
        let introduced = self.pool.introduce(&new, &self.simulators).await;
        let introduced = introduced.unwrap_or_else(|error| {
            tracing::debug!(%error, "devices that came are not taken yet");
            Vec::new()
        });
        for connector in introduced {
            let name = connector.id().name().to_owned();
            self.known.insert(name, connector);
            has_changed = true;
        }
        has_changed
    }
}
