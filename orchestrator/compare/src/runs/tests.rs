//! What comparing runs promises, on runs made of plain data.

mod notation;

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_model::screen::{ScreenNode, ScreenTree};

use super::approve::{Plan, Selection, plan};
use super::history::{Past, PastOutcome, Trend, histories};
use super::names::{engine, is_another_major, key, step_ids};
use super::{
    Approved, ChangeKind, ChangeStatus, RunComparison, Stored, compare, compare_with_baselines,
    steps,
};
use crate::answer::{Step as TrailStep, Trail};
use crate::input::{
    Cell, EarlierFailure, OutcomeKind, Run, SeenPicture, SeenTree, Session, Step, StepStatus,
};
use crate::picture::Picture;

const ALL: &[ChangeKind] = &ChangeKind::ALL;

/// A picture of one colour with a dot, as a PNG; `digest` says which: `grey`, `dot at 7`.
fn png(digest: &str) -> Option<Vec<u8>> {
    let picture = picture(digest);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&picture.rgba).unwrap();
    writer.finish().unwrap();
    Some(bytes)
}

fn picture(digest: &str) -> Picture {
    let mut rgba = [90, 90, 90, 255].repeat(64 * 64);
    if let Some(at) = digest.strip_prefix("dot at ") {
        let at: usize = at.parse().unwrap();
        for (y, x) in (0..6).flat_map(|y| (0..6).map(move |x| (y, x))) {
            let place = ((at + y) * 64 + at + x) * 4;
            rgba[place..place + 3].copy_from_slice(&[250, 0, 0]);
        }
    }
    Picture {
        width: 64,
        height: 64,
        rgba,
    }
}

fn node(role: &str, name: &str) -> ScreenNode {
    ScreenNode {
        role: role.to_owned(),
        name: name.to_owned(),
        bounds: Some([0, 0, 64, 64]),
        ..ScreenNode::default()
    }
}

fn step(number: u32, picture: &str, name: &str) -> Step {
    let tree = ScreenTree {
        width: 64.0,
        height: 64.0,
        nodes: vec![node("heading", name), node("button", "Buy")],
        ..ScreenTree::default()
    };
    Step {
        step: number,
        status: StepStatus::Passed,
        duration_ms: 100,
        tree: Some(SeenTree {
            digest: name.to_owned(),
            tree: Arc::new(tree),
        }),
        picture: Some(SeenPicture {
            digest: picture.to_owned(),
            scale: 1.0,
            masked: Vec::new(),
        }),
        ..Step::default()
    }
}

fn session(cell: usize, steps: Vec<Step>) -> Session {
    Session {
        id: "s1".to_owned(),
        cell,
        outcome: OutcomeKind::Passed,
        steps,
        ..Session::default()
    }
}

/// A run of one trail with these words in one cell for each device.
fn run(words: &[&str], devices: &[&str], sessions: Vec<Session>) -> Run {
    let steps = words.iter().zip(1..).map(|(text, step)| TrailStep {
        step,
        text: (*text).to_owned(),
    });
    let cells = devices.iter().map(|device| Cell {
        device: (*device).to_owned(),
        visual_key: format!("web-{}-64x64@1", device.replace('/', "-")),
        engine: "Chromium 142.0.1".to_owned(),
        ..Cell::default()
    });
    Run {
        run: "r".to_owned(),
        packtrain: "0".to_owned(),
        planned: sessions.len(),
        trails: vec![Trail {
            name: "shop".to_owned(),
            path: "shop.trail.yaml".to_owned(),
            steps: steps.collect(),
            ..Trail::default()
        }],
        cells: cells.collect(),
        sessions,
        ..Run::default()
    }
}

fn one(steps: Vec<Step>) -> Run {
    run(&["Open", "Pay"], &["web/a"], vec![session(0, steps)])
}

fn compared(base: &Run, run: &Run) -> RunComparison {
    compare((base, &mut png), (run, &mut png), ALL)
}

/// Why what could not be compared could not.
fn whys(compared: &RunComparison) -> Vec<&str> {
    let unknown = compared.not_compared.iter();
    unknown.map(|one| one.why.as_str()).collect()
}

/// Changes as `kind status step title`.
fn told(compared: &RunComparison) -> Vec<String> {
    let changes = compared.changes.iter();
    let told = changes.map(|change| {
        let step = change.step.unwrap_or_default();
        let status = format!("{:?}", change.status).to_lowercase();
        format!("{} {status} {step} {}", change.kind.word(), change.title)
    });
    told.collect()
}

