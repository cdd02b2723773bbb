//! What a run is given besides trails and devices: the app under test, and how it goes about it.

use packtrain_config::{Config, ScreenshotPolicy};
use packtrain_drivers::Rect;
use packtrain_engine::{Ambiguity, Mask, RunOptions, Screenshots, SessionOptions};
use packtrain_tools::Targets;

use super::request::RunRequest;
use crate::cli::Context;
use crate::exit::CliError;
use crate::workplace::targets;

/// The apps under test: those of the configuration, and what the run says.
///
/// # Errors
/// When it names none of them.
fn targets_of(request: &RunRequest, config: &Config) -> Result<Targets, CliError> {
    let mut targets = targets(config);
    targets.base_url.clone_from(&request.base_url);
    if let Some(name) = &request.target {
        let Some(known) = targets.named.get(name) else {
            let refused = CliError::misuse(format!("unknown target `{name}`"));
            let known: Vec<_> = targets.named.keys().map(String::as_str).collect();
            return Err(match known.as_slice() {
                [] => refused.hint("the configuration has none; define them under `targets`"),
                known => refused.hint(format!("available: {}", known.join(", "))),
            });
        };
        targets.given = Some(known.clone());
    }
    Ok(targets)
}

/// How the run goes about it, by the configuration and what is asked for.
///
/// # Errors
/// When there is no such target.
pub(super) fn options(
    request: &RunRequest,
    config: &Config,
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
        memory: request.memory.clone(),
        secrets: request.secrets.clone(),
        args: request.args.clone(),
        targets: targets_of(request, config)?,
        narrowed_by: request.narrowing(),
        working_directory: context.working_directory.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
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
