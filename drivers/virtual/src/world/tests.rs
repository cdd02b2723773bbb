use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::app::{App, Role};
use crate::geometry::Point;
use crate::shape::{self, Platform};

const SHOP: &str = include_str!("../../../../examples/shop/app.yaml");

struct Bench {
    world: World,
    now: Duration,
}

impl Bench {
    fn new(platform: Platform, latency: Latency) -> Self {
        Self::of(SHOP, platform, latency)
    }

    fn of(shop: &str, platform: Platform, latency: Latency) -> Self {
        let shape = match platform {
            Platform::Android => shape::models(Platform::Android).next().expect("a model"),
            Platform::Ios => shape::models(Platform::Ios).next().expect("a model"),
        };
        let shop = App::parse(shop, "app.yaml").expect("valid");
        let catalog = Arc::new(Catalog::new([shop]).expect("valid"));
        let latency = Arc::new(latency);
        let world = World::new(WorldOptions {
            shape,
            catalog,
            latency,
            seed: 7,
        });
        Self {
            world,
            now: Duration::ZERO,
        }
    }

    fn in_shop(platform: Platform) -> Self {
        Self::new(platform, Latency::fast()).launched()
    }

    fn launched(mut self) -> Self {
        self.world
            .launch(&"com.example.shop".into())
            .expect("installed");
        self
    }

    fn signed_in(platform: Platform) -> Self {
        let mut bench = Self::in_shop(platform);
        bench
            .fill("email", "ann@example.com")
            .fill("password", "secret");
        bench.tap("sign_in").pass(1000);
        bench.answer("Allow");
        bench
    }

    fn pass(&mut self, ms: u64) -> &mut Self {
        self.now += Duration::from_millis(ms);
        self.world.advance(self.now);
        self
    }

    fn snapshot(&mut self) -> Snapshot {
        self.world.advance(self.now);
        self.world.snapshot()
    }

    fn nodes(&mut self) -> Vec<Node> {
        self.snapshot()
            .windows
            .into_iter()
            .flat_map(|w| w.nodes)
            .collect()
    }

    fn texts(&mut self) -> Vec<String> {
        let nodes = self.nodes().into_iter();
        nodes.map(|n| n.text).filter(|t| !t.is_empty()).collect()
    }

    fn shows(&mut self, text: &str) -> bool {
        self.texts().iter().any(|t| t == text)
    }

    fn node(&mut self, id: &str) -> Node {
        let found = self.nodes().into_iter().find(|n| n.id == id);
        found.unwrap_or_else(|| panic!("no {id} among {:?}", self.texts()))
    }

    fn tap(&mut self, id: &str) -> &mut Self {
        let at = self.node(id).centre();
        self.tap_at(at)
    }

    fn tap_at(&mut self, at: Point) -> &mut Self {
        self.world.gesture(Gesture::Tap(at));
        self
    }

    fn fill(&mut self, id: &str, text: &str) -> &mut Self {
        self.tap(id);
        assert!(self.world.type_text(text), "{id} has the focus");
        self
    }

    fn answer(&mut self, label: &str) {
        let dialog = self.world.dialog().expect("a dialog");
        let index = dialog
            .buttons
            .iter()
            .position(|b| b == label)
            .expect("that answer");
        assert!(self.world.answer(index));
    }

    fn screen(&mut self) -> String {
        let snapshot = self.snapshot();
        snapshot
            .windows
            .into_iter()
            .map(|w| w.screen)
            .find(|s| !s.is_empty())
            .unwrap_or_default()
    }
}

#[test]
fn a_wrong_password_shows_an_error_and_the_right_one_the_products() {
    for platform in [Platform::Android, Platform::Ios] {
        let mut bench = Bench::in_shop(platform);
        bench
            .fill("email", "ann@example.com")
            .fill("password", "guess")
            .tap("sign_in")
            .pass(300);
        assert!(bench.shows("Wrong email or password"));
        bench.tap("password");
        bench.world.key(Key::SelectAll);
        bench.fill("password", "secret").tap("sign_in").pass(300);
        assert_eq!(bench.screen(), "products");
    }
}

#[test]
fn a_password_is_shown_as_dots_only() {
    let mut bench = Bench::in_shop(Platform::Android);
    bench.fill("password", "secret");
    let node = bench.node("password");
    assert_eq!((node.text.as_str(), node.flags.password), ("••••••", true));
}

