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

    async fn called(&mut self, name: &str, args: Value) -> Result<Value, String> {
        let args = args.as_object().unwrap().clone();
        let how = self.how.clone();
        let called = self
            .tools
            .call(name, args, &self.listed, &self.equipped, how);
        let called = called.await.unwrap();
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

    async fn call(&mut self, name: &str, args: Value) -> Value {
        self.called(name, args).await.unwrap()
    }

    async fn refused(&mut self, name: &str, args: Value) -> String {
        self.called(name, args).await.unwrap_err()
    }

    async fn build(&mut self, name: &str, tools: &[&str]) -> Value {
        let tools: Vec<_> = tools
            .iter()
            .map(|tool| json!({ "namespacedName": tool }))
            .collect();
        let args = json!({ "name": name, "tools": tools, "autoEquip": true });
        self.call("build-toolset", args).await
    }

    async fn equip(&mut self, name: &str) -> Value {
        self.call("equip-toolset", json!({ "name": name })).await
    }

    async fn note(&mut self, tool: &str, name: &str, note: &str) -> Value {
        self.call("add-tool-annotation", annotation(tool, name, note))
            .await
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

    fn refuse(&self, tool: &str) -> Option<String> {
        self.tools.refuse(&self.equipped, &self.listed, tool)
    }

    fn change(&mut self, index: usize) {
        let schema = Arc::make_mut(&mut self.listed[index].input_schema);
        schema.insert("required".to_owned(), json!(["team"]));
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder
            .path()
            .join("toolsets")
            .join(format!("{name}.json"))
    }

    fn saved(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.file(name)).unwrap()).unwrap()
    }

    fn write(&self, name: &str, toolset: &Value) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, toolset.to_string()).unwrap();
    }
}

fn annotation(tool: &str, name: &str, note: &str) -> Value {
    json!({ "toolRef": { "namespacedName": tool }, "notes": [{ "name": name, "note": note }] })
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

#[tokio::test]
async fn what_is_not_in_the_equipped_toolset_is_neither_offered_nor_called() {
    let mut agent = Agent::new();
    assert_eq!(agent.names(), ["create_issue", "search", "tap"]);
    assert_eq!(agent.refuse("search"), None);
    let told = agent
        .build(
            "issues",
            &["linear.create_issue", "linear_create_issue", "tap"],
        )
        .await;
    assert_eq!(told["toolCount"], 2);
    assert_eq!(told["equipped"], true);
    assert_eq!(told["replaced"], false);
    assert_eq!(told["place"], "project");
    assert_eq!(agent.names(), ["create_issue", "tap"]);
    assert_eq!(agent.refuse("tap"), None);
    assert!(
        agent
            .refuse("search")
            .unwrap()
            .contains("not in the toolset `issues`")
    );
    assert!(agent.refuse("unheard_of").is_some());
    agent.call("unequip-toolset", json!({})).await;
    assert_eq!(agent.refuse("search"), None);
    assert_eq!(agent.names().len(), 3);
}

#[tokio::test]
async fn two_agents_have_two_toolsets() {
    let mut one = Agent::new();
    let mut other = one.another();
    one.build("issues", &["create_issue"]).await;
    other.build("taps", &["tap"]).await;
    one.note("create_issue", "ours", "of one").await;
    assert_eq!(
        (one.names(), other.names()),
        (vec!["create_issue".to_owned()], vec!["tap".to_owned()])
    );
    assert!(one.refuse("tap").is_some() && other.refuse("tap").is_none());
    other.call("unequip-toolset", json!({})).await;
    assert_eq!(one.names(), ["create_issue"]);
    assert_eq!(other.description("create_issue"), "What create_issue does");
}

#[tokio::test]
async fn a_changed_definition_is_refused_until_it_is_accepted() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue", "search"]).await;
    agent.change(0);
    assert_eq!(agent.names(), ["search"]);
    let why = agent.refuse("create_issue").unwrap();
    assert!(
        why.contains("packtrain toolsets accept issues create_issue"),
        "{why}"
    );
    let why = agent
        .refused("add-tool-annotation", annotation("create_issue", "ab", "x"))
        .await;
    assert!(why.contains("has changed"), "{why}");
    let told = agent.equip("issues").await;
    assert_eq!(told["notOffered"][0]["tool"], "linear.create_issue");
    assert_eq!(agent.refuse("search"), None);

    let store = ToolsetStore::new(Some(agent.folder.path()), None, []);
    let accepted = store.change("issues", |known| {
        let mut toolset = known.unwrap();
        assert!(toolset.accept(&agent.listed[0], &agent.listed));
        Ok::<_, crate::store::StoreError>((toolset, ()))
    });
    accepted.await.unwrap();
    agent.equip("issues").await;
    assert_eq!(agent.names(), ["create_issue", "search"]);
    assert_eq!(agent.refuse("create_issue"), None);

    agent.change(1);
    assert!(agent.refuse("search").is_some());
    let told = agent.build("issues", &["create_issue", "search"]).await;
    assert_eq!(told["replaced"], true);
    assert_eq!(agent.refuse("search"), None);
}

