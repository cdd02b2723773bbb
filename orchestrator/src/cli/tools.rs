//! `packtrain tools`: what steps can call.

use clap::Args;
use packtrain_config::Flags;
use packtrain_drivers::Platform;
use packtrain_model::Exit;
use packtrain_model::suggest::closest;
use packtrain_tools::{Origin, Registry, ToolSpec, Toolsets};
use serde_json::json;

use super::{Context, Format};
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
pub(crate) fn run(args: &ToolsArgs, context: &Context) -> Result<Exit, CliError> {
    let tools = context.tools(&context.config(Flags::default())?)?;
    let registry = &tools.registry;
    if let Some(name) = &args.name {
        let Some(tool) = registry.get(name) else {
            return Err(unknown(name, registry));
        };
        render::out(&match args.format {
            Format::Json => as_json(tool.spec(), &tools.toolsets).to_string(),
            Format::Text => details(tool.spec(), &tools.toolsets),
        });
        return Ok(Exit::Passed);
    }
    let specs = registry
        .all()
        .map(|tool| tool.spec())
        .filter(|spec| args.platform.is_none_or(|platform| spec.works_on(platform)));
    match args.format {
        Format::Json => {
            let tools: Vec<_> = specs.map(|spec| as_json(spec, &tools.toolsets)).collect();
            render::out(&json!({ "schema_version": 1, "tools": tools }).to_string());
        }
        Format::Text => {
            let specs: Vec<_> = specs.collect();
            let text = if specs.iter().all(|spec| spec.origin == Origin::BuiltIn) {
                let row = |spec: &&ToolSpec| [spec.name.clone(), platforms(spec), what(spec)];
                let rows: Vec<_> = specs.iter().map(row).collect();
                columns(&["TOOL", "WHERE", "WHAT"], &rows)
            } else {
                let row = |spec: &&ToolSpec| {
                    let from = from(spec).unwrap_or_default();
                    [spec.name.clone(), platforms(spec), from, what(spec)]
                };
                let rows: Vec<_> = specs.iter().map(row).collect();
                columns(&["TOOL", "WHERE", "FROM", "WHAT"], &rows)
            };
            render::out(&text);
        }
    }
    Ok(Exit::Passed)
}

fn details(spec: &ToolSpec, toolsets: &Toolsets) -> String {
    let mut text = format!("{}\n  {}\n", spec.name, what(spec));
    text.push_str(&format!("  where: {}\n", platforms(spec)));
    if let Some(from) = from(spec) {
        text.push_str(&format!("  from: {from}\n"));
    }
    let toolsets = toolset_ids(spec, toolsets);
    if !toolsets.is_empty() {
        text.push_str(&format!("  toolsets: {}\n", toolsets.join(", ")));
    }
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

/// Who contributes it, unless Packtrain does.
fn from(spec: &ToolSpec) -> Option<String> {
    (spec.origin != Origin::BuiltIn).then(|| spec.origin.to_string())
}

/// What it is for, in one line.
fn what(spec: &ToolSpec) -> String {
    spec.description
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

fn toolset_ids<'t>(spec: &ToolSpec, toolsets: &'t Toolsets) -> Vec<&'t str> {
    let of_it = toolsets.containing(&spec.name);
    of_it.map(|toolset| toolset.id.as_str()).collect()
}

fn as_json(spec: &ToolSpec, toolsets: &Toolsets) -> serde_json::Value {
    json!({
        "name": spec.name,
        "description": spec.description,
        "from": from(spec),
        "toolsets": toolset_ids(spec, toolsets),
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
