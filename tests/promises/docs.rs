//! The pages are true: what they tell to run works, what they show is valid, and nothing the
//! program offers is left out. CONTRIBUTING.md tells how pages are written.

mod workspace;

use std::collections::BTreeSet;
use std::path::Path;

use packtrain_tests::repository;
use serde_json::Value;

use crate::lab;
use crate::snippets::{blocks, pages, shown};

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap()
}

/// A test for each page that has blocks.
macro_rules! pages {
    ($($name:ident: $page:literal,)+) => {
        const TRIED: &[&str] = &[$($page),+];

        mod every_example_does_what_the_page_says {
            $(#[test]
            fn $name() {
                super::try_page($page);
            })+
        }
    };
}

pages! {
    agents: "docs/agents.md",
    cli: "docs/cli.md",
    comparing: "docs/comparing.md",
    configuration: "docs/configuration.md",
    contributing: "CONTRIBUTING.md",
    devices: "docs/devices.md",
    farm: "docs/farm.md",
    matrix: "docs/matrix.md",
    readme: "README.md",
    reports: "docs/reports.md",
    runbook: "deploy/runbook.md",
    selectors: "docs/selectors.md",
    tool_sources: "docs/tool-sources.md",
    tools: "docs/tools.md",
    trails: "docs/trails.md",
    writing_tools: "docs/writing-tools.md",
}

