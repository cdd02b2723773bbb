//! Pages of traps for actions: whatever the fast lane does with one, Playwright's own call does.
//!
//! Each page notes the events that reach it. It is acted on by Chromium's lane and without it, for a session
//! that keeps a trace has none. What the command answered, where the page was then and what it noted have to
//! be the same, but for what is listed with its reason. On Firefox the command ends alike.

mod covered;
mod fields;
mod leaving;
mod moving;
mod mutants;
mod places;
mod states;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_playwright::{Engine, WebPool, WebSlot};
use packtrain_drivers::{
    Command, CommandContext, DriverError, InputCommand, Observation, Point, SessionOptions,
    WebCommand, WebTarget,
};
use packtrain_testing::{TestDevice as _, context};
use serde_json::Value;
use tempfile::TempDir;

use crate::browser::{Device, found};
use crate::commands::by_css;
use crate::site::Site;

/// How long a command is given that must fail.
const FAILING_TIMEOUT: Duration = Duration::from_secs(5);

/// A page with something to trip over, and the command that does.
#[derive(Debug, Clone, Copy)]
struct Trap {
    name: &'static str,
    action: Action,
    html: &'static str,
    succeeds: bool,
    /// What the address contains in the end, where the page is left.
    leads_to: Option<&'static str>,
    /// Why the lane may differ from Playwright in where the pointer or the page is, or in an error's words.
    differs: Option<&'static str>,
    /// Why Firefox is not tried.
    not_on_firefox: Option<&'static str>,
}

/// What is done with the element `#go`.
#[derive(Debug, Clone, Copy)]
enum Action {
    Click,
    Hover,
    Fill(&'static str),
    /// Types behind what is there.
    Append(&'static str),
    Select(&'static [&'static str]),
    /// A key, wherever the focus is.
    Press(&'static str),
}

const fn trap(name: &'static str, action: Action, html: &'static str) -> Trap {
    Trap {
        name,
        action,
        html,
        succeeds: true,
        leads_to: None,
        differs: None,
        not_on_firefox: None,
    }
}

const fn click(name: &'static str, html: &'static str) -> Trap {
    trap(name, Action::Click, html)
}

impl Trap {
    const fn fails(mut self) -> Self {
        self.succeeds = false;
        self
    }

    const fn leads_to(mut self, address: &'static str) -> Self {
        self.leads_to = Some(address);
        self
    }

    const fn differs(mut self, why: &'static str) -> Self {
        self.differs = Some(why);
        self
    }

    const fn not_on_firefox(mut self, why: &'static str) -> Self {
        self.not_on_firefox = Some(why);
        self
    }

    /// Whether the lane's outcome is that of Playwright's own call, but for what is known.
    fn is_as_expected(&self, lane: &Outcome, playwright: &Outcome) -> bool {
        let is_same = match self.differs {
            None => lane == playwright,
            Some(_) => lane.roughly() == playwright.roughly(),
        };
        is_same && playwright.verdict.is_ok() == self.succeeds
    }

    fn command(&self) -> Command {
        let target = by_css("#go");
        let typed = |target: WebTarget, text: &str, clear_first| WebCommand::Type {
            target,
            text: text.to_owned(),
            clear_first,
        };
        Command::Web(match self.action {
            Action::Click => WebCommand::Click { target },
            Action::Hover => WebCommand::Hover { target },
            Action::Fill(text) => typed(target, text, true),
            Action::Append(text) => typed(target, text, false),
            Action::Select(options) => WebCommand::Select {
                target,
                values: options.iter().copied().map(str::to_owned).collect(),
            },
            Action::Press(key) => WebCommand::PressKey(key.to_owned()),
        })
    }
}

/// Notes the events that reach the page, where each document of its origin finds them: `~` before those of a
/// script, and behind `@` where the pointer was and how far the page was scrolled. `begin()` starts what moves.
const NOTES: &str = "<title>Trap</title><style>body { margin: 20px; font: 16px/20px sans-serif }</style>
<script>localStorage.notes = ''</script>
<script class=notes>{
  const types = 'pointerdown mousedown mouseup click dblclick input change focus submit keydown mouseenter';
  const called = node => node.id || node.nodeName?.toLowerCase() || 'window';
  const at = event => event instanceof MouseEvent && event.type !== 'mouseenter' ? ` @${Math.round(event.clientX)},${Math.round(event.clientY)} ${Math.round(scrollX)},${Math.round(scrollY)}` : '';
  const held = ({ type, target }) => !/input|change/.test(type) ? '' : ` = ${target.type === 'checkbox' ? target.checked : target.value ?? target.textContent}`;
  for (const type of types.split(' ')) document.addEventListener(type, event => {
    const [first] = event.composedPath();
    if (type === 'mouseenter' ? first.id !== 'go' : first === document) return;
    localStorage.notes += `${event.isTrusted ? '' : '~'}${type} ${called(first)}${held(event)}${at(event)}\\n`;
  }, true);
}
const note = words => localStorage.notes += words + '\\n';
const framed = html => document.querySelector('script.notes').outerHTML + html;
</script>";

/// What came of a command.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    verdict: Result<String, String>,
    /// Where the page was right after the command.
    address: String,
    notes: Vec<String>,
}

impl Outcome {
    /// The kind of verdict, and what the page was told of.
    fn roughly(&self) -> (String, Vec<&str>) {
        let verdict = match &self.verdict {
            Ok(report) => report,
            Err(error) => error.split(':').next().unwrap_or_default(),
        };
        let notes = self.notes.iter().map(|note| note.split(" @").next());
        (
            verdict.to_owned(),
            notes.map(Option::unwrap_or_default).collect(),
        )
    }
}

/// Whether the fast lane may be taken; Firefox has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    Open,
    Closed,
}

