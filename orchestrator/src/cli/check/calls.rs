//! What is wrong with the calls of a trail, found without a device.

use std::collections::BTreeSet;
use std::path::Path;

use packtrain_config::Config;
use packtrain_drivers::Platform;
use packtrain_engine::Plan;
use packtrain_model::diagnostic::{Diagnostic, Severity};
use packtrain_model::source::Source;
use packtrain_model::suggest::did_you_mean;
use packtrain_model::trail::{Recorded, ToolCall, Trail, lineage};
use packtrain_model::yaml::Value;
use packtrain_tools::{
    Composed, Registry, SelectorProblem, Tool, check_roles, check_selectors, is_template,
};

use crate::sources::{Scripted, scripted};
use crate::trails;

/// What the calls of trails can reach.
pub(crate) struct Calls<'a> {
    pub(crate) registry: &'a Registry,
    /// What is known of the tools of sources.
    pub(crate) sources: SourceTools,
    /// The tools that trailmaps have, known without starting them.
    pub(crate) scripted: Scripted,
    pub(crate) working_directory: &'a Path,
}

/// What is known of the tools of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceTools {
    /// No source is configured.
    None,
    /// The registry has all of them.
    Listed,
    /// There may be more than the registry has.
    Unheard,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(
        registry: &'a Registry,
        config: &Config,
        working_directory: &'a Path,
    ) -> Self {
        Self {
            registry,
            // What trailmaps have is known before they are started.
            sources: match config
                .mcp_servers
                .iter()
                .all(|source| source.trailmap.is_some())
            {
                true => SourceTools::None,
                false => SourceTools::Unheard,
            },
            scripted: scripted(config),
            working_directory,
        }
    }

    /// The tools of trailmaps that a trail calls and that were not started, by trailmap.
    pub(crate) fn of_trailmaps(&self, trail: &Trail) -> BTreeSet<(&Path, String)> {
        let missing = calls(trail).filter(|(call, _)| self.registry.get(&call.name).is_none());
        let scripted = missing.filter_map(|(call, _)| {
            let (trailmap, _) = self.scripted.get(&call.name)?;
            Some((trailmap.as_path(), call.name.clone()))
        });
        scripted.collect()
    }

    /// Tools that do not exist or not for their device, and arguments that their tool refuses.
    pub(crate) fn check(&self, trail: &Trail) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (call, platform) in calls(trail) {
            match self.registry.get(&call.name) {
                Some(tool) => {
                    let source = &trail.source;
                    self.check_call(call, tool.as_ref(), platform, source, &mut found);
                }
                None if self.sources != SourceTools::Listed
                    && self.scripted.contains_key(&call.name) => {}
                None => found.push(self.unknown(call, &trail.source)),
            }
        }
        found
    }

    /// Names that several trailmaps give a tool.
    pub(crate) fn ambiguous(&self) -> impl Iterator<Item = Diagnostic> {
        self.scripted.values().filter_map(|(_, tool)| {
            let source = Source::new(tool.file.to_string_lossy(), "");
            let told = Diagnostic::error(&source, None, tool.unusable.clone()?);
            Some(told.hint("tool names must be unique".to_owned()))
        })
    }

    /// The same for the calls that a tool file is made of.
    pub(crate) fn check_tool(&self, composed: &Composed) -> Vec<Diagnostic> {
        let (source, mut found) = (composed.source(), Vec::new());
        let unknown = |call: &&ToolCall| {
            self.registry.get(&call.name).is_none() && !self.scripted.contains_key(&call.name)
        };
        let unknown = composed.calls().iter().filter(unknown);
        found.extend(unknown.map(|call| self.unknown(call, source)));
        for call in composed.sample_calls() {
            let Some(tool) = self.registry.get(&call.name) else {
                continue;
            };
            let spec = tool.spec();
            let mut platforms = composed.spec().platforms.iter().copied();
            let platform = platforms.find(|platform| !spec.works_on(*platform));
            self.check_call(&call, tool.as_ref(), platform, source, &mut found);
        }
        found
    }

    /// Roles, keys and other words of a trail's calls that are none of those there are.
    pub(crate) fn unknown_words(&self, trail: &Trail) -> Vec<Diagnostic> {
        let (source, mut found) = (&trail.source, Vec::new());
        for (call, platform) in calls(trail) {
            let Some(tool) = self.registry.get(&call.name) else {
                continue;
            };
            let checked = tool.check(&call.args).err();
            let unknown = checked.filter(|error| error.is_unknown_word);
            found.extend(unknown.map(|error| error.diagnostic(source)));
            let roles = check_roles(&call.args, platform.or(only(tool.as_ref()))).into_iter();
            found.extend(roles.map(|role| of_selector(role, call, source)));
        }
        found
    }

    /// Tools that a run would call, that do not exist and were probably meant to be built-in ones.
    pub(crate) fn misspelled(&self, plan: &Plan) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        let sessions = plan
            .sessions
            .iter()
            .filter(|planned| planned.skip.is_none());
        for planned in sessions.filter(|_| self.sources != SourceTools::Unheard) {
            let trail = &plan.trails[planned.trail];
            for device in planned.devices.iter().filter_map(|id| plan.device(id)) {
                let lineage = lineage(&device.classifiers);
                let steps = trail.all_steps();
                let calls = steps.flat_map(|step| match step.recording_for(&lineage) {
                    Recorded::Calls(_, calls) => calls,
                    Recorded::NoAction(_) | Recorded::Unknown => &[],
                });
                for call in calls.filter(|call| self.is_misspelled(call)) {
                    let told = self.unknown(call, &trail.source);
                    if !found.contains(&told) {
                        found.push(told);
                    }
                }
            }
        }
        found
    }

    fn is_misspelled(&self, call: &ToolCall) -> bool {
        self.registry.get(&call.name).is_none()
            && !self.scripted.contains_key(&call.name)
            && self.meant(&call.name).is_some()
    }

    fn meant(&self, name: &str) -> Option<String> {
        let scripted = self.scripted.keys().map(String::as_str);
        did_you_mean(name, self.registry.names().chain(scripted))
    }

    fn unknown(&self, call: &ToolCall, source: &Source) -> Diagnostic {
        let message = format!("unknown tool `{}`", call.name);
        let mut told = Diagnostic::error(source, call.span, message);
        let hint = match self.sources {
            SourceTools::None => "`packtrain tools` lists all tools; no tool source is configured",
            SourceTools::Listed => "`packtrain tools` lists all tools; no tool source has this one",
            SourceTools::Unheard => {
                told.severity = Severity::Warning;
                "it must come from a tool source"
            }
        };
        let meant = self.meant(&call.name);
        told.hint(meant.unwrap_or_else(|| hint.to_owned()))
    }

    fn check_call(
        &self,
        call: &ToolCall,
        tool: &dyn Tool,
        platform: Option<Platform>,
        source: &Source,
        found: &mut Vec<Diagnostic>,
    ) {
        let (spec, name) = (tool.spec(), &call.name);
        if let Some(platform) = platform.filter(|platform| !spec.works_on(*platform)) {
            let message = format!("`{name}` does not work on {platform} devices");
            found.push(Diagnostic::error(source, call.span, message).hint(format!(
                "`packtrain tools --platform {platform}` lists those that do"
            )));
        }
        let usage = format!("`packtrain tools {name}` shows its arguments");
        let mut arguments = call.args.clone();
        for unknown in spec.take_unknown(&mut arguments) {
            let message = format!("unknown argument `{}` of `{name}`", unknown.name);
            let told = if spec.refuses(&unknown) {
                Diagnostic::error
            } else {
                Diagnostic::warning
            };
            let hint = unknown.hint.unwrap_or_else(|| usage.clone());
            found.push(told(source, unknown.span, message).hint(hint));
        }
        if let Err(mut error) = tool.check(&arguments) {
            error.span = error.span.or(call.span);
            error.hint.get_or_insert(usage);
            found.push(error.diagnostic(source));
        }
        let on = platform.or(only(tool));
        let problems = check_selectors(&arguments, on).into_iter();
        let problems = problems.chain(check_roles(&arguments, on));
        found.extend(problems.map(|problem| of_selector(problem, call, source)));
        let runs = spec
            .runs_trail
            .and_then(|key| arguments.as_mapping()?.get(key));
        if let Some(path) = runs.filter(|path| !is_template(path)) {
            found.extend(self.missing_trail(path, source));
        }
    }

    fn missing_trail(&self, path: &Value, source: &Source) -> Option<Diagnostic> {
        let beside = Path::new(source.name()).parent()?;
        let folders = [beside.to_owned(), self.working_directory.to_owned()];
        let missing = trails::locate(&path.as_scalar()?.text, &folders, None).err()?;
        let hint = "paths start at the folder of this trail or at the working directory";
        Some(Diagnostic::error(source, path.span, missing).hint(hint.to_owned()))
    }
}

/// The platform that a tool is for, when it is for one.
fn only(tool: &dyn Tool) -> Option<Platform> {
    match tool.spec().platforms.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn of_selector(problem: SelectorProblem, call: &ToolCall, source: &Source) -> Diagnostic {
    let told = if problem.fatal {
        Diagnostic::error
    } else {
        Diagnostic::warning
    };
    let span = problem.span.or(call.span);
    told(source, span, problem.message).hint(problem.hint)
}

/// The calls of a trail, each with the platform of the devices that it is recorded for.
fn calls(trail: &Trail) -> impl Iterator<Item = (&ToolCall, Option<Platform>)> {
    let recordings = trail.all_steps().flat_map(|step| step.recordings.iter());
    recordings.flat_map(|recording| {
        let classifier = recording.classifier.as_deref();
        let platform = classifier.and_then(|name| name.split('-').next()?.parse().ok());
        recording.value.iter().map(move |call| (call, platform))
    })
}
