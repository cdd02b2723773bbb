//! A test that cannot fail proves nothing. Each mutant is the example with one thing altered, in
//! the trail or in the app it is about; each must fail, on the step that tells, as a failure.

mod phones;
mod web;

use std::collections::BTreeMap;

use packtrain_tests::{Lab, repository};
use serde_json::Value;

use crate::shop::{shop, trail};

const PLATFORMS: [&str; 3] = ["web", "android", "ios"];
const SHOP: &str = "com.example.shop";
const DEVICES: &str = "web,virtual:android:6,virtual:ios:6";

/// What is altered.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// What is recorded for a step of the trail, by its words.
    Recording(&'static str),
    /// A file of the pages.
    Page(&'static str),
    /// The app on the phones.
    App,
}

/// The example with one thing altered.
#[derive(Debug, Clone, Copy)]
struct Mutant {
    platform: &'static str,
    name: &'static str,
    place: Place,
    /// What stands there, just once.
    from: &'static str,
    to: &'static str,
    /// The words of the step that must fail.
    fails_on: &'static str,
    /// A part of what is said then.
    saying: &'static str,
}

/// A recording altered such that its own step fails.
const fn recorded(
    platform: &'static str,
    name: &'static str,
    step: &'static str,
    [from, to]: [&'static str; 2],
    saying: &'static str,
) -> Mutant {
    Mutant {
        platform,
        name,
        place: Place::Recording(step),
        from,
        to,
        fails_on: step,
        saying,
    }
}

impl Mutant {
    /// It is a later step that tells.
    const fn told_by(mut self, step: &'static str) -> Self {
        self.fails_on = step;
        self
    }

    fn id(&self) -> String {
        format!("{}-{}", self.platform, self.name)
    }

    /// Writes the trail, and the pages or the app it is about when these are what is altered.
    fn write(&self, shop: &Lab) {
        let id = self.id();
        let trail = match self.place {
            Place::Recording(step) => self.alter_recording(&trail(), step),
            Place::Page(page) => {
                for file in std::fs::read_dir(shop.folder().join("web")).unwrap() {
                    let name = file.unwrap().file_name().into_string().unwrap();
                    let text = shop.read(format!("web/{name}"));
                    let text = if name == page {
                        self.alter(&text)
                    } else {
                        text
                    };
                    shop.write(&format!("{id}/{name}"), &text);
                }
                trail().replace("../web/", &format!("../{id}/"))
            }
            Place::App => trail().replace(SHOP, &self.app_id()),
        };
        shop.write(
            &format!("trails/{id}.trail.yaml"),
            &only_on(self.platform, &trail),
        );
    }

    fn app_id(&self) -> String {
        format!("com.example.{}", self.name.replace('-', "_"))
    }

    /// The altered app, when it is what is altered.
    fn app(&self, app: &str) -> Option<String> {
        // Nothing is said of its German texts, which must be of texts that are there.
        let app = app.split("\ntexts:").next().unwrap_or_default();
        matches!(self.place, Place::App).then(|| self.alter(app).replace(SHOP, &self.app_id()))
    }

    fn alter(&self, text: &str) -> String {
        let Self { from, to, .. } = self;
        assert_eq!(text.matches(from).count(), 1, "{from:?} in\n{text}");
        text.replace(from, to)
    }

    /// Alters what is recorded for its platform in one step.
    fn alter_recording(&self, trail: &str, step: &str) -> String {
        let begin = trail.find(step).unwrap();
        let step = &trail[begin..];
        let step = &step[..step.find("\n\n").unwrap_or(step.len())];
        // The trailhead lies less deep than the steps.
        let place = |platform: &str| {
            let [deep, less_deep] =
                ["      ", "    "].map(|blanks| format!("\n{blanks}{platform}:"));
            step.find(&deep).or_else(|| step.find(&less_deep))
        };
        let from = place(self.platform).unwrap();
        let others = PLATFORMS.iter().filter_map(|other| place(other));
        let next = others.filter(|place| *place > from).min();
        let [from, to] = [from, next.unwrap_or(step.len())].map(|place| begin + place);
        let altered = self.alter(&trail[from..to]);
        [&trail[..from], &altered, &trail[to..]].concat()
    }
}

/// The trail, skipped on other platforms.
fn only_on(platform: &str, trail: &str) -> String {
    let others = PLATFORMS.iter().filter(|other| **other != platform);
    let skip: String = others
        .map(|other| format!("    {other}: not here\n"))
        .collect();
    trail.replacen("config:\n", &format!("config:\n  skip:\n{skip}"), 1)
}

/// The name of the trail, the step and the words of each failure; no step for what passed.
fn ends(events: &[Value]) -> BTreeMap<String, (String, Option<(String, String)>)> {
    let trails = &events[0]["trails"];
    let (mut of, mut failed, mut ends) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for event in events {
        let session = event["session"].as_str().unwrap_or_default();
        let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
        match event["event"].as_str() {
            Some("session_started") => {
                let at = event["planned"]["trail"].as_u64().unwrap();
                of.insert(session, &trails[usize::try_from(at).unwrap()]);
            }
            Some("step_finished") if event["outcome"] != "passed" => {
                let at = usize::try_from(event["step"].as_u64().unwrap()).unwrap();
                let words = of[session]["steps"][at]["text"].as_str().unwrap();
                failed.insert(session, words.to_owned());
            }
            Some("session_finished") => {
                let name = of[session]["name"].as_str().unwrap().to_owned();
                let step = failed.remove(session).map(|step| (step, text("message")));
                ends.insert(name, (text("outcome"), step));
            }
            _ => {}
        }
    }
    ends
}

#[test]
fn every_mutant_of_the_example_fails_on_the_step_that_tells_and_the_example_passes() {
    let mutants = [web::MUTANTS, phones::ANDROID, phones::IOS, phones::APPS].concat();
    let shop = shop(12);
    for platform in PLATFORMS {
        let control = format!("trails/{platform}.trail.yaml");
        shop.write(&control, &only_on(platform, &trail()));
    }
    for mutant in &mutants {
        mutant.write(&shop);
    }
    let app = std::fs::read_to_string(repository().join("examples/shop/app.yaml")).unwrap();
    let altered = mutants.iter().filter_map(|mutant| mutant.app(&app));
    let apps: Vec<_> = std::iter::once(app.clone()).chain(altered).collect();
    shop.write("apps.yaml", &apps.join("\n---\n"));
    let configuration = shop.read("packtrain.yaml");
    let phones = "  virtual: { app: apps.yaml, profile: fast, seed: 7 }\n";
    shop.write("packtrain.yaml", &format!("{configuration}{phones}"));

    let run = ["run", "trails", "-d", DEVICES, "--shard", "split"];
    let ended = shop
        .run(&[&run[..], &["--screenshots", "none"]].concat())
        .expect(1);
    let mut ends = ends(&shop.events());
    for control in PLATFORMS.into_iter().chain(["buy"]) {
        let end = ends.remove(control);
        assert_eq!(end, Some(("passed".into(), None)), "{control}");
    }
    assert_eq!(ends.len(), mutants.len());
    let wrong: Vec<_> = mutants
        .iter()
        .filter_map(|mutant| {
            let end = &ends[&mutant.id()];
            let caught = matches!(end, (outcome, Some((step, message)))
                if outcome == "failed" && step == mutant.fails_on && message.contains(mutant.saying));
            (!caught).then(|| format!("{}: {end:?}", mutant.id()))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", ended.stderr);
}
