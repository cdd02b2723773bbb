//! A project of one computer on the devices of another: collected, sent, laid down, opened, run.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use packtrain_config::Config;
use packtrain_device_actors::Fleet;
use packtrain_drivers::{BoxFuture, DeviceInfo};
use packtrain_engine::{SessionMessage, SessionOrder, SessionOutput, SessionStop};
use packtrain_farm::bundle::{
    BlobError, BlobStore, CacheLimits, CollectOptions, Secrets, collect, inside, materialise,
};
use packtrain_farm::host::devices::HostDevices;
use packtrain_farm::host::workplace::{OpenRun, Opening, Workplace};
use packtrain_farm::wire::OutOfService;
use packtrain_model::trail::Trail;
use packtrain_model::{Outcome, RunEvent, RunId};
use packtrain_testing::in_system;
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::bytes::Bytes;
use tokio_util::task::TaskTracker;

use super::devices::{advertise, keep_connected};
use super::scratch::HostFolder;
use super::workplace::HostWorkplace;
use crate::wiring::{DeviceSelection, Wiring};

/// How long what is started for a test may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// A tool source in plain Python, with nothing installed. One tool says where it runs, and what it was
/// given in its environment; the other goes on until somebody at a port of this computer lets it.
const SOURCE: &str = r#"
import json, os, socket, sys
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
    elif asked.get("method") == "tools/list":
        result = {"tools": [{"name": "shop_" + name, "inputSchema": SCHEMA} for name in ("shout", "hold")]}
    elif asked.get("method") == "tools/call" and asked["params"]["name"] == "shop_hold":
        port = int(asked["params"]["arguments"]["text"])
        socket.create_connection(("127.0.0.1", port)).recv(1)
        result = {"content": []}
    elif asked.get("method") == "tools/call":
        text = asked["params"]["arguments"]["text"].upper()
        said = text + " in " + os.getcwd() + " with " + open("words.txt").read()
        said += " knowing " + " ".join(sorted(os.environ))
        result = {"content": [{"type": "text", "text": said}]}
    elif asked.get("method") == "ping":
        result = {}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

/// The farm's blobs.
#[derive(Default)]
struct Blobs(Mutex<HashMap<String, Bytes>>);

impl BlobStore for Blobs {
    fn has<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<bool, BlobError>> {
        let has = self.0.lock().contains_key(digest);
        Box::pin(async move { Ok(has) })
    }

    fn put<'a>(&'a self, digest: &'a str, content: Bytes) -> BoxFuture<'a, Result<(), BlobError>> {
        self.0.lock().insert(digest.to_owned(), content);
        Box::pin(async { Ok(()) })
    }

    fn get<'a>(&'a self, digest: &'a str) -> BoxFuture<'a, Result<Bytes, BlobError>> {
        let found = self.0.lock().get(digest).cloned();
        Box::pin(async move { found.ok_or_else(|| BlobError::Missing(digest.to_owned())) })
    }
}

/// A host with one virtual phone, and somebody's project.
struct Lab {
    project: TempDir,
    cache: TempDir,
    wiring: Wiring,
    fleet: Fleet,
    devices: HostDevices,
    closing: TaskTracker,
}

