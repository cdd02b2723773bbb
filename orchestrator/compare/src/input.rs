//! What is compared: a run as plain data. Trees come shared, pictures by their digest when needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_drivers::Defect;
use packtrain_model::screen::ScreenTree;
use packtrain_model::{Blame, MatrixSummary};

use crate::align::Expectation;
use crate::answer::Trail;

/// A run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Its id.
    pub run: String,
    /// Version of the program that ran it.
    pub packtrain: String,
    /// How many sessions were planned.
    pub planned: usize,
    /// The matrix, when there is one.
    pub matrix: Option<MatrixSummary>,
    /// The trails.
    pub trails: Vec<Trail>,
    /// The cells. Repeats of a cell are sessions of the same cell.
    pub cells: Vec<Cell>,
    /// The sessions that were begun, with the attempt that counts.
    pub sessions: Vec<Session>,
    /// The entries of `expect`.
    pub expectations: Vec<Expectation>,
    /// How a run is asked for.
    pub commands: Commands,
    /// Screens that are not as approved, worst first, each in a line.
    pub unlike_approved: Vec<String>,
}

/// A device in a configuration.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    /// The device's id.
    pub device: String,
    /// What a person calls the device: `desktop`, `Pixel 9`, `iPhone`.
    pub name: String,
    /// Values by axis.
    pub values: BTreeMap<String, String>,
    /// What else is known of it: `platform`, `width`, `os`, `browser`, `touch`, `orientation` ...
    pub facts: BTreeMap<String, String>,
    /// Pictures are compared where this is equal; nowhere when it is empty.
    pub visual_key: String,
    /// What draws it, with its version: `Chromium 142.0.7444.59`, `Android 15`.
    pub engine: String,
}

impl Cell {
    /// The device and its configuration: `web/desktop locale=de-DE`.
    pub(crate) fn id(&self) -> String {
        let values = self.values.iter();
        let values = values.map(|(axis, value)| format!(" {axis}={value}"));
        format!("{}{}", self.device, values.collect::<String>())
    }

    /// Facts, the device, and values of axes together.
    pub(crate) fn all_values(&self) -> BTreeMap<String, String> {
        let mut values = self.facts.clone();
        values.insert("device".to_owned(), self.device.clone());
        values.extend(self.values.clone());
        values
    }
}

/// A trail in a cell.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Which trail.
    pub trail: usize,
    /// Which cell.
    pub cell: usize,
    /// How it ended.
    pub outcome: OutcomeKind,
    /// Why it says nothing of the app, for outcomes that do not.
    pub why: String,
    /// Whom an infrastructure error blames.
    pub blame: Option<Blame>,
    /// How an earlier attempt failed, when the last one passed.
    pub earlier: Option<EarlierFailure>,
    /// The steps that were reached, in order.
    pub steps: Vec<Step>,
    /// What it remembers, by name; secrets are none of it.
    pub memory: Vec<(String, String)>,
}

impl Session {
    /// A step that was reached.
    pub(crate) fn step(&self, step: u32) -> Option<&Step> {
        self.steps.iter().find(|one| one.step == step)
    }

    /// Whether its end says something of the app.
    pub(crate) const fn is_told(&self) -> bool {
        matches!(self.outcome, OutcomeKind::Passed | OutcomeKind::Failed)
    }

    /// Such a word with why it says nothing of the app.
    pub(crate) fn with_why(&self, word: &str) -> String {
        match self.why.as_str() {
            "" => word.to_owned(),
            why => format!("{word}: {why}"),
        }
    }
}

impl Run {
    /// The sessions of each trail in each cell; what points nowhere is left out.
    pub(crate) fn by_cell(&self) -> BTreeMap<(usize, usize), Vec<usize>> {
        let mut cells: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (place, session) in self.sessions.iter().enumerate() {
            if session.cell < self.cells.len() && session.trail < self.trails.len() {
                let cell = cells.entry((session.trail, session.cell));
                cell.or_default().push(place);
            }
        }
        cells
    }
}

/// How a session ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutcomeKind {
    /// All came true.
    Passed,
    /// Something did not.
    Failed,
    /// The app is not to blame.
    Infrastructure,
    /// Something is not recorded.
    NeedsAgent,
    /// It was cancelled.
    Cancelled,
    /// It was not meant for this cell.
    Skipped,
    /// It has no end, or no beginning.
    #[default]
    Unfinished,
}

/// A failure that a later attempt did not have.
#[derive(Debug, Clone, Default)]
pub struct EarlierFailure {
    /// In which attempt, from 1.
    pub attempt: u32,
    /// At which step.
    pub step: u32,
    /// What it said.
    pub message: String,
}

/// A step of a session.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Its index; 0 is the trailhead.
    pub step: u32,
    /// How it ended.
    pub status: StepStatus,
    /// What it said when it failed.
    pub message: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// When it began, in milliseconds since 1970.
    pub began_ms: Option<u64>,
    /// The screen at its end.
    pub tree: Option<SeenTree>,
    /// Whether its tree was recorded and cannot be read.
    pub is_unreadable: bool,
    /// The picture at its end.
    pub picture: Option<SeenPicture>,
    /// Layout defects.
    pub defects: Vec<Defect>,
    /// Errors that the page or app logged, without what differs by nature.
    pub console: Vec<String>,
    /// Requests that failed.
    pub failed_requests: Vec<FailedRequest>,
    /// Roles and names of the elements that its recording uses.
    pub uses: Vec<(String, String)>,
}

