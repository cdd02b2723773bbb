//! Virtual iPhones with the example shop, and real programs to run against them.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use packtrain_testing::{NO_FAULTS, SHOP, TEST_TIMEOUT, VirtualPhone, fleet_options, shop};
use packtrain_virtual::app::App;
use packtrain_virtual::device::Device;
use packtrain_virtual::fleet::{Fleet, FleetOptions};
use packtrain_virtual::ios::Iphone;
use tokio::process::Command;

use super::http::Client;

/// Some virtual iPhones.
pub struct Bench {
    fleet: Fleet,
}

impl VirtualPhone for Bench {
    fn device(&self) -> &Device {
        self.phone().device()
    }
}

impl Bench {
    /// One phone on which nothing goes wrong and nothing takes time.
    pub async fn new() -> Self {
        Self::with(1, NO_FAULTS).await
    }

    /// As many phones, on which these things go wrong.
    pub async fn with(count: usize, faults: &str) -> Self {
        Self::start(shop(), count, faults).await
    }

    /// As many phones with another app, on which these things go wrong.
    pub async fn of(app: &str, count: usize, faults: &str) -> Self {
        let app = App::parse(app, "app.yaml").expect("a valid app");
        Self::start(app, count, faults).await
    }

    async fn start(app: App, count: usize, faults: &str) -> Self {
        let options = FleetOptions {
            apps: vec![app],
            ios: count,
            ..fleet_options(faults)
        };
        let fleet = Fleet::start(options).await.expect("free ports");
        Self { fleet }
    }

    /// The phones.
    pub fn phones(&self) -> &[Arc<Iphone>] {
        self.fleet.ios()
    }

    /// Where their usbmuxd listens.
    pub fn usbmuxd_address(&self) -> SocketAddr {
        let address = self.fleet.usbmuxd_address();
        address.expect("every bench has a phone")
    }

    /// The first phone.
    pub fn phone(&self) -> &Arc<Iphone> {
        &self.fleet.ios()[0]
    }

    /// A client of the first phone's WebDriverAgent.
    pub async fn client(&self) -> Client {
        Client::connect(self.phone().wda_address()).await
    }

    /// A client with a session for the shop, which shows its login.
    pub async fn in_shop(&self) -> Client {
        let mut client = self.client().await;
        client.start(SHOP).await;
        client
    }

    /// A client in the shop's list of products; the permission it asks for is granted.
    pub async fn signed_in(&self) -> Client {
        let mut client = self.in_shop().await;
        for (field, text) in [("email", "ann@example.com"), ("password", "secret")] {
            let field = client.find("id", field).await;
            let value = serde_json::json!({"value": [text]});
            client.did(&format!("/element/{field}/value"), value).await;
        }
        client.tap("sign_in").await;
        let asked = |dialog: Option<_>| dialog.is_some();
        self.until(|world| asked(world.dialog())).await;
        client.did("/alert/accept", serde_json::json!({})).await;
        client
    }

    /// Runs a real program against these phones and answers what it printed. Fails the test when
    /// it is missing, fails or hangs.
    pub async fn run(&self, program: &str, arguments: &[&str]) -> String {
        let (succeeded, printed) = self.try_run(program, arguments).await;
        assert!(succeeded, "{program} {arguments:?} failed:\n{printed}");
        printed
    }

    /// As [`Bench::run`], for a program that may fail.
    pub async fn try_run(&self, program: &str, arguments: &[&str]) -> (bool, String) {
        let ran =
            tokio::time::timeout(TEST_TIMEOUT, self.command(program).args(arguments).output());
        let ran = ran
            .await
            .unwrap_or_else(|_| panic!("{program} {arguments:?} hangs"));
        let ran =
            ran.unwrap_or_else(|error| panic!("{program} cannot be run, install it: {error}"));
        let printed =
            [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        (ran.status.success(), printed.concat())
    }

    /// A real program that finds these phones; it ends with the value.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("USBMUXD_SOCKET_ADDRESS", self.usbmuxd_address().to_string())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Ends the phones.
    pub async fn end(self) {
        self.fleet.shutdown().await;
    }
}
