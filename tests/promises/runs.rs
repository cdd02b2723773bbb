//! Runs against runs and against what was approved: what changed is told by its element, an approval
//! makes the next comparison pass, and what could not be found out is never a pass.

use std::path::PathBuf;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab};
use serde_json::Value;

use crate::lab;
use crate::shop::shop;

const PAGE: &str = "<!doctype html><title>Shop</title><h1>Shop</h1><p>Three things to buy.</p>
<button style='position:relative;top:MOVEDpx;background:COLOUR'>Buy</button>
<p>Delivery is free.</p><button style='background:OTHER'>Leave</button><p id=now>NOW</p>";

const TRAIL: &str = "config: { id: shop, title: Shop }
trail:
  - step: Open the shop
    recording: { web: [{ web_navigate: { url: page.html } }] }
  - verify: It sells
    recording: { web: [{ web_verifyTextVisible: { text: Buy, timeoutMs: 300 } }] }
";

/// A shop with what a test changes of its page.
struct Shop(Lab);

impl Shop {
    fn new() -> Self {
        let lab = lab();
        lab.write("trails/shop.trail.yaml", TRAIL);
        lab.write(
            "packtrain.yaml",
            "devices: { web: { desk: {} } }\nrun: { trace: none, masks: [{ css: '#now' }] }\n",
        );
        Self(lab)
    }

    /// Runs the trail on the page with these changes; the run's id.
    fn run(&self, changes: &[(&str, &str)], code: i32) -> String {
        self.run_with(changes, &[], code)
    }

    fn run_with(&self, changes: &[(&str, &str)], flags: &[&str], code: i32) -> String {
        let mut page = PAGE.to_owned();
        let usual = [
            ("MOVED", "0"),
            ("COLOUR", "silver"),
            ("OTHER", "silver"),
            ("NOW", "9:41"),
        ];
        for (from, to) in changes.iter().chain(&usual) {
            page = page.replace(from, to);
        }
        self.0.write("page.html", &page);
        let run = ["run", "trails/shop.trail.yaml", "-d", "web/desk"];
        self.0.run(&[&run, flags].concat()).expect(code);
        let folder = self.0.run_folder().canonicalize().unwrap();
        folder.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn packtrain(&self, arguments: &[&str], code: i32) -> Ended {
        self.0.run(arguments).expect(code)
    }

    /// What `packtrain compare` says: its changes.
    fn changes(&self, arguments: &[&str], code: i32) -> Vec<Value> {
        let all = [&["compare"], arguments, &["--format", "json"]].concat();
        let answer: Value = serde_json::from_str(&self.packtrain(&all, code).stdout).unwrap();
        answer["changes"].as_array().unwrap().clone()
    }

    /// The files of the baselines, below the trail's folder.
    fn baselines(&self) -> Vec<String> {
        let mut found = Vec::new();
        let root = self.0.folder().join("trails/shop.baseline");
        let mut left = vec![root.clone()];
        while let Some(folder) = left.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    left.push(path);
                } else {
                    let below = path.strip_prefix(&root).unwrap();
                    found.push(below.to_str().unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }

    fn edit(&self, path: &str, edit: impl Fn(String) -> String) {
        let text = self.0.read(path);
        self.0.write(path, &edit(text));
    }

    /// Edits the journal of the newest run.
    fn forge(&self, edit: impl Fn(String) -> String) {
        let path = self.0.run_folder().join("events.ndjson");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, edit(text)).unwrap();
    }
}

fn text<'a>(change: &'a Value, key: &str) -> &'a str {
    change[key].as_str().unwrap()
}

const STEP: &str = "open-the-shop/baseline.json";
const KEY: &str = "web-chromium-1280x720@1";

