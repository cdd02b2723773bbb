use proptest::prelude::*;

use super::*;

type Values = BTreeMap<String, String>;

/// A matrix of the axes that most have, and the facts that follow from them.
fn names() -> Vec<Name> {
    let name = |name: &str, ordered, is_axis| Name {
        name: name.to_owned(),
        ordered,
        is_axis,
    };
    vec![
        name("engine", false, true),
        name("viewport", true, true),
        name("locale", false, true),
        name("colorScheme", false, true),
        name("fontScale", true, true),
        name("build", false, true),
        name("platform", false, false),
        name("width", true, false),
        name("orientation", false, false),
        name("browser", false, false),
    ]
}

/// Cells drawn so that axes are mixed: the cell's number in a mixed radix, scrambled.
fn cells(count: usize) -> Vec<Values> {
    let axes: [(&str, &[&str]); 6] = [
        ("engine", &["chromium", "firefox"]),
        ("viewport", &["390x844", "768x1024", "1280x800"]),
        ("locale", &["de", "en"]),
        ("colorScheme", &["dark", "light"]),
        ("fontScale", &["1", "1.3"]),
        ("build", &["new", "old"]),
    ];
    (0..count)
        .map(|cell| {
            // 96 is the whole product and 35 has no factor in common with it.
            let mut rest = (cell * 35 + 11) % 96;
            let mut values = Values::new();
            for (axis, of) in axes {
                values.insert(axis.to_owned(), of[rest % of.len()].to_owned());
                rest /= of.len();
            }
            let (width, height) = values["viewport"].split_once('x').expect("a size");
            let wide = width.len() > height.len();
            let derived = [
                ("platform", "web".to_owned()),
                ("width", width.to_owned()),
                (
                    "orientation",
                    if wide { "landscape" } else { "portrait" }.to_owned(),
                ),
                ("browser", values["engine"].clone()),
            ];
            for (name, value) in derived {
                values.insert(name.to_owned(), value);
            }
            values
        })
        .collect()
}

fn judge(cells: &[Values], bad: impl Fn(&Values) -> CellVerdict) -> Finding {
    let standings = cells.iter().map(bad).collect();
    let table = Table::new(&names(), cells);
    table
        .judge(&[(ClusterKind::Failure, standings)])
        .pop()
        .expect("a finding")
}

fn when(is_bad: bool) -> CellVerdict {
    if is_bad {
        CellVerdict::Bad
    } else {
        CellVerdict::Good
    }
}

#[test]
fn one_value_at_12_cells_is_named() {
    let found = judge(&cells(12), |cell| when(cell["locale"] == "de"));
    assert_eq!(found.verdict, Verdict::Cause, "{}", found.words);
    assert_eq!(
        found.words,
        "Fails on **all 6 of 6** cells with locale=de, on **none of 6** others."
    );
}

#[test]
fn two_values_at_24_cells_are_named_with_the_widths_that_were_tested() {
    let found = judge(&cells(24), |cell| {
        when(cell["locale"] == "de" && cell["width"] == "390")
    });
    assert_eq!(found.verdict, Verdict::Cause, "{}", found.words);
    assert_eq!(
        found.words,
        "Fails on **all 4 of 4** cells with locale=de and width at 390 and below, on **none of 20** others; the next width tested is 768."
    );
    assert!(found.explanations[0].chance < 0.05);
}

#[test]
fn three_values_at_60_cells_are_named_with_their_counts() {
    let found = judge(&cells(60), |cell| {
        when(cell["locale"] == "de" && cell["width"] == "390" && cell["engine"] == "firefox")
    });
    assert_eq!(found.verdict, Verdict::Cause, "{}", found.words);
    let explanation = &found.explanations[0];
    let facts: Vec<&str> = explanation.all_of.iter().map(|l| l.fact.as_str()).collect();
    assert_eq!(facts, ["engine", "locale", "width"]);
    assert_eq!((explanation.bad, explanation.good), (5.0, 0.0));
    assert_eq!((explanation.bad_of, explanation.good_of), (5, 55));
}

#[test]
fn two_causes_are_told_as_two() {
    let found = judge(&cells(60), |cell| {
        let one = cell["locale"] == "de" && cell["width"] == "390";
        when(one || cell["engine"] == "firefox" && cell["fontScale"] == "1.3")
    });
    assert_eq!(found.verdict, Verdict::Cause, "{}", found.words);
    assert_eq!(found.explanations.len(), 2);
    assert!(found.words.contains("locale=de and width at 390 and below"));
    assert!(
        found
            .words
            .contains("engine=firefox and fontScale at 1.3 and above")
    );
}

#[test]
fn four_cells_are_too_few_to_say() {
    let mut four = cells(96);
    four.retain(|cell| {
        cell["width"] == "390"
            && cell["fontScale"] == "1"
            && cell["build"] == "new"
            && cell["colorScheme"] == "dark"
    });
    assert_eq!(four.len(), 4);
    let found = judge(&four, |cell| when(cell["locale"] == "de"));
    assert_eq!(found.verdict, Verdict::Weak, "{}", found.words);
    assert!(
        found.words.ends_with("4 cells are too few to be sure."),
        "{}",
        found.words
    );
}

