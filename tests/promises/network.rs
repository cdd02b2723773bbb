//! Android phones on the network, through an adb server.

mod watch;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command};

use packtrain_testing::{free_port, has};
use packtrain_tests::{Ended, Lab};
use serde_json::Value;

use crate::adb_server::AdbServer;
use crate::lab;

/// A virtual phone that another process keeps up, and an adb server that knows nothing of it.
struct Bench {
    lab: Lab,
    server: AdbServer,
    phones: Child,
    address: String,
}

impl Bench {
    fn new() -> Self {
        Self::with_faults(None)
    }

    fn with_faults(faults: Option<&str>) -> Self {
        let lab = lab();
        let up = ["virtual", "up", "--android", "1", "--ios", "0"];
        let fast = ["--profile", "fast", "--format", "json"];
        let mut words = [up.as_slice(), &fast].concat();
        if let Some(faults) = faults {
            lab.write("faults.yaml", faults);
            words.extend(["--faults", "faults.yaml"]);
        }
        let mut phones = lab.start(&words);
        let mut line = String::new();
        let mut out = BufReader::new(phones.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let shown: Value = serde_json::from_str(&line).unwrap();
        Self {
            server: AdbServer::new(lab.folder()),
            address: shown["android"][0]["adb"].as_str().unwrap().to_owned(),
            lab,
            phones,
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(arguments);
        let port = self.server.address.port().to_string();
        command
            .envs(self.server.environment.iter().cloned())
            .env("ANDROID_ADB_SERVER_PORT", port);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    fn device(&self) -> String {
        format!("android/{}", self.address)
    }

    /// The Android devices that are listed.
    fn listed(&self) -> Vec<String> {
        let listed = self.run(&["devices", "--format", "json"]).expect(0).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let devices = listed["devices"].as_array().unwrap().iter();
        devices
            .map(|device| device["id"].as_str().unwrap().to_owned())
            .filter(|id| id.starts_with("android/"))
            .collect()
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let pid = self.phones.id().to_string();
        let told = Command::new("kill").args(["-INT", &pid]).status();
        let ended = self.phones.wait();
        assert!(told.is_ok() && ended.is_ok() || std::thread::panicking());
    }
}

#[test]
fn a_phone_on_the_network_is_connected_looked_at_and_disconnected() {
    let bench = Bench::new();
    let connect = ["devices", "connect", bench.address.as_str()];
    let connected = bench.run(&connect).expect(0).stdout;
    assert_eq!(connected, format!("connected {}\n", bench.device()));
    bench.run(&connect).expect(0);
    assert_eq!(bench.listed(), [bench.device()]);
    bench.run(&["snapshot", "-d", &bench.device()]).expect(0);

    let disconnect = ["devices", "disconnect", bench.address.as_str()];
    let disconnected = bench.run(&disconnect).expect(0).stdout;
    assert_eq!(disconnected, format!("disconnected {}\n", bench.device()));
    assert_eq!(bench.listed(), [""; 0]);
    let again = bench.run(&disconnect).expect(2).stderr;
    assert!(again.contains("no such device"), "{again}");
}

#[test]
fn disconnecting_without_an_address_disconnects_all_on_the_network() {
    let bench = Bench::new();
    bench.run(&["devices", "connect", &bench.address]).expect(0);
    let all = ["devices", "disconnect", "--format", "json"];
    let answer: Value = serde_json::from_str(&bench.run(&all).expect(0).stdout).unwrap();
    assert_eq!(answer["devices"][0], bench.device());
    assert_eq!(bench.listed(), [""; 0]);
    let none = bench.run(&["devices", "disconnect"]).expect(0);
    assert_eq!(none.stdout, "");
    assert!(none.stderr.contains("no device"), "{}", none.stderr);
}

#[test]
fn who_does_not_answer_is_not_connected_and_the_servers_words_say_why() {
    let bench = Bench::new();
    let nobody = format!("127.0.0.1:{}", free_port());
    let refused = bench.run(&["devices", "connect", &nobody]).expect(2).stderr;
    has(&refused, &[&nobody, "refused"]);
    let refused = bench.run(&["devices", "pair", &nobody, "482924"]).expect(2);
    assert!(refused.stderr.contains("pair with"), "{}", refused.stderr);
}

#[test]
fn addresses_and_codes_that_cannot_be_meant_are_usage_errors() {
    let lab = lab();
    for wrong in [
        ["pair", "192.168.1.20", "482924"],
        ["pair", "192.168.1.20:37099", "48:2924"],
        ["pair", "192.168.1.20:0", "482924"],
    ] {
        let arguments = [["devices"].as_slice(), &wrong].concat();
        let ended = lab.run(&arguments).expect(3);
        assert!(ended.stderr.contains("hint:"), "{}", ended.stderr);
    }
    lab.run(&["devices", "connect", "a b"]).expect(3);
}

#[test]
fn a_code_is_handed_to_the_adb_server() {
    // Virtual phones do not pair; this impersonates the server that does.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    let asked = std::thread::spawn(move || {
        loop {
            let (mut client, _) = server.accept().unwrap();
            let mut length = [0; 4];
            client.read_exact(&mut length).unwrap();
            let length = std::str::from_utf8(&length).unwrap();
            let mut request = vec![0; usize::from_str_radix(length, 16).unwrap()];
            client.read_exact(&mut request).unwrap();
            let request = String::from_utf8(request).unwrap();
            let answer = match request.as_str() {
                "host:version" => "0029",
                _ => "Successfully paired to 127.0.0.1:37099 [guid=adb-virtual]",
            };
            write!(client, "OKAY{:04x}{answer}", answer.len()).unwrap();
            if request != "host:version" {
                return request;
            }
        }
    });
    let lab = lab();
    let mut pair = lab.command(&["devices", "pair", "127.0.0.1:37099", "482924"]);
    let ended = pair.env("ANDROID_ADB_SERVER_PORT", port).output().unwrap();
    let ended = Ended::from(ended).expect(0);
    assert!(ended.stderr.contains("paired"), "{}", ended.stderr);
    assert_eq!(asked.join().unwrap(), "host:pair:482924:127.0.0.1:37099");
}

const TURNED: &str = r#"
config: { id: turned }
trail:
  - step: "Turn the phone"
    recording:
      android:
        - mobile_maestro: { commands: [{ setOrientation: LANDSCAPE_LEFT }] }
  - step: "Wait for what never comes"
    recording:
      android:
        - wait: { timeToWaitInSeconds: 500 }
"#;

#[test]
fn a_phone_is_turned_back_when_its_run_is_interrupted() {
    let bench = Bench::new();
    bench.run(&["devices", "connect", &bench.address]).expect(0);
    let rotation = || {
        let settings = r#"command=["settings", "get", "system", "user_rotation"]"#;
        let look = ["tool", "android_adbShell", settings, "-d", &bench.device()];
        bench.run(&look).expect(0).stdout
    };
    assert!(rotation().contains('0'), "{}", rotation());
    bench.lab.write("turned.trail.yaml", TURNED);
    let run = ["run", "turned.trail.yaml", "-d", &bench.device()];
    let mut run = bench.command(&[run.as_slice(), &["--format", "json"]].concat());
    let mut run = run.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let mut waits = lines.map(Result::unwrap).skip_while(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["event"] != "tool_started" || event["step"] != 2
    });
    assert!(waits.next().is_some(), "the run ended before it waited");
    let pid = run.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    waits.for_each(drop);
    assert_eq!(run.wait().unwrap().code(), Some(2));
    assert_eq!(bench.lab.outcomes()[&bench.device()], "cancelled");
    assert!(rotation().contains('0'), "{}", rotation());
}

