//! One WebDriverAgent on a simulator for all users: started by what answers, shared, and ended by
//! the last.

use std::fs::{File, TryLockError};
use std::process::Stdio;
use std::time::Duration;

use packtrain_driver_wda::{WdaEndpoint, WdaStart};
use packtrain_drivers::{
    Command, Driver, DriverError, InputCommand, SessionOptions, event_channel,
};
use packtrain_testing::{SNAPSHOT, context, inject};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::simulator::{Mac, connect};

/// What the keeper of a simulator says.
fn record(mac: &Mac, udid: &str) -> Value {
    let file = mac
        .folder
        .path()
        .join("agents")
        .join(udid)
        .join("agent.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn calls_with(mac: &Mac, word: &str) -> usize {
    let calls = mac.calls();
    calls.iter().filter(|call| call.starts_with(word)).count()
}

/// Waits for the end of a process that is nobody's child here.
async fn until_gone(pid: u32) {
    while packtrain_program::started(pid).is_some() {
        tokio::task::yield_now().await;
    }
}

fn signal(word: &str, pid: u32) {
    let sent = std::process::Command::new("kill")
        .args([word, &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

async fn snapshot(driver: &mut dyn Driver) -> Result<(), DriverError> {
    driver
        .execute(Command::Screenshot, &context())
        .await
        .map(drop)
}

#[tokio::test]
async fn a_simulators_command_is_told_its_port_and_is_ended_by_its_last_user() {
    let mut desk = WdaEndpoint::device("AAAA");
    desk.name = "desk".to_owned();
    let words = ["./xcrun", "xcodebuild", "on {port}"];
    desk.start = WdaStart::Command(words.map(str::to_owned).to_vec());
    let place = tempfile::tempdir().unwrap();
    desk.folder = Some(place.path().to_owned());
    let mac = Mac::new(vec![desk]).await;
    // Relative to the folder of the configuration, wherever this process is.
    std::os::unix::fs::symlink(mac.folder.path().join("xcrun"), place.path().join("xcrun"))
        .unwrap();
    let (driver, launched) = tokio::join!(connect(&mac.pool), mac.launched());
    let port = launched.port().to_string();
    for name in ["USE_PORT", "TEST_RUNNER_USE_PORT"] {
        assert_eq!(launched.variables[name], port, "{name}");
    }
    assert_eq!(launched.variables["TEST_RUNNER_USE_IP"], "127.0.0.1");
    let pictures = &launched.variables["MJPEG_SERVER_PORT"];
    assert!(*pictures != port && *pictures != "9100", "{pictures}");
    assert!(mac.calls().contains(&format!("xcodebuild on {port}")));
    driver.unwrap().close().await;
    mac.pool.shutdown().await;
    assert_eq!(calls_with(&mac, "terminate AAAA"), 1, "what it started");
    mac.end().await;
}

#[tokio::test]
async fn where_a_launch_does_not_do_xcode_tests_the_app_and_is_asked_first_from_then_on() {
    let mac = Mac::new(Vec::new()).await;
    std::fs::write(mac.folder.path().join("no-launch"), "").unwrap();
    for launches in [1, 1] {
        let (driver, launched) = tokio::join!(connect(&mac.pool), mac.launched());
        driver.unwrap().close().await;
        mac.pool.shutdown().await;
        assert_eq!(calls_with(&mac, "launch"), launches);
        let file = mac
            .folder
            .path()
            .join("agents/AAAA/runner/runner.xctestrun");
        let written = std::fs::read_to_string(&file).unwrap();
        let port = launched.port().to_string();
        for part in [
            "Runner.app",
            "WebDriverAgentRunner.xctest",
            &port,
            "<true/>",
        ] {
            assert!(written.contains(part), "{part}\n{written}");
        }
    }
    let calls = mac.calls();
    let tests = calls.iter().rfind(|call| call.starts_with("xcodebuild"));
    assert!(tests.unwrap().contains("-destination id=AAAA"), "{calls:?}");
    mac.end().await;
}

#[tokio::test]
async fn an_app_that_never_answers_is_ended_and_xcode_tries_it() {
    let mac = Mac::new(Vec::new()).await;
    let launched = async {
        let (_, mut silent) = mac.begun().await;
        silent.write_all(b"go on\n").await.unwrap();
        mac.launched().await
    };
    let (driver, _launched) = tokio::join!(connect(&mac.pool), launched);
    driver.unwrap().close().await;
    assert_eq!(calls_with(&mac, "terminate"), 1);
    mac.end().await;
}

#[tokio::test]
async fn two_processes_share_one_webdriveragent_and_the_last_one_ends_it() {
    let mac = Mac::new(Vec::new()).await;
    let (mut first, launched) = mac.driver().await;
    let other = mac.another_pool();
    let second = connect(&other).await.unwrap();
    assert_eq!(record(&mac, "AAAA")["port"], launched.port());
    // Who has started it ends first.
    snapshot(first.as_mut()).await.unwrap();
    first.close().await;
    mac.pool.shutdown().await;
    assert_eq!(calls_with(&mac, "terminate"), 0);
    let mut second = second;
    snapshot(second.as_mut()).await.unwrap();
    second.close().await;
    other.shutdown().await;
    assert_eq!(
        (calls_with(&mac, "launch"), calls_with(&mac, "terminate")),
        (1, 1)
    );
    mac.end().await;
}

#[tokio::test]
async fn nobody_joins_what_is_being_ended() {
    let mac = Mac::new(Vec::new()).await;
    let file = |name: &str| mac.folder.path().join(name);
    let script = std::fs::read_to_string(file("xcrun")).unwrap();
    let script = script.replace("\nesac", "\n  terminate) read -r _ < go-on ;;\nesac");
    std::fs::write(file("xcrun"), script).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(file("go-on"))
        .status();
    assert!(made.unwrap().success());
    let (driver, _launched) = mac.driver().await;
    driver.close().await;
    let join = async {
        while calls_with(&mac, "terminate") == 0 {
            tokio::task::yield_now().await;
        }
        let users = File::open(file("agents/AAAA/users")).unwrap();
        let joined = users.try_lock_shared();
        std::fs::write(file("go-on"), "\n").unwrap();
        joined
    };
    let ((), joined) = tokio::join!(mac.pool.shutdown(), join);
    let refused = matches!(joined, Err(TryLockError::WouldBlock));
    assert!(refused, "{joined:?}");
    mac.end().await;
}

#[tokio::test]
async fn who_comes_at_the_same_moment_waits_for_the_one_start() {
    let mac = Mac::new(Vec::new()).await;
    let others = [mac.another_pool(), mac.another_pool()];
    let (a, b, c, _launched) = tokio::join!(
        connect(&mac.pool),
        connect(&others[0]),
        connect(&others[1]),
        mac.launched()
    );
    for driver in [a, b, c] {
        driver.unwrap().close().await;
    }
    for pool in others {
        pool.shutdown().await;
    }
    assert_eq!(
        (calls_with(&mac, "launch"), calls_with(&mac, "terminate")),
        (1, 0)
    );
    mac.end().await;
}

#[tokio::test]
async fn three_processes_take_no_session_from_each_other() {
    let mac = Mac::new(Vec::new()).await;
    let found = mac.pool.discover().await.unwrap();
    let (sink, mut events) = event_channel();
    let ctx = context();
    let (first, _launched) = tokio::join!(found[0].connect(sink, &ctx), mac.launched());
    let mut first = first.unwrap();
    let begin = || Command::Begin(SessionOptions::default());
    first.execute(begin(), &ctx).await.unwrap();
    let others = [mac.another_pool(), mac.another_pool()];
    for _ in 0..2 {
        let (second, third) = tokio::join!(connect(&others[0]), connect(&others[1]));
        for mut neighbour in [second.unwrap(), third.unwrap()] {
            neighbour.execute(begin(), &ctx).await.unwrap();
            first.execute(SNAPSHOT, &ctx).await.unwrap();
            neighbour.execute(SNAPSHOT, &ctx).await.unwrap();
            neighbour.close().await;
        }
        first.execute(SNAPSHOT, &ctx).await.unwrap();
    }
    assert_eq!(events.drain(), []);
    first.close().await;
    for pool in others {
        pool.shutdown().await;
    }
    mac.end().await;
}

#[tokio::test]
async fn however_often_neighbours_launch_apps_a_command_is_carried_out() {
    let mac = Mac::new(Vec::new()).await;
    let (mut driver, _launched) = mac.driver().await;
    let fault = "{ match: { route: 'GET .*/source' }, when: { times: 5 }, do: session_killed }";
    inject(mac.fleet.ios()[0].device(), fault);
    driver.execute(SNAPSHOT, &context()).await.unwrap();
    driver.close().await;
    mac.end().await;
}

/// Waits for a launch, and has the app answer once.
async fn answers_once(mac: &Mac) {
    let (variables, mut stream) = mac.begun().await;
    let address = format!("127.0.0.1:{}", variables["USE_PORT"]);
    let listener = TcpListener::bind(address).await.unwrap();
    stream.write_all(b"go on\n").await.unwrap();
    let (mut asked, _) = listener.accept().await.unwrap();
    drop(listener);
    let _ = asked.read(&mut [0; 4096]).await.unwrap();
    let status = r#"{"value": {"os": {}}}"#;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n",
        status.len()
    );
    asked.write_all((head + status).as_bytes()).await.unwrap();
}

#[tokio::test]
async fn one_that_ends_after_each_answer_is_started_twice_and_that_is_told() {
    let mac = Mac::new(Vec::new()).await;
    let dying = async {
        answers_once(&mac).await;
        answers_once(&mac).await;
    };
    let (refused, ()) = tokio::join!(connect(&mac.pool), dying);
    let Err(DriverError::Lost { cause, .. }) = refused.map(drop) else {
        panic!("it connected");
    };
    assert!(cause.contains("it answered and ended, 2 times"), "{cause}");
    assert_eq!(calls_with(&mac, "launch"), 2);
    mac.end().await;
}

#[tokio::test]
async fn that_a_launch_got_no_answer_is_known_before_the_other_way_has_one() {
    let mac = Mac::new(Vec::new()).await;
    let begun = async {
        let (_, mut silent) = mac.begun().await;
        silent.write_all(b"go on\n").await.unwrap();
        let _tests = mac.begun().await;
        record(&mac, "AAAA")["way"].clone()
    };
    tokio::select! {
        _ = connect(&mac.pool) => panic!("nobody answers"),
        way = begun => assert_eq!(way, "Xcodebuild"),
    }
    mac.end().await;
}

#[tokio::test]
async fn a_simulator_that_is_gone_is_used_no_more() {
    let mac = Mac::new(Vec::new()).await;
    let mut watch = mac.pool.watch();
    let found = watch.next().await;
    let (sink, _events) = event_channel();
    let ctx = context();
    let (driver, _launched) = tokio::join!(found[0].connect(sink, &ctx), mac.launched());
    driver.unwrap().close().await;
    std::fs::write(mac.folder.path().join("list.json"), r#"{"devices": {}}"#).unwrap();
    tokio::time::pause();
    // It is listed again by now.
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
    assert_eq!(watch.next().await.len(), 0);
    while calls_with(&mac, "terminate") == 0 {
        tokio::task::yield_now().await;
    }
    mac.end().await;
}

#[tokio::test]
async fn several_simulators_have_a_webdriveragent_each() {
    let mac = Mac::new(Vec::new()).await;
    let found = mac.pool.discover().await.unwrap();
    let connect = async |at: usize| {
        let (sink, _events) = event_channel();
        found[at].connect(sink, &context()).await
    };
    let both = async { (mac.launched().await, mac.launched().await) };
    let (a, b, (first, second)) = tokio::join!(connect(0), connect(1), both);
    let ports = [first.port(), second.port()].map(u64::from);
    let mut told = ["AAAA", "BBBB"].map(|udid| record(&mac, udid)["port"].as_u64().unwrap());
    told.sort_unstable();
    assert!(
        told == ports || told == [ports[1], ports[0]],
        "{told:?} {ports:?}"
    );
    for driver in [a, b] {
        driver.unwrap().close().await;
    }
    mac.end().await;
}

#[tokio::test]
async fn what_runs_in_place_of_the_app_that_was_launched_is_not_ended() {
    let mac = Mac::new(Vec::new()).await;
    let mut app = std::process::Command::new("cat");
    let mut app = app.stdin(Stdio::piped()).spawn().unwrap();
    std::fs::write(mac.folder.path().join("app.pid"), app.id().to_string()).unwrap();
    let (driver, _launched) = mac.driver().await;
    app.kill().unwrap();
    app.wait().unwrap();
    driver.close().await;
    mac.pool.shutdown().await;
    assert_eq!(calls_with(&mac, "terminate"), 0, "another client's, by now");
    mac.end().await;
}

#[tokio::test]
async fn when_its_keeper_is_killed_it_ends_before_another_is_started() {
    let mac = Mac::new(Vec::new()).await;
    let (mut driver, launched) = mac.driver().await;
    let keeper = u32::try_from(record(&mac, "AAAA")["pid"].as_u64().unwrap()).unwrap();
    signal("-KILL", keeper);
    until_gone(keeper).await;
    launched.end().await;
    let again = async {
        let again = mac.launched().await;
        assert_eq!(calls_with(&mac, "terminate"), 1, "the old one first");
        again
    };
    let (seen, _launched) = tokio::join!(snapshot(driver.as_mut()), again);
    seen.unwrap();
    driver.close().await;
    mac.end().await;
}

#[tokio::test]
async fn when_the_keeper_of_a_command_is_killed_its_runner_ends() {
    let mac = Mac::new(Vec::new()).await;
    std::fs::write(mac.folder.path().join("no-launch"), "").unwrap();
    let (driver, _launched) = mac.driver().await;
    let keeper = u32::try_from(record(&mac, "AAAA")["pid"].as_u64().unwrap()).unwrap();
    signal("-KILL", keeper);
    while calls_with(&mac, "terminate") == 0 {
        tokio::task::yield_now().await;
    }
    driver.close().await;
    mac.end().await;
}

#[tokio::test]
async fn another_program_on_the_port_of_before_is_never_taken_for_webdriveragent() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
        "HTTP/1.1 200 OK\r\ncontent-length: 58\r\n\r\n{\"value\": {\"os\": {}, \"build\": {\"upgradedAt\": \"appium\"}}}   ",
    ] {
        let mac = Mac::new(Vec::new()).await;
        let (driver, launched) = mac.driver().await;
        driver.close().await;
        let port = launched.port();
        launched.end().await;
        let stranger = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let (tell, mut asked) = mpsc::channel(64);
        let _stranger = AbortOnDropHandle::new(tokio::spawn(async move {
            while let Ok((mut stream, _)) = stranger.accept().await {
                let mut bytes = [0; 4096];
                let count = stream.read(&mut bytes).await.unwrap();
                let line = String::from_utf8_lossy(&bytes[..count]);
                tell.send(line.lines().next().unwrap_or_default().to_owned())
                    .await
                    .unwrap();
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }));
        let again = async {
            let again = mac.launched().await;
            assert_ne!(again.port(), port);
            again
        };
        let (driver, _again) = tokio::join!(connect(&mac.pool), again);
        while let Ok(line) = asked.try_recv() {
            assert!(line.starts_with("GET /status "), "{line}");
        }
        driver.unwrap().close().await;
        mac.end().await;
    }
}

#[tokio::test]
async fn a_simulator_without_webdriveragent_is_told_the_command_that_installs_it() {
    let mac = Mac::new(Vec::new()).await;
    let script = std::fs::read_to_string(mac.folder.path().join("xcrun")).unwrap();
    let refused = "echo 'No such file or directory' >&2; exit 2";
    let script = script.replace("echo \"$PWD/Runner.app\"", refused);
    std::fs::write(mac.folder.path().join("xcrun"), script).unwrap();
    std::fs::write(mac.folder.path().join("no-launch"), "").unwrap();
    let Err(DriverError::Lost { cause, hint }) = connect(&mac.pool).await.map(drop) else {
        panic!("it connected");
    };
    for part in ["no such app", "No such file or directory"] {
        assert!(cause.contains(part), "{cause}");
    }
    assert!(hint.unwrap().contains("xcrun simctl install AAAA"));
    mac.end().await;
}

#[tokio::test]
async fn a_simulator_that_takes_no_text_names_the_setting_of_its_keyboard() {
    let mac = Mac::new(Vec::new()).await;
    let (mut driver, _launched) = mac.driver().await;
    let typed = Command::Input(InputCommand::Text("a".to_owned()));
    let error = driver.execute(typed, &context()).await.unwrap_err();
    assert!(
        error.to_string().contains("Connect Hardware Keyboard"),
        "{error}"
    );
    driver.close().await;
    mac.end().await;
}
