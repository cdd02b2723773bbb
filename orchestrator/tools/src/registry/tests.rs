use std::sync::Arc;

use super::Registry;
use crate::composed::Composed;
use crate::tool::Tool;

fn tool(name: &str, file: &str) -> Arc<dyn Tool> {
    let text = format!("id: {name}\ntools:\n  - wait: {{}}\n");
    Arc::new(Composed::parse(&text, file).unwrap().tool.unwrap())
}

#[test]
fn a_contributed_tool_is_registered_under_the_name_it_gives_itself() {
    let registry = Registry::assemble([tool("acme_signIn", "a.tool.yaml")]).unwrap();
    assert_eq!(
        registry.get("acme_signIn").unwrap().spec().name,
        "acme_signIn"
    );
    assert!(registry.get("wait").is_some());
}

#[test]
fn no_two_built_in_tools_share_a_name() {
    let all = crate::builtin::all().len();
    assert_eq!(Registry::builtin().names().count(), all);
}

#[test]
fn all_collisions_are_told_at_once_with_everybody_who_takes_part() {
    let told = Registry::assemble([
        tool("acme_x", "a.tool.yaml"),
        tool("fine", "f.tool.yaml"),
        tool("acme_x", "b.tool.yaml"),
        tool("tap", "c.tool.yaml"),
        tool("acme_x", "d.tool.yaml"),
    ])
    .err()
    .unwrap();
    assert_eq!(
        told.to_string(),
        "tool `acme_x` is defined more than once: a.tool.yaml and b.tool.yaml and d.tool.yaml\n\
         tool `tap` is defined more than once: packtrain itself and c.tool.yaml"
    );
    assert_eq!(told.all().count(), 2);
}