/// A request that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailedRequest {
    /// `GET /api/stock`, without what differs by nature; with the host where it is not the page's.
    pub request: String,
    /// The host, where it is not known to be the page's.
    pub host: Option<String>,
    /// Whether the host is known not to be the page's.
    pub is_elsewhere: bool,
    /// The status, or the engine's word for what happened.
    pub why: String,
    /// Whether an answer came.
    pub is_answered: bool,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepStatus {
    /// It came true.
    Passed,
    /// It did not.
    Failed,
    /// It was skipped, not reached, or says nothing of the app.
    #[default]
    Other,
}

/// A screen that was seen.
#[derive(Debug, Clone, Default)]
pub struct SeenTree {
    /// Equal for trees that show the same, whatever they hide.
    pub digest: String,
    /// The tree.
    pub tree: Arc<ScreenTree>,
}

/// A picture that was taken.
#[derive(Debug, Clone, Default)]
pub struct SeenPicture {
    /// Equal for equal files.
    pub digest: String,
    /// Pixels for each unit of the tree's bounds.
    pub scale: f64,
    /// What is left out: left, top, right, bottom, in pixels.
    pub masked: Vec<[i32; 4]>,
}

/// Where pictures come from.
pub trait Pictures {
    /// The file of a digest; `None` when it is gone.
    fn bytes(&mut self, digest: &str) -> Option<Vec<u8>>;
}

impl<F: FnMut(&str) -> Option<Vec<u8>>> Pictures for F {
    fn bytes(&mut self, digest: &str) -> Option<Vec<u8>> {
        self(digest)
    }
}

/// How sessions of a run are asked for again.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Where its configurations come from.
    pub matrix: MatrixSource,
    /// The ids of its devices.
    pub devices: Vec<String>,
    /// The folder it was started in.
    pub folder: String,
}

/// Where configurations come from.
#[derive(Debug, Clone, Default)]
pub enum MatrixSource {
    /// The trail itself.
    #[default]
    Trail,
    /// A matrix of packtrain.yaml.
    Named(String),
    /// `--axis`.
    Axes,
}

impl Commands {
    /// The command that runs a trail on a device in a cell and nothing else.
    pub fn run(&self, path: &str, device: Option<&str>, cell: &BTreeMap<String, String>) -> String {
        let inside = path.strip_prefix(&self.folder);
        let inside = inside.and_then(|path| path.strip_prefix('/'));
        let mut line = format!("packtrain run {}", quoted(inside.unwrap_or(path)));
        let mut add = |flag: &str, value: &str| line += &format!(" {flag} {}", quoted(value));
        if let Some(device) = device {
            add("-d", &self.chosen_by(device));
        }
        let values = cell.iter().map(|(axis, value)| format!("{axis}={value}"));
        let values: Vec<_> = values.collect();
        if let MatrixSource::Named(name) = &self.matrix
            && !values.is_empty()
        {
            add("--matrix", name);
        }
        match &self.matrix {
            _ if values.is_empty() => {}
            MatrixSource::Axes => values.iter().for_each(|value| add("--axis", value)),
            MatrixSource::Named(_) | MatrixSource::Trail => add("--cell", &values.join(",")),
        }
        line
    }

    /// What `-d` takes for a device: a new virtual phone is started, and a further context of a web
    /// device is the device.
    pub fn chosen_by(&self, device: &str) -> String {
        if let Some((platform, number)) = device.split_once("/virtual-") {
            return match number {
                "1" => format!("virtual:{platform}"),
                number => format!("virtual:{platform}:{number}"),
            };
        }
        match device.rsplit_once('.') {
            Some((of, number))
                if number.chars().all(|c| c.is_ascii_digit())
                    && self.devices.iter().any(|known| known == of) =>
            {
                of.to_owned()
            }
            _ => device.to_owned(),
        }
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let prefix = if word.starts_with('-') { "./" } else { "" };
    let word = word.replace(char::is_control, " ");
    format!("'{prefix}{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_every_word_as_one() {
        for (word, shown) in [
            ("trails/buy.trail.yaml", "trails/buy.trail.yaml"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -rf ~)", "'$(rm -rf ~)'"),
            ("-x", "'./-x'"),
            ("a\nb", "'a b'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }

    #[test]
    fn a_cell_is_asked_for_by_where_it_comes_from() {
        let cell = BTreeMap::from([("a", "1"), ("b", "x y")]);
        let cell = cell.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
        let cell = cell.collect();
        let run = |matrix, device: &str| {
            let devices = vec!["web/desktop".to_owned()];
            let folder = "/shop".to_owned();
            let commands = Commands {
                matrix,
                devices,
                folder,
            };
            commands.run("/shop/t.trail.yaml", Some(device), &cell)
        };
        assert_eq!(
            run(MatrixSource::Axes, "web/desktop.2"),
            "packtrain run t.trail.yaml -d web/desktop --axis a=1 --axis 'b=x y'"
        );
        assert_eq!(
            run(MatrixSource::Named("m".to_owned()), "ios/virtual-1"),
            "packtrain run t.trail.yaml -d virtual:ios --matrix m --cell 'a=1,b=x y'"
        );
        assert_eq!(
            run(MatrixSource::Trail, "android/virtual-3"),
            "packtrain run t.trail.yaml -d virtual:android:3 --cell 'a=1,b=x y'"
        );
    }
}
