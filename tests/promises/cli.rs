//! What the program says when it is asked, and when it is asked wrongly.

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
fn misuse_ends_with_three_and_a_hint() {
    let lab = lab();
    let ended = lab
        .run(&["run", "nowhere.trail.yaml", "-d", "web/a"])
        .expect(3);
    assert!(
        ended.stderr.contains("nowhere.trail.yaml"),
        "{}",
        ended.stderr
    );
    lab.run(&["run", "--frobnicate"]).expect(3);
    lab.write("packtrain.yaml", "devices:\n  web:\n    desktop: {}\n");
    lab.write(
        "a.trail.yaml",
        "config: {}\ntrail:\n  - step: \"x\"\n    recording: { web: [] }\n",
    );
    let ended = lab
        .run(&["run", "a.trail.yaml", "-d", "web/dekstop"])
        .expect(3);
    assert!(
        ended.stderr.contains("did you mean `web/desktop`?"),
        "{}",
        ended.stderr
    );
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
    assert!(
        said.contains("playwright-core") && said.contains("Chromium"),
        "{said}"
    );
}

#[test]
fn without_any_browser_doctor_says_how_to_get_one() {
    let lab = lab();
    let output = lab
        .command(&["doctor"])
        .env("PATH", "/nonexistent")
        .env("PACKTRAIN_HOME", "/nonexistent")
        .output()
        .unwrap();
    let ended = packtrain_tests::Ended::from(output).expect(2);
    assert!(
        ended.stdout.contains("apt-get install chromium"),
        "{}",
        ended.stdout
    );
}

#[test]
fn reports_can_be_made_anew() {
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
    let runs = lab.run(&["runs"]).expect(0).stdout;
    assert!(
        runs.contains(folder.file_name().unwrap().to_str().unwrap()),
        "{runs}"
    );
}
