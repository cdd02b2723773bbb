//! Stories that are told in one browser, one after the other, each in a session of its own.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{Command, Observation, SessionOptions};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;

/// A browser in which stories are told, and which of them failed.
pub(crate) struct Stories {
    device: Device,
    engine: &'static str,
    failed: Vec<&'static str>,
}

impl Stories {
    pub(crate) async fn begin(engine: &'static str) -> Self {
        Self {
            device: Device::connect(WebSlot::default()).await,
            engine,
            failed: Vec::new(),
        }
    }

    /// Tells a story, which begins on the site's first page.
    pub(crate) async fn tell(&mut self, name: &'static str, story: impl AsyncFnOnce(&mut Device)) {
        let told = AssertUnwindSafe(async {
            let options = SessionOptions {
                axes: [("engine".to_owned(), self.engine.to_owned())].into(),
                ..SessionOptions::default()
            };
            let begun = self.device.ok(Command::Begin(options)).await;
            assert!(
                matches!(&begun, Observation::Begun(all) if all.iter().all(|axis| axis.got == axis.want)),
                "{begun:?}"
            );
            self.device.go(self.device.site.url()).await;
            story(&mut self.device).await;
        });
        if told.catch_unwind().await.is_err() {
            self.failed.push(name);
            self.device.reconnect().await.unwrap();
        }
    }

    pub(crate) async fn end(self) {
        self.device.close().await;
        assert!(self.failed.is_empty(), "failed: {:#?}", self.failed);
    }
}

/// Makes one test of all stories that are told in an engine.
macro_rules! stories {
    ($($engine:ident: $($story:ident)+;)+) => { $(
        #[test]
        fn $engine() {
            packtrain_testing::run(async {
                let mut stories = $crate::stories::Stories::begin(stringify!($engine)).await;
                $(stories.tell(stringify!($story), $story).await;)+
                stories.end().await;
            });
        }
    )+ };
}

pub(crate) use stories;
