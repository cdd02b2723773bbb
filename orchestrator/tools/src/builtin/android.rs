//! Tools for what only Android can do.

mod broadcast;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use broadcast::SendBroadcast;
use packtrain_drivers::{AndroidCommand, AppCommand, Command, Observation, Platform};

use crate::builtin::{last_lines, yes};
use crate::call::Call;
use crate::tool::{Answer, ToolError};

const ANDROID: &[Platform] = &[Platform::Android];

tools! { ANDROID;
    /// Runs a command on the device and returns its output. Each argument reaches the
    /// program as it is written.
    Action android_adbShell AdbShell {
        /// Program and arguments: `[am, force-stop, com.example]`.
        command: Vec<String>,
        /// Package name of a debuggable app to run it as.
        run_as: Option<String>,
    }
    .internal()
    .unrecorded()
    .code("command")
    .running_device_commands()
    |arguments, call| adb_shell(arguments, call).await;

    /// Grants an app runtime permissions, so that it does not ask for them.
    Action android_grantPermissions GrantPermissions {
        /// Package name.
        app_id: String,
        /// `android.permission.CAMERA` ...
        permissions: Vec<String>,
    }
    .internal()
    |GrantPermissions { app_id: id, permissions }, call| {
        if permissions.is_empty() {
            return Ok(Answer::text("no permissions to grant"));
        }
        call.act(Command::App(AppCommand::Grant { id, permissions })).await
    };

    /// Allows an app an operation such as SYSTEM_ALERT_WINDOW.
    Action android_grantAppOpsPermission GrantAppOps {
        /// Package name.
        app_id: String,
        /// The operation: `MANAGE_EXTERNAL_STORAGE`, `SYSTEM_ALERT_WINDOW` ...
        permission: String,
    }
    .internal()
    |GrantAppOps { app_id: id, permission: operation }, call| {
        if operation.starts_with("android.permission.") {
            return Err(ToolError::hinted(
                "name operations without `android.permission.`",
                "runtime permissions are for `android_grantPermissions`",
            ));
        }
        android(call, AndroidCommand::AppOp { id, operation }).await
    };

    /// Sends a broadcast to a receiver of an app.
    Action android_sendBroadcast SendBroadcast
    .internal()
    .unrecorded()
    |arguments, call| android(call, arguments.command()?).await;

    /// Freezes clock, battery and signal in the status bar, or unfreezes them.
    Action android_systemUiDemoMode DemoMode {
        /// Freeze, or let go on.
        #[serde(default = "yes")]
        enable: bool,
    }
    .internal()
    |DemoMode { enable }, call| android(call, AndroidCommand::DemoMode { enable }).await;

    /// Writes a file at a path on the device.
    Action android_writeBytesToFile WriteBytes {
        /// Path on the device, from the root: `/sdcard/Pictures/logo.png`.
        device_path: String,
        /// The content in base64.
        base64_content: String,
    }
    .internal()
    .unrecorded()
    .hiding("base64Content")
    |arguments, call| {
        let path = device_path(arguments.device_path)?;
        let bytes = decoded(&arguments.base64_content)?;
        write(call, path, bytes).await
    };

    /// Writes a text file into the device's downloads.
    Action android_writeFileToDownloads WriteToDownloads {
        /// Name of the file: `setup.json`.
        file_name: String,
        /// The content.
        content: String,
    }
    .internal()
    .unrecorded()
    |arguments, call| {
        let name = file_name(&arguments.file_name)?;
        let path = format!("/storage/emulated/0/Download/{name}");
        write(call, path, arguments.content.into_bytes()).await
    };

    /// Writes an image into the device's pictures and makes the gallery see it.
    Action android_writeImageToMediaStore WriteImage {
        /// Name of the file: `photo.png`.
        file_name: String,
        /// The content in base64.
        base64_content: String,
        /// What kind of file it is.
        #[serde(default = "png")]
        mime_type: String,
    }
    .internal()
    .unrecorded()
    |arguments, call| {
        let name = file_name(&arguments.file_name)?.to_owned();
        let bytes = decoded(&arguments.base64_content)?;
        let said = format!("wrote {} bytes to Pictures/{name}", bytes.len());
        let mime = arguments.mime_type;
        let answer = android(call, AndroidCommand::AddMedia { name, bytes, mime }).await?;
        Ok(Answer { text: Some(said), ..answer })
    };
}

