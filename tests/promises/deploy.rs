//! The recipes in `deploy` hold together: they parse, name what exists, agree on versions, and
//! what a shell runs in them works. The systems they are for are not here.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use packtrain_model::source::Source;
use packtrain_model::yaml;
use packtrain_tests::{Ended, Lab, repository};
use serde_json::Value;

use crate::lab;
use crate::snippets::{calls, misunderstood};

/// Every recipe. Pages are tried with the other pages.
pub const RECIPES: [&str; 4] = [CONTAINERFILE, COMPOSE, GITHUB, GITLAB];

const CONTAINERFILE: &str = "deploy/docker/Containerfile";
const COMPOSE: &str = "deploy/docker/compose.yaml";
const GITHUB: &str = "deploy/github/packtrain.yml";
const GITLAB: &str = "deploy/gitlab/packtrain.gitlab-ci.yml";

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

fn recipe(path: &str) -> Value {
    let read = yaml::read(&Source::new(path, read(path)));
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    read.value.unwrap().to_json()
}

/// The instructions of the Containerfile: its word and what follows, continuations joined.
fn instructions() -> Vec<(String, String)> {
    let text: String = read(CONTAINERFILE)
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect();
    text.replace("\\\n", " ")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(word, rest)| (word.to_owned(), rest.trim().to_owned()))
        .collect()
}

/// The shell snippets of the recipes, each with the place it stands at.
fn snippets() -> Vec<(String, String)> {
    let mut found: Vec<_> = instructions()
        .into_iter()
        .filter(|(word, _)| word == "RUN")
        .map(|(_, script)| (CONTAINERFILE.to_owned(), script))
        .collect();
    for step in github_steps() {
        if let Some(script) = step["run"].as_str() {
            found.push((format!("{GITHUB}, {}", step["name"]), script.to_owned()));
        }
    }
    found.push((format!("{GITLAB}, script"), gitlab_script("script")));
    found
}

fn github_steps() -> Vec<Value> {
    recipe(GITHUB)["jobs"]["trails"]["steps"]
        .as_array()
        .unwrap()
        .clone()
}

