//! Apps: started, stopped, listed, and what is done to the device around them.

use std::path::Path;
use std::time::Duration;

use packtrain_drivers::{
    ActionReport, CommandContext, DriverError, LaunchMode, Observation, Reach,
};
use serde_json::{Value, json};

use super::{Result, WdaDriver, begin, done, noted};
use crate::access::DeviceAccess;
use crate::agent::{AppData, Failure, Launch, WdaRequest};
use crate::alert::Permission;
use crate::lockdown::{self, DeviceApp};
use crate::simctl::SimctlError;

/// The system's own apps, which cannot be reinstalled.
const SYSTEM: &str = "com.apple.";
/// What `XCUIApplicationState` calls an app that is not there.
const NOT_INSTALLED: u64 = 0;
/// How long an app may take to open an address.
const OPEN_URL_TIMEOUT: Duration = Duration::from_secs(120);

impl WdaDriver {
    pub(super) async fn launch(
        &mut self,
        id: &str,
        mode: LaunchMode,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        check_id(id)?;
        let mut notes = Vec::new();
        let launch = match (mode, &self.access) {
            (LaunchMode::Resume, _) => Launch::AsItIs,
            (LaunchMode::ForceRestart, _) => Launch::Afresh,
            (LaunchMode::Reinstall, _) if id.starts_with(SYSTEM) => {
                notes.push("a system app keeps its data: it was only restarted".to_owned());
                Launch::Afresh
            }
            (LaunchMode::Reinstall, DeviceAccess::Simulator { simctl, udid }) => {
                simctl.reinstall(udid, id).await.map_err(refused)?;
                Launch::Afresh
            }
            (LaunchMode::Reinstall, DeviceAccess::Bare | DeviceAccess::Device { .. }) => {
                Launch::Cleared
            }
        };
        self.front_changes();
        self.state.unbindable = None;
        match self.agent.bind(id, launch, ctx).await {
            Ok(data) => {
                if (launch, data) == (Launch::Cleared, AppData::Kept) {
                    notes.push(
                        "the app kept its data: iOS does not allow clearing it, so the app was only \
                         restarted; uninstall and install it for a clean start"
                            .to_owned(),
                    );
                }
                Ok(Observation::Done(ActionReport {
                    located: None,
                    notes,
                }))
            }
            Err(Failure::Refused(refusal)) => {
                let what = if self.is_missing(id, ctx).await? {
                    format!("launch {id}: no such app is installed")
                } else {
                    format!("launch {id}: {refusal}")
                };
                let log = vec![refusal.message];
                Err(DriverError::Unmet { what, log })
            }
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    async fn is_missing(&mut self, id: &str, ctx: &CommandContext) -> Result<bool> {
        let body = json!({"bundleId": id});
        let request = WdaRequest::post("look for the app", "/wda/apps/state", &body).harmless();
        match self.ask(&request, ctx).await {
            Ok(reply) => Ok(reply.parse::<Value>(request.doing())?.as_u64() == Some(NOT_INSTALLED)),
            Err(Failure::Refused(_)) => Ok(false),
            Err(Failure::Driver(error)) => Err(error),
        }
    }

    pub(super) async fn stop(&mut self, id: &str, ctx: &CommandContext) -> Result<Observation> {
        check_id(id)?;
        let body = json!({"bundleId": id});
        let request = WdaRequest::post("stop the app", "/wda/apps/terminate", &body).harmless();
        self.have(&request, ctx).await?;
        self.front_changes();
        done()
    }

    pub(super) async fn clear(&mut self, id: &str, ctx: &CommandContext) -> Result<Observation> {
        check_id(id)?;
        let DeviceAccess::Simulator { simctl, udid } = self.access.clone() else {
            return Err(self.unsupported("clear app data"));
        };
        self.stop(id, ctx).await?;
        simctl.reinstall(&udid, id).await.map_err(refused)?;
        done()
    }

    pub(super) async fn install(&self, file: &Path) -> Result<Observation> {
        let DeviceAccess::Simulator { simctl, udid } = &self.access else {
            return Err(self.unsupported("install app"));
        };
        if !file.exists() {
            let what = format!("{} does not exist", file.display());
            return Err(DriverError::Invalid(what));
        }
        simctl.install(udid, file).await.map_err(refused)?;
        done()
    }

    pub(super) async fn uninstall(&self, id: &str) -> Result<Observation> {
        check_id(id)?;
        let DeviceAccess::Simulator { simctl, udid } = &self.access else {
            return Err(self.unsupported("uninstall app"));
        };
        simctl.uninstall(udid, id).await.map_err(refused)?;
        done()
    }

    pub(super) async fn list(&self, system: bool) -> Result<Observation> {
        let apps = match &self.access {
            DeviceAccess::Bare => return Err(self.unsupported("list apps")),
            DeviceAccess::Simulator { simctl, udid } => simctl.apps(udid).await.map_err(refused)?,
            DeviceAccess::Device { usbmuxd, udid } => {
                let listed = lockdown::apps(usbmuxd, udid, system).await;
                listed.map_err(|error| DriverError::Unmet {
                    what: format!("list apps: {error}"),
                    log: vec![error.hint().to_owned()],
                })?
            }
        };
        let apps = apps.into_iter().filter(|app| system || !app.system);
        Ok(Observation::Json(apps.map(told).collect()))
    }

    pub(super) async fn foreground(&mut self, ctx: &CommandContext) -> Result<Observation> {
        let id = self.active_app(ctx).await?;
        Ok(Observation::Json(
            id.map_or(Value::Null, |id| json!({"id": id})),
        ))
    }

    pub(super) async fn open_url(
        &mut self,
        url: &str,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        if url.trim().is_empty() {
            return Err(DriverError::Invalid("the address is empty".to_owned()));
        }
        let url = &Reach::confine(self.state.reach.as_ref(), url, || Ok(url.to_owned()))?;
        self.front_changes();
        let request = WdaRequest::post("open the address", "/url", &json!({"url": url}))
            .within(OPEN_URL_TIMEOUT);
        match (self.ask(&request, ctx).await, &self.access) {
            (Ok(_), _) => done(),
            // Before iOS 16.4 WebDriverAgent cannot; a simulator's own tool always could.
            (Err(Failure::Refused(_)), DeviceAccess::Simulator { simctl, udid }) => {
                simctl.open_url(udid, url).await.map_err(refused)?;
                done()
            }
            (Err(failure), _) => Err(failure.into_error(request.doing())),
        }
    }

    pub(super) async fn grant(&mut self, id: &str, permissions: &[String]) -> Result<Observation> {
        check_id(id)?;
        let mut later = Vec::new();
        for name in permissions {
            let permission = Permission::named(name).ok_or_else(|| {
                DriverError::Invalid(format!(
                    "iOS has no permission `{name}`; it has {}",
                    Permission::names()
                ))
            })?;
            if let (DeviceAccess::Simulator { simctl, udid }, Some(service)) =
                (&self.access, permission.service)
            {
                simctl.grant(udid, service, id).await.map_err(refused)?;
                continue;
            }
            later.push(permission.name);
            self.state.grants.push((id.to_owned(), permission));
        }
        if later.is_empty() {
            done()
        } else {
            noted(format!(
                "{}: granted when the app asks; it cannot be granted beforehand",
                later.join(", ")
            ))
        }
    }

    pub(super) async fn rotate(
        &mut self,
        landscape: bool,
        ctx: &CommandContext,
    ) -> Result<Observation> {
        // Noted first: whatever comes of it, the end of the session turns it back.
        self.state.turned = true;
        let request = begin::turn(if landscape { "LANDSCAPE" } else { "PORTRAIT" });
        self.have(&request, ctx).await?;
        self.state.screen = None;
        done()
    }
}

fn told(app: DeviceApp) -> Value {
    let mut told = json!({"id": app.id, "system": app.system});
    if let Some(name) = app.name {
        told["name"] = name.into();
    }
    if let Some(version) = app.version {
        told["version"] = version.into();
    }
    told
}

/// A bundle id is letters, digits, points and dashes. (`CFBundleIdentifier`)
fn check_id(id: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    if !id.is_empty() && id.chars().all(plain) && !id.starts_with('-') {
        Ok(())
    } else {
        Err(DriverError::Invalid(format!("invalid bundle id `{id}`")))
    }
}

fn refused(error: SimctlError) -> DriverError {
    DriverError::unmet(error.to_string())
}