#[test]
fn while_an_effect_is_under_way_the_app_is_busy_and_then_quiet() {
    let mut bench = Bench::in_shop(Platform::Android);
    bench
        .fill("email", "a")
        .fill("password", "secret")
        .tap("sign_in");
    assert_eq!(bench.world.quiet_since(), None);
    let due = bench.world.next_due().expect("something is under way");
    assert!(
        due >= Duration::from_millis(150) && due <= Duration::from_millis(200),
        "{due:?}"
    );
    bench.world.advance(due);
    assert_eq!(bench.world.quiet_since(), Some(due));
}

#[test]
fn the_permission_dialog_follows_each_platforms_manners() {
    for (platform, question, buttons) in [
        (
            Platform::Android,
            "Allow Shop to send you notifications?",
            ["Allow", "Don’t allow"],
        ),
        (
            Platform::Ios,
            "“Shop” Would Like to Send You Notifications",
            ["Don’t Allow", "Allow"],
        ),
    ] {
        let mut bench = Bench::in_shop(platform);
        bench
            .fill("email", "a")
            .fill("password", "secret")
            .tap("sign_in")
            .pass(1000);
        let dialog = bench.world.dialog().expect("it asks");
        assert_eq!(format!("{}{}", dialog.title, dialog.text), question);
        assert_eq!(dialog.buttons, buttons);
        assert!(dialog.system);
        bench.tap_at(Point::new(5.0, 400.0));
        assert!(
            bench.world.dialog().is_some(),
            "a touch beside it does not close it"
        );
        bench.answer("Allow");
        assert!(bench.world.dialog().is_none());
        let shop = bench
            .world
            .installed_app(&"com.example.shop".into())
            .expect("installed");
        assert_eq!(shop.granted, [crate::app::Permission::Notifications]);
    }
}

#[test]
fn on_android_the_question_for_a_permission_goes_to_the_back_with_the_app_that_asks() {
    for (platform, stays) in [(Platform::Android, false), (Platform::Ios, true)] {
        let mut bench = Bench::in_shop(platform);
        bench
            .fill("email", "a")
            .fill("password", "secret")
            .tap("sign_in")
            .pass(1000);
        bench.world.home();
        let there = bench.world.dialog().is_some();
        assert_eq!(
            (there, bench.shows("Allow")),
            (stays, stays),
            "{platform:?}"
        );
        let shop = "com.example.shop".into();
        bench.world.launch(&shop).expect("installed");
        bench.pass(1000);
        assert!(bench.shows("Allow"), "{platform:?}");
    }
}

#[test]
fn a_permission_that_is_held_is_not_asked_for() {
    let mut bench = Bench::in_shop(Platform::Android);
    let shop = "com.example.shop".into();
    assert!(
        bench
            .world
            .set_permission(&shop, crate::app::Permission::Notifications, true)
    );
    bench
        .fill("email", "a")
        .fill("password", "secret")
        .tap("sign_in")
        .pass(1000);
    assert!(bench.world.dialog().is_none());
}

#[test]
fn a_list_scrolls_to_its_end_and_no_further() {
    let mut bench = Bench::signed_in(Platform::Android);
    assert!(bench.shows("Espresso 1") && !bench.shows("Lemonade 40"));
    let swipe = Gesture::Swipe {
        from: Point::new(200.0, 700.0),
        to: Point::new(200.0, 200.0),
    };
    for _ in 0..10 {
        bench.world.gesture(swipe);
    }
    assert!(bench.shows("Lemonade 40") && !bench.shows("Espresso 1"));
    let list = bench.node("products");
    let scrolled = list.scrolled.expect("it scrolls");
    assert_eq!(scrolled.offset, scrolled.most);
}

#[test]
fn ios_lists_rows_that_are_scrolled_out_and_android_does_not() {
    let rows = |bench: &mut Bench| {
        let nodes = bench.nodes();
        nodes
            .iter()
            .filter(|n| n.element() == Some(Role::Cell))
            .count()
    };
    assert_eq!(rows(&mut Bench::signed_in(Platform::Ios)), 40);
    assert!(rows(&mut Bench::signed_in(Platform::Android)) < 15);
}

#[test]
fn a_search_filters_the_rows_and_keeps_their_numbers() {
    let mut bench = Bench::signed_in(Platform::Android);
    bench.fill("search", "lemon");
    assert!(bench.shows("Lemonade 8") && !bench.shows("Espresso 1"));
}

