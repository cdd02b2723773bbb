//! What the comparison once said and must not: each with the smallest run that made it say so.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_drivers::{Hidden, HiddenBecause};
use packtrain_model::screen::{ScreenNode, ScreenTree};

use crate::answer::{ClusterKind, Comparison, Step as TrailStep, Trail, Verdict};
use crate::input::{
    Cell, EarlierFailure, FailedRequest, OutcomeKind, Run, SeenTree, Session, Step, StepStatus,
};

/// A screen of lines `role name`, indented by depth; a line that begins with `?` is hidden.
fn screen(lines: &[&str]) -> SeenTree {
    let mut tree = ScreenTree::default();
    for line in lines {
        let text = line.trim_start_matches(['?', ' ']);
        let (role, name) = text.split_once(' ').unwrap_or((text, ""));
        if line.starts_with('?') {
            tree.hidden.push(Hidden {
                element: format!("{role} \"{name}\""),
                why: HiddenBecause::Display,
                behind: Some("button \"Menu\"".to_owned()),
            });
            continue;
        }
        tree.nodes.push(ScreenNode {
            depth: (line.len() - line.trim_start().len()) as u32,
            role: role.to_owned(),
            name: name.to_owned(),
            ..ScreenNode::default()
        });
    }
    let shown = lines.iter().filter(|line| !line.starts_with('?'));
    SeenTree {
        digest: shown.copied().collect::<Vec<_>>().join("\n"),
        tree: Arc::new(tree),
    }
}

/// A cell of a browser: `locale=de-DE width=390 colorScheme=dark`; the width is a fact.
fn cell(values: &str) -> Cell {
    let mut cell = Cell {
        device: "web/desktop".to_owned(),
        name: "desktop".to_owned(),
        facts: BTreeMap::from([("platform".to_owned(), "web".to_owned())]),
        ..Cell::default()
    };
    for pair in values.split_whitespace() {
        let (name, value) = pair.split_once('=').expect("a value");
        let values = match name {
            "width" | "platform" => &mut cell.facts,
            _ => &mut cell.values,
        };
        values.insert(name.to_owned(), value.to_owned());
    }
    cell
}

/// A run of one trail, with what each cell showed at the steps that passed.
fn run(cells: &[(&str, Vec<SeenTree>)]) -> Run {
    let session = |(place, (_, screens)): (usize, &(&str, Vec<SeenTree>))| Session {
        id: format!("s{place}"),
        cell: place,
        outcome: OutcomeKind::Passed,
        steps: (1..)
            .zip(screens)
            .map(|(step, tree)| Step {
                step,
                status: StepStatus::Passed,
                tree: Some(tree.clone()),
                ..Step::default()
            })
            .collect(),
        ..Session::default()
    };
    let steps = cells.iter().map(|(_, screens)| screens.len()).max();
    Run {
        planned: cells.len(),
        trails: vec![Trail {
            name: "t".to_owned(),
            steps: (1..=steps.unwrap_or_default() as u32)
                .map(|step| TrailStep {
                    step,
                    text: format!("Step {step}"),
                })
                .collect(),
            ..Trail::default()
        }],
        cells: cells.iter().map(|(values, _)| cell(values)).collect(),
        sessions: cells.iter().enumerate().map(session).collect(),
        ..Run::default()
    }
}

fn compared(run: &Run) -> Comparison {
    crate::compare(run, &mut |_: &str| None)
}

fn told(comparison: &Comparison) -> Vec<(&str, &str)> {
    let clusters = comparison.clusters.iter();
    clusters
        .map(|cluster| (cluster.title.as_str(), cluster.place.as_str()))
        .collect()
}

/// Every combination of two languages, two widths and two builds.
fn product(shown: impl Fn(&str, &str, &str) -> Vec<SeenTree>) -> Run {
    let mut cells = Vec::new();
    for locale in ["en-US", "de-DE"] {
        for width in ["1280", "390"] {
            for build in ["old", "new"] {
                let values = format!("locale={locale} width={width} build={build}");
                cells.push((values, shown(locale, width, build)));
            }
        }
    }
    let cells: Vec<_> = (cells.iter())
        .map(|(values, screens)| (values.as_str(), screens.clone()))
        .collect();
    run(&cells)
}

