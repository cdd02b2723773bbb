//! What only Android can do: shell commands, app operations, broadcasts, files.

use packtrain_drivers::{AndroidCommand, DriverError, Observation};
use serde_json::json;
use tokio::time::Instant;

use crate::device::{AndroidDevice, Result, reason, unmet};
use crate::session::Restore;
use crate::wire::shell::quote;

/// The status bar's demo mode, as Android's own screenshots have it.
const DEMO: [&str; 6] = [
    "enter",
    "clock -e hhmm 1200",
    "battery -e level 100 -e plugged false",
    "network -e wifi show -e level 4 -e fully true",
    "network -e mobile show -e datatype none -e level 4",
    "notifications -e visible false",
];

impl AndroidDevice {
    /// Carries out an Android command.
    pub(crate) async fn android(
        &self,
        command: AndroidCommand,
        restore: &mut Restore,
        deadline: Instant,
    ) -> Result<Observation> {
        match command {
            AndroidCommand::Shell { argv, run_as } => {
                return self.run(&argv, run_as.as_deref(), deadline).await;
            }
            AndroidCommand::AppOp { id, operation } => {
                let command = format!("appops set {} {} allow", quote(&id), quote(&operation));
                self.silent("set the app operation", &command, deadline)
                    .await?;
            }
            AndroidCommand::Broadcast {
                action,
                component,
                extras,
            } => {
                let command = broadcast(&action, &component, &extras)?;
                let output = self.shell_once(&command, deadline).await?;
                if output.exit != 0 || !output.out().contains("Broadcast completed") {
                    return Err(unmet(format!("broadcast {action}: {}", reason(&output))));
                }
            }
            AndroidCommand::DemoMode { enable } => {
                restore.demo_mode |= enable;
                self.demo_mode(enable, deadline).await?;
            }
            AndroidCommand::WriteFile { path, bytes } => {
                self.write_file(&path, bytes, deadline).await?;
            }
            AndroidCommand::AddMedia { name, bytes, mime } => {
                let path = self.add_media(&name, bytes, &mime, deadline).await?;
                return Ok(Observation::Text(path));
            }
        }
        Ok(Observation::Done(packtrain_drivers::ActionReport::default()))
    }

    async fn run(
        &self,
        argv: &[String],
        run_as: Option<&str>,
        deadline: Instant,
    ) -> Result<Observation> {
        if argv.is_empty() {
            return Err(
                DriverError::Invalid("a shell command without a program".to_owned()).into(),
            );
        }
        let words = run_as.map(|id| ["run-as", id]).into_iter().flatten();
        let words = words.chain(argv.iter().map(String::as_str));
        let line = words.map(quote).collect::<Vec<_>>().join(" ");
        // No input follows.
        let output = self
            .shell_once(&format!("{line} </dev/null"), deadline)
            .await?;
        Ok(Observation::Json(json!({
            "stdout": output.out(),
            "stderr": output.err(),
            "exit": output.exit,
        })))
    }

    /// Runs a command that prints nothing when it succeeds.
    async fn silent(&self, doing: &str, command: &str, deadline: Instant) -> Result<()> {
        let output = self.shell(command, deadline).await?;
        if output.exit == 0 && output.said().is_empty() {
            return Ok(());
        }
        Err(unmet(format!("{doing}: {}", reason(&output))))
    }

    /// Turns the status bar's demo mode on or off.
    pub(crate) async fn demo_mode(&self, enable: bool, deadline: Instant) -> Result<()> {
        let send = |what: &str| {
            format!("am broadcast -a com.android.systemui.demo -e command {what} >/dev/null")
        };
        let command = if enable {
            let sends: Vec<_> = DEMO.iter().map(|what| send(what)).collect();
            format!(
                "settings put global sysui_demo_allowed 1 && {}",
                sends.join(" && ")
            )
        } else {
            send("exit")
        };
        self.silent("set the demo mode", &command, deadline).await
    }

    async fn write_file(&self, path: &str, bytes: Vec<u8>, deadline: Instant) -> Result<()> {
        if !path.starts_with('/') || path.contains('\0') {
            let message = format!("`{path}` is not an absolute path");
            return Err(DriverError::Invalid(message).into());
        }
        let open = || std::future::ready(Ok(std::io::Cursor::new(bytes.as_slice())));
        Ok(self.phone.push(path, 0o644, open, deadline).await?)
    }

    /// Puts a medium where the gallery looks and tells it; answers the path.
    async fn add_media(
        &self,
        name: &str,
        bytes: Vec<u8>,
        mime: &str,
        deadline: Instant,
    ) -> Result<String> {
        let is_name = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
        if !is_name {
            let message = format!("invalid file name `{name}`");
            return Err(DriverError::Invalid(message).into());
        }
        let path = format!("/sdcard/{}/{name}", folder_for(mime));
        self.write_file(&path, bytes, deadline).await?;
        // Android 10 and later scan on demand; before, a broadcast did it. One of them works.
        let scan = format!(
            "content call --uri content://media --method scan_volume --arg external_primary \
             >/dev/null 2>&1; am broadcast -a android.intent.action.MEDIA_SCANNER_SCAN_FILE \
             -d {} >/dev/null",
            quote(&format!("file://{path}"))
        );
        let output = self.shell(&scan, deadline).await?;
        if output.exit != 0 {
            return Err(unmet(format!(
                "show {path} in the gallery: {}",
                reason(&output)
            )));
        }
        Ok(path)
    }
}

/// The folder of shared storage for a kind of media.
fn folder_for(mime: &str) -> &'static str {
    match mime.split('/').next() {
        Some("image") => "Pictures",
        Some("video") => "Movies",
        Some("audio") => "Music",
        _ => "Download",
    }
}

/// `am broadcast` with its extras.
fn broadcast(action: &str, component: &str, extras: &[(String, String, String)]) -> Result<String> {
    let mut command = format!("am broadcast -a {}", quote(action));
    if !component.is_empty() {
        command.push_str(&format!(" -n {}", quote(component)));
    }
    for (name, kind, value) in extras {
        let option = match kind.to_ascii_lowercase().as_str() {
            "string" => "--es",
            "int" => "--ei",
            "long" => "--el",
            "float" => "--ef",
            "bool" | "boolean" => "--ez",
            other => {
                let message = format!(
                    "extra `{name}` of type `{other}`: expected string, int, long, float or bool"
                );
                return Err(DriverError::Invalid(message).into());
            }
        };
        command.push_str(&format!(" {option} {} {}", quote(name), quote(value)));
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extras_are_typed_and_quoted() {
        let extra = |name: &str, kind: &str, value: &str| {
            (name.to_owned(), kind.to_owned(), value.to_owned())
        };
        let command = broadcast(
            "com.a.GO",
            "com.a/.Receiver",
            &[
                extra("who", "string", "it's me; reboot"),
                extra("count", "int", "3"),
            ],
        );
        assert_eq!(
            command.unwrap(),
            r"am broadcast -a com.a.GO -n com.a/.Receiver --es who 'it'\''s me; reboot' --ei count 3"
        );
        assert!(broadcast("a", "b", &[extra("x", "blob", "")]).is_err());
    }

    #[test]
    fn media_lie_where_the_gallery_looks() {
        assert_eq!(folder_for("image/png"), "Pictures");
        assert_eq!(folder_for("video/mp4"), "Movies");
        assert_eq!(folder_for("application/pdf"), "Download");
    }
}
