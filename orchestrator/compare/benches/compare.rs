//! How long it takes to compare a run, without its pictures, and what that is made of.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Write;

use packtrain_compare::align::{self, Prepared, Texts};
use packtrain_compare::answer::{ClusterKind, Trail};
use packtrain_compare::attribute::{CellVerdict, Name, Table};
use packtrain_compare::input::{Cell, OutcomeKind, Run, Session, Step, StepStatus};
use packtrain_model::screen::{ScreenNode, ScreenTree};

#[path = "../examples/sixty/scenario.rs"]
#[expect(dead_code, reason = "only its run is taken")]
mod scenario;

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    whole_run(&mut out)?;
    many_devices(&mut out)?;
    attribution(&mut out)?;
    alignment(&mut out)
}

fn whole_run(out: &mut impl Write) -> std::io::Result<()> {
    let mut run = scenario::run();
    for step in run
        .sessions
        .iter_mut()
        .flat_map(|session| &mut session.steps)
    {
        step.picture = None;
    }
    let (cells, sessions) = (run.cells.len(), run.sessions.len());
    writeln!(
        out,
        "{cells} cells, {sessions} sessions of {} steps, no pictures",
        scenario::STEPS
    )?;
    let took = best(15, || {
        black_box(packtrain_compare::compare(
            black_box(&run),
            &mut |_: &str| None,
        ));
    });
    writeln!(out, "  compare        {took:8.2} ms")
}

/// What a session costs must not grow with the number of devices.
fn many_devices(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "one trail of 20 steps on many phones that are alike")?;
    for devices in [100, 1_000, 5_000] {
        let cell = |place: usize| Cell {
            device: format!("android/{place}"),
            facts: BTreeMap::from([("os".to_owned(), "14".to_owned())]),
            ..Cell::default()
        };
        let step = |step| Step {
            step,
            status: StepStatus::Passed,
            ..Step::default()
        };
        let session = |cell| Session {
            cell,
            outcome: OutcomeKind::Passed,
            steps: (1..=20).map(step).collect(),
            ..Session::default()
        };
        let run = Run {
            planned: devices,
            trails: vec![Trail::default()],
            cells: (0..devices).map(cell).collect(),
            sessions: (0..devices).map(session).collect(),
            ..Run::default()
        };
        let took = best(3, || {
            black_box(packtrain_compare::compare(
                black_box(&run),
                &mut |_: &str| None,
            ));
        });
        let each = took * 1_000.0 / f64::from(u32::try_from(devices).unwrap_or(u32::MAX));
        writeln!(
            out,
            "  {devices:5} phones   {took:8.2} ms, {each:6.1} µs a session"
        )?;
    }
    Ok(())
}

const AXES: [(&str, bool, &[&str]); 7] = [
    ("engine", false, &["chromium", "firefox"]),
    (
        "locale",
        false,
        &["en-US", "de-DE", "fr-FR", "ja-JP", "ar-EG"],
    ),
    ("colorScheme", false, &["light", "dark"]),
    ("build", false, &["old", "new", "next"]),
    ("touch", false, &["yes", "no"]),
    ("width", true, &["320", "390", "768", "1280"]),
    ("fontScale", true, &["1", "1.3", "1.6", "2"]),
];