/// Baselines in memory.
#[derive(Default)]
struct Kept(BTreeMap<(String, String), Approved>);

impl Kept {
    fn get(&self) -> impl FnMut(&str, &str, &str) -> Stored + '_ {
        |_, step, key| match self.0.get(&(step.to_owned(), key.to_owned())) {
            Some(approved) => Stored::Approved(Box::new(approved.clone())),
            None => Stored::Missing,
        }
    }

    fn compared(&self, run: &Run) -> RunComparison {
        compare_with_baselines((run, &mut png), &mut self.get(), ALL)
    }

    fn approve(&mut self, run: &Run, selection: &Selection) -> Plan {
        let compared = self.compared(run);
        let plan = plan((run, &mut png), &mut self.get(), &compared, selection);
        for approval in plan.approvals.clone() {
            let webp = approval.picture.to_webp().unwrap();
            let approved = Approved {
                entry: approval.entry,
                picture: Picture::from_webp(&webp).unwrap(),
                tree: approval.tree,
            };
            self.0.insert((approval.step_id, approval.key), approved);
        }
        plan
    }
}

#[test]
fn pixels_are_the_same_after_webp() {
    for digest in ["grey", "dot at 3", "dot at 50"] {
        let picture = picture(digest);
        assert_eq!(
            Picture::from_webp(&picture.to_webp().unwrap()).unwrap(),
            picture
        );
    }
    let mut clear = picture("dot at 9");
    clear.rgba[3] = 7;
    assert_eq!(
        Picture::from_webp(&clear.to_webp().unwrap()).unwrap(),
        clear
    );
    let webp = clear.to_webp().unwrap();
    for length in 0..webp.len() {
        // Cut short it is refused, and never a panic.
        drop(Picture::from_webp(&webp[..length]));
    }
    Picture::default().to_webp().unwrap_err();
}

#[test]
fn names_of_steps_stay_when_others_are_added_and_lead_nowhere() {
    assert_eq!(step_ids(["Open the shop", "Pay"]), ["open-the-shop", "pay"]);
    let more = step_ids(["Say hello", "Open the shop", "Look", "Pay"]);
    assert_eq!(
        (more[1].as_str(), more[3].as_str()),
        ("open-the-shop", "pay")
    );
    assert_eq!(step_ids(["Pay", "Pay 2", "Pay"]), ["pay", "pay-2", "pay-3"]);
    let long = "word ".repeat(60);
    for id in step_ids([
        "../../etc/passwd",
        "",
        "..",
        "/",
        "Über die Straße",
        long.as_str(),
    ]) {
        assert!(id.chars().all(|c| c.is_alphanumeric() || c == '-'), "{id}");
        assert!(!id.is_empty() && id.len() < 100, "{id}");
    }
}

#[test]
fn keys_of_cells_have_no_versions_and_lead_nowhere() {
    let cell = |visual_key: &str, engine: &str, values: &[(&str, &str)]| Cell {
        visual_key: visual_key.to_owned(),
        engine: engine.to_owned(),
        values: values
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Cell::default()
    };
    let android = cell("android-Android 15-411x914@2", "Android 15", &[]);
    assert_eq!(key(&android), "android-Android-411x914@2");
    let flag = cell("web-chromium-1x1@1", "Chromium 9", &[("flag.cart", "on")]);
    assert_eq!(key(&flag), "web-chromium-1x1@1-flag.cart=on");
    let hostile = key(&cell("../../x", "", &[("a", "/etc/passwd")]));
    assert!(
        !hostile.contains('/') && !hostile.starts_with('.'),
        "{hostile}"
    );
    assert_eq!(key(&cell("", "Chromium 9", &[])), "");
    assert_eq!(engine("Chromium 142.0.7"), ("Chromium", Some(142)));
    assert!(is_another_major("Chromium 141.0", "Chromium 142.0"));
    assert!(!is_another_major("Chromium 142.0", "Chromium 142.9"));
    assert!(!is_another_major("", "Chromium 142.9"));
}

#[test]
fn steps_are_aligned_by_their_words() {
    assert_eq!(steps::align(&["a", "b"], &["a", "b"]), [Some(0), Some(1)]);
    assert_eq!(
        steps::align(&["a", "b", "c"], &["a", "x", "c"]),
        [Some(0), None, Some(2)]
    );
    assert_eq!(steps::align(&[], &["a"]), [None]);
}

