//! A shop on 60 cells, with faults planted: which cells fail, differ, are broken or slow is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use packtrain_compare::align::{Expectation, NameMatch, Place};
use packtrain_compare::answer::Trail;
use packtrain_compare::input::{
    Cell, Commands, EarlierFailure, FailedRequest, MatrixSource, OutcomeKind, Run, SeenPicture,
    SeenTree, Session, Step, StepStatus,
};
use packtrain_drivers::{Defect, DefectKind, Rect};
use packtrain_model::screen::{ScreenNode, ScreenTree};
use packtrain_model::{Axis, MatrixSummary};

/// The step at which German on narrow screens fails.
pub const FAILS_AT: u32 = 17;
/// Steps, the trailhead included.
pub const STEPS: u32 = 29;

const VIEWPORTS: [&str; 5] = ["390x844", "768x1024", "1024x768", "1280x800", "1920x1080"];

const TEXTS: [[&str; 3]; 10] = [
    ["Tea shop", "Teeladen", "Magasin de thé"],
    ["Search", "Suchen", "Chercher"],
    ["Cart", "Warenkorb", "Panier"],
    ["Show done", "Erledigte zeigen", "Afficher les terminés"],
    ["Buy", "Kaufen", "Acheter"],
    ["Gift wrap", "Geschenkpapier", "Papier cadeau"],
    ["Help and contact", "Help and contact", "Aide et contact"],
    [
        "Green tea 12.50 €",
        "Grüner Tee 12,50 €",
        "Thé vert 12,50 €",
    ],
    [
        "Black tea 9.00 €",
        "Schwarzer Tee 9,00 €",
        "Thé noir 9,00 €",
    ],
    [
        "Delivered on 2026-11-22",
        "Lieferung am 22.11.2026",
        "Livré le 22/11/2026",
    ],
];

/// The run.
pub fn run() -> Run {
    let axis = |name: &str, values: &[&str], ordered| Axis {
        name: name.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        ordered,
    };
    let axes = vec![
        axis("engine", &["chromium", "firefox"], false),
        axis("viewport", &VIEWPORTS, true),
        axis("locale", &["en-US", "de-DE", "fr-FR"], false),
        axis("build", &["old", "new"], false),
    ];
    let cells = cells();
    let reference = BTreeMap::from([
        ("engine".to_owned(), "chromium".to_owned()),
        ("viewport".to_owned(), "1280x800".to_owned()),
        ("locale".to_owned(), "en-US".to_owned()),
        ("build".to_owned(), "old".to_owned()),
    ]);
    let sessions = (0..cells.len())
        .map(|cell| session(cell, &cells[cell]))
        .collect();
    Run {
        run: "20261122-101112".to_owned(),
        unlike_approved: Vec::new(),
        packtrain: "0.1.0".to_owned(),
        planned: cells.len(),
        matrix: Some(MatrixSummary {
            name: "release".to_owned(),
            axes,
            cells: cells
                .iter()
                .map(|c| packtrain_model::Cell(c.values.clone()))
                .collect(),
            reference: packtrain_model::Cell(reference),
            cover: "all".to_owned(),
            ..MatrixSummary::default()
        }),
        trails: vec![Trail {
            name: "Buy tea".to_owned(),
            title: "Buy tea".to_owned(),
            path: "trails/buy-tea.trail.yaml".to_owned(),
            steps: (0..STEPS)
                .map(|step| packtrain_compare::answer::Step {
                    step,
                    text: words(step),
                })
                .collect(),
        }],
        cells,
        sessions,
        expectations: vec![
            Expectation {
                text: "role: text, name: /^Cookies/".to_owned(),
                role: Some("text".to_owned()),
                name: Some(NameMatch::Text("Cookies are fine".to_owned())),
                ..Expectation::default()
            },
            Expectation {
                text: "in: step 40".to_owned(),
                place: Place {
                    steps: vec![40],
                    ..Place::default()
                },
                ..Expectation::default()
            },
        ],
        commands: Commands {
            matrix: MatrixSource::Named("release".to_owned()),
            ..Commands::default()
        },
    }
}

fn words(step: u32) -> String {
    match step {
        0 => "Bring the shop to its start".to_owned(),
        1 => "Open the shop".to_owned(),
        FAILS_AT => "Show what is done".to_owned(),
        28 => "Verify that the order is confirmed".to_owned(),
        step if step % 4 == 0 => format!("Verify that the cart holds {} items", step / 4),
        step => format!("Put tea number {step} into the cart"),
    }
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for engine in ["chromium", "firefox"] {
        for viewport in VIEWPORTS {
            for locale in ["en-US", "de-DE", "fr-FR"] {
                for build in ["old", "new"] {
                    let map = |pairs: &[(&str, &str)]| {
                        let owned = pairs
                            .iter()
                            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
                        owned.collect::<BTreeMap<String, String>>()
                    };
                    let (width, height) = size(viewport);
                    let orientation = if width > height {
                        "landscape"
                    } else {
                        "portrait"
                    };
                    cells.push(Cell {
                        device: "web/desktop".to_owned(),
                        name: "desktop".to_owned(),
                        values: map(&[
                            ("engine", engine),
                            ("viewport", viewport),
                            ("locale", locale),
                            ("build", build),
                        ]),
                        facts: map(&[
                            ("platform", "web"),
                            ("browser", engine),
                            ("width", &width.to_string()),
                            ("orientation", orientation),
                        ]),
                        visual_key: format!("{engine} {viewport} {locale}"),
                        engine: engine.to_owned(),
                    });
                }
            }
        }
    }
    cells
}

fn size(viewport: &str) -> (u32, u32) {
    packtrain_drivers::axes::size(viewport).unwrap_or_default()
}

