//! What the terminal shows.

use packtrain_report::console::{
    Detail, EventLines, Layout, MOST_DEVICES, ReportLink, Timestamps, grid,
};
use packtrain_report::{Names, Problem, RunView};

use crate::run::{self, Shape};
use crate::{compared, golden, plain, small, summary, view};

fn lines(detail: Detail, timestamps: Timestamps) -> String {
    let mut lines = EventLines::new(Layout::default(), detail, timestamps);
    small()
        .entries
        .iter()
        .flat_map(|entry| lines.lines(entry))
        .map(|line| line + "\n")
        .collect()
}

fn links() -> [ReportLink; 2] {
    [("html", "report.html"), ("junit", "out/junit.xml")].map(|(kind, path)| ReportLink {
        kind: kind.to_owned(),
        path: path.to_owned(),
    })
}

#[test]
fn the_summary_is_as_agreed() {
    let text = summary(&view(&small()), &links(), Layout::default());
    golden::expect("summary.txt", &text);
}

#[test]
fn the_lines_are_as_agreed() {
    golden::expect(
        "lines-sessions.txt",
        &lines(Detail::Sessions, Timestamps::Clock),
    );
    golden::expect(
        "lines-tools.txt",
        &lines(Detail::Tools, Timestamps::Elapsed),
    );
}

#[test]
fn colour_adds_nothing_but_colour() {
    let view = view(&small());
    let colored = Layout {
        color: true,
        ..Layout::default()
    };
    let plain = summary(&view, &[], Layout::default());
    assert!(!plain.contains('\x1b'));
    let mut stripped = String::new();
    for piece in summary(&view, &[], colored).split('\x1b') {
        let text = match piece.strip_prefix('[') {
            Some(code) => code.split_once('m').unwrap().1,
            None => piece,
        };
        stripped.push_str(text);
    }
    // Rows of the grid end where their text ends, with or without colour.
    let trimmed = |text: &str| {
        text.lines()
            .map(|l| l.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(trimmed(&stripped), trimmed(&plain));
}

#[test]
fn the_grid_keeps_to_the_width_of_the_terminal() {
    let view = view(&small());
    for width in [90, 100, 120, 140, 200] {
        let layout = Layout {
            color: false,
            width,
        };
        let compared = compared(&view);
        let names = Names::of(&view, &compared);
        for trail in &view.trails {
            let problems = Problem::of(trail, &compared);
            let text = grid(trail, &problems, &names, layout).unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn many_devices_have_no_grid() {
    let sample = plain(MOST_DEVICES + 1, 1);
    let view = view(&sample);
    let compared = compared(&view);
    let names = Names::of(&view, &compared);
    let problems = Problem::of(&view.trails[0], &compared);
    let trail = &view.trails[0];
    assert_eq!(grid(trail, &problems, &names, Layout::default()), None);
    assert!(summary(&view, &[], Layout::default()).contains("✗ failed at step 6 on "));
}

#[test]
fn a_run_in_which_all_went_well_is_short() {
    let sample = plain(1, 1);
    let text = summary(&view(&sample), &links(), Layout::default());
    golden::expect("summary-passed.txt", &text);
}

#[test]
fn a_run_cut_short_says_so() {
    let view = RunView::from_events(small().entries[..40].to_vec());
    let text = summary(&view, &[], Layout::default());
    assert!(text.contains("The run's end was not recorded"), "{text}");
    assert!(text.contains("unfinished"), "{text}");
}

/// A run of two devices whose fourth step finds two buttons on each.
fn ambiguous() -> Vec<packtrain_model::Entry> {
    let shape = Shape {
        devices: 2,
        trails: 1,
        screenshots: false,
    };
    run::sample(shape).entries
}

const AMBIGUITY: &str = "2 elements match role=button[name=\"Add to basket\"]; the first was used";

#[test]
fn what_calls_noticed_is_said_once_for_each_step_below_its_line() {
    let mut lines = EventLines::new(Layout::default(), Detail::Tools, Timestamps::None);
    let lines: Vec<String> = ambiguous()
        .iter()
        .flat_map(|entry| lines.lines(entry))
        .collect();
    let of_one: Vec<&String> = lines
        .iter()
        .filter(|line| line.starts_with("checkout on web/desktop"))
        .collect();
    let at = of_one
        .iter()
        .position(|line| line.contains("✓ 3 "))
        .unwrap();
    assert!(of_one[at + 1].ends_with(&format!("    note: {AMBIGUITY}")));
    let noted = of_one.iter().filter(|line| line.ends_with(AMBIGUITY));
    assert_eq!(noted.count(), 1, "two calls of the step noticed the same");
}

#[test]
fn without_tools_what_calls_noticed_is_counted_and_no_more() {
    let mut lines = EventLines::new(Layout::default(), Detail::Steps, Timestamps::None);
    let entries = ambiguous();
    let noted = entries.iter().flat_map(|entry| lines.lines(entry));
    assert_eq!(noted.filter(|line| line.contains("note: ")).count(), 0);
    let text = summary(&RunView::from_events(entries), &[], Layout::default());
    assert!(!text.contains(AMBIGUITY), "{text}");
    assert!(
        text.contains("  6 notes on steps in the report, or with --lines tools\n"),
        "{text}"
    );
}
