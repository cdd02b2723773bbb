//! Simulators, with stand-ins for what Xcode brings: real processes of Packtrain, an app that answers as
//! a virtual iPhone does, and the page for newcomers.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use packtrain_testing::{NO_FAULTS, fleet_options, has};
use packtrain_tests::process::Process;
use packtrain_tests::{Ended, Lab, processes_with, repository, until};
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use tokio::runtime::Runtime;

use crate::lab;
use crate::snippets::{blocks, shell_lines};

const UDID: &str = "5A1B0000-0000-0000-0000-000000000017";

/// What a Mac has. Each file of `state` is something that was done.
const XCRUN: &str = r#"#!/bin/bash
cd STATE
if [ "$1" = xcodebuild ]; then shift; exec xcodebuild "$@"; fi
shift
echo "$*" >> calls.txt
case "$1" in
  list)
    [ -e xcode ] || { echo 'xcrun: error: unable to find utility "simctl", not a developer tool or in PATH' >&2; exit 72; }
    device=; runtime=; state=Shutdown
    [ -e booted ] && state=Booted
    if [ -e iOS ]; then
      runtime='{"identifier": "com.apple.CoreSimulator.SimRuntime.iOS-26-0", "isAvailable": true}'
      device='{"udid": "UDID", "name": "iPhone 17", "state": "'$state'", "isAvailable": true}'
    fi
    echo '{"devices": {"com.apple.CoreSimulator.SimRuntime.iOS-26-0": ['$device']}, "runtimes": ['$runtime']}' ;;
  boot) [ "$2" = "iPhone 17" ] && touch booted ;;
  bootstatus) [ -e booted ] ;;
  install) [ -d "$OLDPWD/$3" ] && touch installed ;;
  get_app_container) [ -e installed ] || { echo 'No such file or directory' >&2; exit 2; }; echo "$PWD/WebDriverAgentRunner-Runner.app" ;;
  launch)
    [ -e installed ] || { echo "returned nil for $4" >&2; exit 4; }
    [ -e app.pid ] && kill "$(cat app.pid)"
    mkfifo up 2>/dev/null
    setsid python3 app.py "$SIMCTL_CHILD_USE_IP" "$SIMCTL_CHILD_USE_PORT" PHONE >/dev/null 2>&1 &
    read -r pid < up
    echo "$pid" > app.pid
    echo "$4: $pid" ;;
  terminate) kill "$(cat app.pid)"; rm app.pid ;;
esac
"#;

/// WebDriverAgent's app: what comes to its port is a virtual iPhone's.
const APP: &str = r#"
import asyncio, os, sys
async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()
async def serve(reader, writer):
    host, port = sys.argv[3].split(":")
    far, near = await asyncio.open_connection(host, int(port))
    await asyncio.gather(pump(reader, near), pump(far, writer))
async def main():
    # In a session of its own by now, as what launchd starts is.
    with open("up", "w") as up:
        print(os.getpid(), file=up)
    server = await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2]))
    await server.serve_forever()
asyncio.run(main())
"#;

/// The other programs of the page.
const OTHERS: [(&str, &str); 6] = [
    ("sudo", "exec \"$@\""),
    (
        "xcode-select",
        "[ \"$2\" = /Applications/Xcode.app ] && touch STATE/xcode",
    ),
    (
        "xcodebuild",
        "case \"$*\" in *downloadPlatform*) touch STATE/iOS ;; *) [ -e STATE/xcode ] ;; esac",
    ),
    ("curl", "[ \"$1\" = -LO ] && touch \"${2##*/}\""),
    (
        "unzip",
        "[ -e \"$1\" ] && mkdir WebDriverAgentRunner-Runner.app",
    ),
    (
        "defaults",
        "[ \"$1 $2\" = \"write com.apple.iphonesimulator\" ]",
    ),
];

/// A computer with Xcode's stand-ins, and a virtual iPhone behind the simulator.
struct Mac {
    lab: Lab,
    runtime: Runtime,
    fleet: Option<Fleet>,
}

