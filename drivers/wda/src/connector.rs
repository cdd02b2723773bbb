//! From an endpoint to a connected device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use packtrain_drivers::{
    BoxFuture, Classifier, CommandContext, Connector, DeviceId, DeviceInfo, Driver, DriverError,
    EventSink, Platform, Size, event_channel,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::driver::WdaDriver;
use crate::endpoint::WdaEndpoint;
use crate::kit::Kit;
use crate::route::Route;
use crate::start::Starter;

/// What is known of a device before it is connected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) tablet: Option<bool>,
    /// What people call it.
    pub(crate) model: Option<String>,
    /// Version of iOS.
    pub(crate) version: Option<String>,
}

/// Leads to one iOS device.
pub struct WdaConnector {
    id: DeviceId,
    classifiers: Vec<String>,
    known: Known,
    route: Route,
    kit: Kit,
    starter: Option<Arc<Starter>>,
}

impl WdaConnector {
    pub(crate) fn new(
        endpoint: &WdaEndpoint,
        known: Known,
        route: Route,
        kit: Kit,
        starter: Option<Arc<Starter>>,
    ) -> Self {
        Self {
            id: DeviceId::new(Platform::Ios, endpoint.name.clone()),
            classifiers: endpoint.classifiers.clone(),
            known,
            route,
            kit,
            starter,
        }
    }

    pub(crate) const fn kit(&self) -> &Kit {
        &self.kit
    }

    pub(crate) const fn known(&self) -> &Known {
        &self.known
    }

    pub(crate) fn learn(&mut self, known: Known) {
        self.known = known;
    }

    /// What WebDriverAgent says of the device, if it runs; it is not started for that.
    pub(crate) async fn ask(&self) -> Option<Known> {
        let (events, _) = event_channel();
        let mut agent = Agent::new(self.route.client(), None, events);
        let ctx = CommandContext {
            deadline: Instant::now() + Duration::from_secs(60),
            cancel: CancellationToken::new(),
        };
        let status = agent.status(&ctx).await.ok()?;
        Some(told(&status))
    }

    async fn open(
        &self,
        events: EventSink,
        ctx: &CommandContext,
    ) -> Result<WdaDriver, DriverError> {
        let mut agent = Agent::new(self.route.client(), self.starter.clone(), events);
        let status = agent.status(ctx).await?;
        let told = told(&status);
        let known = Known {
            tablet: self.known.tablet.or(told.tablet),
            model: self.known.model.clone().or(told.model),
            version: told.version.or_else(|| self.known.version.clone()),
        };
        if known
            .tablet
            .is_some_and(|tablet| tablet != self.is_tablet())
        {
            tracing::warn!(device = %self.id, "the device is not what its classifiers say");
        }
        WdaDriver::connect(self.info(&known), agent, self.kit.clone(), ctx).await
    }

    fn is_tablet(&self) -> bool {
        match self.classifiers.as_slice() {
            [] => self.known.tablet == Some(true),
            classifiers => classifiers.iter().any(|classifier| classifier == "ipad"),
        }
    }

    fn info(&self, known: &Known) -> DeviceInfo {
        let kind = if self.is_tablet() { "ipad" } else { "iphone" };
        let classifiers = match self.classifiers.as_slice() {
            [] => vec!["ios".into(), kind.into()],
            configured => configured.iter().cloned().map(Classifier).collect(),
        };
        let model = known.model.clone();
        let unnamed = if self.is_tablet() { "iPad" } else { "iPhone" };
        DeviceInfo {
            id: self.id.clone(),
            driver: "ios-host".to_owned(),
            classifiers,
            model: model.unwrap_or_else(|| unnamed.to_owned()),
            system: match &known.version {
                Some(version) => format!("iOS {version}"),
                None => "iOS".to_owned(),
            },
            screen: Size::new(0.0, 0.0),
        }
    }
}

/// What the answer to `/status` says of the device.
fn told(status: &Value) -> Known {
    let text = |pointer: &str| {
        let text = status.pointer(pointer).and_then(Value::as_str);
        text.filter(|text| text.len() <= 64).map(str::to_owned)
    };
    Known {
        tablet: text("/device").map(|device| device == "ipad"),
        model: None,
        version: text("/os/version"),
    }
}

impl Connector for WdaConnector {
    fn id(&self) -> &DeviceId {
        &self.id
    }

    fn describe(&self) -> DeviceInfo {
        self.info(&self.known)
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        Box::pin(async move {
            let opened = tokio::select! {
                biased;
                () = ctx.cancel.cancelled() => return Err(DriverError::Cancelled),
                opened = self.open(events, ctx) => opened,
            };
            match opened {
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
