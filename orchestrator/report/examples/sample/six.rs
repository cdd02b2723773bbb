//! Six runs that are made up, one for each way in which a headline begins: what the reports of each
//! say first is a promise, and a picture of the documentation.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::DateTime;
use packtrain_drivers::{ActionReport, AppliedAxis, DeviceId, DeviceInfo, Located, Platform, Size};
use packtrain_model::screen::{Observation, ObservedPicture, ObservedTree, ScreenNode, ScreenTree};
use packtrain_model::{
    AttemptNumber, Axis, Blame, Cell, Entry, Failure, MatrixSummary, Outcome, PlannedSession,
    RecordAs, RunEvent, RunId, RunOptionsSummary, SCHEMA_VERSION, SessionId, SessionIndex,
    StepIndex, StepKind, StepSummary, TrailSummary, Verdict,
};

use super::picture;
use super::run::Sample;

/// A run, and what each of its reports says first.
pub struct ExpectedHeadline {
    pub name: &'static str,
    pub headline: &'static str,
    /// Trail, step, device and cause, as a reader looks for them; none where nothing went wrong.
    pub wanted: [&'static str; 4],
    pub sample: Sample,
}

const STEPS: [&str; 4] = [
    "Open the shop",
    "Put a print into the cart",
    "Open the cart",
    "Order it",
];
const TITLES: [&str; 2] = ["Order a print", "Return a print"];
const PARTS: [[&str; 2]; 4] = [
    ["heading Prints", "link Reports"],
    ["heading Harbour", "button Add to cart"],
    ["heading Cart", "link Continue shopping"],
    ["heading Thank you", "link Orders"],
];

/// What becomes of an attempt in a session.
type Fate = fn(&Place, u32) -> Option<(u32, Outcome)>;

/// Where a session runs.
struct Place {
    device: DeviceInfo,
    cell: Cell,
}

impl Place {
    fn is(&self, axis: &str, value: &str) -> bool {
        self.cell.0.get(axis).is_some_and(|own| own == value)
    }

    fn size(&self) -> (i32, i32) {
        let size = self.cell.0.get("viewport");
        let size = size.and_then(|size| size.split_once('x'));
        let size = size.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
        let own = self.device.screen;
        size.unwrap_or((own.width as i32, own.height as i32))
    }
}

/// Makes them up.
pub fn six() -> [ExpectedHeadline; 6] {
    let passes: Fate = |_, _| None;
    let axes = |names: &[(&'static str, &[&'static str])]| {
        names
            .iter()
            .map(|(name, values)| Axis {
                name: (*name).to_owned(),
                values: values.iter().map(|value| (*value).to_owned()).collect(),
                ordered: *name == "viewport",
            })
            .collect::<Vec<_>>()
    };
    let sizes: &[&str] = &["390x844", "768x1024", "1280x800"];
    let schemes: &[&str] = &["light", "dark"];
    [
        told(
            "green",
            "All 8 passed.",
            [""; 4],
            &[0, 1],
            &phones()[..4],
            &[],
            passes,
        ),
        told(
            "difference",
            "All 16 passed. 1 difference: link Continue shopping is missing, in dark.",
            ["Order a print", "step 3", "dark", "Continue shopping"],
            &[0],
            &web(&["desktop"]),
            &axes(&[
                ("viewport", &["390x844", "768x1024", "1024x768", "1280x800"]),
                ("colorScheme", schemes),
                ("reducedMotion", &["no-preference", "reduce"]),
            ]),
            passes,
        ),
        told(
            "failure",
            "1 of 3 failed: phone, step 1: link Reports is hidden by CSS.",
            ["Order a print", "step 1", "phone", "is hidden by CSS"],
            &[0],
            &web(&["desktop", "tablet", "phone"]),
            &[],
            |place, _| {
                let is_phone = place.device.id.name() == "phone";
                is_phone.then(|| (1, failed("link \"Reports\" is hidden by CSS")))
            },
        ),
        told(
            "flaky",
            "2 passed, 1 flaky.",
            ["Order a print", "step 2", "phone", "is missing"],
            &[0],
            &web(&["desktop", "phone"]),
            &[],
            |place, attempt| {
                let is_first = place.device.id.name() == "phone" && attempt == 1;
                is_first.then(|| (2, failed("button \"Add to cart\" is missing")))
            },
        ),
        told(
            "lost",
            "4 passed, 1 not tested: Pixel 9 lost at step 3.",
            ["Order a print", "step 3", "Pixel 9", "went offline"],
            &[0],
            &phones(),
            &[],
            |place, _| {
                let lost = Outcome::Infrastructure {
                    blame: Blame::Device,
                    cause: "the device went offline".to_owned(),
                    hint: None,
                    unstarted: Vec::new(),
                };
                (place.device.model == "Pixel 9").then_some((3, lost))
            },
        ),
        told(
            "matrix",
            "4 of 24 failed: de-DE at 390 wide.",
            ["Order a print", "step 2", "de-DE", "Add to cart"],
            &[0],
            &web(&["desktop"]),
            &axes(&[
                ("locale", &["en-US", "de-DE"]),
                ("viewport", sizes),
                ("colorScheme", schemes),
                ("reducedMotion", &["no-preference", "reduce"]),
            ]),
            |place, _| {
                let is_bad = place.is("locale", "de-DE") && place.is("viewport", "390x844");
                is_bad.then(|| (2, failed("button \"Add to cart\" is covered by the banner")))
            },
        ),
    ]
}

