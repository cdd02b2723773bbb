//! `packtrain config`: what counts, and where it comes from.

use clap::Args;
use packtrain_config::Flags;
use packtrain_model::Exit;

use super::listed::columns;
use super::{Context, Format};
use crate::exit::{CliError, OrCliError as _};
use crate::render;

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain config`.
pub(crate) fn run(args: &ConfigArgs, context: &Context) -> Result<Exit, CliError> {
    let loaded = context.config(Flags::default())?;
    match args.format {
        Format::Json => {
            let text = serde_json::to_string_pretty(&loaded.config)
                .or_infrastructure("cannot print the configuration")?;
            render::out(&text);
        }
        Format::Text => {
            let rows = loaded.entries().into_iter().map(|entry| {
                let (key, value) = (entry.key.to_string(), entry.value.to_string());
                [key, value, entry.origin.to_string()]
            });
            let rows: Vec<_> = rows.collect();
            render::out(&columns(&["KEY", "VALUE", "SOURCE"], &rows));
        }
    }
    Ok(Exit::Passed)
}
