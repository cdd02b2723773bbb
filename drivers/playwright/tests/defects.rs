//! What is wrong with a layout: a page that has it, and one that nearly has it.

use std::time::Duration;

use packtrain_driver_playwright::WebSlot;
use packtrain_drivers::{
    Command, Defect, DefectKind, Observation, ObserveOptions, Observed, SessionOptions,
};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{by_ref, click, expect_text};
use crate::shop;
use crate::site::Site;
use crate::stories::stories;

stories! {
    chromium:
    the_example_shop_has_no_defects_on_a_desk_and_on_a_phone
    the_example_trail_passes_in_firefox_and_every_step_can_be_observed
    the_example_shop_on_a_small_phone_with_large_text_has_a_cart_that_does_not_fit
    a_page_that_never_rests_is_read_all_the_same_and_said_to_move
    what_is_read_is_what_the_page_shows_once_it_is_still
    a_page_that_is_left_while_it_is_looked_at_is_not_what_is_told;
    firefox:
    what_is_read_is_what_the_page_shows_once_it_is_still
    a_page_that_is_left_while_it_is_looked_at_is_not_what_is_told;
}

pub(crate) async fn observed(device: &mut Device, picture: bool) -> Observed {
    let options = ObserveOptions {
        picture,
        still_within: Duration::from_secs(5),
        masks: Vec::new(),
    };
    match device.ok(Command::Observe(options)).await {
        Observation::Observed(observed) => *observed,
        other => panic!("{other:?}"),
    }
}

fn told(defects: &[Defect]) -> Vec<String> {
    defects
        .iter()
        .map(|defect| {
            let other = defect.other.as_deref().unwrap_or_default();
            format!("{} {} {other}", defect.element, defect.kind.words())
                .trim_end()
                .to_owned()
        })
        .collect()
}

async fn begin(device: &mut Device, axes: &[(&str, &str)]) {
    let axes = axes
        .iter()
        .map(|(axis, value)| ((*axis).to_owned(), (*value).to_owned()));
    let options = SessionOptions {
        axes: axes.collect(),
        ..SessionOptions::default()
    };
    let Observation::Begun(applied) = device.ok(Command::Begin(options)).await else {
        panic!()
    };
    assert!(
        applied.iter().all(|axis| axis.got == axis.want),
        "{applied:?}"
    );
}

/// A kind, a page that has it, what is told of it, and pages that have not.
struct Case {
    kind: DefectKind,
    page: &'static str,
    told: &'static [&'static str],
    near_misses: &'static [&'static str],
}