impl Mac {
    /// One on which these things were done.
    fn new(done: &[&str]) -> Self {
        let lab = lab();
        let runtime = Runtime::new().unwrap();
        let options = FleetOptions {
            ios: 1,
            ..fleet_options(NO_FAULTS)
        };
        let fleet = runtime.block_on(Fleet::start(options)).unwrap();
        let phone = fleet.ios()[0].wda_address().to_string();
        let state = lab.folder().join("state").display().to_string();
        let script = |text: &str| {
            text.replace("STATE", &state)
                .replace("UDID", UDID)
                .replace("PHONE", &phone)
        };
        lab.write("state/app.py", APP)
            .write("bin/xcrun", &script(XCRUN));
        for (name, text) in OTHERS {
            lab.write(
                &format!("bin/{name}"),
                &format!("#!/bin/sh\n{}\n", script(text)),
            );
        }
        let bin = lab.folder().join("bin");
        for name in OTHERS.iter().map(|(name, _)| *name).chain(["xcrun"]) {
            std::fs::set_permissions(bin.join(name), Permissions::from_mode(0o755)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_packtrain-under-test");
        std::os::unix::fs::symlink(program, bin.join("packtrain")).unwrap();
        for file in done {
            lab.write(&format!("state/{file}"), "");
        }
        Self {
            lab,
            runtime,
            fleet: Some(fleet),
        }
    }

    /// One that is ready, with a trail of twenty steps. The first waits until the test lets it go on.
    fn ready() -> Self {
        let mac = Self::new(&["xcode", "iOS", "booted", "installed"]);
        for name in ["a", "b"] {
            let step = |number: usize| match number {
                1 => format!(
                    "exec: {{ argv: [sh, -c, 'echo > begun-{name}; read -r _ < go-{name}'] }}"
                ),
                _ => {
                    "assertVisibleBySelector: { nodeSelector: { iosMaestro: { textRegex: Shop } } }"
                        .to_owned()
                }
            };
            let steps = (1..=20).map(|number| {
                format!(
                    "  - step: \"{number}\"\n    recording:\n      ios:\n        - {}\n",
                    step(number)
                )
            });
            let steps: String = steps.collect();
            mac.lab.write(
                &format!("{name}.trail.yaml"),
                &format!("config: {{ id: {name} }}\ntrail:\n{steps}"),
            );
            for pipe in ["begun", "go"] {
                let made = Command::new("mkfifo")
                    .arg(mac.lab.folder().join(format!("{pipe}-{name}")))
                    .status();
                assert!(made.unwrap().success());
            }
        }
        mac
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(arguments);
        let path = std::env::var_os("PATH").unwrap();
        let bin = self.lab.folder().join("bin");
        let path = std::env::split_paths(&path);
        let path = std::env::join_paths([bin].into_iter().chain(path)).unwrap();
        command.env("PATH", path);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts a trail, and waits until its first step waits.
    fn begin(&self, name: &str) -> Process {
        let mut command = self.command(&["run", &format!("{name}.trail.yaml"), "-d", "ios"]);
        let log = self.lab.folder().join(format!("{name}.log"));
        let run = Process::start(name, &mut command, &log);
        self.lab.read(format!("begun-{name}"));
        run
    }

    fn let_go(&self, name: &str) {
        self.lab.write(&format!("go-{name}"), "\n");
    }

    fn calls_with(&self, word: &str) -> usize {
        let calls = self.lab.read("state/calls.txt");
        calls.lines().filter(|call| call.starts_with(word)).count()
    }

    /// How often a device was mended in any run, and how.
    fn mended(&self) -> BTreeSet<String> {
        let runs = std::fs::read_dir(self.lab.folder().join(".packtrain/runs")).unwrap();
        let journals = runs.map(|run| run.unwrap().path().join("events.ndjson"));
        let text: String = journals
            .filter_map(|file| std::fs::read_to_string(file).ok())
            .collect();
        let lines = text
            .lines()
            .filter(|line| line.contains("was started again"));
        lines.map(str::to_owned).collect()
    }

    /// Nothing is left of all that was started for the simulator.
    fn until_nothing_is_left(&self) {
        let folder = self.lab.folder().display().to_string();
        until(|| processes_with(&folder).is_empty());
    }
}

impl Drop for Mac {
    fn drop(&mut self) {
        if let Some(fleet) = self.fleet.take() {
            self.runtime.block_on(fleet.shutdown());
        }
    }
}

#[test]
fn two_processes_on_one_simulator_share_its_webdriveragent() {
    let mac = Mac::ready();
    let runs = ["a", "b"].map(|name| mac.begin(name));
    let beside = mac.run(&["snapshot", "-d", "ios"]).expect(0);
    assert!(beside.stdout.contains("Shop"), "{}", beside.stdout);
    assert_eq!(
        mac.calls_with("terminate"),
        0,
        "none ends that of the others"
    );
    for name in ["a", "b"] {
        mac.let_go(name);
    }
    for run in runs {
        assert_eq!(run.ended(), 0, "{}", run.stderr());
    }
    assert_eq!(
        (mac.calls_with("launch"), mac.calls_with("terminate")),
        (1, 1)
    );
    assert_eq!(mac.mended(), BTreeSet::new());
    mac.until_nothing_is_left();
}

#[test]
fn a_process_that_is_killed_leaves_the_webdriveragent_of_the_other_going() {
    for (killed, other) in [("a", "b"), ("b", "a")] {
        let mac = Mac::ready();
        let runs = ["a", "b"].map(|name| (name, mac.begin(name)));
        let run = |wanted| &runs.iter().find(|(name, _)| *name == wanted).unwrap().1;
        run(killed).kill();
        mac.let_go(other);
        assert_eq!(run(other).ended(), 0, "{}", run(other).stderr());
        assert_eq!(
            (mac.calls_with("launch"), mac.calls_with("terminate")),
            (1, 1)
        );
        assert_eq!(mac.mended(), BTreeSet::new());
        mac.until_nothing_is_left();
    }
}

#[test]
fn the_last_process_may_be_killed_and_nothing_is_left() {
    let mac = Mac::ready();
    mac.begin("a").kill();
    mac.until_nothing_is_left();
    assert_eq!(mac.calls_with("terminate"), 1);
}

#[test]
fn a_newcomer_is_told_what_simulators_lack_by_doctor_and_by_who_asks_for_one() {
    for (done, told, remedy) in [
        (
            &[][..],
            "unable to find utility",
            "sudo xcode-select -s /Applications/Xcode.app",
        ),
        (
            &["xcode"],
            "no iOS runtime",
            "xcodebuild -downloadPlatform iOS",
        ),
        (
            &["xcode", "iOS"],
            "no simulator is booted",
            "xcrun simctl boot 5A1B",
        ),
    ] {
        let mac = Mac::new(done);
        let doctor = mac.run(&["doctor"]);
        let said = doctor
            .stdout
            .split("simulators: ")
            .nth(1)
            .unwrap_or_default();
        assert!(
            said.contains(told) && said.contains(remedy),
            "{}",
            doctor.stdout
        );
        let asked = mac.run(&["snapshot", "-d", "ios"]).expect(3).stderr;
        has(&asked, &["no ios device found", told, remedy]);
    }
    let mac = Mac::new(&["xcode", "iOS", "booted"]);
    let said = mac.run(&["doctor"]).stdout;
    has(&said, &["is not installed on iPhone 17 (iOS 26.0)"]);
    let asked = mac.run(&["snapshot", "-d", "ios"]).expect(2).stderr;
    has(&asked, &[&format!("xcrun simctl install {UDID}")]);
}

#[test]
fn the_first_ten_minutes_on_a_mac_are_what_the_page_says() {
    let page = std::fs::read_to_string(repository().join("docs/devices.md")).unwrap();
    let section = page
        .split("\n### ")
        .find(|section| section.starts_with("A simulator, on macOS\n"));
    let mac = Mac::new(&[]);
    let mut last = String::new();
    let blocks = blocks(section.unwrap());
    for block in blocks.iter().filter(|block| block.language() == "console") {
        for line in shell_lines(&block.text, block.line) {
            let mut shell = Command::new("sh");
            let packtrain = mac.command(&[]);
            let variables = packtrain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?)));
            shell
                .args(["-c", &line.command])
                .envs(variables)
                .current_dir(mac.lab.folder());
            let tried: Ended = shell.output().unwrap().into();
            assert_eq!(
                tried.code, line.exit,
                "{}\n{}{}",
                line.command, tried.stdout, tried.stderr
            );
            last = tried.stdout;
        }
    }
    has(&last, &["Shop"]);
    assert_eq!(mac.calls_with("launch"), 1);
    mac.until_nothing_is_left();
}