#[test]
fn what_moved_is_told_as_moved_and_what_looks_different_by_its_element() {
    let shop = Shop::new();
    let base = shop.run(&[], 0);
    shop.run(&[], 0);
    assert_eq!(shop.changes(&[&base], 0), Vec::<Value>::new());

    shop.run(&[("MOVED", "12")], 0);
    let changes = shop.changes(&[&base], 1);
    assert_eq!(changes.len(), 2, "{changes:#?}");
    for change in &changes {
        assert_eq!(text(change, "title"), "button \"Buy\" moved down 12 px");
        assert_eq!(change["shift"], serde_json::json!([0, 12]));
        assert_eq!(
            (text(change, "kind"), text(change, "letter")),
            ("visual", "A")
        );
    }
    // Only what it is asked for is red.
    shop.packtrain(&["compare", &base, "--fail-on", "tree,outcome"], 0);

    shop.run(&[("COLOUR", "gold")], 0);
    let changes = shop.changes(&[&base], 1);
    assert_eq!(text(&changes[0], "title"), "button \"Buy\" looks different");
    let said = shop.packtrain(&["compare", &base], 1).stdout;
    assert!(
        said.starts_with("The only cell is not as before. 1 change."),
        "{said}"
    );
    assert!(said.contains("box 1 button \"Buy\" at "), "{said}");
}

#[test]
fn an_approval_makes_the_next_comparison_pass_and_a_missing_baseline_is_new_and_fails() {
    let shop = Shop::new();
    shop.run(&[], 0);
    let changes = shop.changes(&[], 1);
    let statuses: Vec<_> = changes
        .iter()
        .map(|change| text(change, "status"))
        .collect();
    assert_eq!(statuses, ["new", "new"]);
    shop.packtrain(&["compare", "--fail-on", "tree,defect,outcome,time"], 0);
    assert_eq!(
        shop.baselines(),
        Vec::<String>::new(),
        "comparing writes nothing"
    );

    let said = shop.packtrain(&["approve", "--dry-run"], 0).stdout;
    has(
        &said,
        &["would approve trails/shop.baseline/open-the-shop/"],
    );
    assert_eq!(shop.baselines(), Vec::<String>::new());

    shop.packtrain(&["approve"], 0);
    let expected: Vec<_> = ["it-sells", "open-the-shop"]
        .iter()
        .flat_map(|step| {
            [
                format!("{step}/baseline.json"),
                format!("{step}/{KEY}.json"),
                format!("{step}/{KEY}.webp"),
            ]
        })
        .collect();
    assert_eq!(shop.baselines(), expected);
    shop.packtrain(&["compare"], 0);

    // What masks leave out is not a change, in a run of its own either.
    let newest = shop.run(&[("NOW", "9:42")], 0);
    shop.packtrain(&["compare"], 0);
    shop.run(&[("MOVED", "12")], 0);
    assert_eq!(shop.changes(&[], 1).len(), 2);
    shop.packtrain(&["compare", "baselines", &newest], 0);
    shop.packtrain(&["approve", "--cluster", "A"], 0);
    shop.packtrain(&["compare"], 0);
    let nothing = shop.packtrain(&["approve"], 0);
    has(&nothing.stderr, &["nothing to approve"]);
}

#[test]
fn a_run_says_by_itself_what_differs_from_what_was_approved_and_passes_all_the_same() {
    let shop = Shop::new();
    shop.run(&[], 0);
    let read = |name: &str| shop.0.read(shop.0.run_folder().join(name));
    assert!(
        !read("comparison.json").contains("baselines"),
        "none are there"
    );
    shop.packtrain(&["approve"], 0);
    shop.run(&[("MOVED", "12")], 0);

    // As `packtrain compare` has it, with the approved picture in the run's folder.
    let compared: Value = serde_json::from_str(&read("comparison.json")).unwrap();
    let mut changes = compared["baselines"]["changes"].as_array().unwrap().clone();
    for change in &mut changes {
        let approved = change.as_object_mut().unwrap().remove("approved").unwrap();
        let approved = shop.0.run_folder().join(approved.as_str().unwrap());
        let baseline = format!(
            "trails/shop.baseline/{}/{KEY}.webp",
            text(change, "step_id")
        );
        let baseline = std::fs::read(shop.0.folder().join(baseline)).unwrap();
        assert!(std::fs::read(approved).unwrap() == baseline);
    }
    assert_eq!(changes, shop.changes(&[], 1));
    assert!(!read("junit.xml").contains("<failure"));

    let again = shop.packtrain(&["report", "latest"], 0).stderr;
    let title = text(&changes[0], "title");
    has(
        &again,
        &[
            "baselines: The only cell is not as approved. 1 change.",
            &format!("  A  {title}  (visual, in 2 places)"),
        ],
    );
    shop.packtrain(&["approve"], 0);
    shop.run(&[("MOVED", "12")], 0);
    let again = shop.packtrain(&["report", "latest"], 0).stderr;
    has(&again, &["baselines: The only cell is as approved.\n"]);
}

