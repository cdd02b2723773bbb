//! The first line of each report says what became of the run, in the same words everywhere.

use packtrain_report::console::{Layout, summary};
use packtrain_report::{HtmlOptions, JunitOptions, comparison, html, json, junit, markdown};
use serde_json::Value;

use crate::{six, view};

#[test]
fn every_report_begins_with_the_same_words() {
    for told in six::six() {
        let view = view(&told.sample);
        let files = &mut |path: &str| told.sample.files.get(path).cloned();
        let compared = comparison::compare(&view, files);
        assert_eq!(compared.sentence, told.headline, "{:#?}", compared.clusters);
        let terminal = summary(&view, &compared, &[], Layout::default());
        let line = format!(" {}\n", told.headline);
        assert!(terminal.contains(&line), "{terminal}");
        let markdown = markdown(&view, &compared);
        let first = markdown.lines().next().unwrap();
        assert!(first.ends_with(told.headline), "{first}");
        let document: Value = serde_json::from_str(&json(&view, &compared).unwrap()).unwrap();
        assert_eq!(document["headline"], told.headline);
        let xml = junit(&view, &compared, &JunitOptions::default()).unwrap();
        let property = format!(
            "<property name=\"packtrain.headline\" value=\"{}\"/>",
            told.headline
        );
        let root = xml.split("<testsuite ").next().unwrap();
        assert!(root.contains(&property), "{root}");
        let page = html(&view, &compared, &HtmlOptions::default(), files).unwrap();
        assert!(page.contains(&format!("<h1>{}</h1>", told.headline)));
        for part in told.wanted {
            assert!(terminal.contains(part), "{}: {part}: {terminal}", told.name);
        }
        let title = page.split("<title>").nth(1).unwrap();
        assert!(
            title
                .split("</title>")
                .next()
                .unwrap()
                .contains(told.headline)
        );
    }
}

#[test]
fn a_trail_that_has_nothing_to_do_here_has_no_tick() {
    let mut made = crate::small();
    let idle = |event: &packtrain_model::RunEvent| match event {
        packtrain_model::RunEvent::ToolStarted { session, step, .. }
        | packtrain_model::RunEvent::ToolFinished { session, step, .. } => {
            (session.0.as_str(), step.0) == ("s1", 1)
        }
        _ => false,
    };
    made.entries.retain(|entry| !idle(&entry.event));
    let view = view(&made);
    assert_eq!(view.trails[0].sessions[0].attempts[0].steps[1].sign(), "-");
    let xml = crate::junit(&view, &JunitOptions::default());
    assert!(xml.contains("-  1 Search for "), "{xml}");
}
