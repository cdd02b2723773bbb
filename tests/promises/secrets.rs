//! What is secret is in no file of a run and in nothing that the program says.

use std::path::{Path, PathBuf};

use packtrain_testing::has;
use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::{Ended, Lab, ended, interrupt, stopping, until};

use crate::lab;

const NAME: &str = "PROMISED_SECRET";
const VALUE: &str = "correct-horse 7\"battery";

/// Words, titles, tags, memory and arguments of tools that name the secret, on a page that shows,
/// logs and requests it, with a last step that fails because of it.
const TRAIL: &str = r#"
config:
  id: leaky
  title: "Sign in with {{PROMISED_SECRET}}"
  description: "With {{PROMISED_SECRET}}"
  tags: ["t-{{PROMISED_SECRET}}"]
  memory: { same: "{{PROMISED_SECRET}}" }
trail:
  - step: "Open the page of {{PROMISED_SECRET}}"
    recording:
      web:
        - web_navigate: { url: "data:text/html,<title>T</title><p id=p>Here</p><input aria-label=Pass>" }
        - web_evaluate: { script: "console.error('logged {{PROMISED_SECRET}}'.replace(/x/g, ''))" }
        - web_evaluate: { script: "document.title = document.getElementById('p').textContent = `{{same}}`" }
        - web_type: { text: "{{PROMISED_SECRET}}", ref: 'textbox "Pass"' }
        - runTrail: { path: inner.trail.yaml }
  - verify: "It shows {{same}} and {{PROMISED_SECRET}}"
    recording:
      web:
        - web_verifyTextVisible: { text: "not {{PROMISED_SECRET}}" }
"#;

const INNER: &str = r#"
config: { id: inner }
trail:
  - step: "Say {{PROMISED_SECRET}}"
    recording:
      web:
        - dumpMemory: {}
        - runCommand: { command: "echo 'told {{PROMISED_SECRET}}'" }
"#;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// Where a secret shows, of which these are parts.
fn leaks(lab: &Lab, ended: &Ended, parts: &[&str]) -> Vec<String> {
    let mut texts = vec![
        ("stdout".to_owned(), ended.stdout.clone().into_bytes()),
        ("stderr".to_owned(), ended.stderr.clone().into_bytes()),
    ];
    for path in files(&lab.folder().join(".packtrain")) {
        let name = path.display().to_string();
        texts.push((name.clone(), std::fs::read(&path).unwrap()));
        texts.push((format!("the name {name}"), name.into_bytes()));
    }
    assert!(texts.len() > 8, "nothing was looked at");
    let found = |bytes: &[u8]| {
        parts.iter().any(|part| {
            bytes
                .windows(part.len())
                .any(|window| window == part.as_bytes())
        })
    };
    texts
        .into_iter()
        .filter(|(_, bytes)| found(bytes))
        .map(|(name, bytes)| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let line = text.lines().find(|line| found(line.as_bytes()));
            format!("{name}: {}", line.unwrap_or_default())
        })
        .collect()
}

fn run(lab: &Lab, value: &str, arguments: &[&str]) -> Ended {
    let mut command = lab.command(&["run", "leaky.trail.yaml", "-d", "web/a", "--secret", NAME]);
    command
        .args(arguments)
        .env(NAME, value)
        .output()
        .unwrap()
        .into()
}

#[test]
fn a_secret_is_in_no_file_of_the_run_and_in_nothing_that_is_said() {
    let lab = lab();
    lab.write("leaky.trail.yaml", TRAIL)
        .write("inner.trail.yaml", INNER);
    for format in ["text", "json"] {
        let ended = run(&lab, VALUE, &["--format", format, "--retries", "1"]).expect(1);
        let parts = ["correct-horse", "7\"battery", "7%22battery", "horse%207"];
        assert_eq!(leaks(&lab, &ended, &parts), Vec::<String>::new());
    }
    let report = lab.read(lab.run_folder().join("report.json"));
    has(&report, &["Sign in with {{PROMISED_SECRET}}"]);
}

#[test]
fn a_mistake_in_a_trail_does_not_tell_a_secret() {
    let lab = lab();
    let trail = "config: {}\ntrail:\n  - step: x\n    recording: { web: \"{{PROMISED_SECRET}}\" }\n    kind: \"{{PROMISED_SECRET}}\"\n";
    lab.write("leaky.trail.yaml", trail);
    let ended = run(&lab, VALUE, &["--tags", "a"]).expect(3);
    assert!(!ended.stderr.contains("correct-horse"), "{}", ended.stderr);
}

