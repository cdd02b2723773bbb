//! The farm of a rehearsal: server, brokers, phones, hosts, runs, each a process of its own. The phones
//! are not their hosts', so that they outlive them and tell what has reached them.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use packtrain_farm::audit::MARK;
use serde_json::Value;

use super::RehearseArgs;
use super::actor::Actor;
use super::faults::Target;
use crate::exit::CliError;

/// How long phones and server may take to come up.
const START_TIMEOUT: Duration = Duration::from_secs(60);
/// How often to check whether they have.
const START_POLL: Duration = Duration::from_millis(20);

/// The server's place among the actors.
pub(super) const SERVER: usize = 0;

/// A farm that is up, and has no runs yet.
pub(super) struct Stage {
    pub(super) options: RehearseArgs,
    /// Where everything is kept.
    folder: PathBuf,
    /// What can be killed: the server, brokers, hosts, and runs as they come.
    pub(super) actors: Vec<(Target, Actor)>,
    pub(super) runs: Vec<FarmRun>,
    pub(super) phones: Vec<Phones>,
    url: String,
    program: PathBuf,
}

/// A run, through all its processes.
pub(super) struct FarmRun {
    /// Its place among the actors.
    pub(super) actor: usize,
    /// The folder that has the run's folder in it.
    pub(super) output: PathBuf,
    /// How many sessions it has.
    pub(super) sessions: u32,
    /// With which codes its processes ended by themselves.
    pub(super) code: Option<i32>,
}

/// The phones of a host.
pub(super) struct Phones {
    /// The host's name.
    pub(super) host: String,
    /// Where each is reached, in order.
    pub(super) addresses: Vec<String>,
    /// What has reached them.
    pub(super) log: PathBuf,
    adb_server: String,
    actor: Actor,
}

impl Stage {
    /// Starts everything but the runs, with this nats-server.
    pub(super) async fn set(
        options: RehearseArgs,
        folder: &Path,
        nats: &Path,
    ) -> Result<Self, CliError> {
        let failed = |error: std::io::Error| {
            CliError::infrastructure(format!("cannot write {}", folder.display())).because(&error)
        };
        if folder.join("logs").exists() {
            return Err(CliError::misuse(format!(
                "{} already holds a rehearsal",
                folder.display()
            ))
            .hint("name another folder, or remove it"));
        }
        std::fs::create_dir_all(folder.join("logs")).map_err(failed)?;
        std::fs::create_dir_all(folder.join("trails")).map_err(failed)?;
        let trail = trail(options.steps, options.step_time.get());
        std::fs::write(folder.join("trails/rehearsal.trail.yaml"), trail).map_err(failed)?;
        let program = std::env::current_exe().map_err(|error| {
            CliError::infrastructure("cannot find this program").because(&error)
        })?;
        let (server, address) = server(nats, folder, options.ttl)?;
        let mut stage = Self {
            actors: vec![(Target::Server, server)],
            url: format!("nats://{address}"),
            program,
            runs: Vec::new(),
            phones: Vec::new(),
            folder: folder.to_owned(),
            options,
        };
        let server = &mut stage.actors[SERVER].1;
        server.start()?;
        wait_for(server, |_| TcpStream::connect(address).ok()).await?;
        for number in 1..=stage.options.brokers {
            let words = ["farm", "broker", "--farm", &stage.url];
            let broker = stage.actor(&format!("broker-{number}"), &words, ".");
            stage.start(Target::Broker, broker)?;
        }
        stage.start_phones().await?;
        stage.start_hosts()?;
        Ok(stage)
    }

    async fn start_phones(&mut self) -> Result<(), CliError> {
        let (devices, hosts) = (self.options.devices, self.options.hosts);
        for number in 0..hosts {
            // As even as it gets.
            let count = (devices * (number + 1) / hosts - devices * number / hosts).to_string();
            let host = format!("h{}", number + 1);
            let log = self.folder.join(format!("phones-{host}.ndjson"));
            let log_word = log.display().to_string();
            let mut words = vec!["virtual", "up", "--android", &count, "--ios", "0"];
            words.extend(["--profile", "fast", "--format", "json", "--log", &log_word]);
            let mut actor = self.actor(&format!("phones-{host}"), &words, ".");
            actor.start()?;
            self.phones.push(Phones {
                host,
                addresses: Vec::new(),
                log,
                adb_server: String::new(),
                actor,
            });
        }
        for phones in &mut self.phones {
            phones.come_up().await?;
        }
        Ok(())
    }

    fn start_hosts(&mut self) -> Result<(), CliError> {
        let mut hosts = Vec::new();
        for phones in &self.phones {
            let folder = format!("hosts/{}", phones.host);
            let config = format!(
                "devices:\n  android:\n    adb: \"{}\"\n    connect: [\"{}\"]\n",
                phones.adb_server,
                phones.addresses.join("\", \"")
            );
            let place = self.folder.join(&folder);
            let written = std::fs::create_dir_all(&place)
                .and_then(|()| std::fs::write(place.join("packtrain.yaml"), config));
            written.map_err(|error| {
                CliError::infrastructure(format!("cannot write {}", place.display()))
                    .because(&error)
            })?;
            let words = ["host", "--farm", &self.url, "--name", &phones.host];
            let words = [&words[..], &["-d", "android"]].concat();
            hosts.push(self.actor(&phones.host, &words, &folder));
        }
        (hosts.into_iter()).try_for_each(|host| self.start(Target::Host, host))
    }

    fn start(&mut self, kind: Target, mut actor: Actor) -> Result<(), CliError> {
        actor.start()?;
        self.actors.push((kind, actor));
        Ok(())
    }

