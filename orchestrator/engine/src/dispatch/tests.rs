use std::sync::Arc;

use packtrain_drivers::{DeviceInfo, Platform, Size};
use packtrain_model::trail::Trail;
use packtrain_model::{Cell, Exit, RunId};
use proptest::prelude::*;

use super::*;
use crate::host::DeviceChangeKind;
use crate::request::{RunOptions, Shard};
use crate::resolve::Planned;

fn id(number: usize) -> DeviceId {
    DeviceId::new(Platform::Web, format!("d{number}"))
}

fn changed(id: DeviceId, kind: DeviceChangeKind) -> Event {
    Event::DeviceChanged(DeviceChange { id, kind })
}

fn device(number: usize) -> DeviceInfo {
    DeviceInfo {
        id: id(number),
        driver: String::new(),
        classifiers: vec!["web".into()],
        model: String::new(),
        system: String::new(),
        screen: Size::new(1.0, 1.0),
    }
}

/// A plan of sessions, each for some of the devices.
fn plan(devices: usize, sessions: &[&[usize]], options: RunOptions) -> Plan {
    let planned = sessions.iter().map(|may| Planned {
        trail: 0,
        devices: may.iter().map(|&number| id(number)).collect(),
        on: None,
        skip: None,
        alike: false,
        cell: Cell::default(),
        repeat: None,
        place: None,
    });
    Plan {
        run: RunId("r".into()),
        matrices: Vec::new(),
        trails: vec![Arc::new(Trail::empty("t"))],
        devices: (0..devices).map(device).collect(),
        sessions: planned.collect(),
        shard: Shard::Split,
        part: None,
        options,
    }
}

fn retries(retries: u32) -> RunOptions {
    RunOptions {
        retries,
        ..RunOptions::default()
    }
}

fn lost() -> Outcome {
    Outcome::Infrastructure {
        blame: Blame::Device,
        cause: "gone".into(),
        hint: None,
        unstarted: Vec::new(),
    }
}

/// A dispatcher, what it has running, and how it ended.
struct DispatchLab {
    dispatcher: Dispatcher,
    running: Vec<Assignment>,
    finished: Option<Verdict>,
    cancelled: Vec<CancelCause>,
    aborted: bool,
    settled: Vec<(SessionId, Outcome)>,
}

impl DispatchLab {
    fn new(plan: &Plan) -> Self {
        let mut desk = Self {
            dispatcher: Dispatcher::new(plan),
            running: Vec::new(),
            finished: None,
            cancelled: Vec::new(),
            aborted: false,
            settled: Vec::new(),
        };
        desk.tell(Event::Begin);
        desk
    }

    fn tell(&mut self, event: Event) {
        for action in self.dispatcher.handle(event).0 {
            match action {
                Action::Start(assignment) => self.running.push(assignment),
                Action::Cancel(cause) => self.cancelled.push(cause),
                Action::Abort => self.aborted = true,
                Action::Finish(verdict) => {
                    assert_eq!(self.finished.replace(verdict), None, "finished twice");
                }
                Action::Record(RunEvent::SessionFinished {
                    session, outcome, ..
                }) => self.settled.push((session, outcome)),
                Action::Record(_) => {}
            }
        }
    }

    /// The session on a device ends.
    fn end(&mut self, number: usize, outcome: Outcome) -> Assignment {
        let place = self
            .running
            .iter()
            .position(|assignment| assignment.device == Some(id(number)))
            .expect("something runs on the device");
        let assignment = self.running.remove(place);
        self.tell(Event::SessionEnded {
            assignment: assignment.clone(),
            outcome,
            duration: Duration::ZERO,
        });
        assignment
    }

    fn on(&self, number: usize) -> Option<(usize, u32)> {
        let mut running = self.running.iter();
        let found = running.find(|assignment| assignment.device == Some(id(number)))?;
        Some((found.index.0, found.attempt.0))
    }
}

