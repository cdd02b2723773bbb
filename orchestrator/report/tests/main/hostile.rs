//! Apps under test put anything on a screen; no report may be steered by it.

use packtrain_drivers::{DeviceEvent, DeviceId, Located};
use packtrain_model::{Entry, Failure, Outcome, RunEvent, SourceCall};
use packtrain_report::console::{Detail, EventLines, Layout, Timestamps};
use packtrain_report::{HtmlOptions, JunitOptions, RunView};
use quick_junit::Report;

use crate::{html, json, junit, small, summary};

/// Ends a script, an attribute, a comment, a CDATA section and a template; moves the cursor,
/// turns the reading direction, and is not an XML character.
const EVIL: &str = "</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}<!--]]>\x1b[2J\u{202e}\u{0}`\r\n[[ATTACHMENT|/etc/passwd]]";

/// A run in which every text that can be foreign is.
fn evil() -> Vec<Entry> {
    let mut sample = small();
    let evil = || EVIL.to_owned();
    for entry in &mut sample.entries {
        match &mut entry.event {
            RunEvent::RunStarted {
                packtrain,
                trails,
                devices,
                ..
            } => {
                *packtrain = evil();
                for trail in trails {
                    trail.title = evil();
                    trail.path = evil();
                    trail.tags.push(evil());
                    for step in &mut trail.steps {
                        step.text = evil();
                    }
                }
                for device in devices {
                    device.model = evil();
                    device.system = evil();
                }
            }
            RunEvent::SessionStarted { device, .. } => {
                device.id =
                    DeviceId::new(device.id.platform(), format!("{}{EVIL}", device.id.name()));
                device.model = evil();
                device.system = evil();
                device.driver = evil();
                device.classifiers.push(EVIL.into());
            }
            RunEvent::ToolStarted {
                tool, arguments, ..
            } => {
                *tool = evil();
                *arguments = serde_json::json!({EVIL: [EVIL, {"nested": EVIL}]});
            }
            RunEvent::ToolFinished {
                tool,
                outcome,
                report,
                answer,
                via,
                ..
            } => {
                *via = Some(SourceCall {
                    source: evil(),
                    log: Some(evil()),
                    ..SourceCall::default()
                });
                *tool = evil();
                report.located = Some(Located {
                    by: evil(),
                    matched: 3,
                });
                report.notes.push(evil());
                *answer = Some(evil());
                spoil(outcome);
            }
            RunEvent::StepFinished { outcome, .. }
            | RunEvent::SessionWillRetry { outcome, .. }
            | RunEvent::SessionFinished { outcome, .. } => spoil(outcome),
            RunEvent::DeviceReported { report, .. } => {
                *report = DeviceEvent::Logged {
                    level: "error".to_owned(),
                    text: evil(),
                    source: Some(evil()),
                };
            }
            RunEvent::ArtifactSaved { artifact, .. } => artifact.path = evil(),
            RunEvent::StepStarted { .. }
            | RunEvent::SinkFailed { .. }
            | RunEvent::SessionConfigured { .. }
            | RunEvent::StepObserved { .. }
            | RunEvent::StopRequested { .. }
            | RunEvent::RunFinished { .. } => {}
        }
    }
    let end = sample.entries.len() - 1;
    let mut broken = sample.entries[end].clone();
    broken.event = RunEvent::SinkFailed {
        sink: evil(),
        message: evil(),
        unsaved: Some(evil()),
    };
    sample.entries.insert(end, broken);
    sample.entries
}

fn spoil(outcome: &mut Outcome) {
    let evil = || EVIL.to_owned();
    match outcome {
        Outcome::Failed(failure) => {
            *failure = Failure {
                message: evil(),
                tool: Some(evil()),
                log: vec![evil()],
                hint: Some(evil()),
                at: Some(evil()),
                fatal: true,
            };
        }
        Outcome::Skipped { reason } => *reason = evil(),
        Outcome::Infrastructure { cause, hint, .. } => {
            *cause = evil();
            *hint = Some(evil());
        }
        Outcome::NeedsAgent { why } => *why = evil(),
        Outcome::Passed | Outcome::Cancelled { .. } => {}
    }
}

#[test]
fn foreign_texts_are_text_in_the_html() {
    let view = RunView::from_events(evil());
    let page = html(&view, None, &HtmlOptions::default(), &mut |_| {
        Some(EVIL.as_bytes().to_vec())
    })
    .unwrap();
    assert!(!page.contains("<img"), "an element of the app's making");
    assert!(!page.contains(" onerror=alert(1)>"));
    // Each script that begins is one of ours, and each ends once.
    let texts = page.matches("id=\"text-").count();
    assert!(texts > 0);
    assert_eq!(page.matches("<script").count(), 4 + texts);
    assert_eq!(page.matches("</script>").count(), 4 + texts);
    assert_eq!(page.matches("<!--").count(), 0);
    // And yet nothing is lost.
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let details: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(details["trails"][0]["title"], EVIL);
}

#[test]
fn foreign_texts_do_not_steer_the_terminal() {
    let entries = evil();
    let view = RunView::from_events(entries.clone());
    let mut texts = vec![summary(&view, &[], Layout::default())];
    let mut lines = EventLines::new(Layout::default(), Detail::Tools, Timestamps::Clock);
    texts.extend(entries.iter().flat_map(|entry| lines.lines(entry)));
    for text in &texts {
        for line in text.lines() {
            let unruly = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!line.contains(unruly), "{line:?}");
        }
    }
    for line in &texts[1..] {
        assert_eq!(line.lines().count(), 1, "{line:?}");
    }
}

#[test]
fn foreign_texts_leave_the_xml_well_formed_and_attach_nothing() {
    let view = RunView::from_events(evil());
    let xml = junit(&view, &JunitOptions::default());
    let report = Report::deserialize_from_str(&xml).unwrap();
    assert_eq!(report.tests, 24);
    let cases = report
        .test_suites
        .iter()
        .flat_map(|suite| &suite.test_cases);
    for output in cases.flat_map(|case| [&case.system_out, &case.system_err]) {
        let attaches = |text: &quick_junit::XmlString| text.contains("[[ATTACHMENT");
        assert!(!output.as_ref().is_some_and(attaches), "{output:?}");
    }
}

#[test]
fn foreign_texts_leave_the_json_well_formed() {
    let view = RunView::from_events(evil());
    let document: serde_json::Value = json(&view);
    assert_eq!(document["trails"][0]["title"], EVIL);
}