    /// Starts a run of so many sessions.
    pub(super) fn start_run(&mut self, sessions: u32) -> Result<(), CliError> {
        let name = format!("run-{}", self.runs.len() + 1);
        let output = self.folder.join(&name);
        let (folder, count) = (output.display().to_string(), sessions.to_string());
        let (is_first, all) = (self.runs.is_empty(), self.options.devices);
        let devices = match is_first {
            true => all.to_string(),
            false => "1".to_owned(),
        };
        let cells = sessions.div_ceil(all).max(2);
        let rounds: Vec<String> = (1..=cells).map(|round| round.to_string()).collect();
        let axis = format!("round={}", rounds.join(","));
        let (how_many, sessions) = match is_first && self.options.matrix {
            // One on each phone.
            true => (["--axis", &axis], all.saturating_mul(cells)),
            false => (["--count", &count], sessions),
        };
        let mut words = vec!["run", "trails/rehearsal.trail.yaml", "--farm", &self.url];
        words.extend(how_many);
        words.extend(["--on", "android", "--min-devices", &devices]);
        words.extend([
            "--screenshots",
            "none",
            "--observe",
            "none",
            "--no-report",
            "-q",
        ]);
        words.extend(["--output", &folder]);
        let actor = self.actor(&name, &words, ".");
        self.start(Target::Run, actor)?;
        self.runs.push(FarmRun {
            actor: self.actors.len() - 1,
            output,
            sessions,
            code: None,
        });
        Ok(())
    }

    /// Whether the server takes connections.
    pub(super) fn has_server(&self) -> bool {
        TcpStream::connect(self.url.trim_start_matches("nats://")).is_ok()
    }

    /// Starts what was killed; a run is carried on.
    pub(super) fn start_again(&mut self, who: usize) -> Result<(), CliError> {
        let actor = &mut self.actors[who].1;
        // One that was killed before it had a name is started again.
        if let Some(run) = self.runs.iter().find(|run| run.actor == who)
            && let Some(id) = run.id()
        {
            let folder = run.output.display().to_string();
            let words = [
                "resume", &id, "--farm", &self.url, "--output", &folder, "-q",
            ];
            actor.set_words(words.map(str::to_owned).to_vec());
        }
        actor.start()
    }

    fn actor(&self, name: &str, words: &[&str], folder: &str) -> Actor {
        let stage = &self.folder;
        let words = words.iter().map(ToString::to_string).collect();
        let place = stage.join(folder);
        let ttl = self.options.ttl;
        Actor::new(name, &self.program, words, place, stage, ttl)
    }
}

impl FarmRun {
    /// Its folder, once it has one.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let mut entries = std::fs::read_dir(&self.output).ok()?.filter_map(Result::ok);
        let found = entries.find(|entry| {
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            // What a resumed run was before is put aside under a hidden name.
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            !is_link && !is_hidden && entry.path().join("events.ndjson").is_file()
        });
        found.map(|entry| entry.path())
    }

    fn id(&self) -> Option<String> {
        let folder = self.folder()?;
        Some(folder.file_name()?.to_str()?.to_owned())
    }
}

impl Phones {
    /// Waits until they say where they are reached.
    async fn come_up(&mut self) -> Result<(), CliError> {
        let told = wait_for(&mut self.actor, |actor| {
            let said = std::fs::read_to_string(actor.output()).ok()?;
            serde_json::from_str::<Value>(said.lines().next()?).ok()
        });
        let told = told.await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let androids = told["android"].as_array().into_iter().flatten();
        self.addresses = androids.map(|phone| text(&phone["adb"])).collect();
        self.adb_server = text(&told["adb_server"]);
        Ok(())
    }
}

/// Waits until what was started has done something.
async fn wait_for<T>(actor: &mut Actor, look: impl Fn(&Actor) -> Option<T>) -> Result<T, CliError> {
    let begun = tokio::time::Instant::now();
    loop {
        if let Some(found) = look(actor) {
            return Ok(found);
        }
        let ended = actor.ended().is_some();
        if ended || begun.elapsed() > START_TIMEOUT {
            let how = if ended { "ended" } else { "did not come up" };
            return Err(
                CliError::infrastructure(format!("{} {how}", actor.name)).cause(actor.last_words())
            );
        }
        tokio::time::sleep(START_POLL).await;
    }
}

/// A server on a free port of loopback that knows no users: this computer has no other users.
fn server(program: &Path, folder: &Path, ttl: u64) -> Result<(Actor, SocketAddr), CliError> {
    let failed = |error: std::io::Error| {
        CliError::infrastructure("cannot prepare the farm's server").because(&error)
    };
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    let address = free.map_err(failed)?;
    let store = folder.join("store").display().to_string();
    let config = format!(
        "listen: \"{address}\"\nserver_name: rehearsal\njetstream {{ store_dir: {store:?} }}\n"
    );
    let file = folder.join("server.conf");
    std::fs::write(&file, config).map_err(failed)?;
    let words = vec!["-c".to_owned(), file.display().to_string()];
    let actor = Actor::new("server", program, words, folder.to_owned(), folder, ttl);
    Ok((actor, address))
}

/// A trail that marks what its steps do, so that the phones' logs tell whose turn it was.
fn trail(steps: u32, step_time: Duration) -> String {
    let mut text = "config: { id: rehearsal }\ntrail:\n".to_owned();
    for step in 1..=steps {
        let call = |words: &str| format!("        - android_adbShell: {{ command: [{words}] }}\n");
        let marked = call(&format!("getprop, {MARK}{step}"));
        let waits = match step_time.is_zero() {
            true => String::new(),
            false => call(&format!("sleep, '{}'", step_time.as_secs_f64())),
        };
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "  - step: \"Step {step}\"\n    recording:\n      android:\n{marked}{waits}"
        );
    }
    text
}
