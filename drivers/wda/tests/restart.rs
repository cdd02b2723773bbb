//! A WebDriverAgent that the driver starts, and starts again.

use packtrain_driver_wda::WdaStart;
use packtrain_drivers::{Command, DeviceEvent, DriverError, InputCommand, event_channel};
use packtrain_testing::{NO_FAULTS, TEST_TIMEOUT, TestDevice as _, VirtualPhone as _, context};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use super::lab::{Device, Way, endpoint, phones};

/// A program that tells the test that it was started and runs until it is killed. It leaves
/// another one running that would outlive it, were it not of the same process group.
struct Program {
    listener: TcpListener,
}

impl Program {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self { listener }
    }

    fn start(&self) -> WdaStart {
        let port = self.listener.local_addr().unwrap().port();
        // It starts where WebDriverAgent is told the port that it is expected on.
        let told = "[ \"$USE_PORT $TEST_RUNNER_USE_PORT\" = '{port} {port}' ] || exit 9";
        let script = format!("{told}; exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & wait");
        WdaStart::Command(["bash", "-c", &script].map(str::to_owned).to_vec())
    }

    /// Waits until it was started; the connection lasts as long as any of its processes.
    async fn started(&self) -> TcpStream {
        let accepted = tokio::time::timeout(TEST_TIMEOUT, self.listener.accept()).await;
        accepted.expect("it was not started").unwrap().0
    }
}

async fn killed(mut stream: TcpStream) {
    let ended = tokio::time::timeout(TEST_TIMEOUT, stream.read(&mut [0; 1])).await;
    assert_eq!(ended.expect("it still runs").unwrap(), 0);
}

async fn device(way: Way, program: &Program) -> (Device, TcpStream) {
    let fleet = phones(1, NO_FAULTS).await;
    let mut endpoint = endpoint(&fleet, way);
    endpoint.start = program.start();
    let phone = fleet.ios()[0].clone();
    phone.stop_wda().await;
    tokio::join!(Device::of(fleet, way, endpoint), async {
        let running = program.started().await;
        phone.start_wda().await;
        running
    })
}

#[tokio::test]
async fn webdriveragent_is_started_when_it_does_not_answer_and_ends_with_the_pool() {
    for way in [Way::Address, Way::Cable] {
        let program = Program::new().await;
        let (mut device, running) = device(way, &program).await;
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
        assert_eq!(device.events(), [], "a start is not a repair");
        device.end().await;
        killed(running).await;
    }
}

#[tokio::test]
async fn a_crashed_webdriveragent_is_started_again_and_the_question_answered() {
    for way in [Way::Address, Way::Cable] {
        let program = Program::new().await;
        let (mut device, first) = device(way, &program).await;
        device.open_shop().await;
        device.fill("email", "ann").await;
        device.phone().stop_wda().await;
        let phone = device.phone().clone();
        let (shown, second) = tokio::join!(device.shows("sign_in"), async {
            let second = program.started().await;
            phone.start_wda().await;
            second
        });
        assert!(shown);
        killed(first).await;
        let events = device.events();
        assert!(
            matches!(&events[..], [DeviceEvent::Reconnected { .. }]),
            "{events:?}"
        );
        assert_eq!(device.variable("email"), "ann", "the app was left alone");
        device.end().await;
        killed(second).await;
    }
}

#[tokio::test]
async fn a_tap_in_which_it_crashed_is_not_repeated_after_the_start() {
    let program = Program::new().await;
    let (mut device, _first) = device(Way::Cable, &program).await;
    device.open_shop().await;
    let at = device.center("email").await;
    device.inject("{ match: { route: 'POST .*/actions' }, when: { times: 1 }, do: agent_dies }");
    let phone = device.phone().clone();
    let tap = Command::Input(InputCommand::Tap { at });
    let (error, _second) = tokio::join!(device.err(tap), async {
        let second = program.started().await;
        phone.start_wda().await;
        second
    });
    let DriverError::Timeout { log, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(log.last().unwrap(), "WebDriverAgent was started again");
    assert!(
        !device.world(|world| world.keyboard_shown()),
        "it was not done"
    );
    assert!(device.shows("sign_in").await);
    device.end().await;
}

#[tokio::test]
async fn a_command_that_ends_is_quoted() {
    for (script, told) in [
        (
            "echo building; echo 'signing failed' >&2; exit 65",
            "exit status: 65: ",
        ),
        ("exit 0", "exit status: 0"),
    ] {
        let fleet = phones(1, NO_FAULTS).await;
        let mut endpoint = endpoint(&fleet, Way::Address);
        endpoint.start = WdaStart::Command(["bash", "-c", script].map(str::to_owned).to_vec());
        fleet.ios()[0].stop_wda().await;
        let pool = packtrain_driver_wda::WdaPool::new(Default::default());
        let connector = pool.connector(&endpoint).unwrap();
        let (sink, _events) = event_channel();
        let Err(DriverError::Lost { cause, hint }) = connector.connect(sink, &context()).await
        else {
            panic!("it connected");
        };
        let ended = "start WebDriverAgent: the command ended with ";
        assert!(cause.starts_with(&format!("{ended}{told}")), "{cause}");
        if script.contains("signing") {
            assert!(
                cause.contains("signing failed") && cause.contains("building"),
                "{cause}"
            );
        }
        assert!(hint.unwrap().contains("bash -c"));
        pool.shutdown().await;
        fleet.shutdown().await;
    }
}

#[tokio::test]
async fn a_command_that_is_not_there_is_named() {
    for (command, told) in [
        (vec![], "the command is empty"),
        (
            vec!["/no/such".to_owned()],
            "run /no/such: No such file or directory",
        ),
    ] {
        let fleet = phones(1, NO_FAULTS).await;
        let mut endpoint = endpoint(&fleet, Way::Cable);
        endpoint.start = WdaStart::Command(command);
        fleet.ios()[0].stop_wda().await;
        let pool = packtrain_driver_wda::WdaPool::new(Default::default());
        let (sink, _events) = event_channel();
        let connector = pool.connector(&endpoint).unwrap();
        let Err(DriverError::Lost { cause, .. }) = connector.connect(sink, &context()).await else {
            panic!("it connected");
        };
        let is_named =
            endpoint.start == WdaStart::Command(Vec::new()) || cause.contains("/no/such");
        assert!(
            cause.starts_with(&format!("start WebDriverAgent: {told}")) && is_named,
            "{cause}"
        );
        pool.shutdown().await;
        fleet.shutdown().await;
    }
}
