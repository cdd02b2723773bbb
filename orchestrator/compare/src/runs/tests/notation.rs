//! Trees of other notations: what an older one excuses and what it does not, and that a newer one is no
//! pass.

use packtrain_drivers::{Hidden, HiddenBecause};
use packtrain_model::screen::NOTATION;

use super::*;

/// A run whose trees are changed.
fn with(run: &Run, change: impl Fn(&mut ScreenTree)) -> Run {
    let mut run = run.clone();
    let steps = run.sessions.iter_mut().flat_map(|one| &mut one.steps);
    for seen in steps.filter_map(|step| step.tree.as_mut()) {
        change(Arc::make_mut(&mut seen.tree));
    }
    run
}

fn in_notation(run: &Run, notation: u32) -> Run {
    with(run, |tree| tree.notation = notation)
}

fn approved(run: &Run) -> Kept {
    let mut kept = Kept::default();
    kept.approve(run, &Selection::default());
    kept
}

const ANEW: &str = "tree proposed 1 what the screen holds was approved in an older notation";

#[test]
fn a_baseline_of_an_older_notation_is_proposed_anew_and_approved() {
    let old = in_notation(&one(vec![step(1, "grey", "Shop")]), 1);
    let mut kept = approved(&old);
    assert_eq!(told(&kept.compared(&old)), Vec::<String>::new());

    let sale = with(&one(vec![step(1, "grey", "Sale")]), |tree| {
        tree.nodes.push(node("link", "Help"));
    });
    let compared = kept.compared(&sale);
    let renamed = "tree proposed 1 heading \"Shop\" is called \"Sale\"";
    assert_eq!(
        told(&compared),
        [renamed, "tree proposed 1 link \"Help\" is new"]
    );
    assert!(!compared.fails() && compared.is_whole());
    let detail = &compared.changes[0].detail;
    assert!(detail.contains("; written in notation 1"), "{detail}");
    let proposes = "The only cell is not as approved. 1 new baseline proposed.";
    assert_eq!(compared.sentence, proposes);

    // What is equal is proposed, too: or a change of tomorrow would be excused.
    let today = one(vec![step(1, "grey", "Shop")]);
    let compared = kept.compared(&today);
    assert_eq!(
        (told(&compared), compared.fails()),
        (vec![ANEW.into()], false)
    );
    assert_eq!(compared.sentence, proposes);
    kept.approve(&today, &Selection::default());
    assert_eq!(told(&kept.compared(&today)), Vec::<String>::new());
    assert!(kept.compared(&sale).fails());
}

#[test]
fn an_earlier_run_of_an_older_notation_excuses_trees_and_nothing_else() {
    let shop = |name: &str| one(vec![step(1, "grey", name)]);
    let old = in_notation(&shop("Shop"), 1);
    assert_eq!(told(&compared(&old, &shop("Shop"))), Vec::<String>::new());
    let sale = compared(&old, &shop("Sale"));
    assert_eq!(
        told(&sale),
        ["tree proposed 1 heading \"Shop\" is called \"Sale\""]
    );
    assert!(!sale.fails());
    assert!(compared(&in_notation(&shop("Shop"), NOTATION), &shop("Sale")).fails());
}

#[test]
fn an_older_notation_excuses_neither_pictures_nor_ends() {
    let old = in_notation(
        &one(vec![step(1, "grey", "Shop"), step(2, "grey", "Pay")]),
        1,
    );
    let mut run = one(vec![step(1, "dot at 9", "Shop"), step(2, "grey", "Pay")]);
    run.sessions[0].steps[0].defects = vec![packtrain_drivers::Defect {
        kind: packtrain_drivers::DefectKind::ScrollsSideways,
        element: "page".to_owned(),
        other: None,
        at: None,
        by: None,
    }];
    run.sessions[0].steps[1].status = StepStatus::Failed;
    run.sessions[0].steps[1].message = "no element".to_owned();
    run.sessions[0].outcome = OutcomeKind::Failed;
    for compared in [compared(&old, &run), approved(&old).compared(&run)] {
        let mut failing: Vec<_> = compared.changes.iter().filter(|one| one.fails).collect();
        failing.dedup_by_key(|one| one.kind);
        let kinds: Vec<_> = failing.iter().map(|one| one.kind.word()).collect();
        assert_eq!(kinds, ["outcome", "visual"], "{:?}", told(&compared));
        let defect = compared
            .changes
            .iter()
            .find(|one| one.kind == ChangeKind::Defect);
        assert_eq!(defect.unwrap().status, ChangeStatus::Proposed);
    }
}

