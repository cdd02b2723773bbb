use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn axis(name: &str, values: &[&str]) -> Axis {
    Axis {
        name: name.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        ordered: false,
    }
}

fn pattern(conditions: &[(&str, &str)]) -> Pattern {
    conditions
        .iter()
        .map(|(axis, condition)| ((*axis).to_owned(), condition.parse().expect("a condition")))
        .collect()
}

fn cell(values: &[(&str, &str)]) -> Cell {
    Cell(
        values
            .iter()
            .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()))
            .collect(),
    )
}

fn square(axes: usize, values: usize) -> Request {
    let value = |value: usize| format!("v{value}");
    Request {
        axes: (0..axes)
            .map(|axis| Axis {
                name: format!("a{axis}"),
                values: (0..values).map(value).collect(),
                ordered: false,
            })
            .collect(),
        cover: Cover::Pairs,
        ..Request::default()
    }
}

/// All pairs of values in these cells.
fn pairs_in(cells: &[Cell]) -> BTreeSet<[(String, String); 2]> {
    let mut pairs = BTreeSet::new();
    for cell in cells {
        let values: Vec<(String, String)> = cell.0.clone().into_iter().collect();
        for (place, one) in values.iter().enumerate() {
            for other in &values[place + 1..] {
                pairs.insert([one.clone(), other.clone()]);
            }
        }
    }
    pairs
}

#[test]
fn eight_axes_of_four_values_need_at_most_28_cells_by_pairs() {
    let request = square(8, 4);
    let cells = cover(&request).expect("cells");
    assert!(cells.cells.len() <= 28, "{}", cells.cells.len());
    assert_eq!(pairs_in(&cells.cells).len(), 28 * 16);
    assert_eq!(cells, cover(&request).expect("cells"));
    assert_eq!(
        cells.cells[0],
        cover(&square(8, 1)).expect("cells").cells[0]
    );
}

#[test]
fn a_product_too_large_to_write_out_is_covered_by_pairs() {
    let mut request = square(20, 4);
    request.exclude = vec![pattern(&[("a0", "v0"), ("a1", "v1")])];
    let cells = cover(&request).expect("cells");
    assert!(cells.cells.len() <= 45, "{}", cells.cells.len());
    assert_eq!(pairs_in(&cells.cells).len(), 190 * 16 - 1);
    assert_eq!(cells.excluded, 4_usize.pow(18));
    assert_eq!(cells.unreachable, ["a0=v0, a1=v1"]);
    request.cover = Cover::All;
    assert_eq!(cover(&request), Err(CoverError::TooMany));
}

#[test]
fn the_product_has_the_reference_first_and_each_cell_once() {
    let request = Request {
        axes: vec![
            axis("engine", &["chromium", "firefox"]),
            axis("viewport", &["390x844", "1280x800"]),
            axis("fontScale", &["1", "1.3"]),
        ],
        exclude: vec![pattern(&[("engine", "firefox"), ("fontScale", ">1")])],
        add: vec![
            cell(&[("viewport", "320x640")]),
            cell(&[("viewport", "390x844")]),
        ],
        reference: cell(&[("viewport", "1280x800")]),
        cover: Cover::All,
    };
    let cells = cover(&request).expect("cells");
    assert_eq!(cells.excluded, 2);
    assert_eq!(cells.cells.len(), 7);
    let texts: Vec<String> = cells.cells.iter().map(ToString::to_string).collect();
    assert_eq!(texts[0], "engine=chromium, fontScale=1, viewport=1280x800");
    assert_eq!(texts[6], "engine=chromium, fontScale=1, viewport=320x640");
}

#[test]
fn one_at_a_time_is_the_reference_and_every_other_value_alone() {
    let request = Request {
        axes: vec![axis("a", &["1", "2", "3"]), axis("b", &["x", "y"])],
        exclude: vec![pattern(&[("a", ">=3"), ("b", "!=y")])],
        cover: Cover::OneAtATime,
        ..Request::default()
    };
    let cells = cover(&request).expect("cells");
    let texts: Vec<String> = cells.cells.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["a=1, b=x", "a=2, b=x", "a=1, b=y"]);
    assert_eq!(cells.unreachable, ["a=3"]);
}