#[test]
fn a_step_added_before_others_leaves_their_baselines_theirs() {
    let shop = Shop::new();
    shop.run(&[], 0);
    shop.packtrain(&["approve"], 0);
    shop.edit("trails/shop.trail.yaml", |trail| {
        trail.replace(
            "  - verify",
            "  - verify: It is free\n    recording: { web: [{ web_verifyTextVisible: { text: free } }] }\n  - verify",
        )
    });
    let base = shop.run(&[], 0);
    let changes = shop.changes(&[], 1);
    assert_eq!(changes.len(), 1, "{changes:#?}");
    assert_eq!(text(&changes[0], "step_id"), "it-is-free");
    shop.packtrain(&["approve", "--step", "2"], 0);
    shop.packtrain(&["compare"], 0);

    // And what a trail no more has goes when it is asked for.
    shop.0.write("trails/shop.trail.yaml", TRAIL);
    shop.run(&[], 0);
    shop.packtrain(&["compare"], 0);
    let gone = shop.packtrain(&["compare", &base], 0).stdout;
    assert!(gone.contains("Removed:\n     shop: step 2"), "{gone}");
    let said = shop
        .packtrain(&["approve", "--prune", "--dry-run"], 0)
        .stdout;
    has(
        &said,
        &[&format!(
            "would remove trails/shop.baseline/it-is-free/{KEY}"
        )],
    );
    assert_eq!(shop.baselines().len(), 9);
    shop.packtrain(&["approve", "--prune"], 0);
    assert_eq!(shop.baselines().len(), 6);
}

#[test]
fn a_run_of_some_cells_is_no_pass_beside_one_of_all_and_removes_no_baseline_of_the_others() {
    let shop = Shop::new();
    let config = shop.0.read("packtrain.yaml");
    let two = config.replace("desk: {}", "desk: {}, phone: { viewport: 390x844 }");
    shop.0.write("packtrain.yaml", &two);
    shop.0.write("page.html", PAGE);
    let all = ["run", "trails", "--all-devices"];
    shop.packtrain(&all, 0);
    let folder = shop.0.run_folder().canonicalize().unwrap();
    let base = folder.file_name().unwrap().to_str().unwrap();
    shop.packtrain(&["approve"], 0);
    let approved = shop.baselines();
    assert_eq!(approved.len(), 10);

    shop.packtrain(&["run", "trails", "-d", "web/desk"], 0);
    let compared = shop.packtrain(&["compare", base], 2).stdout;
    assert!(compared.contains("1 of 2 cells are as before; 1 removed."));
    let told = shop.packtrain(&["approve", "--prune"], 2).stderr;
    has(
        &told,
        &["web-chromium-390x844@1 is kept: the run covered only some cells (--device)"],
    );
    assert_eq!(shop.baselines(), approved);

    shop.0.write("packtrain.yaml", &config);
    shop.packtrain(&all, 0);
    shop.packtrain(&["approve", "--prune"], 0);
    assert_eq!(shop.baselines().len(), 6);
}

#[test]
fn what_shows_a_secret_is_not_compared_and_in_no_baseline() {
    let shop = Shop::new();
    let run = |secret: &str| {
        let shows = format!("The word is {secret}.");
        let given = format!("word={secret}");
        shop.run_with(
            &[("Three things to buy.", &shows)],
            &["--secret", &given],
            0,
        );
    };
    let approve = || {
        let told = shop.packtrain(&["approve"], 0).stderr;
        has(&told, &["warning: the run had secrets (word)"]);
        shop.0.read(format!("trails/shop.baseline/{STEP}"))
    };
    run("open-sesame");
    let approved = approve();
    run("swordfish");
    shop.packtrain(&["compare"], 0);
    std::fs::remove_dir_all(shop.0.folder().join("trails/shop.baseline")).unwrap();
    assert_eq!(approve(), approved, "its picture too is the same");
}

