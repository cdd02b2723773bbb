//! `packtrain tool new`: a tool source that works, with a test, a trail that calls it, and its entry in
//! the configuration.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use packtrain_config::Flags;
use packtrain_model::Exit;
use packtrain_tools::{Origin, check_name};

use super::Context;
use crate::exit::{CliError, OrCliError as _};
use crate::{render, run_files};

/// Where tools are kept, beside the configuration.
const TOOLS: &str = "tools";
/// The configuration of a project that has none yet.
const CONFIG: &str = include_str!("scaffold/packtrain.yaml");
/// Below which keys sources are configured.
const KEYS: [&str; 2] = ["mcpServers:", "mcp_servers:"];

/// What scaffolds of every language have.
const COMMON: [(&str, &str); 2] = [
    (
        "example.trail.yaml",
        include_str!("scaffold/example.trail.yaml"),
    ),
    ("example.html", include_str!("scaffold/example.html")),
];

/// Ways to write that there are none.
const NONE: [&str; 4] = ["[]", "{}", "null", "~"];

#[derive(Debug, Args)]
#[command(
    after_help = "Creates tools/NAME with a server, a tool, its test and a trail that calls it, and \
adds the server to packtrain.yaml, which is created if missing.\n\nExamples:
  packtrain tool new --lang py shop_openForm
  packtrain tool new --lang ts shop_openForm --sdk packtrain-sdk-0.1.0.tgz"
)]
pub(crate) struct NewArgs {
    /// The tool: `app_verbNoun`
    name: String,

    /// The language
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    lang: Language,

    /// The SDK to depend on: a version, or the path of its folder or package [default: the version
    /// of this Packtrain, from the registry]
    #[arg(long, value_name = "SDK")]
    sdk: Option<String>,
}

/// A language that there is an SDK for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Language {
    /// TypeScript, for bun, or Node with tsx
    Ts,
    /// Python
    Py,
}

impl Language {
    /// File names, in which NAME stands for the tool's, and contents.
    const fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Ts => &[
                ("server.ts", include_str!("scaffold/ts/server.ts")),
                ("NAME.ts", include_str!("scaffold/ts/tool.ts")),
                ("NAME.test.ts", include_str!("scaffold/ts/test.ts")),
                ("package.json", include_str!("scaffold/ts/package.json")),
                ("tsconfig.json", include_str!("scaffold/ts/tsconfig.json")),
                (".gitignore", include_str!("scaffold/ts/gitignore")),
            ],
            Self::Py => &[
                ("server.py", include_str!("scaffold/py/server.py")),
                ("NAME.py", include_str!("scaffold/py/tool.py")),
                ("test_NAME.py", include_str!("scaffold/py/test.py")),
                (
                    "requirements.txt",
                    include_str!("scaffold/py/requirements.txt"),
                ),
                (".gitignore", include_str!("scaffold/py/gitignore")),
            ],
        }
    }

    const fn server(self) -> &'static str {
        match self {
            Self::Ts => "server.ts",
            Self::Py => "server.py",
        }
    }

    /// What its package manager installs as the SDK.
    fn sdk(self, given: Option<&str>, here: &Path) -> Result<String, CliError> {
        let version = env!("CARGO_PKG_VERSION");
        let path = given
            .map(|given| here.join(given))
            .filter(|path| path.exists());
        let path = path
            .map(|path| path.canonicalize())
            .transpose()
            .or_misuse("cannot read --sdk")?;
        let what = "expected a version such as `1.2.3`, or the path of the SDK's folder or package";
        if let (Some(given), None) = (given, &path)
            && !is_version(given)
        {
            let error = CliError::misuse(format!(
                "invalid --sdk {given:?}: neither a path nor a version"
            ));
            return Err(error.hint(what));
        }
        if let Some(path) = &path
            && !self.is_package(path)
        {
            let error = CliError::misuse(format!("invalid --sdk {}: not an SDK", path.display()));
            return Err(error.hint(what));
        }
        if let (Self::Ts, Some(path)) = (self, &path)
            && path.is_dir()
            && !path.join("dist").exists()
        {
            let error = CliError::misuse(format!("{} is not built", path.display()));
            return Err(error.hint("run `npm pack` in it, and give the path of that package"));
        }
        Ok(match (self, path, given) {
            (Self::Ts, Some(path), _) => {
                // Within quotes of JSON.
                let quoted = serde_json::json!(format!("file:{}", path.display())).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            }
            (Self::Ts, None, Some(version)) => version.to_owned(),
            (Self::Ts, None, None) => format!("^{version}"),
            (Self::Py, Some(path), _) => format!("packtrain-sdk @ file://{}", in_url(&path)),
            (Self::Py, None, Some(version)) => format!("packtrain-sdk=={version}"),
            (Self::Py, None, None) => format!("packtrain-sdk~={version}"),
        })
    }

    /// Whether a path may be that of an SDK.
    fn is_package(self, path: &Path) -> bool {
        let (file, endings): (&str, &[&str]) = match self {
            Self::Ts => ("package.json", &["tgz", "gz"]),
            Self::Py => ("pyproject.toml", &["whl", "gz"]),
        };
        if path.is_dir() {
            return path.join(file).is_file();
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| endings.contains(&ending))
    }

    /// What to do next, from the folder of the configuration.
    fn next(self, folder: &str) -> Vec<String> {
        match self {
            Self::Ts => vec![
                format!("npm install --prefix {folder}"),
                format!("npm test --prefix {folder}"),
            ],
            Self::Py => vec![
                format!("python3 -m venv {folder}/.venv"),
                format!("{folder}/.venv/bin/pip install -r {folder}/requirements.txt"),
                format!("{folder}/.venv/bin/pytest {folder}"),
            ],
        }
    }
}

