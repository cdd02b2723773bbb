use std::sync::Arc;

use super::*;
use crate::app::App;
use crate::latency::Latency;
use crate::shape;
use crate::wda::attribute;
use crate::world::{Catalog, World, WorldOptions};

const APP: &str = "
app: { id: com.example.a, name: A, start: one }
state: { on: true, name: '' }
screens:
  one:
    title: First
    elements:
      - { id: name, role: input, hint: Name, bind: name, frame: [16, 0, 328, 48] }
      - { id: on, role: switch, text: Wi-Fi, bind: 'on', frame: [16, 60, 328, 48] }
      - { id: off, role: button, text: Off, enabled_if: { name: x }, frame: [16, 120, 328, 48] }
      - id: row
        role: cell
        frame: [0, 200, 360, 72]
        tap: { dialog: ask }
        elements: [{ role: text, text: Left }, { role: text, text: Right }]
dialogs:
  ask: { title: Sure?, text: Really., buttons: ['No', 'Yes'] }
";

fn world() -> World {
    let app = App::parse(APP, "app.yaml").unwrap();
    let mut world = World::new(WorldOptions {
        shape: shape::models(shape::Platform::Ios).next().expect("a model"),
        catalog: Arc::new(Catalog::new([app]).unwrap()),
        latency: Arc::new(Latency::fast()),
        seed: 1,
    });
    world.launch(&"com.example.a".into()).unwrap();
    world
}

fn see(world: &mut World, bundle_id: &str) -> ElementTree {
    let app = AppFacts {
        bundle_id: bundle_id.to_owned(),
        name: "A".to_owned(),
        pid: 1,
    };
    observe(&world.snapshot(), &app, 59.0, 50)
}

fn element<'t>(tree: &'t ElementTree, name: &str) -> (usize, &'t Element) {
    let named =
        |(_, element): &(usize, &Element)| attribute::name(element).as_deref() == Some(name);
    tree.iter()
        .find(named)
        .unwrap_or_else(|| panic!("no {name}"))
}

fn tap(world: &mut World, name: &str) {
    let tree = see(world, "com.example.a");
    let at = element(&tree, name).1.frame.centre();
    world.gesture(crate::world::Gesture::Tap(at));
}

#[test]
fn elements_are_of_the_kinds_uikit_has_for_them() {
    let tree = see(&mut world(), "com.example.a");
    for (name, kind) in [
        ("A", ElementType::APPLICATION),
        ("First", ElementType::NAVIGATION_BAR),
        ("name", ElementType::TEXT_FIELD),
        ("on", ElementType::SWITCH),
        ("off", ElementType::BUTTON),
        ("row", ElementType::CELL),
    ] {
        assert_eq!(element(&tree, name).1.kind, kind, "{name}");
    }
    let off = element(&tree, "off").1;
    assert_eq!(
        (off.flags.enabled, &off.traits[..]),
        (false, ["Button", "NotEnabled"].as_slice())
    );
    assert_eq!(
        attribute::value(element(&tree, "on").1).as_deref(),
        Some("1")
    );
}

#[test]
fn a_row_is_read_as_one() {
    let tree = see(&mut world(), "com.example.a");
    let (at, row) = element(&tree, "row");
    assert_eq!(row.label, "Left, Right");
    assert!(attribute::accessible(&tree, at));
    assert!(!attribute::accessible(&tree, element(&tree, "Left").0));
}

#[test]
fn the_keyboard_is_there_while_a_field_has_the_focus() {
    let mut world = world();
    let keyboard = |world: &mut World| {
        let tree = see(world, "com.example.a");
        let kinds = |wanted| {
            tree.iter()
                .filter(|(_, element)| element.kind == wanted)
                .count()
        };
        (
            kinds(ElementType::KEYBOARD),
            element(&tree, "name").1.flags.keyboard_focus,
        )
    };
    assert_eq!(keyboard(&mut world), (0, false));
    tap(&mut world, "name");
    assert_eq!(keyboard(&mut world), (1, true));
    let tree = see(&mut world, "com.example.a");
    assert_eq!(element(&tree, "return").1.kind, ElementType::BUTTON);
    assert_eq!(element(&tree, "q").1.kind, ElementType::KEY);
}

#[test]
fn an_alert_lies_over_what_is_below_it() {
    let mut world = world();
    assert!(
        element(&see(&mut world, "com.example.a"), "row")
            .1
            .flags
            .hittable
    );
    tap(&mut world, "row");
    let tree = see(&mut world, "com.example.a");
    let (at, alert) = element(&tree, "Sure?");
    assert_eq!(alert.kind, ElementType::ALERT);
    let inside: Vec<_> = tree.children(at).collect();
    assert_eq!(tree.names(&inside), ["Sure?", "Really.", "No", "Yes"]);
    let below = tree
        .iter()
        .filter(|(_, element)| alert.frame.contains(element.frame.centre()));
    let (mut below, alert_at) = (below.map(|(at, _)| at), at);
    assert!(below.all(|at| {
        at >= alert_at
            || tree
                .get(at)
                .is_none_or(|e| e.node.is_none() || !e.flags.hittable)
    }));
}

#[test]
fn the_home_screen_has_icons_and_a_status_bar() {
    let mut world = world();
    world.home();
    let tree = see(&mut world, SPRINGBOARD);
    assert_eq!(element(&tree, "A").1.kind, ElementType::APPLICATION);
    assert_eq!(element(&tree, "Settings").1.kind, ElementType::ICON);
    assert!(
        tree.iter()
            .any(|(_, element)| element.kind == ElementType::STATUS_BAR)
    );
    assert_eq!(
        see(&mut world, "com.example.a").iter().count(),
        1,
        "the app behind shows nothing"
    );
}

#[test]
fn trees_end_at_the_depth_that_is_asked_for() {
    let mut world = world();
    let app = AppFacts {
        bundle_id: "com.example.a".to_owned(),
        name: "A".to_owned(),
        pid: 1,
    };
    let snapshot = world.snapshot();
    let levels = |depth| {
        let tree = observe(&snapshot, &app, 59.0, depth);
        tree.iter()
            .map(|(at, _)| tree.ancestors(at).count() + 1)
            .max()
    };
    assert_eq!(
        (levels(0), levels(1), levels(4)),
        (Some(1), Some(1), Some(4))
    );
}