/// Says the address of the page in every way that a page can, and asks for one like it in vain.
const ADDRESS: &str = r#"
config: { id: leaky }
trail:
  - step: "Open an address"
    recording:
      web:
        - web_navigate: { url: "FOLDER/page.html?q={{PROMISED_SECRET}}#{{PROMISED_SECRET}}" }
  - verify: "It is another one"
    recording:
      web:
        - web_verifyTextVisible: { text: "no such text" }
"#;

const PAGE: &str = r#"<!doctype html><title>T</title><body><script>
const given = decodeURIComponent(location.hash.slice(1));
const query = new URLSearchParams({ q: given });
const link = document.createElement("a");
link.href = location.href;
link.title = given;
const ways = [
  location.href, query, encodeURIComponent(given), encodeURIComponent(encodeURI(given)),
  escape(given), JSON.stringify({ given }), JSON.stringify(JSON.stringify(given)),
  link.outerHTML, btoa(given), btoa("user:" + given), "http://h/" + encodeURI(given),
];
for (const way of ways) {
  console.error(`${way}`);
  document.body.appendChild(document.createElement("p")).textContent = way;
}
document.title = location.href;
document.body.appendChild(link).textContent = "link";
fetch("http://localhost:1/?" + query).catch((error) => console.error(error));
setTimeout(() => { throw new Error(location.href); });
</script>"#;

#[test]
fn a_secret_in_an_address_shows_in_no_encoding_of_the_browser() {
    let lab = lab();
    let folder = format!("file://{}", lab.folder().display());
    lab.write("leaky.trail.yaml", &ADDRESS.replace("FOLDER", &folder))
        .write("page.html", PAGE);
    let ended = run(&lab, "s3cr3t k&y/\"q\"", &[]).expect(1);
    let said = lab.read(lab.run_folder().join("events.ndjson"));
    assert!(said.contains("page.html?q={{PROMISED_SECRET}}#{{PROMISED_SECRET}}"));
    let parts = ["s3cr3t", "s%33", "czNjcjN0", "y/%22q", "k&amp;y"];
    assert_eq!(leaks(&lab, &ended, &parts), Vec::<String>::new());
}

/// Writes a secret to the device's log and waits.
const LOGGING: &str = r#"
config: { id: log }
trail:
  - step: "Log it, with a screen that does not turn back"
    recording:
      android:
        - mobile_maestro: { commands: [{ setOrientation: LANDSCAPE_LEFT }] }
        - android_adbShell: { command: [log, -t, Shop, "token={{token}}"] }
        - wait: { timeToWaitInSeconds: 300 }
"#;

#[test]
fn a_secret_in_a_devices_log_goes_with_a_run_that_is_cut_short() {
    let lab = lab();
    lab.write("log.trail.yaml", LOGGING)
        .write(
            "packtrain.yaml",
            "devices: { virtual: { faults: faults.yaml } }\n",
        )
        .write(
            "faults.yaml",
            "rules: [{ match: { command: 'user_rotation 0' }, do: { delay: 600000 } }]\n",
        );
    let run = ["run", "log.trail.yaml", "-d", "virtual:android"];
    let mut child = lab.start(&[&run[..], &["--secret", "token=swordfish"]].concat());
    let log = lab.folder().join(".packtrain/runs/latest/logs");
    until(|| {
        let logged = |file: &PathBuf| std::fs::read_to_string(file).unwrap().contains("swordfish");
        log.is_dir() && files(&log).iter().any(logged)
    });
    interrupt(&child);
    stopping(&mut child);
    interrupt(&child);
    let ended = ended(child).expect(2);
    assert_eq!(leaks(&lab, &ended, &["swordfish"]), Vec::<String>::new());
}

#[test]
fn a_secret_in_a_devices_log_goes_with_a_run_on_the_daemon_that_is_killed() {
    let program = env!("CARGO_BIN_EXE_packtrain-under-test");
    let lab = AgentLab::new(program, "devices: { virtual: { android: 1 } }\n");
    lab.lab().write("log.trail.yaml", LOGGING);
    lab.daemon();
    let run = ["run", "log.trail.yaml", "-d", "android"];
    let mut run = lab.start(&[&run[..], &["--secret", "token=swordfish"]].concat());
    let kept = lab.lab().folder().join(".packtrain/runs");
    let holds = |file: &PathBuf| {
        let content = std::fs::read(file).unwrap_or_default();
        content.windows(9).any(|part| part == b"swordfish")
    };
    until(|| kept.is_dir() && files(&kept).iter().any(holds));
    run.kill().unwrap();
    run.wait().unwrap();
    until(|| !files(&kept).iter().any(holds));
}
