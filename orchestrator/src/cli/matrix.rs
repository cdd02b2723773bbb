//! `packtrain matrix`: which configurations a matrix has, before anything runs.

use clap::Args;
use packtrain_config::{Config, Flags};
use packtrain_drivers::{Platform, known_axis};
use packtrain_engine::Matrix;
use packtrain_model::Exit;
use packtrain_record::{RunState, list_runs};
use serde_json::json;

use super::{Context, Format, listed};
use crate::exit::CliError;
use crate::matrix::{self, MatrixOptions};
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain matrix
  packtrain matrix release
  packtrain matrix --axis locale=de-DE,en-US --axis colorScheme=light,dark")]
pub(crate) struct MatrixArgs {
    /// A matrix of packtrain.yaml [default: list them all]
    name: Option<String>,

    /// Vary an axis: locale=de-DE,en-US; repeatable
    #[arg(long, value_name = "AXIS=VALUES")]
    axis: Vec<String>,

    /// Only configurations with these values; repeatable
    #[arg(long, value_name = "AXIS=VALUE,..")]
    cell: Vec<String>,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain matrix`.
pub(crate) fn run(args: MatrixArgs, context: &Context) -> Result<Exit, CliError> {
    let config = context.config(Flags::default())?.config;
    let wanted = MatrixOptions {
        name: args.name,
        axes: args.axis,
        cells: args.cell,
    };
    let Some(matrix) = matrix::wanted(&config, &wanted)? else {
        return list(&config, args.format);
    };
    match args.format {
        Format::Json => listed::data(json!(matrix.summary)),
        Format::Text => render::out(&shown(&matrix, &config)),
    }
    Ok(Exit::Passed)
}

fn list(config: &Config, format: Format) -> Result<Exit, CliError> {
    let mut rows = Vec::new();
    let mut shown = Vec::new();
    for (name, configured) in &config.matrices {
        let summary = matrix::expand(name, configured.clone(), &MatrixOptions::default())?.summary;
        let axes: Vec<_> = summary.axes.iter().map(|axis| axis.name.clone()).collect();
        let (cells, cover) = (summary.cells.len(), summary.cover);
        shown.push(json!({ "name": name, "cells": cells, "cover": cover, "axes": axes }));
        rows.push([name.clone(), cells.to_string(), cover, axes.join(", ")]);
    }
    let none = "no matrices; define some under `matrices` in packtrain.yaml, or with --axis: \
                packtrain matrix --axis locale=de-DE,en-US";
    let heading = ["MATRIX", "CONFIGURATIONS", "COVER", "AXES"];
    listed::list(format, json!({ "matrices": shown }), none, heading, rows);
    Ok(Exit::Passed)
}

fn shown(matrix: &Matrix, config: &Config) -> String {
    let summary = &matrix.summary;
    let mut text = String::new();
    let product: usize = summary.axes.iter().map(|axis| axis.values.len()).product();
    let cells = summary.cells.len();
    text.push_str(&packtrain_compare::words::count(cells, "cell", "cells"));
    if cells < product {
        text.push_str(&format!(" of {product} combinations"));
    }
    text.push_str(&format!(", cover {}", summary.cover));
    if summary.excluded > 0 {
        text.push_str(&format!(", {} excluded", summary.excluded));
    }
    text.push_str("\n\n");
    let rows = summary.axes.iter().map(|axis| {
        let on = known_axis(&axis.name).map(|known| {
            let platforms = known.platforms.iter().map(|platform| platform.as_str());
            platforms.collect::<Vec<_>>().join(", ")
        });
        let on = on.unwrap_or_else(|| "custom axis".to_owned());
        [axis.name.clone(), axis.values.join(", "), on]
    });
    let (heading, rows) = (["AXIS", "VALUES", "APPLIED ON"], rows.collect::<Vec<_>>());
    text.push_str(&listed::columns(&heading, &rows));
    text.push('\n');
    for (index, cell) in summary.cells.iter().enumerate() {
        let is_reference = *cell == summary.reference;
        let mark = if is_reference { "  (reference)" } else { "" };
        text.push_str(&format!("{:>4}  {cell}{mark}\n", index + 1));
    }
    if !summary.unreachable.is_empty() {
        text.push_str("\nIn no cell, because of `exclude`:\n");
        for pair in &summary.unreachable {
            text.push_str(&format!("      {pair}\n"));
        }
    }
    let platforms = Platform::ALL.map(|platform| (platform, matrix.cells_on(platform).len()));
    if platforms.iter().any(|(_, count)| *count != cells) {
        let counts = platforms.map(|(platform, count)| format!("{count} on {platform}"));
        text.push_str(&format!("\nCells by platform: {}\n", counts.join(", ")));
    }
    if let Some(estimate) = estimate(config, cells) {
        text.push_str(&format!("\n{estimate}\n"));
    }
    text
}

/// How long it may take, by the newest run that got to its end.
fn estimate(config: &Config, cells: usize) -> Option<String> {
    let runs = list_runs(&config.run.output_dir).ok()?;
    let finished = runs.iter().find_map(|run| {
        let summary = run.summary.as_ref().ok()?;
        match &summary.state {
            RunState::Finished { duration, .. } if summary.sessions > 0 => {
                Some((run, summary, *duration))
            }
            _ => None,
        }
    });
    let (run, summary, duration) = finished?;
    let each = duration.div_f64(summary.sessions as f64);
    let all = each.mul_f64(cells as f64);
    Some(format!(
        "About {} for each trail and device, based on run {}.",
        packtrain_report::duration(all),
        run.id,
    ))
}
