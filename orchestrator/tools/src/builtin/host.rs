//! Tools that run programs on this computer.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::tool;
use crate::call::Call;
use crate::tool::{Answer, Kind, Tool, ToolError};

/// Bytes of output that are kept; the rest is read and dropped.
const OUTPUT: usize = 256 * 1024;

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    vec![
        tool::<Exec>(
            "exec",
            Kind::Action,
            "Runs a program on this computer and expects an exit code. Answers its output.",
            |mut arguments, call| {
                Box::pin(async move {
                    let options = arguments.options();
                    run(arguments.argv, options, call).await
                })
            },
        )
        .internal()
        .unrecorded()
        .code("argv")
        .running_host_commands()
        .done(),
        tool::<RunCommand>(
            "runCommand",
            Kind::Action,
            "Runs a shell command on this computer and expects an exit code. Answers its output.",
            |mut arguments, call| {
                Box::pin(async move {
                    let options = arguments.options();
                    let argv = vec!["sh".into(), "-c".into(), arguments.command];
                    run(argv, options, call).await
                })
            },
        )
        .internal()
        .unrecorded()
        .code("command")
        .running_host_commands()
        .done(),
    ]
}

async fn run(argv: Vec<String>, options: Options, call: &Call<'_>) -> Result<Answer, ToolError> {
    let Some((program, arguments)) = argv.split_first() else {
        return Err(ToolError::failed("`argv` is empty"));
    };
    let filter = options
        .output_filter_regex
        .as_deref()
        .map(regex::Regex::new)
        .transpose()
        .map_err(|error| ToolError::failed(format!("`outputFilterRegex`: {error}")))?;
    let folder = options
        .working_dir
        .map(std::path::PathBuf::from)
        .or_else(|| call.session.folders.last().cloned());
    let child = CommandWrap::with_new(program, |command| {
        command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = folder {
            command.current_dir(folder);
        }
    })
    .wrap(KillOnDrop)
    .wrap(ProcessGroup::leader())
    .spawn()
    .map_err(|error| ToolError::failed(format!("start {program}: {error}")))?;
    let mut group = Group {
        child,
        ended: false,
    };
    let child = &mut group.child;
    let (stdout, stderr) = (child.stdout().take(), child.stderr().take());
    let limit = options.timeout_seconds.map_or(call.remaining(), |seconds| {
        Duration::from_secs(seconds).min(call.remaining())
    });
    let finished = async {
        let (stdout, stderr) = tokio::join!(read(stdout), read(stderr));
        (child.wait().await, stdout, stderr)
    };
    let (status, stdout, stderr) = tokio::select! {
        finished = finished => finished,
        () = call.session.cancel.cancelled() => return Err(ToolError::Cancelled),
        () = tokio::time::sleep(limit) => {
            return Err(ToolError::failed(format!(
                "{program} did not end within {:.1} s",
                limit.as_secs_f64()
            )));
        }
    };
    group.ended = true;
    let status =
        status.map_err(|error| ToolError::failed(format!("wait for {program}: {error}")))?;
    let output = format!("{stdout}{stderr}");
    if status.code() != Some(options.expected_exit_code) {
        return Err(ToolError::Failed {
            message: format!(
                "{program} ended with {status}, expected {}",
                options.expected_exit_code
            ),
            log: output
                .lines()
                .rev()
                .take(20)
                .map(str::to_owned)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect(),
            hint: None,
        });
    }
    let output = match filter {
        Some(filter) => output
            .lines()
            .filter(|line| filter.is_match(line))
            .collect::<Vec<_>>()
            .join("\n"),
        None => output,
    };
    Ok(Answer::text(output.trim_end()))
}

/// A program with all that it started, which go with it when it did not end by itself.
struct Group {
    child: Box<dyn ChildWrapper>,
    ended: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            // What is gone already needs no killing.
            let _ = self.child.start_kill();
        }
    }
}

/// Reads to the end and keeps the first [`OUTPUT`] bytes.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else {
        return String::new();
    };
    let (mut kept, mut buffer) = (Vec::new(), vec![0; 16 * 1024]);
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        let room = OUTPUT.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..read.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Options of both tools, spelled out in each: `flatten` would read every scalar before it is known
/// which type is wanted.
macro_rules! with_options {
    (struct $name:ident { $($fields:tt)* }) => {
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct $name {
            $($fields)*
            /// Where it runs; the working directory when not given.
            #[serde(default)]
            working_dir: Option<String>,
            /// The exit code of success.
            #[serde(default)]
            expected_exit_code: i32,
            /// Only lines that match are answered.
            #[serde(default)]
            output_filter_regex: Option<String>,
            /// How long it may take; as long as the step when not given.
            #[serde(default)]
            timeout_seconds: Option<u64>,
        }

        impl $name {
            fn options(&mut self) -> Options {
                Options {
                    working_dir: self.working_dir.take(),
                    expected_exit_code: self.expected_exit_code,
                    output_filter_regex: self.output_filter_regex.take(),
                    timeout_seconds: self.timeout_seconds,
                }
            }
        }
    };
}

with_options! {
    struct Exec {
        /// Program and arguments.
        argv: Vec<String>,
    }
}

with_options! {
    struct RunCommand {
        /// The command, for `sh -c`.
        command: String,
    }
}

struct Options {
    working_dir: Option<String>,
    expected_exit_code: i32,
    output_filter_regex: Option<String>,
    timeout_seconds: Option<u64>,
}