#[test]
fn equal_runs_are_as_before() {
    let run = one(vec![step(1, "grey", "Shop"), step(2, "dot at 9", "Shop")]);
    let compared = compared(&run, &run);
    assert_eq!(told(&compared), Vec::<String>::new());
    assert_eq!(compared.sentence, "The only cell is as before.");
    assert_eq!((compared.cells, compared.steps), (1, 2));
}

#[test]
fn trees_pictures_and_ends_are_told_apart() {
    let base = one(vec![step(1, "grey", "Shop"), step(2, "grey", "Shop")]);
    let mut run = one(vec![step(1, "dot at 9", "Sale"), step(2, "grey", "Shop")]);
    run.sessions[0].steps[1].status = StepStatus::Failed;
    run.sessions[0].steps[1].message = "no element".to_owned();
    run.sessions[0].outcome = OutcomeKind::Failed;
    assert_eq!(
        told(&compared(&base, &run)),
        [
            "outcome changed 2 newly failing: no element",
            "tree changed 1 heading \"Shop\" is called \"Sale\"",
            "visual changed 1 heading \"Sale\" looks different",
        ]
    );
    let back = compared(&run, &base);
    assert!(told(&back).contains(&"outcome fixed 0 newly fixed: no element".to_owned()));
    assert_eq!(back.not_compared[0].why, "the base did not get that far");
}

#[test]
fn what_says_nothing_of_the_app_is_never_as_before() {
    let base = one(vec![step(1, "grey", "Shop")]);
    for outcome in [
        OutcomeKind::Infrastructure,
        OutcomeKind::Cancelled,
        OutcomeKind::Unfinished,
        OutcomeKind::NeedsAgent,
    ] {
        let mut run = base.clone();
        run.sessions[0].outcome = outcome;
        for (one, other) in [(&base, &run), (&run, &base)] {
            let compared = compared(one, other);
            assert_eq!((compared.cells, compared.not_compared.len()), (0, 1));
        }
    }
    let nothing = one(vec![Step {
        step: 1,
        status: StepStatus::Passed,
        ..Step::default()
    }]);
    assert_eq!(compared(&base, &nothing).not_compared.len(), 1);
    let elsewhere = run(&["Open"], &["web/b"], vec![session(0, Vec::new())]);
    assert_eq!(compared(&base, &elsewhere).not_compared.len(), 1);
}

#[test]
fn a_picture_that_is_gone_or_no_picture_is_no_pass() {
    let base = one(vec![step(1, "grey", "Shop")]);
    let mut gone = |_: &str| None;
    let run = compare((&base, &mut png), (&base, &mut gone), ALL);
    assert_eq!(whys(&run), ["its picture cannot be read"]);
    let mut torn = |_: &str| Some(b"no picture".to_vec());
    let before = compare((&base, &mut torn), (&base, &mut png), ALL);
    assert_eq!(whys(&before), ["the base's picture cannot be read"]);
    let both = compare((&base, &mut |_: &str| None), (&base, &mut gone), ALL);
    assert_eq!(both.not_compared.len(), 2, "{both:?}");
    assert_eq!(
        both.sentence,
        "The only cell is not as before. 2 not compared."
    );
}

#[test]
fn a_tree_that_is_gone_is_no_pass() {
    let good = one(vec![step(1, "grey", "Shop")]);
    let mut lost = good.clone();
    lost.sessions[0].steps[0].tree = None;
    lost.sessions[0].steps[0].is_unreadable = true;
    let (before, now) = (
        "the base's screen cannot be read",
        "its screen cannot be read",
    );
    assert_eq!(whys(&compared(&lost, &good)), [before]);
    assert_eq!(whys(&compared(&good, &lost)), [now]);
    assert_eq!(whys(&compared(&lost, &lost)), [before, now]);
    // With no picture, too, it was looked at.
    lost.sessions[0].steps[0].picture = None;
    let all = compared(&lost, &lost);
    assert_eq!((whys(&all), all.steps), (vec![before, now], 1));
    // A baseline without a tree would pass whatever the screen holds.
    let mut lost = good;
    lost.sessions[0].steps[0].tree = None;
    lost.sessions[0].steps[0].is_unreadable = true;
    let plan = Kept::default().approve(&lost, &Selection::default());
    assert_eq!((plan.approvals.len(), plan.refusals.len()), (0, 1));
}

