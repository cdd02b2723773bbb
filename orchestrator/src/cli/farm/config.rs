//! `packtrain farm config`: what servers of one's own are configured with.

use std::path::{Path, PathBuf};

use clap::Args;
use packtrain_farm::link::Trust;
use packtrain_farm::server::{
    Access, Certificates, Cluster, FarmFolder, Role, ServerConfig, ServerError, TlsFiles, Users,
};
use packtrain_farm::wire::HostName;
use packtrain_model::Exit;

use super::address;
use crate::exit::CliError;
use crate::render;

/// The port for clients.
const CLIENTS: u16 = 4222;
/// The port for the other servers.
const ROUTES: u16 = 6222;

#[derive(Debug, Args)]
#[command(
    after_help = "With --out, certificates and users' credentials are written too, and a second call \
adds users: give each server its folder and each user its file, and have the servers read their \
configuration again (`nats-server --signal reload`)."
)]
pub(crate) struct ConfigArgs {
    /// How many servers: 1, or 3 or 5 that replicate each other
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    nodes: u8,

    /// The servers' host names, comma-separated [default: nats-1, nats-2 …]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    servers: Vec<String>,

    /// A user, as ROLE:NAME; may be repeated
    #[arg(long = "user", value_name = "ROLE:NAME", value_parser = user)]
    users: Vec<(Role, HostName)>,

    /// The folder to write to, which will hold the farm's secrets
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,

    /// The folder's path on a server
    #[arg(long, default_value = "/etc/nats", value_name = "FOLDER")]
    at: PathBuf,

    /// Where a server keeps its streams
    #[arg(long, default_value = "/data", value_name = "FOLDER")]
    store: PathBuf,
}

fn user(text: &str) -> Result<(Role, HostName), String> {
    let (role, name) = text
        .split_once(':')
        .ok_or("expected ROLE:NAME, such as host:mac-1")?;
    let name = name.parse().map_err(|error| format!("{error}"))?;
    Ok((role.parse()?, name))
}

/// `packtrain farm config`.
pub(crate) fn run(args: &ConfigArgs) -> Result<Exit, CliError> {
    let names = names(args)?;
    match &args.out {
        Some(out) => write(args, out, &names)?,
        None => print(args, &names)?,
    }
    Ok(Exit::Passed)
}

fn names(args: &ConfigArgs) -> Result<Vec<String>, CliError> {
    let names = if args.servers.is_empty() {
        (1..=args.nodes)
            .map(|number| format!("nats-{number}"))
            .collect()
    } else {
        args.servers.clone()
    };
    if !matches!(names.len(), 1 | 3 | 5) {
        return Err(CliError::misuse("a farm needs 1, 3 or 5 servers")
            .hint("an even number tolerates no more failures than the odd one below it"));
    }
    let is_fit = |name: &String| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-.".contains(c))
    };
    match names.iter().find(|name| !is_fit(name)) {
        Some(name) => Err(CliError::misuse(format!("invalid host name `{name}`"))),
        None => Ok(names),
    }
}

/// Prints what this user's farm would be on servers of its own, or an example of it.
fn print(args: &ConfigArgs, names: &[String]) -> Result<(), CliError> {
    if !args.users.is_empty() {
        return Err(
            CliError::misuse("users' keys must be written to a folder").hint("add --out FOLDER")
        );
    }
    let folder = address::folder(None)?;
    let users = folder.users()?;
    let password = folder.secret()?.join_password();
    for name in names {
        if names.len() > 1 {
            render::out(&format!("# {name}.conf"));
        }
        render::out(&config(args, name, names, &users, &password).render());
    }
    Ok(())
}

fn write(args: &ConfigArgs, out: &Path, names: &[String]) -> Result<(), ServerError> {
    let folder = FarmFolder::open(out)?;
    let mut wanted = args.users.clone();
    if !wanted.iter().any(|(role, _)| *role == Role::Broker)
        && let Ok(name) = "broker".parse()
    {
        wanted.push((Role::Broker, name));
    }
    let mut identities = Vec::new();
    for (role, name) in &wanted {
        identities.push(folder.identity(*role, name)?);
    }
    let (users, password) = (folder.users()?, folder.secret()?.join_password());
    let mut pin = String::new();
    for name in names {
        let reached_by = [name.clone(), "localhost".to_owned(), "127.0.0.1".to_owned()];
        let made = Certificates::open(&folder.tls(), name, &reached_by)?;
        let place = out.join(name);
        for (from, to) in [
            (&made.files.certificate, "server.pem"),
            (&made.files.key, "server.key"),
            (&made.files.authority, "authority.pem"),
        ] {
            let text = std::fs::read_to_string(from).map_err(|source| ServerError::File {
                path: from.clone(),
                source,
            })?;
            packtrain_farm::server::write_private(&place.join(to), &text)?;
        }
        let text = config(args, name, names, &users, &password).render();
        packtrain_farm::server::write_private(&place.join("nats-server.conf"), &text)?;
        render::out(&place.join("nats-server.conf").display().to_string());
        pin = made.pin;
    }
    let servers: Vec<_> = names
        .iter()
        .map(|name| format!("tls://{name}:{CLIENTS}"))
        .collect();
    for identity in identities {
        let file = format!("{}-{}.json", identity.role, identity.name);
        let file = out.join("credentials").join(file);
        let access = Access {
            servers: servers.clone(),
            trust: Trust::Pinned(pin.clone()),
            identity,
        };
        access.save(&file)?;
        render::out(&file.display().to_string());
    }
    Ok(())
}

fn config(
    args: &ConfigArgs,
    name: &str,
    names: &[String],
    users: &Users,
    password: &str,
) -> ServerConfig {
    let others = names.iter().filter(|other| *other != name);
    let cluster = (names.len() > 1).then(|| Cluster {
        name: "farm".to_owned(),
        listen: format!("0.0.0.0:{ROUTES}"),
        routes: others.map(|other| format!("{other}:{ROUTES}")).collect(),
        password: password.to_owned(),
    });
    ServerConfig {
        name: name.to_owned(),
        listen: format!("0.0.0.0:{CLIENTS}"),
        store: args.store.clone(),
        // A power cut may take all servers at once, and there is no other copy.
        sync_always: names.len() == 1,
        cluster,
        tls: Some(TlsFiles {
            certificate: args.at.join("server.pem"),
            key: args.at.join("server.key"),
            authority: args.at.join("authority.pem"),
        }),
        users: users.clone(),
        join_password: None,
    }
}
