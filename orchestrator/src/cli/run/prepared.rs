//! What every run begins with, wherever its sessions are carried out: its trails are read and checked, and
//! once its devices are known it is planned.

use std::sync::Arc;

use packtrain_config::{Loaded, Sharding};
use packtrain_drivers::DeviceInfo;
use packtrain_engine::{Anywhere, Plan, RequestedTrail, Shard, resolve};
use packtrain_model::{Diagnostic, RunId};
use packtrain_tools::Registry;

use super::request::RunRequest;
use super::{alike, given, list};
use crate::cli::check::Calls;
use crate::cli::{Context, Workspace, refused};
use crate::exit::CliError;
use crate::wiring::Wiring;
use crate::{matrix, names, trails};

/// A run before its devices are known.
pub(crate) struct Prepared<'a> {
    pub(crate) request: RunRequest,
    pub(crate) workspace: Workspace,
    pub(crate) found: trails::Loaded,
    pub(crate) context: &'a Context,
}

impl<'a> Prepared<'a> {
    /// Reads the project and the trails.
    ///
    /// # Errors
    /// All mistakes in them, and in what the request names of them.
    pub(crate) fn read(mut request: RunRequest, context: &'a Context) -> Result<Self, CliError> {
        let loaded = context.read(request.flags.clone())?;
        if request.trails.is_empty() {
            request.trails = vec![loaded.config.trails_dir.clone()];
        }
        let (mut found, mut mistakes) = match trails::read(&request.trails) {
            Ok(found) => (found, loaded.mistakes.clone()),
            // Where trails are may be what is wrong.
            Err(error) => return loaded.whole().map_err(refused).and(Err(error)),
        };
        let registry = match context.tools(&loaded) {
            Ok(tools) => tools.registry,
            Err(error) if error.explanation.diagnostics.is_empty() => return Err(error),
            Err(error) => {
                mistakes.extend(error.explanation.diagnostics);
                Registry::builtin()
            }
        };
        mistakes.append(&mut found.mistakes);
        mistakes.extend(misspelled(&request, &loaded, &found, &registry, context)?);
        if !mistakes.is_empty() {
            let is_option = |one: &Diagnostic| one.source.name().starts_with("--");
            let place = match mistakes.iter().all(is_option) {
                true => "the options",
                false => "the project",
            };
            return Err(CliError::mistakes(place, mistakes));
        }
        Ok(Self {
            request,
            workspace: Workspace::of(loaded, registry),
            found,
            context,
        })
    }

    /// The trails for these devices, with what varies in them.
    fn requested(&self, devices: &[DeviceInfo]) -> Result<Vec<RequestedTrail>, CliError> {
        let (config, wanted) = (&self.workspace.config, &self.request.matrix);
        let given_matrix = matrix::wanted(config, wanted)?;
        let trails = self.found.trails.iter();
        let mut requested: Vec<_> = trails.flat_map(|trail| trail.requested(devices)).collect();
        for trail in &mut requested {
            trail.matrix = match &given_matrix {
                Some(matrix) => Some(Arc::clone(matrix)),
                None => matrix::of_trail(&trail.trail, config, wanted)?,
            };
        }
        let has_cells = requested.iter().any(|trail| trail.matrix.is_some());
        if !has_cells && !wanted.cells.is_empty() {
            let refused = CliError::misuse("`--cell` needs a matrix");
            return Err(refused.hint("add `--matrix`, `--axis` or `config.matrix` in the trail"));
        }
        if has_cells && config.run.shard == Sharding::Split {
            let refused =
                CliError::misuse("`--shard split` runs each trail once, a matrix in each cell");
            return Err(refused.hint("leave one of them out"));
        }
        Ok(requested)
    }

    /// What is to be carried out, of a run that may have a name already; `None` when that is nothing, or
    /// was only to be told. Devices that are wired here get further ones like them, for configurations.
    pub(super) fn plan(
        &self,
        devices: Vec<DeviceInfo>,
        wiring: Option<&mut Wiring>,
        run: Option<RunId>,
    ) -> Result<Option<Plan>, CliError> {
        let Self {
            request, context, ..
        } = self;
        let Workspace {
            config, registry, ..
        } = &self.workspace;
        let mut trails = self.requested(&devices)?;
        let (devices, alike) = match wiring {
            Some(wiring) => alike::side_by_side(wiring, config, devices, &mut trails),
            // Browsers elsewhere are those that are configured.
            None => (devices, Vec::new()),
        };
        let has_trails = !trails.is_empty();
        let unfit = trails.iter().filter_map(|requested| {
            let trail = &requested.trail;
            let bound = trail.config.bind_args(&trail.source, &request.args);
            bound.err()
        });
        let unfit: Vec<_> = unfit.flatten().collect();
        if !unfit.is_empty() {
            return Err(CliError::files("invalid arguments for the trails", unfit));
        }
        let mut plan = resolve(packtrain_engine::RunRequest {
            run: run.unwrap_or_else(new_run),
            trails,
            devices,
            alike,
            anywhere: request.farm.as_ref().map(|farm| Anywhere {
                on: farm.on.clone().unwrap_or_default(),
                count: farm.count.map(|count| count as usize),
            }),
            only_declared: request.all_devices,
            driver: request.driver.clone(),
            tags: request.tags.clone(),
            shard: match config.run.shard {
                Sharding::All => Shard::All,
                Sharding::Split => Shard::Split,
            },
            options: given::options(request, config, context)?,
        });
        if plan.sessions.is_empty() {
            let error = CliError::misuse("nothing to run");
            return Err(error.hint(if !request.tags.is_empty() {
                format!("no trail has the tag {}", request.tags.join(" or "))
            } else if !has_trails {
                "no trail has steps".to_owned()
            } else {
                "no trail supports these devices".to_owned()
            }));
        }
        request.choice.apply(&mut plan, config, context)?;
        let misspelled = Calls::new(registry, config, &context.working_directory).misspelled(&plan);
        if !misspelled.is_empty() {
            return Err(CliError::files("the trails call unknown tools", misspelled));
        }
        if request.choice.list {
            list::print(&plan, request.format);
            return Ok(None);
        }
        // A part without sessions is a part of the whole; on a farm nobody waits for it.
        let is_part = plan.part.is_some() && request.farm.is_none();
        Ok(Some(plan).filter(|plan| is_part || !plan.sessions.is_empty()))
    }
}

/// A name that no run has yet.
pub(crate) fn new_run() -> RunId {
    let now = chrono::Utc::now();
    let salt = now.timestamp_subsec_nanos() ^ std::process::id().rotate_left(13);
    RunId::new(now, salt)
}

/// Names in the request and the trails that nothing answers to.
///
/// # Errors
/// When the axes cannot be read.
fn misspelled(
    request: &RunRequest,
    loaded: &Loaded,
    found: &trails::Loaded,
    registry: &Registry,
    context: &Context,
) -> Result<Vec<Diagnostic>, CliError> {
    let config = &loaded.config;
    let trails = found.trails.iter().flat_map(trails::LoadedTrail::files);
    let trails = trails.map(AsRef::as_ref);
    let axes = matrix::NamedAxes::new(config, &request.trails);
    let mut all = matrix::misspelled_of_run(trails.clone(), loaded, &request.matrix, &axes)?;
    if request.farm.is_none() {
        all.extend(names::unknown_devices(&request.devices, config));
        all.extend(names::not_emulated(loaded, &request.devices));
    }
    let calls = Calls::new(registry, config, &context.working_directory);
    for trail in trails {
        all.extend(names::of_trail(trail, loaded));
        all.extend(calls.unknown_words(trail));
    }
    Ok(all)
}
