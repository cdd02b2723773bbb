//! A farm of a test's own: a real server, brokers, hosts with virtual phones, runs, each a process of the
//! real program that is killed, stopped and let go on at will.
//!
//! Phones are processes of their own, as real ones are: they outlive their host, and tell what has
//! reached them.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::nats_server::NatsServer;
use crate::process::Process;
use crate::{Ended, Lab, until};

/// How long a host, a run or a broker of a test is believed to be alive without a word, in seconds.
pub const TTL_SECONDS: u64 = 2;

/// A farm. Everything that it has started is gone when it is dropped.
pub struct FarmLab {
    lab: Lab,
    servers: RefCell<Vec<NatsServer>>,
    url: RefCell<String>,
    token: RefCell<Option<String>>,
    settings: FarmSettings,
    started: Cell<usize>,
}

/// How a farm is set up.
#[derive(Debug, Clone)]
pub struct FarmSettings {
    /// How long keys live, when that is not what the program takes by itself.
    pub ttl_seconds: Option<u64>,
    /// On how many servers brokers keep everything.
    pub replicas: usize,
    /// The folder with a file for each user, such as `host-h1.json`, where servers know users.
    pub credentials: Option<PathBuf>,
}

impl Default for FarmSettings {
    fn default() -> Self {
        Self {
            ttl_seconds: Some(TTL_SECONDS),
            replicas: 1,
            credentials: None,
        }
    }
}

/// Virtual phones of one host.
pub struct Phones {
    /// What keeps them up.
    pub process: Process,
    /// Where each is reached, in order.
    pub addresses: Vec<String>,
    /// An adb server that knows nothing of them.
    adb_server: String,
    log: PathBuf,
}

/// Something that reached a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Where the phone is reached.
    pub address: String,
    /// When, in microseconds since 1970.
    pub at_us: i64,
    /// What kind of event: `command`.
    pub kind: String,
    /// The command line, the route ...
    pub what: String,
}

/// A run on the farm.
pub struct FarmRun {
    /// The process that carries it on.
    pub process: Process,
    output: PathBuf,
}

impl FarmLab {
    /// A farm with one server and nothing else. `program` is the program's path, which only a test binary
    /// knows.
    pub fn new(program: &str) -> Self {
        let lab = Lab::new(program);
        let server = NatsServer::start(lab.folder());
        Self::with(lab, vec![server])
    }

    /// A farm with that many servers that keep everything together.
    pub fn cluster(program: &str, servers: usize) -> Self {
        let lab = Lab::new(program);
        let servers = NatsServer::cluster(lab.folder(), servers);
        Self::with(lab, servers)
    }

    fn with(lab: Lab, servers: Vec<NatsServer>) -> Self {
        let urls: Vec<String> = servers.iter().map(NatsServer::url).collect();
        Self::on(lab, servers, &urls.join(","), FarmSettings::default())
    }

    /// A farm on servers that are there already.
    pub(crate) fn on(
        lab: Lab,
        servers: Vec<NatsServer>,
        url: &str,
        settings: FarmSettings,
    ) -> Self {
        Self {
            lab,
            url: RefCell::new(url.to_owned()),
            servers: RefCell::new(servers),
            token: RefCell::default(),
            settings,
            started: Cell::new(0),
        }
    }

    /// The workspace.
    pub const fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Does something to a server: kills it, starts it again.
    pub fn server<R>(&self, number: usize, act: impl FnOnce(&mut NatsServer) -> R) -> R {
        act(&mut self.servers.borrow_mut()[number])
    }

    /// Where the farm is, for what is started next.
    pub fn url(&self) -> String {
        self.url.borrow().clone()
    }

    /// Has what is started next come by another way, such as a proxy.
    pub fn set_url(&self, url: &str) {
        url.clone_into(&mut self.url.borrow_mut());
    }

    /// The token with which hosts join.
    pub fn set_token(&self, token: &str) {
        *self.token.borrow_mut() = Some(token.to_owned());
    }

    /// A broker, leader or standby.
    pub fn broker(&self) -> Process {
        let name = self.next("broker");
        let (url, replicas) = (self.url(), self.settings.replicas.to_string());
        let words = ["farm", "broker", "--farm", &url, "--replicas", &replicas];
        self.start(&name, &mut self.command_of("broker-broker", &words))
    }

