//! What the program says when it is asked, and when it is asked wrongly.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use packtrain_testing::has;
use packtrain_tests::Ended;

use crate::lab;

#[test]
fn help_names_every_command_and_the_exit_codes() {
    let help = lab().run(&["--help"]).expect(0).stdout;
    for word in [
        "run",
        "demo",
        "check",
        "devices",
        "snapshot",
        "tool",
        "tools",
        "report",
        "doctor",
        "schema",
        "Exit codes",
    ] {
        assert!(help.contains(word), "{word}\n{help}");
    }
}

#[test]
fn an_empty_folder_is_told_what_to_do_first() {
    let lab = lab();
    for command in ["check", "run"] {
        let ended = lab.run(&[command]).expect(3);
        for words in [
            "trails does not exist",
            "trails/NAME.trail.yaml",
            "packtrain demo",
        ] {
            assert!(ended.stderr.contains(words), "{}", ended.stderr);
        }
    }
}

#[test]
fn misuse_ends_with_three_and_a_hint() {
    let lab = lab();
    let ended = lab
        .run(&["run", "nowhere.trail.yaml", "-d", "web/a"])
        .expect(3);
    has(&ended.stderr, &["nowhere.trail.yaml"]);
    lab.run(&["run", "--frobnicate"]).expect(3);
    lab.write("packtrain.yaml", "devices:\n  web:\n    desktop: {}\n");
    lab.write(
        "a.trail.yaml",
        "config: {}\ntrail:\n  - step: \"x\"\n    recording: { web: [] }\n",
    );
    let ended = lab
        .run(&["run", "a.trail.yaml", "-d", "web/dekstop"])
        .expect(3);
    has(&ended.stderr, &["did you mean `web/desktop`?"]);
    let ended = lab
        .run(&["run", "a.trail.yaml", "--tags", "smoke", "-d", "web"])
        .expect(3);
    assert!(ended.stderr.contains("smoke"), "{}", ended.stderr);
}

#[test]
fn a_mistake_in_the_configuration_is_shown_with_its_place() {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "devices:\n  web:\n    desktop: { viewpotr: 10x10 }\n",
    );
    let ended = lab.run(&["devices"]).expect(3);
    for part in ["packtrain.yaml", "3", "viewpotr", "viewport"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
}

#[test]
fn tools_are_listed_and_explained() {
    let lab = lab();
    let list = lab.run(&["tools", "--platform", "web"]).expect(0).stdout;
    for tool in [
        "web_click",
        "web_type",
        "web_navigate",
        "web_scroll",
        "web_hover",
        "web_pressKey",
        "web_selectOption",
        "web_wait",
        "web_snapshot",
        "web_requestDetails",
        "web_resize",
        "web_currentUrl",
        "web_waitForUrl",
        "web_applyCookies",
        "web_getStorageState",
        "web_fillSecret",
        "web_evaluate",
        "web_verifyTextVisible",
        "web_verifyElementVisible",
        "web_verifyValue",
        "web_verifyListVisible",
        "web_assertNetworkEvent",
        "assertEquals",
        "assertNotEquals",
        "assertMath",
        "dumpMemory",
        "wait",
        "runTrail",
    ] {
        assert!(
            list.lines()
                .any(|line| line.split_whitespace().next() == Some(tool)),
            "{tool}\n{list}"
        );
    }
    let one = lab.run(&["tools", "web_click"]).expect(0).stdout;
    assert!(one.contains("nodeSelector") && one.contains("ref"), "{one}");
    // Nothing shown as an example is a mistake.
    let mut calls = String::new();
    for tool in [
        "web_click",
        "web_navigate",
        "web_upload",
        "web_verifyListVisible",
    ] {
        let shown = lab.run(&["tools", tool]).expect(0).stdout;
        let (_, example) = shown.split_once("example:\n").unwrap();
        calls.push_str(
            &example
                .lines()
                .next()
                .unwrap()
                .replace("    - ", "        - "),
        );
        calls.push('\n');
    }
    let recorded =
        format!("- prompts:\n    - step: Show\n      recording:\n        tools:\n{calls}");
    lab.write("t.trail.yaml", &recorded);
    lab.run(&["check", "--strict", "t.trail.yaml"]).expect(0);
    let one = lab.run(&["tools", "pinch"]).expect(0).stdout;
    assert!(one.contains("- pinch: { scale: 2 }"), "{one}");
    let wrong = lab.run(&["tools", "web_clik"]).expect(3).stderr;
    assert!(wrong.contains("did you mean `web_click`?"), "{wrong}");
}

