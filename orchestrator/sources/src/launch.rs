//! From settings to a command line: templates, the runtime of a script, the flags of HTTP. Pure, but
//! for looking whether files are there.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use packtrain_config::{McpServer, Port, Transport};

use super::settings::{Launch, LaunchProgram};

/// Values for templates.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    pub(super) host: String,
    pub(super) port: Option<u16>,
    pub(super) token: String,
    pub(super) device: Option<String>,
    pub(super) run_dir: Option<PathBuf>,
}

/// A command line, ready to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) program: OsString,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// What it does not get of our own environment.
    pub(super) without: Vec<String>,
    pub(super) folder: Option<PathBuf>,
    /// The file that the author wrote, as far as it is known.
    pub(super) file: Option<PathBuf>,
}

impl Places {
    /// A text with its templates filled in; what has no value here stays.
    pub(super) fn fill(&self, text: &str) -> String {
        if !text.contains('{') {
            return text.to_owned();
        }
        let mut filled = text
            .replace("{host}", &self.host)
            .replace("{token}", &self.token);
        if let Some(port) = self.port {
            filled = filled.replace("{port}", &port.to_string());
        }
        let device = self.device.as_deref().unwrap_or("no-device");
        filled = filled.replace("{device}", device);
        if let Some(folder) = &self.run_dir {
            filled = filled.replace("{run_dir}", &folder.display().to_string());
        }
        filled
    }
}

/// The command line of a source.
///
/// # Errors
/// A sentence when a script is not there or nothing can run it.
pub(super) fn command_line(
    settings: &McpServer,
    launch: &Launch,
    transport: Transport,
    places: &Places,
    search_path: &OsStr,
) -> Result<CommandLine, String> {
    let mut folder = launch
        .folder
        .as_ref()
        .map(|folder| PathBuf::from(places.fill(folder)));
    let (program, mut args, file) = match &launch.program {
        LaunchProgram::Command(program) => {
            let file = launch
                .args
                .iter()
                .map(|arg| places.fill(arg))
                .find_map(|arg| {
                    let path = folder.as_deref().unwrap_or(Path::new(".")).join(arg);
                    path.is_file().then(|| path.canonicalize().ok()).flatten()
                });
            (OsString::from(places.fill(program)), Vec::new(), file)
        }
        LaunchProgram::Script(script) => {
            let path = script
                .canonicalize()
                .map_err(|_| format!("the script {} does not exist", script.display()))?;
            let mut argv = runtime_of(&path, &path, search_path)?;
            argv.push(path.clone().into_os_string());
            folder = folder.or_else(|| path.parent().map(Path::to_owned));
            let program = argv.remove(0);
            let args = argv
                .into_iter()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect();
            (program, args, Some(path))
        }
        LaunchProgram::Trailmap {
            server,
            trailmap,
            tools,
        } => {
            let server = server.as_ref().map_err(Clone::clone)?;
            let mut argv = runtime_of(server, trailmap, search_path)?.into_iter();
            let program = argv.next().unwrap_or_default();
            let args = argv.chain([server.clone().into_os_string()]);
            let args = args.map(|arg| arg.to_string_lossy().into_owned());
            let args = args.chain(tools.iter().cloned()).collect();
            (program, args, Some(trailmap.clone()))
        }
    };
    args.extend(launch.args.iter().map(|arg| places.fill(arg)));
    if transport == Transport::Http && !names_port(settings, launch) {
        args.extend(["--transport", "http", "--port"].map(str::to_owned));
        args.push(places.fill("{port}"));
    }
    let env = launch.env.iter();
    Ok(CommandLine {
        program,
        args,
        env: env
            .map(|(name, value)| (name.clone(), places.fill(value)))
            .collect(),
        without: launch.without.clone(),
        folder,
        file,
    })
}

/// Whether the settings say themselves how the source learns of its port.
pub(super) fn names_port(settings: &McpServer, launch: &Launch) -> bool {
    let texts = launch.args.iter().chain(launch.env.values());
    !matches!(settings.port, Port::Auto) || texts.into_iter().any(|text| text.contains("{port}"))
}

/// What runs a script: the runtime and its arguments. It may be installed beside `near`, which is the
/// file that its author knows.
fn runtime_of(script: &Path, near: &Path, search_path: &OsStr) -> Result<Vec<OsString>, String> {
    let on_path = |name: &str| {
        std::env::split_paths(search_path)
            .map(|folder| folder.join(name))
            .find(|path| path.is_file())
    };
    // What was installed for the script comes before what everybody has.
    let beside = |file: &str| {
        let mut places = near.ancestors().skip(1).map(|folder| folder.join(file));
        places.find(|path| path.is_file())
    };
    let ending = script
        .extension()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let name = near.display();
    if ending == "py" {
        let beside = beside(".venv/bin/python");
        let python = beside
            .or_else(|| on_path("python3"))
            .or_else(|| on_path("python"));
        let python = python.ok_or_else(|| format!("no python3 on PATH to run {name}"))?;
        return Ok(vec![python.into()]);
    }
    if !matches!(
        ending,
        "ts" | "mts" | "cts" | "js" | "mjs" | "cjs" | "tsx" | "jsx"
    ) {
        return Err(format!(
            "cannot run {name}: use `command`, or a .ts, .js or .py file"
        ));
    }
    if let Some(bun) = on_path("bun") {
        return Ok(vec![bun.into(), "run".into()]);
    }
    let node = on_path("node");
    if matches!(ending, "js" | "mjs" | "cjs") {
        let node = node.ok_or_else(|| format!("neither bun nor node on PATH to run {name}"))?;
        return Ok(vec![node.into()]);
    }
    let tsx = beside("node_modules/.bin/tsx").or_else(|| on_path("tsx"));
    match (node, tsx) {
        (Some(_), Some(tsx)) => Ok(vec![tsx.into()]),
        _ => Err(format!(
            "no TypeScript runtime to run {name}: install bun (https://bun.sh), or node and tsx \
             (`npm install tsx` beside it)"
        )),
    }
}
