//! What answers is not always WebDriverAgent, and not every WebDriverAgent is like ours: scripted
//! servers on real sockets.

use std::sync::Arc;

use packtrain_driver_wda::{WdaEndpoint, WdaOptions, WdaPool};
use packtrain_drivers::{
    AppCommand, Command, DeviceEvent, Driver, DriverError, EventStream, InputCommand, LaunchMode,
    Observation, Point, SnapshotDetail, event_channel,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use packtrain_testing::context;

/// Answers a request line with a status and a `value`; `None` ends the connection.
type Script = dyn FnMut(&str) -> Option<(u16, Value)> + Send;

/// A server that follows a script.
struct Stranger {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
    _serving: AbortOnDropHandle<()>,
}

impl Stranger {
    async fn new(script: impl FnMut(&str) -> Option<(u16, Value)> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let script: Arc<Mutex<Box<Script>>> = Arc::new(Mutex::new(Box::new(script)));
        let log = asked.clone();
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, script.clone(), log.clone()));
            }
        });
        Self {
            url,
            asked,
            _serving: AbortOnDropHandle::new(serving),
        }
    }

    async fn connect(&self) -> Result<(Box<dyn Driver>, EventStream), DriverError> {
        let pool = WdaPool::new(WdaOptions::default());
        let endpoint = WdaEndpoint::url("stranger", &self.url);
        let connector = pool.connector(&endpoint).unwrap();
        let (sink, events) = event_channel();
        Ok((connector.connect(sink, &context()).await?, events))
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    script: Arc<Mutex<Box<Script>>>,
    log: Arc<Mutex<Vec<String>>>,
) {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        request.extend_from_slice(&chunk[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().ok())?
        });
        if body.len() < length.unwrap_or(0) {
            continue;
        }
        request.clear();
        let line = head
            .lines()
            .next()
            .unwrap()
            .trim_end_matches(" HTTP/1.1")
            .to_owned();
        log.lock().push(line.clone());
        let answer = (script.lock())(&line);
        let Some((status, value)) = answer else {
            return;
        };
        let body = json!({"value": value, "sessionId": null}).to_string();
        let length = body.len();
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n");
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
    }
}

/// A plain WebDriverAgent with an empty screen.
fn plain(line: &str) -> Option<(u16, Value)> {
    let path = line.split_once(' ').unwrap().1;
    let session = json!({"sessionId": "S-1", "capabilities": {}});
    Some(match path {
        "/status" => (
            200,
            json!({"ready": true, "os": {"version": "15.0"}, "device": "ipad"}),
        ),
        "/wda/screen" => (
            200,
            json!({"screenSize": {"width": 810, "height": 1080}, "scale": 2}),
        ),
        "/session" => (200, session),
        _ if path.starts_with("/session/S-1/source") => (200, json!({"type": "Application"})),
        _ => (200, Value::Null),
    })
}

fn refusal(word: &str, message: &str) -> (u16, Value) {
    (
        500,
        json!({"error": word, "message": message, "traceback": ""}),
    )
}

fn tap() -> Command {
    let at = Point::new(10.0, 10.0);
    Command::Input(InputCommand::Tap { at })
}

fn lost(error: DriverError) -> String {
    let DriverError::Lost { cause, hint } = error else {
        panic!("{error:?}");
    };
    assert!(hint.is_some(), "{cause}");
    cause
}

#[tokio::test]
async fn an_alert_that_older_versions_stop_at_is_reported_and_named() {
    let stranger = Stranger::new(|line| {
        Some(match line.rsplit('/').next().unwrap() {
            "actions" => refusal("unexpected alert open", "A modal dialog was open"),
            "text" => (200, json!("Update?")),
            "buttons" => (200, json!(["Later", "Now"])),
            _ => return plain(line),
        })
    })
    .await;
    let (mut driver, mut events) = stranger.connect().await.unwrap();
    let error = driver.execute(tap(), &context()).await.unwrap_err();
    assert_eq!(error.to_string(), "tap: an alert is open");
    assert_eq!(error.log(), ["the alert \"Update?\" [Later] [Now]"]);
    let opened = DeviceEvent::DialogOpened {
        dialog: "alert".to_owned(),
        message: "Update?".to_owned(),
        answer: "left open".to_owned(),
    };
    assert_eq!(events.drain(), [opened]);
    driver.close().await;
}

#[tokio::test]
async fn an_alert_that_is_gone_when_it_is_looked_at_is_no_obstacle() {
    let mut first = true;
    let stranger = Stranger::new(move |line| match line.rsplit('/').next().unwrap() {
        "actions" if std::mem::take(&mut first) => Some(refusal("unexpected alert open", "")),
        "text" => Some(refusal("no such alert", "")),
        _ => plain(line),
    })
    .await;
    let (mut driver, _events) = stranger.connect().await.unwrap();
    driver.execute(tap(), &context()).await.unwrap();
    driver.close().await;
}

