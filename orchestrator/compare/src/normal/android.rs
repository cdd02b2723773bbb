//! Android's accessibility nodes.

use packtrain_drivers::tree::AndroidNode;

use super::{Reading, node, told};

pub(super) fn read(android: &AndroidNode) -> Reading {
    let package = android.package.as_deref().unwrap_or_default();
    let id = android.resource_id.as_deref().unwrap_or_default();
    let is_bar = matches!(
        id,
        "android:id/statusBarBackground" | "android:id/navigationBarBackground"
    );
    if package == "com.android.systemui" || package.contains("inputmethod") || is_bar {
        return Reading::Drop;
    }
    let role = role(android);
    let text = android.text.as_deref();
    let is_field = role == "textbox";
    let described = android
        .content_description
        .as_deref()
        .or(android.labeled_by_text.as_deref());
    let name = if is_field {
        described.or(android.hint_text.as_deref())
    } else {
        described.or(text).or(android.pane_title.as_deref())
    };
    let mut kept = node(role, name.unwrap_or_default());
    kept.value = if is_field {
        text.filter(|_| !android.is_password).map(str::to_owned)
    } else {
        android.state_description.clone()
    };
    kept.id = android
        .compose_test_tag
        .clone()
        .or_else(|| id.rsplit_once('/').map(|(_, id)| id.to_owned()))
        .or_else(|| android.unique_id.clone());
    let states = [
        (android.is_checked, "checked"),
        (!android.is_enabled, "disabled"),
        (android.is_selected, "selected"),
    ];
    told(kept, states, android.is_visible)
}

fn role(android: &AndroidNode) -> &'static str {
    let class = android.class_name.as_deref().unwrap_or_default();
    let class = class.rsplit(['.', '$']).next().unwrap_or_default();
    if android.is_editable {
        return "textbox";
    }
    let role = match class {
        "EditText" | "AutoCompleteTextView" | "SearchView" => "textbox",
        "Button" | "ImageButton" | "MaterialButton" | "FloatingActionButton" => "button",
        "CheckBox" => "checkbox",
        "RadioButton" => "radio",
        "Switch" | "SwitchCompat" | "ToggleButton" => "switch",
        "SeekBar" => "slider",
        "Spinner" => "combobox",
        "ProgressBar" => "progressbar",
        "TabView" | "Tab" => "tab",
        "ListView" | "RecyclerView" | "GridView" => "list",
        "ScrollView" | "HorizontalScrollView" | "NestedScrollView" | "ViewPager" => "scroller",
        "AlertDialog" | "Dialog" => "dialog",
        _ if android.is_heading => "heading",
        _ if android.is_checkable => "checkbox",
        _ if android.is_clickable => "button",
        _ if android.is_scrollable => "scroller",
        "ImageView" | "Image" => "image",
        "TextView" => "text",
        _ if android.text.is_some() || android.content_description.is_some() => "text",
        _ => "group",
    };
    // A text that can be clicked is what a person presses.
    if role == "text" && android.is_clickable {
        "button"
    } else {
        role
    }
}