#[test]
fn schemas_are_json() {
    let lab = lab();
    for of in ["trail", "config"] {
        let text = lab.run(&["schema", of]).expect(0).stdout;
        let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(
            schema["properties"].is_object()
                || schema["anyOf"].is_array()
                || schema["oneOf"].is_array(),
            "{of}"
        );
    }
}

#[test]
fn the_schema_of_trails_goes_down_to_the_keys_of_a_selector() {
    let text = lab().run(&["schema", "trail"]).expect(0).stdout;
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let known = &schema["$defs"];
    for tool in ["web_click", "tapOnElementBySelector"] {
        let taken = &known["call"]["properties"][tool]["properties"]["nodeSelector"];
        assert_eq!(taken["anyOf"][0]["$ref"], "#/$defs/NodeSelector", "{tool}");
    }
    // Whatever is referred to is there.
    for reference in text.split("\"#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(known[name].is_object(), "{name}");
    }
    let web = known["NodeSelector"]["properties"]["web"].to_string();
    assert!(web.contains("#/$defs/WebMatch"), "{web}");
    assert!(known["WebMatch"]["properties"]["ariaRole"].is_object());
    assert_eq!(known["WebMatch"]["additionalProperties"], false);
}

#[test]
fn a_tool_can_be_called_by_hand_on_a_page() {
    let lab = lab();
    let page = "data:text/html,<title>T</title><button>Save</button>";
    lab.run(&[
        "tool",
        "web_verifyTextVisible",
        "text=save",
        "-d",
        "web/a",
        "--url",
        page,
    ])
    .expect(0);
    let ended = lab
        .run(&[
            "tool",
            "web_verifyTextVisible",
            "text=Cancel",
            "-d",
            "web/a",
            "--url",
            page,
        ])
        .expect(1);
    assert!(ended.stderr.contains("Cancel"), "{}", ended.stderr);
    let seen = lab
        .run(&["snapshot", "-d", "web/a", "--url", page])
        .expect(0)
        .stdout;
    assert!(seen.contains("[e1] button \"Save\""), "{seen}");
}

#[test]
fn doctor_says_what_is_there() {
    let said = lab().run(&["doctor"]).expect(0).stdout;
    for what in [
        "✓ Chromium or Chrome: ",
        "✓ Firefox: ",
        "✓ Node: v",
        "✓ playwright-core: ",
        "✓ adb: version ",
        " adb server: ",
        " u2.jar: ",
        " usbmuxd: ",
    ] {
        assert!(said.contains(what), "{what}\n{said}");
    }
    assert_eq!(said.contains(" xcrun: "), cfg!(target_os = "macos"));
}

#[test]
fn a_mistake_in_the_configuration_keeps_no_doctor_from_telling_what_is_there() {
    let lab = lab();
    lab.write(
        "packtrain.yaml",
        "devices: { web: { phone: { emulate: iPhone 55 } } }\n",
    );
    // Another Playwright may know it: that is for `check` to say, and for runs that may use it.
    lab.run(&["doctor"]).expect(0);
    lab.run(&["devices"]).expect(0);
    lab.write(
        "a.trail.yaml",
        "trail:\n  - step: \"x\"\n    recording: { web: [], android: [] }\n",
    );
    let run = |device| lab.run(&["run", "a.trail.yaml", "--list", "-d", device]);
    run("virtual:android").expect(0);
    let said = run("phone").expect(3).stderr;
    assert!(said.contains("device `iPhone 55`"), "{said}");
    lab.write(
        "packtrain.yaml",
        "devices: { web: { phone: { locale: de_DE } } }\n",
    );
    let ended = lab.run(&["doctor"]).expect(3);
    assert!(ended.stdout.contains("playwright-core: "), "{ended:?}");
    assert!(ended.stderr.contains("`de_DE` is not"), "{ended:?}");
}

