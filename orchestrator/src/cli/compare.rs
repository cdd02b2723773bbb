//! `packtrain compare`: what changed since an earlier run, or since it was approved.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum as _};
use packtrain_compare::input::Run;
use packtrain_compare::runs::{self, Change, ChangeKind, ChangeStatus, RunComparison, Unknown};
use packtrain_model::{Exit, RunOptionsSummary};
use packtrain_record::find_run;
use packtrain_report::RunState;

use super::{Context, Format, report};
use crate::baselines::Kept;
use crate::exit::{CliError, OrCliError as _};
use crate::{render, reports};

/// What stands for no run but what was approved.
const BASELINES: &str = "baselines";
/// Places of one change that are listed.
const MAX_PLACES: usize = 6;
/// Boxes of one picture that are listed.
const MAX_BOXES: usize = 4;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain compare
  packtrain compare 20261121-0930
  packtrain compare baselines 20261121-0930 --fail-on visual")]
pub(crate) struct CompareArgs {
    /// What to compare with: a run, or `baselines`
    #[arg(value_name = "BASE", default_value = BASELINES)]
    base: String,

    /// The run: its id or the beginning of its id, its folder, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,

    /// What must not differ
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    #[arg(default_value = "outcome,tree,defect,visual")]
    fail_on: Vec<FailOn>,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// What makes a comparison fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// How a trail ended.
    Outcome,
    /// Content of screens.
    Tree,
    /// Layout defects.
    Defect,
    /// Screenshots, and screens without a baseline.
    Visual,
    /// How long steps took.
    Time,
    /// Nothing.
    None,
}

/// A run as it is compared.
pub(super) struct Recorded {
    pub(super) run: Run,
    folder: PathBuf,
    /// Where its pictures are, by digest.
    pictures: HashMap<String, String>,
    /// Whether it got to its end.
    pub(super) is_whole: bool,
    /// How it was asked for.
    pub(super) options: RunOptionsSummary,
}

impl Recorded {
    /// Reads a run: its id, the start of it, its folder, or `latest`.
    pub(super) fn read(root: &Path, wanted: &str) -> Result<Self, CliError> {
        let folder = find_run(root, wanted).map_err(|error| {
            CliError::misuse(error.to_string()).hint("`packtrain runs` lists them")
        })?;
        let (view, torn) = reports::read(&folder)?;
        if let Some(torn) = torn {
            render::say(&format!("warning: {torn}"));
        }
        let mut file = |path: &str| crate::run_files::file(&folder, path);
        let (run, pictures) = packtrain_report::comparison::input(&view, &mut file);
        Ok(Self {
            run,
            pictures,
            is_whole: view.state == RunState::Finished,
            options: view.options,
            folder,
        })
    }

    /// The files of its pictures, by digest.
    pub(super) fn pictures(&self) -> impl FnMut(&str) -> Option<Vec<u8>> + '_ {
        |digest| crate::run_files::file(&self.folder, self.pictures.get(digest)?)
    }
}

/// `packtrain compare`.
pub(crate) fn run(args: &CompareArgs, context: &Context) -> Result<Exit, CliError> {
    let root = report::root(args.output.as_ref(), context)?;
    let fail_on: Vec<ChangeKind> = args.fail_on.iter().filter_map(|one| one.kind()).collect();
    let recorded = Recorded::read(&root, &args.run)?;
    let mut compared = if args.base == BASELINES {
        let mut kept = Kept::new(&context.working_directory);
        let run = (&recorded.run, &mut recorded.pictures() as _);
        runs::compare_with_baselines(run, &mut kept, &fail_on)
    } else {
        let base = Recorded::read(&root, &args.base)?;
        let mut compared = runs::compare(
            (&base.run, &mut base.pictures()),
            (&recorded.run, &mut recorded.pictures()),
            &fail_on,
        );
        if !base.is_whole {
            compared.not_compared.push(cut_short("the base"));
        }
        compared
    };
    if !recorded.is_whole {
        compared.not_compared.push(cut_short("the run"));
    }
    if compared.cells == 0 && compared.not_compared.is_empty() {
        compared.not_compared.push(Unknown {
            why: "the run has nothing that could be compared".to_owned(),
            ..Unknown::default()
        });
    }
    match args.format {
        Format::Json => {
            let text = serde_json::to_string(&compared)
                .or_infrastructure("cannot print the comparison")?;
            render::out(&text);
        }
        Format::Text => {
            render::out(&shown(&compared));
            if let Some(hint) = hint(args, &compared) {
                render::say(&hint);
            }
        }
    }
    Ok(if compared.fails() {
        Exit::Failed
    } else if compared.is_whole() {
        Exit::Passed
    } else {
        Exit::Infrastructure
    })
}

