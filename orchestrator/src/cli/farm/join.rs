//! `packtrain farm join`: becomes one of a farm's computers.

use std::path::Path;

use clap::Args;
use packtrain_farm::link::{FarmError, Link, Trust};
use packtrain_farm::server::{self, Access, Identity, Invitation, JoinError, Refusal, Role};
use packtrain_farm::wire::HostName;
use packtrain_model::Exit;

use super::address;
use crate::cli::host::own_name;
use crate::exit::CliError;
use crate::{render, runtime};

#[derive(Debug, Args)]
#[command(
    after_help = "Generates a key, which never leaves this computer, and registers its public half \
with the farm. The farm's address is kept in this user's state folder, where all commands find it."
)]
pub(crate) struct JoinArgs {
    /// Addresses of the farm's servers, comma-separated
    #[arg(value_name = "URL", value_delimiter = ',', required = true)]
    servers: Vec<String>,

    /// What `packtrain farm token` printed
    #[arg(value_name = "TOKEN")]
    token: String,

    /// The name on the farm [default: this computer's]
    #[arg(long, value_name = "NAME")]
    name: Option<HostName>,
}

/// `packtrain farm join`.
pub(crate) fn run(args: JoinArgs) -> Result<Exit, CliError> {
    runtime::block_on(async {
        let access = joined(&args.servers, &args.token, args.name, None).await?;
        let Identity { role, name, .. } = &access.identity;
        render::say(&format!("joined the farm as {role} `{name}`"));
        Ok(Exit::Passed)
    })
}

/// Joins a farm, and keeps for this user how it is reached. With a role, the token must be for it.
pub(crate) async fn joined(
    servers: &[String],
    token: &str,
    name: Option<HostName>,
    wanted: Option<Role>,
) -> Result<Access, CliError> {
    servers
        .iter()
        .try_for_each(|server| address::checked(server))?;
    let invitation = Invitation::read(token).map_err(|error| refused(&error))?;
    if let Some(wanted) = wanted
        && wanted != invitation.role
    {
        let refusal = Refusal::Role(invitation.role);
        return Err(refused(&refusal.into()));
    }
    let name = match name {
        Some(name) => name,
        None => own_name()?,
    };
    let file = address::access_file(invitation.role)?;
    let of_that_name = |file: &Path| {
        let access = Access::load(file).ok();
        access.filter(|access| access.identity.name == name)
    };
    // This computer has joined already: a service that is started again has the same token. Where the
    // server is may be spelt another way now.
    let known = of_that_name(&file);
    if let Some(known) = &known {
        let here = Access {
            servers: servers.to_vec(),
            ..known.clone()
        };
        match Link::connect(&here.address(), "packtrain").await {
            Ok(_) => {
                here.save(&file)?;
                return Ok(here);
            }
            Err(error @ FarmError::Unreachable { .. }) => return Err(refused(&error.into())),
            Err(_) => {}
        }
    }
    // Kept before it is shown to anybody, so that a second attempt shows the same key.
    let pending = file.with_extension("joining");
    let identity = match of_that_name(&pending).or(known) {
        Some(earlier) => earlier.identity,
        None => Identity::new(invitation.role, name)?,
    };
    let attempt = Access {
        servers: servers.to_vec(),
        trust: Trust::System,
        identity,
    };
    attempt.save(&pending)?;
    let access = server::join(servers, token, attempt.identity).await;
    if let Err(JoinError::Refused(_) | JoinError::Token) = &access {
        // The key is nobody's.
        let _ = std::fs::remove_file(&pending);
    }
    let access = access.map_err(|error| refused(&error))?;
    access.save(&file)?;
    // One that stays is of no matter.
    let _ = std::fs::remove_file(&pending);
    Ok(access)
}

fn refused(error: &JoinError) -> CliError {
    let words = error.to_string();
    let refused = match error {
        JoinError::Token | JoinError::Refused(_) => CliError::misuse(words),
        JoinError::Farm(_) | JoinError::Key(_) | JoinError::Nobody(_) => {
            CliError::infrastructure(words)
        }
    };
    refused.hinted(error.hint().map(str::to_owned))
}