/// A device, with a session as long as no page has ended it.
struct Subject {
    device: Device,
    lane: Lane,
    has_session: bool,
    traces: TempDir,
}

impl Subject {
    async fn connect(pool: &Arc<WebPool>, engine: Engine, lane: Lane) -> Self {
        let slot = WebSlot {
            engine,
            ..WebSlot::default()
        };
        Self {
            device: Device::connect_in(pool, slot).await,
            lane,
            has_session: false,
            traces: tempfile::tempdir().unwrap(),
        }
    }

    async fn begin(&mut self) {
        let trace = self.traces.path().join("trace.zip");
        let options = SessionOptions {
            // Without a lane, because it keeps a trace.
            trace: (self.lane == Lane::Closed).then_some(trace),
            ..SessionOptions::default()
        };
        self.device.begin(options).await;
        self.has_session = true;
    }

    /// What comes of the trap's command on its page.
    async fn outcome(&mut self, site: &Site, trap: &Trap) -> Outcome {
        if self.has_session {
            // Nothing is under the pointer when the page is there.
            let at = Point::new(1.0, 1.0);
            self.device.input(InputCommand::Tap { at }).await;
        } else {
            self.begin().await;
        }
        let page = site.page(&format!("{NOTES}{}", trap.html));
        self.device.go(page).await;
        self.device.script("globalThis.begin?.(), 0").await;
        let ctx = if trap.succeeds {
            context()
        } else {
            CommandContext::within(FAILING_TIMEOUT)
        };
        let mut verdict = match self.device.execute_in(trap.command(), &ctx).await {
            Ok(Observation::Done(report)) => Ok(format!("{report:?}")),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(kind(&error)),
        };
        let address = self.address().await;
        if let Some(pattern) = trap.leads_to.filter(|_| verdict.is_ok()) {
            let arrives = WebCommand::AwaitUrl {
                pattern: pattern.to_owned(),
                limit: Duration::from_secs(9),
            };
            if let Err(error) = self.device.execute(Command::Web(arrives)).await {
                verdict = Err(kind(&error));
            }
        }
        let notes = Command::Web(WebCommand::Evaluate("localStorage.notes".to_owned()));
        let notes = match self.device.execute(notes).await {
            Ok(Observation::Json(Value::String(notes))) => notes,
            other => format!("{other:?}"),
        };
        // Other tabs, and what a page has asked for, are of its session.
        self.has_session &= trap.leads_to.is_none();
        Outcome {
            verdict,
            address,
            notes: notes.lines().map(str::to_owned).collect(),
        }
    }