    /// That many Android phones, as fast as this computer, with what goes wrong on them.
    pub fn phones(&self, count: usize, faults: Option<&str>) -> Phones {
        let name = self.next("phones");
        let log = self.lab.folder().join(format!("{name}.ndjson"));
        let (count_word, log_word) = (count.to_string(), log.display().to_string());
        let mut words = vec!["virtual", "up", "--android", &count_word, "--ios", "0"];
        words.extend(["--profile", "fast", "--format", "json", "--log", &log_word]);
        let file = format!("{name}.faults.yaml");
        if let Some(faults) = faults {
            self.lab.write(&file, faults);
            words.extend(["--faults", &file]);
        }
        let process = self.start(&name, &mut self.command(&words));
        process.until_said("\"adb_server\"");
        let told: Value = serde_json::from_str(&process.stdout()).unwrap();
        let androids = told["android"].as_array().unwrap().iter();
        Phones {
            addresses: androids.map(|phone| text(&phone["adb"])).collect(),
            adb_server: text(&told["adb_server"]),
            process,
            log,
        }
    }

    /// A host with these phones, in a folder in which there is nothing of the project that runs.
    pub fn host(&self, name: &str, phones: &Phones, more: &[&str]) -> Process {
        let connect = phones.addresses.join("\", \"");
        let config = format!(
            "devices:\n  android:\n    adb: \"{}\"\n    connect: [\"{connect}\"]\n",
            phones.adb_server
        );
        self.lab
            .write(&format!("hosts/{name}/packtrain.yaml"), &config);
        self.host_with(name, &[&["-d", "android"], more].concat())
    }

    /// A host with these further words, such as `-d virtual:android:25`.
    pub fn host_with(&self, name: &str, more: &[&str]) -> Process {
        let folder = self.lab.folder().join("hosts").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let (url, token) = (self.url(), self.token.borrow().clone());
        let mut words = vec!["host", "--farm", &url, "--name", name];
        if let Some(token) = &token {
            words.extend(["--token", token]);
        }
        words.extend(more);
        let mut command = self.command_of(&format!("host-{name}"), &words);
        command.current_dir(folder);
        self.start(&self.next(name), &mut command)
    }

    /// Writes a trail of marked steps, each of which takes that long on the device, in milliseconds.
    ///
    /// Each gives the device a command with the step's number in it, by which the device's own log tells
    /// what a session has done.
    pub fn trail(&self, name: &str, steps: usize, step_ms: u64) -> String {
        let path = format!("trails/{name}.trail.yaml");
        self.lab.write(&path, &marked_trail(name, steps, step_ms));
        path
    }

    /// A run of a trail on the farm.
    pub fn run(&self, words: &[&str]) -> FarmRun {
        let name = self.next("run");
        let output = self.lab.folder().join("runs").join(&name);
        self.carry_on(&name, &["run"], words, output)
    }

    /// Carries a killed run on, in the folder in which it was.
    pub fn resume(&self, killed: &FarmRun, more: &[&str]) -> FarmRun {
        let run = killed.id();
        let words = [&[run.as_str()], more].concat();
        self.carry_on(
            &self.next("resumed"),
            &["resume"],
            &words,
            killed.output.clone(),
        )
    }

    /// Carries a run on as another computer would, in a folder of its own.
    pub fn resume_elsewhere(&self, run: &FarmRun, more: &[&str]) -> FarmRun {
        let (id, name) = (run.id(), self.next("resumed"));
        let output = self.lab.folder().join("runs").join(&name);
        self.carry_on(&name, &["resume"], &[&[id.as_str()], more].concat(), output)
    }

    fn carry_on(&self, name: &str, command: &[&str], words: &[&str], output: PathBuf) -> FarmRun {
        let url = self.url();
        let folder = output.display().to_string();
        let flags = ["--farm", &url, "--output", &folder];
        let mut command = self.command(&[command, words, &flags].concat());
        FarmRun {
            process: self.start(name, &mut command),
            output,
        }
    }

