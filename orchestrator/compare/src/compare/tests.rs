mod recipes;

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_model::screen::{ScreenNode, ScreenTree};

use crate::answer::{Comparison, Step as TrailStep, Trail};
use crate::input::{Cell, OutcomeKind, Run, SeenTree, Session, Step, StepStatus};

/// A screen of eight elements that begin with a word, of a role that no other screen has.
fn screen(word: &str) -> Option<SeenTree> {
    let role = match word {
        "home" => "text",
        "cart" => "listitem",
        "thanks" => "heading",
        _ => "link",
    };
    let nodes = (0..8).map(|number| ScreenNode {
        role: role.to_owned(),
        name: format!(
            "{word} {}",
            ["a", "b", "c", "d", "e", "f", "g", "h"][number]
        ),
        ..ScreenNode::default()
    });
    Some(SeenTree {
        digest: word.to_owned(),
        tree: Arc::new(ScreenTree {
            nodes: nodes.collect(),
            ..ScreenTree::default()
        }),
    })
}

/// A run of two cells that passed, with what each showed at its steps.
fn compared(light: [Option<SeenTree>; 4], dark: [Option<SeenTree>; 4]) -> Comparison {
    let cell = |scheme: &str| Cell {
        device: "web/a".to_owned(),
        values: BTreeMap::from([("colorScheme".to_owned(), scheme.to_owned())]),
        ..Cell::default()
    };
    let session = |cell: usize, screens: [Option<SeenTree>; 4]| Session {
        id: format!("s{cell}"),
        cell,
        outcome: OutcomeKind::Passed,
        steps: (0..)
            .zip(screens)
            .map(|(step, tree)| Step {
                step,
                status: StepStatus::Passed,
                tree,
                ..Step::default()
            })
            .collect(),
        ..Session::default()
    };
    let run = Run {
        planned: 2,
        trails: vec![Trail {
            name: "t".to_owned(),
            steps: (0..4)
                .map(|step| TrailStep {
                    step,
                    text: format!("Step {step}"),
                })
                .collect(),
            ..Trail::default()
        }],
        cells: vec![cell("light"), cell("dark")],
        sessions: vec![session(0, light), session(1, dark)],
        ..Run::default()
    };
    super::compare(&run, &mut |_: &str| None)
}

fn titles(comparison: &Comparison) -> Vec<&str> {
    let clusters = comparison.clusters.iter();
    clusters.map(|cluster| cluster.title.as_str()).collect()
}

#[test]
fn a_wrong_screen_is_told_though_the_next_is_right_again() {
    let usual = || ["home", "cart", "thanks", "home"].map(screen);
    let wrong = ["home", "error", "thanks", "home"].map(screen);
    let found = compared(usual(), wrong);
    assert!(
        titles(&found)
            .iter()
            .any(|title| title.contains("Another screen at step 1")),
        "{:?}",
        titles(&found)
    );
    let stuck = compared(usual(), ["home", "cart", "thanks", "thanks"].map(screen));
    assert_eq!(titles(&stuck).len(), 1, "{:?}", titles(&stuck));
}

#[test]
fn a_screen_that_was_looked_at_a_moment_too_early_is_no_difference() {
    let found = compared(
        ["home", "cart", "thanks", "home"].map(screen),
        ["home", "home", "thanks", "home"].map(screen),
    );
    assert_eq!(titles(&found), [""; 0]);
    assert_eq!(found.sentence, "Both passed.");
}

#[test]
fn what_nobody_looked_at_is_not_called_the_same() {
    let usual = ["home", "cart", "thanks", "home"].map(screen);
    let found = compared(usual, [None, None, None, None]);
    assert_eq!(found.sentence, "Both passed.");
    assert_eq!(found.not_compared.len(), 1);
}
