//! What happens and what that comes to, without a device, a disk or a clock.

use std::mem::take;

use super::*;

#[derive(Debug, PartialEq, Eq)]
enum Names {}

impl Handles for Names {
    type Agent = &'static str;
    type Device = &'static str;
    type Run = &'static str;
    type Project = &'static str;

    fn is_forgotten(device: &Self::Device, _: Instant) -> bool {
        device.starts_with("unused")
    }

    fn is_over(run: &Self::Run) -> bool {
        run.starts_with("over")
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// A daemon's state, and how late it is.
struct Daemon {
    state: State<Names>,
    now: Instant,
}

impl Daemon {
    fn new() -> Self {
        let now = Instant::now();
        let state = State::new(now);
        Self { state, now }
    }

    fn join(&mut self, name: &'static str) -> AgentId {
        let id = self.state.number();
        assert_eq!(self.state.join(id, &name, None, self.now), Some(name));
        id
    }

    /// Whether one with such a token is let in.
    fn requests(&mut self, token: &str, client: usize) -> Option<AgentId> {
        let id = self.state.number();
        let who = (token.to_owned(), None, client.to_string());
        let joined = self.state.join(id, &"requester", Some(who), self.now);
        joined.map(|_| id)
    }

    fn agent(&mut self, id: AgentId) -> &mut AgentState<Names> {
        self.state.agents.get_mut(&id).unwrap()
    }

    /// What is to be done since this was asked last.
    fn effects(&mut self) -> Vec<Effect<Names>> {
        take(&mut self.state.effects)
    }

    /// What is let go of so much later.
    fn reap(&mut self, minutes: u32, folders_gone: &[ProjectKey]) -> Vec<Effect<Names>> {
        self.now += minutes * MINUTE;
        self.state.reap(folders_gone, self.now);
        self.effects()
    }

    /// Opens a project, which somebody uses then.
    fn open(&mut self, name: &'static str, files: u64) {
        let key = key(name);
        assert_eq!(self.state.take_turn(&key), Some(None));
        self.state.opened(&key, files, &name, self.now);
        self.uses(name, true);
        self.state.end_turn(&key);
    }

    fn uses(&mut self, name: &str, is_begun: bool) {
        self.state.use_project(&key(name), is_begun, self.now);
    }
}

fn key(folder: &str) -> ProjectKey {
    ProjectKey {
        folder: folder.into(),
        config: None,
        environment: BTreeMap::new(),
    }
}

#[test]
fn what_an_agent_has_goes_back_with_it_and_nothing_is_given_to_it_after() {
    let mut daemon = Daemon::new();
    let (one, other) = (daemon.join("one"), daemon.join("other"));
    assert!(daemon.agent(one).give("a", &"phone") && daemon.agent(one).give("b", &"page"));
    assert!(daemon.agent(other).give("c", &"tablet"));
    daemon.state.leave(one);
    let gone = [
        Effect::Dismiss("one"),
        Effect::GiveBack("phone"),
        Effect::GiveBack("page"),
    ];
    assert_eq!(daemon.effects(), gone);
    assert!(!daemon.agent(one).give("d", &"late"));
    daemon.state.forget(|agent| agent.handle == "one");
    assert_eq!(daemon.effects(), [Effect::Dismiss("one")]);
    assert!(!daemon.state.is_idle(0), "the other is here");
    daemon.state.forget(|_| true);
    let gone = [Effect::Dismiss("other"), Effect::GiveBack("tablet")];
    assert_eq!(daemon.effects(), gone);
    assert!(daemon.state.is_idle(0));
    daemon.state.work = 2;
    assert!(!daemon.state.is_idle(1) && daemon.state.is_idle(2));
}

#[test]
fn a_device_that_lies_unused_goes_back_and_its_agent_stays() {
    let mut daemon = Daemon::new();
    let id = daemon.join("agent");
    for (handle, device) in [("a", "used phone"), ("b", "unused page")] {
        assert!(daemon.agent(id).give(handle, &device));
    }
    assert_eq!(daemon.reap(1, &[]), [Effect::GiveBack("unused page")]);
    assert!(daemon.agent(id).held.contains_key("a") && daemon.reap(600, &[]).is_empty());
}

#[test]
fn an_agent_is_known_again_and_one_token_does_not_have_all_places() {
    let mut daemon = Daemon::new();
    let join = |daemon: &mut Daemon, token: &str| {
        let joined = (0..300).filter(|client| daemon.requests(token, *client).is_some());
        joined.count()
    };
    assert_eq!(join(&mut daemon, "a"), REQUESTERS_OF_ONE);
    assert!(daemon.requests("a", 0).is_some(), "it is known");
    assert_eq!(daemon.state.agents.len(), REQUESTERS_OF_ONE);
    assert_eq!(join(&mut daemon, "b"), REQUESTERS - REQUESTERS_OF_ONE);
    assert_eq!(join(&mut daemon, "c"), 0, "all places are taken");
}

#[test]
fn who_has_no_session_is_forgotten_when_it_is_silent_and_has_nothing() {
    let mut daemon = Daemon::new();
    let id = daemon.requests("token", 1).unwrap();
    daemon.join("agent with a session");
    daemon.agent(id).started(&"run");
    assert_eq!(daemon.reap(16, &[]), [], "it has a run");
    daemon.agent(id).runs = vec!["over"];
    daemon.agent(id).activity.begin();
    assert!(!daemon.agent(id).may_be_forgotten());
    assert_eq!(daemon.reap(60, &[]), [], "it is being answered");
    let now = daemon.now;
    daemon.agent(id).activity.end(now);
    assert!(daemon.agent(id).may_be_forgotten());
    assert_eq!(daemon.reap(14, &[]), [], "it was answered until then");
    assert_eq!(daemon.reap(1, &[]), [Effect::Dismiss("requester")]);
    assert_eq!(daemon.state.agents.len(), 1);
}

#[test]
fn the_oldest_run_that_is_over_makes_room() {
    let mut daemon = Daemon::new();
    let id = daemon.join("agent");
    let agent = daemon.agent(id);
    for run in ["first", "over 1", "over 2"] {
        agent.started(&run);
    }
    while agent.runs.len() < RUNS {
        agent.started(&"run");
    }
    agent.started(&"new");
    assert_eq!(agent.runs.len(), RUNS);
    assert_eq!(agent.runs[..2], ["first", "over 2"]);
    assert_eq!(agent.runs.last(), Some(&"new"));
}

#[test]
fn a_project_is_opened_once_and_closed_when_nobody_has_used_it_for_long() {
    let mut daemon = Daemon::new();
    let key = key("shop");
    assert_eq!(daemon.state.take_turn(&key), Some(None));
    assert_eq!(daemon.state.take_turn(&key), None, "one opens it");
    daemon.state.end_turn(&key);
    daemon.open("shop", 7);
    assert_eq!(daemon.state.take_turn(&key), Some(Some((7, "shop"))));
    assert_eq!(
        daemon.state.open(&key),
        Some("shop"),
        "while it is looked at"
    );
    daemon.state.end_turn(&key);
    let folders = [key.clone()];
    assert_eq!(daemon.reap(20, &folders), [], "it is in use");
    daemon.uses("shop", false);
    assert_eq!(daemon.reap(9, &[]), []);
    assert_eq!(daemon.state.take_turn(&key), Some(Some((7, "shop"))));
    assert_eq!(daemon.reap(1, &folders), [], "it is looked at");
    daemon.state.end_turn(&key);
    assert_eq!(daemon.reap(0, &[]), [Effect::Close("shop")]);
    assert_eq!(daemon.state.open(&key), None);
}

#[test]
fn a_project_that_has_changed_is_reopened_once_it_is_given_up_and_closed() {
    let mut daemon = Daemon::new();
    let key = key("shop");
    daemon.open("shop", 7);
    let was = daemon.state.take_turn(&key);
    assert_eq!(was, Some(Some((7, "shop"))), "its files are others now");
    assert!(!daemon.state.close(&key), "refused: it is in use");
    daemon.uses("shop", false);
    assert!(daemon.state.close(&key));
    assert_eq!(daemon.effects(), [Effect::Close("shop")]);
    daemon.state.end_turn(&key);
    assert_eq!(daemon.state.take_turn(&key), None, "it is being closed");
    assert!(!daemon.state.close_all(), "that is waited for");
    daemon.state.end_turn(&key);
    daemon.open("shop", 8);
    assert_eq!(daemon.state.take_turn(&key), Some(Some((8, "shop"))));
}

#[test]
fn a_project_whose_folder_is_gone_is_closed_at_once_and_all_are_at_the_end() {
    let mut daemon = Daemon::new();
    for name in ["gone", "here", "used"] {
        daemon.open(name, 0);
    }
    daemon.uses("gone", false);
    daemon.uses("here", false);
    assert_eq!(daemon.state.unused(), [key("gone"), key("here")]);
    assert_eq!(daemon.reap(0, &[key("gone")]), [Effect::Close("gone")]);
    daemon.state.end_turn(&key("gone"));
    assert!(daemon.state.take_turn(&key("here")).is_some());
    assert!(!daemon.state.close_all());
    assert_eq!(daemon.effects(), [Effect::Close("used")]);
    daemon.state.end_turn(&key("here"));
    daemon.state.end_turn(&key("used"));
    assert!(!daemon.state.close_all(), "one was looked at until then");
    assert_eq!(daemon.effects(), [Effect::Close("here")]);
    daemon.state.end_turn(&key("here"));
    assert!(daemon.state.close_all());
}

#[test]
fn a_daemon_ends_when_nobody_has_used_it_for_its_time() {
    let mut daemon = Daemon::new();
    let is_over = |daemon: &mut Daemon, minutes| {
        let _ = daemon.reap(minutes, &[]);
        daemon.state.is_disused(10 * MINUTE, daemon.now)
    };
    assert!(!is_over(&mut daemon, 9));
    let id = daemon.join("agent");
    assert!(!is_over(&mut daemon, 30), "an agent is here");
    daemon.state.forget(|_| true);
    daemon.state.work = 1;
    assert!(!is_over(&mut daemon, 30), "a run goes on");
    daemon.state.work = 0;
    assert!(!is_over(&mut daemon, 9));
    daemon.state.leave(id);
    assert!(is_over(&mut daemon, 1));
}
