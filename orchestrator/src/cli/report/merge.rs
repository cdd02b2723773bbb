//! `packtrain report merge`: the parts that several machines ran, as one run.

use clap::Args;
use packtrain_model::Exit;
use packtrain_record::{MergeError, find_run, mark_latest, merge};

use super::{Context, WrittenArgs};
use crate::cli::Format;
use crate::cli::run::new_run;
use crate::exit::{CliError, OrCliError as _};
use crate::render;
use crate::reports::{self, Copies};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  packtrain report merge parts/*/ --junit junit.xml

Exit code: that of the whole run; 2 when a part is missing and nothing failed.")]
pub(super) struct MergeArgs {
    /// The runs, one for each part: ids or folders
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,

    #[command(flatten)]
    written: WrittenArgs,
}

/// Merges, reports, and answers as the whole run would have.
pub(super) fn run(args: &MergeArgs, context: &Context) -> Result<Exit, CliError> {
    let root = super::root(args.written.output.as_ref(), context)?;
    let folders = args.runs.iter().map(|wanted| find_run(&root, wanted));
    let folders = folders.collect::<Result<Vec<_>, _>>().map_err(|error| {
        CliError::misuse(error.to_string()).hint(
            "name a run by its id, or by a path to its folder that contains a slash; `packtrain runs` lists them",
        )
    })?;
    let run = new_run();
    std::fs::create_dir_all(&root)
        .or_infrastructure(format_args!("cannot create {}", root.display()))?;
    let merged = merge(&root, &run, &folders).map_err(refused)?;
    if let Err(error) = mark_latest(&root, &run) {
        render::warning(&error.to_string(), context.color);
    }
    for (numbers, what) in [
        (&merged.missing, "not among the runs"),
        (&merged.cut_short, "without an end"),
    ] {
        for number in numbers {
            let part = format!("part {number}/{} is {what}", merged.of);
            let rest = "nothing is known of its sessions without an outcome";
            render::warning(&format!("{part}: {rest}"), context.color);
        }
    }
    for path in &merged.damaged {
        let left_out = format!("{path} is left out: it does not match its name in any part");
        render::warning(&left_out, context.color);
    }
    let wanted = Copies {
        for_ci: true,
        ..args.written.copies()
    };
    let written = reports::write(&merged.folder, &wanted)?;
    render::say(&written.summary(context.color.on_stderr()));
    for line in written.annotations() {
        render::annotation(&line, Format::Text);
    }
    let exit = written.exit();
    written
        .copied()
        .map(|()| exit)
        .map_err(|error| error.at_least(exit))
}

fn refused(error: MergeError) -> CliError {
    match error {
        MergeError::Record(error) => {
            CliError::infrastructure("cannot merge the runs").because(&error)
        }
        MergeError::NotAPart(_) | MergeError::Twice { .. } | MergeError::Different { .. } => {
            CliError::misuse(error.to_string())
        }
    }
}