#[test]
fn another_order_in_every_cell_of_a_layout_is_that_layout_and_in_one_cell_is_not() {
    const ORDER: [&str; 4] = [
        "heading Cart",
        "list",
        " listitem Green tea",
        "button Buy now",
    ];
    const MOVED: [&str; 4] = [
        "button Buy now",
        "heading Cart",
        "list",
        " listitem Green tea",
    ];
    let shown = |is_moved: bool| vec![screen(if is_moved { &MOVED } else { &ORDER })];
    let all = compared(&product(|_, width, _| shown(width == "390")));
    assert_eq!(told(&all), []);
    let one = compared(&product(|locale, width, build| {
        shown((locale, width, build) == ("de-DE", "1280", "new"))
    }));
    assert_eq!(told(&one).len(), 1, "{:?}", told(&one));
}

#[test]
fn a_value_of_an_axis_is_no_memory_inside_of_words() {
    let page = || vec![screen(&["heading Flight list", "text highlighted"])];
    let mut run = run(&[("colorScheme=light", page()), ("colorScheme=dark", page())]);
    for session in &mut run.sessions {
        let scheme = run.cells[session.cell].values["colorScheme"].clone();
        session.memory = vec![("axis.colorScheme".to_owned(), scheme)];
    }
    assert_eq!(told(&compared(&run)), []);
    for session in &mut run.sessions {
        let scheme = run.cells[session.cell].values["colorScheme"].clone();
        session.memory = vec![("theme".to_owned(), scheme)];
    }
    assert_eq!(told(&compared(&run)), []);
}

#[test]
fn what_is_equal_to_the_reference_is_not_blamed_through_a_cell_of_another_layout() {
    let wide = |home: &str, reports: &str| {
        let lines = [
            "heading Shop".to_owned(),
            "region Nav".to_owned(),
            format!(" link {home}"),
            format!(" link {reports}"),
        ];
        vec![screen(
            &lines.iter().map(String::as_str).collect::<Vec<_>>(),
        )]
    };
    let narrow = vec![screen(&["heading Shop", "?link Start", "?link Berichte"])];
    let found = compared(&run(&[
        (
            "locale=en-US width=1280 colorScheme=light",
            wide("Home", "Reports"),
        ),
        ("locale=de-DE width=390 colorScheme=light", narrow),
        (
            "locale=de-DE width=1280 colorScheme=dark",
            wide("Start", "Berichte"),
        ),
    ]));
    assert_eq!(told(&found), []);
    let lines: Vec<&str> = found
        .conventions
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(
        lines[0], "At 390 wide two links are behind Menu.",
        "{lines:?}"
    );
}

#[test]
fn a_reference_in_the_minority_is_itself_the_news() {
    let cells: Vec<(String, Vec<SeenTree>)> = (0..12)
        .map(|place| {
            let lines: &[&str] = match place {
                0 => &["heading Shop", "link Home"],
                _ => &["heading Shop", "link Home", "link Reports"],
            };
            (format!("n={place}"), vec![screen(lines)])
        })
        .collect();
    let cells: Vec<_> = (cells.iter())
        .map(|(values, screens)| (values.as_str(), screens.clone()))
        .collect();
    let found = compared(&run(&cells));
    assert_eq!(told(&found), [("link \"Reports\" is missing", "n=0")]);
    assert_eq!(found.clusters[0].cells, [0]);
}

#[test]
fn what_differs_in_one_language_on_one_layout_is_told_with_both() {
    let run = product(|locale, width, _| {
        let heading = match (locale, width) {
            ("en-US", _) => "heading Departures",
            (_, "390") => "heading Ankunft",
            _ => "heading Abflug",
        };
        vec![screen(&[heading, "button Go"])]
    });
    let found = compared(&run);
    assert_eq!(
        told(&found),
        [(
            "heading \"Departures\" is called \"Ankunft\"",
            "de-DE at 390 wide"
        )]
    );
}