impl Lab {
    async fn new() -> Self {
        let words = ["virtual:android".to_owned()];
        let wanted = DeviceSelection {
            words: &words,
            all: false,
        };
        let wiring = Wiring::new(&Config::default(), wanted, false)
            .await
            .unwrap();
        let phone = wiring.connectors()[0].describe();
        let connector = Arc::clone(&wiring.connectors()[0]);
        assert_eq!(*connector.id(), phone.id);
        let fleet = Fleet::start(vec![connector], &crate::workplace::arbiters(1)).unwrap();
        let labels = [("lab".to_owned(), "berlin".to_owned())].into();
        let devices = advertise(&wiring, vec![phone], &labels);
        let lab = Self {
            project: TempDir::new().unwrap(),
            cache: TempDir::new().unwrap(),
            wiring,
            fleet,
            devices,
            closing: TaskTracker::new(),
        };
        lab.write("source.py", SOURCE);
        lab.write("words.txt", "words of the project");
        let source =
            "{ name: shop, command: [python3, source.py], transport: stdio, cancelGrace: 60s }";
        lab.write("packtrain.yaml", &format!("mcpServers: [{source}]"));
        lab
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.project.path().join(path), text).unwrap();
    }

    fn phone(&self) -> DeviceInfo {
        self.devices.adverts().pop_first().unwrap().1.info
    }

    /// Sends the project and opens it on the host; answers the trail's path there too.
    async fn open(
        &self,
        trail: &str,
        allows_commands: bool,
    ) -> Result<(OpenRun, std::path::PathBuf), String> {
        self.write("a.trail.yaml", trail);
        let file = self.project.path().join("a.trail.yaml");
        let options = CollectOptions {
            is_project: true,
            config: Some(self.project.path().join("packtrain.yaml")),
            ..CollectOptions::default()
        };
        let trails = [file.clone()];
        let collected = collect(self.project.path(), &trails, &[], &options).unwrap();
        let store = Blobs::default();
        collected.upload(&store).await.unwrap();
        let manifest = collected.manifest(run(), true, Vec::new());
        let limits = CacheLimits::default();
        let bundle = materialise(&manifest, &store, self.cache.path(), limits);
        let bundle = bundle.await.unwrap();
        let path = collected.map(&file).unwrap();
        let path = inside(bundle.path(), &path).unwrap();
        let folder = HostFolder::take(self.cache.path(), &"mac-1".parse().unwrap()).unwrap();
        let workplace = HostWorkplace {
            fleet: self.fleet.clone(),
            devices: self.devices.clone(),
            folder: Arc::new(folder),
            allows_commands,
            arbiter: crate::workplace::arbiters(1).swap_remove(0),
            closing: self.closing.clone(),
        };
        let opening = Opening {
            run: run(),
            manifest,
            bundle,
            secrets: Secrets::default(),
        };
        // As a host does it: on a thread that knows no actix system.
        let opened = tokio::spawn(workplace.open(opening)).await.unwrap()?;
        Ok((opened, path))
    }

    /// Carries a trail out on the phone; answers its end and what happened.
    async fn carry_out(&self, trail: &str, allows_commands: bool) -> (Outcome, Vec<RunEvent>) {
        let (opened, path) = self.open(trail, allows_commands).await.unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let parsed = Trail::parse(&text, &path.display().to_string()).unwrap();
        let (output, mut said) = SessionOutput::elsewhere(64);
        let telling = tokio::spawn(async move {
            let mut events = Vec::new();
            while let Some(message) = said.recv().await {
                if let SessionMessage::Event(event, _) = message {
                    events.push(*event);
                }
            }
            events
        });
        let order = SessionOrder::alone(run(), parsed.trail, self.phone());
        let session = opened.host.run(order, output, SessionStop::default());
        let outcome = tokio::spawn(session).await.unwrap();
        drop(opened);
        (outcome, telling.await.unwrap())
    }

    async fn end(self) {
        self.closing.close();
        self.closing.wait().await;
        self.fleet.shutdown(END_TIMEOUT).await;
        self.wiring.shutdown().await;
        let left = fs::read_dir(self.cache.path().join("hosts/mac-1/runs"));
        assert_eq!(left.map_or(0, Iterator::count), 0, "runs leave nothing");
    }
}

fn run() -> RunId {
    RunId("r1".to_owned())
}

fn trail(calls: &[&str]) -> String {
    let steps = calls
        .iter()
        .map(|call| format!("  - step: x\n    recording:\n      android:\n        - {call}\n"));
    format!("trail:\n{}", steps.collect::<String>())
}

fn message(outcome: &Outcome) -> String {
    outcome.message().unwrap_or_default().to_owned()
}

#[test]
fn a_project_with_a_python_source_runs_on_the_phone_of_another_computer() {
    in_system(async {
        let lab = Lab::new().await;
        let (outcome, events) = lab
            .carry_out(
                &trail(&[
                    "launchApp: { appId: com.example.shop }",
                    "shop_shout: { text: hello }",
                ]),
                false,
            )
            .await;
        assert_eq!(outcome, Outcome::Passed, "{events:?}");
        let told = format!("{events:?}");
        let bundles = lab.cache.path().canonicalize().unwrap().join("bundles");
        assert!(
            told.contains(&format!("HELLO in {}", bundles.display())),
            "{told}"
        );
        assert!(
            told.contains("/project with words of the project"),
            "{told}"
        );
        // Of the tests' own there is at least where nats-server is.
        let own = |name: &str| name.starts_with("PACKTRAIN_TEST");
        let names = || std::env::vars().map(|(name, _)| name);
        assert!(names().any(|name| own(&name)), "run by tests/run.sh");
        for name in names().filter(|name| own(name)) {
            assert!(!told.contains(&name), "{name} is in {told}");
        }
        assert!(told.contains(" PATH "), "{told}");
        lab.end().await;
    });
}

/// How a session gets to its device.
#[derive(Debug, PartialEq)]
enum Turn {
    Waits,
    Begins,
}