fn github_script(name: &str) -> String {
    let step = github_steps().into_iter().find(|step| step["name"] == name);
    step.unwrap_or_else(|| panic!("no step {name}"))["run"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn gitlab_script(part: &str) -> String {
    let lines = recipe(GITLAB)["packtrain"][part]
        .as_array()
        .unwrap()
        .clone();
    let lines: Vec<_> = lines.iter().map(|line| line.as_str().unwrap()).collect();
    lines.join("\n")
}

/// Runs a script as the systems do, with the program on the search path.
fn run(lab: &Lab, script: &str, variables: &[(&str, &str)]) -> Ended {
    let bin = lab.folder().join("bin");
    if !bin.exists() {
        std::fs::create_dir(&bin).unwrap();
        let program = env!("CARGO_BIN_EXE_packtrain-under-test");
        std::os::unix::fs::symlink(program, bin.join("packtrain")).unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command
        .args(["-ec", script])
        .current_dir(lab.folder())
        .env("PATH", format!("{}:{path}", bin.display()))
        .env("XDG_CONFIG_HOME", lab.folder().join(".config"))
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    command.output().unwrap().into()
}

/// A project with one trail that fails on its second step.
fn project() -> Lab {
    let lab = lab();
    lab.write("packtrain.yaml", "devices: { web: { desk: {} } }\n").write(
        "trails/page.trail.yaml",
        "config: { id: page }\ntrail:\n  - step: \"Open\"\n    recording:\n      web:\n        - web_navigate: { url: \"data:text/html,<p>Here</p>\" }\n  - verify: \"There\"\n    recording:\n      web:\n        - web_verifyTextVisible: { text: There }\n",
    );
    lab
}

#[test]
fn recipes_have_the_shape_their_systems_read() {
    for service in ["app", "runner"] {
        let service = &recipe(COMPOSE)["services"][service];
        assert!(
            service["image"].is_string() && service["command"].is_array(),
            "{service}"
        );
    }
    for step in github_steps() {
        assert!(
            step["uses"].is_string() != step["run"].is_string(),
            "{step}"
        );
    }
    let job = &recipe(GITLAB)["packtrain"];
    assert_eq!(job["artifacts"]["when"], "always");
    let junit = job["artifacts"]["reports"]["junit"].as_str().unwrap();
    assert!(
        gitlab_script("script").contains(&format!("--junit {junit} ")),
        "{junit}"
    );
    let exposed = job["artifacts"]["paths"][0].as_str().unwrap();
    assert!(
        gitlab_script("script").ends_with(&format!("--html {exposed}")),
        "{exposed}"
    );
}

#[test]
fn playwright_core_is_the_version_the_driver_was_tried_with() {
    let source = read("drivers/playwright/src/install.rs");
    let tried = source.split_once("PLAYWRIGHT_CORE: &str = \"").unwrap().1;
    let tried = tried.split_once('"').unwrap().0;
    let argument = instructions()
        .into_iter()
        .find(|(word, _)| word == "ARG")
        .unwrap()
        .1;
    assert_eq!(argument, format!("PLAYWRIGHT_CORE={tried}"));
    assert_eq!(recipe(GITHUB)["env"]["PLAYWRIGHT_CORE"], tried);
}

#[test]
fn the_builder_has_the_compiler_the_workspace_asks_for() {
    let manifest = read("Cargo.toml");
    let asked = manifest
        .split_once("rust-version = \"")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0;
    let (_, from) = instructions().into_iter().next().unwrap();
    assert!(
        from.contains(&format!("/rust:{asked}-")),
        "{from} is not for {asked}"
    );
}

#[test]
fn the_containerfile_copies_what_exists_from_stages_that_exist() {
    let (mut stages, mut copied, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for (word, rest) in instructions() {
        let words: Vec<_> = rest.split_whitespace().collect();
        match (word.as_str(), words.as_slice()) {
            ("FROM", [image, more @ ..]) => {
                let is_stage = stages.iter().any(|stage| stage == image);
                if !is_stage && !image.contains('/') {
                    wrong.push(format!(
                        "FROM {image}: neither a stage nor a whole name of an image"
                    ));
                }
                if let ["AS", name] = more {
                    stages.push((*name).to_owned());
                }
            }
            ("COPY", [from, ..]) if from.starts_with("--from=") => {
                let is_stage = |stage: &String| *from == format!("--from={stage}");
                wrong.extend(
                    (!stages.iter().any(is_stage)).then(|| format!("COPY {rest}: no such stage")),
                );
            }
            ("COPY", [sources @ .., _]) => {
                for source in sources {
                    if !repository().join(source).exists() {
                        wrong.push(format!("COPY {source}: no such file"));
                    }
                    copied.push(source.trim_end_matches('/').to_owned());
                }
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Cargo refuses a workspace whose members are missing.
    let manifest = read("Cargo.toml");
    let members = manifest
        .split_once("members = [")
        .unwrap()
        .1
        .split_once(']')
        .unwrap()
        .0;
    for member in members.split('"').skip(1).step_by(2) {
        let is_there = copied
            .iter()
            .any(|folder| member == folder || member.starts_with(&format!("{folder}/")));
        assert!(is_there, "the builder lacks {member}");
    }
    let ignored = read("deploy/docker/Containerfile.dockerignore");
    for folder in &copied {
        assert!(
            !ignored.lines().any(|line| line == folder),
            "{folder} is ignored"
        );
    }
}

#[test]
fn every_call_of_the_program_is_understood() {
    let lab = lab();
    let mut found: Vec<Vec<String>> = snippets()
        .iter()
        .flat_map(|(_, script)| calls(&script.replace("$BASE_URL", "http://127.0.0.1:9/")))
        .collect();
    let strings = |value: &Value| -> Vec<String> {
        let items = value.as_array().unwrap().iter();
        items
            .map(|item| item.as_str().unwrap().to_owned())
            .collect()
    };
    found.push(strings(&recipe(COMPOSE)["services"]["runner"]["command"]));
    let command = instructions()
        .into_iter()
        .find(|(word, _)| word == "CMD")
        .unwrap()
        .1;
    found.push(strings(&serde_json::from_str(&command).unwrap()));
    assert!(found.len() > 7, "{found:?}");
    let wrong: Vec<_> = found
        .iter()
        .filter_map(|call| misunderstood(&lab, call))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn launchd_keeps_a_host_up_just_as_systemd_does() {
    let unit = read("deploy/farm/systemd/packtrain-host.service");
    let unit = |name: &str| {
        let mut settings = unit.lines().filter_map(|line| line.split_once('='));
        settings.find(|(key, _)| *key == name).unwrap().1
    };
    // Python's own reader of Apple's property lists.
    let print = "import json, plistlib; print(json.dumps(plistlib.load(open(0, 'rb'))))";
    let agent = repository().join("deploy/farm/launchd/packtrain-host.plist");
    let mut reader = Command::new("python3");
    reader
        .args(["-c", print])
        .stdin(std::fs::File::open(agent).unwrap());
    let agent: Value = serde_json::from_slice(&reader.output().unwrap().stdout).unwrap();
    let call: Vec<_> = unit("ExecStart").split(' ').map(Value::from).collect();
    assert_eq!(agent["ProgramArguments"], Value::from(call));
    assert_eq!(unit("Restart") == "always", agent["KeepAlive"] == true);
    assert_eq!(unit("RestartSec"), agent["ThrottleInterval"].to_string());
    assert_eq!(unit("TimeoutStopSec"), agent["ExitTimeOut"].to_string());
}

#[test]
fn shell_snippets_are_shell_and_take_nothing_from_expressions() {
    for (place, script) in snippets() {
        // An expression would be pasted into the script, whatever a branch's name says.
        assert!(!script.contains("${{"), "{place}: {script}");
        let checked = Command::new("sh")
            .args(["-n", "-c", &script])
            .output()
            .unwrap();
        assert!(
            checked.status.success(),
            "{place}: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
    }
}

#[test]
fn the_github_recipe_fails_with_the_trails_and_still_tells_what_happened() {
    let lab = project();
    let variables = [
        ("TRAILS", "trails"),
        ("BASE_URL", "http://127.0.0.1:9/"),
        ("GITHUB_STEP_SUMMARY", "summary.md"),
    ];
    run(&lab, &github_script("Check the trails"), &variables).expect(0);
    run(&lab, &github_script("Run the trails"), &variables).expect(1);
    let summary = lab.read("summary.md");
    for part in [
        "web/desk",
        "the text \"There\" is not on the page",
        "1 failed",
    ] {
        assert!(summary.contains(part), "{part}\n{summary}");
    }
    for report in ["packtrain/junit.xml", "packtrain/report.html"] {
        assert!(lab.read(report).contains("There"), "{report}");
    }
}

#[test]
fn the_gitlab_recipe_leaves_reports_with_attachments_gitlab_finds() {
    let lab = project();
    let folder = lab.folder().to_str().unwrap();
    let variables = [
        ("TRAILS", "trails"),
        ("BASE_URL", "http://127.0.0.1:9/"),
        ("CI_PROJECT_DIR", folder),
    ];
    run(&lab, &gitlab_script("script"), &variables).expect(1);
    let junit = lab.read("packtrain-junit.xml");
    let attached: Vec<_> = junit
        .split("[[ATTACHMENT|")
        .skip(1)
        .map(|rest| rest.split("]]").next().unwrap())
        .collect();
    assert!(!attached.is_empty(), "{junit}");
    for path in attached {
        assert!(
            !path.starts_with('/') && lab.folder().join(path).is_file(),
            "{path}"
        );
    }
}

#[test]
fn the_github_recipe_builds_packtrain_from_a_checkout_and_has_nothing_to_fill_in() {
    let text = read(GITHUB);
    for placeholder in ["example/", "00000000"] {
        assert!(!text.contains(placeholder), "{placeholder}");
    }
    let checkout = github_steps()
        .into_iter()
        .find(|step| step["name"] == "Get Packtrain's source")
        .unwrap();
    let path = checkout["with"]["path"].as_str().unwrap();
    let lab = lab();
    std::os::unix::fs::symlink(repository(), lab.folder().join(path)).unwrap();
    // A stand-in for cargo: what it is told to install must be a package with the program.
    lab.write(
        "bin/cargo",
        "#!/bin/sh\nset -e\n[ \"$1 $2 $3\" = 'install --locked --path' ]\ngrep -q 'name = \"packtrain\"' \"$4/Cargo.toml\"\n: > installed\n",
    );
    let cargo = lab.folder().join("bin/cargo");
    std::fs::set_permissions(cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let home = lab.folder().to_str().unwrap();
    let variables = [("HOME", home), ("GITHUB_OUTPUT", "output")];
    run(&lab, &github_script("Install Packtrain"), &variables).expect(0);
    assert!(lab.folder().join("installed").exists());
    run(&lab, &github_script("Find its revision"), &variables).expect(0);
    let revision = lab.read("output");
    let revision = revision.trim().strip_prefix("revision=").unwrap();
    assert_eq!(revision.len(), 40, "{revision}");
}