#[test]
fn what_every_language_calls_otherwise_on_a_layout_is_how_it_is() {
    let run = product(|locale, width, _| {
        let (long, short) = match locale {
            "en-US" => ("button Add to cart", "button Add"),
            _ => ("button In den Warenkorb", "button Dazu"),
        };
        let button = if width == "390" { short } else { long };
        vec![screen(&["heading Shop", button])]
    });
    assert_eq!(told(&compared(&run)), []);
}

#[test]
fn what_has_no_counterpart_is_news_in_all_of_a_language_or_a_layout() {
    let lost = |of: &'static str| {
        product(move |locale, width, _| {
            let is_lost = locale == of || width == of;
            let link: &[&str] = match (locale, is_lost) {
                (_, true) => &["heading Shop", "button Go"],
                ("en-US", false) => &["heading Shop", "button Go", "link Contact"],
                (_, false) => &["heading Shop", "button Go", "link Kontakt"],
            };
            vec![screen(link)]
        })
    };
    let title = "link \"Contact\" is missing";
    assert_eq!(told(&compared(&lost("de-DE"))), [(title, "de-DE")]);
    assert_eq!(told(&compared(&lost("390"))), [(title, "at 390 wide")]);
}

#[test]
fn links_out_of_the_document_are_folded_where_one_control_opens_them_and_told_without() {
    let page = |has_menu: bool| {
        product(move |_, width, _| {
            let lines: &[&str] = match (width, has_menu) {
                ("390", true) => &["heading Shop", "button Menu"],
                ("390", false) => &["heading Shop"],
                _ => &["heading Shop", "link Home", "link Reports"],
            };
            vec![screen(lines)]
        })
    };
    let found = compared(&page(true));
    assert_eq!(told(&found), []);
    assert!(
        (found.conventions.iter()).any(|one| one.text == "At 390 wide two links are behind Menu."),
        "{:?}",
        found.conventions
    );
    assert_eq!(
        told(&compared(&page(false))),
        [("link \"Home\" is missing, and 1 more", "at 390 wide")]
    );
}

#[test]
fn amounts_are_compared_within_a_language_and_not_across() {
    let shop = |is_wrong: bool| {
        product(move |locale, _, build| {
            let total = match (locale, build) {
                ("en-US", "new") if is_wrong => "text Total $12.00",
                ("en-US", _) => "text Total $21.00",
                (_, "new") if is_wrong => "text Summe 12,00 €",
                _ => "text Summe 21,00 €",
            };
            vec![screen(&["heading Cart", total])]
        })
    };
    assert_eq!(told(&compared(&shop(false))), []);
    let found = compared(&shop(true));
    let [cluster] = &found.clusters[..] else {
        panic!("{:?}", told(&found))
    };
    assert_eq!(cluster.place, "with build=new");
}

#[test]
fn a_failure_of_an_earlier_attempt_is_that_attempts() {
    let page = || vec![screen(&["heading Shop"])];
    let mut run = run(&[("n=1", page()), ("n=2", page())]);
    run.sessions[1].earlier = Some(EarlierFailure {
        attempt: 1,
        step: 1,
        message: "the server answered 503".to_owned(),
    });
    let found = compared(&run);
    assert_eq!(found.clusters[0].occurrences[0].attempt, Some(1));
}

#[test]
fn an_action_that_failed_is_compared_with_the_screen_before_it() {
    let home = || screen(&["heading Shop", "link Home", "link Reports", "button Go"]);
    let there = || {
        screen(&[
            "heading Reports",
            "table Sales",
            "button Print",
            "text 1 of 3",
        ])
    };
    let mut run = run(&[
        ("n=1", vec![home(), there()]),
        ("n=2", vec![home(), home()]),
    ]);
    let failed = &mut run.sessions[1];
    failed.outcome = OutcomeKind::Failed;
    failed.steps[1].status = StepStatus::Failed;
    failed.steps[1].message = "link \"Reports\" is there, but hidden by CSS".to_owned();
    let found = compared(&run);
    let [cluster] = &found.clusters[..] else {
        panic!("{:?}", told(&found))
    };
    assert_eq!(cluster.title, "link \"Reports\" is hidden by CSS");
    let difference = &found.differences[cluster.occurrences[0].difference.expect("a difference")];
    assert_eq!(
        (difference.against_step, difference.items.len()),
        (Some(1), 0)
    );
    assert_eq!(cluster.occurrences[0].nearest_step, Some(1));
}