#[test]
fn what_only_one_side_recorded_is_no_pass() {
    let both = one(vec![step(1, "grey", "Shop")]);
    let (mut no_tree, mut no_picture) = (both.clone(), both.clone());
    no_tree.sessions[0].steps[0].tree = None;
    no_picture.sessions[0].steps[0].picture = None;
    for half in [&no_tree, &no_picture] {
        assert_eq!(compared(half, &both).not_compared.len(), 1);
        assert_eq!(compared(&both, half).not_compared.len(), 1);
        // Neither had it to compare.
        assert_eq!(whys(&compared(half, half)), Vec::<&str>::new());
    }
}

#[test]
fn repeats_whose_pictures_cannot_be_read_are_no_pass_and_their_trees_are_compared() {
    let repeats = |pictures: [&str; 2], name: &str| {
        let sessions = pictures.map(|picture| session(0, vec![step(1, picture, name)]));
        run(&["Open"], &["web/a"], sessions.to_vec())
    };
    let base = repeats(["grey", "grey"], "Shop");
    let now = repeats(["grey", "torn"], "Sale");
    let mut some = |digest: &str| png(digest).filter(|_| digest != "torn");
    let why = ["a picture of its repeats cannot be read"];
    for (was, is) in [(&base, &now), (&now, &base)] {
        let compared = compare((was, &mut some.clone()), (is, &mut some), ALL);
        assert_eq!(whys(&compared), why);
        assert_eq!(told(&compared).len(), 1, "{:?}", told(&compared));
    }
}

#[test]
fn a_step_that_was_not_observed_is_no_pass() {
    let seen = one(vec![step(1, "grey", "Shop"), step(2, "grey", "Pay")]);
    let mut half = seen.clone();
    half.sessions[0].steps[1].tree = None;
    half.sessions[0].steps[1].picture = None;
    let why = ["the step was not observed"];
    let against = compared(&seen, &half);
    assert_eq!(whys(&against), why);
    assert_eq!(against.not_compared[0].step, Some(2));
    // Neither run knows what it held.
    assert_eq!(whys(&compared(&half, &half)), why);
    let mut kept = Kept::default();
    kept.approve(&seen, &Selection::default());
    assert_eq!(whys(&kept.compared(&half)), why);
    // Nobody approved what it holds.
    let mut kept = Kept::default();
    kept.approve(&half, &Selection::default());
    assert_eq!(whys(&kept.compared(&half)), Vec::<&str>::new());
}

#[test]
fn a_cell_that_was_never_looked_at_is_no_pass_and_is_told_once() {
    let blind = |run: &Run| {
        let mut run = run.clone();
        for step in &mut run.sessions[0].steps {
            (step.tree, step.picture) = (None, None);
        }
        run
    };
    let passed = one(vec![step(1, "grey", "Shop"), step(2, "grey", "Pay")]);
    let why = ["no screen was recorded"];
    assert_eq!(whys(&compared(&passed, &blind(&passed))), why);
    assert_eq!(whys(&compared(&blind(&passed), &blind(&passed))), why);
    let mut failed = passed;
    failed.sessions[0].outcome = OutcomeKind::Failed;
    failed.sessions[0].steps[1].status = StepStatus::Failed;
    assert_eq!(whys(&compared(&failed, &blind(&failed))), why);
    // Only failures were observed, and they are equal.
    let all = compared(&blind(&failed), &blind(&failed));
    assert_eq!(whys(&all), Vec::<&str>::new());
}

#[test]
fn what_still_fails_in_a_repeat_is_not_fixed() {
    let good = session(0, vec![step(1, "grey", "Shop")]);
    let mut bad = good.clone();
    bad.outcome = OutcomeKind::Failed;
    bad.steps[0].status = StepStatus::Failed;
    bad.steps[0].message = "no element".to_owned();
    let cell = |sessions: &[&Session]| {
        let sessions = sessions.iter().map(|one| (*one).clone());
        run(&["Open"], &["web/a"], sessions.collect())
    };
    let failing = cell(&[&bad, &bad]);
    let at_times = compared(&failing, &cell(&[&good, &bad]));
    assert_eq!(
        told(&at_times),
        ["outcome changed 1 still fails at times: no element"]
    );
    assert!(at_times.fails());
    let fixed = compared(&failing, &cell(&[&good, &good]));
    assert_eq!(told(&fixed), ["outcome fixed 0 newly fixed: no element"]);
}

