//! `packtrain tools`: what steps can call.

use clap::Args;
use packtrain_config::Flags;
use packtrain_drivers::{DeviceInfo, Platform};
use packtrain_model::Exit;
use packtrain_model::suggest::did_you_mean;
use packtrain_tools::{Origin, Registry, ToolSpec, Toolsets};
use serde_json::{Value, json};

pub(crate) use super::listed::columns;
use super::listed::data;
use super::{Context, Format, select};
use crate::exit::CliError;
use crate::sources::{RunningSources, SourceStartOptions};
use crate::wiring::DeviceSelection;
use crate::{render, runtime};

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Show this tool with its arguments
    name: Option<String>,

    /// Only tools that work on android, ios or web
    #[arg(long, value_name = "PLATFORM")]
    platform: Option<Platform>,

    /// All tools for this device, with those of tool sources, which are started for it; shows why
    /// one is not usable or not shown to agents
    #[arg(short, long, value_name = "DEVICE", conflicts_with = "platform")]
    device: Option<String>,

    /// How to print them
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// The error of a name that no tool has.
pub(super) fn unknown(name: &str, registry: &Registry) -> CliError {
    let error = CliError::misuse(format!("unknown tool `{name}`"));
    let meant = did_you_mean(name, registry.names());
    error.hint(meant.unwrap_or_else(|| "`packtrain tools` lists all tools".to_owned()))
}

/// `packtrain tools`.
pub(crate) fn run(args: &ToolsArgs, context: &Context) -> Result<Exit, CliError> {
    let loaded = context.config(Flags::default())?;
    let tools = context.tools(&loaded)?;
    let Some(device) = &args.device else {
        return print(args, &tools.registry, &tools.toolsets, None);
    };
    let words = std::slice::from_ref(device);
    runtime::block_on_stoppable(async |interrupts| {
        let finding = select::found(DeviceSelection { words, all: false }, &loaded.config, false);
        let (wiring, chosen) = interrupts.interruptible(finding).await?;
        let Some(device) = chosen.first().cloned() else {
            return Err(CliError::misuse(format!("unknown device `{}`", words[0])));
        };
        let purpose = SourceStartOptions::on(device.clone(), &loaded.root);
        let sources = RunningSources::start(&loaded.config, tools.registry, purpose);
        let sources = interrupts.interruptible(sources).await?;
        let registry = sources.registry().snapshot();
        let (toolsets, _) =
            Toolsets::of(&registry, tools.toolsets.all().cloned().collect::<Vec<_>>());
        let printed = print(args, &registry, &toolsets, Some(&device));
        sources.shutdown().await;
        select::release(wiring).await;
        printed
    })
}

fn print(
    args: &ToolsArgs,
    registry: &Registry,
    toolsets: &Toolsets,
    device: Option<&DeviceInfo>,
) -> Result<Exit, CliError> {
    if let Some(name) = &args.name {
        let Some(tool) = registry.get(name) else {
            return Err(unknown(name, registry));
        };
        render::out(&match args.format {
            Format::Json => as_json(tool.spec(), toolsets, device).to_string(),
            Format::Text => details(tool.spec(), toolsets, device),
        });
        return Ok(Exit::Passed);
    }
    let specs = registry.all().map(|tool| tool.spec());
    let works = |spec: &&ToolSpec| (args.platform).is_none_or(|platform| spec.works_on(platform));
    let specs: Vec<_> = specs.filter(works).collect();
    if args.format == Format::Json {
        let tools = specs.iter().map(|spec| as_json(spec, toolsets, device));
        data(json!({ "tools": tools.collect::<Vec<_>>() }));
        return Ok(Exit::Passed);
    }
    let rows = specs.iter().map(|spec| {
        let from = from(spec).unwrap_or_default();
        [spec.name.clone(), at(spec, device), from, what(spec)]
    });
    let rows: Vec<_> = rows.collect();
    let are_ours = specs.iter().all(|spec| spec.origin == Origin::BuiltIn);
    let from = if are_ours { "" } else { "SOURCE" };
    let at = if device.is_some() { "STATE" } else { "WHERE" };
    render::out(&columns(&["TOOL", at, from, "DESCRIPTION"], &rows));
    Ok(Exit::Passed)
}

/// Where it works; for a device, what keeps it from being used or shown there.
fn at(spec: &ToolSpec, device: Option<&DeviceInfo>) -> String {
    match device {
        None => platforms(spec),
        Some(device) => hidden(spec, device).unwrap_or_else(|| "usable".to_owned()),
    }
}

/// Why an agent does not see it on a device.
fn hidden(spec: &ToolSpec, device: &DeviceInfo) -> Option<String> {
    let unusable = spec.unusable_on(device.id.platform(), &device.driver);
    let internal = || "usable, not shown to agents".to_owned();
    unusable.or_else(|| (!spec.shown).then(internal))
}

