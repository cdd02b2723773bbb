mod rows;

use std::path::PathBuf;
use std::sync::Arc;

use packtrain_tools::Toolset;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{EquippedToolset, ListedTool, Mutability, ToolsetTools, definitions};
use crate::store::ToolsetStore;

/// An agent and the tools that there are. Others may share its folder.
struct Agent {
    folder: Arc<TempDir>,
    tools: ToolsetTools,
    listed: Vec<ListedTool>,
    equipped: EquippedToolset,
    how: Mutability,
}

fn tool(source: &str, name: &str) -> ListedTool {
    let schema = json!({ "type": "object", "properties": { "team": { "type": "string" } } });
    ListedTool {
        name: name.to_owned(),
        source: source.to_owned(),
        description: format!("What {name} does"),
        input_schema: Arc::new(schema.as_object().unwrap().clone()),
        output_schema: None,
        annotations: None,
        hidden: None,
    }
}

impl Agent {
    fn new() -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()))
    }

    fn at(folder: Arc<TempDir>) -> Self {
        let defined = Toolset {
            id: "core_web".to_owned(),
            tools: vec!["tap".to_owned()],
            ..Toolset::default()
        };
        let store = ToolsetStore::new(Some(folder.path()), None, [&defined]);
        Self {
            folder,
            tools: ToolsetTools::new(Arc::new(store)),
            listed: vec![
                tool("linear", "create_issue"),
                tool("linear", "search"),
                tool("packtrain", "tap"),
            ],
            equipped: EquippedToolset::default(),
            how: Mutability::Session,
        }
    }

    /// Another agent in the same project, which has nothing equipped.
    fn another(&self) -> Self {
        Self::at(Arc::clone(&self.folder))
    }

    fn called(&mut self, name: &str, args: Value) -> Result<Value, String> {
        let args = args.as_object().unwrap().clone();
        let how = self.how.clone();
        let called = self
            .tools
            .call(name, args, &self.listed, &self.equipped, how);
        let called = wait(called).unwrap();
        let text = called.result.content[0].as_text().unwrap().text.clone();
        if called.result.is_error == Some(true) {
            assert_eq!(called.equip, None);
            return Err(text);
        }
        if let Some(equip) = called.equip {
            self.equipped = equip;
        }
        let data = called.result.structured_content.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), data);
        Ok(data)
    }

    #[track_caller]
    fn call(&mut self, name: &str, args: Value) -> Value {
        self.called(name, args).unwrap()
    }

    #[track_caller]
    fn refuses(&mut self, name: &str, args: Value, why: &str) {
        let told = self.called(name, args).unwrap_err();
        assert!(told.contains(why), "{told}");
    }

    fn build(&mut self, name: &str, tools: &[&str]) -> Value {
        let tools = tools.iter().map(|tool| json!({ "namespacedName": tool }));
        let tools: Vec<_> = tools.collect();
        let args = json!({ "name": name, "tools": tools, "autoEquip": true });
        self.call("build-toolset", args)
    }

    fn equip(&mut self, name: &str) -> Value {
        self.call("equip-toolset", json!({ "name": name }))
    }

    fn unequip(&mut self) -> Value {
        self.call("unequip-toolset", json!({}))
    }

    /// Adds notes to a tool, by its name or whatever refers to it.
    fn notes(&mut self, tool: impl Into<Value>, notes: &[(&str, &str)]) -> Value {
        self.call(ANNOTATE, annotation(tool, notes))
    }

    fn note(&mut self, tool: &str, name: &str, note: &str) -> Value {
        self.notes(tool, &[(name, note)])
    }

    #[track_caller]
    fn refuses_note(&mut self, tool: impl Into<Value>, (name, note): (&str, &str), why: &str) {
        self.refuses(ANNOTATE, annotation(tool, &[(name, note)]), why);
    }

    fn offered(&self) -> Vec<ListedTool> {
        self.tools.offered(&self.equipped, &self.listed)
    }

    fn names(&self) -> Vec<String> {
        self.offered().into_iter().map(|tool| tool.name).collect()
    }

    fn description(&self, name: &str) -> String {
        let mut offered = self.offered().into_iter();
        offered.find(|tool| tool.name == name).unwrap().description
    }

    /// The description of a tool ends with these notes.
    #[track_caller]
    fn tells(&self, name: &str, notes: &str) {
        let told = self.description(name);
        assert!(told.ends_with(notes), "{told}");
    }

    /// Why a call of the tool is refused; nothing where it is not.
    fn refusal(&self, tool: &str) -> String {
        let refused = self.tools.refuse(&self.equipped, &self.listed, tool);
        refused.unwrap_or_default()
    }

    fn change(&mut self, index: usize) {
        let schema = Arc::make_mut(&mut self.listed[index].input_schema);
        schema.insert("required".to_owned(), json!(["team"]));
    }

    fn file(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join("toolsets");
        folder.join(format!("{name}.json"))
    }

    fn saved(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.file(name)).unwrap()).unwrap()
    }

    /// No note was kept.
    #[track_caller]
    fn kept_none(&self) {
        assert_eq!(self.saved("issues").get("toolNotes"), None);
    }

    fn write(&self, name: &str, toolset: &Value) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, toolset.to_string()).unwrap();
    }
}

