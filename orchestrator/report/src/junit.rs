//! JUnit XML for CI systems.
//!
//! What tells test cases apart differs: Jenkins and GitLab go by class name and name, GitHub's
//! publishers by suite, class name and name. So there is one suite for each device, and the
//! device is in both names; N devices never merge into one. Where trails are dealt out among
//! devices (`split`) the device is an accident of the day, and stays out of the names so that a
//! test's history does not break.

mod said;

use std::collections::HashMap;
use std::time::Duration;

use packtrain_compare::answer::Comparison;
use packtrain_model::{CancelCause, Outcome};
use quick_junit::{
    NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
    XmlString,
};

use self::said::{cell_properties, description, device_properties, foreign, message, trouble};
use crate::mark::Mark;
use crate::paths::relative;
use crate::problem::Problem;
use crate::view::{AttemptView, RunView, SessionView, Status, TrailView, numbered};
use crate::wording;

/// How the XML is made.
#[derive(Debug, Clone, Default)]
pub struct JunitOptions {
    /// Path of the run's folder as CI finds it. With it, the files of a step that went wrong are
    /// attached the way Jenkins and GitLab understand.
    pub run_folder: Option<String>,
}

/// Renders a run.
///
/// # Errors
/// When the XML writer breaks; a run cannot make it.
pub fn junit(
    view: &RunView,
    comparison: &Comparison,
    options: &JunitOptions,
) -> Result<String, SerializeError> {
    let mut report = Report::new(format!("packtrain {}", view.run));
    report.set_time(view.duration);
    if let Some(started) = view.started {
        report.set_timestamp(started);
    }
    let writer = Writer {
        view,
        options,
        named_by_device: view.options.shard != "split",
        problems: (view.trails.iter())
            .map(|trail| Problem::of(trail, comparison))
            .collect(),
    };
    for suite in writer.suites() {
        report.add_test_suite(suite);
    }
    Ok(with_headline(&report.to_string()?, &comparison.sentence))
}

/// The headline as a property of the root, which the writer has none for.
fn with_headline(xml: &str, headline: &str) -> String {
    let value = XmlString::new(headline);
    let value = minijinja::HtmlEscape(value.as_str());
    let property = format!("<property name=\"packtrain.headline\" value=\"{value}\"/>");
    let properties = format!("\n    <properties>\n        {property}\n    </properties>");
    let root = xml
        .find("<testsuites")
        .and_then(|start| Some(start + xml[start..].find('>')? + 1));
    match root {
        Some(end) if !xml[..end].ends_with("/>") => {
            format!("{}{properties}{}", &xml[..end], &xml[end..])
        }
        // A run without sessions.
        Some(end) => format!("{}>{properties}\n</testsuites>\n", &xml[..end - 2]),
        None => xml.to_owned(),
    }
}

struct Writer<'a> {
    view: &'a RunView,
    options: &'a JunitOptions,
    named_by_device: bool,
    /// Of each trail.
    problems: Vec<Vec<Problem>>,
}

/// A (trail, device) pair and its places.
#[derive(Clone, Copy)]
struct Case<'a> {
    trail: &'a TrailView,
    session: &'a SessionView,
    trail_place: usize,
    session_place: usize,
}

impl<'a> Writer<'a> {
    fn cases(&self) -> impl Iterator<Item = Case<'a>> + use<'a> {
        let trails = self.view.trails.iter().enumerate();
        trails.flat_map(|(trail_place, trail)| {
            let sessions = trail.sessions.iter().enumerate();
            sessions.map(move |(session_place, session)| Case {
                trail,
                session,
                trail_place,
                session_place,
            })
        })
    }