impl FailOn {
    fn kind(self) -> Option<ChangeKind> {
        let name = self.to_possible_value()?;
        let mut kinds = ChangeKind::ALL.into_iter();
        kinds.find(|kind| kind.word() == name.get_name())
    }
}

pub(super) fn cut_short(what: &str) -> Unknown {
    Unknown {
        why: format!("{what} was cut short"),
        ..Unknown::default()
    }
}

fn hint(args: &CompareArgs, compared: &RunComparison) -> Option<String> {
    let approvable = |change: &&Change| {
        change.step.is_some()
            && change.kind != ChangeKind::Outcome
            && change.status != ChangeStatus::Fixed
    };
    let first = compared.changes.iter().find(approvable)?;
    if compared.base.is_some() {
        return None;
    }
    let run = match args.run.as_str() {
        "latest" => String::new(),
        run => format!(" {run}"),
    };
    Some(format!(
        "To approve an intended change: packtrain approve{run} --cluster {}",
        first.letter
    ))
}

/// A comparison as text.
fn shown(compared: &RunComparison) -> String {
    let mut text = format!("{}\n", compared.sentence);
    for cluster in compared.clusters() {
        let Some(first) = cluster.first() else {
            continue;
        };
        let sign = if first.fails { "✗" } else { "·" };
        let status = match first.status {
            ChangeStatus::Changed => "",
            ChangeStatus::New => ", new",
            ChangeStatus::Proposed => ", new baseline proposed",
            ChangeStatus::Fixed => ", fixed",
        };
        let (letter, title, kind) = (&first.letter, &first.title, first.kind.word());
        text.push_str(&format!("\n{sign} {letter}  {title}  ({kind}{status})\n"));
        for change in cluster.iter().take(MAX_PLACES) {
            text.push_str(&format!("     {}\n", place(change)));
        }
        let more = cluster.len().saturating_sub(MAX_PLACES);
        if more > 0 {
            text.push_str(&format!("     and in {more} more places\n"));
        }
    }
    list(&mut text, "Removed:", &compared.gone);
    let unknown: Vec<String> = compared.not_compared.iter().map(told).collect();
    list(&mut text, "Not compared:", &unknown);
    text
}

fn list(text: &mut String, heading: &str, lines: &[String]) {
    if !lines.is_empty() {
        text.push_str(&format!("\n{heading}\n"));
    }
    for line in lines {
        text.push_str(&format!("     {line}\n"));
    }
}

/// `shop on web/desk, step 3 "Open the cart": 1240 pixels differ; box 1 at 8,116,49,149`.
fn place(change: &Change) -> String {
    let mut text = format!("{} on {}", change.trail, change.cell);
    if let Some(step) = change.step {
        let words = packtrain_report::one_line(&change.text);
        text.push_str(&format!(", step {step} \"{words}\""));
    }
    let detail = packtrain_report::one_line(&change.detail);
    let mut parts = vec![detail.into_owned()];
    parts.retain(|detail| !detail.is_empty());
    for (number, area) in change.boxes.iter().enumerate().take(MAX_BOXES) {
        let [left, top, right, bottom] = area.at;
        let element = area.element.iter().map(|element| format!(" {element}"));
        let (number, element) = (number + 1, element.collect::<String>());
        parts.push(format!(
            "box {number}{element} at {left},{top},{right},{bottom}"
        ));
    }
    if !parts.is_empty() {
        text.push_str(&format!(": {}", parts.join("; ")));
    }
    text
}

pub(super) fn told(unknown: &Unknown) -> String {
    let step = unknown.step.map(|step| format!(", step {step}"));
    let step = step.unwrap_or_default();
    let why = packtrain_report::one_line(&unknown.why);
    match unknown.trail.as_str() {
        "" => why.into_owned(),
        trail => format!("{trail} on {}{step}: {why}", unknown.cell),
    }
}