#[test]
fn another_screen_by_an_older_notation_hides_nothing_that_follows() {
    let many = |role: &str, words: &str, picture: &str| {
        let steps = vec![step(1, "grey", "Shop"), step(2, picture, "Pay")];
        with(&one(steps), |tree| {
            tree.nodes = (words.chars())
                .map(|word| node(role, &word.to_string().repeat(5)))
                .collect();
        })
    };
    let old = in_notation(&many("text", "abcdefgh", "grey"), 1);
    let now = many("link", "qrstuvwx", "dot at 9");
    for compared in [compared(&old, &now), approved(&old).compared(&now)] {
        let told = told(&compared);
        assert!(
            told.contains(&"tree proposed 1 another screen".to_owned()),
            "{told:?}"
        );
        assert!(
            told.iter().any(|one| one.starts_with("visual changed 2")),
            "{told:?}"
        );
        assert!(compared.fails());
    }
}

#[test]
fn a_newer_notation_is_no_pass_and_no_baseline_and_says_what_to_do() {
    let today = one(vec![step(1, "grey", "Shop")]);
    let newer = in_notation(&today, NOTATION + 1);
    let older = in_notation(&today, NOTATION - 1);
    for (base, run, begin, end) in [
        (
            &newer,
            &today,
            "the base's screen was recorded by a newer",
            "update Packtrain",
        ),
        (
            &today,
            &newer,
            "its screen was recorded by a newer",
            "update Packtrain",
        ),
        (
            &newer,
            &newer,
            "its screen was recorded by a newer",
            "update Packtrain",
        ),
        (
            &today,
            &older,
            "its screen is in an older notation",
            "run it again with this Packtrain",
        ),
    ] {
        let mut kept = approved(&today);
        let notation = base.sessions[0].steps[0]
            .tree
            .as_ref()
            .unwrap()
            .tree
            .notation;
        for baseline in kept.0.values_mut() {
            Arc::make_mut(baseline.tree.as_mut().unwrap()).notation = notation;
        }
        for compared in [compared(base, run), kept.compared(run)] {
            let [why] = whys(&compared)[..] else {
                panic!("{:?}", whys(&compared))
            };
            assert!(why.starts_with(begin) && why.ends_with(end), "{why}");
            assert!(!compared.is_whole() && told(&compared).is_empty());
        }
        // What differs beside it takes nothing over.
        let mut dotted = run.clone();
        dotted.sessions[0].steps[0].picture = step(1, "dot at 9", "").picture;
        let plan = kept.approve(&dotted, &Selection::default());
        assert_eq!((plan.approvals.len(), plan.refusals.len()), (0, 1));
        assert!(
            plan.refusals[0].why.starts_with(begin),
            "{:?}",
            plan.refusals
        );
    }
    let plan = Kept::default().approve(&newer, &Selection::default());
    assert_eq!((plan.approvals.len(), plan.refusals.len()), (0, 1));
}

#[test]
fn what_is_hidden_is_not_compared_and_not_approved() {
    let plain = one(vec![step(1, "grey", "Shop")]);
    let hiding = with(&plain, |tree| {
        tree.hidden.push(Hidden {
            element: "link \"Basket\"".to_owned(),
            why: HiddenBecause::Closed,
            behind: Some("button \"Menu\"".to_owned()),
        });
    });
    for (one, other) in [(&plain, &hiding), (&hiding, &plain)] {
        assert_eq!(told(&compared(one, other)), Vec::<String>::new());
        assert_eq!(told(&approved(one).compared(other)), Vec::<String>::new());
    }
    let (with, without) = (approved(&hiding), approved(&plain));
    let digests = |kept: &Kept| -> Vec<_> {
        let trees = kept.0.values();
        trees
            .map(|one| (one.entry.tree.clone(), one.tree.clone()))
            .collect()
    };
    assert_eq!(digests(&with), digests(&without));
}
