//! Starting an app, and making sure that it came to the front.

use std::time::Duration;

use packtrain_drivers::LaunchMode;
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};
use crate::focus::Focus;
use crate::wire::shell::quote;

/// How long an app that was started may take to come to the front.
pub(super) const LAUNCH_TIMEOUT: Duration = Duration::from_secs(10);
/// How often to look for it.
pub(super) const LAUNCH_POLL: Duration = Duration::from_millis(60);
/// What a launcher starts apps with: a new task, or the one there is.
const LAUNCHER_FLAGS: &str = "0x10200000";
/// Who asks for permissions when an app has barely started.
const PERMISSION_DIALOGS: [&str; 3] = [
    "com.android.permissioncontroller",
    "com.google.android.permissioncontroller",
    "com.android.packageinstaller",
];

impl AndroidDevice {
    /// Starts an app; answers what a reader should know of it.
    pub(super) async fn launch(
        &self,
        id: &str,
        mode: LaunchMode,
        deadline: Instant,
    ) -> Result<Vec<String>> {
        match mode {
            LaunchMode::Reinstall => self.clear_app(id, deadline).await?,
            LaunchMode::ForceRestart => self.stop_app(id, deadline).await?,
            LaunchMode::Resume => {}
        }
        let component = self.launcher_of(id, deadline).await?;
        // A whole command line in one: what the start prints is judged, not its exit code.
        let command = format!(
            "am start -W -a android.intent.action.MAIN -c android.intent.category.LAUNCHER \
             -f {LAUNCHER_FLAGS} -n {}",
            quote(&component)
        );
        let output = self.shell_once(&command, deadline).await?;
        let said = output.out();
        if output.exit != 0 || said.contains("Error:") || said.contains("Error type") {
            return Err(unmet(format!("start {id}: {}", reason(&output))));
        }
        // An app may hand over to another at once: what `am` saw last counts as well.
        let handed_to = said
            .lines()
            .find_map(|line| line.trim().strip_prefix("Activity: "))
            .and_then(|activity| activity.split('/').next());
        self.await_front(id, handed_to, deadline).await
    }

    /// The activity that a launcher would start.
    async fn launcher_of(&self, id: &str, deadline: Instant) -> Result<String> {
        let command = format!(
            "cmd package resolve-activity --brief -a android.intent.action.MAIN \
             -c android.intent.category.LAUNCHER {id}"
        );
        let output = self.shell(&command, deadline).await?;
        let out = output.out();
        let component = out.lines().map(str::trim).rev().find(|line| {
            line.split_once('/')
                .is_some_and(|(package, class)| package == id && !class.is_empty())
        });
        match component {
            Some(component) => Ok(component.to_owned()),
            None if !self.is_installed(id, deadline).await? => {
                Err(self.not_installed(id, deadline).await)
            }
            None => Err(unmet(format!("start {id}: it has no launcher activity"))),
        }
    }

    async fn await_front(
        &self,
        id: &str,
        handed_to: Option<&str>,
        deadline: Instant,
    ) -> Result<Vec<String>> {
        let limit = deadline.min(Instant::now() + LAUNCH_TIMEOUT);
        loop {
            let focus = self.focus(deadline).await?;
            if let Some(notes) = is_front(focus.as_ref(), id, handed_to) {
                return Ok(notes);
            }
            if Instant::now() + LAUNCH_POLL >= limit {
                let there = focus.map_or_else(
                    || "no app is in front".to_owned(),
                    |focus| format!("{} is in front", focus.package),
                );
                return Err(unmet(format!(
                    "start {id}: it did not come to the front; {there}"
                )));
            }
            tokio::time::sleep(LAUNCH_POLL).await;
        }
    }

    /// The error for an app that is not there, with those that have similar names.
    pub(super) async fn not_installed(
        &self,
        id: &str,
        deadline: Instant,
    ) -> crate::command_error::CommandError {
        let similar = match self.list_apps(false, deadline).await {
            Ok(apps) => similar(&apps, id),
            Err(_) => Vec::new(),
        };
        let hint = match similar.as_slice() {
            [] => String::new(),
            names => format!("; installed: {}", names.join(", ")),
        };
        unmet(format!("{id} is not installed{hint}"))
    }
}

/// What to say of a focus that means that the app was started; `None` while it does not.
fn is_front(focus: Option<&Focus>, id: &str, handed_to: Option<&str>) -> Option<Vec<String>> {
    let package = focus?.package.as_str();
    if package == id {
        return Some(Vec::new());
    }
    if PERMISSION_DIALOGS.contains(&package) {
        return Some(vec![format!("{id} asks for a permission")]);
    }
    (handed_to == Some(package)).then(|| vec![format!("{id} handed over to {package}")])
}

/// Names that share their first two parts or their last with the one that is missing.
fn similar(apps: &serde_json::Value, id: &str) -> Vec<String> {
    let vendor = |id: &str| id.split('.').take(2).collect::<Vec<_>>().join(".");
    let last = |id: &str| id.rsplit('.').next().map(str::to_owned);
    let ids = apps.as_array().into_iter().flatten();
    ids.filter_map(|app| app.get("id")?.as_str())
        .filter(|known| vendor(known) == vendor(id) || last(known) == last(id))
        .take(5)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_is_started_when_it_or_whom_it_calls_is_in_front() {
        let focus = |package: &str| Focus {
            package: package.to_owned(),
            activity: None,
        };
        let shop = "com.a";
        assert_eq!(is_front(None, shop, None), None);
        assert_eq!(is_front(Some(&focus("com.a")), shop, None), Some(vec![]));
        assert_eq!(
            is_front(Some(&focus("com.launcher")), shop, Some(shop)),
            None
        );
        let dialog = focus("com.android.permissioncontroller");
        let notes = is_front(Some(&dialog), shop, Some(shop)).unwrap();
        assert_eq!(notes, ["com.a asks for a permission"]);
        let other = is_front(Some(&focus("com.b")), shop, Some("com.b")).unwrap();
        assert_eq!(other, ["com.a handed over to com.b"]);
    }

    #[test]
    fn a_missing_app_is_compared_with_those_that_are_there() {
        let apps = serde_json::json!([
            { "id": "com.example.shop" }, { "id": "org.other.store" }, { "id": "com.third.app" }
        ]);
        assert_eq!(
            similar(&apps, "com.example.store"),
            ["com.example.shop", "org.other.store"]
        );
    }
}
