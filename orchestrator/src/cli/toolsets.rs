//! `packtrain toolsets`: which tools agents keep, as people look at it.

use clap::{Args, Subcommand};
use packtrain_config::{Flags, Loaded};
use packtrain_model::Exit;
use packtrain_tools::Registry;
use packtrain_tools::toolsets::{
    ListedTool, SavedToolset, ToolRef, ToolState, Unresolved, named, ref_id,
};
use serde_json::json;

use super::{Context, Format, check, listed};
use crate::exit::CliError;
use crate::toolsets::{Place, Stored, ToolsetStore};
use crate::{render, runtime};

#[derive(Debug, Args)]
#[command(
    after_help = "A toolset defines which tools an agent is offered, and holds notes on them. Agents build toolsets \
with the tool `build-toolset`; they are files: toolsets/NAME.json in the project's folder, or in \
~/.config/packtrain without a project. Those of the configuration and of YAML files are listed too.\n\
A tool whose definition has changed since it was chosen is neither offered nor called until it is accepted."
)]
pub(crate) struct ToolsetsArgs {
    #[command(subcommand)]
    command: Option<ToolsetsCommand>,

    /// Output format
    #[arg(long, global = true, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum ToolsetsCommand {
    /// List all toolsets (the default)
    List,
    /// Show a toolset's tools with their notes, and which are not offered and why
    ///
    /// Tool sources are started when the toolset has tools that may be theirs.
    Show {
        /// The toolset
        name: String,
    },
    /// Accept a tool's current definition
    ///
    /// Look at it first: `packtrain tools TOOL` shows it. Agents that have the toolset equipped are
    /// offered the tool when they equip it again.
    Accept {
        /// The toolset
        name: String,
        /// The tool: `sign_in`, or with its source `acme.sign_in`
        tool: String,
    },
    /// Delete a toolset and its notes
    Delete {
        /// The toolset
        name: String,
    },
}

/// `packtrain toolsets`.
pub(crate) fn run(args: &ToolsetsArgs, context: &Context) -> Result<Exit, CliError> {
    let loaded = context.config(Flags::default())?;
    let tools = context.tools(&loaded)?;
    let store = ToolsetStore::of(&loaded, &tools.toolsets);
    match &args.command {
        None | Some(ToolsetsCommand::List) => list(&store, args.format, context),
        Some(ToolsetsCommand::Show { name }) => {
            let stored = store.load(name)?;
            let meant: Vec<_> = stored.toolset.tools.iter().collect();
            let listed = listed(&meant, &loaded, tools.registry)?;
            show(&stored, &listed, args.format);
        }
        Some(ToolsetsCommand::Accept { name, tool }) => {
            // A slip in its name starts no sources.
            store.load(name)?;
            let listed = listed(&[&ToolRef::named(tool)], &loaded, tools.registry)?;
            accept(&store, name, tool, &listed, args.format)?;
        }
        Some(ToolsetsCommand::Delete { name }) => {
            runtime::block_on(async { Ok(store.delete(name).await?) })?;
            let data = json!({ "deleted": name });
            listed::done(args.format, data, &format!("deleted {name}"));
        }
    }
    Ok(Exit::Passed)
}

/// All tools as agents are shown them; with those of the sources, which are started for it, when
/// others lack one that is meant.
fn listed(
    meant: &[&ToolRef],
    loaded: &Loaded,
    registry: Registry,
) -> Result<Vec<ListedTool>, CliError> {
    let of = |registry: &Registry| -> Vec<_> {
        let specs = registry.all().map(|tool| tool.spec());
        specs.map(ListedTool::of).collect()
    };
    let known = of(&registry);
    let is_known = |reference: &&&ToolRef| ToolState::of(reference, &known).state != "missing";
    if loaded.config.mcp_servers.is_empty() || meant.iter().filter(is_known).count() == meant.len()
    {
        return Ok(known);
    }
    let (registry, _) = check::from_sources(&loaded.config, &loaded.root, registry)?;
    Ok(of(&registry))
}

