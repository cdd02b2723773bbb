//! Workspaces of Trailblaze.

use super::project::{Project, key};
use crate::{FileLayer, Origin};

const ANCHOR: &str = "trails/config/trailblaze.yaml";

#[test]
fn targets_take_their_app_ids_from_the_trailmaps() {
    let project = Project::empty()
        .file(ANCHOR, "# anchor\ntargets:\n  - clock\n  - wiki\n")
        .file(
            "trails/config/trailmaps/clock/trailmap.yaml",
            "id: clock\ndependencies: [trailblaze]\ntarget:\n  display_name: Clock\n  platforms:\n    \
             android:\n      app_ids:\n        - com.android.deskclock\n        - com.google.clock\n    ios: {}\n    web:\n",
        )
        .file(
            "trails/config/trailmaps/wiki/trailmap.yaml",
            "target: {platforms: {web: {base_url: 'https://en.wikipedia.org', drivers: [x]}}}\n",
        )
        .file("trails/config/trailmaps/unlisted/trailmap.yaml", "target: {}\n");
    let loaded = project.load();
    let targets = &loaded.config.targets;
    assert_eq!(targets.keys().collect::<Vec<_>>(), ["clock", "wiki"]);
    assert_eq!(
        targets["clock"].app_ids.android,
        ["com.android.deskclock", "com.google.clock"]
    );
    assert_eq!(
        targets["wiki"].base_url.as_deref(),
        Some("https://en.wikipedia.org")
    );
    assert_eq!(loaded.config.trails_dir, project.path("trails"));
    assert_eq!(loaded.warnings, []);
    let Origin::File {
        layer,
        path,
        position,
    } = loaded.origin(&key("targets.clock.appIds.android"))
    else {
        panic!("no file");
    };
    assert_eq!((layer, position.line), (FileLayer::Trailblaze, 7));
    assert_eq!(
        path,
        project.path("trails/config/trailmaps/clock/trailmap.yaml")
    );
}

#[test]
fn without_a_list_every_trailmap_is_a_target() {
    let project = Project::empty()
        .file(ANCHOR, "# nothing\n")
        .file("trails/config/trailmaps/b/trailmap.yaml", "target: {}\n")
        .file("trails/config/trailmaps/a/trailmap.yaml", "target: {}\n")
        .file("trails/config/trailmaps/readme/x.md", "");
    assert_eq!(
        project.load().config.targets.keys().collect::<Vec<_>>(),
        ["a", "b"]
    );
}

#[test]
fn the_default_target_and_tool_sources_are_taken_over() {
    let project = Project::empty().file(
        "trailblaze.yaml",
        "target: acme\ntargets: [acme]\nmcpServers:\n  - name: acme-tools\n    command: ./gradlew\n    \
         args: [':acme-tools:runMcp']\n    workingDir: tools\ntrailsDir: flows\n",
    );
    let config = project.load().config;
    assert_eq!(config.target.as_deref(), Some("acme"));
    assert_eq!(config.trails_dir, project.path("flows"));
    let program = project.path("tools/./gradlew").display().to_string();
    assert_eq!(config.mcp_servers[0].command, [program]);
    assert_eq!(
        config.mcp_servers[0].working_dir,
        Some(project.path("tools"))
    );
    let project = Project::empty().file(
        ANCHOR,
        "defaults: {target: acme, llm: x}\ntargets: [acme]\n",
    );
    assert_eq!(project.load().config.target.as_deref(), Some("acme"));
}

#[test]
fn a_mistake_in_tool_sources_costs_nothing_else() {
    let project = Project::empty().file(
        ANCHOR,
        "target: acme\ntargets: [acme]\nmcp_servers:\n  acme: {command: python, runtime: bun}\n",
    );
    let loaded = project.load();
    assert_eq!(loaded.config.target.as_deref(), Some("acme"));
    assert_eq!(loaded.config.mcp_servers, []);
    let [warning] = &loaded.warnings[..] else {
        panic!("{:?}", loaded.warnings);
    };
    assert_eq!(warning.span.unwrap().start.line, 4);
    assert_eq!(
        warning.message,
        "ignored: mcpServers.acme.runtime: unknown key `runtime`"
    );
}