#[test]
fn cells_that_are_gone_are_counted_and_no_pass() {
    let of = |cell| session(cell, vec![step(1, "grey", "Shop")]);
    let devices = ["web/a", "web/b", "web/c", "web/d"];
    let base = run(&["Open"], &devices, (0..4).map(of).collect());
    let after = |cells: usize| run(&["Open"], &devices[..cells], (0..cells).map(of).collect());
    let sentence = |run: &Run| {
        let compared = compared(&base, run);
        assert_eq!(compared.is_whole(), run.cells.len() == 4);
        compared.sentence
    };
    assert_eq!(
        sentence(&after(2)),
        "2 of 4 cells are as before; 2 removed."
    );
    assert_eq!(
        sentence(&after(3)),
        "3 of 4 cells are as before; 1 removed."
    );
    assert_eq!(sentence(&after(4)), "All 4 cells are as before.");
    let mut trails = base.clone();
    trails.trails.push(Trail {
        name: "cart".to_owned(),
        path: "cart.trail.yaml".to_owned(),
        ..trails.trails[0].clone()
    });
    // The trail is there, and the cell is, but not that trail in that cell.
    let mut fewer = trails.clone();
    trails.sessions.extend([0, 1].map(|cell| Session {
        trail: 1,
        ..of(cell)
    }));
    fewer.sessions.push(Session { trail: 1, ..of(0) });
    let compared = compared(&trails, &fewer);
    assert_eq!(compared.gone, ["cart on web/b"]);
    assert!(!compared.is_whole());
    assert_eq!(compared.sentence, "5 of 6 cells are as before; 1 removed.");
    let whole = compare((&trails, &mut png), (&base, &mut png), ALL);
    assert_eq!(whole.gone, ["cart"]);
    assert!(!whole.is_whole());
    assert_eq!(whole.sentence, "4 of 6 cells are as before; 2 removed.");
}

#[test]
fn what_differs_between_repeats_is_left_out_and_no_baseline() {
    let repeats = |pictures: [&str; 2]| {
        let sessions = pictures.map(|picture| session(0, vec![step(1, picture, "Shop")]));
        run(&["Open"], &["web/a"], sessions.to_vec())
    };
    let noisy = repeats(["grey", "dot at 9"]);
    let base = run(
        &["Open"],
        &["web/a"],
        vec![session(0, vec![step(1, "dot at 9", "Shop")])],
    );
    assert_eq!(told(&compared(&base, &noisy)), Vec::<String>::new());
    let plan = Kept::default().approve(&noisy, &Selection::default());
    assert!(plan.approvals.is_empty());
    assert!(
        plan.refusals[0].why.starts_with("noisy: "),
        "{:?}",
        plan.refusals
    );
}

#[test]
fn flaky_failed_and_broken_cells_are_no_baselines() {
    let good = one(vec![step(1, "grey", "Shop")]);
    let mut flaky = good.clone();
    flaky.sessions[0].earlier = Some(EarlierFailure::default());
    let mut mixed = good.clone();
    mixed.sessions.push(Session {
        outcome: OutcomeKind::Failed,
        ..session(0, Vec::new())
    });
    let mut broken = good.clone();
    broken.sessions[0].outcome = OutcomeKind::Infrastructure;
    for run in [flaky, mixed, broken] {
        let plan = Kept::default().approve(&run, &Selection::default());
        assert_eq!((plan.approvals.len(), plan.refusals.len()), (0, 1));
    }
}

#[test]
fn an_approval_makes_the_next_comparison_pass() {
    let mut kept = Kept::default();
    let before = one(vec![step(1, "grey", "Shop"), step(2, "grey", "Pay")]);
    assert_eq!(kept.compared(&before).changes[0].status, ChangeStatus::New);
    assert!(kept.compared(&before).fails());
    kept.approve(&before, &Selection::default());
    assert_eq!(told(&kept.compared(&before)), Vec::<String>::new());

    let after = one(vec![
        step(1, "dot at 9", "Shop"),
        step(2, "dot at 9", "Pay"),
    ]);
    assert_eq!(kept.compared(&after).changes.len(), 2);
    let first = Selection {
        steps: vec![1],
        ..Selection::default()
    };
    assert_eq!(kept.approve(&after, &first).approvals.len(), 1);
    assert_eq!(kept.compared(&after).changes.len(), 1);

    // Another major version of the engine may be why it differs.
    let mut newer = one(vec![step(1, "grey", "Shop"), step(2, "grey", "Pay")]);
    newer.cells[0].engine = "Chromium 143.0.0".to_owned();
    let compared = kept.compared(&newer);
    assert_eq!(
        told(&compared),
        ["visual proposed 1 heading \"Shop\" looks different"]
    );
    assert!(!compared.fails());
}

