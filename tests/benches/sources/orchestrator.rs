//! The process under measurement: devices in memory, leases, sessions, the invoker, a journal on
//! disk, tool sources and the door for callbacks. Only the command line is missing.

use std::sync::Arc;
use std::time::Duration;

use packtrain_config::{McpServer, Transport};
use packtrain_device_actors::Fleet;
use packtrain_door::callbacks::CallbackServer;
use packtrain_drivers::{
    ActionReport, BoxFuture, Command, CommandContext, DeviceId, DeviceInfo, DriverError, EventSink,
    Observation, Platform, Size, WebCommand,
};
use packtrain_engine::{
    Here, Journal, SessionContext, SessionOrder, SessionOutput, SessionStop, TrailLoader,
};
use packtrain_model::memory::Redactor;
use packtrain_model::trail::{ToolCall, Trail};
use packtrain_model::yaml::{DecodeError, Value};
use packtrain_model::{AttemptNumber, RunId, SessionId, SessionIndex};
use packtrain_record::JournalWriter;
use packtrain_sources::{
    CallbackLimits, Callbacks, Launch, LaunchProgram, SourceSettings, SupervisorOptions,
    ToolSources,
};
use packtrain_testing::{Script, scripted};
use packtrain_tools::{Answer, Call, Caller, Kind, Registry, Tool, ToolError, ToolSpec};
use packtrain_workplace::disk::Disk;
use tokio::time::Instant;

use crate::ROUNDS;
use crate::client::{Connection, median, quantile};

pub(crate) fn run(words: &[&str]) {
    let (mode, source, devices, latency) = (words[0], words[1], words[2], words[3]);
    let devices: usize = devices.parse().unwrap();
    let latency = Duration::from_millis(latency.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let runtime = Arc::new(runtime);
    let shared = Arc::clone(&runtime);
    actix_rt::System::with_tokio_rt(move || shared).block_on(async {
        let bench = Bench::new(source, &words[4..], devices, latency).await;
        match mode {
            "hold" => bench.all("bench_hold", 1).await,
            "calls" => bench.calls(source).await,
            "drive" => bench.drive("bench_drive", 1).await,
            "steps" => bench.drive("bench_step", crate::STEPS).await,
            _ => panic!("hold, calls, drive or steps"),
        }
        bench.sources.shutdown().await;
    });
}

struct Bench {
    sessions: Vec<Arc<SessionContext>>,
    sources: ToolSources,
    /// Its devices live as long as it does.
    _here: Here,
    _server: packtrain_door::door::Serving,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new(source: &str, started: &[&str], devices: usize, latency: Duration) -> Self {
        let infos: Vec<DeviceInfo> = (0..devices).map(|n| info(&format!("d{n}"))).collect();
        let connectors = infos.iter().map(|info| {
            let info = info.clone();
            scripted(Arc::new(Memory { info, latency }))
        });
        let arbiter = actix_rt::Arbiter::new().handle();
        let fleet = Fleet::start(connectors.collect(), std::slice::from_ref(&arbiter)).unwrap();
        let server = CallbackServer::bind().await.unwrap();
        let (mut server_settings, mut launch) = (McpServer::default(), None);
        server_settings.name = "bench".to_owned();
        match started {
            [] => server_settings.url = Some(source.to_owned()),
            [program, replicas] => {
                launch = Some(Launch {
                    program: LaunchProgram::Command((*program).to_owned()),
                    args: vec![source.to_owned()],
                    env: Default::default(),
                    without: Vec::new(),
                    folder: None,
                });
                server_settings.transport = Some(Transport::Http);
                server_settings.replicas = replicas.parse().unwrap();
            }
            _ => panic!("program and replicas"),
        }
        server_settings.concurrency = 1024;
        let settings = SourceSettings {
            server: server_settings,
            launch,
        };
        let sources = ToolSources::start(
            SupervisorOptions {
                sources: vec![settings],
                base: Registry::builtin().with(Arc::new(Act(spec()))),
                devices: infos.clone(),
                first: None,
                base_url: server.base_url(),
                callback_timeout: CallbackLimits::default().timeout,
                run_dir: None,
                search_path: std::env::var_os("PATH").unwrap(),
                log_listener: None,
                redactor: Redactor::default(),
                session_prefix: "bench".to_owned(),
            },
            &arbiter,
        );
        let limits = CallbackLimits::default();
        let callbacks = Callbacks::new(
            sources.invocations().clone(),
            sources.registry().clone(),
            limits,
        );
        let serving = server.serve(callbacks);
        let failures = sources.registered().await.unwrap();
        assert!(failures.is_empty(), "{failures:?}");
        let folder = tempfile::tempdir().unwrap();
        let run = RunId("bench".to_owned());
        let disk = Disk::new(JournalWriter::create(folder.path(), &run).unwrap());
        let (journal, _) = Journal::start(Box::new(disk), Vec::new(), Redactor::default()).unwrap();
        let here = Here {
            fleet,
            registry: sources.registry().clone(),
            loader: Arc::new(NoTrails),
            caller: Caller::Person,
            working_directory: folder.path().to_owned(),
            environment: None,
            scratch: None,
        };
        let mut sessions = Vec::new();
        for (index, info) in infos.into_iter().enumerate() {
            let run = RunId("bench".to_owned());
            let order = SessionOrder {
                session: SessionId::new(SessionIndex(index), AttemptNumber(1)),
                ..SessionOrder::alone(run, Trail::empty("bench"), info)
            };
            let output = SessionOutput::new(journal.clone());
            let session = here.open(&order, output, SessionStop::default()).await;
            sessions.push(Arc::new(
                session.unwrap_or_else(|outcome| panic!("{outcome:?}")),
            ));
        }
        Self {
            sessions,
            sources,
            _here: here,
            _server: serving,
            _folder: folder,
        }
    }

    /// Calls a tool in every session at once, in each so many times in a row.
    async fn all(&self, tool: &str, times: usize) {
        let calls = self.sessions.iter().map(|session| {
            let (session, tool) = (Arc::clone(session), tool.to_owned());
            tokio::spawn(async move {
                let call = ToolCall::new(tool, Value::mapping([]));
                for _ in 0..times {
                    session
                        .call(&call)
                        .await
                        .unwrap_or_else(|outcome| panic!("{outcome:?}"));
                }
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
    }

    async fn drive(&self, tool: &str, times: usize) {
        // What is opened and compiled only once is not measured.
        self.all(tool, times).await;
        println!("ready");
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).unwrap();
        let begun = Instant::now();
        self.all(tool, times).await;
        println!("{}", begun.elapsed().as_secs_f64() * 1e3);
    }

    async fn calls(&self, url: &str) {
        let address = url
            .trim_start_matches("http://")
            .trim_end_matches("/mcp")
            .to_owned();
        let body = serde_json::json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": { "name": "bench_echo", "arguments": {}, "_meta": {
                "trailblaze": { "baseUrl": "http://127.0.0.1:50000", "sessionId": "bench_s1",
                    "invocationId": "0f0e0d0c-0b0a-0908-0706-050403020100",
                    "device": { "platform": "web", "widthPixels": 10, "heightPixels": 10, "driverType": "memory" } },
            } },
        })
        .to_string();
        let call = ToolCall::new("bench_echo", Value::mapping([]));
        let session = &self.sessions[0];
        let (mut ratios, mut own, mut floor) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (address, body) = (address.clone(), body.clone());
            let mut bare = tokio::task::spawn_blocking(move || {
                Connection::open(&address, "/mcp").slice(&body, crate::SLICE)
            })
            .await
            .unwrap();
            let mut took = Vec::new();
            let ends = Instant::now() + crate::SLICE;
            while Instant::now() < ends {
                let begun = Instant::now();
                session.call(&call).await.unwrap();
                took.push(begun.elapsed().as_secs_f64() * 1e6);
            }
            let (ours, bare) = (quantile(&mut took, 0.5), quantile(&mut bare, 0.5));
            ratios.push(ours / bare);
            own.push(ours);
            floor.push(bare);
        }
        println!(
            "tools/call p50 / raw HTTP client: {:.2} (p10 {:.2}, p90 {:.2}; {:.1} us / {:.1} us)",
            median(&mut ratios),
            quantile(&mut ratios, 0.1),
            quantile(&mut ratios, 0.9),
            median(&mut own),
            median(&mut floor),
        );
    }
}

