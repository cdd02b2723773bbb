//! Tools for what only Android can do.

mod broadcast;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use broadcast::SendBroadcast;
use packtrain_drivers::{AndroidCommand, AppCommand, Command, Observation, Platform};

use crate::builtin::{Tools, yes};
use crate::call::Call;
use crate::tool::{Answer, ToolError};

const ANDROID: &[Platform] = &[Platform::Android];

family!(ANDROID; action Action);

/// Lines of a failed command's output that are kept.
const OUTPUT: usize = 20;

pub(super) fn tools() -> Tools {
    let mut tools = shell();
    tools.extend(files());
    tools
}

fn shell() -> Tools {
    tools![
        action::<AdbShell>(
            "android_adbShell",
            "Runs a command on the device and returns its output. Each argument reaches the \
             program as it is written.",
            body!(|arguments, call| adb_shell(arguments, call).await),
        )
        .internal()
        .unrecorded()
        .code("command")
        .running_device_commands(),
        action::<GrantPermissions>(
            "android_grantPermissions",
            "Grants an app runtime permissions, so that it does not ask for them.",
            body!(|arguments, call| {
                if arguments.permissions.is_empty() {
                    return Ok(Answer::text("no permissions to grant"));
                }
                let command = AppCommand::Grant {
                    id: arguments.app_id,
                    permissions: arguments.permissions,
                };
                call.act(Command::App(command)).await
            }),
        )
        .internal(),
        action::<GrantAppOps>(
            "android_grantAppOpsPermission",
            "Allows an app an operation such as SYSTEM_ALERT_WINDOW.",
            body!(|arguments, call| {
                if arguments.permission.starts_with("android.permission.") {
                    return Err(ToolError::Failed {
                        message: "name operations without `android.permission.`".to_owned(),
                        log: Vec::new(),
                        hint: Some(
                            "runtime permissions are for `android_grantPermissions`".to_owned(),
                        ),
                    });
                }
                let command = AndroidCommand::AppOp {
                    id: arguments.app_id,
                    operation: arguments.permission,
                };
                call.act(Command::Android(command)).await
            }),
        )
        .internal(),
        action::<SendBroadcast>(
            "android_sendBroadcast",
            "Sends a broadcast to a receiver of an app.",
            body!(|arguments, call| {
                let command = arguments.command()?;
                call.act(Command::Android(command)).await
            }),
        )
        .internal()
        .unrecorded(),
        action::<DemoMode>(
            "android_systemUiDemoMode",
            "Freezes clock, battery and signal in the status bar, or unfreezes them.",
            body!(|arguments, call| {
                let DemoMode { enable } = arguments;
                call.act(Command::Android(AndroidCommand::DemoMode { enable }))
                    .await
            }),
        )
        .internal(),
    ]
}

fn files() -> Tools {
    tools![
        action::<WriteBytes>(
            "android_writeBytesToFile",
            "Writes a file at a path on the device.",
            body!(|arguments, call| {
                let path = device_path(arguments.device_path)?;
                let bytes = decoded(&arguments.base64_content)?;
                write(call, path, bytes).await
            }),
        )
        .internal()
        .unrecorded()
        .hiding("base64Content"),
        action::<WriteToDownloads>(
            "android_writeFileToDownloads",
            "Writes a text file into the device's downloads.",
            body!(|arguments, call| {
                let name = file_name(&arguments.file_name)?;
                let path = format!("/storage/emulated/0/Download/{name}");
                write(call, path, arguments.content.into_bytes()).await
            }),
        )
        .internal()
        .unrecorded(),
        action::<WriteImage>(
            "android_writeImageToMediaStore",
            "Writes an image into the device's pictures and makes the gallery see it.",
            body!(|arguments, call| {
                let name = file_name(&arguments.file_name)?.to_owned();
                let bytes = decoded(&arguments.base64_content)?;
                let said = format!("wrote {} bytes to Pictures/{name}", bytes.len());
                let command = AndroidCommand::AddMedia {
                    name,
                    bytes,
                    mime: arguments.mime_type,
                };
                let answer = call.act(Command::Android(command)).await?;
                Ok(Answer {
                    text: Some(said),
                    ..answer
                })
            }),
        )
        .internal()
        .unrecorded(),
    ]
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
            let lines: Vec<_> = output.lines().map(str::to_owned).collect();
            let from = lines.len().saturating_sub(OUTPUT);
            // A tool that called back gets only the message.
            let reason = lines.iter().find(|line| line.starts_with("Error: "));
            let reason = reason.map_or(String::new(), |line| format!(": {line}"));
            Err(ToolError::Failed {
                message: match exit {
                    Some(code) => format!("{program} ended with exit code {code}{reason}"),
                    None => format!("the exit code of {program} is unknown"),
                },
                log: lines[from..].to_vec(),
                hint: None,
            })
        }
    }
}

async fn write(call: &Call<'_>, path: String, bytes: Vec<u8>) -> Result<Answer, ToolError> {
    let said = format!("wrote {} bytes to {path}", bytes.len());
    let command = Command::Android(AndroidCommand::WriteFile { path, bytes });
    let answer = call.act(command).await?;
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

arguments! {
    struct AdbShell {
        /// Program and arguments: `[am, force-stop, com.example]`.
        command: Vec<String>,
        /// Package name of a debuggable app to run it as.
        run_as: Option<String>,
    }

    struct GrantPermissions {
        /// Package name.
        app_id: String,
        /// `android.permission.CAMERA` ...
        permissions: Vec<String>,
    }

    struct GrantAppOps {
        /// Package name.
        app_id: String,
        /// The operation: `MANAGE_EXTERNAL_STORAGE`, `SYSTEM_ALERT_WINDOW` ...
        permission: String,
    }

    struct DemoMode {
        /// Freeze, or let go on.
        #[serde(default = "yes")]
        enable: bool,
    }
}

arguments! {
    struct WriteBytes {
        /// Path on the device, from the root: `/sdcard/Pictures/logo.png`.
        device_path: String,
        /// The content in base64.
        base64_content: String,
    }

    struct WriteToDownloads {
        /// Name of the file: `setup.json`.
        file_name: String,
        /// The content.
        content: String,
    }

    struct WriteImage {
        /// Name of the file: `photo.png`.
        file_name: String,
        /// The content in base64.
        base64_content: String,
        /// What kind of file it is.
        #[serde(default = "png")]
        mime_type: String,
    }
}

fn png() -> String {
    "image/png".to_owned()
}
