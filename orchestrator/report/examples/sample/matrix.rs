//! Makes a run of a matrix up: one trail in many cells, what was seen, and what a comparison says.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use packtrain_compare::answer::Comparison;
use packtrain_drivers::{
    AppliedAxis, Classifier, Defect, DefectKind, DeviceId, DeviceInfo, Platform, Rect, Size,
};
use packtrain_model::screen::{Observation, ObservedPicture, ObservedTree};
use packtrain_model::{
    Artifact, ArtifactKind, AttemptNumber, Axis, Blame, Cell, Entry, Failure, MatrixSummary,
    Outcome, PlannedSession, RunEvent, RunId, RunOptionsSummary, SCHEMA_VERSION, SessionId,
    SessionIndex, StepIndex, StepKind, StepSummary, TrailSummary, Verdict,
};
use serde_json::{Value, json};

use super::picture;
use super::run::Sample;
use screens::{said, tree};

#[path = "screens.rs"]
mod screens;

/// How large it is: 24 cells of 8 steps, or 60 of 29 with pictures as large as screens.
#[derive(Clone, Copy)]
pub enum Extent {
    Small,
    Large,
}

/// The run and its comparison.
pub struct Matrix {
    pub sample: Sample,
    pub comparison: Comparison,
}

const STEPS: [(&str, &str, Shown); 8] = [
    ("trailhead", "Start with an empty cart", Shown::Home),
    ("step", "Open the shop", Shown::Home),
    ("step", "Search for \"tea\"", Shown::List),
    ("step", "Open the first product", Shown::Product),
    ("verify", "\"Green tea\" is shown", Shown::Product),
    ("step", "Put it into the cart", Shown::Product),
    ("step", "Proceed to checkout", Shown::Cart),
    ("verify", "The total is 12.50 €", Shown::Cart),
];
/// The step at which narrow German cells fail.
const CHECKOUT: u32 = 6;
const MESSAGE: &str = "no visible element matches button \"Zur Kasse\"";
const AGAIN: &str = "packtrain run trails/buy-tea.trail.yaml --matrix release --cell ";

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Shown {
    Home,
    List,
    Product,
    Cart,
}

/// What a cell is about.
#[derive(Clone)]
struct Setting {
    engine: &'static str,
    viewport: &'static str,
    width: i32,
    height: i32,
    locale: &'static str,
    scheme: &'static str,
}

impl Setting {
    fn is_narrow_german(&self) -> bool {
        self.locale == "de-DE" && self.width <= 390
    }

    fn lacks_help(&self) -> bool {
        self.engine == "firefox" && self.scheme == "dark"
    }

    /// What a person calls it.
    fn label(&self) -> String {
        let Self {
            engine,
            width,
            locale,
            scheme,
            ..
        } = self;
        format!("{engine}, {width} wide, {locale}, {scheme}")
    }

    fn cell(&self) -> Cell {
        let pairs = [
            ("engine", self.engine),
            ("viewport", self.viewport),
            ("locale", self.locale),
            ("colorScheme", self.scheme),
        ];
        let owned = |(axis, value): (&str, &str)| (axis.to_owned(), value.to_owned());
        Cell(pairs.into_iter().map(owned).collect())
    }
}

fn axes(extent: Extent) -> [(&'static str, Vec<&'static str>, bool); 4] {
    let (viewports, locales) = match extent {
        Extent::Small => (
            vec!["390x844", "768x1024", "1280x800"],
            vec!["en-US", "de-DE"],
        ),
        Extent::Large => (
            vec!["320x640", "390x844", "768x1024", "1024x768", "1280x800"],
            vec!["en-US", "de-DE", "ja-JP"],
        ),
    };
    [
        ("engine", vec!["chromium", "firefox"], false),
        ("viewport", viewports, true),
        ("locale", locales, false),
        ("colorScheme", vec!["light", "dark"], false),
    ]
}

fn settings(extent: Extent) -> Vec<Setting> {
    let [engines, viewports, locales, schemes] = axes(extent).map(|(_, values, _)| values);
    let mut all = Vec::new();
    for engine in engines {
        for &viewport in &viewports {
            for &locale in &locales {
                for &scheme in &schemes {
                    let (width, height) = viewport.split_once('x').expect("the table is right");
                    all.push(Setting {
                        engine,
                        viewport,
                        width: width.parse().expect("the table is right"),
                        height: height.parse().expect("the table is right"),
                        locale,
                        scheme,
                    });
                }
            }
        }
    }
    all
}

