//! `packtrain tools`: what steps can call.

use clap::Args;
use packtrain_drivers::Platform;
use packtrain_model::Exit;
use packtrain_model::suggest::closest;
use packtrain_tools::{Registry, ToolSpec};
use serde_json::json;

use super::Format;
use crate::exit::CliError;
use crate::render;

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Show this tool with its arguments
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Only tools that work on android, ios or web
    #[arg(long, value_name = "PLATFORM")]
    platform: Option<Platform>,

    /// How to print them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// The error of a name that no tool has.
pub(super) fn unknown(name: &str, registry: &Registry) -> CliError {
    let error = CliError::misuse(format!("unknown tool `{name}`"));
    error.hint(match closest(name, registry.names()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`packtrain tools` lists all tools".to_owned(),
    })
}

/// `packtrain tools`.
pub(crate) fn run(args: &ToolsArgs) -> Result<Exit, CliError> {
    let registry = Registry::builtin();
    if let Some(name) = &args.name {
        let Some(tool) = registry.get(name) else {
            return Err(unknown(name, &registry));
        };
        render::out(&match args.format {
            Format::Json => as_json(tool.spec()).to_string(),
            Format::Text => details(tool.spec()),
        });
        return Ok(Exit::Passed);
    }
    let specs = registry
        .all()
        .map(|tool| tool.spec())
        .filter(|spec| args.platform.is_none_or(|platform| spec.works_on(platform)));
    match args.format {
        Format::Json => {
            let tools: Vec<_> = specs.map(as_json).collect();
            render::out(&json!({ "schema_version": 1, "tools": tools }).to_string());
        }
        Format::Text => {
            let rows: Vec<_> = specs
                .map(|spec| [spec.name.clone(), platforms(spec), spec.description.clone()])
                .collect();
            render::out(&columns(&["TOOL", "WHERE", "WHAT"], &rows));
        }
    }
    Ok(Exit::Passed)
}

fn details(spec: &ToolSpec) -> String {
    let mut text = format!("{}\n  {}\n", spec.name, spec.description);
    text.push_str(&format!("  where: {}\n", platforms(spec)));
    let required: Vec<_> = spec.arguments["required"]
        .as_array()
        .map(|names| names.iter().filter_map(|name| name.as_str()).collect())
        .unwrap_or_default();
    let Some(arguments) = spec.arguments["properties"].as_object() else {
        return text + "  no arguments\n";
    };
    text.push_str("  arguments:\n");
    for (name, schema) in arguments {
        let mark = if required.contains(&name.as_str()) {
            " (required)"
        } else {
            ""
        };
        let about = schema["description"]
            .as_str()
            .unwrap_or_default()
            .replace('\n', " ");
        let default = match schema.get("default") {
            Some(serde_json::Value::Null) | None => String::new(),
            Some(value) => format!(" [default: {value}]"),
        };
        text.push_str(&format!("    {name}{mark}: {about}{default}\n"));
    }
    text
}

fn as_json(spec: &ToolSpec) -> serde_json::Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "platforms": spec.platforms,
        "shown_to_agents": spec.shown,
        "recordable": spec.recordable,
        "arguments": spec.arguments,
    })
}

fn platforms(spec: &ToolSpec) -> String {
    if spec.platforms.is_empty() {
        "everywhere".to_owned()
    } else {
        spec.platforms
            .iter()
            .map(|platform| platform.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Rows below a heading, each column as wide as it must be.
pub(crate) fn columns<const N: usize>(heading: &[&str; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .chain([heading[column].len()])
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<_> = (0..N).map(width).collect();
    let line = |cells: &[&str]| {
        let padded: Vec<_> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    let mut text = line(heading);
    for row in rows {
        let cells: Vec<_> = row.iter().map(String::as_str).collect();
        text.push_str(&line(&cells));
    }
    text
}