#[tokio::test]
async fn a_version_without_a_setting_or_a_lock_still_works() {
    let stranger = Stranger::new(|line| match line {
        _ if line.ends_with("/appium/settings") => Some(refusal("unknown command", "no")),
        _ if line.ends_with("/orientation") => Some(refusal("unknown error", "no")),
        _ if line.ends_with("/alert/text") => Some(refusal("no such alert", "")),
        _ => plain(line),
    })
    .await;
    let (mut driver, _events) = stranger.connect().await.unwrap();
    let begin = Command::Begin(Default::default());
    driver.execute(begin, &context()).await.unwrap();
    let snapshot = Command::Snapshot(SnapshotDetail::default());
    driver.execute(snapshot, &context()).await.unwrap();
    assert_eq!(driver.info().system, "iOS 15.0");
    driver.close().await;
    assert_eq!(stranger.asked().last().unwrap(), "DELETE /session/S-1");
}

#[tokio::test]
async fn another_server_is_not_taken_for_webdriveragent() {
    let selenium = Stranger::new(|_| Some((200, json!([1, 2])))).await;
    let (answered, kept) = match selenium.connect().await {
        Ok((driver, _)) => (Ok(()), Some(driver)),
        Err(error) => (Err(error), None),
    };
    let error = answered.unwrap_err();
    assert!(kept.is_none());
    assert!(lost(error).contains("unexpected"));
}

#[tokio::test]
async fn a_session_whose_name_would_lead_elsewhere_is_refused() {
    for name in [
        "",
        "../../wda/lock",
        "a b",
        "a?b",
        "x\r\nDELETE /",
        &"x".repeat(200),
    ] {
        let name = name.to_owned();
        let stranger = Stranger::new(move |line| match line {
            "POST /session" => Some((200, json!({"sessionId": name}))),
            _ => plain(line),
        })
        .await;
        let (mut driver, _events) = stranger.connect().await.unwrap();
        let error = driver.execute(tap(), &context()).await.unwrap_err();
        assert!(lost(error).contains("names no valid session"));
        assert_eq!(stranger.asked().last().unwrap(), "POST /session");
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_on_everybody_is_lost_after_some_tries() {
    let stranger = Stranger::new(|_| None).await;
    let Err(error) = stranger.connect().await else {
        panic!("it connected");
    };
    assert!(lost(error).contains("the connection closed before the response"));
    assert_eq!(stranger.asked().len(), 3);
}

#[tokio::test]
async fn a_screen_that_is_no_tree_is_a_failed_step() {
    for source in [
        json!("<xml/>"),
        json!(null),
        json!([]),
        json!({"children": 3}),
    ] {
        let sent = source.clone();
        let stranger = Stranger::new(move |line| {
            if line.contains("/source?") {
                Some((200, sent.clone()))
            } else {
                plain(line)
            }
        })
        .await;
        let (mut driver, _events) = stranger.connect().await.unwrap();
        let snapshot = Command::Snapshot(SnapshotDetail::default());
        let error = driver.execute(snapshot, &context()).await.unwrap_err();
        assert!(
            matches!(error, DriverError::Unmet { .. }),
            "{source}: {error}"
        );
        driver.close().await;
    }
}

#[tokio::test]
async fn a_picture_that_is_none_is_a_failed_step() {
    for picture in ["", "not base64!", "/9j/4AAQSkZJRgABAQAASABIAAD/"] {
        let sent = json!(picture);
        let stranger = Stranger::new(move |line| {
            if line.ends_with("/screenshot") {
                Some((200, sent.clone()))
            } else {
                plain(line)
            }
        })
        .await;
        let (mut driver, _events) = stranger.connect().await.unwrap();
        let error = driver
            .execute(Command::Screenshot, &context())
            .await
            .unwrap_err();
        assert!(
            error.to_string().starts_with("take a screenshot: "),
            "{error}"
        );
        driver.close().await;
    }
}

#[tokio::test]
async fn a_device_that_cannot_clear_an_apps_data_says_that_it_was_kept() {
    let stranger = Stranger::new(plain).await;
    let (mut driver, _events) = stranger.connect().await.unwrap();
    let launch = |mode| {
        let id = "com.example.shop".to_owned();
        Command::App(AppCommand::Launch { id, mode })
    };
    for (mode, notes) in [(LaunchMode::Reinstall, 1), (LaunchMode::ForceRestart, 0)] {
        let done = driver.execute(launch(mode), &context()).await.unwrap();
        let Observation::Done(report) = done else {
            panic!("{done:?}");
        };
        assert_eq!(report.notes.len(), notes, "{:?}", report.notes);
        let kept = "the app kept its data: iOS does not allow clearing it";
        assert!(report.notes.iter().all(|note| note.starts_with(kept)));
    }
    driver.close().await;
}
