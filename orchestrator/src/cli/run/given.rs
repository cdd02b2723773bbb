//! What a run is given besides trails and devices: the app under test, and arguments.

use packtrain_config::{Config, ScreenshotPolicy};
use packtrain_drivers::Rect;
use packtrain_engine::{Ambiguity, Mask, RequestedTrail, RunOptions, Screenshots, SessionOptions};
use packtrain_model::trail::GivenArg;
use packtrain_model::yaml::Value;
use packtrain_tools::Targets;

use super::RunArgs;
use crate::cli::Context;
use crate::exit::CliError;
use crate::workplace::targets;

/// The apps under test: those of the configuration, and what the flags say.
///
/// # Errors
/// When `--target` names none of them.
pub(super) fn targets_of(args: &RunArgs, config: &Config) -> Result<Targets, CliError> {
    let mut targets = targets(config);
    targets.base_url.clone_from(&args.base_url);
    if let Some(name) = &args.target {
        let Some(known) = targets.named.get(name) else {
            let refused = CliError::misuse(format!("there is no target `{name}`"));
            let known: Vec<_> = targets.named.keys().map(String::as_str).collect();
            return Err(match known.as_slice() {
                [] => refused.hint("the configuration has none; `targets` holds them"),
                known => refused.hint(format!("the configuration has {}", known.join(", "))),
            });
        };
        targets.given = Some(known.clone());
    }
    Ok(targets)
}

/// How the run goes about it, by configuration and flags.
///
/// # Errors
/// As [`targets_of`].
pub(super) fn options(
    args: &RunArgs,
    config: &Config,
    given: Vec<GivenArg>,
    context: &Context,
) -> Result<RunOptions, CliError> {
    Ok(RunOptions {
        retries: config.run.retries,
        retry_delay: config.run.retry_delay.get(),
        fail_fast: config.run.fail_fast,
        time_limit: config.run.time_limit.map(|limit| limit.get()),
        session: SessionOptions {
            timeout: config.run.timeout.get(),
            step_timeout: config.run.step_timeout.map(|limit| limit.get()),
            screenshots: when(config.run.screenshots),
            observe: when(config.run.observe),
            trace: when(config.run.trace),
            masks: config.run.masks.iter().filter_map(mask).collect(),
            ambiguity: if config.run.strict {
                Ambiguity::Fail
            } else {
                Ambiguity::Report
            },
            ..SessionOptions::default()
        },
        memory: args.memory.clone(),
        secrets: args.secret.clone(),
        args: given,
        targets: targets_of(args, config)?,
        narrowed_by: args.narrowing(),
        working_directory: context.working_directory.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The arguments that are given, when they fit all trails.
///
/// # Errors
/// Each that a trail does not take, or lacks.
pub(super) fn args_for(
    args: &RunArgs,
    requested: &[RequestedTrail],
) -> Result<Vec<GivenArg>, CliError> {
    let given = given_args(args)?;
    let mistakes: Vec<_> = requested
        .iter()
        .filter_map(|requested| {
            let trail = &requested.trail;
            trail.config.bind_args(&trail.source, &given).err()
        })
        .flatten()
        .collect();
    if mistakes.is_empty() {
        Ok(given)
    } else {
        Err(CliError::files(
            "the trails' arguments do not fit",
            mistakes,
        ))
    }
}

/// `--base-url` counts before what the devices say too.
pub(super) fn override_base_urls(args: &RunArgs, config: &mut Config) {
    if args.base_url.is_some() {
        for slot in config.devices.web.values_mut() {
            slot.base_url = None;
        }
    }
}

/// The trails' arguments, those of the file first.
///
/// # Errors
/// When the file cannot be read or has mistakes.
fn given_args(args: &RunArgs) -> Result<Vec<GivenArg>, CliError> {
    let mut given = match &args.args_file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|error| {
                CliError::misuse(format!("cannot read {}", file.display())).because(&error)
            })?;
            GivenArg::parse_file(&text, &file.display().to_string())
                .map_err(|mistakes| CliError::files("the arguments file is wrong", mistakes))?
        }
        None => Vec::new(),
    };
    given.extend(args.arg.iter().map(|(name, value)| GivenArg {
        name: name.clone(),
        value: Value::word(value.clone()),
        source: None,
    }));
    Ok(given)
}

const fn when(policy: ScreenshotPolicy) -> Screenshots {
    match policy {
        ScreenshotPolicy::All => Screenshots::All,
        ScreenshotPolicy::Failure => Screenshots::Failure,
        ScreenshotPolicy::None => Screenshots::None,
    }
}

fn mask(configured: &packtrain_config::Mask) -> Option<Mask> {
    if let Some(selector) = &configured.css {
        return Some(Mask::Css(selector.clone()));
    }
    if let Some(pattern) = &configured.text {
        return Some(Mask::Text(pattern.clone()));
    }
    let numbers = configured.rect.as_ref()?.split(',');
    let numbers: Vec<f64> = numbers
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    match numbers.as_slice() {
        &[left, top, width, height] => Some(Mask::Rect(Rect {
            left,
            top,
            right: left + width,
            bottom: top + height,
        })),
        _ => None,
    }
}