/// What doctor says with only these programs to be found, and nothing installed.
fn doctor(programs: &[(&str, &str)], flags: &[&str]) -> Ended {
    let lab = lab();
    for (name, script) in programs {
        lab.write(&format!("bin/{name}"), script);
        let file = lab.folder().join("bin").join(name);
        std::fs::set_permissions(file, Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = lab.command(&[&["doctor"], flags].concat());
    command
        .env("PATH", lab.folder().join("bin"))
        .env("PACKTRAIN_HOME", lab.folder().join("home"))
        .env("ANDROID_ADB_SERVER_PORT", "9");
    for variable in [
        "ANDROID_HOME",
        "ANDROID_SDK_ROOT",
        "PACKTRAIN_BROWSER",
        "PACKTRAIN_NODE",
    ] {
        command.env_remove(variable);
    }
    command.output().unwrap().into()
}

#[test]
fn without_any_browser_doctor_says_how_to_get_one_from_the_system() {
    let said = doctor(&[], &[]).expect(2).stdout;
    assert!(said.contains("apt-get install chromium"), "{said}");
    let said = doctor(&[("dnf", "")], &[]).expect(2).stdout;
    let (browser, rest) = said.split_once("✗ Node").unwrap();
    assert!(browser.contains("dnf install chromium"), "{said}");
    assert!(
        !browser.contains("apt-get") && !browser.contains("--fix"),
        "{said}"
    );
    assert!(rest.contains("doctor --fix"), "{said}");
    for what in [
        "- adb: missing",
        "- adb server: missing",
        "- u2.jar: missing",
    ] {
        assert!(rest.contains(what), "{what}\n{said}");
    }
}

#[test]
fn a_node_that_is_too_old_is_told_with_the_version_that_is_needed() {
    let said = doctor(&[("node", "#!/bin/sh\necho v18.20.4\n")], &[])
        .expect(2)
        .stdout;
    assert!(said.contains("✗ Node: v18.20.4 at "), "{said}");
    assert!(said.contains("needs 20 or later"), "{said}");
    assert!(said.contains("https://nodejs.org"), "{said}");
}

#[test]
fn the_oldest_node_is_the_one_that_playwright_core_asks_for() {
    use packtrain_driver_playwright::install;
    let found = install::find(&install::SearchPaths::from_environment(|name| {
        std::env::var_os(name)
    }));
    let manifest = found.cli.unwrap().with_file_name("package.json");
    let manifest = std::fs::read_to_string(manifest).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(
        manifest["engines"]["node"],
        format!(">={}", install::OLDEST_NODE)
    );
}

#[test]
fn fix_tries_everything_and_says_what_it_could_not_install() {
    // An npm that works and no Python: the jar cannot be had, playwright-core can.
    let npm = "#!/bin/sh\nwhile [ \"$1\" != --prefix ]; do shift; done\n\
        /bin/mkdir -p \"$2/node_modules/playwright-core\"\n\
        echo '{ \"version\": \"1.64.0\" }' > \"$2/node_modules/playwright-core/package.json\"\n\
        : > \"$2/node_modules/playwright-core/cli.js\"\n";
    assert!(doctor(&[], &["--fix"]).stderr.contains("brew install node"));
    let ended = doctor(&[("npm", npm)], &["--fix"]).expect(2);
    has(&ended.stdout, &["✓ playwright-core: 1.64.0 at "]);
    for part in ["cannot install u2.jar", "no Python 3 with pip", "hint:"] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
}

#[test]
fn reports_can_be_rebuilt() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config: { id: a }\ntrail:\n  - step: \"x\"\n    recording: { web: [] }\n",
    );
    lab.run(&["run", "a.trail.yaml", "-d", "web/a"]).expect(0);
    let folder = lab.run_folder();
    let before = lab.read(folder.join("junit.xml"));
    for report in ["junit.xml", "report.html", "report.json"] {
        std::fs::remove_file(folder.join(report)).unwrap();
    }
    lab.run(&["report", "latest", "--junit", "ci/junit.xml"])
        .expect(0);
    assert_eq!(lab.read(folder.join("junit.xml")), before);
    assert_eq!(lab.read("ci/junit.xml"), before);
    assert!(folder.join("report.html").is_file());
}

