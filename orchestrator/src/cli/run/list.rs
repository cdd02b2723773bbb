//! `packtrain run --list`: what would run.

use packtrain_engine::{Plan, Planned};
use serde_json::json;

use crate::cli::{Format, listed};
use crate::render;

/// Prints each session: trail, device, configuration.
pub(super) fn print(plan: &Plan, format: Format) {
    match format {
        Format::Json => {
            let sessions: Vec<_> = plan.sessions.iter().map(|p| as_json(plan, p)).collect();
            let part = plan.part.as_ref().map(|taken| taken.part.to_string());
            let mut shown = json!({ "sessions": sessions });
            if let Some(part) = part {
                shown["part"] = json!(part);
            }
            listed::data(shown);
        }
        Format::Text if plan.sessions.is_empty() => {}
        Format::Text => {
            let lines: Vec<_> = plan.sessions.iter().map(|p| line(plan, p)).collect();
            render::out(&lines.join("\n"));
        }
    }
}

fn line(plan: &Plan, planned: &Planned) -> String {
    let path = plan.trails[planned.trail].source.name();
    let name = packtrain_report::named(&device(planned), &planned.cell);
    let name = packtrain_report::numbered(name, planned.repeat);
    let mut line = format!("{path}  {name}");
    if let Some(skip) = &planned.skip {
        line.push_str(&format!("  skipped: {}", skip.reason));
    }
    packtrain_report::one_line(&line).into_owned()
}

/// The device it is called by.
fn device(planned: &Planned) -> String {
    match planned.devices.as_slice() {
        [first] => first.to_string(),
        [first, ..] if planned.alike => first.to_string(),
        _ => "any device".to_owned(),
    }
}

fn as_json(plan: &Plan, planned: &Planned) -> serde_json::Value {
    let summary = plan.trails[planned.trail].summary();
    let mut shown = json!({
        "trail": summary.name,
        "title": summary.title,
        "path": summary.path,
        "device": device(planned),
    });
    if !planned.cell.is_empty() {
        shown["cell"] = json!(planned.cell);
    }
    if let Some(repeat) = planned.repeat {
        shown["repeat"] = json!(repeat);
    }
    if let Some(skip) = &planned.skip {
        shown["skipped"] = json!(skip.reason);
    }
    shown
}