#[test]
fn conditions_compare_numbers_as_numbers_and_sizes_by_their_width() {
    let holds = |condition: &str, value: &str| {
        let condition: Condition = condition.parse().expect("a condition");
        condition.holds(value)
    };
    assert!(holds("<=390", "390x844") && !holds("<390", "390x844"));
    assert!(holds(">9", "10") && holds(">=1.3", "1.30") && !holds(">1", "tall"));
    assert!(holds("<=390x1", "390x844"));
    assert!(holds("!=x", "y") && !holds("!=x", "x") && holds(" x ", "x"));
    assert_eq!("".parse::<Condition>(), Err(ConditionError::Empty));
    assert_eq!("!=".parse::<Condition>(), Err(ConditionError::Empty));
    assert_eq!(
        "<tall".parse::<Condition>(),
        Err(ConditionError::NoNumber("<tall".to_owned()))
    );
}

#[test]
fn mistakes_are_named() {
    let axes = vec![axis("engine", &["chromium", "firefox"]), axis("b", &["1"])];
    let message = |change: fn(&mut Request)| {
        let mut request = Request {
            axes: axes.clone(),
            ..Request::default()
        };
        change(&mut request);
        cover(&request).expect_err("a mistake").to_string()
    };
    let idle = message(|request| {
        request.exclude = vec![pattern(&[("b", "1"), ("engine", "firefox")])];
        request.exclude.push(pattern(&[("engine", "webkit")]));
    });
    assert_eq!(idle, "exclude 2 matches no cell: no `engine` is webkit");
    let unknown = message(|request| request.exclude = vec![pattern(&[("engin", "x")])]);
    assert_eq!(unknown, "exclude 1 names an unknown axis `engin`");
    let everything = message(|request| request.exclude = vec![Pattern::new()]);
    assert!(everything.contains("would exclude every cell"));
    let reference = message(|request| request.exclude = vec![pattern(&[("b", "1")])]);
    assert!(reference.starts_with("the reference cell (b=1, engine=chromium) is excluded"));
    let value = message(|request| request.reference = cell(&[("b", "2")]));
    assert!(value.starts_with("the reference has `b=2`"));
    let add = message(|request| request.add = vec![cell(&[("c", "2")])]);
    assert_eq!(add, "add 1 names an unknown axis `c`");
    let none = message(|request| request.axes.push(axis("d", &[])));
    assert_eq!(none, "axis `d` has no values");
    let twice = message(|request| request.axes.push(axis("b", &["2"])));
    assert!(twice.contains("`b` is defined twice"));
    assert_eq!(
        message(|request| request.axes = square(2, 1_100).axes),
        CoverError::TooMany.to_string()
    );
}

#[test]
fn a_matrix_without_axes_is_one_cell() {
    for cover_by in [Cover::All, Cover::Pairs, Cover::OneAtATime] {
        let request = Request {
            cover: cover_by,
            ..Request::default()
        };
        assert_eq!(cover(&request).expect("cells").cells, [Cell::default()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is excluded: it ends, no cell is excluded, and each pair is in a cell or listed.
    #[test]
    fn every_pair_is_covered_or_listed(
        sizes in prop::collection::vec(1_usize..5, 2..6),
        blocks in prop::collection::vec(prop::collection::btree_map(0_usize..6, 0_usize..5, 1..4), 0..6),
    ) {
        let mut request = square(0, 0);
        request.axes = sizes
            .iter()
            .enumerate()
            .map(|(axis, size)| Axis {
                name: format!("a{axis}"),
                values: (0..*size).map(|value| value.to_string()).collect(),
                ordered: true,
            })
            .collect();
        request.exclude = blocks
            .iter()
            .map(|block| {
                block
                    .iter()
                    .map(|(axis, value)| (format!("a{}", axis % sizes.len()), Condition::Is(value.to_string())))
                    .collect()
            })
            .collect();
        let Ok(cells) = cover(&request) else { return Ok(()) };
        let all: usize = (0..sizes.len())
            .flat_map(|one| (one + 1..sizes.len()).map(move |other| (one, other)))
            .map(|(one, other)| sizes[one] * sizes[other])
            .sum();
        prop_assert_eq!(pairs_in(&cells.cells).len() + cells.unreachable.len(), all);
        for cell in &cells.cells {
            for pattern in &request.exclude {
                prop_assert!(!pattern.iter().all(|(axis, condition)| condition.holds(&cell.0[axis])));
            }
        }
        request.cover = Cover::All;
        let product: usize = sizes.iter().product();
        let whole = cover(&request).expect("cells");
        prop_assert_eq!(whole.cells.len() + whole.excluded, product);
    }
}
