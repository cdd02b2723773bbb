//! Between the driver and the phone.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::AdbPool;
use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, CommandContext, DriverError, Fault, InputCommand,
    SessionOptions, event_channel,
};
use packtrain_testing::AdbServer;
use packtrain_virtual::fleet::Fleet;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use super::{lost, mended};
use crate::lab::{Agent, Device, Way, Wire, all_ways, both_wires, options, settings, socket};
use packtrain_testing::{NO_FAULTS, SNAPSHOT, TEST_TIMEOUT, TestDevice as _, VirtualPhone as _};

/// Long enough to notice, short enough for a test.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

fn getprop() -> Command {
    Command::Android(AndroidCommand::Shell {
        argv: vec!["getprop".into(), "ro.product.model".into()],
        run_as: None,
    })
}

#[tokio::test]
async fn a_link_that_was_cut_is_mended_and_told() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.fill("email", "ann").await;
        device.events();
        device.phone().device().cut();
        assert!(device.shows("sign_in").await);
        device.input(InputCommand::Text("e".to_owned())).await;
        assert_eq!(device.variable("email"), "anne");
        // Through a server the gap may have closed before anyone looked.
        if device.way.wire == Wire::Direct {
            assert!(mended(&device.events()) >= 1);
        }
    })
    .await;
}

#[tokio::test]
async fn a_command_that_runs_out_of_time_costs_neither_the_connection_nor_the_agent() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let agent = device.agent_processes().await;
        assert_eq!(agent.is_empty(), device.way.agent == Agent::Shell);
        device.events();
        device.inject("{ match: { tree: '' }, do: { delay: 300ms } }");
        // As whoever waits looks once more when its time is over.
        for _ in 0..3 {
            let none = CommandContext::within(Duration::ZERO);
            let error = device.execute_in(SNAPSHOT, &none).await.unwrap_err();
            assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
        }
        device.phone().device().clear_faults();
        assert!(device.shows("sign_in").await);
        assert_eq!(mended(&device.events()), 0, "{:?}", device.way);
        assert_eq!(device.agent_processes().await, agent, "{:?}", device.way);
    })
    .await;
}

#[tokio::test]
async fn a_link_that_drops_within_a_command_is_told_and_the_command_is_not_repeated() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { command: ^getprop }, when: { times: 1 }, do: drop }");
        let error = device.err(getprop()).await;
        let (cause, _) = lost(&error);
        assert_eq!(
            cause,
            "the connection ended during `getprop ro.product.model </dev/null`"
        );
        assert_eq!(mended(&device.events()), 1, "it came back meanwhile");
        let said = device.json(getprop()).await;
        assert_eq!(said["stdout"], "Pixel 9\n");
    })
    .await;
}

#[tokio::test]
async fn reading_is_repeated_when_the_link_drops_within_it() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        let rule = match device.way.agent {
            Agent::U2 => "{ match: { route: dumpWindow }, when: { times: 1 }, do: drop }",
            Agent::Shell => "{ match: { command: ^uiautomator }, when: { times: 1 }, do: drop }",
        };
        device.inject(rule);
        assert!(device.shows("sign_in").await);
    })
    .await;
}

/// Whether a reader learns that, noticed between two commands or within one.
fn is_offline(cause: &str) -> bool {
    cause == "the device is offline" || cause.ends_with("; the device is offline now")
}