fn attribution(out: &mut impl Write) -> std::io::Result<()> {
    let names: Vec<Name> = AXES
        .iter()
        .map(|(name, ordered, _)| Name {
            name: (*name).to_owned(),
            ordered: *ordered,
            is_axis: true,
        })
        .collect();
    let mut random = Random(7);
    let cells: Vec<BTreeMap<String, String>> = (0..200)
        .map(|_| {
            let mut value = |values: &[&str]| values[random.next() % values.len()].to_owned();
            AXES.iter()
                .map(|(name, _, values)| ((*name).to_owned(), value(values)))
                .collect()
        })
        .collect();
    let table = Table::new(&names, &cells);
    let of = |is_bad: &mut dyn FnMut(&BTreeMap<String, String>) -> bool| {
        let standing = |cell| {
            if is_bad(cell) {
                CellVerdict::Bad
            } else {
                CellVerdict::Good
            }
        };
        cells.iter().map(standing).collect::<Vec<_>>()
    };
    let one = of(&mut |cell| cell["locale"] == "de-DE");
    let three = of(&mut |cell| {
        cell["locale"] == "de-DE" && cell["engine"] == "firefox" && cell["colorScheme"] == "dark"
    });
    let several = of(&mut |cell| {
        cell["locale"] == "de-DE" && cell["width"] == "320"
            || cell["build"] == "next" && cell["fontScale"] == "2"
    });
    let nothing = of(&mut |_| random.next().is_multiple_of(5));
    writeln!(out, "200 cells by seven axes")?;
    for (name, standings) in [
        ("one condition", one),
        ("three at once", three),
        ("two causes", several),
        ("no cause", nothing),
    ] {
        let sets = [(ClusterKind::Failure, standings)];
        let took = best(101, || {
            black_box(table.judge(black_box(&sets)));
        });
        writeln!(out, "  {name:<14} {took:8.2} ms")?;
    }
    Ok(())
}

fn alignment(out: &mut impl Write) -> std::io::Result<()> {
    let was = screen(0, "One");
    let mut inserted = screen(0, "One");
    let node = inserted.nodes[500].clone();
    inserted
        .nodes
        .splice(500..500, std::iter::repeat_n(node, 40));
    writeln!(out, "screens of {} nodes", was.nodes.len())?;
    for (name, is) in [
        ("equal", &was),
        ("40 inserted", &inserted),
        ("translated", &screen(0, "Two")),
        ("few names", &alike(7)),
    ] {
        let was = if name == "few names" { &alike(0) } else { &was };
        let texts = Texts::default();
        let (one, two) = (Prepared::new(was, &texts), Prepared::new(is, &texts));
        let preparing = best(51, || {
            black_box(Prepared::new(black_box(is), &texts));
        });
        let aligning = best(51, || {
            black_box(align::align(black_box(&one), black_box(&two)));
        });
        let alignment = align::align(&one, &two);
        let telling = best(51, || {
            black_box(align::differences(&one, &two, &alignment));
        });
        writeln!(
            out,
            "  {name:<14} {aligning:8.2} ms, preparing {preparing:.2}, telling {telling:.2}"
        )?;
    }
    Ok(())
}

/// A thousand nodes, each called otherwise.
fn screen(shift: u32, word: &str) -> ScreenTree {
    tree(|place| format!("{word} {}", letters(place + shift)))
}

/// A thousand nodes that share twenty names.
fn alike(shift: u32) -> ScreenTree {
    tree(|place| format!("One {}", letters((place + shift) % 20)))
}

fn tree(name: impl Fn(u32) -> String) -> ScreenTree {
    const ROLES: [&str; 4] = ["list", "listitem", "text", "button"];
    let nodes = (0..1_000_u32).map(|place| ScreenNode {
        depth: place % 4,
        role: ROLES[place as usize % 4].to_owned(),
        name: name(place),
        ..ScreenNode::default()
    });
    ScreenTree {
        width: 390.0,
        height: 844.0,
        nodes: nodes.collect(),
        ..ScreenTree::default()
    }
}

/// A number in letters, because digits are taken out of names.
fn letters(number: u32) -> String {
    number
        .to_string()
        .bytes()
        .map(|digit| char::from(digit - b'0' + b'a'))
        .collect()
}

/// The shortest of several runs, in milliseconds: what the machine does besides only adds to it.
fn best(runs: usize, run: impl Fn()) -> f64 {
    (0..runs)
        .map(|_| {
            #[expect(clippy::disallowed_types, reason = "this crate has no tokio")]
            let started = std::time::Instant::now();
            run();
            started.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::MAX, f64::min)
}

/// The same numbers everywhere.
struct Random(u64);

impl Random {
    const fn next(&mut self) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize
    }
}
