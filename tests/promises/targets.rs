//! Which app a trail is about, and where relative addresses lead: the closest word counts.

use packtrain_testing::has;
use packtrain_tests::Lab;

use crate::lab;

/// A project in which every address is a page that says where it lies.
fn project(trail_target: &str) -> Lab {
    let lab = lab();
    for folder in ["default", "named", "device", "flag"] {
        let page = format!("<title>{folder}</title><p>from {folder}</p>");
        lab.write(&format!("{folder}/page.html"), &page);
    }
    let base = |folder: &str| format!("file://{}/{folder}/", lab.folder().display());
    lab.write(
        "packtrain.yaml",
        &format!(
            "target: one\ntargets:\n  one: {{ baseUrl: \"{}\" }}\n  two: {{ baseUrl: \"{}\" }}\ndevices:\n  web:\n    plain: {{}}\n    own: {{ baseUrl: \"{}\" }}\n",
            base("default"),
            base("named"),
            base("device"),
        ),
    );
    lab.write(
        "page.trail.yaml",
        &format!(
            "config: {{ id: page, {trail_target} }}\ntrail:\n  - step: \"Open\"\n    recording:\n      web:\n        - web_navigate: {{ url: page.html }}\n        - web_evaluate: {{ script: document.title }}\n"
        ),
    );
    lab
}

/// What the page that was opened on a device says.
fn opened(lab: &Lab, device: &str, flags: &[&str]) -> String {
    let run = [
        "run",
        "page.trail.yaml",
        "-d",
        device,
        "--screenshots",
        "none",
    ];
    lab.run(&[run.as_slice(), flags].concat()).expect(0);
    let answered = lab
        .events()
        .into_iter()
        .find(|event| event["event"] == "tool_finished" && event["tool"] == "web_evaluate");
    answered.unwrap()["answer"].as_str().unwrap().to_owned()
}

#[test]
fn a_trail_that_names_a_target_is_about_that_one() {
    assert_eq!(opened(&project(""), "web/plain", &[]), "default");
    let lab = project("target: two");
    assert_eq!(opened(&lab, "web/plain", &[]), "named");
    assert_eq!(opened(&lab, "web/plain", &["--target", "one"]), "default");
    let address = format!("target: \"file://{}/flag/\"", lab.folder().display());
    let trail = lab.read("page.trail.yaml").replace("target: two", &address);
    lab.write("page.trail.yaml", &trail);
    assert_eq!(opened(&lab, "web/plain", &[]), "flag");
}

#[test]
fn the_address_of_a_device_counts_before_that_of_the_target_and_the_flag_before_both() {
    let lab = project("target: two");
    assert_eq!(opened(&lab, "web/own", &[]), "device");
    let flag = format!("file://{}/flag/", lab.folder().display());
    assert_eq!(opened(&lab, "web/own", &["--base-url", &flag]), "flag");
    assert_eq!(opened(&lab, "web/plain", &["--base-url", &flag]), "flag");
}

#[test]
fn a_look_and_a_call_by_hand_open_addresses_where_a_run_would() {
    let lab = project("");
    for (device, at) in [("web/plain", "default"), ("web/own", "device")] {
        let look = lab
            .run(&["snapshot", "-d", device, "--url", "page.html"])
            .expect(0);
        has(&look.stdout, &[&format!("from {at}")]);
        let script = "script=document.title";
        let call = [
            "tool",
            "web_evaluate",
            script,
            "-d",
            device,
            "--url",
            "page.html",
        ];
        assert_eq!(lab.run(&call).expect(0).stdout.trim(), at);
    }
}

#[test]
fn a_target_that_is_an_app_id_is_what_templates_and_launches_mean() {
    let lab = lab();
    lab.write(
        "app.trail.yaml",
        "config: { id: app, target: com.example.shop }\ntrail:\n  - step: \"Launch\"\n    recording:\n      android:\n        - launchApp: { appId: \"{{target.appId}}\" }\n        - assertVisibleWithText: { text: Sign in }\n",
    );
    lab.run(&[
        "run",
        "app.trail.yaml",
        "-d",
        "virtual:android",
        "--screenshots",
        "none",
    ])
    .expect(0);
    let launched = lab
        .events()
        .into_iter()
        .find(|event| event["event"] == "tool_started" && event["tool"] == "launchApp");
    assert_eq!(launched.unwrap()["arguments"]["appId"], "com.example.shop");
}