#[test]
fn what_a_session_remembers_is_no_change_of_its_baseline() {
    let with = |user: &str| {
        let mut run = one(vec![step(1, "grey", &format!("Hello {user}"))]);
        run.sessions[0].memory = vec![("user".to_owned(), user.to_owned())];
        run
    };
    let mut kept = Kept::default();
    kept.approve(&with("Ada Lovelace"), &Selection::default());
    assert_eq!(
        told(&kept.compared(&with("Grace Hopper"))),
        Vec::<String>::new()
    );
}

#[test]
fn two_cells_with_one_baseline_must_look_alike() {
    let sessions = vec![
        session(0, vec![step(1, "grey", "Shop")]),
        session(1, vec![step(1, "dot at 9", "Shop")]),
    ];
    let mut run = run(&["Open"], &["web/a", "web/b"], sessions);
    run.cells[1].visual_key = run.cells[0].visual_key.clone();
    let plan = Kept::default().approve(&run, &Selection::default());
    assert_eq!((plan.approvals.len(), plan.refusals.len()), (1, 1));
}

#[test]
fn slow_is_twice_the_median_half_a_second_more_and_known_from_five_or_a_repeat() {
    let took = |all: &[u64]| {
        let sessions = all.iter().map(|ms| {
            let mut step = step(1, "grey", "Shop");
            step.duration_ms = *ms;
            session(0, vec![step])
        });
        run(&["Open"], &["web/a"], sessions.collect())
    };
    let slow = |before: &[u64], now: &[u64]| told(&compared(&took(before), &took(now))).len();
    assert_eq!(slow(&[400; 5], &[1000]), 1);
    assert_eq!(slow(&[400; 4], &[1000]), 0);
    assert_eq!(slow(&[400], &[1000, 1000]), 1);
    assert_eq!(slow(&[400], &[1000, 500]), 0);
    assert_eq!(slow(&[400; 5], &[900]), 0);
    assert_eq!(slow(&[900; 5], &[1700]), 0);
}

#[test]
fn equal_changes_have_one_letter_and_new_ones_come_behind_failures() {
    let sessions = |picture: &str| {
        let of = |cell| session(cell, vec![step(1, picture, "Shop")]);
        vec![of(0), of(1)]
    };
    let devices = ["web/a", "web/b"];
    let base = run(&["Open"], &devices, sessions("grey"));
    let after = run(&["Open"], &devices, sessions("dot at 9"));
    let compared = compared(&base, &after);
    let letters: Vec<_> = compared
        .changes
        .iter()
        .map(|one| one.letter.as_str())
        .collect();
    assert_eq!(letters, ["A", "A"]);
    assert_eq!(compared.sentence, "0 of 2 cells are as before. 1 change.");
    assert_eq!(compared.clusters().len(), 1);
}

#[test]
fn histories_say_what_is_new_how_flaky_and_how_much_slower() {
    use PastOutcome::{Failed, Flaky, Passed, Unknown};
    let history = |newest_first: &[(PastOutcome, u64)]| {
        let past = newest_first.iter().map(|(went, duration_ms)| Past {
            trail: "shop".to_owned(),
            cell: "web/a".to_owned(),
            went: *went,
            duration_ms: *duration_ms,
            ..Past::default()
        });
        histories(&past.collect::<Vec<_>>()).remove(0)
    };
    assert_eq!(
        history(&[(Failed, 9), (Passed, 9)]).trend,
        Trend::NewlyFailing
    );
    assert_eq!(
        history(&[(Passed, 9), (Failed, 9)]).trend,
        Trend::NewlyFixed
    );
    assert_eq!(
        history(&[(Failed, 9), (Unknown, 9), (Failed, 9)]).trend,
        Trend::Failing
    );
    assert_eq!(history(&[(Unknown, 9)]).trend, Trend::Unknown);
    let usual = [
        (Passed, 100),
        (Passed, 120),
        (Flaky, 110),
        (Passed, 90),
        (Passed, 100),
    ];
    let slower = history(&[&[(Passed, 300)][..], &usual, &[(Passed, 9_000)]].concat());
    assert_eq!(slower.slower_by_ms(), Some(200));
    assert_eq!((slower.runs, slower.flaky), (7, 1));
    assert!((slower.flake_rate - 1.0 / 7.0).abs() < 1e-9);
    assert_eq!(history(&[(Failed, 300), (Passed, 9)]).slower_by_ms(), None);
}