const ANNOTATE: &str = "add-tool-annotation";

fn wait<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}

/// Notes on a tool, by its name or whatever refers to it.
fn annotation(tool: impl Into<Value>, notes: &[(&str, &str)]) -> Value {
    let tool = match tool.into() {
        Value::String(name) => json!({ "namespacedName": name }),
        reference => reference,
    };
    let notes = notes.iter();
    let notes = notes.map(|(name, note)| json!({ "name": name, "note": note }));
    json!({ "toolRef": tool, "notes": notes.collect::<Vec<_>>() })
}

fn count(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

#[test]
fn there_are_eight_tools_and_each_says_what_it_does_to_toolsets() {
    let listed: Vec<_> = definitions()
        .iter()
        .map(|tool| {
            let hints = tool.annotations.as_ref().unwrap();
            let is_strict = tool.input_schema["additionalProperties"] == false;
            assert!(
                is_strict && tool.input_schema["type"] == "object",
                "{}",
                tool.name
            );
            assert!(
                tool.description
                    .as_ref()
                    .is_some_and(|text| !text.is_empty())
            );
            (
                tool.name.to_string(),
                hints.read_only_hint,
                hints.destructive_hint,
            )
        })
        .collect();
    let expected = [
        ("list-available-tools", true, None),
        ("build-toolset", false, Some(true)),
        ("list-saved-toolsets", true, None),
        ("equip-toolset", false, Some(false)),
        ("unequip-toolset", false, Some(false)),
        ("get-active-toolset", true, None),
        ("delete-toolset", false, Some(true)),
        ("add-tool-annotation", false, Some(false)),
    ];
    let expected = expected.map(|(name, looks, destroys)| (name.to_owned(), Some(looks), destroys));
    assert_eq!(listed, expected);
}

#[test]
fn what_is_not_in_the_equipped_toolset_is_neither_offered_nor_called() {
    let mut agent = Agent::new();
    assert_eq!(agent.names(), ["create_issue", "search", "tap"]);
    assert_eq!(agent.refusal("search"), "");
    let told = agent.build(
        "issues",
        &["linear.create_issue", "linear_create_issue", "tap"],
    );
    assert_eq!(told["toolCount"], 2);
    assert_eq!(told["equipped"], true);
    assert_eq!(told["replaced"], false);
    assert_eq!(told["place"], "project");
    assert_eq!(agent.names(), ["create_issue", "tap"]);
    assert_eq!(agent.refusal("tap"), "");
    assert!(
        agent
            .refusal("search")
            .contains("not in the toolset `issues`")
    );
    assert!(!agent.refusal("unheard_of").is_empty());
    agent.unequip();
    assert_eq!(agent.refusal("search"), "");
    assert_eq!(agent.names().len(), 3);
}

#[test]
fn two_agents_have_two_toolsets() {
    let mut one = Agent::new();
    let mut other = one.another();
    one.build("issues", &["create_issue"]);
    other.build("taps", &["tap"]);
    one.note("create_issue", "ours", "of one");
    assert_eq!(
        (one.names(), other.names()),
        (vec!["create_issue".to_owned()], vec!["tap".to_owned()])
    );
    assert!(!one.refusal("tap").is_empty() && other.refusal("tap").is_empty());
    other.unequip();
    assert_eq!(one.names(), ["create_issue"]);
    assert_eq!(other.description("create_issue"), "What create_issue does");
}

#[test]
fn a_changed_definition_is_refused_until_it_is_accepted() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue", "search"]);
    agent.change(0);
    assert_eq!(agent.names(), ["search"]);
    let why = agent.refusal("create_issue");
    assert!(
        why.contains("packtrain toolsets accept issues create_issue"),
        "{why}"
    );
    agent.refuses_note("create_issue", ("ab", "x"), "has changed");
    let told = agent.equip("issues");
    assert_eq!(told["notOffered"][0]["tool"], "linear.create_issue");
    assert_eq!(agent.refusal("search"), "");

    let store = ToolsetStore::new(Some(agent.folder.path()), None, []);
    let accepted = store.change("issues", |known| {
        let mut toolset = known.unwrap();
        assert!(toolset.accept(&agent.listed[0], &agent.listed));
        Ok::<_, crate::store::StoreError>((toolset, ()))
    });
    wait(accepted).unwrap();
    agent.equip("issues");
    assert_eq!(agent.names(), ["create_issue", "search"]);
    assert_eq!(agent.refusal("create_issue"), "");

    agent.change(1);
    assert!(!agent.refusal("search").is_empty());
    let told = agent.build("issues", &["create_issue", "search"]);
    assert_eq!(told["replaced"], true);
    assert_eq!(agent.refusal("search"), "");
}

