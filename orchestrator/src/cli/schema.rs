//! `packtrain schema`: JSON schemas for editors.

use clap::Args;
use packtrain_drivers::selector::NodeSelector;
use packtrain_model::Exit;
use packtrain_tools::{Registry, ToolSpec};
use rmcp::schemars::{JsonSchema as _, SchemaGenerator};
use serde_json::{Value, json};

use crate::exit::{CliError, OrCliError as _};
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Example, for editors that read a modeline:
  packtrain schema trail > trail.schema.json
  # yaml-language-server: $schema=./trail.schema.json")]
pub(crate) struct SchemaArgs {
    /// What to describe
    #[arg(value_enum, value_name = "KIND")]
    of: Of,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Of {
    /// Trail files.
    Trail,
    /// packtrain.yaml.
    Config,
}

/// What a tool takes. What a selector is, stands in the schema once; agents are not told.
fn arguments(tool: &ToolSpec) -> Value {
    let mut arguments = tool.arguments.clone();
    if let Some(selector) = arguments.pointer_mut("/properties/nodeSelector") {
        *selector = json!({
            "description": selector["description"],
            "anyOf": [{ "$ref": format!("#/$defs/{}", NodeSelector::schema_name()) }, { "type": "null" }],
        });
    }
    arguments
}

/// `packtrain schema`.
pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, CliError> {
    let schema = match args.of {
        Of::Trail => {
            let tools = Registry::builtin()
                .all()
                .map(|tool| (tool.spec().name.clone(), arguments(tool.spec())))
                .collect();
            let mut schema = packtrain_model::schema::trail_schema(&tools);
            let mut generator = SchemaGenerator::default();
            generator.subschema_for::<NodeSelector>();
            for (name, definition) in generator.take_definitions(true) {
                schema["$defs"][name] = definition;
            }
            schema
        }
        Of::Config => packtrain_config::schema(),
    };
    let text =
        serde_json::to_string_pretty(&schema).or_infrastructure("cannot print the schema")?;
    render::out(&text);
    Ok(Exit::Passed)
}