#[test]
fn a_failure_is_retried_where_it_happened_before_the_next_trail() {
    let mut desk = DispatchLab::new(&plan(2, &[&[0, 1], &[0, 1], &[0, 1]], retries(1)));
    desk.end(0, Outcome::failed("no"));
    assert_eq!(desk.on(0), Some((0, 2)));
    desk.end(0, Outcome::failed("no"));
    assert_eq!(desk.on(0), Some((2, 1)));
}

#[test]
fn what_a_device_is_to_blame_for_is_retried_on_another_one() {
    let mut desk = DispatchLab::new(&plan(2, &[&[0, 1], &[0, 1], &[0, 1]], retries(1)));
    desk.end(0, lost());
    assert_eq!(
        desk.on(0),
        Some((2, 1)),
        "the next trail, not the same again"
    );
    desk.end(1, Outcome::Passed);
    assert_eq!(desk.on(1), Some((0, 2)), "the healthy device takes it over");
}

#[test]
fn an_attempt_that_failed_is_not_hidden_by_a_later_one_of_which_nothing_is_known() {
    for (last, exit) in [
        (lost(), Exit::Failed),
        (
            Outcome::Cancelled {
                by: CancelCause::Interrupt,
            },
            Exit::Failed,
        ),
        (Outcome::Passed, Exit::Passed),
    ] {
        let mut desk = DispatchLab::new(&plan(1, &[&[0]], retries(1)));
        desk.end(0, Outcome::failed("the page says no"));
        desk.end(0, last);
        assert_eq!(desk.finished.unwrap().exit, exit);
    }
}

#[test]
fn with_one_device_only_it_is_retried_there() {
    let mut desk = DispatchLab::new(&plan(1, &[&[0]], retries(1)));
    desk.end(0, lost());
    assert_eq!(desk.on(0), Some((0, 2)));
}

#[test]
fn a_device_that_breaks_twice_in_a_row_is_given_up_and_its_rest_is_settled() {
    let mut desk = DispatchLab::new(&plan(1, &[&[0], &[0], &[0], &[0]], retries(0)));
    desk.end(0, lost());
    desk.end(0, lost());
    assert_eq!(desk.on(0), None);
    let verdict = desk.finished.unwrap();
    assert_eq!(
        (verdict.infrastructure, verdict.exit),
        (4, Exit::Infrastructure)
    );
    assert!(
        desk.settled[3]
            .1
            .message()
            .unwrap()
            .contains("no usable device")
    );
}

#[test]
fn a_session_that_fails_between_two_breaks_shows_that_the_device_works() {
    let mut desk = DispatchLab::new(&plan(1, &[&[0], &[0], &[0], &[0]], retries(0)));
    for outcome in [lost(), Outcome::failed("no"), lost()] {
        desk.end(0, outcome);
    }
    assert_eq!(desk.on(0), Some((3, 1)));
}

#[test]
fn a_source_that_breaks_costs_no_device_its_place() {
    let mut desk = DispatchLab::new(&plan(1, &[&[0], &[0], &[0], &[0]], retries(0)));
    for _ in 0..3 {
        desk.end(
            0,
            Outcome::Infrastructure {
                blame: Blame::Source,
                cause: "it crashed".into(),
                hint: None,
                unstarted: Vec::new(),
            },
        );
    }
    assert_eq!(desk.on(0), Some((3, 1)));
}

#[test]
fn what_is_bound_to_a_device_that_was_given_up_goes_to_others_that_may_run_it() {
    let mut desk = DispatchLab::new(&plan(2, &[&[0, 1], &[1]], retries(3)));
    desk.end(0, Outcome::failed("no"));
    desk.tell(changed(id(0), DeviceChangeKind::Left));
    desk.end(0, Outcome::failed("no"));
    assert_eq!(desk.on(0), None);
    desk.end(1, Outcome::Passed);
    assert_eq!(desk.on(1), Some((0, 3)));
}

#[test]
fn a_device_that_is_down_gets_only_what_no_other_can_take() {
    let mut desk = DispatchLab::new(&plan(2, &[&[0, 1], &[0, 1], &[0], &[0]], retries(0)));
    desk.tell(changed(id(0), DeviceChangeKind::Down));
    desk.end(0, Outcome::Passed);
    assert_eq!(
        desk.on(0),
        Some((3, 1)),
        "its own session, not the shared one"
    );
    desk.end(0, Outcome::Passed);
    assert_eq!(desk.on(0), None);
    desk.tell(changed(id(0), DeviceChangeKind::Up));
    assert_eq!(desk.on(0), Some((1, 1)));
}