/// Its steps wait until they are killed.
const WAITS: &str = "config: { id: waits }
trail:
  - step: Look
    recording: { android: [{ pressKey: { keyCode: HOME } }] }
  - step: Wait
    recording: { android: [{ wait: { timeToWaitInSeconds: 500 } }] }
";

/// The rest of the trail is over at once.
const LOOKS: &str = "config: { id: looks }
trail:
  - step: Look
    recording: { android: [{ pressKey: { keyCode: HOME } }] }
";

impl Bench {
    fn night(&self) -> String {
        let mode = r#"command=["cmd", "uimode", "night"]"#;
        let look = ["tool", "android_adbShell", mode, "-d", &self.device()];
        self.run(&look).expect(0).stdout
    }

    /// What was kept of settings before they were changed.
    fn kept(&self) -> usize {
        let folder = self.lab.folder().join(".state/packtrain/restore");
        std::fs::read_dir(folder).map_or(0, |files| files.count())
    }
}

#[test]
fn what_a_killed_run_changed_on_a_phone_is_put_back_by_the_next() {
    let bench = Bench::new();
    bench.run(&["devices", "connect", &bench.address]).expect(0);
    assert!(bench.night().contains("no"), "{}", bench.night());
    bench
        .lab
        .write("waits.trail.yaml", WAITS)
        .write("looks.trail.yaml", LOOKS);
    let device = bench.device();
    let run = [
        "run",
        "waits.trail.yaml",
        "-d",
        &device,
        "--axis",
        "colorScheme=dark",
        "--format",
        "json",
    ];
    let mut run = bench.command(&run);
    let mut run = run.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let mut waits = lines.map(Result::unwrap).skip_while(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["event"] != "tool_started" || event["step"] != 2
    });
    assert!(waits.next().is_some(), "the run ended before it waited");
    assert_eq!(
        bench.kept(),
        1,
        "the old value is on disk before the change"
    );
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(bench.kept(), 1);

    bench
        .run(&["run", "looks.trail.yaml", "-d", &device])
        .expect(0);
    assert_eq!(bench.kept(), 0);
    assert!(bench.night().contains("no"), "{}", bench.night());
}

#[test]
fn a_phone_whose_settings_cannot_be_put_back_is_used_no_more() {
    let faults = "rules: [{ match: { command: 'uimode night no' }, do: { fail: 'Error: no' } }]\n";
    let bench = Bench::with_faults(Some(faults));
    bench.run(&["devices", "connect", &bench.address]).expect(0);
    bench.lab.write("looks.trail.yaml", LOOKS);
    let device = bench.device();
    let run = ["run", "looks.trail.yaml", "-d", &device];
    bench.run(&[run.as_slice(), &["--axis", "colorScheme=dark"]].concat());
    assert_eq!(bench.kept(), 1);
    let refused = bench.run(&run).expect(2);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("could not be put back"), "{said}");
    assert_eq!(bench.kept(), 1);
}