#[tokio::test]
async fn a_phone_that_closes_every_connection_is_lost() {
    for fault in ["refuse", "reset"] {
        both_wires(Agent::Shell, NO_FAULTS, async |device| {
            device.inject(&format!("{{ match: {{ connect: '' }}, do: {fault} }}"));
            device.phone().device().cut();
            let error = device
                .execute_in(SNAPSHOT, &CommandContext::within(SHORT_TIMEOUT))
                .await
                .unwrap_err();
            let (cause, hint) = lost(&error);
            assert!(is_offline(cause), "{:?} {fault}: {cause}", device.way);
            assert!(hint.contains("it may be rebooting"), "{hint}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_phone_that_never_greets_is_offline() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { connect: '' }, do: never_cnxn }");
        device.phone().device().cut();
        let error = device
            .execute_in(SNAPSHOT, &CommandContext::within(SHORT_TIMEOUT))
            .await
            .unwrap_err();
        let (cause, hint) = lost(&error);
        assert!(is_offline(cause), "{:?}: {cause}", device.way);
        assert!(hint.contains("it may be rebooting"), "{hint}");
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_does_not_trust_this_computer_says_where_to_look() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { connect: '' }, do: unauthorized }");
        device.phone().device().cut();
        device.disconnect().await;
        let error = device.reconnect().await.unwrap_err();
        let (cause, hint) = lost(&error);
        assert_eq!(cause, "the device is unauthorized", "{:?}", device.way);
        assert!(hint.contains("accept this computer's key"), "{hint}");
    })
    .await;
}

#[tokio::test]
async fn a_key_that_the_user_accepts_in_time_is_waited_for() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { connect: '' }, do: { accept_after: 400ms } }");
        device.phone().device().cut();
        device.disconnect().await;
        device.reconnect().await.unwrap();
        device.ok(Command::Begin(SessionOptions::default())).await;
        device.snapshot().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { service: screencap }, when: { times: 1 }, do: { drop_after: { bytes: 5000 } } }");
        // The picture is taken again over the next connection.
        device.ok(Command::Screenshot).await;
        assert!(mended(&device.events()) >= 1, "{:?}", device.way);
        device.inject("{ match: { service: screencap }, do: { drop_after: { bytes: 5000 } } }");
        let error = device.err(Command::Screenshot).await;
        let (cause, _) = lost(&error);
        assert_eq!(cause, "the connection ended during `screencap -p`");
    })
    .await;
}

#[tokio::test]
async fn a_phone_that_takes_nothing_in_is_given_up_at_the_deadline() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { service: 'sync:' }, do: half_open }");
        let write = AndroidCommand::WriteFile {
            path: "/sdcard/x".to_owned(),
            bytes: vec![1; 8_000_000],
        };
        let time = Duration::from_millis(700);
        let error = device
            .execute_in(Command::Android(write), &CommandContext::within(time))
            .await
            .unwrap_err();
        assert_eq!(error.fault(), Fault::Device);
        assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
        assert!(error.to_string().contains("/sdcard/x"), "{error}");
        device.snapshot().await;
    })
    .await;
}

#[tokio::test]
async fn a_slow_phone_is_only_slow() {
    both_wires(Agent::Shell, NO_FAULTS, async |device| {
        device.inject("{ match: { connect: '' }, do: { slow: { bytes_per_second: 40000 } } }");
        device.phone().device().cut();
        device.open_shop().await;
        assert!(device.shows("sign_in").await);
    })
    .await;
}

#[tokio::test]
async fn a_phone_whose_link_flaps_is_driven_through_all_of_it() {
    all_ways(NO_FAULTS, async |device| {
        device.open_shop().await;
        device.inject("{ match: { connect: '' }, when: { times: 5 }, do: { flap: 300ms } }");
        device.phone().device().cut();
        for _ in 0..12 {
            assert!(device.shows("sign_in").await);
        }
    })
    .await;
}

/// A way to a phone that can be closed for a while.
struct Bridge {
    address: SocketAddr,
    phone: SocketAddr,
    carrying: AbortOnDropHandle<()>,
}

impl Bridge {
    async fn to(phone: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            address: listener.local_addr().unwrap(),
            phone,
            carrying: Self::carry(listener, phone),
        }
    }

    fn carry(listener: TcpListener, phone: SocketAddr) -> AbortOnDropHandle<()> {
        AbortOnDropHandle::new(tokio::spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((mut near, _)) = listener.accept().await {
                open.spawn(async move {
                    let mut far = TcpStream::connect(phone).await?;
                    tokio::io::copy_bidirectional(&mut near, &mut far).await
                });
            }
        }))
    }

    /// Cuts what is connected and lets nobody connect until then.
    fn close_until(&mut self, then: impl Future<Output = ()> + Send + 'static) {
        self.carrying.abort();
        let (address, phone) = (self.address, self.phone);
        self.carrying = AbortOnDropHandle::new(tokio::spawn(async move {
            then.await;
            let listener = TcpListener::bind(address).await.unwrap();
            // Carries for as long as this is not dropped.
            let _ = Self::carry(listener, phone).await;
        }));
    }
}