#[test]
fn runs_are_listed_with_their_time_duration_and_counts() {
    let lab = lab();
    let trail = |name: &str, skip: &str| {
        let text = format!(
            "config: {{ id: {name}{skip} }}\ntrail:\n  - step: \"x\"\n    recording: {{ web: [] }}\n"
        );
        lab.write(&format!("{name}.trail.yaml"), &text);
    };
    trail("a", "");
    trail("b", ", skip: { web: not yet }");
    let trails = ["run", "a.trail.yaml", "b.trail.yaml", "-d", "web/a,web/b"];
    lab.run(&trails).expect(0);
    let folder = lab.run_folder();
    let id = folder.file_name().unwrap().to_str().unwrap();
    let listed = lab.run(&["runs"]).expect(0).stdout;
    let row = listed.lines().nth(1).unwrap();
    let day = format!("{}-{}-{} ", &id[..4], &id[4..6], &id[6..8]);
    for part in [id, &day, "  passed  ", "  2 skipped, 2 passed  ", "  a, b"] {
        assert!(row.contains(part), "{part}\n{listed}");
    }
    let listed = lab.run(&["runs", "--format", "json"]).expect(0).stdout;
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let run = &listed["runs"][0];
    assert_eq!(
        (&run["run"], &run["verdict"]["passed"]),
        (&id.into(), &2.into())
    );
    assert!(run["duration_ms"].as_f64().unwrap() > 0.0, "{run}");
    assert!(run["started_at"].is_string(), "{run}");
}

#[test]
fn an_address_that_leads_nowhere_fails_and_one_that_is_none_is_misuse() {
    let lab = lab();
    let at = |url: &str| lab.run(&["tool", "web_currentUrl", "-d", "web/a", "--url", url]);
    at("http://nowhere.invalid/").expect(1);
    let ended = at("not an address").expect(3);
    has(&ended.stderr, &["not an absolute URL"]);
}

#[test]
fn a_misspelled_tool_is_refused_before_anything_runs() {
    let lab = lab();
    let text = "config: {}\ntrail:\n  - step: \"x\"\n    recording:\n      web:\n        - web_clik: { ref: e1 }\n";
    lab.write("a.trail.yaml", text);
    let said = lab.run(&["run", "a.trail.yaml", "-d", "web"]).expect(3);
    for part in ["a.trail.yaml:6:11", "did you mean `web_click`?"] {
        assert!(said.stderr.contains(part), "{part}\n{}", said.stderr);
    }
    assert!(!lab.folder().join(".packtrain").exists());
    // What only other devices would call keeps nobody from running.
    lab.write(
        "a.trail.yaml",
        &text.replace("web:", "web: []\n      desktop:"),
    );
    lab.run(&["run", "a.trail.yaml", "-d", "web"]).expect(0);
}

#[test]
fn flags_of_trailblaze_are_taken_and_said_to_have_no_effect_once() {
    let lab = lab();
    lab.write(
        "a.trail.yaml",
        "config: {}\ntrail:\n  - step: \"x\"\n    recording: { web: [] }\n",
    );
    let flags = [
        "trail",
        "a.trail.yaml",
        "-d",
        "web",
        "--headless",
        "--use-recorded-steps",
        "--no-record",
        "--no-save-recording",
        "--no-logging",
        "--capture-all",
        "--llm",
        "openai/gpt-5",
        "--max-llm-calls=5",
        "--no-report",
    ];
    let ended = lab.run(&flags).expect(0);
    let told: Vec<_> = ended
        .stderr
        .lines()
        .filter(|l| l.contains("no effect"))
        .collect();
    assert_eq!(
        told,
        ["note: no effect here: --capture-all, --llm, --max-llm-calls, --no-logging"],
        "{}",
        ended.stderr
    );
    assert!(!lab.run_folder().join("report.html").exists());
    assert!(lab.run_folder().join("events.ndjson").exists());
    let help = lab.run(&["run", "--help"]).expect(0).stdout;
    assert!(!help.contains("--no-logging"), "{help}");
    assert!(help.contains("--no-daemon"), "{help}");
    lab.run(&["run", "a.trail.yaml", "--no-headless", "--headless"])
        .expect(3);
}

#[test]
fn a_run_of_which_nothing_ran_for_want_of_a_driver_is_no_pass() {
    let lab = lab();
    let pinned = |pin: &str| {
        format!(
            "config:\n  devices: {{ web: {pin} }}\ntrail:\n  - step: \"x\"\n    recording: {{ web: [] }}\n"
        )
    };
    lab.write("desktop.trail.yaml", &pinned("PLAYWRIGHT_ELECTRON"));
    let ended = lab
        .run(&["run", "desktop.trail.yaml", "-d", "web"])
        .expect(2);
    for part in ["Nothing ran, ", "PLAYWRIGHT_ELECTRON", "hint: "] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
    // Beside something that ran it is only skipped.
    lab.write("page.trail.yaml", &pinned("PLAYWRIGHT_NATIVE"));
    lab.run(&["run", "desktop.trail.yaml", "page.trail.yaml", "-d", "web"])
        .expect(0);
}