#[test]
fn building_anew_keeps_notes_and_replaces_tools() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue"]);
    agent.note("create_issue", "kept", "still here");
    let built = agent.saved("issues")["createdAt"].clone();
    agent.build("issues", &["create_issue", "tap"]);
    agent.tells("create_issue", "• **kept**: still here");
    assert_eq!(agent.names(), ["create_issue", "tap"]);
    assert_eq!(agent.saved("issues")["createdAt"], built);
}

#[test]
fn arguments_that_break_the_schema_save_nothing() {
    let mut agent = Agent::new();
    let one = json!([{ "namespacedName": "tap" }]);
    let many = vec![json!({ "namespacedName": "tap" }); 101];
    for args in [
        json!({ "tools": one }),
        json!({ "name": "ok" }),
        json!({ "name": "ok", "tools": [] }),
        json!({ "name": "ok", "tools": many }),
        json!({ "name": "ok", "tools": ["tap"] }),
        json!({ "name": "ok", "tools": [{}] }),
        json!({ "name": "ok", "tools": [{ "namespacedName": "tap", "x": 1 }] }),
        json!({ "name": "ok", "tools": one, "extra": 1 }),
        json!({ "name": "ok", "tools": one, "description": "x".repeat(201) }),
        json!({ "name": "../up", "tools": one }),
        json!({ "name": "Up", "tools": one }),
        json!({ "name": "x", "tools": one }),
        json!({ "name": "ok", "tools": [{ "namespacedName": "nothing" }] }),
        json!({ "name": "core_web", "tools": one }),
    ] {
        agent.refuses("build-toolset", args, "");
    }
    assert!(!agent.folder.path().join("toolsets").exists());
    for name in [
        "list-available-tools",
        "list-saved-toolsets",
        "unequip-toolset",
        "get-active-toolset",
    ] {
        agent.refuses(name, json!({ "x": 1 }), "");
    }
    let nothing = EquippedToolset::default();
    let unknown = agent.tools.call(
        "no-such-tool",
        Default::default(),
        &[],
        &nothing,
        Mutability::Session,
    );
    assert!(wait(unknown).is_err());
}

#[test]
fn what_is_hidden_says_why_and_cannot_be_built_in_or_called() {
    let mut agent = Agent::new();
    agent.listed[1].hidden = Some("its name is one of ours".to_owned());
    assert_eq!(agent.names(), ["create_issue", "tap"]);
    assert!(agent.refusal("search").contains("its name is one of ours"));
    let args = json!({ "name": "all", "tools": [{ "namespacedName": "search" }] });
    agent.refuses("build-toolset", args, "one of ours");
    let told = agent.call("list-available-tools", json!({}));
    let search = &told["toolsByServer"][0]["tools"][1];
    assert_eq!(search["notOffered"], "its name is one of ours");
    assert_eq!(search["context"]["tokens"], 0);
}

#[test]
fn tools_are_listed_by_source_with_what_they_cost() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue"]);
    agent.note("create_issue", "long", &"x".repeat(400));
    let told = agent.call("list-available-tools", json!({}));
    let linear = &told["toolsByServer"][0];
    assert_eq!(
        (&linear["serverName"], &linear["toolCount"]),
        (&json!("linear"), &json!(2))
    );
    let first = &linear["tools"][0];
    assert_eq!(first["namespacedName"], "linear.create_issue");
    assert_eq!(first["refId"], agent.saved("issues")["tools"][0]["refId"]);
    // {"description":"What create_issue does","inputSchema":{...},"name":"create_issue"}
    let shown = json!({ "name": "create_issue", "description": "What create_issue does", "inputSchema": *agent.listed[0].input_schema });
    assert_eq!(
        first["context"]["tokens"],
        shown.to_string().len().div_ceil(4)
    );
    let sum = |of: &Value| of["context"]["tokens"].as_u64().unwrap();
    let parts: u64 = told["toolsByServer"]
        .as_array()
        .unwrap()
        .iter()
        .map(sum)
        .sum();
    assert_eq!(sum(&told["summary"]), parts);
    assert_eq!(told["summary"]["totalTools"], 3);
    assert!(
        told["summary"]["estimate"]
            .as_str()
            .unwrap()
            .contains("/ 4")
    );
    let issues = &told["toolsets"][0];
    assert_eq!(issues["name"], "issues");
    assert!(sum(issues) >= sum(first) + 100, "notes cost, too: {issues}");
}