#[test]
fn tool_sources_have_both_spellings_and_forms() {
    let project = Project::empty().file(
        ANCHOR,
        "targets: []\nmcp_servers:\n  - script: ./mcp/tools.ts\n  - {name: acme, command: [bin/x, -v]}\n",
    );
    let loaded = project.load();
    let [tools, acme] = &loaded.config.mcp_servers[..] else {
        panic!("{:?}", loaded.config.mcp_servers);
    };
    assert_eq!((&*tools.name, &*acme.name), ("tools", "acme"));
    assert_eq!(
        tools.script,
        Some(project.path("trails/config/./mcp/tools.ts"))
    );
    let program = project.path("trails/config/bin/x").display().to_string();
    assert_eq!(acme.command, [program, "-v".into()]);
    assert_eq!(loaded.warnings, []);
    let by_name = Project::empty().file(
        "trailblaze.yaml",
        "mcpServers:\n  acme-tools:\n    command: python\n    args: [./acme_tools_server.py]\n",
    );
    assert_eq!(by_name.load().config.mcp_servers[0].name, "acme-tools");
}

#[test]
fn the_projects_own_file_wins() {
    let project = Project::new("target: other\ntargets: {other: {}}\ntrailsDir: here\n")
        .file(ANCHOR, "defaults: {target: acme}\ntargets: [acme]\n");
    let config = project.load().config;
    assert_eq!(config.target.as_deref(), Some("other"));
    assert_eq!(config.trails_dir, project.path("here"));
    assert_eq!(config.targets.keys().collect::<Vec<_>>(), ["acme", "other"]);
}

#[test]
fn what_means_nothing_here_is_a_warning_with_its_line() {
    let project = Project::empty().file(
        ANCHOR,
        "targets: [a]\nllm:\n  defaults: {}\nproviders: []\n",
    );
    let words: Vec<String> = project
        .load()
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    let path = project.path(ANCHOR);
    assert_eq!(
        words,
        [
            format!(
                "{}:2:1: warning: `llm` is not used by Packtrain",
                path.display()
            ),
            format!(
                "{}:4:1: warning: `providers` is not used by Packtrain",
                path.display()
            ),
        ]
    );
}

#[test]
fn a_broken_file_of_the_other_program_is_a_warning() {
    let project = Project::new("run: {retries: 2}\n")
        .file(ANCHOR, "targets: [a\n")
        .file("trails/config/trailmaps/a/trailmap.yaml", "target: {}\n");
    let loaded = project.load();
    assert_eq!(loaded.config.run.retries, 2);
    assert_eq!(loaded.warnings.len(), 1);
    assert!(loaded.warnings[0].message.starts_with("ignored: "));
}

#[test]
fn a_target_id_cannot_lead_out_of_the_workspace() {
    let project = Project::empty()
        .file(ANCHOR, "targets: [../../../outside]\n")
        .file(
            "outside/trailmap.yaml",
            "target: {platforms: {ios: {app_ids: [secret]}}}\n",
        );
    let target = &project.load().config.targets["../../../outside"];
    assert!(target.app_ids.ios.is_empty());
}

#[test]
fn a_variable_can_lead_to_another_workspace() {
    let project = Project::empty()
        .file("elsewhere/trailblaze.yaml", "targets: [clock]\n")
        .variable("TRAILBLAZE_CONFIG_DIR", "elsewhere");
    assert!(project.load().config.targets.contains_key("clock"));
}