fn details(spec: &ToolSpec, toolsets: &Toolsets, device: Option<&DeviceInfo>) -> String {
    let mut text = format!("{}\n  {}\n", spec.name, what(spec));
    text.push_str(&format!("  where: {}\n", platforms(spec)));
    if let Some(device) = device {
        text.push_str(&format!("  on {}: {}\n", device.id, at(spec, Some(device))));
    }
    if let Some(from) = from(spec) {
        text.push_str(&format!("  from: {from}\n"));
    }
    let toolsets = toolset_ids(spec, toolsets);
    if !toolsets.is_empty() {
        text.push_str(&format!("  toolsets: {}\n", toolsets.join(", ")));
    }
    let required = spec.arguments["required"].as_array();
    let arguments = spec.arguments["properties"].as_object();
    let Some(arguments) = arguments.filter(|all| !all.is_empty()) else {
        return text + "  no arguments\n" + &example(spec);
    };
    text.push_str("  arguments:\n");
    for (name, schema) in arguments {
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let mark = if is_required { " (required)" } else { "" };
        let about = schema["description"].as_str().unwrap_or_default();
        let about = about.replace('\n', " ");
        let default = match schema.get("default") {
            Some(Value::Null) | None => String::new(),
            Some(value) => format!(" [default: {value}]"),
        };
        let (kind, words) = (kind(schema), words(schema));
        text.push_str(&format!(
            "    {name}{mark}{kind}: {about}{words}{default}\n"
        ));
    }
    text + &example(spec)
}

/// The type of an argument, as far as its schema names one.
fn kind(schema: &Value) -> String {
    let kinds: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => {
            let several = several.iter().filter_map(Value::as_str);
            several.filter(|kind| *kind != "null").collect()
        }
        _ => return String::new(),
    };
    format!(" <{}>", kinds.join(" or "))
}

/// The words that an argument may be.
fn words(schema: &Value) -> String {
    let words = schema["enum"].as_array().into_iter().flatten();
    let words: Vec<_> = words.filter_map(Value::as_str).collect();
    match words.join(", ").as_str() {
        "" => String::new(),
        words => format!(" [one of: {words}]"),
    }
}

/// A call of it as a trail has it, with the arguments that it needs.
fn example(spec: &ToolSpec) -> String {
    let properties = &spec.arguments["properties"];
    let required = spec.arguments["required"].as_array().into_iter().flatten();
    // Of a tool that needs one of several, one that says what is meant.
    let telling = ["ref", "url", "text"].into_iter();
    let mut telling = telling.filter(|name| properties.get(name).is_some());
    let mut given: Vec<_> = required.filter_map(Value::as_str).collect();
    given.extend(telling.next().filter(|name| !given.contains(name)));
    let given: Vec<_> = (given.into_iter())
        .map(|name| {
            let schema = &properties[name];
            let own = schema["examples"].get(0);
            let value = own.map_or_else(|| placeholder(name, schema), ToString::to_string);
            format!("{name}: {value}")
        })
        .collect();
    let arguments = match given.join(", ").as_str() {
        "" => "{}".to_owned(),
        given => format!("{{ {given} }}"),
    };
    format!("  example:\n    - {}: {arguments}\n", spec.name)
}

/// Something of the type that an argument wants.
fn placeholder(name: &str, schema: &Value) -> String {
    match schema["type"].as_str() {
        _ if name == "ref" => "'button \"Save\"'".to_owned(),
        _ if name == "url" => "https://example.com/".to_owned(),
        Some("integer" | "number") => "1".to_owned(),
        Some("boolean") => "true".to_owned(),
        Some("array") => "[text]".to_owned(),
        Some("object") => "{}".to_owned(),
        _ => schema["enum"][0].as_str().unwrap_or("text").to_owned(),
    }
}

/// Who contributes it, unless Packtrain does.
fn from(spec: &ToolSpec) -> Option<String> {
    (spec.origin != Origin::BuiltIn).then(|| spec.origin.to_string())
}

/// What it is for, in one line.
fn what(spec: &ToolSpec) -> String {
    let words: Vec<_> = spec.description.split_whitespace().collect();
    words.join(" ")
}

fn toolset_ids<'t>(spec: &ToolSpec, toolsets: &'t Toolsets) -> Vec<&'t str> {
    let of_it = toolsets.containing(&spec.name);
    of_it.map(|toolset| toolset.id.as_str()).collect()
}

fn as_json(spec: &ToolSpec, toolsets: &Toolsets, device: Option<&DeviceInfo>) -> Value {
    let mut told = json!({
        "name": spec.name,
        "description": spec.description,
        "from": from(spec),
        "toolsets": toolset_ids(spec, toolsets),
        "platforms": spec.platforms,
        "shown_to_agents": spec.shown,
        "recordable": spec.recordable,
        "arguments": spec.arguments,
    });
    if let Some(device) = device {
        let unusable = spec.unusable_on(device.id.platform(), &device.driver);
        told["usable"] = json!(unusable.is_none());
        told["hidden"] = json!(hidden(spec, device));
    }
    told
}

fn platforms(spec: &ToolSpec) -> String {
    let platforms = spec.platforms.iter().map(|platform| platform.as_str());
    match platforms.collect::<Vec<_>>().join(", ") {
        all if all.is_empty() => "everywhere".to_owned(),
        some => some,
    }
}