fn failed(message: &str) -> Outcome {
    Outcome::Failed(Failure {
        message: message.to_owned(),
        tool: Some("web_click".to_owned()),
        at: Some("trails/order.trail.yaml:11:9".to_owned()),
        ..Failure::default()
    })
}

fn device(id: DeviceId, model: &str, system: &str, (width, height): (f64, f64)) -> DeviceInfo {
    let platform = id.platform();
    DeviceInfo {
        id,
        driver: "test".to_owned(),
        classifiers: vec![platform.as_str().into()],
        model: model.to_owned(),
        system: system.to_owned(),
        screen: Size { width, height },
    }
}

fn web(names: &[&str]) -> Vec<DeviceInfo> {
    let size = |name: &str| match name {
        "phone" => (390.0, 844.0),
        "tablet" => (768.0, 1024.0),
        _ => (1280.0, 800.0),
    };
    let one = |name: &&str| {
        let id = DeviceId::new(Platform::Web, (*name).to_owned());
        device(id, name, "Chromium 156", size(name))
    };
    names.iter().map(one).collect()
}

fn phones() -> Vec<DeviceInfo> {
    let models = ["Pixel 8", "Galaxy S24", "Moto G8", "Xperia 5", "Pixel 9"];
    let one = |(place, model): (usize, &&str)| {
        let id = DeviceId::new(Platform::Android, format!("emulator-{}", 5554 + place * 2));
        device(id, model, "Android 16", (412.0, 915.0))
    };
    models.iter().enumerate().map(one).collect()
}

