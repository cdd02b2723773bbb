//! `packtrain farm token`: invitations.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use packtrain_config::HumanDuration;
use packtrain_farm::server::{FarmFolder, Invitation, Role, ServerError};
use packtrain_model::Exit;
use serde_json::json;

use super::address;
use crate::cli::{Format, listed};
use crate::exit::CliError;
use crate::render;

/// How long the token that `farm up` prints holds.
pub(super) const DEFAULT_TTL: Duration = Duration::from_secs(3600);
/// The longest that one may be valid: found later, it is worthless.
const LONGEST_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Debug, Args)]
#[command(
    after_help = "A token lets one computer join while it is valid. Run this on the farm's computer: \
it is signed with the farm's secret. The computer that joins generates a key, which never leaves it."
)]
pub(crate) struct TokenArgs {
    /// The role it grants: host, run, viewer, operator or broker
    #[arg(long, default_value = "host", value_name = "ROLE")]
    role: Role,

    /// How long the token is valid
    #[arg(long, default_value = "1h", value_name = "TIME")]
    ttl: HumanDuration,

    /// The farm's folder [default: this user's]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// `packtrain farm token`.
pub(crate) fn run(args: &TokenArgs) -> Result<Exit, CliError> {
    if args.ttl.get() > LONGEST_TTL || args.ttl.get().is_zero() {
        return Err(CliError::misuse(
            "invalid --ttl: expected more than 0 and at most a week",
        ));
    }
    let folder = address::folder(args.dir.as_ref())?;
    if !folder.path().join("secret").is_file() {
        let path = folder.path().display();
        return Err(CliError::misuse(format!("no farm in {path}"))
            .hint("run it on the farm's computer; `packtrain farm up` starts a farm here"));
    }
    let (token, expires) = invite(&folder, args.role, args.ttl.get())?;
    let url = std::fs::read_to_string(url_file(&folder)).ok();
    match args.format {
        Format::Json => listed::data(json!({
            "token": token,
            "role": args.role,
            "expires": expires,
            "servers": url.map(|url| [url]),
        })),
        Format::Text => {
            render::out(&token);
            match url {
                Some(url) => {
                    render::say(&format!("join with: {}", line(&url, args.role, "TOKEN")));
                }
                None => render::say("the farm is not up: `packtrain farm up` starts it"),
            }
        }
    }
    Ok(Exit::Passed)
}

/// A token that invites to the farm of a folder, and when it expires.
pub(super) fn invite(
    folder: &FarmFolder,
    role: Role,
    ttl: Duration,
) -> Result<(String, DateTime<Utc>), ServerError> {
    let secret = folder.secret()?;
    let expires = Utc::now() + TimeDelta::from_std(ttl).unwrap_or(TimeDelta::MAX);
    let invitation = Invitation {
        id: uuid::Uuid::new_v4().to_string(),
        role,
        expires,
        password: secret.join_password(),
        pin: folder.pin(),
    };
    Ok((invitation.token(&secret), expires))
}

/// The one line with which a computer joins.
pub(super) fn line(url: &str, role: Role, token: &str) -> String {
    match role {
        Role::Host => format!("packtrain host --farm {url} --token {token}"),
        Role::Broker => format!("packtrain farm join {url} {token} && packtrain farm broker"),
        Role::Run | Role::Viewer | Role::Operator => format!("packtrain farm join {url} {token}"),
    }
}

/// Where a farm that is up says how others reach it.
pub(super) fn url_file(folder: &FarmFolder) -> PathBuf {
    folder.path().join("url")
}