fn list(store: &ToolsetStore, format: Format, context: &Context) {
    let listing = store.list();
    let toolsets: Vec<_> = listing.toolsets.iter().map(as_json).collect();
    let told = json!({ "toolsets": toolsets, "problems": listing.problems });
    let rows = listing.toolsets.iter().map(|stored| {
        let toolset = &stored.toolset;
        [
            toolset.name.clone(),
            toolset.tools.len().to_string(),
            toolset.note_count().to_string(),
            place(stored.place).to_owned(),
            toolset.description.clone().unwrap_or_default(),
        ]
    });
    let none = "no toolsets; agents build them with `build-toolset`";
    let heading = ["TOOLSET", "TOOLS", "NOTES", "SOURCE", "DESCRIPTION"];
    listed::list(format, told, none, heading, rows);
    let problems = listing.problems.iter();
    for problem in problems.filter(|_| format == Format::Text) {
        render::warning(problem, context.color);
    }
}

fn show(stored: &Stored, listed: &[ListedTool], format: Format) {
    let toolset = &stored.toolset;
    let tools = toolset.tools.iter();
    let tools: Vec<_> = tools
        .map(|reference| {
            let name = reference.namespaced_name.as_ref();
            let tool = name.and_then(|name| named(name, listed).ok());
            (reference, ToolState::of(reference, listed), tool)
        })
        .collect();
    if format == Format::Json {
        let tools = tools.iter().map(|(reference, standing, tool)| {
            json!({
                "tool": reference.to_string(),
                "accepted": reference.ref_id,
                "now": tool.map(ref_id),
                "state": standing.state,
                "why": standing.why,
                "tokens": tool.map(ListedTool::tokens),
                "notes": tool.map(|tool| toolset.notes_on(tool)),
            })
        });
        let mut told = as_json(stored);
        told["tools"] = json!(tools.collect::<Vec<_>>());
        return listed::data(told);
    }
    let mut lines = vec![toolset.name.clone()];
    lines.extend(toolset.description.iter().map(|text| format!("  {text}")));
    lines.push(format!("  from: {}", place(stored.place)));
    lines.push("  tools:".to_owned());
    for (reference, standing, tool) in tools {
        let why = standing.why.map(|why| format!(": {why}"));
        let (state, why) = (standing.state, why.unwrap_or_default());
        lines.push(format!("    {reference}  {state}{why}"));
        let notes = tool.map(|tool| toolset.notes_on(tool)).unwrap_or_default();
        let notes = notes.iter().map(|one| (&one.name, &one.note));
        lines.extend(notes.map(|(name, note)| format!("      {name}: {note}")));
    }
    // One line each of what others have written.
    let lines = lines
        .iter()
        .map(|line| line.replace(char::is_control, " ") + "\n");
    render::out(&lines.collect::<String>());
}

fn accept(
    store: &ToolsetStore,
    name: &str,
    tool: &str,
    listed: &[ListedTool],
    format: Format,
) -> Result<(), CliError> {
    let tool = named(tool, listed).map_err(|unresolved| {
        let hint = if matches!(unresolved, Unresolved::Ambiguous { .. }) {
            "name it with its source".to_owned()
        } else {
            format!("`packtrain toolsets show {name}` lists its tools")
        };
        CliError::misuse(unresolved.to_string()).hint(hint)
    })?;
    let shown = tool.namespaced_name();
    let accepting = |known: Option<SavedToolset>| {
        let mut toolset = known.unwrap_or_default();
        let hint = format!("`packtrain toolsets show {name}` lists its tools");
        let outside =
            || CliError::misuse(format!("`{shown}` is not in the toolset `{name}`")).hint(hint);
        let is_there = toolset.accept(tool, listed);
        is_there.then_some((toolset, ())).ok_or_else(outside)
    };
    runtime::block_on(async { store.change(name, accepting).await.map(drop) })?;
    let data = json!({ "toolset": name, "tool": shown, "accepted": ref_id(tool) });
    let words = format!("{name}: accepted {shown} as it is defined now");
    listed::done(format, data, &words);
    Ok(())
}

fn as_json(stored: &Stored) -> serde_json::Value {
    let toolset = &stored.toolset;
    let tools = toolset.tools.iter().map(ToString::to_string);
    json!({
        "name": toolset.name,
        "description": toolset.description,
        "from": stored.place,
        "tools": tools.collect::<Vec<_>>(),
        "notes": toolset.note_count(),
        "created_at": toolset.created_at,
        "last_modified": toolset.last_modified,
    })
}

fn place(place: Place) -> &'static str {
    match place {
        Place::Project => "project",
        Place::User => "user",
        Place::Defined => "defined",
    }
}