#[tokio::test]
async fn a_phone_whose_network_was_gone_is_called_before_the_server_tries_again() {
    let fleet = Fleet::start(options(NO_FAULTS)).await.unwrap();
    let server = AdbServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let way = Way::new(Wire::Server, Agent::Shell);
    let pool = AdbPool::new(settings(way, Some(&server), &folder));
    let mut bridge = Bridge::to(socket(&fleet.android()[0]).into()).await;
    let SocketAddr::V4(near) = bridge.address else {
        unreachable!("it is a V4 address")
    };
    pool.connect(near).await.unwrap();
    let connector = pool.discover().await.unwrap().remove(0);
    let (sink, _events) = event_channel();
    let mut driver = connector
        .connect(sink, &CommandContext::within(TEST_TIMEOUT))
        .await
        .unwrap();
    let begin = Command::Begin(SessionOptions::default());
    driver
        .execute(begin, &CommandContext::within(TEST_TIMEOUT))
        .await
        .unwrap();
    // The server tries again after a quarter of a second, and then not for ten.
    let phone = Arc::clone(fleet.android()[0].device());
    bridge.close_until(async move { phone.sleep(Duration::from_millis(600)).await });
    let read = driver
        .execute(SNAPSHOT, &CommandContext::within(TEST_TIMEOUT))
        .await;
    assert!(read.is_ok(), "{read:?}");
    driver.close().await;
    drop(server);
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_is_named_with_what_to_do() {
    let mut device = Device::connect(Way::new(Wire::Server, Agent::Shell), NO_FAULTS).await;
    let address = device.server.take().unwrap().address;
    let error = device
        .execute_in(SNAPSHOT, &CommandContext::within(TEST_TIMEOUT))
        .await
        .unwrap_err();
    let (cause, hint) = lost(&error);
    assert!(
        cause.starts_with(&format!("no adb server answers at {address}: ")),
        "{cause}"
    );
    assert!(hint.contains("adb start-server"), "{hint}");
    device.end().await;
}

#[tokio::test]
async fn a_phone_that_is_gone_for_good_is_lost_with_a_cause() {
    for wire in [Wire::Server, Wire::Direct] {
        let mut device = Device::connect(Way::new(wire, Agent::Shell), NO_FAULTS).await;
        let other = Fleet::start(options(NO_FAULTS)).await.unwrap();
        let gone = std::mem::replace(&mut device.fleet, other);
        gone.shutdown().await;
        let error = device
            .execute_in(SNAPSHOT, &CommandContext::within(SHORT_TIMEOUT))
            .await
            .unwrap_err();
        let (cause, hint) = lost(&error);
        match wire {
            // Offline for a while, then not found.
            Wire::Server => assert!(cause.contains("the device is "), "{cause}"),
            Wire::Direct => assert!(cause.contains("the device is offline now"), "{cause}"),
        }
        assert!(!hint.is_empty(), "{cause}");
        device.disconnect().await;
        device.server = None;
        device.end().await;
    }
}

#[tokio::test]
async fn one_phone_that_drops_leaves_the_other_alone() {
    both_wires(Agent::U2, NO_FAULTS, async |device| {
        let mut other = Device::connect(device.way, NO_FAULTS).await;
        device.inject("{ match: { connect: '' }, do: refuse }");
        device.phone().device().cut();
        other.open_shop().await;
        let short = CommandContext::within(SHORT_TIMEOUT);
        let (lost_one, well) =
            tokio::join!(device.execute_in(SNAPSHOT, &short), other.shows("sign_in"));
        lost(&lost_one.unwrap_err());
        assert!(well);
        other.app(AppCommand::Foreground).await;
        other.end().await;
    })
    .await;
}