#[test]
fn a_device_that_joins_anew_is_given_work_again() {
    let mut desk = DispatchLab::new(&plan(2, &[&[0], &[0], &[0], &[1]], retries(0)));
    desk.end(0, lost());
    desk.end(0, lost());
    assert_eq!(desk.on(0), None);
    desk.tell(changed(id(0), DeviceChangeKind::Joined));
    assert_eq!(desk.on(0), Some((2, 1)));
}

#[test]
fn fail_fast_cancels_what_runs_and_settles_what_waits() {
    let options = RunOptions {
        fail_fast: true,
        ..RunOptions::default()
    };
    let mut desk = DispatchLab::new(&plan(2, &[&[0], &[1], &[0], &[1]], options));
    desk.end(0, Outcome::failed("no"));
    assert_eq!(desk.cancelled, [CancelCause::FailFast]);
    assert_eq!(desk.settled.len(), 3);
    let by = CancelCause::FailFast;
    desk.end(1, Outcome::Cancelled { by });
    let verdict = desk.finished.unwrap();
    assert_eq!((verdict.failed, verdict.cancelled), (1, 3));
    assert_eq!(verdict.exit, Exit::Failed);
}

#[test]
fn reasons_to_stop_only_ever_get_stronger() {
    let mut desk = DispatchLab::new(&plan(1, &[&[0]], retries(0)));
    desk.tell(Event::Stop(StopReason::TimeLimit));
    desk.tell(Event::Stop(StopReason::FailFast));
    desk.tell(Event::Stop(StopReason::TimeLimit));
    assert_eq!(desk.cancelled, [CancelCause::TimeLimit]);
    desk.tell(Event::Stop(StopReason::Interrupt));
    assert_eq!(
        desk.cancelled,
        [CancelCause::TimeLimit, CancelCause::Interrupt]
    );
    assert!(!desk.aborted);
    desk.tell(Event::Stop(StopReason::SecondInterrupt));
    assert!(desk.aborted);
}

#[test]
fn a_run_of_nothing_is_over_at_once() {
    let desk = DispatchLab::new(&plan(1, &[], retries(0)));
    assert_eq!(desk.finished, Some(Verdict::default()));
}

/// What happens next in a random run.
#[derive(Debug, Clone)]
enum Turn {
    End(usize, u8),
    Device(usize, u8),
    Stop(u8),
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        12 => (0..4usize, 0..6u8).prop_map(|(place, how)| Turn::End(place, how)),
        3 => (0..4usize, 0..4u8).prop_map(|(number, how)| Turn::Device(number, how)),
        1 => (0..5u8).prop_map(Turn::Stop),
    ];
    prop::collection::vec(turn, 0..120)
}