#[test]
fn one_cell_says_nothing_and_all_cells_say_so() {
    let mut first = true;
    let first = std::cell::RefCell::new(&mut first);
    let found = judge(&cells(12), |_| when(std::mem::take(*first.borrow_mut())));
    assert_eq!(found.verdict, Verdict::Single);
    assert_eq!(
        found.words,
        "Only this cell failed; that is all one can say."
    );
    let found = judge(&cells(12), |_| CellVerdict::Bad);
    assert_eq!(found.verdict, Verdict::Everywhere);
    assert_eq!(found.words, "Fails on **all 12** cells.");
}

#[test]
fn values_that_never_occur_apart_tie_and_the_cell_that_tells_them_apart_is_named() {
    let mut cells = cells(24);
    for cell in &mut cells {
        let build = if cell["locale"] == "de" { "new" } else { "old" };
        cell.insert("build".to_owned(), build.to_owned());
    }
    let found = judge(&cells, |cell| when(cell["locale"] == "de"));
    assert_eq!(found.verdict, Verdict::Tie, "{}", found.words);
    assert!(
        found.words.starts_with(
            "Two explanations fit equally: locale=de, or build=new. This run cannot tell them apart."
        ),
        "{}",
        found.words
    );
    let next = found.next.expect("a cell to run");
    assert_eq!(
        (next["locale"].as_str(), next["build"].as_str()),
        ("de", "old")
    );
    assert!(!next.contains_key("width"), "only axes can be asked for");
}

#[test]
fn flaky_cells_count_half_and_make_it_mostly() {
    let mut seen = 0;
    let count = std::cell::RefCell::new(&mut seen);
    let found = judge(&cells(60), |cell| {
        if cell["locale"] != "de" {
            return CellVerdict::Good;
        }
        **count.borrow_mut() += 1;
        if **count.borrow() % 10 == 0 {
            CellVerdict::Flaky
        } else {
            CellVerdict::Bad
        }
    });
    assert_eq!(found.verdict, Verdict::Mostly, "{}", found.words);
    assert_eq!(
        found.words,
        "Mostly fails with locale=de: on **28.5 of 30** cells, and on **0 of 30** others, where a flaky cell counts half."
    );
}

#[test]
fn cells_that_never_ran_are_left_out() {
    let found = judge(&cells(24), |cell| {
        if cell["engine"] == "firefox" {
            CellVerdict::Absent
        } else {
            when(cell["locale"] == "de")
        }
    });
    assert_eq!(found.verdict, Verdict::Cause, "{}", found.words);
    assert!(found.words.contains("**none of 6**"), "{}", found.words);
}

#[test]
fn the_same_set_found_twice_is_not_tested_twice() {
    let cells = cells(12);
    let standings: Vec<CellVerdict> = cells.iter().map(|c| when(c["locale"] == "de")).collect();
    let table = Table::new(&names(), &cells);
    let sets = vec![(ClusterKind::Failure, standings); 20];
    let verdicts: Vec<Verdict> = table.judge(&sets).iter().map(|f| f.verdict).collect();
    assert_eq!(verdicts, [Verdict::Cause; 20]);
}

/// How often random outcomes are taken for something, of so many runs.
fn false_causes(cells: &[Values], runs: u64, sets: usize) -> f64 {
    let table = Table::new(&names(), cells);
    let mut state: u64 = 7;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let mut told = 0;
    for _ in 0..runs {
        let sets: Vec<(ClusterKind, Vec<CellVerdict>)> = (0..sets)
            .map(|_| {
                let share = random();
                let flaky = if random() < 0.3 { 0.1 } else { 0.0 };
                let standing = |_: &Values| match random() {
                    at if at < flaky => CellVerdict::Flaky,
                    at => when(at < share),
                };
                (ClusterKind::Failure, cells.iter().map(standing).collect())
            })
            .collect();
        let is_told = |finding: &Finding| {
            matches!(
                finding.verdict,
                Verdict::Cause | Verdict::Mostly | Verdict::Tie
            )
        };
        told += u64::from(table.judge(&sets).iter().any(is_told));
    }
    told as f64 / runs as f64
}

#[test]
fn random_outcomes_are_told_as_a_cause_in_at_most_one_run_of_twenty() {
    for (count, runs) in [(12, 1_500), (24, 600), (60, 150)] {
        for sets in [1, 4] {
            let share = false_causes(&cells(count), runs / sets, sets as usize);
            assert!(share <= 0.05, "{count} cells, {sets} sets: {share}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_order_of_cells_changes_nothing(
        order in Just((0..24_usize).collect::<Vec<_>>()).prop_shuffle(),
        outcomes in prop::collection::vec(0..10_u8, 24),
    ) {
        let cells = cells(24);
        let standing = |place: usize| match outcomes[place] {
            0..=5 => CellVerdict::Good,
            6 => CellVerdict::Flaky,
            7 => CellVerdict::Absent,
            _ => CellVerdict::Bad,
        };
        let found = |order: &[usize]| {
            let shuffled: Vec<Values> = order.iter().map(|place| cells[*place].clone()).collect();
            let standings = order.iter().map(|place| standing(*place)).collect();
            Table::new(&names(), &shuffled).judge(&[(ClusterKind::Slow, standings)])
        };
        let sorted: Vec<usize> = (0..24).collect();
        prop_assert_eq!(found(&sorted), found(&order));
    }
}
