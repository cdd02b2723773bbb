//! `packtrain approve`: what a run recorded becomes its baselines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use packtrain_compare::runs::approve::{Plan, Selection, plan};
use packtrain_compare::runs::{ChangeKind, compare_with_baselines};
use packtrain_model::{Exit, RunOptionsSummary};

use super::compare::{Recorded, cut_short, told};
use super::{Context, report};
use crate::baselines::Kept;
use crate::exit::CliError;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain approve --dry-run
  packtrain approve --cluster A
  packtrain approve 20261121-0930 --step 3 --cell locale=de-DE --box 1")]
pub(crate) struct ApproveArgs {
    /// The run: its id or the beginning of its id, its folder, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,

    /// Only this step; repeatable
    #[arg(long, value_name = "N")]
    step: Vec<u32>,

    /// Only cells with these values; repeatable
    #[arg(long, value_name = "NAME=VALUE,..")]
    cell: Vec<String>,

    /// Only the change with this letter, as `packtrain compare` shows it; repeatable
    #[arg(long, value_name = "LETTER")]
    cluster: Vec<String>,

    /// Only this part of the screenshot; repeatable, with --step
    #[arg(long = "box", value_name = "N", requires = "step")]
    boxes: Vec<usize>,

    /// Show what would be written without writing it
    #[arg(long)]
    dry_run: bool,

    /// Remove baselines of steps and cells that the run does not have
    #[arg(long, conflicts_with_all = ["step", "cell", "cluster", "boxes"])]
    prune: bool,

    /// Folder for runs [default: .packtrain/runs]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// `packtrain approve`.
pub(crate) fn run(args: &ApproveArgs, context: &Context) -> Result<Exit, CliError> {
    let root = report::root(args.output.as_ref(), context)?;
    let selection = args.selection()?;
    let recorded = Recorded::read(&root, &args.run)?;
    let mut kept = Kept::new(&context.working_directory);
    let run = &recorded.run;
    let compared = compare_with_baselines(
        (run, &mut recorded.pictures()),
        &mut kept,
        // All but how long steps took.
        &ChangeKind::ALL[..4],
    );
    let has = |letter: &String| compared.changes.iter().any(|one| one.letter == *letter);
    if let Some(letter) = selection.letters.iter().find(|letter| !has(letter)) {
        return Err(CliError::misuse(format!("unknown change {letter}"))
            .hint("`packtrain compare` lists them"));
    }
    let known = |step: &u32| {
        let mut steps = run.trails.iter().flat_map(|trail| &trail.steps);
        steps.any(|one| one.step == *step)
    };
    if let Some(step) = selection.steps.iter().find(|step| !known(step)) {
        return Err(CliError::misuse(format!(
            "no trail of the run has a step {step}"
        )));
    }
    if let Some(values) = selection.unknown_cell(run) {
        let values = values.iter().map(|(name, value)| format!("{name}={value}"));
        let values = values.collect::<Vec<_>>().join(",");
        return Err(CliError::misuse(format!("no cell of the run has {values}"))
            .hint("`packtrain report` shows its cells"));
    }
    let mut plan = plan(
        (run, &mut recorded.pictures()),
        &mut kept,
        &compared,
        &selection,
    );
    if !recorded.is_whole {
        plan.refusals.push(cut_short("the run"));
        plan.approvals.clear();
    }
    // What could not even be compared is not a baseline, and says why.
    let unknown = compared.not_compared.iter();
    let unknown = unknown.filter(|one| one.step.is_some());
    plan.refusals.extend(unknown.cloned());
    apply(args, &plan, &mut kept, &recorded)
}

/// Writes what is planned, and says what was written, removed and refused.
fn apply(
    args: &ApproveArgs,
    plan: &Plan,
    kept: &mut Kept,
    recorded: &Recorded,
) -> Result<Exit, CliError> {
    let mut refused: Vec<String> = plan.refusals.iter().map(told).collect();
    let (would, removed) = match args.dry_run {
        true => ("would approve", "would remove"),
        false => ("approved", "removed"),
    };
    let mut done = 0;
    for approval in &plan.approvals {
        let place = match kept.place(approval) {
            Ok(place) => place.join(format!("{}.webp", approval.key)),
            Err(why) => {
                refused.push(format!("{}: {why}", approval.cell));
                continue;
            }
        };
        if !args.dry_run {
            kept.write(approval)?;
        }
        done += 1;
        let place = kept.shown(&place);
        let place = place.display();
        render::out(&format!("{would} {place}: {}", approval.why.join("; ")));
    }
    let mut gone = 0;
    if args.prune {
        // A run that did not get to its end, or a part of it, does not say what is no more.
        if !recorded.is_whole || !plan.refusals.is_empty() {
            refused.push("nothing is removed: the run is incomplete".to_owned());
        } else {
            let narrowed = narrowed(&recorded.options);
            for (trail, known) in &plan.known {
                let stale = kept.stale(trail, known).map_err(CliError::infrastructure)?;
                for one in &stale {
                    if let Some(flags) = narrowed.as_ref().filter(|_| one.has_step) {
                        refused.push(format!(
                            "{} is kept: the run covered only some cells ({flags}), so which no longer exist \
                             is unknown; run all devices and configurations first",
                            kept.shown(&one.path()).display()
                        ));
                        continue;
                    }
                    if !args.dry_run {
                        kept.remove(one)?;
                    }
                    gone += 1;
                    render::out(&format!("{removed} {}", kept.shown(&one.path()).display()));
                }
            }
        }
    }
    if done > 0 && !recorded.options.secrets.is_empty() {
        render::say(&format!(
            "warning: the run had secrets ({}); an element whose text contains one is blanked in \
             screenshots, but images and drawings are not: review them before committing",
            recorded.options.secrets.join(", ")
        ));
    }
    refused.sort();
    refused.dedup();
    for line in &refused {
        render::say(&format!("refused: {line}"));
    }
    if done + gone == 0 && refused.is_empty() {
        render::say("nothing to approve: everything matches its baselines");
    }
    Ok(match refused.is_empty() {
        true => Exit::Passed,
        false => Exit::Infrastructure,
    })
}

/// By which flags a run leaves out cells that its project has; `None` when it does not.
fn narrowed(options: &RunOptionsSummary) -> Option<String> {
    let mut flags = options.narrowed_by.clone();
    flags.extend(options.part.as_ref().map(|part| format!("--shard {part}")));
    (!flags.is_empty()).then(|| flags.join(", "))
}

impl ApproveArgs {
    fn selection(&self) -> Result<Selection, CliError> {
        let mut cells = Vec::new();
        for text in &self.cell {
            let mut values = BTreeMap::new();
            for part in text.split(',') {
                let Some((name, value)) = part.split_once('=') else {
                    return Err(CliError::misuse(format!("invalid --cell `{text}`"))
                        .hint("expected NAME=VALUE,NAME=VALUE"));
                };
                values.insert(name.trim().to_owned(), value.trim().to_owned());
            }
            cells.push(values);
        }
        Ok(Selection {
            steps: self.step.clone(),
            cells,
            letters: self.cluster.iter().map(|one| one.to_uppercase()).collect(),
            boxes: self.boxes.clone(),
        })
    }
}