#[tokio::test]
async fn building_anew_keeps_notes_and_replaces_tools() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue"]).await;
    agent.note("create_issue", "kept", "still here").await;
    let built = agent.saved("issues")["createdAt"].clone();
    agent.build("issues", &["create_issue", "tap"]).await;
    assert!(
        agent
            .description("create_issue")
            .ends_with("• **kept**: still here")
    );
    assert_eq!(agent.names(), ["create_issue", "tap"]);
    assert_eq!(agent.saved("issues")["createdAt"], built);
}

#[tokio::test]
async fn arguments_that_break_the_schema_save_nothing() {
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
        agent.refused("build-toolset", args).await;
    }
    assert!(!agent.folder.path().join("toolsets").exists());
    for name in [
        "list-available-tools",
        "list-saved-toolsets",
        "unequip-toolset",
        "get-active-toolset",
    ] {
        agent.refused(name, json!({ "x": 1 })).await;
    }
    let nothing = EquippedToolset::default();
    let unknown = agent.tools.call(
        "no-such-tool",
        Default::default(),
        &[],
        &nothing,
        Mutability::Session,
    );
    assert!(unknown.await.is_err());
}

#[tokio::test]
async fn what_is_hidden_says_why_and_cannot_be_built_in_or_called() {
    let mut agent = Agent::new();
    agent.listed[1].hidden = Some("its name is one of ours".to_owned());
    assert_eq!(agent.names(), ["create_issue", "tap"]);
    assert!(
        agent
            .refuse("search")
            .unwrap()
            .contains("its name is one of ours")
    );
    let args = json!({ "name": "all", "tools": [{ "namespacedName": "search" }] });
    assert!(
        agent
            .refused("build-toolset", args)
            .await
            .contains("one of ours")
    );
    let told = agent.call("list-available-tools", json!({})).await;
    let search = &told["toolsByServer"][0]["tools"][1];
    assert_eq!(search["notOffered"], "its name is one of ours");
    assert_eq!(search["context"]["tokens"], 0);
}

#[tokio::test]
async fn tools_are_listed_by_source_with_what_they_cost() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue"]).await;
    agent.note("create_issue", "long", &"x".repeat(400)).await;
    let told = agent.call("list-available-tools", json!({})).await;
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

#[tokio::test]
async fn saved_toolsets_are_listed_with_odd_files_beside_them() {
    let mut agent = Agent::new();
    agent.build("issues", &["create_issue", "tap"]).await;
    agent.note("tap", "ab", "x").await;
    std::fs::write(agent.file("broken"), "{").unwrap();
    let told = agent.call("list-saved-toolsets", json!({})).await;
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
    assert!(
        agent
            .refused("equip-toolset", json!({ "name": "broken" }))
            .await
            .contains("broken.json")
    );
    assert!(
        agent
            .refused("equip-toolset", json!({ "name": "isues" }))
            .await
            .contains("did you mean `issues`?")
    );
    assert_eq!(agent.equipped.name(), Some("issues"));
}