    /// Without what is another each time: the page's own address is its content.
    async fn address(&mut self) -> String {
        match self
            .device
            .execute(Command::Web(WebCommand::CurrentUrl))
            .await
        {
            Ok(Observation::Text(address)) => {
                let (path, rest) = address.split_once('?').unwrap_or((&address, ""));
                format!("{path}{}", rest.trim_start_matches(|c| c != '#'))
            }
            Ok(other) => panic!("{other:?}"),
            Err(error) => {
                self.has_session = false;
                kind(&error)
            }
        }
    }
}

/// Which kind of error, and its words as far as they tell of no time.
fn kind(error: &DriverError) -> String {
    let variant = format!("{error:?}");
    let variant = variant.split([' ', '(']).next().unwrap_or_default();
    let words = error.to_string();
    let words = words.split("imeout ").next().unwrap_or_default();
    format!("{variant}: {words}")
}

/// Acts on each page in both of Chromium's ways; what is not as expected.
async fn differences(
    site: &Site,
    pool: &Arc<WebPool>,
    traps: impl Iterator<Item = &Trap>,
) -> String {
    let (mut lane, mut playwright) = tokio::join!(
        Subject::connect(pool, Engine::Chromium, Lane::Open),
        Subject::connect(pool, Engine::Chromium, Lane::Closed)
    );
    let mut wrong = String::new();
    for trap in traps {
        let (by_lane, by_playwright) =
            tokio::join!(lane.outcome(site, trap), playwright.outcome(site, trap));
        if !trap.is_as_expected(&by_lane, &by_playwright) {
            let name = trap.name;
            let _ = writeln!(
                wrong,
                "## {name}\nlane {by_lane:?}\nPlaywright {by_playwright:?}"
            );
        }
    }
    for subject in [lane, playwright] {
        subject.device.leave().await;
    }
    wrong
}

/// What must fail takes its time, so there are two at once.
async fn compare(traps: &[Trap]) {
    let (site, pool) = (Site::start().await, WebPool::new(&found()));
    let wrong = tokio::join!(
        differences(&site, &pool, traps.iter().step_by(2)),
        differences(&site, &pool, traps.iter().skip(1).step_by(2))
    );
    pool.shutdown().await;
    let wrong = wrong.0 + &wrong.1;
    assert!(wrong.is_empty(), "{wrong}");
}

/// The traps on which Firefox does not end as Chromium does.
async fn ends_otherwise(
    site: &Site,
    pool: &Arc<WebPool>,
    traps: impl Iterator<Item = &Trap>,
) -> String {
    let mut firefox = Subject::connect(pool, Engine::Firefox, Lane::Open).await;
    let mut wrong = String::new();
    for trap in traps {
        let outcome = firefox.outcome(site, trap).await;
        if outcome.verdict.is_ok() != trap.succeeds {
            let _ = writeln!(wrong, "## {}\nFirefox {outcome:?}", trap.name);
        }
    }
    firefox.device.leave().await;
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn firefox_ends_as_chromium_does() {
    let (site, pool) = (Site::start().await, WebPool::new(&found()));
    let mut traps = all();
    traps.retain(|trap| trap.not_on_firefox.is_none());
    let part = |nth| ends_otherwise(&site, &pool, traps.iter().skip(nth).step_by(6));
    let wrong = futures::future::join_all((0..6).map(part)).await.concat();
    pool.shutdown().await;
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_covered_is_acted_on_as_playwright_does() {
    compare(covered::TRAPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_moves_or_comes_late_is_acted_on_as_playwright_does() {
    compare(moving::TRAPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lacks_a_state_is_acted_on_as_playwright_does() {
    compare(states::TRAPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_lies_anywhere_is_acted_on_as_playwright_does() {
    compare(places::TRAPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_are_acted_on_as_playwright_does() {
    compare(fields::TRAPS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_left_is_acted_on_as_playwright_does() {
    compare(leaving::TRAPS).await;
}

#[test]
fn each_trap_has_a_name_of_its_own_and_there_are_sixty() {
    let mut names: Vec<_> = all().iter().map(|trap| trap.name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "{names:?}");
    assert!(all >= 60, "{all}");
}

fn all() -> Vec<Trap> {
    [
        covered::TRAPS,
        moving::TRAPS,
        states::TRAPS,
        places::TRAPS,
        fields::TRAPS,
        leaving::TRAPS,
    ]
    .concat()
}
