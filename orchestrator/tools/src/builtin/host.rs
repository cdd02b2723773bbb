//! Tools that run programs on this computer.

use std::time::Duration;

use packtrain_drivers::ActionReport;
use packtrain_program::output;

use crate::builtin::{EVERYWHERE, last_lines};
use crate::call::Call;
use crate::tool::{Answer, ToolError};

/// Bytes of each output that are kept; the rest is read and dropped.
const MOST_OUTPUT: usize = 256 * 1024;

/// Options of both tools, spelled out in each: `flatten` would read every scalar before it is known
/// which type is wanted.
macro_rules! with_options {
    (struct $name:ident { $($fields:tt)* }) => {
        arguments! { struct $name {
            $($fields)*
            /// Where it runs; the working directory when not given.
            working_dir: Option<String>,
            /// The exit code of success.
            #[serde(default)]
            expected_exit_code: i32,
            /// Only lines that match are answered.
            output_filter_regex: Option<String>,
            /// How long it may take; as long as the step when not given.
            timeout_seconds: Option<u64>,
        } }

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

struct Options {
    working_dir: Option<String>,
    expected_exit_code: i32,
    output_filter_regex: Option<String>,
    timeout_seconds: Option<u64>,
}

tools! { EVERYWHERE;
    /// Runs a program on this computer and expects an exit code. Returns its output.
    Action exec Exec: with_options {
        /// Program and arguments.
        argv: Vec<String>,
    }
    .internal()
    .unrecorded()
    .code("argv")
    .running_host_commands()
    |mut arguments, call| {
        let options = arguments.options();
        run(arguments.argv, options, call).await
    };

    /// Runs a shell command on this computer and expects an exit code. Returns its output.
    Action runCommand RunCommand: with_options {
        /// The command, for `sh -c`.
        command: String,
    }
    .internal()
    .unrecorded()
    .code("command")
    .running_host_commands()
    |mut arguments, call| {
        let options = arguments.options();
        let argv = vec!["sh".into(), "-c".into(), arguments.command];
        run(argv, options, call).await
    };
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
    let mut command = tokio::process::Command::new(program);
    if let Some(environment) = &call.session.environment {
        command.env_clear().envs(&**environment);
    }
    // What lets this computer into a farm is not a trail's business.
    command.args(arguments).env_remove("PACKTRAIN_FARM_TOKEN");
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let limit = options.timeout_seconds.map_or(call.remaining(), |seconds| {
        Duration::from_secs(seconds).min(call.remaining())
    });
    // What is not waited for any longer is killed with all it started.
    let ended = tokio::select! {
        ended = output(command, MOST_OUTPUT) => {
            ended.map_err(|error| ToolError::failed(format!("start {program}: {error}")))?
        }
        () = call.session.cancel.cancelled() => return Err(ToolError::Cancelled),
        () = tokio::time::sleep(limit) => {
            return Err(ToolError::failed(format!(
                "{program} did not end within {:.1} s",
                limit.as_secs_f64()
            )));
        }
    };
    let status = ended.status;
    let mut report = ActionReport::default();
    if let Some(left) = ended.left {
        report
            .notes
            .push("what it left running ends with the session".to_owned());
        call.session.at_end(left);
    }
    let stdout = String::from_utf8_lossy(&ended.stdout);
    let output = stdout.into_owned() + &String::from_utf8_lossy(&ended.stderr);
    if status.code() != Some(options.expected_exit_code) {
        return Err(ToolError::Failed {
            message: format!(
                "{program} ended with {status}, expected {}",
                options.expected_exit_code
            ),
            log: last_lines(&output),
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
    Ok(Answer {
        report,
        ..Answer::text(output.trim_end())
    })
}
