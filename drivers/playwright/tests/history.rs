//! Back and forward, on pages with and without documents of their own.

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{Command, InputCommand, Key, NavigateTo, WebCommand};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_ref, click, expect_text, open, unmet};
use crate::stories::stories;

stories! {
    chromium:
    back_and_forward_work_in_an_app_of_one_page
    back_and_forward_work_behind_the_hash
    there_is_nothing_before_the_first_page_and_nothing_behind_the_last;
}

fn navigate(to: NavigateTo) -> Command {
    Command::Web(WebCommand::Navigate(to))
}

async fn back_and_forward_work_in_an_app_of_one_page(device: &mut Device) {
    device.visit("router").await;
    device.ok(click(by_ref("button \"Cart\""))).await;
    device.ok(expect_text("Cart")).await;
    // An entry that leaves the address as it is.
    device.ok(click(by_ref("button \"Dialog\""))).await;
    assert_eq!(device.script("view.textContent").await, "Dialog");
    device.ok(navigate(NavigateTo::Back)).await;
    assert_eq!(device.script("view.textContent").await, "Cart");
    device.ok(navigate(NavigateTo::Back)).await;
    assert_eq!(device.script("view.textContent").await, "Start");
    device.ok(navigate(NavigateTo::Forward)).await;
    device.ok(navigate(NavigateTo::Forward)).await;
    assert_eq!(device.script("view.textContent").await, "Dialog");
    device
        .ok(Command::Input(InputCommand::Key(Key::Back)))
        .await;
    assert_eq!(device.script("view.textContent").await, "Cart");
}

async fn back_and_forward_work_behind_the_hash(device: &mut Device) {
    device.visit("hash").await;
    device.ok(click(by_ref("link \"Cart\""))).await;
    assert_eq!(device.script("view.textContent").await, "#/cart");
    device.ok(navigate(NavigateTo::Back)).await;
    assert_eq!(device.script("view.textContent").await, "Start");
    device.ok(navigate(NavigateTo::Forward)).await;
    assert_eq!(device.script("view.textContent").await, "#/cart");
}

/// Playwright switches off that Chromium keeps pages as they were; asked for or not, back shows them
/// anew, and they work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn back_shows_the_page_anew_and_it_works() {
    let slot = WebSlot {
        args: vec!["--enable-features=BackForwardCache".into()],
        ..WebSlot::default()
    };
    let mut device = open(slot).await;
    device.visit("kept").await;
    for _ in 0..2 {
        device.ok(click(by_ref("link \"Second\""))).await;
        device.ok(expect_text("Second page")).await;
        device.ok(navigate(NavigateTo::Back)).await;
        device.ok(expect_text("shown anew")).await;
    }
    device.close().await;
}

async fn there_is_nothing_before_the_first_page_and_nothing_behind_the_last(device: &mut Device) {
    let (what, _) = unmet(device.err(navigate(NavigateTo::Forward)).await);
    assert_eq!(
        what,
        format!(
            "no page to go forward to; the page is {}",
            device.site.url()
        )
    );
    // The blank page that every tab begins with.
    device.ok(navigate(NavigateTo::Back)).await;
    for back in [
        navigate(NavigateTo::Back),
        Command::Input(InputCommand::Key(Key::Back)),
    ] {
        let (what, _) = unmet(device.err(back).await);
        assert_eq!(what, "no page to go back to; the page is about:blank");
    }
}