#[test]
fn products_go_through_the_cart_and_the_checkout() {
    for platform in [Platform::Android, Platform::Ios] {
        let mut bench = Bench::signed_in(platform);
        bench.tap("add");
        assert!(bench.shows("Cart (1)"));
        let row = bench
            .nodes()
            .into_iter()
            .find(|n| n.text == "Cappuccino 2")
            .expect("shown");
        bench.tap_at(row.centre()).tap("more").tap("more");
        assert!(bench.shows("3"));
        bench.tap("add_to_cart");
        assert!(bench.shows("Total $13.90"));
        bench.tap("checkout").tap("place_order");
        assert!(bench.shows("Enter your full name"));
        bench
            .fill("full_name", "Ann")
            .fill("address", "Main Street 1");
        bench.tap("express");
        assert!(bench.node("express").flags.checked && bench.shows("Arrives tomorrow"));
        bench.tap("place_order");
        let dialog = bench.world.dialog().expect("it asks");
        assert_eq!(
            (dialog.title.as_str(), dialog.text.as_str()),
            ("Place order?", "You pay $13.90.")
        );
        bench.answer("Place order");
        bench.pass(1000);
        assert!(bench.shows("Your order is on its way, Ann."));
        bench.tap("continue");
        assert!(bench.shows("Cart (0)"));
    }
}

#[test]
fn removing_a_row_removes_that_row() {
    let mut bench = Bench::signed_in(Platform::Android);
    let adds: Vec<_> = bench
        .nodes()
        .into_iter()
        .filter(|n| n.id == "add")
        .collect();
    bench
        .tap_at(adds[0].centre())
        .tap_at(adds[1].centre())
        .tap_at(adds[2].centre());
    bench.tap("open_cart");
    let second = bench
        .nodes()
        .into_iter()
        .filter(|n| n.id == "remove")
        .nth(1)
        .expect("three");
    bench.tap_at(second.centre());
    assert!(bench.shows("1 x Espresso 1") && bench.shows("1 x Green tea 3"));
    assert!(!bench.shows("1 x Cappuccino 2"));
}

#[test]
fn back_hides_the_keyboard_first_and_leaves_the_app_last() {
    let mut bench = Bench::signed_in(Platform::Android);
    bench.tap("open_cart");
    bench.world.key(Key::Back);
    assert_eq!(bench.screen(), "products");
    bench.tap("search");
    assert!(bench.world.keyboard_shown());
    bench.world.key(Key::Back);
    assert!(!bench.world.keyboard_shown());
    assert_eq!(bench.screen(), "products");
    bench.world.key(Key::Back);
    assert_eq!(bench.world.front().as_str(), LAUNCHER);
    assert_eq!(
        bench.world.app_state(&"com.example.shop".into()),
        AppState::Background
    );
}

#[test]
fn the_keyboards_keys_type() {
    let mut bench = Bench::in_shop(Platform::Ios);
    bench.tap("email");
    for key in ["a", "7", "@", "delete"] {
        let cap = bench
            .nodes()
            .into_iter()
            .find(|n| n.text == key && n.role == NodeRole::Key);
        bench.tap_at(cap.expect("a key").centre());
    }
    assert_eq!(bench.node("email").text, "a7");
}

#[test]
fn a_stopped_app_forgets_and_an_app_in_the_background_does_not() {
    let mut bench = Bench::signed_in(Platform::Android);
    let shop = "com.example.shop".into();
    bench.world.home();
    assert_eq!(
        bench.world.launch(&shop).expect("there").kind,
        LaunchKind::Warm
    );
    assert_eq!(bench.screen(), "products");
    bench.world.stop(&shop);
    assert_eq!(
        bench.world.launch(&shop).expect("there").kind,
        LaunchKind::Cold
    );
    assert_eq!(bench.screen(), "login");
}

#[test]
fn what_an_app_holds_outlives_its_process_until_it_is_cleared() {
    let saves = SHOP.replace("  keep: []\n", "");
    assert_ne!(saves, SHOP);
    let shop = "com.example.shop".into();
    for platform in [Platform::Android, Platform::Ios] {
        let mut bench = Bench::in_shop(platform);
        bench.fill("email", "a@b.c");
        bench.world.stop(&shop);
        bench.world.launch(&shop).expect("there");
        assert_ne!(bench.node("email").text, "a@b.c", "it saves nothing");

        let mut bench = Bench::of(&saves, platform, Latency::fast()).launched();
        bench.fill("email", "a@b.c");
        for _ in 0..2 {
            bench.world.stop(&shop);
            bench.world.launch(&shop).expect("there");
            assert_eq!(bench.node("email").text, "a@b.c");
        }
        assert!(bench.world.clear(&shop));
        bench.world.launch(&shop).expect("there");
        assert_ne!(bench.node("email").text, "a@b.c");
    }
}