proptest! {
    /// Whatever happens in whatever order, a device runs one session at a time and only what it
    /// may, and at the end every planned session is settled exactly once.
    #[test]
    fn planned_equals_settled(
        sessions in prop::collection::vec(prop::collection::btree_set(0usize..4, 1..4), 0..20),
        allowed in 0u32..3,
        turns in turns(),
    ) {
        let may: Vec<Vec<usize>> = sessions.iter().map(|may| may.iter().copied().collect()).collect();
        let slices: Vec<&[usize]> = may.iter().map(Vec::as_slice).collect();
        let mut desk = DispatchLab::new(&plan(4, &slices, retries(allowed)));
        let rest = std::iter::repeat_n(Turn::End(0, 0), 400);
        for turn in turns.into_iter().chain(rest) {
            for number in 0..4 {
                let at_once = desk.running.iter().filter(|a| a.device == Some(id(number))).count();
                prop_assert!(at_once <= 1);
            }
            for assignment in &desk.running {
                prop_assert!(assignment.attempt.0 <= allowed + 1);
                let number = (0..4).find(|&n| Some(id(n)) == assignment.device).unwrap();
                prop_assert!(sessions[assignment.index.0].contains(&number));
            }
            match turn {
                Turn::End(place, how) if !desk.running.is_empty() => {
                    let assignment = desk.running.swap_remove(place % desk.running.len());
                    let outcome = match how {
                        0 | 1 => Outcome::Passed,
                        2 => Outcome::failed("no"),
                        3 => lost(),
                        4 => Outcome::NeedsAgent { why: "x".into() },
                        _ => Outcome::Cancelled { by: CancelCause::Interrupt },
                    };
                    let duration = Duration::ZERO;
                    desk.tell(Event::SessionEnded { assignment, outcome, duration });
                }
                Turn::End(..) => {}
                Turn::Device(number, how) => desk.tell(match how {
                    0 => changed(id(number), DeviceChangeKind::Down),
                    1 => changed(id(number), DeviceChangeKind::Up),
                    2 => changed(id(number), DeviceChangeKind::Left),
                    _ => changed(id(number), DeviceChangeKind::Joined),
                }),
                Turn::Stop(how) => desk.tell(Event::Stop(match how {
                    0 => StopReason::FailFast,
                    1 => StopReason::TimeLimit,
                    2 => StopReason::Interrupt,
                    3 => StopReason::Overdue,
                    _ => StopReason::SecondInterrupt,
                })),
            }
        }
        let verdict = desk.finished.expect("a run ends when nothing runs any more");
        prop_assert_eq!(verdict.settled() as usize, sessions.len());
        prop_assert_eq!(desk.dispatcher.unsettled(), 0);
        let mut settled: Vec<_> = desk.settled.iter().map(|(session, _)| {
            session.0.split('.').next().unwrap().to_owned()
        }).collect();
        settled.sort();
        settled.dedup();
        prop_assert_eq!(settled.len(), sessions.len());
    }
}

/// A plan of sessions whose devices the farm finds.
fn anywhere(sessions: usize, options: RunOptions) -> Plan {
    let mut plan = plan(0, &vec![&[][..]; sessions], options);
    for planned in &mut plan.sessions {
        planned.on = Some("android".into());
    }
    plan
}

impl DispatchLab {
    /// The session that was asked for first ends.
    fn end_first(&mut self, outcome: Outcome) -> Assignment {
        let assignment = self.running.remove(0);
        self.tell(Event::SessionEnded {
            assignment: assignment.clone(),
            outcome,
            duration: Duration::ZERO,
        });
        assignment
    }
}

#[test]
fn sessions_for_any_device_are_all_asked_for_at_once() {
    let mut desk = DispatchLab::new(&anywhere(100, retries(0)));
    assert_eq!(desk.running.len(), 100);
    for _ in 0..100 {
        assert_eq!(desk.finished, None);
        desk.end_first(Outcome::Passed);
    }
    assert_eq!(desk.finished.unwrap().passed, 100);
}

#[test]
fn what_is_lost_with_a_device_of_the_farm_goes_to_another_and_is_not_flaky() {
    let mut desk = DispatchLab::new(&anywhere(1, retries(0)));
    desk.end_first(lost());
    assert_eq!(desk.running[0].attempt, AttemptNumber(2));
    assert_eq!(desk.running[0].tried, 0);
    desk.end_first(Outcome::Passed);
    let verdict = desk.finished.unwrap();
    assert_eq!((verdict.passed, verdict.flaky), (1, 0));
}

#[test]
fn a_failure_on_a_replacement_is_a_failure_and_replacements_have_an_end() {
    let mut desk = DispatchLab::new(&anywhere(1, retries(0)));
    desk.end_first(lost());
    desk.end_first(Outcome::failed("no"));
    assert_eq!(desk.finished.unwrap().failed, 1);
    let mut desk = DispatchLab::new(&anywhere(1, retries(0)));
    for _ in 0..=MOST_REPLACEMENTS {
        desk.end_first(lost());
    }
    assert_eq!(desk.finished.unwrap().exit, Exit::Infrastructure);
}
