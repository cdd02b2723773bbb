//! The screen as a phone holds it.

use packtrain_drivers::{AppCommand, Command, Size};
use packtrain_virtual::world::Rotation;

use super::Phone;

pub async fn a_turned_device_has_a_wide_screen_and_stands_again_when_the_session_ends<P: Phone>(
    phone: &mut P,
) {
    let upright = P::UPRIGHT;
    let turned = Size::new(upright.height, upright.width);
    let pixels = |of: Size| Size::new(of.width * P::SCALE, of.height * P::SCALE);
    phone.open_shop().await;
    assert_eq!(phone.screenshot().await, (pixels(upright), upright));
    phone.app(AppCommand::Rotate { landscape: true }).await;
    assert_eq!(phone.snapshot().await.screen, turned);
    assert_eq!(phone.screenshot().await, (pixels(turned), turned));
    phone.tap("email").await;
    // Taps go where they should.
    phone.until(|world| world.keyboard_shown()).await;
    phone.app(AppCommand::Rotate { landscape: false }).await;
    assert_eq!(phone.snapshot().await.screen, upright);
    phone.app(AppCommand::Rotate { landscape: true }).await;
    phone.ok(Command::End).await;
    assert_eq!(phone.world(|world| world.rotation()), Rotation::Upright);
}
