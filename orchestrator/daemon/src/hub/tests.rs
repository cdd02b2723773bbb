//! What lies unused is let go of, and nothing else. The clock is tokio's, put forward by hand.

use std::collections::BTreeMap;

use actix_rt::{Arbiter, System};
use packtrain_config::Loaded;
use packtrain_door::front::Visitor;
use packtrain_drivers::{DeviceId, Platform};
use packtrain_model::trail::ToolCall;
use packtrain_model::yaml::Value;
use serde_json::json;
use tokio::time::{advance, pause, resume};

use super::*;
use crate::agents::equip;
use crate::{HeldDevice, Transport};

const MINUTE: Duration = Duration::from_secs(60);

/// A hub with a project of one phone, and what it is done with.
fn with_phone(work: impl AsyncFnOnce(&Arc<Hub>, Arc<Project>)) {
    let folder = tempfile::tempdir().unwrap();
    let config = "devices: { virtual: { android: 1, profile: fast } }\n";
    std::fs::write(folder.path().join("packtrain.yaml"), config).unwrap();
    let key = ProjectKey {
        folder: folder.path().to_owned(),
        config: None,
        environment: BTreeMap::new(),
    };
    System::new().block_on(async {
        let arbiters = vec![Arbiter::current()];
        let hub = Hub::new(&arbiters, CancellationToken::new(), Loaded::whole);
        let project = Arc::clone(&hub.project(key, 0).await.ok().unwrap());
        work(&hub, project).await;
        hub.dismiss_all();
        hub.is_done().await;
        hub.close().await;
    });
}

/// So much later, devices are looked after.
async fn reaped_after(hub: &Arc<Hub>, time: Duration) {
    pause();
    advance(time).await;
    resume();
    hub.reap(None);
}

fn opened(hub: &Hub, key: &ProjectKey) -> Option<Arc<Project>> {
    hub.read(|state| state.open(key))
}

async fn takes(agent: &Arc<Agent>) -> Arc<HeldDevice> {
    let (device, wait) = (DeviceId::new(Platform::Android, "virtual-1"), MINUTE);
    let held = HeldDevice::acquire(agent, &[device], wait, |_, _| {}).await;
    held.ok().unwrap()
}

fn call(name: &str, arguments: &serde_json::Value) -> ToolCall {
    ToolCall::new(name, Value::from(arguments))
}

#[test]
fn a_daemon_that_ends_waits_for_nothing_that_still_opens() {
    use crate::connection::opened;

    System::new().block_on(async {
        let arbiters = vec![Arbiter::current()];
        let hub = Hub::new(&arbiters, CancellationToken::new(), Loaded::whole);
        let opening = opened::<()>(&hub, std::future::pending());
        tokio::pin!(opening);
        assert!(futures::poll!(&mut opening).is_pending());
        hub.ending.cancel();
        assert!(opening.await.is_err());
        // Nor is anybody let in whom the end does not know.
        assert!(opened(&hub, async { Ok(()) }).await.is_err());
    });
}

#[test]
fn a_lease_ends_when_it_lies_unused_and_not_while_it_is_used() {
    with_phone(async |hub, project| {
        let present = hub.join(Transport::Stdio, &project, None);
        let agent = &present.agent;
        let held = takes(agent).await;
        let is_held = |held: &HeldDevice| agent.held(&held.handle).is_some();
        reaped_after(hub, 14 * MINUTE).await;
        // How it ends does not matter, and devices go by another clock.
        let _ = held.call(&call("readScreen", &json!({})), MINUTE).await;
        reaped_after(hub, 14 * MINUTE).await;
        assert!(is_held(&held), "it was used within the time");

        let wait = call("wait", &json!({ "timeToWaitInSeconds": 7200 }));
        {
            let waiting = held.call(&wait, 600 * MINUTE);
            tokio::pin!(waiting);
            assert!(futures::poll!(&mut waiting).is_pending());
            reaped_after(hub, 20 * MINUTE).await;
            assert!(is_held(&held), "a call is under way");
        }
        reaped_after(hub, 14 * MINUTE).await;
        assert!(is_held(&held), "it was under way until then");
        reaped_after(hub, 2 * MINUTE).await;
        assert!(!is_held(&held), "it lay unused");
        held.is_closed().await;
    });
}

#[test]
fn a_lease_ends_after_a_day_whatever_is_done_with_it() {
    with_phone(async |hub, project| {
        let present = hub.join(Transport::Stdio, &project, None);
        let held = takes(&present.agent).await;
        let is_held = || present.agent.held(&held.handle).is_some();
        {
            let wait = call("wait", &json!({ "timeToWaitInSeconds": 84_000 }));
            let waiting = held.call(&wait, 1430 * MINUTE);
            tokio::pin!(waiting);
            assert!(futures::poll!(&mut waiting).is_pending());
            reaped_after(hub, 23 * 60 * MINUTE).await;
            assert!(is_held());
            reaped_after(hub, 61 * MINUTE).await;
            assert!(!is_held());
        }
        held.is_closed().await;
    });
}

#[test]
fn who_has_no_session_is_forgotten_after_a_silence_and_not_while_it_is_answered() {
    with_phone(async |hub, project| {
        let who = ("token".to_owned(), None, "client".to_owned());
        let agent = hub.join_requester(who, &project).ok().unwrap();
        let asking = agent.asks();
        reaped_after(hub, 60 * MINUTE).await;
        assert!(!hub.agents().is_empty(), "it is being answered");
        drop(asking);
        reaped_after(hub, 14 * MINUTE).await;
        assert!(!hub.agents().is_empty(), "it was answered until then");
        reaped_after(hub, 2 * MINUTE).await;
        assert!(agent.gone.is_cancelled() && hub.agents().is_empty());
    });
}

