use std::sync::Arc;

use crate::toolsets::{ListedTool, ToolRef, ToolState, Unresolved, named, ref_id, resolve};

fn tool(source: &str, name: &str) -> ListedTool {
    ListedTool {
        name: name.to_owned(),
        source: source.to_owned(),
        description: String::new(),
        input_schema: Arc::default(),
        output_schema: None,
        annotations: None,
        hidden: None,
    }
}

#[test]
fn a_tool_goes_by_every_spelling_of_its_name_and_by_no_other() {
    let tool = tool("my.linear", "create_issue");
    for spelled in [
        "create_issue",
        "my.linear.create_issue",
        "my.linear__create_issue",
        "my_linear_create_issue",
    ] {
        assert!(tool.goes_by(spelled), "{spelled}");
    }
    for spelled in [
        "",
        "issue",
        "my.linear",
        "my.linear.",
        "my.linearcreate_issue",
        "my_linear.create_issue",
        "my_linear_create_issues",
        "other.create_issue",
        "my.linear-create_issue",
    ] {
        assert!(!tool.goes_by(spelled), "{spelled}");
    }
}

#[test]
fn a_name_that_may_be_two_tools_is_neither() {
    let listed = [tool("a", "b_c"), tool("a_b", "c")];
    let Err(Unresolved::Ambiguous { candidates, .. }) = named("a_b_c", &listed) else {
        panic!("one of them was taken");
    };
    assert_eq!(candidates, ["`a.b_c`", "`a_b.c`"]);
    assert_eq!(named("a.b_c", &listed), Ok(&listed[0]));
    assert_eq!(named("a_b.c", &listed), Ok(&listed[1]));
    assert_eq!(named("a_b__c", &listed), Ok(&listed[1]));
    // The name that a tool is listed under is its own.
    let listed = [tool("a", "b_c"), tool("x", "a_b_c")];
    assert_eq!(named("a_b_c", &listed), Ok(&listed[1]));
    let twice = [tool("x", "tap"), tool("y", "tap")];
    assert!(matches!(
        named("tap", &twice),
        Err(Unresolved::Ambiguous { .. })
    ));
    assert_eq!(named("y.tap", &twice), Ok(&twice[1]));
}

#[test]
fn what_leads_nowhere_says_why() {
    let listed = [tool("linear", "create_issue"), tool("mobile", "tap")];
    let said = |reference: ToolRef| resolve(&reference, &listed).unwrap_err().to_string();
    assert_eq!(
        said(ToolRef::named("creat_issue")),
        "unknown tool `creat_issue`; did you mean `create_issue`?"
    );
    assert_eq!(
        said(ToolRef::default()),
        "missing `namespacedName` or `refId`"
    );
    let by_hash = |hash: &str| ToolRef {
        ref_id: Some(hash.to_owned()),
        ..ToolRef::default()
    };
    assert!(said(by_hash("abc")).contains("`abc`"));
    assert_eq!(
        resolve(&by_hash(&ref_id(&listed[1])), &listed),
        Ok(&listed[1])
    );
    let other = ToolRef {
        ref_id: Some(ref_id(&listed[0])),
        ..ToolRef::named("tap")
    };
    assert_eq!(
        resolve(&other, &listed),
        Err(Unresolved::Changed { tool: &listed[1] })
    );
}

#[test]
fn every_standing_has_its_word() {
    let hidden = ListedTool {
        hidden: Some("why".to_owned()),
        ..tool("x", "secret")
    };
    let listed = [tool("a", "b_c"), tool("a_b", "c"), hidden];
    let state = |reference: ToolRef| ToolState::of(&reference, &listed).state;
    assert_eq!(state(ToolRef::named("a.b_c")), "offered");
    assert_eq!(state(ToolRef::named("secret")), "hidden");
    assert_eq!(state(ToolRef::named("a_b_c")), "ambiguous");
    assert_eq!(state(ToolRef::named("gone")), "missing");
    let old = ToolRef {
        ref_id: Some("0".to_owned()),
        ..ToolRef::named("c")
    };
    assert_eq!(state(old), "changed");
}
