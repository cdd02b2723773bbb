//! What the tools for phones say about themselves, and what they make of arguments.

use packtrain_drivers::Platform;
use packtrain_model::source::Source;
use packtrain_model::yaml::{Value, read};
use packtrain_tools::{Kind, Registry};

/// The tools for phones with what Trailblaze's catalogue says of them: whether agents are shown
/// it and whether it is recorded.
const CATALOGUE: [(&str, bool, bool); 51] = [
    ("android_adbShell", false, false),
    ("android_grantAppOpsPermission", false, true),
    ("android_grantPermissions", false, true),
    ("android_sendBroadcast", false, false),
    ("android_systemUiDemoMode", false, true),
    ("android_writeBytesToFile", false, false),
    ("android_writeFileToDownloads", false, false),
    ("android_writeImageToMediaStore", false, false),
    ("assertNotVisibleBySelector", false, true),
    ("assertNotVisibleWithText", true, true),
    ("assertVisible", true, false),
    ("assertVisibleBySelector", false, true),
    ("assertVisibleWithAccessibilityText", false, true),
    ("assertVisibleWithResourceId", false, true),
    ("assertVisibleWithText", false, true),
    ("clearText", true, true),
    ("dragByPoints", false, true),
    ("dragTo", true, false),
    ("eraseText", true, true),
    ("findMatches", false, false),
    ("hideKeyboard", true, true),
    ("inputText", true, true),
    ("inputTextRandom", true, true),
    ("launchApp", true, true),
    ("longPress", true, false),
    ("longPressElementWithAccessibilityText", false, true),
    ("longPressOnElementWithText", false, true),
    ("mobile_clearAppData", false, true),
    ("mobile_listInstalledApps", true, true),
    ("mobile_listInstalledAppsDetailed", false, true),
    ("mobile_maestro", false, true),
    ("mobile_pasteClipboard", true, true),
    ("mobile_setClipboard", true, true),
    ("networkConnection", true, true),
    ("openUrl", true, true),
    ("pressBack", true, true),
    ("pressKey", true, true),
    ("requestDetailedViewHierarchy", true, false),
    ("scrollUntilTextIsVisible", true, true),
    ("stopApp", true, true),
    ("swipe", true, true),
    ("swipeWithRelativeCoordinates", false, true),
    ("tap", true, false),
    ("tapOn", false, true),
    ("tapOnAccessibilityNode", false, true),
    ("tapOnElementBySelector", false, true),
    ("tapOnElementWithAccessibilityText", false, true),
    ("tapOnElementWithText", false, true),
    ("tapOnPoint", true, true),
    ("waitForChange", true, true),
    ("waitUntilNotVisible", false, false),
];

fn yaml(text: &str) -> Value {
    read(&Source::new("test", text)).value.unwrap()
}

