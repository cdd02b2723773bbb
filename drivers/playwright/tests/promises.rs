//! What is promised of every device.

use std::sync::atomic::{AtomicU32, Ordering};

use packtrain_driver_playwright::{Isolation, WebSlot};

use crate::browser::Device;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A Chromium of its own.
struct Chromium;

impl Chromium {
    fn told(self, story: impl AsyncFnOnce(&mut Device)) {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let slot = WebSlot {
            viewport: Some((800, 600)),
            isolation: Isolation::Process,
            args: vec![format!(
                "--packtrain-promise={}-{number}-",
                std::process::id()
            )],
            ..WebSlot::default()
        };
        packtrain_testing::run(async {
            let mut device = Device::connect(slot).await;
            story(&mut device).await;
            device.close().await;
        });
    }
}

packtrain_testing::contract! { chromium: Chromium }
