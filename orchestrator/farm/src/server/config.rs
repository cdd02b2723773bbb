//! The configuration of nats-server, as the file that it reads. Pure.

use std::path::PathBuf;

use super::role::{JOINER, Permissions};
use super::users::Users;

/// The largest message, in bytes.
pub(super) const MAX_PAYLOAD: usize = 1024 * 1024;

/// A server of a farm.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Its name, unique in its cluster.
    pub name: String,
    /// Address and port for clients: `127.0.0.1:-1` takes any free port.
    pub listen: String,
    /// The folder of its streams.
    pub store: PathBuf,
    /// Whether every write is on the disk before it is confirmed. Costs much; a power cut costs
    /// nothing then.
    pub sync_always: bool,
    /// The servers beside it.
    pub cluster: Option<Cluster>,
    /// Its certificate. Without one nothing is encrypted.
    pub tls: Option<TlsFiles>,
    /// Who may connect.
    pub users: Users,
    /// What joiners connect with, when they may.
    pub join_password: Option<String>,
}

/// Servers that keep the same streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The cluster's name.
    pub name: String,
    /// Address and port for the other servers.
    pub listen: String,
    /// Host names and ports of the others.
    pub routes: Vec<String>,
    /// What the servers show each other.
    pub password: String,
}

/// A certificate, as files in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, and that of its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The authority's certificate.
    pub authority: PathBuf,
}

impl ServerConfig {
    /// The file.
    pub fn render(&self) -> String {
        let (name, listen) = (quoted(&self.name), quoted(&self.listen));
        let store = quoted(&self.store.display().to_string());
        let sync = when(self.sync_always, ", sync_interval: always");
        let tls = self.tls.as_ref();
        let cluster = self.cluster.as_ref().map(|cluster| cluster.render(tls));
        let cluster = cluster.unwrap_or_default();
        let tls = tls.map(|tls| format!("tls {{ {} }}\n", tls.render(false)));
        let tls = tls.unwrap_or_default();
        let mut users = String::new();
        for user in &self.users.0 {
            let (role, name, key) = (user.role, &user.name, &user.key);
            let permissions = rendered(&user.permissions());
            users += &format!("      # {role} {name}\n      {{ nkey: {key}, {permissions} }}\n");
        }
        if let Some(password) = &self.join_password {
            let (user, password) = (quoted(JOINER), quoted(password));
            let permissions = rendered(&Permissions::of_joiners());
            users += &format!("      {{ user: {user}, password: {password}, {permissions} }}\n");
        }
        // A client that is gone is noticed within the time of its liveness key.
        format!(
            r#"# Written by packtrain; changes are lost.
server_name: {name}
listen: {listen}
max_payload: {MAX_PAYLOAD}
ping_interval: "5s"
ping_max: 2
jetstream {{ store_dir: {store}{sync} }}
{tls}{cluster}accounts {{
  FARM {{
    jetstream: enabled
    users: [
{users}    ]
  }}
  SYS {{}}
}}
system_account: SYS
"#
        )
    }
}

impl TlsFiles {
    fn render(&self, between_servers: bool) -> String {
        let file = |path: &PathBuf| quoted(&path.display().to_string());
        let verify = when(between_servers, ", verify: true");
        format!(
            "cert_file: {}, key_file: {}, ca_file: {}{verify}",
            file(&self.certificate),
            file(&self.key),
            file(&self.authority),
        )
    }
}

impl Cluster {
    fn render(&self, tls: Option<&TlsFiles>) -> String {
        let (name, listen) = (quoted(&self.name), quoted(&self.listen));
        let password = quoted(&self.password);
        let tls = tls.map(|tls| format!("  tls {{ {} }}\n", tls.render(true)));
        let tls = tls.unwrap_or_default();
        let route = |route| quoted(&format!("nats-route://farm:{}@{route}", self.password));
        let routes = self.routes.iter().map(route);
        let routes = routes.collect::<Vec<_>>().join(", ");
        format!(
            "cluster {{
  name: {name}
  listen: {listen}
  authorization {{ user: farm, password: {password} }}
{tls}  routes: [{routes}]
}}
"
        )
    }
}

fn rendered(permissions: &Permissions) -> String {
    let list = |subjects: &[String]| {
        let subjects: Vec<_> = subjects.iter().map(|subject| quoted(subject)).collect();
        format!("[{}]", subjects.join(", "))
    };
    let answers = when(permissions.answers, ", allow_responses: true");
    format!(
        "permissions: {{ publish: {}, subscribe: {}{answers} }}",
        list(&permissions.publish),
        list(&permissions.subscribe),
    )
}

fn when(is_so: bool, words: &str) -> &str {
    if is_so { words } else { "" }
}

/// Text between quotes. Control characters, which have no place in any of it, are left out.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars().filter(|character| !character.is_control()) {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}