#[test]
fn every_tool_of_the_catalogue_is_there_shown_and_recorded_as_it_says() {
    let registry = Registry::builtin();
    for (name, shown, recorded) in CATALOGUE {
        let spec = registry
            .get(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .spec();
        assert_eq!((spec.shown, spec.recordable), (shown, recorded), "{name}");
        assert!(!spec.works_on(Platform::Web), "{name}");
        let on_ios = !name.starts_with("android_") && name != "tapOnAccessibilityNode";
        assert_eq!(spec.works_on(Platform::Ios), on_ios, "{name}");
        let asserts = name.starts_with("assert");
        assert_eq!(spec.kind == Kind::Assertion, asserts, "{name}");
    }
}

#[test]
fn both_phones_have_the_same_tools_but_for_androids_own() {
    let registry = Registry::builtin();
    let names = |platform| -> Vec<String> {
        registry
            .on(platform)
            .map(|tool| tool.spec().name.clone())
            .collect()
    };
    let ios = names(Platform::Ios);
    let mut android = names(Platform::Android);
    android.retain(|name| !name.starts_with("android_") && name != "tapOnAccessibilityNode");
    assert_eq!(android, ios);
}

#[test]
fn every_argument_is_described_and_nothing_unknown_is_taken() {
    let registry = Registry::builtin();
    for (name, ..) in CATALOGUE {
        let schema = &registry.get(name).unwrap().spec().arguments;
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        for (argument, schema) in schema["properties"].as_object().into_iter().flatten() {
            let described = schema["description"]
                .as_str()
                .is_some_and(|text| text.len() > 5);
            assert!(described, "{name}.{argument}: {schema}");
        }
    }
}

#[test]
fn scalars_are_read_by_what_the_tool_wants() {
    let registry = Registry::builtin();
    for (tool, arguments) in [
        ("assertNotVisibleWithText", "text: 7:30"),
        ("inputText", "text: 0000"),
        ("inputText", "text: true"),
        ("tapOnElementWithText", "text: 5\nindex: '1'"),
        (
            "tapOnElementWithAccessibilityText",
            "accessibilityText: x\nindex: null",
        ),
        ("tapOnPoint", "x: '188'\ny: 997"),
        ("launchApp", "appId: a.b\nlaunchMode: force_restart"),
        ("swipe", "direction: Left"),
        (
            "tapOnElementBySelector",
            "nodeSelector:\n  androidAccessibility:\n    textRegex: 8:00",
        ),
        (
            "mobile_maestro",
            "commands:\n- back\n- tapOn: 5\n- extendedWaitUntil:\n    visible: x\n    timeout: \"30000\"",
        ),
    ] {
        let tool = registry.get(tool).unwrap();
        if let Err(error) = tool.check(&yaml(arguments)) {
            panic!("{arguments}: {error}");
        }
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    let registry = Registry::builtin();
    for (tool, arguments, complaint) in [
        (
            "tapOnElementBySelector",
            "reason: x",
            "`nodeSelector` is missing",
        ),
        (
            "assertVisibleBySelector",
            "nodeSelector:\n  iosMaestro:\n    textRegex: a\nexpectedText: ' '\ntextMatchMode: PREFIX",
            "`expectedText` is blank",
        ),
        (
            "tapOnElementBySelector",
            "nodeSelector:\n  iosMaestro:\n    txtRegex: a",
            "nodeSelector.iosMaestro: unknown key `txtRegex`",
        ),
        ("swipe", "direction: SIDEWAYS", "direction"),
        ("launchApp", "appId: a\nmode: RESUME", "unknown key `mode`"),
        (
            "mobile_maestro",
            "commands:\n- back\n- scrollUntilVisible: {}",
            "commands[1].scrollUntilVisible: `element` is missing",
        ),
    ] {
        let error = registry
            .get(tool)
            .unwrap()
            .check(&yaml(arguments))
            .unwrap_err();
        let error = error.to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_page_is_not_asked_for_what_every_page_has() {
    let registry = Registry::builtin();
    for (tool, arguments, message) in [
        ("web_verifyTextVisible", "text: ' '", "`text` is blank"),
        ("web_verifyListVisible", "items: []", "`items` is empty"),
        (
            "web_verifyListVisible",
            "items: [a, '']",
            "`items` is blank",
        ),
        (
            "web_assertNetworkEvent",
            "eventName: ''",
            "`eventName` is blank",
        ),
        ("web_waitForUrl", "pattern: ''", "`pattern` is blank"),
    ] {
        let error = registry
            .get(tool)
            .unwrap()
            .check(&yaml(arguments))
            .unwrap_err();
        assert_eq!(error.to_string(), message, "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("web_verifyTextVisible", "{ text: '{{name}}', exact: true }"),
        ("web_verifyListVisible", "{ items: [a], exact: true }"),
        (
            "web_verifyValue",
            "{ ref: 'button \"a\"', expected: '', exact: true }",
        ),
    ] {
        registry.get(tool).unwrap().check(&yaml(arguments)).unwrap();
    }
}
