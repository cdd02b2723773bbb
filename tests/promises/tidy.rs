//! The tree keeps its shape: who may use whom, how large files are, what must not be said.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use packtrain_tests::{Ended, repository};
use serde_json::Value;

/// What each crate may use of ours, development aside: the code map of ARCHITECTURE.md, by the crates' folders.
fn may_use() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let rows = rows.filter_map(|row| {
        let cells: Vec<_> = row.split(" | ").collect();
        let [folder, _, may_use, _] = cells[..] else {
            return None;
        };
        let words = may_use.split(|c: char| !c.is_alphanumeric() && c != '-');
        let folder = folder.trim_end_matches('`').to_owned();
        Some((folder, words.map(str::to_owned).collect()))
    });
    rows.collect()
}

/// Crates that must not appear among the dependencies of others, with the reason.
const FOREIGN: [(&str, &str, &str); 6] = [
    ("packtrain-drivers", "actix", "drivers know no actors"),
    (
        "packtrain-model",
        "tokio",
        "the model does no I/O and is not async",
    ),
    ("packtrain-compare", "tokio", "comparing is pure functions"),
    ("packtrain-report", "tokio", "reports are pure functions"),
    (
        "packtrain-record",
        "tokio",
        "the journal has a thread of its own",
    ),
    ("packtrain-engine", "axum", "the engine knows no HTTP"),
];