    /// The folder the run was started in, which paths are relative to.
    fn here(&self) -> &'a str {
        &self.view.options.working_directory
    }

    fn suites(&self) -> Vec<TestSuite> {
        let mut suites: Vec<(String, Vec<Case<'_>>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for case in self.cases() {
            let own = self.named_by_device.then(|| case.session.name());
            let name = own.unwrap_or_else(|| "packtrain".to_owned());
            let place = *places.entry(name.clone()).or_insert_with(|| {
                suites.push((name, Vec::new()));
                suites.len() - 1
            });
            suites[place].1.push(case);
        }
        let suites = suites.iter();
        suites
            .map(|(name, cases)| self.suite(name, cases))
            .collect()
    }

    fn suite(&self, name: &str, cases: &[Case<'_>]) -> TestSuite {
        let mut suite = TestSuite::new(name);
        let took = cases.iter().map(|case| case.session.total_duration());
        suite.set_time(took.sum::<Duration>());
        let starts = cases
            .iter()
            .filter_map(|one| one.session.attempts.first()?.started);
        if let Some(started) = starts.min() {
            suite.set_timestamp(started);
        }
        suite.add_property(("packtrain.run", self.view.run.0.as_str()));
        suite.add_property(("packtrain.version", self.view.packtrain.as_str()));
        if self.named_by_device {
            suite.extra.insert("hostname".into(), name.into());
            let info = cases.iter().find_map(|case| case.session.info.as_ref());
            suite.add_properties(info.into_iter().flat_map(device_properties));
            let cell = cases.first().map(|case| &case.session.cell);
            suite.add_properties(cell.into_iter().flat_map(cell_properties));
        }
        for case in cases {
            suite.add_test_case(self.case(*case));
        }
        suite
    }

    fn case(&self, case: Case<'_>) -> TestCase {
        let Case { trail, session, .. } = case;
        let device = session.name();
        let title = &trail.summary.title;
        // A configuration is part of the plan, whatever device it lands on.
        let name = match (self.named_by_device, session.cell.is_empty()) {
            (true, _) => format!("{title} [{device}]"),
            (false, true) => numbered(title.clone(), session.repeat),
            (false, false) => numbered(format!("{title} [{}]", session.cell), session.repeat),
        };
        let mut xml = TestCase::new(name, self.status(case));
        let file = relative(self.here(), &trail.summary.path);
        // Two trails of one name, in two folders, are distinguished by their paths.
        let named_alike = |other: &&TrailView| other.summary.name == trail.summary.name;
        let is_alone = self.view.trails.iter().filter(named_alike).count() < 2;
        let class = if is_alone { &trail.summary.name } else { &file };
        // A dot would make Jenkins see a package where there is none.
        let class = class.replace('.', "_");
        let suite = (self.named_by_device).then(|| device.replace('.', "_") + ".");
        xml.set_classname(suite.unwrap_or_default() + &class);
        xml.set_time(session.last().map_or(Duration::ZERO, |last| last.duration));
        if let Some(started) = session.last().and_then(|last| last.started) {
            xml.set_timestamp(started);
        }
        xml.extra.insert("file".into(), file.into());
        xml.add_property(("packtrain.session", session.id.0.as_str()));
        xml.add_property(("packtrain.device", session.device_name().as_str()));
        xml.add_properties(cell_properties(&session.cell));
        if let Some(repeat) = session.repeat {
            xml.add_property(("packtrain.repeat", repeat.to_string().as_str()));
        }
        let attempts = session.attempts.len();
        if attempts > 1 {
            xml.add_property(("packtrain.attempts", attempts.to_string().as_str()));
        }
        if !trail.summary.tags.is_empty() {
            xml.add_property(("packtrain.tags", trail.summary.tags.join(",").as_str()));
        }
        if let Some(last) = session.last() {
            xml.set_system_out(self.log(trail, last));
            let trouble = trouble(last);
            if !trouble.is_empty() {
                xml.set_system_err(trouble);
            }
        }
        xml
    }

    fn status(&self, case: Case<'_>) -> TestCaseStatus {
        let Case { trail, session, .. } = case;
        let mut xml = match end(&session.status) {
            End::Success => TestCaseStatus::success(),
            End::Skipped => TestCaseStatus::skipped(),
            End::NonSuccess(kind) => TestCaseStatus::non_success(kind),
        };
        xml.set_type(session.mark().key());
        if let Some(message) = message(trail, session.last(), &session.status) {
            xml.set_message(message);
        }
        let described = session
            .last()
            .map(|last| description(trail, last, self.here()));
        let mut description = described.unwrap_or_default();
        description.extend(self.others(case));
        if !description.is_empty() {
            xml.set_description(description);
        }
        for attempt in session.earlier() {
            xml.add_rerun(self.rerun(trail, attempt));
        }
        xml
    }

    /// How the other devices fared.
    fn others(&self, case: Case<'_>) -> Option<String> {
        let Case { trail, .. } = case;
        let mut problems = self.problems.get(case.trail_place)?.iter();
        let problem = problems.find(|problem| problem.sessions.contains(&case.session_place))?;
        let all = trail.sessions.len();
        if all < 2 {
            return None;
        }
        let place = match problem.place.as_str() {
            "" => String::new(),
            place => format!(" ({})", wording::one_line(place)),
        };
        let passed = trail.passed().count();
        let (some, ones) = (problem.sessions.len(), trail.ones());
        let have = if some == 1 { "has" } else { "have" };
        Some(format!(
            "{some} of {all} {ones} {have} this result{place}; {passed} passed\n"
        ))
    }

    fn rerun(&self, trail: &TrailView, attempt: &AttemptView) -> TestRerun {
        let kind = match end(&attempt.status) {
            End::NonSuccess(kind) => kind,
            // An attempt that was given up is not a success, whatever it looks like.
            End::Success | End::Skipped => NonSuccessKind::Error,
        };
        let mut xml = TestRerun::new(kind);
        xml.set_time(attempt.duration);
        if let Some(started) = attempt.started {
            xml.set_timestamp(started);
        }
        xml.set_type(Mark::of(&attempt.status).key());
        if let Some(message) = message(trail, Some(attempt), &attempt.status) {
            xml.set_message(message);
        }
        xml.set_stack_trace(description(trail, attempt, self.here()));
        xml.set_system_out(self.log(trail, attempt));
        xml
    }

    /// What happened, step by step.
    fn log(&self, trail: &TrailView, attempt: &AttemptView) -> String {
        let mut log = String::new();
        for step in &attempt.steps {
            let text = trail.step(step.step).map_or("", |known| &known.text);
            let text = foreign(text);
            log.push_str(&format!(
                "{} {:>2} {text}  {}\n",
                step.sign(),
                step.step.0,
                match &step.status {
                    Status::Ended(_) => wording::duration(step.duration),
                    Status::NotRun | Status::Unfinished => step.mark().word().to_owned(),
                }
            ));
            for note in step.notes() {
                log.push_str(&format!("     note: {}\n", foreign(note)));
            }
            if step.is_bad() {
                for call in &step.calls {
                    let indent = "  ".repeat(call.depth as usize % 16);
                    log.push_str(&format!(
                        "     {indent}{} {} {}\n",
                        Mark::of(&call.status).sign(),
                        foreign(&call.tool),
                        foreign(&call.arguments.to_string())
                    ));
                }
                if let Some(folder) = &self.options.run_folder {
                    for artifact in &step.artifacts {
                        let folder = folder.trim_end_matches('/');
                        let path = foreign(&artifact.path);
                        log.push_str(&format!("[[ATTACHMENT|{folder}/{path}]]\n"));
                    }
                }
            }
        }
        log
    }
}

enum End {
    Success,
    Skipped,
    NonSuccess(NonSuccessKind),
}

/// A failure is the app's or the trail's; an error says that the result is unknown.
fn end(status: &Status) -> End {
    let (failure, error) = (NonSuccessKind::Failure, NonSuccessKind::Error);
    match status {
        Status::NotRun | Status::Unfinished => End::NonSuccess(error),
        Status::Ended(outcome) => match outcome {
            Outcome::Passed => End::Success,
            Outcome::Skipped { .. } => End::Skipped,
            Outcome::Failed(_) | Outcome::NeedsAgent { .. } => End::NonSuccess(failure),
            Outcome::Infrastructure { .. } => End::NonSuccess(error),
            Outcome::Cancelled { by } => match by {
                CancelCause::FailFast => End::Skipped,
                CancelCause::TimeLimit => End::NonSuccess(failure),
                CancelCause::Interrupt => End::NonSuccess(error),
            },
        },
    }
}