#[track_caller]
fn try_page(page: &str) {
    let wrong = workspace::try_page(&repository().join(page));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_page_with_an_example_is_tried() {
    let mut with_examples: Vec<_> = pages()
        .iter()
        .map(|page| shown(page))
        .filter(|page| !blocks(&read(page)).is_empty())
        .collect();
    with_examples.sort();
    let mut tried = TRIED.to_vec();
    tried.sort_unstable();
    assert_eq!(with_examples, tried);
}

#[test]
fn no_example_needs_a_program_that_macos_lacks() {
    for page in pages() {
        let blocks = blocks(&read(&shown(&page)));
        for block in blocks.iter().filter(|block| block.language() == "sh") {
            let mut words = block.text.split_whitespace();
            let lacking = words.find(|word| ["timeout", "nproc", "setsid"].contains(word));
            assert_eq!(lacking, None, "{page:?}: {}", block.line);
        }
    }
}

#[test]
fn the_readme_claims_no_more_of_macos_than_the_table_of_devices() {
    let (readme, page) = (read("README.md"), read("docs/devices.md"));
    let (_, table) = page.split_once("## What has been proven on what").unwrap();
    for what in ["| iPhone", "| simulators", "| anything on macOS"] {
        let row = table.lines().find(|row| row.starts_with(what)).unwrap();
        assert!(row.contains("| not tried"), "{row}");
    }
    assert!(readme.contains(
        "macOS: type-checked and reviewed, but not yet run on a Mac, in simulators or on phones"
    ));
}

#[test]
fn every_command_and_flag_is_on_the_page_of_commands() {
    let page = read("docs/cli.md");
    let lab = lab();
    let mut missing = Vec::new();
    let mut left: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(command) = left.pop() {
        let mut arguments = command.clone();
        arguments.push("--help".to_owned());
        let help = lab.run(&arguments).expect(0).stdout;
        let name = ["packtrain"]
            .into_iter()
            .chain(command.iter().map(String::as_str));
        let name = name.collect::<Vec<_>>().join(" ");
        let is_there = match command.len() {
            0 => true,
            1 => page.contains(&format!("\n## {name}\n")),
            _ => page.contains(&format!("`{name}`")),
        };
        if !is_there {
            missing.push(name.clone());
        }
        let flags = help.lines().filter_map(flag);
        let lacking = flags.filter(|flag| !page.contains(&format!("`{flag}")));
        missing.extend(lacking.map(|flag| format!("{name} {flag}")));
        let below = words_below(&help, "Commands:").into_iter();
        left.extend(below.filter(|word| word != "help").map(|word| {
            let mut command = command.clone();
            command.push(word);
            command
        }));
    }
    assert!(missing.is_empty(), "docs/cli.md lacks {missing:#?}");
}

#[test]
fn every_command_is_in_the_table_of_the_readme() {
    let readme = read("README.md");
    let help = lab().run(&["--help"]).expect(0).stdout;
    let commands = words_below(&help, "Commands:");
    assert!(commands.len() > 10, "{commands:?}");
    let missing: Vec<_> = commands
        .iter()
        .filter(|command| *command != "help")
        .filter(|command| !readme.contains(&format!("| `packtrain {command}")))
        .collect();
    assert!(missing.is_empty(), "README.md lacks {missing:?}");
}

#[test]
fn every_key_is_on_the_page_of_the_configuration() {
    let page = read("docs/configuration.md");
    let schema = lab().run(&["schema", "config"]).expect(0).stdout;
    let mut keys = BTreeSet::new();
    collect_keys(&serde_json::from_str(&schema).unwrap(), &mut keys);
    assert!(
        keys.contains("viewport") && keys.contains("mcpServers"),
        "{keys:?}"
    );
    let missing: Vec<_> = keys
        .iter()
        .filter(|key| !page.contains(&format!("`{key}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/configuration.md lacks {missing:?}"
    );
}

#[test]
fn every_variable_a_page_names_is_one_the_program_reads() {
    let is_read = |name: &str| {
        let quoted = format!("\"{name}\"");
        let folders = ["config", "drivers", "orchestrator", "tests"];
        folders
            .iter()
            .any(|folder| mentions(&repository().join(folder), &quoted))
    };
    // What no source names must be a setting: its origin, or what refuses the value.
    let is_setting = |name: &str| {
        let output = lab().command(&["config"]).env(name, "1").output().unwrap();
        let ended = packtrain_tests::Ended::from(output);
        let said = ended.stdout + &ended.stderr;
        said.contains(name) && !said.contains("is not a setting")
    };
    let names = named_variables();
    assert!(names.contains("PACKTRAIN_LOG"), "{names:?}");
    let unknown: Vec<_> = names
        .iter()
        .filter(|name| !is_read(name) && !is_setting(name))
        .collect();
    assert!(unknown.is_empty(), "these are no variables: {unknown:?}");
}

#[test]
fn every_event_and_every_outcome_is_on_the_page_of_reports() {
    let page = read("docs/reports.md");
    let mut missing = Vec::new();
    for (file, kind) in [
        ("orchestrator/model/src/event.rs", "RunEvent"),
        ("orchestrator/model/src/event.rs", "ArtifactKind"),
        ("orchestrator/model/src/outcome.rs", "Outcome"),
        ("drivers/src/event.rs", "DeviceEvent"),
    ] {
        let variants = variants(&read(file), kind);
        assert!(variants.len() > 3, "{kind}: {variants:?}");
        missing.extend(
            variants
                .into_iter()
                .filter(|name| !page.contains(&format!("`{name}`"))),
        );
    }
    assert!(missing.is_empty(), "docs/reports.md lacks {missing:?}");
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let target = link.split('#').next().unwrap_or_default();
            let is_ours =
                !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:");
            if is_ours && !page.parent().unwrap().join(target).exists() {
                wrong.push(format!("{}: {link}", shown(&page)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn decisions_name_tests_that_exist() {
    let mut missing = Vec::new();
    for page in pages()
        .iter()
        .filter(|page| page.parent().unwrap().ends_with("decisions"))
    {
        let text = std::fs::read_to_string(page).unwrap();
        let words = text.split('`').skip(1).step_by(2);
        // Long names in one word are those of tests.
        for name in words
            .filter(|word| word.matches('_').count() > 2 && !word.contains(['/', '.', ' ', '=']))
        {
            if !mentions(&repository(), &format!("fn {name}("))
                && !name.starts_with(|c: char| c.is_uppercase())
            {
                missing.push(format!("{}: {name}", shown(page)));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The first words of the indented lines below a heading.
fn words_below(help: &str, heading: &str) -> Vec<String> {
    help.lines()
        .skip_while(|line| *line != heading)
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

/// The long flag that a line of a help text introduces.
fn flag(line: &str) -> Option<&str> {
    let option = line.trim_start();
    let long = match option.strip_prefix("--") {
        Some(_) => option,
        None => option.strip_prefix('-')?.split_once(", ")?.1,
    };
    long.split([' ', '[', '=', '<', '.', ','])
        .next()
        .filter(|flag| flag.starts_with("--") && flag.len() > 2)
}

fn collect_keys(schema: &Value, keys: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                keys.extend(properties.keys().cloned());
            }
            map.values().for_each(|value| collect_keys(value, keys));
        }
        Value::Array(items) => items.iter().for_each(|value| collect_keys(value, keys)),
        _ => {}
    }
}

/// Everything that looks like a variable of ours, in pages and recipes.
fn named_variables() -> BTreeSet<String> {
    let mut texts: Vec<String> = pages()
        .iter()
        .map(|page| std::fs::read_to_string(page).unwrap())
        .collect();
    texts.extend(crate::deploy::RECIPES.map(read));
    let is_part = |c: char| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit();
    let mut names = BTreeSet::new();
    for text in texts {
        for (at, _) in text.match_indices("PACKTRAIN_") {
            let rest = &text[at..];
            let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
            // `PACKTRAIN_...` and `PACKTRAIN_*` speak of all of them.
            if !name.ends_with('_') {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

fn mentions(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return !path.ends_with("target") && mentions(&path, text);
        }
        let is_source = path
            .extension()
            .is_some_and(|ending| ending == "rs" || ending == "sh");
        is_source && std::fs::read_to_string(&path).unwrap().contains(text)
    })
}

/// The names of an enum's variants as JSON has them.
fn variants(source: &str, name: &str) -> Vec<String> {
    let body = source.split_once(&format!("pub enum {name} {{")).unwrap().1;
    let body = body.split_once("\n}").unwrap().0;
    body.lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
        .map(|line| {
            snake(
                line.split(|c: char| !c.is_alphanumeric())
                    .next()
                    .unwrap_or_default(),
            )
        })
        .collect()
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[test]
fn every_page_says_in_which_language_its_blocks_are() {
    let known = [
        "", "sh", "console", "yaml", "json", "text", "rust", "toml", "ts", "python",
    ];
    for page in pages() {
        for block in blocks(&std::fs::read_to_string(&page).unwrap()) {
            assert!(
                known.contains(&block.language()),
                "{}:{}: {:?}",
                shown(&page),
                block.line,
                block.info
            );
        }
    }
}