const CASES: [Case; 6] = [
    Case {
        kind: DefectKind::ScrollsSideways,
        page: "<div style='width: 900px; height: 20px; background: silver'></div>",
        told: &["page scrolls sideways"],
        near_misses: &[
            // Something in the page scrolls, and the page does not.
            "<div style='overflow-x: auto'><div style='width: 900px; height: 20px'></div></div>",
            "<div style='overflow: hidden'><div style='width: 900px; height: 20px'></div></div>",
            // Downwards is no matter.
            "<div style='height: 5000px'></div>",
        ],
    },
    Case {
        kind: DefectKind::TextCut,
        page: "<button style='width: 60px; overflow: hidden; white-space: nowrap'>Add to the cart</button>
            <div style='height: 30px; overflow: hidden; width: 120px'><p style='margin: 0'>Two lines of text that
            have room for one</p></div>",
        told: &[
            "button \"Add to the cart\" has its text cut off",
            "paragraph \"Two lines of text that have room for one\" has its text cut off",
        ],
        near_misses: &[
            "<button style='overflow: hidden; white-space: nowrap'>Add to the cart</button>",
            // The rest can be scrolled to.
            "<div style='width: 60px; overflow: auto; white-space: nowrap'>Add to the cart</div>",
            // For those who cannot see.
            "<span style='position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0 0 0 0)'>Read aloud</span>",
            // Closed.
            "<div style='height: 0; overflow: hidden'>Folded away</div>",
            // What hangs out of the box is not cut off by it.
            "<div style='width: 40px; overflow: hidden'><b style='position: absolute; white-space: nowrap'>Free of the box</b></div>",
            // Glyphs that are higher than their line.
            "<h1 style='line-height: 1; overflow: hidden; margin: 0'>Gypsy</h1>",
        ],
    },
    Case {
        kind: DefectKind::TextSpills,
        page: "<button style='width: 60px; white-space: nowrap; display: block; text-align: left; padding: 0'>Zahlungspflichtig bestellen</button>
            <p style='width: 120px; height: 20px; background: silver; margin: 40px 0 90px'>Three lines of text where there is room for one, not more</p>",
        told: &[
            "button \"Zahlungspflichtig bestellen\" has text that spills out",
            "paragraph \"Three lines of text where there is room for one, not more\" has text that spills out",
        ],
        near_misses: &[
            "<button style='min-width: 60px; white-space: nowrap'>Zahlungspflichtig bestellen</button>",
            "<p style='width: 120px; background: silver'>Three lines of text where there is <b>room for them</b> all</p>",
            // A picture in place of its words.
            "<a href=# style='display: block; width: 40px; height: 40px; text-indent: -9999px; overflow: hidden'>Logo</a>",
            "<p style='line-height: 1'>Gypsy</p>",
        ],
    },
    Case {
        kind: DefectKind::CrossesEdge,
        page: "<div style='overflow: visible; position: absolute; left: 300px; white-space: nowrap'><a href=#>Cart of today</a></div>
            <p style='position: absolute; left: -20px; top: 60px; margin: 0'>Out to the left</p>",
        told: &[
            "link \"Cart of today\" crosses the edge of the screen",
            "paragraph \"Out to the left\" crosses the edge of the screen",
        ],
        near_misses: &[
            // Within something that scrolls.
            "<div style='overflow-x: auto; white-space: nowrap'><a href=# style='margin-left: 300px'>Cart of today</a></div>",
            // Put aside until it is wanted.
            "<nav style='position: absolute; left: -200px; width: 200px'><a href=#>Cart of today</a></nav>",
            // Downwards is where pages go.
            "<a href=# style='position: absolute; top: 590px'>Cart of<br>today</a>",
        ],
    },
    Case {
        kind: DefectKind::Overlaps,
        page: "<button style='position: absolute; left: 10px; top: 10px; width: 100px; height: 40px'>Buy</button>
            <button style='position: absolute; left: 90px; top: 10px; width: 100px; height: 40px'>Cancel</button>",
        told: &["button \"Buy\" overlaps button \"Cancel\""],
        near_misses: &[
            "<button style='position: absolute; left: 10px; top: 10px; width: 80px; height: 40px'>Buy</button>
             <button style='position: absolute; left: 90px; top: 10px; width: 100px; height: 40px'>Cancel</button>",
            // A button within a field.
            "<div style='position: relative; width: 200px'><input aria-label=Find style='width: 200px; height: 40px; box-sizing: border-box'>
             <button style='position: absolute; right: 4px; top: 8px; height: 24px'>x</button></div>",
            // Two links in text that wraps.
            "<p style='width: 160px'>Read <a href=#>the terms of use of this place</a> and <a href=#>the other terms of use</a>.</p>",
            // A list that opened over the page.
            "<button style='height: 40px'>Below</button><div role=listbox style='position: absolute; top: 20px; left: 20px; background: white'><button role=option>One</button></div>",
            // Cut off before it gets there.
            "<div style='height: 40px; overflow: auto'><button style='height: 30px'>A</button><br><button style='height: 30px'>B</button></div><button style='height: 30px'>C</button>",
        ],
    },
    Case {
        kind: DefectKind::Covered,
        page: "<button style='position: absolute; left: 10px; top: 10px; width: 100px; height: 40px'>Buy</button>
            <div style='position: absolute; left: 0; top: 0; width: 200px; height: 100px; background: silver'>Offer</div>",
        told: &["button \"Buy\" is covered text \"Offer\""],
        near_misses: &[
            "<button style='position: absolute; left: 10px; top: 10px; width: 100px; height: 40px'>Buy</button>
             <div style='position: absolute; left: 0; top: 45px; width: 200px; height: 100px; background: silver'>Offer</div>",
            // Lets clicks through.
            "<button style='position: absolute; left: 10px; top: 10px; width: 100px; height: 40px'>Buy</button>
             <div style='position: absolute; left: 0; top: 0; width: 200px; height: 100px; pointer-events: none'>Offer</div>",
            // What is open over the page.
            "<button>Buy</button><dialog id=d>Sure?</dialog><script>d.showModal()</script>",
            // Scrolled below what sticks.
            "<header style='position: sticky; top: 0; background: silver; height: 60px'>Shop</header><button style='height: 30px'>Buy</button>
             <div style='height: 5000px'></div><script>onload = () => scrollTo(0, 40)</script>",
            // Its own label.
            "<label style='position: relative; display: inline-block; width: 90px; height: 40px'><input type=checkbox><b style='position: absolute; inset: 0; background: silver'>Yes</b></label>",
        ],
    },
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_defect_is_told_of_the_page_that_has_it_and_of_no_near_miss() {
    let site = Site::start().await;
    for engine in ["chromium", "firefox"] {
        let mut device = Device::connect(WebSlot::default()).await;
        begin(&mut device, &[("engine", engine), ("viewport", "360x600")]).await;
        for case in &CASES {
            device.go(site.page(case.page)).await;
            let seen = observed(&mut device, false).await.defects;
            let of_kind: Vec<_> = seen
                .iter()
                .filter(|defect| defect.kind == case.kind)
                .cloned()
                .collect();
            assert_eq!(told(&of_kind), case.told, "{engine}: {seen:?}");
            for near_miss in case.near_misses {
                device.go(site.page(near_miss)).await;
                let seen = observed(&mut device, false).await.defects;
                assert_eq!(told(&seen), [""; 0], "{engine}: {near_miss}");
            }
        }
        device.close().await;
    }
}

/// Every page of the example shop, with something in the cart.
async fn through_the_shop(device: &mut Device) -> Vec<(&'static str, Vec<String>)> {
    device.go(shop::page("products.html")).await;
    let fill = "localStorage.setItem('cart', JSON.stringify([{ name: 'Blueberry muffin 14', amount: 3.1, quantity: 1 }])), 1";
    device.script(fill).await;
    let mut seen = Vec::new();
    for page in [
        "index", "signup", "products", "product", "cart", "checkout", "thanks", "welcome",
    ] {
        device.go(shop::page(&format!("{page}.html"))).await;
        seen.push((page, told(&observed(device, false).await.defects)));
    }
    seen
}

async fn the_example_shop_has_no_defects_on_a_desk_and_on_a_phone(device: &mut Device) {
    for (viewport, engine) in [
        ("1280x800", "chromium"),
        ("390x844", "chromium"),
        ("390x844", "firefox"),
    ] {
        begin(device, &[("viewport", viewport), ("engine", engine)]).await;
        for (page, defects) in through_the_shop(device).await {
            assert_eq!(defects, [""; 0], "{page} at {viewport} in {engine}");
        }
        device.go(shop::page("checkout.html")).await;
        device
            .script("document.querySelector('dialog').showModal(), 1")
            .await;
        assert_eq!(observed(device, false).await.defects, []);
    }
}

async fn the_example_trail_passes_in_firefox_and_every_step_can_be_observed(device: &mut Device) {
    begin(device, &[("engine", "firefox")]).await;
    for step in shop::trail() {
        for command in step {
            device.ok(command).await;
        }
        let seen = observed(device, true).await;
        assert!(seen.is_still, "it moved for {:?}", seen.settled);
        assert!(seen.picture.is_some());
        assert!(!seen.snapshot.refs.is_empty());
        assert_eq!(told(&seen.defects), [""; 0]);
    }
}

async fn the_example_shop_on_a_small_phone_with_large_text_has_a_cart_that_does_not_fit(
    device: &mut Device,
) {
    begin(device, &[("viewport", "320x640"), ("fontScale", "2")]).await;
    let seen = through_the_shop(device).await;
    let (_, cart) = seen.iter().find(|(page, _)| *page == "cart").unwrap();
    assert_eq!(
        *cart,
        [
            "page scrolls sideways",
            "button \"Remove Blueberry muffin 14\" crosses the edge of the screen",
        ]
    );
}

async fn what_is_read_is_what_the_page_shows_once_it_is_still(device: &mut Device) {
    device.visit("").await;
    device.ok(click(by_ref("button \"Later\""))).await;
    device.ok(expect_text("Arrived late")).await;
    // It grows for a moment, and spins for ever.
    let moving = "document.body.animate({ opacity: [0, 1] }, 1500),
        document.body.animate({ rotate: ['0deg', '360deg'] }, { duration: 500, iterations: Infinity }),
        setTimeout(() => document.title = 'Done', 150), 1";
    device.script(moving).await;
    let options = ObserveOptions {
        picture: true,
        still_within: Duration::from_secs(5),
        masks: vec!["#count".to_owned(), "#nothing".to_owned(), "[".to_owned()],
    };
    let Observation::Observed(seen) = device.ok(Command::Observe(options)).await else {
        panic!()
    };
    assert!(
        seen.is_still && seen.settled >= Duration::from_millis(100),
        "{:?}",
        seen.settled
    );
    assert_eq!(seen.snapshot.title.as_deref(), Some("Done"));
    assert!(seen.snapshot.text.contains("Arrived late"));
    assert!(
        seen.snapshot
            .refs
            .iter()
            .all(|listed| listed.bounds.is_some())
    );
    assert!(seen.picture.unwrap().png.starts_with(b"\x89PNG"));
    assert_eq!(seen.masked[0].as_ref().unwrap().len(), 1);
    assert_eq!(seen.masked[1..], [None, None]);
}

async fn a_page_that_never_rests_is_read_all_the_same_and_said_to_move(device: &mut Device) {
    device.show("<p id=p>0</p><script>setInterval(() => p.textContent = +p.textContent + 1, 5)</script>").await;
    let options = ObserveOptions {
        picture: true,
        still_within: Duration::from_millis(300),
        masks: Vec::new(),
    };
    let Observation::Observed(seen) = device.ok(Command::Observe(options)).await else {
        panic!()
    };
    assert!(!seen.is_still);
    assert!(
        seen.settled >= Duration::from_millis(200),
        "{:?}",
        seen.settled
    );
    assert!(seen.picture.is_some());
}

async fn a_page_that_is_left_while_it_is_looked_at_is_not_what_is_told(device: &mut Device) {
    for _ in 0..3 {
        device.visit("restless").await;
        let seen = observed(device, true).await;
        assert_eq!(seen.snapshot.title.as_deref(), Some("Second"));
        assert!(seen.is_still);
    }
}