#[test]
fn an_app_that_starts_shows_a_splash_first() {
    let mut bench = Bench::new(Platform::Android, Latency::phone());
    let shop = "com.example.shop".into();
    let launched = bench.world.launch(&shop).expect("there");
    assert!(launched.ready_at >= Duration::from_millis(600));
    assert_eq!(bench.snapshot().windows[0].kind, WindowKind::Starting);
    assert!(bench.world.starting());
    bench.now = launched.ready_at;
    assert!(bench.shows("Sign in"));
}

#[test]
fn the_launcher_starts_what_is_tapped() {
    let mut bench = Bench::new(Platform::Android, Latency::fast());
    let icon = bench
        .nodes()
        .into_iter()
        .find(|n| n.text == "Shop")
        .expect("an icon");
    bench.tap_at(icon.centre());
    assert_eq!(bench.world.front().as_str(), "com.example.shop");
}

#[test]
fn a_link_opens_in_the_app_that_claims_it_best() {
    let mut bench = Bench::new(Platform::Android, Latency::fast());
    let opened = |bench: &mut Bench, url: &str| bench.world.open(url).map(|id| id.0);
    assert_eq!(
        opened(&mut bench, "shop://cart").as_deref(),
        Some("com.example.shop")
    );
    assert!(bench.shows("Your cart is empty"));
    assert_eq!(
        opened(&mut bench, "https://shop.example.com/x").as_deref(),
        Some("com.example.shop")
    );
    assert_eq!(
        opened(&mut bench, "https://example.org/").as_deref(),
        Some(CHROME)
    );
    assert!(bench.shows("https://example.org/"));
    assert_eq!(opened(&mut bench, "mailto:ann@example.com"), None);
}

#[test]
fn turned_to_landscape_everything_is_within_the_screen() {
    let mut bench = Bench::in_shop(Platform::Android);
    bench.world.rotate(Rotation::Left);
    let snapshot = bench.snapshot();
    assert!(snapshot.width > snapshot.height);
    let inside = |n: &Node| n.visible.right() <= snapshot.width + 0.1;
    assert!(snapshot.windows[0].nodes.iter().all(inside));
}

#[test]
fn a_crash_on_android_says_so_and_on_ios_is_silent() {
    for (platform, dialog) in [(Platform::Android, true), (Platform::Ios, false)] {
        let mut bench = Bench::in_shop(platform);
        bench.world.crash(&"com.example.shop".into());
        assert_eq!(bench.world.dialog().is_some(), dialog);
        assert_eq!(
            bench.world.app_state(&"com.example.shop".into()),
            AppState::NotRunning
        );
    }
}

#[test]
fn a_dark_screen_takes_no_touch() {
    let mut bench = Bench::in_shop(Platform::Android);
    bench.world.key(Key::Power);
    bench.tap("email");
    assert!(!bench.world.keyboard_shown());
    bench.world.key(Key::Wake);
    bench.tap("email");
    assert!(bench.world.keyboard_shown());
}

#[test]
fn a_long_finger_is_a_long_press_and_a_moving_one_a_swipe() {
    let at = Point::new(10.0, 10.0);
    let ms = Duration::from_millis;
    let mut finger = Finger::default();
    assert_eq!(finger.follow(Pointer::Down(at), ms(0)), None);
    assert_eq!(finger.follow(Pointer::Up, ms(100)), Some(Gesture::Tap(at)));
    finger.follow(Pointer::Down(at), ms(200));
    assert_eq!(
        finger.follow(Pointer::Up, ms(900)),
        Some(Gesture::LongPress(at))
    );
    let to = Point::new(10.0, 90.0);
    finger.follow(Pointer::Down(at), ms(1000));
    finger.follow(Pointer::Move(to), ms(1100));
    assert_eq!(
        finger.follow(Pointer::Up, ms(1200)),
        Some(Gesture::Swipe { from: at, to })
    );
}