fn digest(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// What a screen depends on, so that none is drawn twice.
type Look = (Shown, usize, usize);

struct Maker {
    extent: Extent,
    settings: Vec<Setting>,
    device: DeviceInfo,
    events: Vec<(Duration, RunEvent)>,
    files: BTreeMap<String, Vec<u8>>,
    seen: BTreeMap<Look, Observation>,
}

/// Makes it up.
pub fn matrix(extent: Extent) -> Matrix {
    let settings = settings(extent);
    let count = match extent {
        Extent::Small => 8,
        Extent::Large => 29,
    };
    let steps: Vec<StepSummary> = (0..count)
        .map(|step| {
            let (kind, text, _) = STEPS[if step < 8 { step } else { 1 + (step - 1) % 7 }];
            StepSummary {
                step: StepIndex(step as u32),
                kind: match kind {
                    "trailhead" => StepKind::Trailhead,
                    "verify" => StepKind::Verify,
                    _ => StepKind::Step,
                },
                text: text.to_owned(),
                line: 6 + step as u32 * 5,
            }
        })
        .collect();
    let device = DeviceInfo {
        id: DeviceId::new(Platform::Web, "desktop".to_owned()),
        driver: "playwright".to_owned(),
        classifiers: vec![Classifier("web".to_owned())],
        model: "desktop".to_owned(),
        system: "Chromium 156".to_owned(),
        screen: Size {
            width: 1280.0,
            height: 800.0,
        },
    };
    let mut maker = Maker {
        extent,
        settings,
        device,
        events: Vec::new(),
        files: BTreeMap::new(),
        seen: BTreeMap::new(),
    };
    let entries = maker.run(&steps);
    Matrix {
        comparison: maker.comparison(&steps),
        sample: Sample {
            entries,
            files: maker.files,
        },
    }
}

impl Maker {
    fn run(&mut self, steps: &[StepSummary]) -> Vec<Entry> {
        let mut verdict = Verdict::default();
        let planned: Vec<PlannedSession> = self
            .settings
            .iter()
            .map(|setting| PlannedSession {
                one_of: Vec::new(),
                place: None,
                repeat: None,
                trail: 0,
                device: Some(self.device.id.clone()),
                cell: setting.cell(),
            })
            .collect();
        // Four browsers at a time.
        let mut free = [Duration::from_millis(90); 4];
        for place in 0..planned.len() {
            let (outcome, end) = self.session(place, &planned[place], steps, free[place % 4]);
            free[place % 4] = end;
            verdict.count(&outcome, false);
        }
        let end = free.into_iter().max().unwrap_or_default();
        let mut events = std::mem::take(&mut self.events);
        events.sort_by_key(|(at, _)| *at);
        let axes = axes(self.extent);
        let started = RunEvent::RunStarted {
            schema_version: SCHEMA_VERSION,
            packtrain: "0.1.0".to_owned(),
            run: RunId("20261122-101112-m4tx".to_owned()),
            trails: vec![TrailSummary {
                name: "buy-tea".to_owned(),
                title: "Buy tea".to_owned(),
                path: "trails/buy-tea.trail.yaml".to_owned(),
                tags: Vec::new(),
                steps: steps.to_vec(),
            }],
            devices: vec![self.device.clone()],
            matrix: Some(MatrixSummary {
                name: "release".to_owned(),
                axes: axes
                    .into_iter()
                    .map(|(name, values, ordered)| Axis {
                        name: name.to_owned(),
                        values: values.into_iter().map(str::to_owned).collect(),
                        ordered,
                    })
                    .collect(),
                cells: planned.iter().map(|planned| planned.cell.clone()).collect(),
                reference: planned[self.reference()].cell.clone(),
                cover: "all".to_owned(),
                ..MatrixSummary::default()
            }),
            sessions: planned,
            options: RunOptionsSummary::default(),
        };
        events.insert(0, (Duration::ZERO, started));
        let finished = RunEvent::RunFinished {
            verdict,
            duration_ms: end,
        };
        events.push((end, finished));
        let start = DateTime::from_timestamp(1_795_341_072, 0).expect("a fixed time");
        let entry = |(seq, (after, event))| Entry {
            seq,
            at: start + after,
            event,
        };
        (1..).zip(events).map(entry).collect()
    }

    /// The English, light, wide cell of Chromium.
    fn reference(&self) -> usize {
        let is_reference = |setting: &Setting| {
            let plain = setting.locale == "en-US" && setting.scheme == "light";
            plain && setting.width == 1280
        };
        self.settings
            .iter()
            .position(is_reference)
            .expect("there is one")
    }

    /// The last one does not get to an end of its own.
    fn is_broken(&self, place: usize) -> bool {
        place + 1 == self.settings.len()
    }

    fn session(
        &mut self,
        place: usize,
        planned: &PlannedSession,
        steps: &[StepSummary],
        begun: Duration,
    ) -> (Outcome, Duration) {
        let session = SessionId::new(SessionIndex(place), AttemptNumber(1));
        let setting = self.settings[place].clone();
        let mut now = begun + Duration::from_millis(12);
        self.events.push((
            now,
            RunEvent::session_started(
                session.clone(),
                planned.clone(),
                AttemptNumber(1),
                self.device.clone(),
            ),
        ));
        now += Duration::from_millis(310 + place as u64 % 5 * 40);
        let applied = |(axis, value): (&String, &String)| AppliedAxis {
            axis: axis.clone(),
            want: value.clone(),
            got: value.clone(),
            how: "matchMedia".to_owned(),
            took_ms: Duration::from_millis(3),
        };
        self.events.push((
            now,
            RunEvent::SessionConfigured {
                memory: Default::default(),
                session: session.clone(),
                axes: planned.cell.0.iter().map(applied).collect(),
            },
        ));
        let mut outcome = Outcome::Passed;
        for step in steps {
            let index = step.step;
            let (_, _, shown) = STEPS[if index.0 < 8 {
                index.0 as usize
            } else {
                1 + (index.0 as usize - 1) % 7
            }];
            self.events.push((
                now,
                RunEvent::StepStarted {
                    session: session.clone(),
                    step: index,
                },
            ));
            let is_slow = place == 2 && index.0 == 5;
            let mut took = Duration::from_millis(if is_slow {
                5_100
            } else {
                180 + u64::from(index.0) * 53 % 400 + place as u64 * 7 % 60
            });
            if setting.is_narrow_german() && index.0 == CHECKOUT {
                took = Duration::from_millis(5_040);
                outcome = Outcome::Failed(Failure {
                    message: MESSAGE.to_owned(),
                    tool: Some("web_click".to_owned()),
                    log: vec!["looked for button \"Zur Kasse\" for 5.0 s, 21 snapshots".to_owned()],
                    hint: Some("the page may have to be scrolled; see `web_scroll`".to_owned()),
                    at: Some("trails/buy-tea.trail.yaml:36:9".to_owned()),
                    fatal: false,
                });
            } else if self.is_broken(place) && index.0 == 4 {
                outcome = Outcome::Infrastructure {
                    blame: Blame::Device,
                    cause: "the browser crashed".to_owned(),
                    hint: None,
                    unstarted: Vec::new(),
                };
            }
            let tool = || "web_click".to_owned();
            self.events.push((
                now,
                RunEvent::ToolStarted {
                    session: session.clone(),
                    step: index,
                    call: 0,
                    depth: 0,
                    tool: tool(),
                    arguments: json!({}),
                },
            ));
            now += took;
            self.events.push((
                now,
                RunEvent::ToolFinished {
                    session: session.clone(),
                    step: index,
                    call: 0,
                    depth: 0,
                    tool: tool(),
                    outcome: outcome.clone(),
                    report: packtrain_drivers::ActionReport::default(),
                    answer: None,
                    record: packtrain_model::RecordAs::Itself,
                    via: None,
                    duration_ms: took,
                },
            ));
            let observed = self.observe((shown, index.0 as usize / 8, place));
            self.events.push((
                now,
                RunEvent::StepObserved {
                    session: session.clone(),
                    step: index,
                    observed,
                },
            ));
            self.events.push((
                now,
                RunEvent::StepFinished {
                    session: session.clone(),
                    step: index,
                    outcome: outcome.clone(),
                    duration_ms: took,
                },
            ));
            now += Duration::from_millis(14);
            if outcome != Outcome::Passed {
                break;
            }
        }
        let path = format!("artifacts/{session}/trace.zip");
        self.files.insert(path.clone(), b"PK".to_vec());
        self.events.push((
            now,
            RunEvent::ArtifactSaved {
                session: session.clone(),
                step: StepIndex(0),
                artifact: Artifact {
                    kind: ArtifactKind::Trace,
                    path,
                    bytes: 48_211,
                },
            },
        ));
        self.events.push((
            now,
            RunEvent::SessionFinished {
                session,
                outcome: outcome.clone(),
                flaky: false,
                duration_ms: now - begun,
            },
        ));
        (outcome, now)
    }

    fn observe(&mut self, look: Look) -> Observation {
        if let Some(seen) = self.seen.get(&look) {
            return seen.clone();
        }
        let (shown, round, place) = look;
        let setting = &self.settings[place];
        let tree = tree(shown, round, setting);
        let json = serde_json::to_vec(&tree).expect("a tree is JSON");
        let tree_digest = digest(&json);
        let scale = match self.extent {
            Extent::Small => 0.5,
            Extent::Large => 1.0,
        };
        let shade = if setting.engine == "firefox" { 9 } else { 0 };
        let png = picture::draw_tree(&tree, setting.scheme == "dark", shade, scale);
        let picture_digest = digest(&png);
        let crosses = shown == Shown::Product && setting.width == 390;
        let observed = Observation {
            tree: Some(ObservedTree {
                digest: tree_digest.clone(),
                shown: None,
                nodes: tree.nodes.len() as u32,
                artifact: format!("trees/{tree_digest}.json"),
            }),
            picture: Some(ObservedPicture {
                digest: picture_digest.clone(),
                artifact: format!("pictures/{picture_digest}.png"),
                width: (tree.width * scale) as u32,
                height: (tree.height * scale) as u32,
                scale,
                masked: Vec::new(),
            }),
            defects: crosses
                .then(|| Defect {
                    kind: DefectKind::CrossesEdge,
                    element: format!("link \"{}\"", said("Cart", setting)),
                    other: None,
                    at: Some(Rect::new(300.0, 16.0, 402.0, 44.0)),
                    by: Some(12.0),
                })
                .into_iter()
                .collect(),
            console: u32::from(shown == Shown::Home),
            settled_ms: 34,
            ..Observation::default()
        };
        self.files.insert(format!("trees/{tree_digest}.json"), json);
        self.files
            .insert(format!("pictures/{picture_digest}.png"), png);
        self.seen.insert(look, observed.clone());
        observed
    }

    /// The session equal to another but for one axis.
    fn beside(&self, place: usize, change: impl Fn(&mut Setting)) -> usize {
        let mut wanted = self.settings[place].clone();
        change(&mut wanted);
        let cell = wanted.cell();
        let found = self
            .settings
            .iter()
            .position(|setting| setting.cell() == cell);
        found.unwrap_or_else(|| self.reference())
    }

    /// What a comparison would say, which knows what was planted.
    fn comparison(&self, steps: &[StepSummary]) -> Comparison {
        let all = 0..self.settings.len();
        let having = |test: &dyn Fn(&Setting) -> bool| -> Vec<usize> {
            let broken = |place: &usize| !self.is_broken(*place);
            all.clone()
                .filter(|&place| test(&self.settings[place]))
                .filter(broken)
                .collect()
        };
        let failed = having(&Setting::is_narrow_german);
        let helpless = having(&Setting::lacks_help);
        let narrow = having(&|setting| setting.width == 390);
        let total = self.settings.len();
        let reference = self.reference();
        let mut differences = Vec::new();
        let mut occurrences = |cells: &[usize],
                               step: u32,
                               beside: &dyn Fn(usize) -> usize,
                               items: &dyn Fn(usize) -> Value|
         -> Value {
            cells
                .iter()
                .map(|&place| {
                    let nearest = beside(place);
                    differences.push(json!({"trail": 0, "step": step, "session": place, "against": nearest, "digest": "9f2c01aa33de", "items": items(place)}));
                    json!({"trail": 0, "session": place, "step": step, "nearest": nearest, "difference": differences.len() - 1})
                })
                .collect()
        };
        let in_english = |place: usize| self.beside(place, |setting| setting.locale = "en-US");
        let in_light = |place: usize| self.beside(place, |setting| setting.scheme = "light");
        let at = |place: usize| (self.settings[place].width, self.settings[place].height);
        let missing_button = |place: usize| {
            let (w, h) = at(place);
            json!([
                {"kind": "missing", "role": "button", "name": "Checkout", "at": [16, h - 80, w - 16, h - 28]},
                {"kind": "name", "role": "heading", "name": "Cart", "was": "Cart", "is": "Warenkorb", "expected_by": "locale", "at": [16, 76, w - 16, 112]},
                {"kind": "name", "role": "link", "name": "Help", "was": "Help", "is": "Hilfe", "expected_by": "locale"},
                {"kind": "name", "role": "text", "name": "Total", "was": "Total", "is": "Summe", "expected_by": "locale"},
            ])
        };
        let missing_help = |place: usize| {
            let (w, _) = at(place);
            json!([{"kind": "missing", "role": "link", "name": "Help", "at": [w - 200, 16, w - 130, 44]}])
        };
        let failures = occurrences(&failed, CHECKOUT, &in_english, &missing_button);
        let lacking = occurrences(&helpless, 2, &in_light, &missing_help);
        let firefox = self.beside(reference, |setting| setting.engine = "firefox");
        let plain = |cells: &[usize], step: u32| -> Value {
            let one = |&place: &usize| json!({"trail": 0, "session": place, "step": step});
            cells.iter().map(one).collect()
        };
        let cell_words = |place: usize| self.settings[place].cell().to_string().replace(", ", ",");
        let again = |place: usize| format!("{AGAIN}{}", cell_words(place));
        let everywhere: Vec<usize> = all
            .clone()
            .filter(|place| !self.is_broken(*place))
            .collect();
        let others = total - 1 - failed.len();
        let (many, few) = (failed.len(), helpless.len());
        let mut cells: Vec<Value> = Vec::new();
        for (place, setting) in self.settings.iter().enumerate() {
            let cell = setting.cell();
            let orientation = if setting.width < setting.height {
                "portrait"
            } else {
                "landscape"
            };
            cells.push(json!({
                "id": format!("web/desktop {}", cell.to_string().replace(", ", " ")),
                "label": setting.label(),
                "device": "web/desktop",
                "values": cell,
                "facts": {"platform": "web", "width": setting.width.to_string(), "browser": setting.engine, "orientation": orientation},
                "reference": place == reference,
            }));
        }
        let widths: Vec<String> = axes(self.extent)[1]
            .1
            .iter()
            .map(|size| size.split('x').next().unwrap_or_default().to_owned())
            .collect();
        let made = json!({
            "schema_version": 1, "run": "20261122-101112-m4tx", "packtrain": "0.1.0",
            "settled": total, "planned": total,
            "sentence": format!("{many} of {total} failed: de-DE at 390 wide. 1 not tested: {}: the browser crashed.", self.settings[total - 1].label()),
            "axes": axes(self.extent).map(|(name, values, ordered)| json!({"name": name, "values": values, "ordered": ordered})),
            "facts": [{"name": "platform", "values": ["web"], "ordered": false}, {"name": "width", "values": widths, "ordered": true}, {"name": "orientation", "values": ["portrait", "landscape"], "ordered": false}],
            "cells": cells,
            "trails": [{"name": "buy-tea", "title": "Buy tea", "path": "trails/buy-tea.trail.yaml", "steps": steps.iter().map(|step| json!({"step": step.step.0, "text": step.text})).collect::<Vec<_>>()}],
            "sessions": all.clone().map(|place| {
                let outcome = if self.is_broken(place) { "infrastructure" } else if failed.contains(&place) { "failed" } else { "passed" };
                let reference = (place != reference).then_some(reference);
                json!({"session": format!("s{}", place + 1), "trail": 0, "cell": place, "outcome": outcome, "reference": reference})
            }).collect::<Vec<_>>(),
            "clusters": [
                {"letter": "A", "kind": "failure", "title": "button \"Zur Kasse\" is missing", "detail": MESSAGE, "signature": "failure", "place": "de-DE at 390 wide", "trails": 1, "cells": failed, "everywhere": false, "occurrences": failures, "verdict": "cause",
                 "words": format!("Fails on **all {many} of {many}** cells with locale=de-DE and width at 390 and below (the next width tested is 768), on **none of {others}** others."),
                 "explanations": [{"all_of": [{"fact": "locale", "is": "=", "value": "de-DE"}, {"fact": "width", "is": "<=", "value": "390", "next": "768"}], "bad": many, "bad_of": many, "good": 0, "good_of": others, "chance": 0.0002}],
                 "again": again(failed[0])},
                {"letter": "B", "kind": "difference", "title": "link \"Help\" is missing", "signature": "difference", "place": "in dark on Firefox", "also": ["link \"Imprint\" is missing"], "trails": 1, "cells": helpless, "everywhere": false, "occurrences": lacking, "verdict": "tie",
                 "words": format!("Two explanations fit equally on **{few} of {few}**: engine=firefox and colorScheme=dark, or browser=firefox and colorScheme=dark. This run cannot tell them apart."),
                 "explanations": [{"all_of": [{"fact": "engine", "is": "=", "value": "firefox"}, {"fact": "colorScheme", "is": "=", "value": "dark"}], "bad": few, "bad_of": few, "good": 0, "good_of": total - 1 - few, "chance": 0.001}],
                 "next": {"cell": {"engine": "firefox"}, "command": format!("{AGAIN}engine=firefox,colorScheme=dark")}, "again": again(helpless[0])},
                {"letter": "C", "kind": "defect", "title": "link \"Cart\" crosses the edge of the screen", "detail": "by 12", "signature": "defect", "place": "at 390 wide", "trails": 1, "cells": narrow, "everywhere": false, "occurrences": plain(&narrow, 3), "verdict": "cause",
                 "words": format!("On **all {0} of {0}** cells with viewport=390x844, on **none of {1}** others.", narrow.len(), total - 1 - narrow.len()),
                 "explanations": [{"all_of": [{"fact": "viewport", "is": "=", "value": "390x844"}], "bad": narrow.len(), "bad_of": narrow.len(), "good": 0, "good_of": total - 1 - narrow.len(), "chance": 0.001}], "again": again(narrow[0])},
                {"letter": "D", "kind": "visual", "title": "button \"Add to cart\" looks different", "signature": "visual", "trails": 1, "cells": [firefox], "everywhere": false,
                 "occurrences": [{"trail": 0, "session": firefox, "step": 4, "nearest": reference, "visual": 0}], "verdict": "single", "words": format!("Only on {}.", self.settings[firefox].label()), "explanations": [], "again": again(firefox)},
                {"letter": "E", "kind": "slow", "title": "Step 5 is slow", "detail": "5.1 s where others take 0.6 s", "signature": "slow", "trails": 1, "cells": [2], "everywhere": false, "occurrences": plain(&[2], 5), "verdict": "single", "words": format!("Only on {}.", self.settings[2].label()), "explanations": [], "again": again(2)},
                {"letter": "F", "kind": "console", "title": "The page logs an error", "detail": "TypeError: x is undefined", "signature": "console", "trails": 1, "cells": everywhere, "everywhere": true, "occurrences": plain(&everywhere, 1), "verdict": "everywhere", "words": "On every cell; no axis tells it.", "explanations": [], "again": "packtrain run trails/buy-tea.trail.yaml"},
            ],
            "conventions": [{"text": "At 390 wide three links are behind Menu.", "by": "width", "cells": [0], "count": 3, "items": ["link \"Offers\" is behind \"Menu\""]}],
            "differences": differences,
            "visual": [{"trail": 0, "step": 4, "session": firefox, "against": reference, "kind": "changed", "pixels": 312, "boxes": [{"at": [8, 360, 632, 386], "pixels": 300, "element": "button \"Add to cart\"", "kind": "changed"}, {"at": [500, 6, 560, 24], "pixels": 12, "kind": "added"}]}],
            "timings": [{"trail": 0, "step": 5, "session": 2, "ms": 5100, "median_ms": 600}],
            "expected": [{"axis": "locale", "kind": "name", "count": 120}],
            "expectations": [{"text": "role: banner", "hits": 3}, {"text": "name: /^Cookie/", "hits": 0}],
            "noise": [{"trail": 0, "step": 3, "cell": 1, "boxes": [[10, 20, 60, 40]]}],
            "not_compared": [{"session": total - 1, "why": "infrastructure: the browser crashed"}],
        });
        serde_json::from_value(made).expect("a comparison")
    }
}