#[test]
fn a_part_of_a_picture_is_approved_and_the_rest_still_fails() {
    let shop = Shop::new();
    shop.run(&[], 0);
    shop.packtrain(&["approve"], 0);
    shop.run(&[("COLOUR", "gold"), ("OTHER", "tomato")], 0);
    let boxes = |changes: &[Value]| -> Vec<String> {
        let boxes = changes.iter().filter(|change| change["step"] == 1);
        let boxes = boxes.flat_map(|change| change["boxes"].as_array().unwrap().clone());
        boxes.map(|one| text(&one, "element").to_owned()).collect()
    };
    let before = boxes(&shop.changes(&[], 1));
    assert_eq!(before.len(), 2, "{before:?}");
    shop.packtrain(&["approve", "--step", "1", "--box", "1"], 0);
    assert_eq!(boxes(&shop.changes(&[], 1)), before[1..]);
    let said = shop
        .packtrain(&["approve", "--step", "1", "--box", "7"], 2)
        .stderr;
    assert!(said.contains("it has no box 7"), "{said}");
}

#[test]
fn a_new_major_version_of_the_engine_proposes_and_does_not_fail() {
    let shop = Shop::new();
    shop.run(&[], 0);
    shop.packtrain(&["approve"], 0);
    for step in ["open-the-shop", "it-sells"] {
        shop.edit(
            &format!("trails/shop.baseline/{step}/baseline.json"),
            |text| {
                let (before, after) = text.split_once("\"engine\": \"Chromium ").unwrap();
                let (_, rest) = after.split_once('.').unwrap();
                format!("{before}\"engine\": \"Chromium 7.{rest}")
            },
        );
    }
    shop.run(&[("COLOUR", "gold")], 0);
    let changes = shop.changes(&[], 0);
    let statuses: Vec<_> = changes
        .iter()
        .map(|change| text(change, "status"))
        .collect();
    assert_eq!(statuses, ["proposed", "proposed"]);
    let said = shop.packtrain(&["compare"], 0).stdout;
    has(&said, &["2 new baselines proposed", "drawn by Chromium 7."]);
    shop.packtrain(&["approve"], 0);
    assert_eq!(shop.changes(&[], 0), Vec::<Value>::new());
}

#[test]
fn what_fails_is_flaky_or_broke_off_is_no_baseline() {
    let shop = Shop::new();
    shop.edit("trails/shop.trail.yaml", |trail| {
        trail.replace("text: Buy", "text: Sold")
    });
    shop.run(&[], 1);
    let said = shop.packtrain(&["approve"], 2).stderr;
    has(&said, &["refused: shop on web/desk: ", "failed at step 2"]);
    assert_eq!(shop.baselines(), Vec::<String>::new());

    shop.0.write("trails/shop.trail.yaml", TRAIL);
    shop.edit("trails/shop.trail.yaml", |trail| {
        trail.replace(
            "web: [{ web_verifyTextVisible",
            "web: [{ runCommand: { command: 'test -e seen || { touch seen; exit 1; }' } }, { web_verifyTextVisible",
        )
    });
    shop.run_with(&[], &["--retries", "1"], 0);
    let said = shop.packtrain(&["approve"], 2).stderr;
    assert!(said.contains("flaky"), "{said}");
    assert_eq!(shop.baselines(), Vec::<String>::new());

    // A journal that stops in the middle.
    shop.run(&[], 0);
    shop.forge(|journal| {
        let mut lines = journal.lines();
        let keep = lines
            .by_ref()
            .take_while(|line| !line.contains("\"session_finished\""));
        keep.collect::<Vec<_>>().join("\n") + "\n"
    });
    let said = shop.packtrain(&["approve"], 2).stderr;
    assert!(said.contains("cut short"), "{said}");
    assert_eq!(shop.baselines(), Vec::<String>::new());
    shop.packtrain(&["compare", "--fail-on", "none"], 2);
}

