use std::sync::Arc;

use packtrain_drivers::Platform;

use super::{Toolset, ToolsetProblem, Toolsets};
use crate::composed::Composed;
use crate::registry::Registry;
use crate::tool::Tool;

fn set(id: &str, tools: &[&str]) -> Toolset {
    Toolset {
        id: id.to_owned(),
        tools: tools.iter().map(ToString::to_string).collect(),
        ..Toolset::default()
    }
}

fn pushing(name: &str, toolset: &str) -> Arc<dyn Tool> {
    let text = format!("id: {name}\ntoolset: {toolset}\ntools:\n  - wait: {{}}\n");
    Arc::new(Composed::parse(&text, "a.tool.yaml").unwrap().tool.unwrap())
}

fn ids(sets: &Toolsets, tool: &str) -> Vec<String> {
    sets.containing(tool).map(|set| set.id.clone()).collect()
}

#[test]
fn tools_are_in_the_sets_that_name_them_and_in_the_one_they_name() {
    let registry = Registry::assemble([pushing("login", "auth"), pushing("out", "new")]).unwrap();
    let defined = [set("auth", &["wait"]), set("core", &["wait", "login"])];
    let (sets, problems) = Toolsets::of(&registry, defined);
    assert_eq!(problems, []);
    assert_eq!(ids(&sets, "login"), ["auth", "core"]);
    assert_eq!(ids(&sets, "wait"), ["auth", "core"]);
    assert_eq!(sets.get("new"), Some(&set("new", &["out"])));
    assert_eq!(sets.all().count(), 3);
}

#[test]
fn unknown_tools_and_repeated_sets_are_told() {
    let defined = [set("core", &["wait", "tpa"]), set("core", &["tap"])];
    let (sets, problems) = Toolsets::of(&Registry::builtin(), defined);
    assert_eq!(sets.get("core").unwrap().tools, ["wait"]);
    let told: Vec<_> = problems.iter().map(ToolsetProblem::to_string).collect();
    assert_eq!(told[0], "toolset `core` names the unknown tool `tpa`");
    assert!(told[1].starts_with("toolset `core` is defined more than once"));
}

#[test]
fn a_file_is_read_as_trailblaze_writes_it() {
    let text = "id: core\ndescription: Basics\nplatforms: [ANDROID, desktop]\n\
                drivers:\n  - ios-host\nalways_enabled: true\ntools:\n  - wait\n  - tap\n";
    let file = Toolset::parse(text, "core.yaml").unwrap();
    assert_eq!(file.warnings, []);
    let place = file.places["tap"].unwrap().start;
    assert_eq!((place.line, place.column), (9, 5));
    let expected = Toolset {
        description: Some("Basics".to_owned()),
        platforms: vec![Platform::Android],
        drivers: vec!["ios-host".to_owned()],
        always_enabled: true,
        ..set("core", &["wait", "tap"])
    };
    assert_eq!(file.toolset, Some(expected));
}

#[test]
fn a_set_for_the_desktop_only_is_left_out() {
    let file = Toolset::parse("id: d\nplatforms: [desktop]\n", "d.yaml").unwrap();
    assert_eq!(file.toolset, None);
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, at, told) in [
        ("tools: [tap]\n", "t.yaml", "`id` is missing"),
        ("id: a\ntools: tap\n", "t.yaml:2:8", "a list"),
        (
            "id: a\nplatforms: [androd]\n",
            "t.yaml:2:13",
            "unknown platform `androd`",
        ),
        ("- a\n", "t.yaml:1:1", "expected a toolset, found a list"),
        ("", "t.yaml", "the file is empty"),
    ] {
        let found = Toolset::parse(text, "t.yaml").err().unwrap();
        assert_eq!(found[0].location(), at, "{found:?}");
        assert!(found[0].message.contains(told), "{found:?}");
    }
    let file = Toolset::parse("id: a\ntool: [tap]\n", "t.yaml").unwrap();
    assert_eq!(file.warnings[0].location(), "t.yaml:2:1");
}
