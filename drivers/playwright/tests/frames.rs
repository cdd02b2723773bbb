//! What is in frames and in shadow trees is found, used and verified like the rest of the page.

use packtrain_drivers::{Command, Observation, ObserveOptions, Rect, ValueKind, WebCommand};
use packtrain_testing::TestDevice as _;

use crate::browser::Device;
use crate::commands::{
    by_css, by_ref, by_role, click, expect_list, expect_text, expect_value, expect_visible, unmet,
};
use crate::defects::observed;
use crate::readers::snapshot;
use crate::site::Site;
use crate::stories::stories;

stories! {
    chromium:
    what_is_verified_of_an_element_is_verified_of_no_other_frames
    a_field_may_be_called_like_anything
    a_recorded_number_is_a_place_also_after_a_recorded_snapshot
    what_is_rendered_anew_is_still_found_by_its_relations
    forms_are_filled_wherever_they_are
    a_snapshot_tells_of_frames_and_shadow_trees_and_its_numbers_lead_there
    what_a_frame_shows_is_told_where_it_is_seen;
    firefox:
    forms_are_filled_wherever_they_are
    a_snapshot_tells_of_frames_and_shadow_trees_and_its_numbers_lead_there
    what_a_frame_shows_is_told_where_it_is_seen;
}

/// A form that answers late.
fn form(at: &str) -> String {
    format!(
        "<form onsubmit='return false'><label>Name {at} <input name=n></label>
         <select name=s aria-label='Size {at}'><option>S<option>L</select>
         <label><input name=a type=checkbox>Agree {at}</label>
         <button onclick=\"const f = this.form; setTimeout(() => f.lastChild.textContent =
           'Sent {at}: ' + f.n.value + ' ' + f.s.value + ' ' + f.a.checked, 30)\">Send {at}</button><output></output></form>"
    )
}

fn shadow(inner: &str) -> String {
    format!("<div><template shadowrootmode=open>{inner}</template></div>")
}

fn frame(address: &str) -> String {
    format!("<iframe width=700 height=300 src='{address}'></iframe>")
}