/// Our crates, as `cargo metadata` describes them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(repository())
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn crates_use_only_what_the_architecture_allows() {
    let allowed = may_use();
    let packages = packages();
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let folder = manifest.parent().unwrap();
        let folder = folder.strip_prefix(repository().canonicalize().unwrap());
        folder.unwrap().to_str().unwrap().to_owned()
    };
    let folders = packages
        .iter()
        .map(|package| (package["name"].as_str().unwrap(), folder(package)));
    let folders: BTreeMap<_, _> = folders.collect();
    let mut wrong = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let Some(may_use) = allowed.get(&folders[name]) else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            let for_tests = dependency["kind"] == "dev";
            let short = folders
                .get(used)
                .map(|folder| folder.rsplit('/').next().unwrap());
            // Either these, or all but these.
            let is_refused = |short| may_use.contains("all") == may_use.contains(short);
            if !for_tests && short.is_some_and(is_refused) {
                wrong.push(format!("{name} uses {used}"));
            }
            for (who, what, why) in FOREIGN {
                if name == who && used == what && !for_tests {
                    wrong.push(format!("{name} uses {what}: {why}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn folders_of_the_program_use_each_other_in_no_circle() {
    let root = repository().join("orchestrator/src");
    let room = |file: &Path| {
        let first = file.strip_prefix(&root).unwrap().iter().next().unwrap();
        first.to_str().unwrap().trim_end_matches(".rs").to_owned()
    };
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in rust_files(&root) {
        let text = std::fs::read_to_string(&file).unwrap();
        let used = uses.entry(room(&file)).or_default();
        for path in text.split("crate::").skip(1) {
            let group = path.strip_prefix('{').map(|group| group.split('}').next());
            let names = group.flatten().unwrap_or(path.split("::").next().unwrap());
            let words = names.split(|c: char| !c.is_alphanumeric() && c != '_');
            used.extend(words.map(str::to_owned));
        }
    }
    uses.retain(|room, _| room != "lib" && room != "main");
    // A crate that uses none of the rest is removed, until only circles are left.
    while let Some(free) = uses.iter().find_map(|(room, used)| {
        let is_free = |name: &String| name == room || !uses.contains_key(name);
        used.iter().all(is_free).then(|| room.clone())
    }) {
        uses.remove(&free);
    }
    assert!(uses.is_empty(), "{uses:#?}");
}

#[test]
fn only_the_program_reads_the_environment() {
    let wrong: Vec<_> = rust_files(&repository())
        .into_iter()
        .filter(|file| {
            let name = file.strip_prefix(repository()).unwrap().to_str().unwrap();
            let is_test = name.starts_with("tests/") || name.contains("/tests");
            let of_the_program = [
                "src",
                "daemon",
                "terminal",
                "toolsets",
                "wiring",
                "workplace",
            ];
            let is_program = |room: &&str| name.starts_with(&format!("orchestrator/{room}/"));
            name.contains("src/") && !of_the_program.iter().any(is_program) && !is_test
        })
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("env::var"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// On macOS a child inherits the pipe of another that is started at the same moment.
#[test]
fn every_program_is_started_by_drivers_program_or_under_its_lock() {
    let mut wrong = Vec::new();
    for file in rust_files(&repository()) {
        let name = file.strip_prefix(repository()).unwrap().to_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let is_product = name.to_str().unwrap().contains("src/")
            && !name.starts_with("tests/")
            && !name.ends_with("tests.rs");
        if !is_product || !product.contains("process::Command") && !product.contains("process_wrap")
        {
            continue;
        }
        let starts = |line: &&str| {
            let by_itself = [".spawn()", ".output();", ".status();"];
            by_itself.iter().any(|start| line.contains(start)) && !line.contains("spawning(")
        };
        wrong.extend(
            product
                .lines()
                .filter(starts)
                .map(|line| format!("{}: {line}", name.display())),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_device_actor_never_awaits() {
    let text = std::fs::read_to_string(repository().join("device-actors/src/device.rs")).unwrap();
    let outside_tasks: Vec<_> = text
        .lines()
        .filter(|line| line.contains(".await") && !line.contains("task.run().await"))
        .collect();
    assert!(outside_tasks.is_empty(), "{outside_tasks:#?}");
}

#[test]
fn files_open_with_what_they_are_for_and_stay_readable() {
    let mut wrong = Vec::new();
    for file in rust_files(&repository()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file
            .strip_prefix(repository())
            .unwrap()
            .display()
            .to_string();
        let is_tests = name.ends_with("/tests.rs") || name.contains("/tests/");
        if !is_tests && !text.starts_with("//!") {
            wrong.push(format!("{name} does not open with //!"));
        }
        if text.lines().count() > 700 {
            wrong.push(format!("{name} has {} lines", text.lines().count()));
        }
        let bad_name = [
            "utils.rs",
            "common.rs",
            "helpers.rs",
            "imp.rs",
            "manager.rs",
            "misc.rs",
            "mod.rs",
        ];
        if bad_name
            .iter()
            .any(|bad| name.ends_with(&format!("/{bad}")))
        {
            wrong.push(format!("{name} is named after nothing"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn versions_stand_only_in_the_root_manifest() {
    let mut wrong = Vec::new();
    for package in packages() {
        let manifest = package["manifest_path"].as_str().unwrap();
        let text = std::fs::read_to_string(manifest).unwrap();
        for line in text.lines() {
            let is_version = line.contains("version = \"");
            if is_version {
                wrong.push(format!("{manifest}: {line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The rest of deny.toml needs cargo-deny: see `just deny`.
#[test]
fn crates_come_from_crates_io_and_in_two_versions_only_where_it_is_said_why() {
    const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let read = |name: &str| std::fs::read_to_string(repository().join(name)).unwrap();
    let (lock, rules) = (read("Cargo.lock"), read("deny.toml"));
    let mut wrong = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in lock.split("[[package]]\n").skip(1) {
        let field = |name: &str| {
            let mut lines = package.lines().filter_map(|line| line.split_once(" = "));
            let found = lines.find(|(key, _)| *key == name);
            found.map(|(_, value)| value.trim_matches('"'))
        };
        let name = field("name").unwrap();
        versions
            .entry(name)
            .or_default()
            .insert(field("version").unwrap());
        if field("source").is_some_and(|source| source != CRATES_IO) {
            wrong.push(format!("{name} comes from {}", field("source").unwrap()));
        }
    }
    let skipped: BTreeSet<&str> = rules
        .split("{ crate = \"")
        .filter_map(|rule| {
            rule.split('"')
                .next()
                .filter(|skipped| skipped.contains('@'))
        })
        .collect();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let is_skipped = |version: &&&str| skipped.contains(format!("{name}@{version}").as_str());
        if versions.iter().filter(is_skipped).count() + 1 != versions.len() {
            wrong.push(format!("{name} is there in the versions {versions:?}"));
        }
    }
    for skipped in skipped {
        let (name, version) = skipped.split_once('@').unwrap();
        if !versions
            .get(name)
            .is_some_and(|found| found.len() > 1 && found.contains(version))
        {
            wrong.push(format!(
                "deny.toml: {skipped} is no second version any more"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A feature that only tests turn on makes cargo build the crate, and all that use it, once more.
#[test]
fn the_tests_share_the_build_of_the_program() {
    let features = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--prefix=none", "--format={p} {f}"])
            .args(arguments)
            .current_dir(repository())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
        lines.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let program = features(&["--edges=normal,no-proc-macro"]);
    let tests = features(&["--edges=normal,dev,no-proc-macro", "--workspace"]);
    let built_again: Vec<_> = program.difference(&tests).collect();
    assert!(
        program.len() > 100 && built_again.is_empty(),
        "{built_again:#?}"
    );
}

#[test]
fn no_test_is_ignored_and_none_sleeps() {
    let mut wrong = Vec::new();
    for file in rust_files(&repository()) {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.display().to_string();
        if name.ends_with("tidy.rs") {
            continue;
        }
        if text.contains("#[ignore") {
            wrong.push(format!("{name} ignores a test"));
        }
        let is_test =
            name.contains("/tests/") || name.contains("/promises/") || name.ends_with("/tests.rs");
        if is_test && (text.contains("thread::sleep") || text.contains("time::sleep(")) {
            wrong.push(format!("{name} sleeps"));
        }
        // On a clock that the test owns, past the deadline that it is about, as the latency of a benchmark.
        let may = [
            "device-actors/tests/scripted.rs",
            "engine/tests/fleet.rs",
            "benches/sources/orchestrator.rs",
        ];
        if is_test
            && text.contains("time::sleep_until(")
            && !may.iter().any(|may| name.ends_with(may))
        {
            wrong.push(format!("{name} sleeps until a moment"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nothing_is_downloaded_while_building() {
    let root = repository();
    let settings = std::fs::read_to_string(root.join(".cargo/config.toml")).unwrap();
    assert!(settings.contains("PLAYWRIGHT_SKIP_DRIVER_DOWNLOAD = \"1\""));
    let scripts: Vec<_> = rust_files(&root)
        .into_iter()
        .filter(|file| file.file_name().is_some_and(|name| name == "build.rs"))
        .collect();
    assert!(scripts.is_empty(), "{scripts:#?}");
}

#[test]
fn every_promise_of_drivers_is_in_the_list_that_makes_tests_of_it() {
    let folder = repository().join("drivers/testing");
    let list = std::fs::read_to_string(folder.join("promises.rs")).unwrap();
    let listed: BTreeSet<_> = list.lines().map(str::trim).collect();
    let mut wrong = Vec::new();
    for file in rust_files(&folder.join("promises")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let promises = text.split("\npub async fn ").skip(1);
        let names = promises.filter_map(|promise| promise.split(['(', '<']).next());
        let is_promise = |name: &&str| *name != "begun" && !listed.contains(name);
        wrong.extend(names.filter(is_promise).map(str::to_owned));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Words that the field has better ones for, refused in the names of types.
const REFUSED_WORDS: [(&str, &str); 24] = [
    ("Begun", "Started"),
    ("Belongings", "Resources"),
    ("Came", "Signal"),
    ("Confines", "Permissions"),
    ("Deed", "Effect"),
    ("Desk", "Context"),
    ("Does", "Effect"),
    ("Doing", "Task"),
    ("Doubt", "Probe"),
    ("Elsewhere", "Remote"),
    ("Everybody", "All"),
    ("News", "Message or Update"),
    ("Said", "Message, Line or Update"),
    ("Sighted", "Sighting"),
    ("Sought", "Criteria"),
    ("Standing", "State or Position"),
    ("Surroundings", "Context"),
    ("Told", "Report or Timeline"),
    ("Unfit", "Invalid"),
    ("Unkept", "Guard"),
    ("Wants", "Request"),
    ("Went", "Result"),
    ("Whereabouts", "Location"),
    ("Wish", "Demand"),
];

#[test]
fn types_are_named_with_the_fields_words() {
    let mut wrong = Vec::new();
    for file in rust_files(&repository()) {
        let text = std::fs::read_to_string(&file).unwrap();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let is_type = |word| matches!(word, "struct" | "enum" | "trait" | "type");
            if line.trim_start().starts_with("//") || !words.by_ref().any(is_type) {
                continue;
            }
            let name = words.next().unwrap_or_default();
            let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
            for (word, better) in REFUSED_WORDS {
                let end = |at: usize| name[at + word.len()..].chars().next();
                let is_in = |(at, _)| end(at).is_none_or(|next| !next.is_lowercase());
                if name.match_indices(word).any(is_in) {
                    wrong.push(format!("{}: {name}: rather {better}", file.display()));
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn decisions_are_numbered_without_gaps() {
    let mut numbers: Vec<u32> = std::fs::read_dir(repository().join("docs/decisions"))
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.get(..4)?.parse().ok())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
}

/// Files with as many lines as their names say, the product's and the tests', and what counts as neither.
#[test]
fn lines_are_counted_by_room_without_tests() {
    let folder = tempfile::tempdir().unwrap();
    let inline = "fn product() {}\n\n#[cfg(test)]\nmod tests {\n    const A: &str = r#\"\n}\n\"#;\n}\n\n\
                  /// Product again.\n#[cfg(test)]\n#[derive(Debug)]\nstruct Seen {\n}\n";
    let declared = "#[cfg(test)]\npub(crate) mod only;\nmod own;\n";
    for (path, text) in [
        ("part/src/lib.rs", inline),
        ("part/src/page.rs", declared),
        ("part/src/page/only.rs", "mod deeper;\n"),
        ("part/src/page/only/deeper.rs", "//! Tests.\n\n"),
        ("part/src/page/own.rs", "// Product.\n"),
        ("part/tests/a.rs", "//! Tests.\n"),
        ("part/benches/b.rs", "//! Neither.\n"),
        ("kit/src/a.ts", "// Product.\n"),
        ("kit/src/_generated.py", "# Neither.\n"),
        ("kit/tests/a.py", "# Tests.\n"),
    ] {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let began = Command::new("git")
        .args(["init", "--quiet"])
        .current_dir(folder.path())
        .status();
    assert!(began.unwrap().success());

    let output = Command::new("sh")
        .arg(repository().join("tests/lines.sh"))
        .arg(folder.path())
        .output()
        .unwrap();

    let table = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<Vec<_>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(
        rows,
        [
            ["room", "product", "tests"],
            ["kit", "1", "1"],
            ["part", "6", "16"],
            ["sum", "7", "17"],
        ]
    );
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let skipped = ["target", ".git", "node_modules", ".packtrain", "fuzz"];
        if entry.file_type().unwrap().is_dir() {
            if !skipped.contains(&name.to_str().unwrap()) {
                found.extend(rust_files(&path));
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// With stand-ins for a Mac's programs, as far as these go; what comes after that is what runs this test.
#[test]
fn on_a_mac_the_tests_ask_homebrew_for_a_new_python_and_a_signed_browser() {
    let lab = crate::lab();
    let script = std::fs::read_to_string(repository().join("tests/run.sh")).unwrap();
    let stand_ins =
        "brew() { echo $* > asked; }; python3() { [ -e new ]; }; dirname() { echo tests; }";
    lab.write("tests/run.sh", &format!("{stand_ins}\n{script}"));
    let run = || {
        let mut shell = Command::new("/bin/sh");
        shell.arg("tests/run.sh").current_dir(lab.folder());
        shell.env("PATH", "/nonexistent").env("HOME", lab.folder());
        (Ended::from(shell.output().unwrap()), lab.read("asked"))
    };
    let (ended, asked) = run();
    assert!(ended.expect(2).stderr.contains("Python 3.10 or later"));
    assert!(asked.contains(" python ") && !asked.contains("chromium"));
    lab.write("new", "")
        .write("Applications/Google Chrome.app/x", "");
    let (ended, asked) = run();
    assert!(ended.expect(127).stderr.contains("mkdir"));
    assert!(!asked.contains("python") && !asked.contains("chrome"));
}

#[test]
fn the_script_that_reads_pages_agrees_with_its_types() {
    let page = repository().join("drivers/playwright/src/page");
    let tsc = crate::sources::installed().join("node_modules/.bin/tsc");
    let checked = Command::new(tsc)
        .args(["--noEmit", "--checkJs", "--strict", "--target", "esnext"])
        .args([
            "--lib",
            "esnext,dom,dom.iterable",
            "reading.js",
            "reading.d.ts",
        ])
        .current_dir(page)
        .output()
        .unwrap();
    Ended::from(checked).expect(0);
}
