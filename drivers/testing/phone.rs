//! A virtual phone with the example shop, whatever platform and wire.

use packtrain_virtual::app::{App, AppId};
use packtrain_virtual::device::Device;
use packtrain_virtual::faults::Faults;
use packtrain_virtual::fleet::FleetOptions;
use packtrain_virtual::latency::Latency;
use packtrain_virtual::world::World;

use crate::device::TEST_TIMEOUT;

/// The app id of the example shop.
pub const SHOP: &str = "com.example.shop";
/// Rules by which nothing goes wrong.
pub const NO_FAULTS: &str = "rules: []";

/// The example shop.
pub fn shop() -> App {
    let text = include_str!("../../examples/shop/app.yaml");
    App::parse(text, "examples/shop/app.yaml").unwrap_or_else(|error| panic!("{error}"))
}

fn faults(rules: &str) -> Faults {
    Faults::parse(rules, "faults.yaml").unwrap_or_else(|error| panic!("{error}"))
}

/// A fleet without phones yet, which have the shop, take no time, and on which these things go
/// wrong.
pub fn fleet_options(rules: &str) -> FleetOptions {
    FleetOptions {
        apps: vec![shop()],
        latency: Latency::fast(),
        faults: faults(rules),
        seed: 7,
        ..FleetOptions::default()
    }
}

/// One more thing that goes wrong on a device from now on.
pub fn inject(device: &Device, rule: &str) {
    for rule in faults(&format!("rules: [{rule}]")).rules {
        device.inject((*rule).clone());
    }
}

/// What a test does with a virtual phone behind a driver's back.
#[expect(async_fn_in_trait, reason = "tests need no `Send`")]
pub trait VirtualPhone {
    /// The phone.
    fn device(&self) -> &Device;

    /// Looks at what the phone really shows or holds.
    fn world<R>(&self, look: impl FnOnce(&mut World) -> R) -> R {
        self.device().world(look)
    }

    /// A variable of the shop.
    fn variable(&self, name: &str) -> String {
        let found = self.world(|world| world.variable(&AppId::from(SHOP), name).cloned());
        found.map(|value| value.to_string()).unwrap_or_default()
    }

    /// One more thing that goes wrong from now on.
    fn inject(&self, rule: &str) {
        inject(self.device(), rule);
    }

    /// Waits until the phone is so.
    async fn until(&self, mut is: impl FnMut(&mut World) -> bool) {
        let deadline = self.device().now() + TEST_TIMEOUT;
        let seen = self
            .device()
            .wait_for(deadline, |world| is(world).then_some(()))
            .await;
        assert!(seen.is_some(), "it did not become so");
    }
}
