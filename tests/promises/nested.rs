//! Frames of other origins, frames in those, and shadow trees: trails and agents use what is there as
//! they use the rest of a page, on every engine.

use packtrain_tests::agent_lab::AgentLab;
use packtrain_tests::nested_pages::NestedPages;
use serde_json::json;

const PARTS: [&str; 5] = ["Page", "Shadow", "Other", "Inner", "Deep"];

fn lab() -> AgentLab {
    let config = "devices: { web: { chromium: {}, firefox: { engine: firefox } } }\n";
    AgentLab::new(env!("CARGO_BIN_EXE_packtrain-under-test"), config)
}

/// Everything that can be done in a part, and that it was done there.
fn story(part: &str) -> String {
    let element = |role: &str, what: &str| {
        format!("nodeSelector: {{ web: {{ ariaRole: {role}, ariaNameRegex: {part} {what} }} }}")
    };
    let (name, size) = (element("textbox", "name"), element("combobox", "size"));
    let (gift, send) = (element("checkbox", "gift"), element("button", "send"));
    format!(
        "  - step: Order in {part}
    recording:
      web:
        - web_type: {{ text: Ada, {name} }}
        - web_selectOption: {{ values: [Large], {size} }}
        - web_click: {{ {gift} }}
        - web_click: {{ {send} }}
        - web_verifyTextVisible: {{ text: \"{part} has Ada, Large, gift\" }}
        - web_verifyElementVisible: {{ {send} }}
        - web_verifyValue: {{ type: VALUE, expected: Ada, {name} }}
"
    )
}

#[test]
fn a_trail_orders_in_every_frame_and_shadow_tree_on_both_engines() {
    let (lab, pages) = (lab(), NestedPages::start());
    let steps: String = PARTS.iter().map(|part| story(part)).collect();
    let trail = format!(
        "trailhead:\n  step: Open the pages\n  recording:\n    web: {{ web_navigate: {{ url: \"{}\" }} }}\ntrail:\n{steps}",
        pages.url()
    );
    lab.lab().write("trails/nested.trail.yaml", &trail);
    lab.run(&["check"]).expect(0);
    lab.run(&[
        "run",
        "trails/nested.trail.yaml",
        "--device",
        "chromium,firefox",
    ])
    .expect(0);
    // What is not there fails: nothing above passes because it was not looked for.
    lab.lab().write(
        "trails/nested.trail.yaml",
        &trail.replace("Inner has Ada, Large", "Inner has Ada, Small"),
    );
    lab.run(&["run", "trails/nested.trail.yaml", "--device", "chromium"])
        .expect(1);
}

#[test]
fn an_agent_orders_in_every_frame_and_shadow_tree_by_what_it_sees() {
    let (lab, pages) = (lab(), NestedPages::start());
    for engine in ["chromium", "firefox"] {
        let agent = lab.stdio("Claude");
        let lease = agent.acquires(&format!("web/{engine}"));
        agent.does(
            "web_navigate",
            json!({ "lease": lease, "url": pages.url() }),
        );
        let seen = agent.does("snapshot", json!({ "lease": lease })).text;
        for part in PARTS {
            let reference = |role: &str, what: &str| {
                let called = format!("] {role} \"{part} {what}\"");
                let line = seen.lines().find(|line| line.contains(&called));
                let line = line.unwrap_or_else(|| panic!("{called}: {seen}"));
                line.trim()
                    .trim_start_matches('[')
                    .split(']')
                    .next()
                    .unwrap()
                    .to_owned()
            };
            let on =
                |role: &str, what: &str| json!({ "lease": lease, "ref": reference(role, what) });
            let with = |role: &str, what: &str, key: &str, value: serde_json::Value| {
                let mut arguments = on(role, what);
                arguments[key] = value;
                arguments
            };
            agent.does("web_type", with("textbox", "name", "text", json!("Ada")));
            agent.does(
                "web_selectOption",
                with("combobox", "size", "values", json!(["Large"])),
            );
            agent.does("web_click", on("checkbox", "gift"));
            agent.does("web_click", on("button", "send"));
            let text = format!("{part} has Ada, Large, gift");
            agent.does(
                "web_verifyTextVisible",
                json!({ "lease": lease, "text": text }),
            );
        }
    }
}
