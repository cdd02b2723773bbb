//! Stories that are told in Chromium and in Firefox.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{Command, Observation, SessionOptions};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::site::Site;

/// A device whose session is in one of the browsers, and the site.
pub(crate) struct In(pub(crate) &'static str);

impl In {
    pub(crate) fn told(self, story: impl AsyncFnOnce(&Site, &mut Device)) {
        packtrain_testing::run(async {
            let site = Site::start().await;
            let mut device = Device::connect(WebSlot::default()).await;
            let options = SessionOptions {
                axes: [("engine".to_owned(), self.0.to_owned())].into(),
                ..SessionOptions::default()
            };
            let Observation::Begun(applied) = device.ok(Command::Begin(options)).await else {
                panic!("no axis was applied");
            };
            assert!(
                applied.iter().all(|axis| axis.got == axis.want),
                "{applied:?}"
            );
            story(&site, &mut device).await;
            device.close().await;
        });
    }
}

/// Makes a test of each story in Chromium and in Firefox.
macro_rules! both_engines {
    ($($story:ident)*) => {
        packtrain_testing::told! {
            chromium: $crate::engines::In("chromium"),
            firefox: $crate::engines::In("firefox")
            => $($story)*
        }
    };
}

pub(crate) use both_engines;