fn is_version(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || ".-+".contains(letter);
    text.starts_with(|first: char| first.is_ascii_digit()) && text.chars().all(is_part)
}

/// A path as it stands in a URL.
fn in_url(path: &Path) -> String {
    let mut url = String::new();
    for letter in path.display().to_string().chars() {
        match letter {
            '%' | '#' | '?' | ' ' => url.push_str(&format!("%{:02X}", u32::from(letter))),
            letter => url.push(letter),
        }
    }
    url
}

/// `packtrain tool new`.
pub(crate) fn run(args: &NewArgs, context: &Context) -> Result<Exit, CliError> {
    let name = &args.name;
    if let Some(problem) = check_name(name, &Origin::Source(name.clone())) {
        return Err(CliError::misuse(problem.to_string()).hint(problem.hint));
    }
    // Its name is that of a file and of a function, beside `server` and what languages know.
    if !name.contains('_') || name.starts_with("test_") {
        let error = CliError::misuse(format!("invalid name `{name}`: expected `app_verbNoun`"));
        return Err(error.hint("begin with the app: `myapp_signIn`"));
    }
    let workspace = context.workspace(Flags::default())?;
    if let Some(tool) = workspace.registry.get(name) {
        let whose = &tool.spec().origin;
        return Err(CliError::misuse(format!(
            "tool `{name}` already exists in {whose}"
        )));
    }
    let mut sources = workspace.config.mcp_servers.iter();
    if sources.any(|known| known.name == *name) {
        return Err(CliError::misuse(format!(
            "tool source `{name}` already exists"
        )));
    }
    let folder = workspace.root.join(TOOLS).join(name);
    if folder.exists() {
        return Err(CliError::misuse(format!(
            "{} already exists",
            folder.display()
        )));
    }
    let sdk = args
        .lang
        .sdk(args.sdk.as_deref(), &context.working_directory)?;
    let package = name.to_lowercase().replace('_', "-");
    let filled = |text: &str| {
        text.replace("__NAME__", name)
            .replace("__PACKAGE__", &package)
            .replace("__SDK__", &sdk)
    };
    let files = args.lang.files().iter().chain(&COMMON);
    let files: Vec<_> = files
        .map(|(file, content)| (folder.join(file.replace("NAME", name)), filled(content)))
        .collect();
    if let Err(error) = write_all(&folder, &files) {
        // What is half there would be in the way of the next try.
        let _ = std::fs::remove_dir_all(&folder);
        return Err(error);
    }
    for (path, _) in &files {
        render::say(&format!("created {}", shown(path, &workspace.root)));
    }
    let relative = format!("{TOOLS}/{name}");
    let entry = [
        format!("name: {name}"),
        format!("script: {relative}/{}", args.lang.server()),
        "transport: http".to_owned(),
    ];
    let config = context.project_file(&workspace.root);
    configure(&config, &entry, name, context)?;
    render::say(&format!(
        "added `{name}` to {}",
        shown(&config, &workspace.root)
    ));
    render::out("next:");
    for line in args.lang.next(&relative) {
        render::out(&format!("  {line}"));
    }
    render::out(&format!(
        "  packtrain run {relative}/example.trail.yaml -d virtual:android,virtual:ios,web"
    ));
    Ok(Exit::Passed)
}

/// Adds a source to the configuration; leaves it as it was when what comes out is not understood.
fn configure(file: &Path, entry: &[String], name: &str, context: &Context) -> Result<(), CliError> {
    let by_hand = || {
        let lines = entry.join("\n    ");
        CliError::infrastructure(format!(
            "the files were created, but {} could not be updated",
            file.display()
        ))
        .hint(format!("add it by hand:\n  mcpServers:\n  - {lines}"))
    };
    let before = match std::fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(by_hand().because(&error)),
    };
    let text = before.as_deref().unwrap_or(CONFIG);
    let after = with_entry(text, entry).ok_or_else(by_hand)?;
    replace(file, &after).map_err(|error| by_hand().because(&error))?;
    let is_understood = context.config(Flags::default()).is_ok_and(|loaded| {
        let mut sources = loaded.config.mcp_servers.iter();
        sources.any(|known| known.name == name)
    });
    if is_understood {
        return Ok(());
    }
    match before {
        Some(text) => replace(file, &text),
        None => std::fs::remove_file(file),
    }
    .map_err(|error| by_hand().because(&error))?;
    Err(by_hand())
}