    /// What a question to the farm is answered: `farm queue`.
    pub fn ask(&self, words: &[&str]) -> Value {
        let url = self.url();
        let flags = ["--farm", &url, "--format", "json"];
        let ended = self.run_to_end(&[words, &flags].concat()).expect(0);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| {
            panic!("{words:?}: {error}\n{}\n{}", ended.stdout, ended.stderr)
        })
    }

    /// Runs the program to its end.
    pub fn run_to_end(&self, words: &[&str]) -> Ended {
        self.command(words).output().unwrap().into()
    }

    /// Waits until that many devices are in service.
    #[track_caller]
    pub fn until_devices(&self, count: usize) {
        until(|| {
            let devices = self.ask(&["farm", "devices"]);
            let devices = devices["devices"].as_array().cloned().unwrap_or_default();
            let serving = devices
                .iter()
                .filter(|device| device["out_of_service"].is_null());
            serving.count() >= count
        });
    }

    /// The program, with the life of keys cut short.
    pub fn command(&self, words: &[&str]) -> Command {
        self.command_of("operator-me", words)
    }

    /// The program as one of the farm's users, where it knows any.
    fn command_of(&self, user: &str, words: &[&str]) -> Command {
        let mut command = self.lab.command(words);
        command.env("XDG_CACHE_HOME", self.lab.folder().join(".cache"));
        if let Some(seconds) = self.settings.ttl_seconds {
            command.env("PACKTRAIN_FARM_TTL", seconds.to_string());
        }
        if let Some(folder) = &self.settings.credentials {
            let file = folder.join(format!("{user}.json"));
            command.env("PACKTRAIN_FARM_CREDENTIALS", file);
        }
        command
    }

    fn start(&self, name: &str, command: &mut Command) -> Process {
        let log = self.lab.folder().join("logs").join(format!("{name}.log"));
        std::fs::create_dir_all(log.parent().unwrap()).unwrap();
        Process::start(name, command, &log)
    }

    /// A name that no process has had.
    fn next(&self, what: &str) -> String {
        self.started.set(self.started.get() + 1);
        format!("{what}-{}", self.started.get())
    }
}

impl Phones {
    /// An adb server that has no devices, for who asks one before it drives phones directly.
    pub fn adb_server(&self) -> &str {
        &self.adb_server
    }

    /// What has reached them, in order.
    pub fn arrived(&self) -> Vec<Arrived> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = text
            .lines()
            .map_while(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .map(|line| {
                let name = line["device"].as_str().unwrap();
                let number: usize = name.rsplit('-').next().unwrap().parse().unwrap();
                Arrived {
                    address: self.addresses[number - 1].clone(),
                    at_us: line["at_us"].as_i64().unwrap(),
                    kind: self::text(&line["kind"]),
                    what: self::text(&line["what"]),
                }
            })
            .collect()
    }
}

impl FarmRun {
    /// Its folder, once it has one.
    pub fn folder(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(&self.output).ok()?;
        let mut folders = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| !path.is_symlink() && journal_of(path).is_file());
        folders.next()
    }

    /// Its name; waits until it has one.
    #[track_caller]
    pub fn id(&self) -> String {
        until(|| self.folder().is_some());
        let folder = self.folder().unwrap();
        folder.file_name().unwrap().to_str().unwrap().to_owned()
    }

    /// Its journal so far, a line each.
    pub fn events(&self) -> Vec<Value> {
        let journal = self.folder().map(|folder| journal_of(&folder));
        let text = journal.and_then(|journal| std::fs::read_to_string(journal).ok());
        text.unwrap_or_default()
            .lines()
            .map_while(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// How many events of a kind its journal has so far.
    pub fn told(&self, event: &str) -> usize {
        let events = self.events();
        events.iter().filter(|told| told["event"] == event).count()
    }

    /// Waits until its journal has that many events of a kind.
    #[track_caller]
    pub fn until_told(&self, event: &str, count: usize) {
        until(|| {
            let told = self.told(event);
            assert!(
                told >= count || self.process.is_running() || self.told(event) >= count,
                "it ended with {told} of {count} {event}:\n{}",
                self.process.stderr()
            );
            told >= count
        });
    }

    /// Waits for its end and checks its exit code.
    #[track_caller]
    pub fn expect(&self, code: i32) {
        assert_eq!(self.process.ended(), code, "{}", self.process.stderr());
    }
}

/// A trail of marked steps.
fn marked_trail(name: &str, steps: usize, step_ms: u64) -> String {
    let seconds = format!("{}.{:03}", step_ms / 1000, step_ms % 1000);
    let steps: String = (1..=steps)
        .map(|step| {
            format!(
                "  - step: \"Step {step}\"\n    recording:\n      android:\n\
                 \x20       - android_adbShell: {{ command: [getprop, packtrain-step-{step}] }}\n\
                 \x20       - android_adbShell: {{ command: [sleep, '{seconds}'] }}\n"
            )
        })
        .collect();
    format!("config: {{ id: {name} }}\ntrail:\n{steps}")
}

fn journal_of(folder: &Path) -> PathBuf {
    folder.join("events.ndjson")
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