#[test]
fn engines_words_for_one_error_are_one_and_hosts_out_of_reach_are_folded() {
    let page = || vec![screen(&["heading Shop"])];
    let cells = [
        "engine=chromium n=1",
        "engine=firefox n=1",
        "engine=chromium n=2",
        "engine=firefox n=2",
    ];
    let shown: Vec<_> = cells.iter().map(|values| (*values, page())).collect();
    let mut run = run(&shown);
    let words = ["net::ERR_NAME_NOT_RESOLVED", "NS_ERROR_UNKNOWN_HOST"];
    for session in &mut run.sessions {
        let place = session.cell;
        let step = &mut session.steps[0];
        step.failed_requests.push(FailedRequest {
            request: "GET fonts.example/a.css".to_owned(),
            host: Some("fonts.example".to_owned()),
            is_elsewhere: true,
            why: words[place % 2].to_owned(),
            is_answered: false,
        });
        if place >= 2 {
            step.console
                .push(["x is undefined", "undefined: x"][place % 2].to_owned());
            step.failed_requests.push(FailedRequest {
                request: "GET /api/stock".to_owned(),
                why: "500".to_owned(),
                is_answered: true,
                ..FailedRequest::default()
            });
        }
    }
    let found = compared(&run);
    let [cluster] = &found.clusters[..] else {
        panic!("{:?}", told(&found))
    };
    assert_eq!(cluster.kind, ClusterKind::Network);
    assert_eq!(cluster.title, "GET /api/stock answers 500, and 1 more");
    assert_eq!(
        (&cluster.cells[..], cluster.place.as_str()),
        (&[2, 3][..], "with n=2")
    );
    let lines: Vec<&str> = found
        .conventions
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(lines, ["fonts.example could not be reached (1 address)."]);
}

#[test]
fn platforms_are_compared_by_outcome_and_the_rest_is_one_line() {
    let phone = || vec![screen(&["text Shop", "button Cart"])];
    let page = || vec![screen(&["heading Shop", "link Cart"])];
    let found = compared(&run(&[
        ("platform=web n=1", page()),
        ("platform=ios n=1", phone()),
        ("platform=ios n=2", phone()),
    ]));
    assert_eq!(told(&found), []);
    assert_eq!(found.conventions.len(), 1, "{:?}", found.conventions);
    assert_eq!(found.conventions[0].by, "platform");
}

#[test]
fn load_is_no_cause_and_what_is_slow_again_and_again_is() {
    let slow = |starts: &dyn Fn(usize) -> u64| {
        let cells: Vec<String> = (0..24)
            .map(|n| format!("build={} n={n}", ["old", "new"][n % 2]))
            .collect();
        let shown: Vec<_> = cells
            .iter()
            .map(|values| (values.as_str(), vec![screen(&["heading Shop"])]))
            .collect();
        let mut run = run(&shown);
        for session in &mut run.sessions {
            let step = &mut session.steps[0];
            step.duration_ms = if session.cell % 2 == 1 { 3_000 } else { 400 };
            step.began_ms = Some(starts(session.cell));
        }
        compared(&run)
    };
    // All of the new build at once, and then the rest.
    assert_eq!(
        told(&slow(&|cell| (cell as u64 % 2) * 100_000 + cell as u64)),
        []
    );
    let found = slow(&|cell| cell as u64 * 4_000);
    assert_eq!(told(&found), [("Step 1 is slow: Step 1", "with build=new")]);
    assert_eq!(found.clusters[0].verdict, Verdict::Cause);
}
