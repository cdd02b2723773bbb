//! Workspaces of Trailblaze with typed tools run as they are.

use std::ffi::OsString;
use std::path::Path;

use packtrain_testing::has;
use packtrain_tests::{Ended, Lab, repository};

use crate::lab;
use crate::sources::{installed, nothing_runs};

const MAP: &str = "trails/config/trailmaps/shop";
const TRAIL: &str = "config: { target: shop }\ntrail:\n  - step: \"Sign in\"\n    recording:\n      ios-iphone:\n        - shop_ios_signIn: { email: ada@example.com }\n";

/// A workspace whose tools call each other, one of which is a function with a descriptor.
fn workspace() -> Lab {
    let lab = lab();
    lab.write("trails/config/trailblaze.yaml", "targets: [shop]\n");
    lab.write(
        &format!("{MAP}/trailmap.yaml"),
        "id: shop\ntarget:\n  tools: [shop_ios_signIn, shop_ios_openApp, shop_password]\n  platforms: { ios: { app_ids: [com.example.shop] } }\n",
    );
    lab.write(
        &format!("{MAP}/tools/shop_shared.ts"),
        "import type { ToolContext } from \"@trailblaze/scripting\";\nexport const open = async (ctx: ToolContext) => ctx.tools.launchApp({ appId: ctx.target!.resolveAppId()!, launchMode: \"FORCE_RESTART\" });\n",
    );
    lab.write(
        &format!("{MAP}/tools/shop_ios_openApp.ts"),
        "import { trailblaze } from \"@trailblaze/scripting\";\nimport { open } from \"./shop_shared\";\n/** Opens the shop. */\nexport const shop_ios_openApp = trailblaze.tool(async (_input, ctx) => {\n  await open(ctx);\n  return \"open\";\n});\n",
    );
    lab.write(
        &format!("{MAP}/tools/shop_ios_signIn.ts"),
        "import { trailblaze } from \"@trailblaze/scripting\";\nexport interface SignInArgs {\n  /** Who. */\n  email: string;\n}\n/** Signs in. */\nexport const shop_ios_signIn = trailblaze.tool<SignInArgs>(\n  { supportedPlatforms: [\"ios\"], requiresContext: true },\n  async (input, ctx) => {\n    await ctx.tools.shop_ios_openApp({});\n    const password = await ctx.tools.shop_password({});\n    for (const [text, value] of [[\"Email\", input.email], [\"Password\", password]]) {\n      await ctx.tools.tapOnElementWithText({ text });\n      await ctx.tools.inputText({ text: value });\n    }\n    await ctx.tools.tapOnElementWithText({ text: \"Sign in\" });\n    return `signed ${input.email} in`;\n  },\n);\n",
    );
    lab.write(
        &format!("{MAP}/tools/shop_password.js"),
        "export async function shop_password() {\n  return \"secret\";\n}\n",
    );
    lab.write(
        &format!("{MAP}/tools/shop_password.yaml"),
        "script: ./shop_password.js\nname: shop_password\nruntime: subprocess\n",
    );
    lab.write("trails/a.trail.yaml", TRAIL);
    lab
}

