//! Rules for tool sources: where one is, what applies to it there, and what its placeholders are.

use std::collections::HashSet;
use std::path::Path;

use packtrain_yaml::suggest::closest;

use super::{Violation, absolute_url, longer_than_nothing};
use crate::key::KeyPath;
use crate::placeholder::{PLACEHOLDERS, placeholders};
use crate::settings::{McpServer, Restart, Stop, Transport};
use crate::value::{Port, capture_groups};

/// Most calls to a source at a time.
const MAX_CONCURRENCY: u32 = 4_096;
/// Most servers of a source.
const MAX_REPLICAS: u32 = 64;

type Checked = Result<(), Violation>;

pub(super) fn sources(servers: &[McpServer], check: &mut impl FnMut(Checked)) {
    let mut names = HashSet::new();
    for (index, server) in servers.iter().enumerate() {
        let key = KeyPath::new(["mcpServers"]).child(index.to_string());
        let rules = [place, command, applicable, texts, values];
        check(rules.iter().try_for_each(|rule| rule(&key, server)));
        if !names.insert(&server.name) {
            let message = format!("duplicate tool source name `{}`", server.name);
            check(Err(Violation::new(key.child("name"), message)));
        }
    }
}

/// A source is started in one way, or is already running.
fn place(key: &KeyPath, server: &McpServer) -> Checked {
    let ways = [
        ("command", !server.command.is_empty()),
        ("script", server.script.is_some()),
        ("trailmap", server.trailmap.is_some()),
    ];
    let mut ways = ways.into_iter().filter(|(_, is_given)| *is_given);
    if let (Some((first, _)), Some((second, _))) = (ways.next(), ways.next()) {
        let message = format!("`{first}` and `{second}` are mutually exclusive");
        return Err(Violation::new(key.child(second), message));
    }
    if !server.is_started() && server.url.is_none() {
        let message = format!(
            "`{}` has no `command`, `script`, `trailmap` or `url`",
            server.name
        );
        return Err(Violation::new(key.clone(), message));
    }
    absolute_url(&key.child("url"), server.url.as_deref())
}

/// A command is a program, not a line for a shell.
fn command(key: &KeyPath, server: &McpServer) -> Checked {
    let Some(program) = server.command.first() else {
        return Ok(());
    };
    let key = key.child("command");
    if program.is_empty() {
        return Err(Violation::new(key, "must not be empty"));
    }
    let words: Vec<&str> = program.split_whitespace().collect();
    let is_line = || {
        let is_program = |word: &&str| Path::new(word).is_file();
        let path = Path::new(program);
        path.is_relative() || (!path.exists() && words.first().is_some_and(is_program))
    };
    if server.command.len() == 1 && program.contains(char::is_whitespace) && is_line() {
        let message = format!("program `{program}` not found");
        return Err(
            Violation::new(key, message).hint(format!("use a list: [{}]", words.join(", ")))
        );
    }
    Ok(())
}

/// Nothing is set that has no effect on a source of this kind.
fn applicable(key: &KeyPath, server: &McpServer) -> Checked {
    let is_stdio = server.transport == Some(Transport::Stdio);
    if is_stdio && server.url.is_some() {
        let message = "a source with a `url` uses http";
        return Err(Violation::new(key.child("transport"), message));
    }
    let is_port_set = server.port != Port::Auto;
    let over_http = [
        ("headers", !server.headers.is_empty()),
        ("port", is_port_set),
    ];
    let started = [
        ("args", !server.args.is_empty()),
        ("env", !server.env.is_empty()),
        ("workingDir", server.working_dir.is_some()),
        ("port", is_port_set),
        ("replicas", server.replicas != 1),
        ("restart", server.restart != Restart::default()),
        ("stop", server.stop != Stop::default()),
    ];
    let (given, kind) = if is_stdio {
        (&over_http[..], "over stdio")
    } else if !server.is_started() {
        (&started[..], "with only a `url`")
    } else {
        return Ok(());
    };
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => {
            let message = format!("`{name}` does not apply to a source {kind}");
            Err(Violation::new(key.child(*name), message))
        }
        None => Ok(()),
    }
}

/// Every placeholder is known and has a value.
fn texts(key: &KeyPath, server: &McpServer) -> Checked {
    for (name, inner, text) in server.texts() {
        let key = (inner.iter()).fold(key.child(name), |key, part| key.child(part));
        for word in placeholders(&text) {
            let wrong =
                |message: &str| Violation::new(key.clone(), format!("`{{{word}}}` {message}"));
            if !PLACEHOLDERS.contains(&word) {
                return Err(wrong("is not a placeholder").hint(
                    match closest(word, PLACEHOLDERS) {
                        Some(meant) => format!("did you mean `{{{meant}}}`?"),
                        None => format!("available: {{{}}}", PLACEHOLDERS.join("}, {")),
                    },
                ));
            }
            if !server.is_started() && word != "device" {
                return Err(wrong("has no value for a source that is already running"));
            }
            let is_for_start = !matches!(name, "url" | "headers");
            if matches!(server.port, Port::Printed(_)) && is_for_start && word == "port" {
                return Err(wrong("has no value before the server prints its port"));
            }
            if server.transport == Some(Transport::Stdio) && word == "port" {
                return Err(wrong("has no value over stdio").hint("set `transport` to http"));
            }
        }
    }
    Ok(())
}

fn values(key: &KeyPath, server: &McpServer) -> Checked {
    let counts = [
        ("concurrency", server.concurrency, MAX_CONCURRENCY),
        ("replicas", server.replicas, MAX_REPLICAS),
    ];
    for (name, count, most) in counts {
        if !(1..=most).contains(&count) {
            let message = format!("must be between 1 and {most}");
            return Err(Violation::new(key.child(name), message));
        }
    }
    if matches!(server.port, Port::Fixed(_)) && server.replicas > 1 {
        let message = "several servers cannot listen on one `port`";
        return Err(Violation::new(key.child("replicas"), message));
    }
    longer_than_nothing(&key.child("readyTimeout"), server.ready_timeout)?;
    longer_than_nothing(&key.child("callTimeout"), server.call_timeout)?;
    longer_than_nothing(&key.child("maxTotal"), server.max_total)?;
    longer_than_nothing(&key.child("restart").child("window"), server.restart.window)?;
    if let Port::Printed(pattern) = &server.port {
        let key = key.child("port").child("stdoutRegex");
        match capture_groups(pattern) {
            Some(1) => {}
            Some(groups) => {
                let message = format!("must have exactly one capture group, has {groups}");
                let hint = "put the port in parentheses: `:(\\d+)`; `(?:...)` captures nothing";
                return Err(Violation::new(key, message).hint(hint));
            }
            None => return Err(Violation::new(key, "brackets do not match up")),
        }
    }
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    for (name, value) in &server.headers {
        let key = key.child("headers").child(name);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(Violation::new(key, format!("invalid header name `{name}`")));
        }
        if value.contains(|c: char| c.is_control() && c != '\t') {
            return Err(Violation::new(key, "must not contain control characters"));
        }
    }
    Ok(())
}