#[test]
fn saved_toolsets_are_listed_with_odd_files_beside_them() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue", "tap"]);
    agent.note("tap", "ab", "x");
    std::fs::write(agent.file("broken"), "{").unwrap();
    let told = agent.call("list-saved-toolsets", json!({}));
    let issues = &told["toolsets"][0];
    assert_eq!(
        issues["tools"],
        json!(["linear.create_issue", "packtrain.tap"])
    );
    assert_eq!(
        (&issues["noteCount"], &issues["equipped"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(told["toolsets"][1]["place"], "defined");
    assert!(
        told["problems"][0]
            .as_str()
            .unwrap()
            .contains("broken.json")
    );
    agent.refuses("equip-toolset", json!({ "name": "broken" }), "broken.json");
    agent.refuses(
        "equip-toolset",
        json!({ "name": "isues" }),
        "did you mean `issues`?",
    );
    assert_eq!(agent.equipped.name(), Some("issues"));
}

#[test]
fn a_defined_toolset_can_be_equipped_and_takes_no_notes() {
    let mut agent = Agent::new();
    agent.equip("core_web");
    assert_eq!(agent.names(), ["tap"]);
    agent.change(2);
    assert_eq!(agent.names(), ["tap"]);
    agent.refuses_note("tap", ("ab", "x"), "build one of another name");
}

#[test]
fn the_active_toolset_is_shown_with_what_it_lacks() {
    let mut agent = Agent::new();
    assert_eq!(
        agent.call("get-active-toolset", json!({}))["equipped"],
        false
    );
    agent.build("issues", &["create_issue", "search", "tap"]);
    agent.note("tap", "ab", "x");
    agent.change(0);
    agent.listed.remove(1);
    let told = agent.call("get-active-toolset", json!({}));
    let states: Vec<_> = told["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["status"].clone())
        .collect();
    assert_eq!(states, ["changed", "missing", "offered"]);
    assert_eq!(
        told["tools"][2]["notes"],
        json!([{ "name": "ab", "note": "x" }])
    );
    assert_eq!(
        (&told["toolset"], &told["toolCount"]),
        (&json!("issues"), &json!(1))
    );
    assert_eq!(count(&told["notOffered"]), 2);
}

#[test]
fn deleting_takes_a_yes_and_is_not_the_way_out_of_a_toolset() {
    let mut agent = Agent::new();
    let mut other = agent.another();
    agent.build("issues", &["create_issue"]);
    let args = |confirm: bool| json!({ "name": "issues", "confirm": confirm });
    other.refuses("delete-toolset", json!({ "name": "issues" }), "");
    other.refuses("delete-toolset", args(false), "confirm");
    agent.refuses("delete-toolset", args(true), "unequip");
    assert!(agent.file("issues").exists());
    other.call("delete-toolset", args(true));
    assert!(!agent.file("issues").exists());
    // Who has it equipped keeps what it has, and is told where that matters.
    assert_eq!(agent.names(), ["create_issue"]);
    agent.refuses_note("create_issue", ("ab", "x"), "was deleted");
    assert!(!agent.file("issues").exists());
}

#[test]
fn at_an_address_nothing_is_equipped_and_the_address_is_told() {
    let mut agent = Agent::new();
    agent.how = Mutability::Endpoint {
        url: "http://127.0.0.1:4000/mcp".to_owned(),
    };
    let told = agent.build("issues", &["create_issue"]);
    assert_eq!(told["url"], "http://127.0.0.1:4000/mcp/issues");
    assert_eq!(told["equipped"], false);
    assert_eq!(
        agent.equip("issues")["url"],
        "http://127.0.0.1:4000/mcp/issues"
    );
    assert_eq!((agent.names().len(), agent.equipped.name()), (3, None));
    // As its own address would have it.
    agent.equipped = agent.tools.equip("issues").unwrap();
    assert_eq!(agent.names(), ["create_issue"]);
    assert_eq!(agent.unequip()["url"], "http://127.0.0.1:4000/mcp");
    assert_eq!(agent.equipped.name(), Some("issues"));
    agent.note("create_issue", "ab", "x");
    agent.tells("create_issue", "• **ab**: x");
}

#[test]
fn notes_of_two_agents_at_once_are_all_there() {
    const EACH: usize = 20;
    let mut first = Agent::new();
    first.build("issues", &["create_issue"]);
    let (mut left, mut right) = (first.another(), first.another());
    left.equip("issues");
    right.equip("issues");
    let add = |agent: &mut Agent, side: &str| {
        for number in 0..EACH {
            let told = agent.note("create_issue", &format!("{side}-{number}"), "x");
            assert_eq!(told["successCount"], 1);
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| add(&mut left, "left"));
        scope.spawn(|| add(&mut right, "right"));
    });
    first.equip("issues");
    assert_eq!(
        first.description("create_issue").matches("• **").count(),
        2 * EACH
    );
}
