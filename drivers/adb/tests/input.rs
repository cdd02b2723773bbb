//! What Android alone does with touches and keys.

use std::time::Duration;

use packtrain_drivers::InputCommand;
use packtrain_testing::{TestDevice as _, VirtualPhone as _};
use tokio::time::Instant;

use super::lab::{Device, all_ways};

all_ways! {
    hiding_a_keyboard_leaves_the_app_where_it_is
    a_press_takes_as_long_as_it_is_held
}

async fn hiding_a_keyboard_leaves_the_app_where_it_is(device: &mut Device) {
    device.open_shop().await;
    device.tap("email").await;
    device.until(|world| world.keyboard_shown()).await;
    device.input(InputCommand::HideKeyboard).await;
    assert!(!device.world(|world| world.keyboard_shown()));
    assert!(device.shows("sign_in").await);
}

async fn a_press_takes_as_long_as_it_is_held(device: &mut Device) {
    device.open_shop().await;
    let at = device.center("email").await;
    let (start, hold) = (Instant::now(), Duration::from_millis(900));
    device.input(InputCommand::LongPress { at, hold }).await;
    assert!(start.elapsed() >= hold, "{:?}", start.elapsed());
}
