//! `packtrain schema`: JSON schemas for editors.

use clap::Args;
use packtrain_model::Exit;
use packtrain_tools::Registry;

use crate::exit::CliError;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Example, for editors that read a modeline:
  packtrain schema trail > trail.schema.json
  # yaml-language-server: $schema=./trail.schema.json")]
pub(crate) struct SchemaArgs {
    /// Of what
    #[arg(value_enum)]
    of: Of,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Of {
    /// Trail files.
    Trail,
    /// packtrain.yaml.
    Config,
}

/// `packtrain schema`.
pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, CliError> {
    let schema = match args.of {
        Of::Trail => {
            let tools = Registry::builtin()
                .all()
                .map(|tool| (tool.spec().name.clone(), tool.spec().arguments.clone()))
                .collect();
            packtrain_model::schema::trail_schema(&tools)
        }
        Of::Config => packtrain_config::schema(),
    };
    let text = serde_json::to_string_pretty(&schema)
        .map_err(|error| CliError::infrastructure("cannot print the schema").because(&error))?;
    render::out(&text);
    Ok(Exit::Passed)
}