fn told(
    name: &'static str,
    headline: &'static str,
    wanted: [&'static str; 4],
    trails: &[usize],
    devices: &[DeviceInfo],
    axes: &[Axis],
    fate: Fate,
) -> ExpectedHeadline {
    let mut cells = vec![Cell::default()];
    for axis in axes {
        let with = |cell: &Cell| {
            let cell = cell.clone();
            axis.values.iter().map(move |value| {
                let mut cell = cell.clone();
                cell.0.insert(axis.name.clone(), value.clone());
                cell
            })
        };
        cells = cells.iter().flat_map(with).collect();
    }
    let summaries: Vec<TrailSummary> = trails
        .iter()
        .map(|&trail| TrailSummary {
            name: format!("trail-{trail}"),
            title: TITLES[trail].to_owned(),
            path: "trails/order.trail.yaml".replace("order", ["order", "return"][trail]),
            tags: Vec::new(),
            steps: (1..)
                .zip(STEPS)
                .map(|(step, text)| StepSummary {
                    step: StepIndex(step),
                    kind: StepKind::Step,
                    text: text.to_owned(),
                    line: 4 + step * 6,
                })
                .collect(),
        })
        .collect();
    let mut maker = Maker::default();
    let mut planned = Vec::new();
    let mut verdict = Verdict::default();
    for trail in 0..trails.len() {
        for device in devices {
            for cell in &cells {
                let place = Place {
                    device: device.clone(),
                    cell: cell.clone(),
                };
                planned.push(PlannedSession {
                    trail,
                    device: Some(device.id.clone()),
                    cell: cell.clone(),
                    ..PlannedSession::default()
                });
                maker.session(
                    planned.len() - 1,
                    &planned[planned.len() - 1],
                    &place,
                    fate,
                    &mut verdict,
                );
            }
        }
    }
    let end = Duration::from_secs(9);
    let matrix = MatrixSummary {
        name: "release".to_owned(),
        axes: axes.to_vec(),
        reference: cells[0].clone(),
        cells,
        cover: "all".to_owned(),
        ..MatrixSummary::default()
    };
    let started = RunEvent::RunStarted {
        schema_version: SCHEMA_VERSION,
        packtrain: "0.1.0".to_owned(),
        run: RunId("20261124-093015-k3f9".to_owned()),
        trails: summaries,
        devices: devices.to_vec(),
        sessions: planned,
        matrix: (!axes.is_empty()).then_some(matrix),
        options: RunOptionsSummary {
            shard: "all".to_owned(),
            retries: 1,
            ..RunOptionsSummary::default()
        },
    };
    maker.events.sort_by_key(|(at, _)| *at);
    maker.events.insert(0, (Duration::ZERO, started));
    let duration_ms = end;
    maker.events.push((
        end,
        RunEvent::RunFinished {
            verdict,
            duration_ms,
        },
    ));
    let start = DateTime::from_timestamp(1_795_512_615, 0).expect("a fixed time");
    let entry = |(seq, (after, event))| Entry {
        seq,
        at: start + after,
        event,
    };
    ExpectedHeadline {
        name,
        headline,
        wanted,
        sample: Sample {
            entries: (1..).zip(maker.events).map(entry).collect(),
            files: maker.files,
        },
    }
}

#[derive(Default)]
struct Maker {
    events: Vec<(Duration, RunEvent)>,
    files: BTreeMap<String, Vec<u8>>,
    seen: BTreeMap<String, Observation>,
}

impl Maker {
    fn session(
        &mut self,
        at: usize,
        planned: &PlannedSession,
        place: &Place,
        fate: Fate,
        verdict: &mut Verdict,
    ) {
        let mut now = Duration::from_millis(40 + at as u64 * 30);
        for number in 1.. {
            let session = SessionId::new(SessionIndex(at), AttemptNumber(number));
            let begun = now;
            let end = fate(place, number);
            self.attempt(&session, number, planned, place, end.as_ref(), &mut now);
            let outcome = end.map_or(Outcome::Passed, |(_, outcome)| outcome);
            let duration_ms = now - begun;
            if number == 1 && fate(place, 2).is_none() && outcome != Outcome::Passed {
                let next = AttemptNumber(2);
                self.events.push((
                    now,
                    RunEvent::SessionWillRetry {
                        session,
                        next,
                        outcome,
                        duration_ms,
                    },
                ));
                continue;
            }
            let flaky = number > 1;
            verdict.count(&outcome, flaky);
            self.events.push((
                now,
                RunEvent::SessionFinished {
                    session,
                    outcome,
                    flaky,
                    duration_ms,
                },
            ));
            return;
        }
    }

    fn attempt(
        &mut self,
        session: &SessionId,
        number: u32,
        planned: &PlannedSession,
        place: &Place,
        end: Option<&(u32, Outcome)>,
        now: &mut Duration,
    ) {
        let mut events = vec![RunEvent::session_started(
            session.clone(),
            planned.clone(),
            AttemptNumber(number),
            place.device.clone(),
        )];
        if !place.cell.is_empty() {
            let applied = |(axis, value): (&String, &String)| AppliedAxis {
                axis: axis.clone(),
                want: value.clone(),
                got: value.clone(),
                how: "matchMedia".to_owned(),
                took_ms: Duration::from_millis(3),
            };
            events.push(RunEvent::SessionConfigured {
                memory: BTreeMap::default(),
                session: session.clone(),
                axes: place.cell.0.iter().map(applied).collect(),
            });
        }
        for step in 1..=STEPS.len() as u32 {
            let bad = end
                .filter(|(at, _)| *at == step)
                .map(|(_, outcome)| outcome);
            let outcome = bad.cloned().unwrap_or(Outcome::Passed);
            let (session, index) = (session.clone(), StepIndex(step));
            events.push(RunEvent::StepStarted {
                session: session.clone(),
                step: index,
            });
            self.events
                .extend(events.drain(..).map(|event| (*now, event)));
            *now += Duration::from_millis(300);
            let tool = || "web_click".to_owned();
            let [_, used] = PARTS[step as usize - 1];
            let (role, name) = used.split_once(' ').unwrap_or_default();
            events.push(RunEvent::ToolStarted {
                session: session.clone(),
                step: index,
                call: 0,
                depth: 0,
                tool: tool(),
                arguments: serde_json::json!({"text": name}),
            });
            events.push(RunEvent::ToolFinished {
                session: session.clone(),
                step: index,
                call: 0,
                depth: 0,
                tool: tool(),
                outcome: outcome.clone(),
                report: ActionReport {
                    located: bad.is_none().then(|| Located {
                        by: format!("role {role} \"{name}\""),
                        matched: 1,
                    }),
                    notes: Vec::new(),
                },
                answer: None,
                record: RecordAs::Itself,
                via: None,
                duration_ms: Duration::from_millis(290),
            });
            // What is lost is not looked at any more; what failed shows the screen before it.
            if !matches!(outcome, Outcome::Infrastructure { .. }) {
                let shown = if bad.is_some() {
                    step.max(2) - 2
                } else {
                    step - 1
                };
                let observed = self.observe(shown as usize, place, bad.is_some());
                events.push(RunEvent::StepObserved {
                    session: session.clone(),
                    step: index,
                    observed,
                });
            }
            events.push(RunEvent::StepFinished {
                session: session.clone(),
                step: index,
                outcome: outcome.clone(),
                duration_ms: Duration::from_millis(300),
            });
            if outcome != Outcome::Passed {
                break;
            }
        }
        self.events
            .extend(events.into_iter().map(|event| (*now, event)));
    }

    fn observe(&mut self, shown: usize, place: &Place, is_bad: bool) -> Observation {
        let (w, h) = place.size();
        let is_dark = place.is("colorScheme", "dark");
        // Only the run without languages lacks something in dark.
        let is_lacking = is_dark && !place.cell.0.contains_key("locale");
        let lacks = (is_lacking && shown == 2) || (is_bad && shown == 0);
        let look = format!("{shown} {w} {is_dark} {lacks}");
        if let Some(seen) = self.seen.get(&look) {
            return seen.clone();
        }
        let mut nodes = Vec::new();
        let mut add = |role: &str, name: &str, [l, t, r, b]: [i32; 4]| {
            nodes.push(ScreenNode {
                role: role.to_owned(),
                name: name.to_owned(),
                bounds: Some([l, t, r, b]),
                ..ScreenNode::default()
            });
        };
        add("banner", "", [0, 0, w, 60]);
        add("link", "Print shop", [16, 16, 130, 44]);
        add("link", "Help", [w - 80, 16, w - 16, 44]);
        for (row, part) in PARTS[shown].iter().enumerate() {
            let (role, name) = part.split_once(' ').unwrap_or_default();
            let top = 90 + row as i32 * 70;
            if row == 0 || !lacks {
                add(role, name, [16, top, w.min(420) - 16, top + 48]);
            }
        }
        for (row, name) in ["Lighthouse", "Old town", "Ferry"].iter().enumerate() {
            let top = 250 + row as i32 * 90;
            add("image", name, [16, top, 96, top + 76]);
            add("text", name, [112, top + 20, w.min(500) - 16, top + 48]);
        }
        let tree = ScreenTree {
            width: f64::from(w),
            height: f64::from(h),
            title: Some("Print shop".to_owned()),
            location: Some("http://localhost:8080/".to_owned()),
            nodes,
            ..ScreenTree::default()
        };
        let json = serde_json::to_vec(&tree).expect("a tree is JSON");
        let png = picture::draw_tree(&tree, is_dark, 0, 0.5);
        let digest = |kind: &str| format!("{kind}{:016x}", self.seen.len() + 1);
        let (of_tree, of_picture) = (digest("t"), digest("p"));
        let (tree_path, picture_path) = (
            format!("trees/{of_tree}.json"),
            format!("pictures/{of_picture}.png"),
        );
        let observed = Observation {
            tree: Some(ObservedTree {
                digest: of_tree,
                shown: None,
                nodes: tree.nodes.len() as u32,
                artifact: tree_path.clone(),
            }),
            picture: Some(ObservedPicture {
                digest: of_picture,
                artifact: picture_path.clone(),
                width: w as u32 / 2,
                height: h as u32 / 2,
                scale: 0.5,
                masked: Vec::new(),
            }),
            settled_ms: 34,
            ..Observation::default()
        };
        self.files.insert(tree_path, json);
        self.files.insert(picture_path, png);
        self.seen.insert(look, observed.clone());
        observed
    }
}