/// Whether German on a narrow screen fails here.
pub fn fails(cell: &Cell) -> bool {
    cell.values["locale"] == "de-DE" && cell.facts["width"] == "390"
}

fn session(place: usize, cell: &Cell) -> Session {
    let is_firefox = cell.values["engine"] == "firefox";
    let is_new = cell.values["build"] == "new";
    let is_narrow = cell.facts["width"] == "390";
    let is_french = cell.values["locale"] == "fr-FR";
    let broken = place == 33;
    let mut steps = Vec::new();
    for number in 0..STEPS {
        let failed = fails(cell) && number == FAILS_AT;
        let stopped = broken && number == 5;
        let name = text(3, cell);
        let tree = tree(number, cell);
        let mut step = Step {
            step: number,
            status: match (failed, stopped) {
                (true, _) => StepStatus::Failed,
                (_, true) => StepStatus::Other,
                _ => StepStatus::Passed,
            },
            message: if failed {
                format!("no visible element matches button \"{name}\" after 4.{place} s")
            } else {
                String::new()
            },
            duration_ms: 400 + u64::from(number * 13 % 90) + place as u64 % 50,
            tree: Some(seen(tree)),
            picture: Some(SeenPicture {
                digest: format!("{} {} {}", cell.visual_key, number, is_new && number == 12),
                scale: 1.0,
                masked: Vec::new(),
            }),
            uses: if number == FAILS_AT {
                vec![("button".to_owned(), TEXTS[3][0].to_owned())]
            } else {
                Vec::new()
            },
            ..Step::default()
        };
        if is_narrow && is_french && number == 3 {
            step.defects.push(Defect {
                kind: DefectKind::CrossesEdge,
                element: format!("link \"{}\"", text(2, cell)),
                other: None,
                at: Some(Rect::new(350.0, 0.0, 404.0, 40.0)),
                by: Some(14.0),
            });
        }
        if number == 2 {
            step.console.push("Deprecated: unload listeners".to_owned());
            step.failed_requests.push(FailedRequest {
                request: "GET /favicon.ico".to_owned(),
                why: "404".to_owned(),
                is_answered: true,
                ..FailedRequest::default()
            });
        }
        if is_firefox && is_new && number == 6 {
            step.console
                .push("TypeError: can't access property \"id\"".to_owned());
        }
        if place == 41 && number == 9 {
            step.duration_ms = 5_100;
        }
        steps.push(step);
        if failed || stopped {
            break;
        }
    }
    Session {
        id: format!("s{place}"),
        trail: 0,
        cell: place,
        outcome: match (broken, fails(cell)) {
            (true, _) => OutcomeKind::Infrastructure,
            (_, true) => OutcomeKind::Failed,
            _ => OutcomeKind::Passed,
        },
        why: if broken {
            "the browser crashed".to_owned()
        } else {
            String::new()
        },
        earlier: (place == 50).then(|| EarlierFailure {
            attempt: 1,
            step: 21,
            message: "the server answered 503".to_owned(),
        }),
        steps,
        memory: vec![("order".to_owned(), format!("A-{}", 1_000 + place))],
        blame: None,
    }
}

fn text(which: usize, cell: &Cell) -> &'static str {
    let language = match cell.values["locale"].as_str() {
        "de-DE" => 1,
        "fr-FR" => 2,
        _ => 0,
    };
    TEXTS[which][language]
}

fn tree(step: u32, cell: &Cell) -> ScreenTree {
    let (width, height) = size(&cell.values["viewport"]);
    let mut nodes = Vec::new();
    let mut add = |depth: u32, role: &str, name: String| {
        let top = nodes.len() as i32 * 30;
        nodes.push(ScreenNode {
            depth,
            role: role.to_owned(),
            name,
            bounds: Some([10, top, width as i32 - 10, top + 28]),
            ..ScreenNode::default()
        });
    };
    add(0, "heading", text(0, cell).to_owned());
    add(0, "textbox", text(1, cell).to_owned());
    add(0, "link", text(2, cell).to_owned());
    add(0, "link", text(6, cell).to_owned());
    let hidden = fails(cell) && step == FAILS_AT;
    if !hidden {
        add(0, "button", text(3, cell).to_owned());
    }
    add(0, "button", text(4, cell).to_owned());
    if step < 9 || cell.values["engine"] != "firefox" {
        add(0, "button", text(5, cell).to_owned());
    }
    add(0, "list", String::new());
    for item in 0..step + 10 {
        let which = 7 + item as usize % 2;
        add(1, "listitem", format!("{} ({item})", text(which, cell)));
    }
    add(0, "text", text(9, cell).to_owned());
    ScreenTree {
        width: f64::from(width),
        height: f64::from(height),
        title: Some(text(0, cell).to_owned()),
        location: Some("https://shop.example/".to_owned()),
        nodes,
        ..ScreenTree::default()
    }
}

fn seen(tree: ScreenTree) -> SeenTree {
    let bytes = packtrain_compare::normal::json(&tree);
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    SeenTree {
        digest: format!("{digest:016x}"),
        tree: Arc::new(tree),
    }
}

/// The picture of a digest: a button on white, blue in the old build and green in the new one.
pub fn picture(digest: &str) -> Option<Vec<u8>> {
    let (width, height) = (320_u32, 240_u32);
    let is_new = digest.ends_with("true");
    let mut pixels = vec![255_u8; (width * height * 3) as usize];
    for y in 152..176 {
        for x in 20..120 {
            let at = ((y * width + x) * 3) as usize;
            let colour = if is_new { [30, 140, 60] } else { [30, 60, 200] };
            pixels[at..at + 3].copy_from_slice(&colour);
        }
    }
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&pixels).ok()?;
    writer.finish().ok()?;
    Some(file)
}
