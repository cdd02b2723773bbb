//! Which files are trails, which of them belong together, and what they are called. The walk
//! through the folders is somebody else's; here are only its rules.
//!
//! Symbolic links below the starting folder are not followed and `.gitignore` is not read: a trail
//! that is there is run.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use packtrain_drivers::Classifier;

use crate::trail::{Form, lineage};

/// The file that is the trail of its folder.
const FOLDER_TRAIL: &str = "trail.yaml";
/// What the names of all other trails end with.
const SUFFIX: &str = ".trail.yaml";
/// Older names for a trail without recordings, better one first.
const DEFINITIONS: [&str; 2] = ["blaze.yaml", "trailblaze.yaml"];
/// Folders that hold no trails of this project, wherever they are.
const PRUNED: [&str; 7] = [
    "build",
    ".gradle",
    ".git",
    "node_modules",
    ".trailblaze",
    ".claude",
    ".packtrain",
];
/// What the name of a recording for one device begins with.
const PLATFORMS: [&str; 4] = ["android", "ios", "web", "desktop"];

/// Whether a walk leaves out a folder of this name. The folder it starts from is never left out.
pub fn is_pruned(folder_name: &str) -> bool {
    PRUNED.contains(&folder_name)
}

/// Whether a file may be a trail, by its name and that of its folder.
///
/// `trailblaze.yaml` is also the name of a workspace's configuration. In a folder `config` it is
/// never a trail; elsewhere [`form`] tells.
pub fn is_trail_file(folder_name: Option<&str>, file_name: &str) -> bool {
    match file_name {
        "trailblaze.yaml" => folder_name != Some("config"),
        _ => {
            file_name == FOLDER_TRAIL
                || (file_name.ends_with(SUFFIX) && file_name.len() > SUFFIX.len())
                || DEFINITIONS.contains(&file_name)
        }
    }
}

/// What a file beside trails is, which is not a trail itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Companion {
    /// packtrain.yaml.
    Configuration,
    /// Trailblaze's trailblaze.yaml.
    Workspace,
    /// What a trailblaze.yaml lists as a target.
    Trailmap,
    /// A named selection of tools.
    Toolset,
    /// A screen that can be recognised.
    Waypoint,
    /// A tool made of other tools, or of a script.
    Tool,
}

impl Companion {
    /// By the name of a file and that of its folder. A `trailblaze.yaml` may be a trail: ask
    /// [`FoundFile::new`] first.
    pub fn of(folder_name: Option<&str>, file_name: &str) -> Option<Self> {
        let is_toolset = folder_name == Some("toolsets") && file_name.ends_with(".yaml");
        match file_name {
            "packtrain.yaml" => return Some(Self::Configuration),
            "trailblaze.yaml" => return Some(Self::Workspace),
            "trailmap.yaml" => return Some(Self::Trailmap),
            _ => {}
        }
        match file_name.strip_suffix(".yaml")?.rsplit_once('.') {
            Some((_, "waypoint")) => Some(Self::Waypoint),
            Some((_, "tool" | "shortcut" | "trailhead")) => Some(Self::Tool),
            Some((_, "toolset")) => Some(Self::Toolset),
            _ => is_toolset.then_some(Self::Toolset),
        }
    }

    /// What people call it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Workspace => "workspace",
            Self::Trailmap => "trailmap",
            Self::Toolset => "toolset",
            Self::Waypoint => "waypoint",
            Self::Tool => "tool",
        }
    }
}

/// The form of a trail by a glance at its text; `None` when it is not a trail at all, as a workspace's
/// configuration is not. A text that is broken may still have a form.
pub fn form(text: &str) -> Option<Form> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.lines().any(|line| line.starts_with("trail:")) {
        return Some(Form::Unified);
    }
    let first = text.lines().find(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "---"
    })?;
    if first.starts_with("- ") || first == "-" {
        Some(Form::List)
    } else if first.starts_with("config:") || first.starts_with("trailhead:") {
        Some(Form::Unified)
    } else {
        None
    }
}

/// A file that a walk has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path with `/`, as it shall be shown.
    pub path: String,
    /// Its form, from [`form`].
    pub form: Form,
}

