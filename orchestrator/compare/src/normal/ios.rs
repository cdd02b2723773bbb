//! XCTest's elements.

use packtrain_drivers::tree::IosNode;

use super::{Reading, node, told};

pub(super) fn read(ios: &IosNode, holds_others: bool) -> Reading {
    let kind = ios.element_type.as_deref().unwrap_or_default();
    if matches!(kind, "StatusBar" | "Keyboard" | "ScrollBar") {
        return Reading::Drop;
    }
    let role = role(kind, ios);
    let mut labels = [&ios.label, &ios.title].into_iter().flatten();
    let label = labels.find(|text| !text.is_empty()).map(String::as_str);
    let name = label.or(match role {
        "textbox" => ios.placeholder.as_deref(),
        "text" => ios.value.as_deref(),
        _ => None,
    });
    // What only holds others repeats what they say.
    if role == "group" && holds_others && !ios.is_accessible || role.is_empty() {
        return Reading::Wrapper;
    }
    let mut kept = node(role, name.unwrap_or_default());
    let value = ios.value.clone().filter(|value| !value.is_empty());
    kept.value = match role {
        "textbox" if kind == "SecureTextField" => None,
        "textbox" => value.filter(|value| ios.placeholder.as_ref() != Some(value)),
        "slider" | "combobox" | "progressbar" => value,
        _ => None,
    };
    // The name is the identifier where there is one, and the label elsewhere.
    kept.id = ios.identifier.clone().filter(|id| !id.is_empty());
    let is_on = matches!(role, "switch" | "checkbox") && ios.value.as_deref() == Some("1");
    let states = [
        (is_on, "checked"),
        (!ios.is_enabled, "disabled"),
        (ios.is_selected, "selected"),
    ];
    told(kept, states, ios.is_visible)
}

fn role(kind: &str, ios: &IosNode) -> &'static str {
    let has = |wanted: &str| ios.traits.iter().any(|one| one == wanted);
    match kind {
        "Button" if has("TabBar") => "tab",
        "Button" | "MenuButton" | "PopUpButton" | "DisclosureTriangle" => "button",
        "StaticText" if has("Header") => "heading",
        "StaticText" => "text",
        "TextField" | "SecureTextField" | "TextView" | "SearchField" | "ComboBox" => "textbox",
        "Switch" | "Toggle" => "switch",
        "CheckBox" => "checkbox",
        "RadioButton" => "radio",
        "Slider" | "Stepper" => "slider",
        "Picker" | "PickerWheel" | "DatePicker" | "SegmentedControl" => "combobox",
        "Link" => "link",
        "Image" | "Icon" => "image",
        "Tab" => "tab",
        "MenuItem" => "menuitem",
        "Table" | "CollectionView" | "Outline" => "list",
        "Cell" | "TableRow" => "listitem",
        "ScrollView" => "scroller",
        "Alert" | "Sheet" | "Dialog" | "Popover" => "dialog",
        "NavigationBar" | "TabBar" | "Toolbar" => "region",
        "ActivityIndicator" | "ProgressIndicator" => "progressbar",
        "Application" | "Window" => "",
        _ => "group",
    }
}