/// A search path with these programs, of those that are installed for tests, and Node.
fn path_with(lab: &Lab, programs: &[&str]) -> OsString {
    let folder = lab.folder().join(programs.join("-"));
    std::fs::create_dir(&folder).unwrap();
    let modules = installed().join("node_modules/.bin");
    for program in programs {
        std::os::unix::fs::symlink(modules.join(program), folder.join(program)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap();
    let usual = std::env::split_paths(&path);
    std::env::join_paths([folder].into_iter().chain(usual)).unwrap()
}

fn run(lab: &Lab, path: &Path, words: &[&str]) -> Ended {
    let output = lab.command(words).env("PATH", path).output();
    output.unwrap().into()
}

#[test]
fn typed_tools_run_on_bun_and_on_node_with_tsx_without_configuration() {
    let lab = workspace();
    for program in ["bun", "tsx"] {
        let path = path_with(&lab, &[program]);
        let words = ["run", "-d", "virtual:ios:2", "--screenshots=none"];
        run(&lab, path.as_ref(), &words).expect(0);
        nothing_runs(&lab);
        let (calls, servers) = (calls(&lab), lab.run_folder().join("sources"));
        for tool in ["shop_ios_signIn", "shop_ios_openApp", "shop_password"] {
            let passed = calls
                .iter()
                .filter(|(name, passed)| name == tool && *passed);
            assert_eq!(passed.count(), 2, "{tool} on {program}: {calls:?}");
        }
        let logs = std::fs::read_dir(servers).unwrap().flatten();
        let logs = logs.filter(|log| log.path().extension().is_some_and(|ending| ending == "log"));
        assert!(logs.count() <= 1, "one server per trailmap");
    }
    // Its argument is known from its type.
    let path = path_with(&lab, &["bun", "tsx"]);
    lab.write("trails/a.trail.yaml", &TRAIL.replace("email:", "e_mail:"));
    let said = run(&lab, path.as_ref(), &["check", "--tools"]).expect(3);
    assert!(said.stderr.contains("email"), "{}", said.stderr);
}

/// The tools that were called in the last run, and whether each passed.
fn calls(lab: &Lab) -> Vec<(String, bool)> {
    let finished = lab.events().into_iter();
    finished
        .filter(|event| event["event"] == "tool_finished")
        .map(|event| {
            let passed = event["outcome"] == "passed" || event["outcome"]["kind"] == "passed";
            (event["tool"].as_str().unwrap().to_owned(), passed)
        })
        .collect()
}

#[test]
fn check_names_the_trailmap_that_has_a_tool_and_runs_nothing() {
    let lab = workspace();
    lab.write(
        &format!("{MAP}/tools/shop_ios_openApp.ts"),
        "import \"./ran\";\nexport const shop_ios_openApp = trailblaze.tool(async () => \"\");\n",
    );
    let ended = lab.run(&["check", "--strict"]).expect(0);
    let named = format!("{MAP}/trailmap.yaml has `shop_ios_signIn`");
    assert!(ended.stderr.contains(&named), "{}", ended.stderr);
    lab.write("trails/a.trail.yaml", &TRAIL.replace("signIn", "signOn"));
    let ended = lab.run(&["check"]).expect(3);
    let meant = "did you mean `shop_ios_signIn`?";
    assert!(ended.stderr.contains(meant), "{}", ended.stderr);
}

#[test]
fn a_missing_typescript_runtime_is_told_with_what_to_install() {
    let lab = workspace();
    let words = ["run", "-d", "virtual:ios", "--screenshots=none"];
    let ended = run(&lab, Path::new("/nowhere"), &words).expect(2);
    for part in ["trailmap-shop", "trailmap.yaml", "install bun", "tsx"] {
        assert!(ended.stderr.contains(part), "{part}\n{}", ended.stderr);
    }
}

#[test]
fn a_tool_file_that_does_not_load_costs_its_own_tools_alone() {
    let lab = workspace();
    lab.write(
        &format!("{MAP}/trailmap.yaml"),
        "id: shop\ntarget: { platforms: { ios: { app_ids: [com.example.shop] } } }\n",
    );
    lab.write(
        &format!("{MAP}/tools/shop_broken.ts"),
        "import { trailblaze } from \"@trailblaze/scripting\";\nimport { gone } from \"./gone\";\nexport const shop_broken = trailblaze.tool(async () => gone);\n",
    );
    lab.write(
        "trails/b.trail.yaml",
        "config: { target: shop }\ntrail:\n  - step: x\n    recording:\n      ios:\n        - shop_broken: {}\n",
    );
    for program in ["bun", "tsx"] {
        let path = path_with(&lab, &[program]);
        let words = ["run", "trails", "-d", "virtual:ios", "--screenshots=none"];
        let ended = run(&lab, path.as_ref(), &words).expect(2);
        assert!(calls(&lab).contains(&("shop_ios_signIn".to_owned(), true)));
        assert!(calls(&lab).contains(&("shop_broken".to_owned(), false)));
        let checked = run(&lab, path.as_ref(), &["check", "--tools"]).expect(3);
        for said in [&ended.stderr, &checked.stderr] {
            has(said, &["tools/shop_broken.ts: ", "./gone"]);
        }
        assert!(checked.stderr.contains("1 mistake,"), "{}", checked.stderr);
    }
}

#[test]
fn a_tool_of_two_trailmaps_is_told_with_both_files_and_costs_the_trails_that_call_it() {
    let lab = workspace();
    lab.write("trails/config/trailblaze.yaml", "targets: [shop, other]\n");
    let other = "trails/config/trailmaps/other";
    lab.write(&format!("{other}/trailmap.yaml"), "id: other\n");
    for map in [MAP, other] {
        lab.write(
            &format!("{map}/tools/same.ts"),
            "import { trailblaze } from \"@trailblaze/scripting\";\nexport const same = trailblaze.tool(async () => \"\");\n",
        );
    }
    lab.write(
        &format!("{MAP}/trailmap.yaml"),
        "id: shop\ntarget: { platforms: { ios: { app_ids: [com.example.shop] } } }\n",
    );
    let both = |said: &str| {
        for map in [MAP, other] {
            assert!(
                said.contains(&format!("{map}/tools/same.ts")),
                "{map}\n{said}"
            );
        }
    };
    both(&lab.run(&["check"]).expect(3).stderr);
    let path = path_with(&lab, &["bun"]);
    let words = ["run", "trails", "-d", "virtual:ios", "--screenshots=none"];
    run(&lab, path.as_ref(), &words).expect(0);
    lab.write(
        "trails/b.trail.yaml",
        "config: { target: shop }\ntrail:\n  - step: x\n    recording:\n      ios:\n        - same: {}\n",
    );
    both(&run(&lab, path.as_ref(), &words).expect(2).stderr);
    assert!(calls(&lab).contains(&("shop_ios_signIn".to_owned(), true)));
}

#[test]
fn without_a_cache_only_trails_that_call_a_trailmaps_tool_fail() {
    let lab = workspace();
    lab.write("cache", "not a folder");
    let raw = repository().join("tests/sources/raw.mjs");
    let file = lab.folder().join("note.mjs");
    lab.write(
        "note.mjs",
        &format!("import {{ serve }} from {raw:?};\nserve([{{ name: \"note\", call: () => \"noted\" }}]);\n"),
    );
    lab.write(
        "trails/config/trailblaze.yaml",
        &format!("targets: [shop]\nmcpServers: [{{ name: note, command: [node, {file:?}], transport: stdio }}]\n"),
    );
    lab.write(
        "trails/b.trail.yaml",
        "config: { target: shop }\ntrail:\n  - step: x\n    recording:\n      ios:\n        - note: {}\n",
    );
    let cache = lab.folder().join("cache");
    let words = ["run", "trails", "-d", "virtual:ios", "--screenshots=none"];
    let output = lab.command(&words).env("XDG_CACHE_HOME", &cache).output();
    let ended = Ended::from(output.unwrap()).expect(2);
    let told = format!("cannot write {}", cache.display());
    assert!(ended.stderr.contains(&told), "{}", ended.stderr);
    assert!(calls(&lab).contains(&("note".to_owned(), true)));
    assert!(calls(&lab).contains(&("shop_ios_signIn".to_owned(), false)));
}
