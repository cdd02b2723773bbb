//! Where the farm is and who we are there: by flag, by configuration, or by what `farm up` or joining
//! left in this user's state folder.

use std::path::PathBuf;
use std::time::Duration;

use packtrain_config::{Config, FarmSettings};
use packtrain_farm::link::{Credentials, FarmAddress, Link, Trust};
use packtrain_farm::live;
use packtrain_farm::server::{self, Access, FarmFolder, Identity, Role};

use crate::exit::{CliError, OrCliError as _};
use crate::wiring;

/// Who may run trails, the most able first.
const RUNNERS: [Role; 2] = [Role::Operator, Role::Run];
/// Who may look, the most able first.
pub(crate) const VIEWERS: [Role; 4] = [Role::Operator, Role::Run, Role::Viewer, Role::Broker];

/// A farm, as one command reaches it.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Where it is.
    pub(crate) address: FarmAddress,
    /// Who we are there; `None` on a server that knows no users.
    pub(crate) identity: Option<Identity>,
}

/// The farm that a run is for: what `--farm` was given, the configured one, or this user's.
///
/// # Errors
/// When there is no farm that this user knows.
pub(crate) fn of(given: Option<&str>, config: &Config) -> Result<FarmAddress, CliError> {
    Ok(find(given, &config.farm, &RUNNERS)?.address)
}

/// The smallest number of servers that elect a leader.
const CLUSTER: usize = 3;

/// Who runs something here, for people: `ada@laptop`.
pub(crate) fn owner() -> String {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()));
    let user = user.unwrap_or_else(|| "unknown".to_owned());
    match nix::unistd::gethostname() {
        Ok(computer) => format!("{user}@{}", computer.to_string_lossy()),
        Err(_) => user,
    }
}

/// How long keys live on this farm. Without a number of servers, they live as long as an
/// election needs: one may be under way.
pub(crate) async fn ttl(link: &Link) -> Duration {
    ttl_on(server::replicas(link).await.unwrap_or(CLUSTER))
}

/// How long keys live on so many servers. The hidden `PACKTRAIN_FARM_TTL`, whole seconds, is for tests.
pub(crate) fn ttl_on(replicas: usize) -> Duration {
    let given = std::env::var("PACKTRAIN_FARM_TTL").ok();
    match given.and_then(|seconds| seconds.parse().ok()) {
        Some(seconds) if seconds >= 1 => Duration::from_secs(seconds),
        Some(_) | None => live::ttl(replicas),
    }
}

/// This user's folder of farms.
pub(crate) fn farms() -> Result<PathBuf, CliError> {
    let state = wiring::state_folder().ok_or_else(|| {
        CliError::infrastructure("no folder to keep the farm in").hint("set XDG_STATE_HOME or HOME")
    })?;
    Ok(state.join("farm"))
}

/// The file that says how this user reaches a farm in a role.
pub(crate) fn access_file(role: Role) -> Result<PathBuf, CliError> {
    Ok(farms()?.join("access").join(format!("{role}.json")))
}

/// The farm that a command is for. `flag` is what `--farm` was given: addresses with commas, or
/// nothing, which means this user's farm. Of `roles`, the first that this user has.
///
/// # Errors
/// When there is no farm that this user knows, or it is known in other roles only.
pub(crate) fn find(
    flag: Option<&str>,
    settings: &FarmSettings,
    roles: &[Role],
) -> Result<Found, CliError> {
    let given: Vec<String> = flag
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|server| !server.is_empty())
        .map(str::to_owned)
        .collect();
    let servers = if given.is_empty() {
        settings.servers.clone()
    } else {
        given
    };
    servers.iter().try_for_each(|server| checked(server))?;
    match access(settings, roles)? {
        Some(mut access) => {
            if !servers.is_empty() {
                access.servers = servers;
            }
            Ok(Found {
                address: access.address(),
                identity: Some(access.identity),
            })
        }
        None if !servers.is_empty() => Ok(Found {
            address: FarmAddress {
                servers,
                credentials: Credentials::None,
                trust: Trust::System,
            },
            identity: None,
        }),
        None => Err(unknown(roles)),
    }
}

/// Why there is no farm for a command of these roles.
fn unknown(roles: &[Role]) -> CliError {
    let is_there = |role: &Role| access_file(*role).is_ok_and(|file| file.is_file());
    let others: Vec<_> = Role::ALL.into_iter().filter(is_there).collect();
    if others.is_empty() {
        if farms().is_ok_and(|farms| farms.join("server").join("secret").is_file()) {
            return CliError::infrastructure("this computer's farm is not running")
                .hint("`packtrain farm up` starts it");
        }
        return CliError::misuse("no farm is configured for this user").hint(
            "`packtrain farm up` starts one here; `packtrain farm join URL TOKEN` joins an existing one",
        );
    }
    // The least role that is enough.
    let enough = [Role::Viewer, Role::Run]
        .iter()
        .find(|role| roles.contains(role));
    let role = enough.or(roles.first()).map_or("", |role| role.word());
    let (others, wanted) = (words(&others), words(roles));
    CliError::misuse(format!(
        "this needs the role {wanted} on the farm, and this user has {others}"
    ))
    .hint(format!(
        "join again, with a token from `packtrain farm token --role {role}`"
    ))
}

/// The first of these roles that this user has.
fn access(settings: &FarmSettings, roles: &[Role]) -> Result<Option<Access>, CliError> {
    if let Some(path) = &settings.credentials {
        let access = Access::load(path)?;
        let role = access.identity.role;
        if !roles.contains(&role) {
            let (path, wanted) = (path.display(), words(roles));
            return Err(CliError::misuse(format!(
                "the credentials in {path} are a {role}'s, and this is for a {wanted}"
            )));
        }
        return Ok(Some(access));
    }
    for role in roles {
        let path = access_file(*role)?;
        if path.is_file() {
            return Ok(Some(Access::load(&path)?));
        }
    }
    Ok(None)
}

fn words(roles: &[Role]) -> String {
    let words: Vec<_> = roles.iter().map(|role| role.word()).collect();
    words.join(" or ")
}

/// Refuses what is not a server's address.
pub(crate) fn checked(server: &str) -> Result<(), CliError> {
    let rest = ["nats://", "tls://"]
        .iter()
        .find_map(|scheme| server.strip_prefix(scheme));
    let is_address = rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['/', ' ', '@']));
    if is_address {
        return Ok(());
    }
    Err(
        CliError::misuse(format!("invalid server address `{server}`"))
            .hint("expected `nats://host:4222`, or `tls://host:4222` if the farm uses encryption"),
    )
}

/// The folder of the farm that `farm up` starts, wherever it is.
pub(crate) fn folder(dir: Option<&PathBuf>) -> Result<FarmFolder, CliError> {
    let path = match dir {
        Some(dir) => dir.clone(),
        None => farms()?.join("server"),
    };
    let path = std::path::absolute(&path).unwrap_or(path);
    FarmFolder::open(&path)
        .or_infrastructure(format_args!("cannot use {} for the farm", path.display()))
}