#[test]
fn typed_tools_of_trailmaps_are_tool_sources_without_a_line_of_configuration() {
    let tools = "trails/config/trailmaps/shop/tools";
    let typed = |name: &str| {
        format!(
            "// export const in_aComment = trailblaze.tool(x);\nexport const {name} = trailblaze.tool<Args>(\n  {{}}, async () => 'x');\n"
        )
    };
    let project = Project::empty()
        .file(ANCHOR, "targets: [shop, clock]\n")
        .file(
            "trails/config/trailmaps/shop/trailmap.yaml",
            "target:\n  tools: [shop_a, shop_c, inputText]\n  platforms: { ios: { tools: [shop_b] }, web: }\n",
        )
        .file("trails/config/trailmaps/clock/trailmap.yaml", "target: {}\n")
        .file(&format!("{tools}/shop_a.ts"), &typed("shop_a"))
        .file(&format!("{tools}/ios/shop_b.ts"), &typed("shop_b"))
        .file(&format!("{tools}/shop_unlisted.ts"), &typed("shop_unlisted"))
        .file(&format!("{tools}/old/shop_a.ts"), &format!("/*\n{}*/\n", typed("shop_a")))
        .file(&format!("{tools}/shop_a.test.ts"), &typed("shop_a"))
        .file(&format!("{tools}/shop_c.js"), "export async function shop_c() {}\n")
        .file(
            &format!("{tools}/shop_c.yaml"),
            "script: ./shop_c.js\nname: shop_c\ninputSchema: { path: { type: string, required: false }, to: {} }\n",
        )
        .file(&format!("{tools}/mcp/tools.ts"), "new StdioServerTransport();\n");
    let sources = project.load().config.mcp_servers;
    let map = project.path("trails/config/trailmaps/shop/trailmap.yaml");
    let found: Vec<_> = sources
        .iter()
        .map(|source| (source.name.as_str(), &source.trailmap, &source.script))
        .collect();
    let script = project.path(&format!("{tools}/mcp/tools.ts"));
    assert_eq!(
        found,
        [
            ("trailmap-shop", &Some(map.clone()), &None),
            ("trailmap-shop-server-1", &None, &Some(script)),
        ]
    );
    let tools = crate::scripts(&map).tools;
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["shop_a", "shop_b", "shop_c"]);
    assert!(
        tools[0].file.ends_with("tools/shop_a.ts"),
        "not what is commented out"
    );
    let told = serde_json::to_value(&tools[2]).unwrap();
    assert_eq!(told["inputSchema"]["required"], serde_json::json!(["to"]));
    assert_eq!(
        told["inputSchema"]["properties"]["path"]["type"],
        serde_json::json!("string")
    );
    let configured = project.file("packtrain.yaml", "mcpServers: []\n");
    assert_eq!(configured.load().config.mcp_servers, []);
}

#[test]
fn a_trailmap_that_is_found_replaces_no_source_that_is_configured() {
    let tool = "export const a = trailblaze.tool(async () => 'x');\n";
    let map = "trails/config/trailmaps/shop/trailmap.yaml";
    let project = Project::empty()
        .file(ANCHOR, "targets: [shop, clock]\n")
        .file(map, "target: {}\n")
        .file("trails/config/trailmaps/shop/tools/a.ts", tool)
        .file(
            "trails/config/trailmaps/clock/trailmap.yaml",
            "target: {}\n",
        )
        .file("trails/config/trailmaps/clock/tools/a.ts", tool)
        .user("mcpServers:\n  acme: {command: x}\n  trailmap-shop: {command: y}\n");
    let names = |project: &Project| -> Vec<String> {
        let sources = project.load().config.mcp_servers.into_iter();
        sources
            .map(|source| [vec![source.name], source.command].concat().join(" "))
            .collect()
    };
    assert_eq!(
        names(&project),
        ["acme x", "trailmap-shop y", "trailmap-clock"]
    );
    let Origin::File { layer, .. } = project.load().origin(&key("mcpServers.0.command")) else {
        panic!("no file");
    };
    assert_eq!(layer, FileLayer::User);
    let own =
        "mcpServers: [{name: shop, trailmap: trailmaps/shop/trailmap.yaml}]\ntargets: [shop]\n";
    assert_eq!(names(&project.file(ANCHOR, own)), ["shop"]);
}