/// Forms in the page, in a shadow tree, in a frame of another origin, in a frame in that, and in a
/// shadow tree there.
fn nested(site: &Site) -> String {
    let elsewhere = |html: &str| site.page(html).replace("127.0.0.1", "localhost");
    let deep = site.page(&(form("deep") + &shadow(&form("deepest"))));
    let inner = elsewhere(&(form("inner") + &frame(&deep)));
    let hidden = elsewhere("<p>Nobody sees this</p>");
    site.page(
        &(form("here")
            + &shadow(&(form("shade") + &shadow("<button>Twice</button>")))
            + &frame(&inner)
            + &format!("<iframe hidden src='{hidden}'></iframe>")
            + "<x-shut style='display: block; height: 20px'><template shadowrootmode=closed>Shut</template></x-shut>
               <script>customElements.define('x-shut', class extends HTMLElement {})</script>"),
    )
}

const PLACES: [&str; 5] = ["here", "shade", "inner", "deep", "deepest"];

async fn forms_are_filled_wherever_they_are(device: &mut Device) {
    device.go(nested(&device.site)).await;
    for at in PLACES {
        let typing = WebCommand::Type {
            target: by_role("textbox", &format!("Name {at}")),
            text: "Ada".to_owned(),
            clear_first: at != "deep",
        };
        device.ok(Command::Web(typing)).await;
        let choosing = WebCommand::Select {
            target: by_role("combobox", &format!("Size {at}")),
            values: vec!["L".to_owned()],
        };
        device.ok(Command::Web(choosing)).await;
        let agree = by_role("checkbox", &format!("Agree {at}"));
        device.ok(click(agree)).await;
        let send = by_role("button", &format!("Send {at}"));
        device.ok(expect_visible(send.clone())).await;
        device.ok(click(send)).await;
        device
            .ok(expect_text(&format!("Sent {at}: Ada L true")))
            .await;
        let name = by_role("textbox", &format!("Name {at}"));
        device.ok(expect_value(name, ValueKind::Value, "Ada")).await;
    }
    let (what, _) = unmet(device.err(expect_text("Nobody sees this")).await);
    assert!(what.contains("Nobody sees this"), "{what}");
}

async fn a_snapshot_tells_of_frames_and_shadow_trees_and_its_numbers_lead_there(
    device: &mut Device,
) {
    device.go(nested(&device.site)).await;
    let seen = snapshot(device).await;
    for at in PLACES {
        let label = format!("Send {at}");
        let button = seen.refs.iter().find(|listed| listed.label == label);
        let button = button.unwrap_or_else(|| panic!("{label}: {}", seen.text));
        device.ok(click(by_ref(&button.name))).await;
        device.ok(expect_text(&format!("Sent {at}: S false"))).await;
    }
    assert!(
        seen.text
            .contains("x-shut\" (cannot be read: a closed shadow tree)"),
        "{}",
        seen.text
    );
    assert!(
        seen.text.contains("Twice") && !seen.text.contains("Nobody"),
        "{}",
        seen.text
    );
    // Where something is, is told in the coordinates of the screen.
    let tree = observed(device, false).await.snapshot.tree;
    let top = |name: &str| {
        let node = tree
            .iter()
            .find(|(_, node)| format!("{:?}", node.detail).contains(name));
        node.and_then(|(_, node)| node.bounds).unwrap().top
    };
    let tops = PLACES.map(|at| top(&format!("Some(\"Send {at}\")")));
    assert!(tops.is_sorted(), "{tops:?}");
}

async fn what_is_verified_of_an_element_is_verified_of_no_other_frames(device: &mut Device) {
    let inner = device
        .site
        .page("<ul id=list><li>Pear</ul><p id=said>Pear</p>");
    let small = device
        .site
        .page("<p>Nobody sees this</p><button>Nobody</button>");
    device
        .show(&format!(
            "<ul id=list><li>Apple</ul><p id=said>Apple <span hidden>Pear</span></p>{}
             <iframe width=0 height=0 src='{small}'></iframe>",
            frame(&inner)
        ))
        .await;
    unmet(device.err(expect_list(by_css("#list"), &["Pear"])).await);
    unmet(
        device
            .err(expect_value(by_css("#said"), ValueKind::Text, "Pear"))
            .await,
    );
    unmet(device.err(expect_text("Nobody sees this")).await);
    unmet(
        device
            .err(expect_visible(by_role("button", "Nobody")))
            .await,
    );
    device.ok(expect_list(by_css("#list"), &["Apple"])).await;
}

async fn a_field_may_be_called_like_anything(device: &mut Device) {
    let names = ["children", "nextElementSibling", "attributes"];
    let fields = names.map(|name| format!("<input name={name} aria-label={name}>"));
    device
        .show(&format!(
            "<form>{}<button>Go</button></form>",
            fields.concat()
        ))
        .await;
    let seen = snapshot(device).await;
    assert_eq!(seen.refs.len(), names.len() + 1, "{}", seen.text);
    let last = &seen.refs.last().unwrap().name;
    device.ok(click(by_ref(last))).await;
}

async fn a_recorded_number_is_a_place_also_after_a_recorded_snapshot(device: &mut Device) {
    for said in ["First", "Second"] {
        device
            .show(&format!("<h1>Page</h1><button>{said}</button>"))
            .await;
        let text = device.snapshot().await.text;
        assert!(text.contains(&format!("[e2] button \"{said}\"")), "{text}");
        let notes = device.notes(click(by_ref("e2"))).await;
        assert!(notes[0].contains("by position"), "{notes:?}");
    }
    // A caller that looked in order to act relies on what it saw.
    let seen = snapshot(device).await;
    assert!(seen.text.contains("button \"Second\""), "{}", seen.text);
    device.show("<h1>Page</h1><button>Third</button>").await;
    let old = &seen.refs.last().unwrap().name;
    let (what, _) = unmet(device.err(click(by_ref(old))).await);
    assert!(
        what.contains("button \"Second\" on a page or frame that is gone"),
        "{what}"
    );
}

async fn what_is_rendered_anew_is_still_found_by_its_relations(device: &mut Device) {
    let list = "<section aria-label=Cart><button onmouseover=\"if (!this.anew) { const b = this.cloneNode(true); \
                b.anew = true; b.onclick = () => document.title = 'Bought'; this.replaceWith(b) }\">Buy</button></section>";
    device.show(list).await;
    let mut target = by_role("button", "Buy");
    let cart = by_role("region", "Cart").selector.map(Box::new);
    if let Some(selector) = &mut target.selector {
        selector.child_of = cart;
    }
    device.ok(click(target)).await;
    assert_eq!(device.script("document.title").await, "Bought");
}

async fn what_a_frame_shows_is_told_where_it_is_seen(device: &mut Device) {
    let inner = device.site.page(
        "<body style='margin: 0'><button style='position: absolute; left: 40px; top: 20px; width: 100px; height: 40px'>Half</button>
         <button class=far style='position: absolute; top: 900px'>Far</button>
         <script>setInterval(() => document.title = document.body.dataset.now = Date.now(), 20)</script>",
    );
    let html = format!(
        "<iframe src='{inner}' style='position: absolute; left: 100px; top: 100px; width: 400px; height: 200px;
         border: 0; transform: scale(0.5); transform-origin: 0 0'></iframe>"
    );
    device.show(&html).await;
    let options = ObserveOptions {
        masks: vec![".far".to_owned()],
        still_within: std::time::Duration::from_secs(1),
        ..ObserveOptions::default()
    };
    let Observation::Observed(seen) = device.ok(Command::Observe(options)).await else {
        panic!()
    };
    // What moves in a frame only holds nothing up.
    assert!(seen.is_still);
    assert_eq!(seen.masked, [Some(Vec::new())]);
    let bounds = |name: &str| {
        let mut nodes = seen.snapshot.tree.iter();
        let node = nodes.find(|(_, node)| format!("{:?}", node.detail).contains(name));
        node.unwrap().1.bounds
    };
    assert_eq!(bounds("Half"), Some(Rect::new(120.0, 110.0, 170.0, 130.0)));
    assert_eq!(bounds("Far"), None);
}