#[test]
fn a_project_is_closed_when_nobody_has_used_it_for_long_or_its_folder_is_gone() {
    with_phone(async |hub, project| {
        let present = hub.join(Transport::Stdio, &project, None);
        let key = project.key.clone();
        hub.reap(None);
        reaped_after(hub, 20 * MINUTE).await;
        assert!(opened(hub, &key).is_some(), "an agent uses it");
        drop(present);
        hub.reap(None);
        reaped_after(hub, 9 * MINUTE).await;
        assert!(opened(hub, &key).is_some());
        reaped_after(hub, 2 * MINUTE).await;
        assert!(opened(hub, &key).is_none());
        project.closing.cancelled().await;

        let again = hub.project(key.clone(), 0).await.ok().unwrap();
        std::fs::remove_dir_all(&key.folder).unwrap();
        hub.reap(None);
        assert!(opened(hub, &key).is_some(), "it is in use");
        drop(again);
        hub.reap(None);
        assert!(opened(hub, &key).is_none());
    });
}

#[test]
fn whoever_comes_for_what_changed_waits_until_what_it_was_is_closed() {
    with_phone(async |hub, project| {
        let key = project.key.clone();
        let now = hub.project(key.clone(), 1).await.ok().unwrap();
        assert!(project.closing.is_cancelled() && !Arc::ptr_eq(&now, &project));
        // Who has been let in is not robbed of it.
        assert!(hub.project(key, 2).await.is_err());
    });
}

/// Blocks every process that opens the file, until it is killed; reports each.
#[cfg(target_os = "linux")]
const SLOW_DISK: &str = "
import fcntl, os, signal, sys
signal.signal(signal.SIGIO, lambda *_: os.write(1, b'opened\\n'))
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.write(1, b'held\\n')
while True: signal.pause()";

/// A file that is held up, and what is said of it.
#[cfg(target_os = "linux")]
fn held_up(file: &std::path::Path) -> (std::process::Child, impl Iterator<Item = String> + use<>) {
    use std::io::BufRead as _;
    use std::process::{Command, Stdio};

    let mut disk = Command::new("python3");
    let disk = disk.args(["-c", SLOW_DISK]).arg(file);
    let mut disk = disk.stdout(Stdio::piped()).spawn().unwrap();
    let said = std::io::BufReader::new(disk.stdout.take().unwrap()).lines();
    let mut said = said.map(Result::unwrap);
    assert_eq!(said.next().unwrap(), "held");
    (disk, said)
}

#[cfg(target_os = "linux")]
#[test]
fn a_project_whose_disk_is_slow_holds_up_no_other() {
    with_phone(async |hub, project| {
        let (mut disk, mut said) = held_up(&project.key.folder.join("packtrain.yaml"));
        let (opened, is_opened) = tokio::sync::oneshot::channel();
        let (goes_on, answer) = std::sync::mpsc::channel();
        let disk = std::thread::spawn(move || {
            assert_eq!(said.next().unwrap(), "opened");
            opened.send(()).unwrap();
            // Nobody else can wake what is held up.
            let goes_on = answer.recv_timeout(Duration::from_secs(10)).is_ok();
            disk.kill().unwrap();
            disk.wait().unwrap();
            goes_on
        });
        let opening = async { hub.project(project.key.clone(), 1).await.is_ok() };
        let answering = async {
            is_opened.await.unwrap();
            // It may have been given up.
            let _ = goes_on.send(());
        };
        let (is_open, ()) = tokio::join!(biased; opening, answering);
        assert!(is_open);
        assert!(disk.join().unwrap(), "the runtime was held up");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn one_who_waits_for_the_disk_holds_up_nobody_else() {
    with_phone(async |hub, project| {
        let folder = project.key.folder.join("toolsets");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("slow.json");
        std::fs::write(&file, "{}").unwrap();
        let (mut disk, mut said) = held_up(&file);
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                let visitor = Visitor::at_endpoint("owner", "slow");
                let who = ("owner".to_owned(), None, "client".to_owned());
                let agent = hub.join_requester(who, &project).ok().unwrap();
                equip(&visitor, &agent).err()
            });
            assert_eq!(said.next().unwrap(), "opened");
            let (looked, looking) = std::sync::mpsc::channel();
            scope.spawn(move || looked.send(hub.agents().is_empty()));
            let is_held = looking.recv_timeout(Duration::from_secs(20)).is_err();
            disk.kill().unwrap();
            disk.wait().unwrap();
            assert!(asking.join().unwrap().is_some(), "it is no toolset");
            assert!(!is_held, "the lock is held over the disk");
        });
    });
}

#[test]
fn a_device_is_not_taken_from_under_a_call_however_long_that_takes() {
    with_phone(async |hub, project| {
        let present = hub.join(Transport::Stdio, &project, None);
        let held = takes(&present.agent).await;
        let wait = call("wait", &json!({ "timeToWaitInSeconds": 7200 }));
        let waiting = held.call(&wait, 600 * MINUTE);
        let (device, never) = (
            DeviceId::new(Platform::Android, "virtual-1"),
            CancellationToken::new(),
        );
        let day = Instant::now() + 24 * 60 * MINUTE;
        let other = project.fleet.lease(&device, "other", day, &never);
        tokio::pin!(waiting, other);
        assert!(futures::poll!(&mut waiting).is_pending());
        assert!(futures::poll!(&mut other).is_pending());
        reaped_after(hub, 40 * MINUTE).await;
        // What would take it away has its turn.
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        assert!(
            futures::poll!(&mut waiting).is_pending(),
            "a call is under way"
        );
        assert!(futures::poll!(&mut other).is_pending());
    });
}