#[test]
fn a_journal_that_names_a_trail_elsewhere_has_nothing_written_there() {
    let shop = Shop::new();
    shop.run(&[], 0);
    let outside = shop.0.folder().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let inside = shop.0.folder().join("trails");
    std::fs::write(outside.join("shop.trail.yaml"), TRAIL).unwrap();
    std::os::unix::fs::symlink("/tmp", inside.join("tmp")).unwrap();
    std::os::unix::fs::symlink("../outside", inside.join("shop.baseline")).unwrap();
    // Through a link where the baselines would be, out of the folder, and to what is not a trail.
    for path in [
        "trails/shop.trail.yaml",
        "trails/../outside/shop.trail.yaml",
        "/etc/hostname",
        "trails/gone.trail.yaml",
        "trails/tmp",
    ] {
        shop.forge(|journal| {
            let (before, rest) = journal.split_once("\"path\":\"").unwrap();
            let (_, after) = rest.split_once('"').unwrap();
            format!("{before}\"path\":\"{path}\"{after}")
        });
        shop.packtrain(&["compare"], 2);
        shop.packtrain(&["approve"], 2);
    }
    let left: Vec<PathBuf> = std::fs::read_dir(outside)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_baseline_that_cannot_be_read_is_no_pass() {
    let shop = Shop::new();
    shop.run(&[], 0);
    shop.packtrain(&["approve"], 0);
    let path = format!("trails/shop.baseline/{STEP}");
    let good = shop.0.read(&path);
    shop.0.write(&path, "<<<<<<< ours\n");
    let said = shop.packtrain(&["compare"], 2).stdout;
    assert!(said.contains("the baseline cannot be read"), "{said}");
    shop.0.write(&path, &good);
    let picture = shop
        .0
        .folder()
        .join(format!("trails/shop.baseline/open-the-shop/{KEY}.webp"));
    let bytes = std::fs::read(&picture).unwrap();
    std::fs::write(&picture, &bytes[..bytes.len() / 2]).unwrap();
    shop.packtrain(&["compare"], 2);
    shop.packtrain(&["compare", "nonsense"], 3);
    shop.packtrain(&["approve", "--cluster", "Q"], 3);
}

#[test]
fn the_history_of_a_trail_says_what_is_newly_failing_and_newly_fixed() {
    let shop = Shop::new();
    let trend = || {
        let said = shop.packtrain(&["runs", "--trail", "shop", "--format", "json"], 0);
        let told: Value = serde_json::from_str(&said.stdout).unwrap();
        let history = &told["histories"][0];
        (
            text(history, "trend").to_owned(),
            history["runs"].as_u64().unwrap(),
        )
    };
    let base = shop.run(&[], 0);
    assert_eq!(trend(), ("passing".to_owned(), 1));
    shop.edit("trails/shop.trail.yaml", |trail| {
        trail.replace("text: Buy", "text: Sold")
    });
    let failed = shop.run(&[], 1);
    assert_eq!(trend(), ("newly_failing".to_owned(), 2));
    let changes = shop.changes(&[&base], 1);
    assert!(
        text(&changes[0], "title").starts_with("newly failing: "),
        "{changes:?}"
    );
    shop.0.write("trails/shop.trail.yaml", TRAIL);
    shop.run(&[], 0);
    assert_eq!(trend(), ("newly_fixed".to_owned(), 3));
    // What it did not get to before cannot be compared.
    let changes = shop.changes(&[&failed], 2);
    assert_eq!(text(&changes[0], "status"), "fixed");
    let said = shop.packtrain(&["runs", "--trail", "shop"], 0).stdout;
    assert!(said.contains("newly fixed"), "{said}");
    shop.packtrain(&["runs", "--trail", "nothing"], 3);
}

#[test]
fn phones_have_baselines_too() {
    let bench = shop(1);
    let configuration = bench.read("packtrain.yaml");
    let virtual_phones = "  virtual: { profile: fast, seed: 7 }\n";
    bench.write(
        "packtrain.yaml",
        &format!("{configuration}{virtual_phones}"),
    );
    let run = ["run", "trails", "-d", "virtual:android,virtual:ios"];
    bench.run(&run).expect(0);
    bench.run(&["compare"]).expect(1);
    bench.run(&["approve"]).expect(0);
    bench.run(&["compare"]).expect(0);
}