async fn android(call: &Call<'_>, command: AndroidCommand) -> Result<Answer, ToolError> {
    call.act(Command::Android(command)).await
}

async fn adb_shell(arguments: AdbShell, call: &Call<'_>) -> Result<Answer, ToolError> {
    let AdbShell { command, run_as } = arguments;
    let Some(program) = command.first().cloned() else {
        return Err(ToolError::failed("`command` is empty"));
    };
    if let Some(app) = &run_as
        && !is_package(app)
    {
        return Err(ToolError::failed(
            "invalid `runAs`: expected a package name",
        ));
    }
    let shell = AndroidCommand::Shell {
        argv: command,
        run_as,
    };
    let answer = call.device(Command::Android(shell)).await?;
    let Observation::Json(answer) = answer else {
        return Err(ToolError::failed("the device returned no output"));
    };
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    let output = format!("{}{}", text("stdout"), text("stderr"));
    match answer["exit"].as_i64() {
        Some(0) => Ok(Answer::text(output.trim_end())),
        exit => {
            // A tool that called back gets only the message.
            let reason = output.lines().find(|line| line.starts_with("Error: "));
            let reason = reason.map_or(String::new(), |line| format!(": {line}"));
            Err(ToolError::Failed {
                message: match exit {
                    Some(code) => format!("{program} ended with exit code {code}{reason}"),
                    None => format!("the exit code of {program} is unknown"),
                },
                log: last_lines(&output),
                hint: None,
            })
        }
    }
}

async fn write(call: &Call<'_>, path: String, bytes: Vec<u8>) -> Result<Answer, ToolError> {
    let said = format!("wrote {} bytes to {path}", bytes.len());
    let answer = android(call, AndroidCommand::WriteFile { path, bytes }).await?;
    Ok(Answer {
        text: Some(said),
        ..answer
    })
}

/// `com.example.app`, and nothing a shell could read anything into.
fn is_package(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    !name.is_empty() && name.chars().all(allowed)
}

/// An absolute path of a file that goes nowhere else.
fn device_path(path: String) -> Result<String, ToolError> {
    let reason = if !path.starts_with('/') {
        "it must begin with `/`"
    } else if path.chars().any(char::is_control) {
        "it has control characters in it"
    } else if path.split('/').any(|part| part == "..") {
        "it must not have `..` in it"
    } else if path.ends_with('/') {
        "it names a folder"
    } else {
        return Ok(path);
    };
    Err(ToolError::failed(format!(
        "`devicePath` {path:?}: {reason}"
    )))
}

/// A file name without a folder, in characters that mean nothing to a shell.
fn file_name(name: &str) -> Result<&str, ToolError> {
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ' ');
    let plain = !name.trim().is_empty() && name.chars().all(allowed);
    if plain && !matches!(name, "." | "..") {
        return Ok(name);
    }
    Err(ToolError::failed(format!(
        "`fileName` {name:?} must be a file's name without a folder, of letters, digits, `.`, `_` \
         and `-`"
    )))
}

fn decoded(base64: &str) -> Result<Vec<u8>, ToolError> {
    // The content may be a secret; the error tells where it is wrong and not what it is.
    let compact: String = base64.split_ascii_whitespace().collect();
    STANDARD
        .decode(compact)
        .map_err(|error| ToolError::failed(format!("invalid `base64Content`: {error}")))
}

fn png() -> String {
    "image/png".to_owned()
}
