//! The lane with one of its checks taken out: a trap tells.
//!
//! Playwright's driver is started by a script that alters the lane's on its way there, so that the product
//! needs no switch for it.

use std::path::Path;

use packtrain_driver_playwright::{Engine, WebPool, install::Found};
use serde_json::json;

use super::{Lane, Subject, all};
use crate::browser::found;
use crate::site::Site;

const LANE: &str = include_str!("../../src/page/lane.js");

/// The lane with one thing altered.
struct Mutant {
    name: &'static str,
    /// What stands there, just once.
    from: &'static str,
    to: &'static str,
    /// The trap on which it does not do as Playwright does.
    told_by: &'static str,
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "no wait until it is stable",
        from: "place(element) !== before ? 'stable' : ",
        to: "",
        told_by: "moved by animation frames for ever",
    },
    Mutant {
        name: "no hit test",
        from: "injected.setupHitTargetInterceptor(element, asked.do === 'click' ? 'mouse' : 'hover', at, false)",
        to: "{ stop: () => 'done' }",
        told_by: "an overlay for ever",
    },
    Mutant {
        name: "a hit test whose answer is not asked for",
        from: "hit: hit === 'done'",
        to: "hit: true",
        told_by: "replaced between check and event",
    },
    Mutant {
        name: "disabled or not",
        from: "state => !injected",
        to: "state => state !== 'enabled' && !injected",
        told_by: "a disabled button",
    },
    Mutant {
        name: "visible or not",
        from: "state => !injected",
        to: "state => state !== 'visible' && !injected",
        told_by: "a hidden field of a date",
    },
    Mutant {
        name: "read-only or not",
        from: "state => !injected",
        to: "state => state !== 'editable' && !injected",
        told_by: "a read-only field",
    },
    Mutant {
        name: "the first of several",
        from: "if (another) return { not: 'several' };",
        to: "",
        told_by: "several that match",
    },
    Mutant {
        name: "the edge instead of the middle",
        from: "x: Math.round((l + r) * 50) / 100",
        to: "x: l + 1",
        told_by: "a canvas",
    },
    Mutant {
        name: "no scrolling",
        from: "element.scrollIntoViewIfNeeded(true);",
        to: "",
        told_by: "cut off by the end of the window",
    },
    Mutant {
        name: "a label clicked wherever its middle is",
        from: "if (isInParts(element, at)) return { not: 'in one piece' };",
        to: "",
        told_by: "a label with a link in it",
    },
    Mutant {
        name: "smooth scrolling",
        from: "if (glides(element)) return { not: 'in view' };",
        to: "",
        told_by: "scrolled to smoothly",
    },
];

/// Playwright's driver, which alters the lane as `mutant.json` in the same folder says when a session begins.
fn altering(found: &Found, folder: &Path) -> Found {
    let script = format!(
        "const {{ readFileSync }} = require('node:fs');
        const parse = JSON.parse;
        JSON.parse = (text, ...rest) => {{
          const message = parse(text, ...rest);
          if (message?.method === 'registerSelectorEngine') {{
            const {{ from, to }} = parse(readFileSync(`${{__dirname}}/mutant.json`, 'utf8'));
            const engine = message.params.selectorEngine;
            engine.source = engine.source.replace(from, () => to);
          }}
          return message;
        }};
        require({});",
        json!(found.cli)
    );
    let cli = folder.join("cli.js");
    std::fs::write(&cli, script).unwrap();
    Found {
        cli: Some(cli),
        ..found.clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_mutants_of_the_lane_are_caught() {
    let folder = tempfile::tempdir().unwrap();
    let alter = |from: &str, to: &str| {
        let mutant = json!({ "from": from, "to": to }).to_string();
        std::fs::write(folder.path().join("mutant.json"), mutant).unwrap();
    };
    alter("", "");
    let (site, pool) = (
        Site::start().await,
        WebPool::new(&altering(&found(), folder.path())),
    );
    let mut playwright = Subject::connect(&pool, Engine::Chromium, Lane::Closed).await;
    let mut lane = Subject::connect(&pool, Engine::Chromium, Lane::Open).await;
    let mut survived = Vec::new();
    for mutant in MUTANTS {
        let Mutant {
            name,
            from,
            to,
            told_by,
        } = mutant;
        assert_eq!(LANE.matches(from).count(), 1, "{name}: {from}");
        alter(from, to);
        lane.begin().await;
        let mut is_caught = false;
        for trap in all().iter().filter(|trap| trap.name == *told_by) {
            let (mutants, playwrights) =
                tokio::join!(lane.outcome(&site, trap), playwright.outcome(&site, trap));
            is_caught |= !trap.is_as_expected(&mutants, &playwrights);
        }
        if !is_caught {
            survived.push(name);
        }
    }
    assert!(survived.is_empty(), "{survived:#?}");
    lane.device.leave().await;
    playwright.device.close().await;
}
