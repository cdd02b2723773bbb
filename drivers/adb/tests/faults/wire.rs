//! Between the driver and the phone.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use packtrain_driver_adb::AdbPool;
use packtrain_drivers::{
    AndroidCommand, AppCommand, Command, CommandContext, DriverError, Fault, InputCommand,
};
use packtrain_testing::promises::Bench as _;
use packtrain_testing::{
    AdbServer, Hand, NO_FAULTS, SNAPSHOT, TestDevice as _, VirtualPhone as _, lost, mended,
};
use packtrain_virtual::fleet::Fleet;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

use crate::lab::{
    Agent, Device, Way, Wire, agent_processes, all_ways, by_agent, by_shell, options, settings,
    shell, socket,
};

all_ways! {
    a_link_that_was_cut_is_mended_and_told
    a_command_that_runs_out_of_time_costs_neither_the_connection_nor_the_agent
}

by_shell! {
    a_link_that_drops_within_a_command_is_told_and_the_command_is_not_repeated
    a_phone_that_refuses_every_connection_is_lost
    a_phone_that_resets_every_connection_is_lost
    a_phone_that_never_greets_is_offline
    a_phone_that_does_not_trust_this_computer_says_where_to_look
    a_key_that_the_user_accepts_in_time_is_waited_for
    an_answer_that_breaks_off_is_no_answer
    a_phone_that_takes_nothing_in_is_given_up_at_the_deadline
}

by_agent! {
    one_phone_that_drops_leaves_the_other_alone
}

/// Long enough to notice, short enough for a test.
const SHORT_TIMEOUT: Duration = Duration::from_secs(2);

fn getprop() -> Command {
    shell(&["getprop", "ro.product.model"])
}

async fn a_link_that_was_cut_is_mended_and_told(device: &mut Device) {
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
}

async fn a_command_that_runs_out_of_time_costs_neither_the_connection_nor_the_agent(
    device: &mut Device,
) {
    device.open_shop().await;
    let agent = agent_processes(device).await;
    assert_eq!(agent.is_empty(), device.way.agent == Agent::Shell);
    device.events();
    device.inject("{ match: { tree: '' }, do: { delay: 300ms } }");
    // As a wait looks once more when its time is over.
    for _ in 0..3 {
        let none = CommandContext::within(Duration::ZERO);
        let error = device.execute_in(SNAPSHOT, &none).await.unwrap_err();
        assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    }
    device.heal();
    assert!(device.shows("sign_in").await);
    assert_eq!(mended(&device.events()), 0, "{:?}", device.way);
    assert_eq!(agent_processes(device).await, agent, "{:?}", device.way);
}

async fn a_link_that_drops_within_a_command_is_told_and_the_command_is_not_repeated(
    device: &mut Device,
) {
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
}

/// Whether a reader learns that, noticed between two commands or within one.
fn is_offline(cause: &str) -> bool {
    cause == "the device is offline" || cause.ends_with("; the device is offline now")
}

/// The connection ends, and every other one goes like that.
async fn offline(device: &mut Device, fault: &str) {
    device.inject(&format!("{{ match: {{ connect: '' }}, do: {fault} }}"));
    device.phone().device().cut();
    let error = device.err_within(SHORT_TIMEOUT, SNAPSHOT).await;
    let (cause, hint) = lost(&error);
    assert!(is_offline(cause), "{fault}: {cause}");
    assert!(hint.contains("it may be rebooting"), "{hint}");
}

async fn a_phone_that_refuses_every_connection_is_lost(device: &mut Device) {
    offline(device, "refuse").await;
}

async fn a_phone_that_resets_every_connection_is_lost(device: &mut Device) {
    offline(device, "reset").await;
}

async fn a_phone_that_never_greets_is_offline(device: &mut Device) {
    offline(device, "never_cnxn").await;
}

async fn a_phone_that_does_not_trust_this_computer_says_where_to_look(device: &mut Device) {
    device.inject("{ match: { connect: '' }, do: unauthorized }");
    device.phone().device().cut();
    device.disconnect().await;
    let error = device.reconnect().await.unwrap_err();
    let (cause, hint) = lost(&error);
    assert_eq!(cause, "the device is unauthorized", "{:?}", device.way);
    assert!(hint.contains("accept this computer's key"), "{hint}");
}

async fn a_key_that_the_user_accepts_in_time_is_waited_for(device: &mut Device) {
    device.inject("{ match: { connect: '' }, do: { accept_after: 400ms } }");
    device.phone().device().cut();
    device.disconnect().await;
    device.reconnect().await.unwrap();
    device.begin().await;
    device.snapshot().await;
}

async fn an_answer_that_breaks_off_is_no_answer(device: &mut Device) {
    device.open_shop().await;
    device.inject("{ match: { service: screencap }, when: { times: 1 }, do: { drop_after: { bytes: 5000 } } }");
    // The picture is taken again over the next connection.
    device.ok(Command::Screenshot).await;
    assert!(mended(&device.events()) >= 1, "{:?}", device.way);
    device.inject("{ match: { service: screencap }, do: { drop_after: { bytes: 5000 } } }");
    let error = device.err(Command::Screenshot).await;
    let (cause, _) = lost(&error);
    assert_eq!(cause, "the connection ended during `screencap -p`");
}

async fn a_phone_that_takes_nothing_in_is_given_up_at_the_deadline(device: &mut Device) {
    device.inject("{ match: { service: 'sync:' }, do: half_open }");
    let write = AndroidCommand::WriteFile {
        path: "/sdcard/x".to_owned(),
        bytes: vec![1; 8_000_000],
    };
    let time = Duration::from_millis(700);
    let error = device.err_within(time, Command::Android(write)).await;
    assert_eq!(error.fault(), Fault::Device);
    assert!(matches!(error, DriverError::Timeout { .. }), "{error:?}");
    assert!(error.to_string().contains("/sdcard/x"), "{error}");
    device.snapshot().await;
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
    let pool = AdbPool::new(settings(Way::SERVER_SHELL, Some(&server), &folder));
    let mut bridge = Bridge::to(socket(&fleet.android()[0]).into()).await;
    let SocketAddr::V4(near) = bridge.address else {
        unreachable!("it is a V4 address")
    };
    pool.connect(near).await.unwrap();
    let mut device = Hand::new(pool.discover().await.unwrap().remove(0));
    device.reconnect().await.unwrap();
    device.begin().await;
    // The server tries again after a quarter of a second, and then not for ten.
    let phone = Arc::clone(fleet.android()[0].device());
    bridge.close_until(async move { phone.sleep(Duration::from_millis(600)).await });
    device.snapshot().await;
    device.disconnect().await;
    drop(server);
    fleet.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_is_named_with_what_to_do() {
    let mut device = Device::connect(Way::SERVER_SHELL).await;
    let address = device.server.take().unwrap().address;
    let error = device.err(SNAPSHOT).await;
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
    for way in [Way::SERVER_SHELL, Way::DIRECT_SHELL] {
        let mut device = Device::connect(way).await;
        let other = Fleet::start(options(NO_FAULTS)).await.unwrap();
        let gone = std::mem::replace(&mut device.fleet, other);
        gone.shutdown().await;
        let error = device.err_within(SHORT_TIMEOUT, SNAPSHOT).await;
        let (cause, hint) = lost(&error);
        match way.wire {
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

async fn one_phone_that_drops_leaves_the_other_alone(device: &mut Device) {
    let mut other = Device::connect(device.way).await;
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
}