struct NoTrails;

impl TrailLoader for NoTrails {
    fn load(
        &self,
        path: &str,
        _: &[std::path::PathBuf],
        _: Option<&packtrain_drivers::Reach>,
    ) -> Result<Arc<Trail>, String> {
        Err(format!("no trail {path}"))
    }
}

fn info(name: &str) -> DeviceInfo {
    DeviceInfo {
        id: DeviceId::new(Platform::Web, name),
        driver: "memory".into(),
        classifiers: vec!["web".into()],
        model: "memory".into(),
        system: "memory".into(),
        screen: Size::new(10.0, 10.0),
    }
}

/// A device that does nothing, for a while.
struct Memory {
    info: DeviceInfo,
    latency: Duration,
}

impl Script for Memory {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    async fn execute(
        &self,
        command: Command,
        _: &CommandContext,
        _: &EventSink,
    ) -> Result<Observation, DriverError> {
        if matches!(command, Command::Web(_)) && !self.latency.is_zero() {
            tokio::time::sleep_until(Instant::now() + self.latency).await;
        }
        Ok(Observation::Done(ActionReport::default()))
    }
}

fn spec() -> ToolSpec {
    ToolSpec::new("bench_act", "Has the device do nothing.", Kind::Action)
}

/// A tool that sends the device one command under the session's lease.
struct Act(ToolSpec);

impl Tool for Act {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn check(&self, _: &Value) -> Result<(), DecodeError> {
        Ok(())
    }

    fn call<'a>(
        &'a self,
        _: &'a Value,
        call: &'a Call<'a>,
    ) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(call.act(Command::Web(WebCommand::Evaluate(String::new()))))
    }
}
