//! From an endpoint to a connected device.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use packtrain_drivers::{
    AxisRestore, BoxFuture, Classifier, CommandContext, Connector, DeviceId, DeviceInfo, Driver,
    DriverError, EventSink, Platform, RestoreFile, Size, event_channel,
};

use crate::access::DeviceAccess;
use crate::agent::Agent;
use crate::driver::{Restoring, WdaDriver};
use crate::endpoint::WdaEndpoint;
use crate::facts::{self, DeviceFacts, Screen};
use crate::route::Route;
use crate::start::Starter;

/// Leads to one iOS device.
pub struct WdaConnector {
    id: DeviceId,
    classifiers: Vec<String>,
    facts: DeviceFacts,
    route: Route,
    access: DeviceAccess,
    starter: Option<Arc<Starter>>,
    restore: Option<RestoreFile>,
    /// Why it must not be connected.
    refusal: Option<DriverError>,
}

impl WdaConnector {
    pub(crate) fn new(
        endpoint: &WdaEndpoint,
        facts: DeviceFacts,
        route: Route,
        access: DeviceAccess,
        starter: Option<Arc<Starter>>,
        restore: Option<&Path>,
    ) -> Self {
        let id = DeviceId::new(Platform::Ios, endpoint.name.clone());
        Self {
            restore: restore
                .map(|folder| RestoreFile::new(folder, &id, packtrain_program::started)),
            id,
            classifiers: endpoint.classifiers.clone(),
            facts,
            route,
            access,
            starter,
            refusal: None,
        }
    }

    /// Has everybody who would connect to it told why not, and what can be done about it.
    pub(crate) fn refuse(&mut self, why: &str, hint: &str) {
        self.refusal = Some(DriverError::Lost {
            cause: why.to_owned(),
            hint: Some(hint.to_owned()),
        });
    }

    pub(crate) const fn access(&self) -> &DeviceAccess {
        &self.access
    }

    pub(crate) const fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    pub(crate) fn learn(&mut self, facts: DeviceFacts) {
        self.facts = facts;
    }

    /// What WebDriverAgent says of the device, if it runs; it is not started for that.
    pub(crate) async fn ask(&self) -> Option<DeviceFacts> {
        let (events, _) = event_channel();
        let mut agent = Agent::new(self.route.client(), None, events);
        let ctx = CommandContext::within(Duration::from_secs(60));
        let status = agent.status(&ctx).await.ok()?;
        let screen = Screen::of(&mut agent, &ctx).await.ok();
        Some(DeviceFacts {
            model: facts::name(&mut agent, &ctx).await,
            screen: screen.map(|screen| screen.size),
            ..DeviceFacts::of_status(&status)
        })
    }

    async fn open(
        &self,
        events: EventSink,
        ctx: &CommandContext,
    ) -> Result<WdaDriver, DriverError> {
        if let Some(refusal) = self.refusal.clone() {
            return Err(refusal);
        }
        // What answered before may be another program by now.
        if let Some(starter) = &self.starter {
            starter.forget();
        }
        let mut agent = Agent::new(self.route.client(), self.starter.clone(), events);
        let status = agent.status(ctx).await?;
        let axes = AxisRestore::new(self.restore.clone());
        let events = agent.events().clone();
        let device = Restoring::new(&mut agent, &self.access, ctx);
        axes.recover(&events, device).await?;
        let mut told = DeviceFacts::of_status(&status);
        if told.tablet.is_some_and(|tablet| tablet != self.is_tablet()) {
            tracing::warn!(device = %self.id, "the device is not what its classifiers say");
        }
        // Plans were made from what was known.
        told.tablet = self.facts.tablet.or(told.tablet);
        if self.facts.model.is_none() {
            told.model = facts::name(&mut agent, ctx).await;
        }
        let screen = Screen::of(&mut agent, ctx).await?;
        told.screen = Some(screen.size);
        let info = self.info(told.or(self.facts.clone()));
        Ok(WdaDriver::new(
            info,
            agent,
            self.access.clone(),
            screen.scale,
            axes,
        ))
    }

    fn is_tablet(&self) -> bool {
        match self.classifiers.as_slice() {
            [] => self.facts.tablet == Some(true),
            classifiers => classifiers.iter().any(|classifier| classifier == "ipad"),
        }
    }

    fn info(&self, facts: DeviceFacts) -> DeviceInfo {
        let (kind, unnamed) = if self.is_tablet() {
            ("ipad", "iPad")
        } else {
            ("iphone", "iPhone")
        };
        let classifiers = match self.classifiers.as_slice() {
            [] => vec!["ios".into(), kind.into()],
            configured => configured.iter().cloned().map(Classifier).collect(),
        };
        DeviceInfo {
            id: self.id.clone(),
            driver: "ios-host".to_owned(),
            classifiers,
            model: facts.model.unwrap_or_else(|| unnamed.to_owned()),
            system: match facts.version {
                Some(version) => format!("iOS {version}"),
                None => "iOS".to_owned(),
            },
            screen: facts.screen.unwrap_or(Size::new(0.0, 0.0)),
        }
    }
}

impl Connector for WdaConnector {
    fn id(&self) -> &DeviceId {
        &self.id
    }

    fn describe(&self) -> DeviceInfo {
        self.info(self.facts.clone())
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            match ctx.bound("connect", self.open(events, ctx)).await {
                Ok(driver) => Ok(Box::new(driver) as Box<dyn Driver>),
                // The contract knows one way not to connect.
                Err(DriverError::Timeout { doing, .. }) => Err(DriverError::Lost {
                    cause: format!("{doing}: no answer in time"),
                    hint: Some("look at the device; start WebDriverAgent again".to_owned()),
                }),
                Err(DriverError::Unmet { what, .. }) => Err(DriverError::Lost {
                    cause: what,
                    hint: Some(
                        "check that WebDriverAgent and nothing else listens there".to_owned(),
                    ),
                }),
                Err(error) => Err(error),
            }
        })
    }
}