#[test]
fn two_fingers_that_move_apart_are_a_pinch_and_others_are_not() {
    let ms = Duration::from_millis;
    let at = |x: f64| Point::new(x, 100.0);
    let mut fingers = TwoFingers::default();
    let mut follow = |finger, movement, time| fingers.follow(finger, movement, ms(time));
    for (to, expected) in [(200.0, Some(2.0)), (100.0, None), (30.0, Some(0.3))] {
        follow(0, Pointer::Down(at(100.0)), 0);
        follow(1, Pointer::Down(at(200.0)), 0);
        follow(1, Pointer::Move(at(100.0 + to)), 400);
        // What was listed first ends first, though both end at once.
        follow(1, Pointer::Up, 400);
        follow(0, Pointer::Move(at(100.0)), 400);
        let at = at(150.0);
        let pinch = expected.map(|scale| Gesture::Pinch { at, scale });
        assert_eq!(follow(0, Pointer::Up, 400), pinch);
    }
    follow(0, Pointer::Down(at(100.0)), 500);
    follow(0, Pointer::Up, 600);
    follow(1, Pointer::Down(at(200.0)), 700);
    follow(1, Pointer::Move(at(900.0)), 800);
    assert_eq!(follow(1, Pointer::Up, 900), None, "never two at a time");
}

#[test]
fn a_pinch_zooms_what_can_be_zoomed() {
    let mut bench = Bench::signed_in(Platform::Android);
    bench.tap("product_name").pass(1000);
    let at = bench.node("picture").centre();
    for (scale, zoomed) in [(3.0, "Zoomed 3.00"), (0.5, "Zoomed 1.50")] {
        bench.world.gesture(Gesture::Pinch { at, scale });
        assert!(bench.shows(zoomed), "{:?}", bench.texts());
    }
    let at = bench.node("product_description").centre();
    bench.world.gesture(Gesture::Pinch { at, scale: 2.0 });
    assert!(bench.shows("Zoomed 1.50"));
}

#[test]
fn an_unknown_package_can_be_installed_started_and_removed() {
    let mut bench = Bench::new(Platform::Android, Latency::fast());
    let id = AppId::from("org.other.app");
    assert!(bench.world.launch(&id).is_err());
    bench.world.install(&id, Some("3.0".to_owned()));
    bench.world.launch(&id).expect("installed");
    assert!(bench.shows("org.other.app"));
    assert!(bench.world.uninstall(&id));
    assert_eq!(bench.world.app_state(&id), AppState::NotInstalled);
}

#[test]
fn size_density_and_text_size_change_where_things_are() {
    let mut bench = Bench::in_shop(Platform::Android);
    let button = |bench: &mut Bench| {
        let nodes = bench.nodes().into_iter();
        nodes.filter(|n| n.id == "sign_in").map(|n| n.bounds).next()
    };
    let before = button(&mut bench).expect("it is there");
    bench.world.set_font_scale(1.3);
    let larger = button(&mut bench).expect("it is there");
    assert_eq!((larger.x, larger.w), (before.x, before.w));
    assert!((larger.h - before.h * 1.3).abs() < 1e-9 && larger.y > before.y);
    bench.world.set_font_scale(f64::NAN);
    assert_eq!(button(&mut bench), Some(before), "that is no size");
    assert!(bench.world.set_size(Some((720, 1280))));
    assert!(bench.world.set_density(Some(320)));
    let snapshot = bench.snapshot();
    assert_eq!((snapshot.width, snapshot.height), (360.0, 640.0));
    assert_eq!(button(&mut bench).expect("it is there").w, 312.0);
    assert!(!bench.world.set_size(Some((0, 0))));
    assert!(bench.world.set_size(None) && bench.world.set_density(None));
    assert_eq!(button(&mut bench), Some(before));
}

#[test]
fn an_app_speaks_the_language_that_was_chosen_for_it_and_others_do_not() {
    let shop = "com.example.shop".into();
    for platform in [Platform::Android, Platform::Ios] {
        let mut bench = Bench::in_shop(platform);
        bench.world.set_app_locale(&shop, Some("de-AT"));
        assert!(bench.shows("Anmelden"));
        bench.tap("sign_in");
        assert!(bench.shows("Gib deine E-Mail ein"));
        bench.world.stop(&shop);
        bench.world.launch(&shop).expect("installed");
        assert!(bench.shows("Anmelden"), "it is kept");
        bench.fill("email", "a@b.c").fill("password", "secret");
        bench.tap("sign_in").pass(1000);
        bench.answer("Allow");
        assert!(bench.shows("Hinzufügen") && bench.shows("Grüner Tee 3"));
        bench.world.set_app_locale(&shop, Some("fr-FR"));
        assert!(bench.shows("Add") && bench.shows("Green tea 3"));
        assert!(bench.world.uninstall(&shop));
        assert_eq!(bench.world.app_locale(&shop), None);
        assert!(!bench.world.set_app_locale(&shop, Some("de")));
    }
}