/// A configuration with one more source, at the head of its list; `None` when the list is written in
/// a way that cannot be extended line by line.
fn with_entry(text: &str, entry: &[String]) -> Option<String> {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let item = |indent: &str| {
        let lines = entry.join(&format!("{end}{indent}  "));
        format!("{indent}- {lines}{end}")
    };
    let mut end_of_key = 0;
    let key = text.split_inclusive('\n').find(|line| {
        end_of_key += line.len();
        let bare = line.trim_start_matches('\u{feff}');
        KEYS.iter().any(|key| bare.starts_with(key))
    });
    let Some(key) = key else {
        let gap = match text.is_empty() || text.ends_with('\n') {
            true => "",
            false => end,
        };
        return Some(format!("{text}{gap}mcpServers:{end}{}", item("  ")));
    };
    let (name, behind) = key.split_once(':')?;
    let behind = behind.trim();
    if NONE.contains(&behind) {
        let (before, after) = (&text[..end_of_key - key.len()], &text[end_of_key..]);
        return Some(format!("{before}{name}:{end}{}{after}", item("  ")));
    }
    if !behind.is_empty() && !behind.starts_with('#') {
        return None;
    }
    let rest = &text[end_of_key..];
    let mut lines = rest.lines();
    let first = lines.find(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
    let indent = match first {
        Some(line) if line.trim_start().starts_with("- ") => {
            &line[..line.len() - line.trim_start().len()]
        }
        // The next key: there was none yet.
        Some(line) if !line.starts_with([' ', '\t']) => "  ",
        None => "  ",
        // By name.
        Some(_) => return None,
    };
    let gap = if key.ends_with('\n') { "" } else { end };
    Some(format!(
        "{}{gap}{}{rest}",
        &text[..end_of_key],
        item(indent)
    ))
}

fn write_all(folder: &Path, files: &[(PathBuf, String)]) -> Result<(), CliError> {
    std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, &error))?;
    for (path, content) in files {
        std::fs::write(path, content).map_err(|error| unwritten(path, &error))?;
    }
    Ok(())
}

/// Writes a file as a whole or not at all; one that a link leads to is written where it is.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let there = file.canonicalize();
    run_files::replace(there.as_deref().unwrap_or(file), text.as_bytes())
}

fn shown<'p>(path: &'p Path, root: &Path) -> std::path::Display<'p> {
    path.strip_prefix(root).unwrap_or(path).display()
}

fn unwritten(path: &Path, error: &std::io::Error) -> CliError {
    CliError::infrastructure(format!("cannot write {}", path.display())).because(error)
}

#[cfg(test)]
mod tests {
    use super::with_entry;

    fn extended(text: &str) -> Option<String> {
        with_entry(text, &["name: a".to_owned(), "script: a.py".to_owned()])
    }

    #[test]
    fn a_source_is_added_where_the_others_stand() {
        let cases = [
            ("", "mcpServers:\n  - name: a\n    script: a.py\n"),
            ("x: 1", "x: 1\nmcpServers:\n  - name: a\n    script: a.py\n"),
            (
                "mcpServers:\n# mine\n- name: b\n",
                "mcpServers:\n- name: a\n  script: a.py\n# mine\n- name: b\n",
            ),
            (
                "mcpServers: # of ours\n    - name: b\nx: 1\n",
                "mcpServers: # of ours\n    - name: a\n      script: a.py\n    - name: b\nx: 1\n",
            ),
            (
                "mcpServers:\nx: 1\n",
                "mcpServers:\n  - name: a\n    script: a.py\nx: 1\n",
            ),
            (
                "x: 1\nmcpServers: []\ny: 2\n",
                "x: 1\nmcpServers:\n  - name: a\n    script: a.py\ny: 2\n",
            ),
            (
                "mcpServers:\r\n  - name: b\r\n",
                "mcpServers:\r\n  - name: a\r\n    script: a.py\r\n  - name: b\r\n",
            ),
            (
                "mcpServers:",
                "mcpServers:\n  - name: a\n    script: a.py\n",
            ),
        ];
        for (before, after) in cases {
            assert_eq!(extended(before).as_deref(), Some(after), "{before:?}");
        }
    }

    #[test]
    fn what_is_written_in_another_way_is_left_to_its_author() {
        for text in [
            "mcpServers: [{ name: b }]\n",
            "mcp_servers:\n  b:\n    script: b.py\n",
        ] {
            assert_eq!(extended(text), None, "{text:?}");
        }
    }
}