/// The next that is said of how a session gets to its device.
async fn turn(said: &mut tokio::sync::mpsc::Receiver<SessionMessage>) -> Option<Turn> {
    loop {
        match said.recv().await? {
            SessionMessage::Waits(_) => return Some(Turn::Waits),
            SessionMessage::Event(event, _)
                if matches!(*event, RunEvent::SessionStarted { .. }) =>
            {
                return Some(Turn::Begins);
            }
            SessionMessage::Event(..) | SessionMessage::File(..) => {}
        }
    }
}

#[test]
fn a_device_is_given_to_nobody_while_a_call_of_a_lost_session_is_under_way_on_it() {
    in_system(async {
        let lab = Lab::new().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let held = trail(&[&format!("shop_hold: {{ text: \"{port}\" }}")]);
        let (opened, path) = lab.open(&held, false).await.unwrap();
        let parse = |text: &str| {
            Trail::parse(text, &path.display().to_string())
                .unwrap()
                .trail
        };
        let begin = |trail: &str, output| {
            let order = SessionOrder::alone(run(), parse(trail), lab.phone());
            tokio::spawn(opened.host.run(order, output, SessionStop::default()))
        };
        let lost = begin(&held, SessionOutput::elsewhere(1).0);
        let (tool, _) = listener.accept().await.unwrap();
        // As a host does it to the sessions of a run that is gone.
        lost.abort();
        assert!(lost.await.unwrap_err().is_cancelled());

        let (output, mut said) = SessionOutput::elsewhere(64);
        let launch = trail(&["launchApp: { appId: com.example.shop }"]);
        let next = begin(&launch, output);
        assert_eq!(turn(&mut said).await, Some(Turn::Waits));
        drop(tool);
        assert_eq!(turn(&mut said).await, Some(Turn::Begins));
        drop(said);
        next.await.unwrap();
        drop(opened);
        lab.end().await;
    });
}

#[test]
fn commands_of_the_host_are_refused_unless_its_owner_allows_them() {
    in_system(async {
        let lab = Lab::new().await;
        let trail = trail(&["exec: { argv: [\"true\"] }"]);
        let (outcome, _) = lab.carry_out(&trail, false).await;
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
        let told = message(&outcome);
        assert!(told.contains("exec"), "{told}");
        let (outcome, _) = lab.carry_out(&trail, true).await;
        assert_eq!(outcome, Outcome::Passed);
        lab.end().await;
    });
}

#[test]
fn a_run_that_is_given_up_leaves_nothing() {
    in_system(async {
        let lab = Lab::new().await;
        let (opened, _) = lab.open(&trail(&[]), false).await.unwrap();
        let runs = lab.cache.path().join("hosts/mac-1/runs");
        assert_eq!(fs::read_dir(&runs).unwrap().count(), 1);
        drop(opened);
        lab.end().await;
    });
}

#[test]
fn what_is_wrong_with_a_project_is_told_in_one_text() {
    in_system(async {
        let lab = Lab::new().await;
        lab.write(
            "packtrain.yaml",
            "mcpServers: [{ name: shop, comand: [x] }]",
        );
        let told = lab.open(&trail(&[]), false).await.err().unwrap();
        assert!(told.contains("comand") && !told.ends_with('\n'), "{told}");
        lab.end().await;
    });
}

#[test]
fn devices_are_told_to_the_farm_once_they_are_connected() {
    in_system(async {
        let lab = Lab::new().await;
        let advert = |devices: &HostDevices| devices.adverts().pop_first().unwrap().1;
        let before = advert(&lab.devices);
        assert_eq!(before.out_of_service, Some(OutOfService::Down));
        assert!(before.api.is_some_and(|api| api > 20), "{before:?}");
        assert_eq!(before.labels["lab"], "berlin");
        let mut changes = lab.devices.watch();
        let keeping = keep_connected(&lab.fleet, &lab.devices);
        let is_up = |devices: &packtrain_farm::host::devices::Roster| {
            let mut adverts = devices.adverts();
            adverts.pop_first().unwrap().1.out_of_service.is_none()
        };
        let connected = changes.wait_for(is_up);
        tokio::time::timeout(END_TIMEOUT, connected)
            .await
            .expect("it is connected without being asked for")
            .unwrap();
        drop(keeping);
        lab.end().await;
    });
}

#[test]
fn a_folder_without_a_configuration_takes_nothing_from_the_folders_around_it() {
    let cache = TempDir::new().unwrap();
    fs::write(cache.path().join("packtrain.yaml"), "toolsDir: /stolen").unwrap();
    let root = cache.path().join("bundles/x/project");
    fs::create_dir_all(&root).unwrap();
    let found = super::workplace::workspace(&root, None).unwrap();
    assert_eq!(found.config.tools_dir, root.join("tools"));
    assert!(Path::new(&found.root).ends_with("project"));
}