impl FoundFile {
    /// A file by its path, which has passed [`is_trail_file`], and its text. `None` when it is no
    /// trail after all; a text that is nothing but broken is one, so that somebody complains.
    pub fn new(path: &str, text: &str) -> Option<Self> {
        let path = path.replace('\\', "/");
        let may_be_else = DEFINITIONS.contains(&split(&path).1);
        let form = match form(text) {
            None if may_be_else => return None,
            None => Form::Unified,
            Some(form) => form,
        };
        Some(Self { path, form })
    }
}

/// One trail and the file or files it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundTrail {
    /// One file for all devices.
    File(String),
    /// Files for different devices, and perhaps one for all others.
    PerDevice {
        /// The folder they are in.
        folder: String,
        /// The names of the files, in order.
        names: Vec<String>,
    },
}

/// The trails of a walk, in the order of their paths, each once.
///
/// A named file is a trail of its own, unless it is in the list form and named after a device:
/// then it is one of several recordings of the trail that is the folder.
pub fn group(files: impl IntoIterator<Item = FoundFile>) -> Vec<FoundTrail> {
    let mut folders: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for file in files {
        let (folder, name) = split(&file.path);
        let (alone, together) = folders.entry(folder.to_owned()).or_default();
        if is_alone(name, file.form) {
            alone.push(name.to_owned());
        } else {
            together.push(name.to_owned());
        }
    }
    let mut trails: Vec<FoundTrail> = Vec::new();
    for (folder, (mut alone, mut together)) in folders {
        alone.sort();
        alone.dedup();
        together.sort();
        together.dedup();
        trails.extend(
            alone
                .iter()
                .map(|name| FoundTrail::File(join(&folder, name))),
        );
        match together.as_slice() {
            [] => {}
            [name] if device_of(name).is_none() => {
                trails.push(FoundTrail::File(join(&folder, name)));
            }
            _ => trails.push(FoundTrail::PerDevice {
                folder,
                names: together,
            }),
        }
    }
    trails.sort_by_key(FoundTrail::sort_key);
    trails
}

impl FoundTrail {
    /// The file to run on a device: its own recording before a broader one, then the folder's
    /// trail, then a definition without recordings. `None` when all are for other devices.
    pub fn file_for(&self, classifiers: &[Classifier]) -> Option<String> {
        match self {
            Self::File(path) => Some(path.clone()),
            Self::PerDevice { folder, names } => file_names(classifiers)
                .into_iter()
                .find(|name| names.contains(name))
                .map(|name| join(folder, &name)),
        }
    }

    fn sort_key(&self) -> String {
        match self {
            Self::File(path) => path.clone(),
            Self::PerDevice { folder, names } => {
                join(folder, names.first().map_or("", String::as_str))
            }
        }
    }
}

/// The names the trail of a folder can have for a device, best first: `android-phone.trail.yaml`,
/// `android.trail.yaml`, ..., `trail.yaml`, `blaze.yaml`, `trailblaze.yaml`.
pub fn file_names(classifiers: &[Classifier]) -> Vec<String> {
    lineage(classifiers)
        .into_iter()
        .map(|name| name + SUFFIX)
        .chain([FOLDER_TRAIL.to_owned()])
        .chain(DEFINITIONS.map(str::to_owned))
        .collect()
}

/// What people call a trail: what follows the last `trails/` in its path, without what all trails
/// have in common. `clock/alarm` is `trails/clock/alarm/trail.yaml` or
/// `trails/clock/alarm.trail.yaml`.
pub fn short_name(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path
        .rsplit_once("/trails/")
        .map_or(path.as_str(), |(_, below)| below);
    let path = path.strip_prefix("./").unwrap_or(path);
    let path = path.strip_prefix("trails/").unwrap_or(path);
    let (folder, name) = split(path);
    let is_folder = name == FOLDER_TRAIL || DEFINITIONS.contains(&name);
    if is_folder && !folder.is_empty() {
        return folder.to_owned();
    }
    path.strip_suffix(SUFFIX).unwrap_or(path).to_owned()
}

fn is_alone(name: &str, form: Form) -> bool {
    let named = name != FOLDER_TRAIL && !DEFINITIONS.contains(&name);
    named && (form == Form::Unified || device_of(name).is_none())
}

/// The device a file is named after.
fn device_of(name: &str) -> Option<&str> {
    let device = name.strip_suffix(SUFFIX)?;
    let platform = device.split('-').next().unwrap_or(device);
    PLATFORMS.contains(&platform).then_some(device)
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}