#[tokio::test]
async fn a_defined_toolset_can_be_equipped_and_takes_no_notes() {
    let mut agent = Agent::new();
    agent.equip("core_web").await;
    assert_eq!(agent.names(), ["tap"]);
    agent.change(2);
    assert_eq!(agent.names(), ["tap"]);
    let why = agent
        .refused("add-tool-annotation", annotation("tap", "ab", "x"))
        .await;
    assert!(why.contains("build one under another name"), "{why}");
}

#[tokio::test]
async fn the_active_toolset_is_shown_with_what_it_lacks() {
    let mut agent = Agent::new();
    assert_eq!(
        agent.call("get-active-toolset", json!({})).await["equipped"],
        false
    );
    agent
        .build("issues", &["create_issue", "search", "tap"])
        .await;
    agent.note("tap", "ab", "x").await;
    agent.change(0);
    agent.listed.remove(1);
    let told = agent.call("get-active-toolset", json!({})).await;
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
    assert_eq!(told["notOffered"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn deleting_takes_a_yes_and_is_not_the_way_out_of_a_toolset() {
    let mut agent = Agent::new();
    let mut other = agent.another();
    agent.build("issues", &["create_issue"]).await;
    let args = |confirm: bool| json!({ "name": "issues", "confirm": confirm });
    other
        .refused("delete-toolset", json!({ "name": "issues" }))
        .await;
    assert!(
        other
            .refused("delete-toolset", args(false))
            .await
            .contains("confirm")
    );
    assert!(
        agent
            .refused("delete-toolset", args(true))
            .await
            .contains("unequip")
    );
    assert!(agent.file("issues").exists());
    other.call("delete-toolset", args(true)).await;
    assert!(!agent.file("issues").exists());
    // Who has it equipped keeps what it has, and is told where that matters.
    assert_eq!(agent.names(), ["create_issue"]);
    let why = agent
        .refused("add-tool-annotation", annotation("create_issue", "ab", "x"))
        .await;
    assert!(why.contains("was deleted"), "{why}");
    assert!(!agent.file("issues").exists());
}

#[tokio::test]
async fn at_an_address_nothing_is_equipped_and_the_address_is_told() {
    let mut agent = Agent::new();
    agent.how = Mutability::Endpoint {
        url: "http://127.0.0.1:4000/mcp".to_owned(),
    };
    let told = agent.build("issues", &["create_issue"]).await;
    assert_eq!(told["url"], "http://127.0.0.1:4000/mcp/issues");
    assert_eq!(told["equipped"], false);
    assert_eq!(
        agent.equip("issues").await["url"],
        "http://127.0.0.1:4000/mcp/issues"
    );
    assert_eq!((agent.names().len(), agent.equipped.name()), (3, None));
    // As its own address would have it.
    agent.equipped = agent.tools.equip("issues").unwrap();
    assert_eq!(agent.names(), ["create_issue"]);
    assert_eq!(
        agent.call("unequip-toolset", json!({})).await["url"],
        "http://127.0.0.1:4000/mcp"
    );
    assert_eq!(agent.equipped.name(), Some("issues"));
    agent.note("create_issue", "ab", "x").await;
    assert!(agent.description("create_issue").ends_with("• **ab**: x"));
}

#[tokio::test]
async fn notes_of_two_agents_at_once_are_all_there() {
    const EACH: usize = 20;
    let mut first = Agent::new();
    first.build("issues", &["create_issue"]).await;
    let (mut left, mut right) = (first.another(), first.another());
    left.equip("issues").await;
    right.equip("issues").await;
    let add = async |agent: &mut Agent, side: &str| {
        for number in 0..EACH {
            let told = agent
                .note("create_issue", &format!("{side}-{number}"), "x")
                .await;
            assert_eq!(told["successCount"], 1);
        }
    };
    tokio::join!(add(&mut left, "left"), add(&mut right, "right"));
    first.equip("issues").await;
    assert_eq!(
        first.description("create_issue").matches("• **").count(),
        2 * EACH
    );
}
